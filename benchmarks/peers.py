"""Varve beside its peers: one run, the same files, the same embedder, no language model.

    python -m benchmarks.peers FILE... [--only NAME...]

Reads files in the shape of LoCoMo (`locomo10.json`, a list of conversations) or of
REALTALK (one chat a file). Every system stores the same turns, as "Speaker: words", and
embeds them with Varve's embedded model. Every question is then asked of every system.
The evidence of a question is looked for among the message ids of a hundred results,
each id once, in order. The printed seconds are those of a search for ten results, with
the embedding of the question.

A peer whose library is missing gets a line with the reason. `make peers` installs the
libraries into an environment of their own.
"""

import argparse
import json
import os
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.retrieval import (
    Answer,
    Question,
    Sample,
    Searcher,
    by_bm25,
    by_cosine,
    by_memory,
    judged,
    locomo,
    opened,
)
from varve.adapters.models.wordllama_embedder import DIMENSIONS, WordLlamaEmbedder
from varve.domain.text import estimated_tokens

READ, TIMED = 100, 10
"""Results that are judged, and results of the search that is timed."""

BATCH = 500
REALTALK_TIME = "%d.%m.%Y, %H:%M:%S"
REALTALK_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
COLUMNS = ("R@10", "R@5", "MRR", "tokens@10", "seconds")

EMBEDDER = WordLlamaEmbedder()

Turn = tuple[str, str]
"""A message's id, and its words with the speaker's name."""

Find = Callable[[str, int], Sequence[Turn]]
"""Return the best turns for a question, at most so many."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A system under test: its name, the package whose version is printed, and its builder."""

    name: str
    package: str
    build: Callable[[Sample, Path], Searcher]


@dataclass(slots=True)
class Score:
    """The figures of one peer, a row for each question; or the reason why it did not run."""

    rows: list[dict[str, float]] = field(default_factory=list)
    missing: str = ""


# ---- The files ----------------------------------------------------------------------


def read_samples(path: Path) -> Iterator[Sample]:
    """Return the conversations of a file in LoCoMo's or REALTALK's shape."""
    content = json.loads(path.read_text("utf-8"))
    if isinstance(content, list):
        yield from locomo(path, None)
    else:
        yield _read_realtalk(path.stem, content)


def _read_realtalk(name: str, chat: Mapping[str, Any]) -> Sample:
    sessions = [key for key in chat if re.fullmatch(r"session_\d+", key)]
    sessions.sort(key=lambda key: int(key.removeprefix("session_")))
    conversations = []
    known = set()
    for key in sessions:
        messages = [_read_realtalk_turn(turn) for turn in chat[key]]
        conversations.append({"conversationId": f"{name}-{key}", "messages": messages})
        known.update(message["id"] for message in messages)
    questions = []
    for asked in chat["qa"]:
        evidence = known.intersection(_list_evidence(asked))
        category = REALTALK_CATEGORIES.get(int(asked["category"]))
        if category and evidence:
            questions.append(
                Question(str(asked["question"]), frozenset(evidence), category)
            )
    return Sample(name, conversations, questions, None)


def _read_realtalk_turn(turn: Mapping[str, Any]) -> dict[str, str]:
    words = str(turn.get("clean_text", turn.get("text", "")))
    caption = turn.get("blip_caption")
    at = datetime.strptime(turn["date_time"], REALTALK_TIME).replace(tzinfo=UTC)
    return {
        "id": turn["dia_id"],
        "role": "user",
        "name": turn["speaker"],
        "content": f"{words} [shares {caption}]" if caption else words,
        "timestamp": at.isoformat(),
    }


def _list_evidence(asked: Mapping[str, Any]) -> list[str]:
    given = asked.get("evidence") or []
    texts = [given] if isinstance(given, str) else given
    return [id_ for text in texts for id_ in re.findall(r"D\d+:\d+", str(text))]


# ---- The peers ----------------------------------------------------------------------


def build_varve(sample: Sample, folder: Path) -> Searcher:
    """Ingest the conversations through `Memory`; search with its defaults."""
    memory, _ = opened(sample, folder)
    return by_memory(memory)


def build_bm25(sample: Sample, _folder: Path) -> Searcher:
    """Index the turns with bm25s: stemmed, without stop words."""
    return by_bm25(list(sample.turns()))


