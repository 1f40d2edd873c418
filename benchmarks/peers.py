"""Varve beside its peers: one run, the same files, the same embedder, no language model.

    python -m benchmarks.peers FILE... [--only NAME...]

Reads files in the shape of LoCoMo (`locomo10.json`, a list of conversations) or of
REALTALK (one chat a file). Every system stores the same turns, as "Speaker: words", and
embeds them with Varve's embedded model. Every question is then asked of every system,
for ten results. The evidence of the question is looked for among their message ids,
each id once, in order. The printed seconds include the embedding of the question.

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
    judged,
    locomo,
    opened,
)
from varve.adapters.models.wordllama_embedder import (
    DIMENSIONS,
    WordLlamaEmbedder,
)
from varve.domain.text import estimated_tokens

RESULTS = 10

SESSION = re.compile(r"session_\d+")
MESSAGE_ID = re.compile(r"D\d+:\d+")
REALTALK_TIME = "%d.%m.%Y, %H:%M:%S"
REALTALK_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}

EMBEDDER = WordLlamaEmbedder()

Turn = tuple[str, str]
"""A message's id, and its words with the speaker's name."""

Found = tuple[Sequence[str], str]
"""A result: the ids of the messages that it cites, and its text."""

Find = Callable[[str], Sequence[Found]]
"""Return the ten best results for a question."""


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

    def mean(self, figure: str) -> float:
        """Return the mean of one figure over all questions."""
        return statistics.fmean(row[figure] for row in self.rows)


# ---- The files ----------------------------------------------------------------------


def read_samples(path: Path) -> Iterator[Sample]:
    """Return the conversations of a file in LoCoMo's or REALTALK's shape."""
    content = json.loads(path.read_text("utf-8"))
    if isinstance(content, list):
        yield from locomo(path, None)
    else:
        yield _read_realtalk(path.stem, content)


def _read_realtalk(name: str, chat: Mapping[str, Any]) -> Sample:
    conversations = []
    known = set()
    for key in chat:
        if not SESSION.fullmatch(key):
            continue
        messages = [_read_realtalk_turn(turn) for turn in chat[key]]
        conversations.append(
            {"conversationId": f"{name}-{key}", "messages": messages}
        )
        known |= {message["id"] for message in messages}
    questions = []
    for asked in chat["qa"]:
        evidence = frozenset(known & _find_ids(asked.get("evidence")))
        category = REALTALK_CATEGORIES.get(int(asked["category"]))
        if category and evidence:
            question = Question(asked["question"], evidence, category)
            questions.append(question)
    return Sample(name, conversations, questions, None)


def _read_realtalk_turn(turn: Mapping[str, Any]) -> dict[str, str]:
    content = turn["clean_text"]
    if turn.get("blip_caption"):
        content += f" [shares {turn['blip_caption']}]"
    at = datetime.strptime(turn["date_time"], REALTALK_TIME).replace(
        tzinfo=UTC
    )
    return {
        "id": turn["dia_id"],
        "role": "user",
        "name": turn["speaker"],
        "content": content,
        "timestamp": at.isoformat(),
    }


def _find_ids(evidence: Any) -> set[str]:
    """Return the message ids in a list of evidence, however it is written."""
    return set(MESSAGE_ID.findall(json.dumps(evidence)))


# ---- The peers ----------------------------------------------------------------------


def build_varve(sample: Sample, folder: Path) -> Searcher:
    """Ingest the conversations through `Memory`; search with its defaults."""
    memory, _ = opened(sample, folder)

    def find(question: str) -> list[Found]:
        found = memory.search(question, max_results=RESULTS).results
        return [(result.source_ids, result.content) for result in found]

    return _timed(find)


def build_bm25(sample: Sample, _folder: Path) -> Searcher:
    """Index the turns with bm25s: stemmed, without stop words."""
    return _cut(by_bm25(list(sample.turns())))


def build_flat(sample: Sample, _folder: Path) -> Searcher:
    """Compare the question with every turn by cosine."""
    return _cut(by_cosine(list(sample.turns())))


def build_lancedb(sample: Sample, folder: Path) -> Searcher:
    """Use LanceDB's hybrid query: vectors and its full-text index, fused by its default RRF."""
    import lancedb
    from lancedb.index import FTS

    rows = []
    for id_, text in sample.turns():
        rows.append({"id": id_, "text": text, "vector": _embed(text)})
    database = lancedb.connect(str(folder / "lancedb"))
    table = database.create_table("turns", rows)
    table.create_index("text", config=FTS())

    def find(question: str) -> list[Found]:
        query = table.search(
            query_type="hybrid",
            vector_column_name="vector",
            fts_columns="text",
        )
        query = query.vector(_embed(question)).text(question)
        query = query.distance_type("cosine").limit(RESULTS)
        return [([row["id"]], row["text"]) for row in query.to_list()]

    return _timed(find)


def build_chroma(sample: Sample, folder: Path) -> Searcher:
    """Use a persistent Chroma collection with cosine distance."""
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(
        str(folder / "chroma"), settings=settings
    )
    collection = client.create_collection(
        "turns", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    for id_, text in sample.turns():
        collection.add(ids=[id_], documents=[text], embeddings=[_embed(text)])

    def find(question: str) -> list[Found]:
        count = min(RESULTS, collection.count())
        found = collection.query(
            query_embeddings=[_embed(question)], n_results=count
        )
        rows = zip(found["ids"][0], found["documents"][0], strict=True)
        return [([id_], text) for id_, text in rows]

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

    def find(question: str) -> list[Found]:
        found = store.search(("turns",), query=question, limit=RESULTS)
        return [([item.key], item.value["text"]) for item in found]

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
        memory.add(
            [message], user_id="user", metadata={"turn": id_}, infer=False
        )

    def find(question: str) -> list[Found]:
        found = memory.search(
            question, top_k=RESULTS, filters={"user_id": "user"}
        )
        rows = found["results"]
        return [([row["metadata"]["turn"]], row["memory"]) for row in rows]

    return find


PEERS = (
    Peer("Varve", "varve-memory", build_varve),
    Peer("BM25", "bm25s", build_bm25),
    Peer("flat vectors", "numpy", build_flat),
    Peer("LanceDB hybrid", "lancedb", build_lancedb),
    Peer("Chroma", "chromadb", build_chroma),
    Peer("mem0, vectors", "mem0ai", build_mem0),
    Peer("mem0, with its BM25", "mem0ai", build_mem0_bm25),
    Peer("LangGraph InMemoryStore", "langgraph", build_langgraph),
)


def _embed(text: str) -> list[float]:
    (vector,) = EMBEDDER.embed([text])
    return [float(value) for value in vector]


def _timed(find: Find) -> Searcher:
    """Return a searcher that times `find` and lists the ids and tokens of its results."""

    def search(question: str) -> Answer:
        started = perf_counter()
        found = find(question)
        seconds = perf_counter() - started
        ids: dict[str, int] = {}
        tokens = 0
        for sources, text in found:
            tokens += estimated_tokens(text)
            for source in sources:
                ids.setdefault(source, tokens)
        return Answer(list(ids), list(ids.values()), seconds)

    return search


def _cut(search: Searcher) -> Searcher:
    """Return a searcher that keeps the ten best of the turns that `search` ranks."""

    def search_ten(question: str) -> Answer:
        answer = search(question)
        return Answer(
            answer.ids[:RESULTS], answer.tokens[:RESULTS], answer.seconds
        )

    return search_ten


# ---- The run ------------------------------------------------------------------------


def measure(
    samples: Sequence[Sample], peers: Sequence[Peer]
) -> dict[str, Score]:
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
        answer = search(question.text)
        rows.append(judged(question, answer))
    return rows


def format_table(
    scores: Mapping[str, Score], peers: Sequence[Peer]
) -> list[str]:
    """Return the lines of the table, in Markdown."""
    header = "| system | recall@10 | recall@5 | MRR | tokens of the first ten | seconds a search |"
    lines = [header, "|---|---|---|---|---|---|"]
    for peer in peers:
        score = scores[peer.name]
        cells = [f"not installed: {score.missing}", "", "", "", ""]
        label = peer.name
        if not score.missing:
            label += f" ({peer.package} {metadata.version(peer.package)})"
            cells = [
                f"{score.mean('R@10'):.3f}",
                f"{score.mean('R@5'):.3f}",
                f"{score.mean('MRR'):.3f}",
                f"{score.mean('tokens@10'):.0f}",
                f"{score.mean('ms') / 1_000:.4f}",
            ]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    names = [peer.name for peer in PEERS]
    parser.add_argument(
        "--only", nargs="+", choices=names, help="default: all"
    )
    given = parser.parse_args(arguments)
    peers = [peer for peer in PEERS if peer.name in (given.only or names)]
    samples: list[Sample] = []
    for path in given.files:
        samples += read_samples(path)
    turns = sum(len(list(sample.turns())) for sample in samples)
    asked = sum(len(sample.questions) for sample in samples)
    print(f"{len(samples)} conversations, {turns} turns, {asked} questions\n")
    scores = measure(samples, peers)
    print("\n".join(format_table(scores, peers)))


if __name__ == "__main__":
    main()