def build_flat(sample: Sample, _folder: Path) -> Searcher:
    """Compare the question with every turn by cosine."""
    return by_cosine(list(sample.turns()))


def build_lancedb(sample: Sample, folder: Path) -> Searcher:
    """Use LanceDB's hybrid query: vectors and its full-text index, fused by its default RRF."""
    import lancedb
    from lancedb.index import FTS

    turns = list(sample.turns())
    rows = [
        {"id": id_, "text": text, "vector": vector}
        for (id_, text), vector in zip(turns, _embed_turns(turns), strict=True)
    ]
    table = lancedb.connect(str(folder / "lancedb")).create_table("turns", rows)
    table.create_index("text", config=FTS())

    def find(question: str, limit: int) -> list[Turn]:
        query = table.search(
            query_type="hybrid", vector_column_name="vector", fts_columns="text"
        )
        query = query.vector(_embed(question)).text(question).distance_type("cosine")
        found = query.limit(limit).to_list()
        return [(row["id"], row["text"]) for row in found]

    return _timed(find)


def build_chroma(sample: Sample, folder: Path) -> Searcher:
    """Use a persistent Chroma collection with cosine distance."""
    import chromadb

    turns = list(sample.turns())
    vectors = _embed_turns(turns)
    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
    collection = client.create_collection(
        "turns", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    for start in range(0, len(turns), BATCH):
        batch = turns[start : start + BATCH]
        collection.add(
            ids=[id_ for id_, _ in batch],
            documents=[text for _, text in batch],
            embeddings=vectors[start : start + BATCH],
        )

    def find(question: str, limit: int) -> list[Turn]:
        found = collection.query(
            query_embeddings=[_embed(question)],
            n_results=min(limit, len(turns)),
            include=["documents"],
        )
        return list(zip(found["ids"][0], found["documents"][0], strict=True))

    return _timed(find)


def build_langgraph(sample: Sample, _folder: Path) -> Searcher:
    """Use LangGraph's InMemoryStore with an index over the text."""
    from langgraph.store.memory import InMemoryStore

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [_embed(text) for text in texts]

    index = {"dims": DIMENSIONS, "embed": embed, "fields": ["text"]}
    store = InMemoryStore(index=index)
    for id_, text in sample.turns():
        store.put(("turns",), id_, {"text": text})

    def find(question: str, limit: int) -> list[Turn]:
        found = store.search(("turns",), query=question, limit=limit)
        return [(item.key, item.value["text"]) for item in found]

    return _timed(find)


def build_mem0(sample: Sample, folder: Path) -> Searcher:
    """Use mem0 OSS on a local Qdrant; messages as they are (infer=False), vectors only."""
    return _timed(_fill_mem0(sample, folder / "mem0", None))


def build_mem0_bm25(sample: Sample, folder: Path) -> Searcher:
    """Use mem0 OSS with the BM25 encoder that it looks for in the package fastembed.

    The encoder's stop words are a download; those of bm25s stand in for them.
    """
    from bm25s.stopwords import STOPWORDS_EN_PLUS
    from fastembed.sparse.bm25 import Bm25

    encoder = Bm25(
        "Qdrant/bm25",
        specific_model_path=str(folder),
        stopwords=set(STOPWORDS_EN_PLUS),
    )
    return _timed(_fill_mem0(sample, folder / "mem0-bm25", encoder))


class Mem0Embedder:
    """The embedder in the form that mem0 calls."""

    def embed(self, text: str, _action: str | None = None) -> list[float]:
        """Return the vector of one text."""
        return _embed(text)


def _fill_mem0(sample: Sample, folder: Path, encoder: Any) -> Find:
    # mem0 reads these at import: no telemetry, no files in the home directory.
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder)
    from mem0 import Memory

    unused = {"provider": "openai", "config": {"api_key": "not-used"}}
    qdrant = {
        "collection_name": "turns",
        "path": str(folder / "qdrant"),
        "on_disk": True,
        "embedding_model_dims": DIMENSIONS,
    }
    memory = Memory.from_config(
        {
            "llm": unused,
            "embedder": unused,
            "vector_store": {"provider": "qdrant", "config": qdrant},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = Mem0Embedder()
    memory.vector_store._bm25_encoder = encoder or False
    for id_, text in sample.turns():
        message = {"role": "user", "content": text}
        memory.add([message], user_id="user", metadata={"turn": id_}, infer=False)

    def find(question: str, limit: int) -> list[Turn]:
        found = memory.search(question, top_k=limit, filters={"user_id": "user"})
        return [(row["metadata"]["turn"], row["memory"]) for row in found["results"]]

    return find


PEERS = (
    Peer("Varve", "varve", build_varve),
    Peer("BM25", "bm25s", build_bm25),
    Peer("flat vectors", "numpy", build_flat),
    Peer("LanceDB hybrid", "lancedb", build_lancedb),
    Peer("Chroma", "chromadb", build_chroma),
    Peer("mem0, vectors", "mem0ai", build_mem0),
    Peer("mem0, with its BM25", "mem0ai", build_mem0_bm25),
    Peer("LangGraph InMemoryStore", "langgraph", build_langgraph),
)


def _embed(text: str) -> list[float]:
    return [float(value) for value in EMBEDDER.embed([text])[0]]


def _embed_turns(turns: Sequence[Turn]) -> list[list[float]]:
    return [_embed(text) for _, text in turns]


def _timed(find: Find) -> Searcher:
    """Return a searcher that times a search for ten and answers with a hundred."""

    def search(question: str) -> Answer:
        started = perf_counter()
        find(question, TIMED)
        seconds = perf_counter() - started
        ids: dict[str, int] = {}
        tokens = 0
        for id_, text in find(question, READ):
            tokens += estimated_tokens(text)
            ids.setdefault(id_, tokens)
        return Answer(list(ids), list(ids.values()), seconds)

    return search


# ---- The run ------------------------------------------------------------------------


def measure(samples: Sequence[Sample], peers: Sequence[Peer]) -> dict[str, Score]:
    """Ask every peer every question; a peer whose library is missing is left out."""
    scores: defaultdict[str, Score] = defaultdict(Score)
    for sample in samples:
        for peer in peers:
            score = scores[peer.name]
            if score.missing:
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    search = peer.build(sample, Path(folder))
                except ImportError as error:
                    score.missing = str(error)
                    continue
                score.rows += _ask(search, sample)
    return dict(scores)


def _ask(search: Searcher, sample: Sample) -> list[dict[str, float]]:
    search("who is there?")  # The first search loads models and opens files.
    rows = []
    for question in sample.questions:
        figures = judged(question, search(question.text))
        rows.append({**figures, "seconds": figures["ms"] / 1_000})
    return rows


def format_table(scores: Mapping[str, Score], peers: Sequence[Peer]) -> list[str]:
    """Return the lines of the table, in Markdown."""
    header = "| system | recall@10 | recall@5 | MRR | tokens of the first ten | seconds a search |"
    lines = [header, "|---|---|---|---|---|---|"]
    for peer in peers:
        score = scores[peer.name]
        if score.missing:
            reason = f"not installed: {score.missing}"
            lines.append(f"| {peer.name} | {reason} | | | | |")
            continue
        means = [statistics.fmean(row[name] for row in score.rows) for name in COLUMNS]
        recall10, recall5, mrr, tokens, seconds = means
        lines.append(
            f"| {peer.name} ({peer.package} {_find_version(peer.package)})"
            f" | {recall10:.3f} | {recall5:.3f} | {mrr:.3f} | {tokens:.0f}"
            f" | {seconds:.4f} |"
        )
    return lines


def _find_version(package: str) -> str:
    if package == "varve":
        from varve import __version__

        return __version__
    return metadata.version(package)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    names = [peer.name for peer in PEERS]
    parser.add_argument("--only", nargs="+", choices=names, help="default: all")
    given = parser.parse_args(arguments)
    peers = [peer for peer in PEERS if peer.name in (given.only or names)]
    samples = [sample for path in given.files for sample in read_samples(path)]
    turns = sum(len(list(sample.turns())) for sample in samples)
    asked = sum(len(sample.questions) for sample in samples)
    print(f"{len(samples)} conversations, {turns} turns, {asked} questions\n")
    print("\n".join(format_table(measure(samples, peers), peers)))


if __name__ == "__main__":
    main()
