"""How well and how fast memory is searched, on conversations with questions whose answers are known.

    python -m benchmarks.retrieval [--locomo FILE] [--facts] [--chopped] [--stores DIR] [--no-corpus]

Reads conversations in the shape of LoCoMo (Maharana et al., 2024; its data is not part of this project) from
a file, and the project's own corpus. Every dated chat is ingested as one conversation with the messages'
own ids, then every question is asked, all through `Memory`; a question's evidence is looked for among the
`sourceIds` of the results, each id once, in order. Beside it, on the same turns with the speaker's name:
BM25 (bm25s, stemmed, without stop words) and the cosine of the same embedder. With `--chopped` the file's
chats are measured as people may type them as well: each sentence a message of its own, in small letters.
With `--facts` the file's chats are measured once more with the facts that a model wrote of them, its
`observation`, replayed through the OpenAI protocol: recall must not fall (invariant 12).
`--stores` keeps the ingested stores there for the next run.
"""

import argparse
import json
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import bm25s
import numpy as np
import Stemmer

from benchmarks.recorded_facts import Recorded, read_observations, replayed
from varve import Memory
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.search.lexical import question_forms
from varve.domain.text import estimated_tokens

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
CORPUS_NOW = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
CUTS, BUDGETS = (5, 10, 20), (500, 1_000, 2_000)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the messages that hold its answer, what sort it is, and the answer where it is given."""

    text: str
    evidence: frozenset[str]
    category: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One memory's conversations, with the questions about them."""

    name: str
    conversations: Sequence[dict[str, Any]]
    questions: Sequence[Question]
    now: datetime | None
    workspace: str = "default"
    agent: str = "default"

    def turns(self) -> Iterator[tuple[str, str]]:
        """Every message's id, and its words with the speaker's name."""
        for conversation in self.conversations:
            for message in conversation["messages"]:
                if (
                    isinstance(message["content"], str)
                    and message["content"].strip()
                ):
                    yield (
                        message["id"],
                        f"{message.get('name') or message['role']}: {message['content']}",
                    )


@dataclass(frozen=True, slots=True)
class Answer:
    """The message ids an answer gives, in order and each once, with the tokens read up to each; seconds."""

    ids: Sequence[str]
    tokens: Sequence[int]
    seconds: float


Searcher = Callable[[str], Answer]


def locomo(path: Path, now: datetime | None) -> Iterator[Sample]:
    """The samples of a file in LoCoMo's shape; questions of category 5 have no evidence and are left out."""
    for item in json.loads(path.read_text("utf-8")):
        name, chats = item["sample_id"], item["conversation"]
        numbers = sorted(
            int(key.split("_")[1])
            for key in chats
            if re.fullmatch(r"session_\d+", key)
        )
        conversations = [_chat(name, n, chats) for n in numbers]
        known = {
            message["id"]
            for one in conversations
            for message in one["messages"]
        }
        questions = []
        for asked in item["qa"]:
            evidence = {
                e
                for text in asked["evidence"]
                for e in re.findall(r"D\d+:\d+", text)
            } & known
            if asked["category"] in CATEGORIES and evidence:
                sort = CATEGORIES[asked["category"]]
                answer = str(asked.get("answer", ""))
                questions.append(
                    Question(
                        str(asked["question"]),
                        frozenset(evidence),
                        sort,
                        answer,
                    )
                )
        yield Sample(name, conversations, questions, now)


def _chat(name: str, number: int, chats: dict[str, Any]) -> dict[str, Any]:
    at = datetime.strptime(
        chats[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y"
    ).replace(tzinfo=UTC)
    messages = [
        {
            "id": turn["dia_id"],
            "role": "user",
            "name": turn["speaker"],
            "content": turn["text"]
            + (
                f" [shares {turn['blip_caption']}]"
                if turn.get("blip_caption")
                else ""
            ),
            "timestamp": at.isoformat(),
        }
        for turn in chats[f"session_{number}"]
    ]
    return {"conversationId": f"{name}-{number}", "messages": messages}


def chopped(sample: Sample) -> Sample:
    """The same chats as they may be typed: each sentence a message, in small letters, without its dot.

    Of a message that holds an answer the sentence does that shares the most words with the answer, and
    then with the question; of equals the longest.
    """
    pieces: dict[str, list[tuple[str, str]]] = {}
    conversations = []
    for conversation in sample.conversations:
        messages = []
        for message in conversation["messages"]:
            said = [
                part
                for part in SENTENCE_END.split(message["content"].lower())
                if part.strip(" .!")
            ]
            parts = [
                (f"{message['id']}.{i}", part.rstrip(".!"))
                for i, part in enumerate(said)
            ]
            pieces[message["id"]] = parts or [
                (message["id"], message["content"])
            ]
            messages += [
                message | {"id": id_, "content": part}
                for id_, part in pieces[message["id"]]
            ]
        name = f"{conversation['conversationId']}-chopped"
        conversations.append({"conversationId": name, "messages": messages})
    questions = [
        replace(
            one,
            evidence=frozenset(
                _holding(pieces[id_], one) for id_ in one.evidence
            ),
        )
        for one in sample.questions
    ]
    return replace(
        sample,
        name=f"{sample.name}-chopped",
        conversations=conversations,
        questions=questions,
    )


def _holding(parts: Sequence[tuple[str, str]], question: Question) -> str:
    answer, asked = (
        set(question_forms(text)) for text in (question.answer, question.text)
    )

    def shared(part: tuple[str, str]) -> tuple[int, int, int]:
        said = set(question_forms(part[1]))
        return len(said & answer), len(said & asked), len(part[1])

    return max(parts, key=shared)[0]


def corpus() -> Iterator[Sample]:
    """The project's own corpus, one sample for each workspace and agent."""
    owners: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(
        list
    )
    for path in sorted(CORPUS.glob("*.json")):
        if path.name != "questions.json":
            for conversation in json.loads(path.read_text("utf-8")):
                owners[
                    conversation["workspaceId"], conversation["agentId"]
                ].append(conversation)
    asked = json.loads((CORPUS / "questions.json").read_text("utf-8"))
    for (workspace, agent), conversations in owners.items():
        own = [
            q
            for q in asked
            if (q["workspaceId"], q["agentId"]) == (workspace, agent)
            and q["messageIds"]
        ]
        questions = [
            Question(q["question"], frozenset(q["messageIds"]), q["kind"])
            for q in own
        ]
        yield Sample(
            f"corpus-{workspace}",
            conversations,
            questions,
            CORPUS_NOW,
            workspace,
            agent,
        )


def opened(
    sample: Sample, folder: Path, facts: Recorded | None = None
) -> tuple[Memory, float]:
    """The sample's memory, ingested unless it is there already, and the seconds that took.

    With `facts` a model's facts come into it beside the words.
    """
    root = folder / sample.name
    if facts is not None and not root.exists():
        with replayed(facts) as environment:
            Memory.open(
                root,
                workspace=sample.workspace,
                agent=sample.agent,
                now=sample.now,
                environment=environment,
            ).ingest(list(sample.conversations))
    memory = Memory.open(
        root,
        workspace=sample.workspace,
        agent=sample.agent,
        now=sample.now,
        environment={},
    )
    started = perf_counter()
    if not root.exists():
        memory.ingest(list(sample.conversations))
    return memory, perf_counter() - started


def by_memory(memory: Memory) -> Searcher:
    """Through the public API: a hundred results to read from, timed for ten."""

    def search(text: str) -> Answer:
        started = perf_counter()
        memory.search(text, max_results=10)
        seconds = perf_counter() - started
        found = memory.search(text, max_results=100).results
        return _answer(((r.source_ids, r.content) for r in found), seconds)

    return search


def by_bm25(turns: Sequence[tuple[str, str]]) -> Searcher:
    """BM25 over the turns, by bm25s."""
    stem = Stemmer.Stemmer("english")
    index = bm25s.BM25(k1=0.9, b=0.4)
    texts = [text for _, text in turns]
    index.index(
        bm25s.tokenize(
            texts, stopwords="en", stemmer=stem, show_progress=False
        ),
        show_progress=False,
    )

    def search(text: str) -> Answer:
        started = perf_counter()
        words = bm25s.tokenize(
            [text], stopwords="en", stemmer=stem, show_progress=False
        )
        rows, _ = index.retrieve(
            words, k=min(100, len(turns)), show_progress=False
        )
        return _answer(
            (([turns[i][0]], turns[i][1]) for i in rows[0]),
            perf_counter() - started,
        )

    return search


def by_cosine(turns: Sequence[tuple[str, str]]) -> Searcher:
    """The cosine of question and turn, by the embedded embedder."""
    embedder = WordLlamaEmbedder()
    vectors = np.array(embedder.embed([text for _, text in turns]))

    def search(text: str) -> Answer:
        started = perf_counter()
        order = np.argsort(
            -(vectors @ embedder.embed([text])[0]), kind="stable"
        )[:100]
        return _answer(
            (([turns[i][0]], turns[i][1]) for i in order),
            perf_counter() - started,
        )

    return search


def _answer(
    found: Iterable[tuple[Sequence[str], str]], seconds: float
) -> Answer:
    ids: dict[str, int] = {}
    tokens = 0
    for sources, content in found:
        tokens += estimated_tokens(content)
        for source in sources:
            ids.setdefault(source, tokens)
    return Answer(list(ids), list(ids.values()), seconds)


def judged(question: Question, answer: Answer) -> dict[str, float]:
    """Every figure for one question."""
    hits = [source in question.evidence for source in answer.ids]
    total = len(question.evidence)
    figures = {f"R@{cut}": sum(hits[:cut]) / total for cut in CUTS}
    first = next((rank for rank, hit in enumerate(hits, 1) if hit), None)
    figures["MRR"] = 1 / first if first else 0.0
    gains = sum(
        hit / np.log2(rank + 1) for rank, hit in enumerate(hits[:10], 1)
    )
    figures["nDCG@10"] = float(
        gains
        / sum(1 / np.log2(rank + 1) for rank in range(1, min(total, 10) + 1))
    )
    for budget in BUDGETS:
        read = sum(
            hit
            for hit, tokens in zip(hits, answer.tokens, strict=True)
            if tokens <= budget
        )
        figures[f"R≤{budget}t"] = read / total
    figures["tokens@10"] = answer.tokens[min(10, len(hits)) - 1] if hits else 0
    figures["ms"] = 1_000 * answer.seconds
    return figures


@dataclass(slots=True)
class Tally:
    """Figures by category, and of all questions under `all`."""

    rows: defaultdict[str, list[dict[str, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def count(self, category: str, figures: dict[str, float]) -> None:
        """One more question."""
        self.rows[category].append(figures)
        self.rows["all"].append(figures)

    def lines(self) -> Iterator[tuple[str, int, dict[str, float]]]:
        """Each category with its number of questions and the figures' means; ms as p50 and p95."""
        for category in sorted(
            self.rows, key=lambda name: (name == "all", name)
        ):
            rows = self.rows[category]
            names = [name for name in rows[0] if name != "ms"]
            means = {
                name: statistics.fmean(row[name] for row in rows)
                for name in names
            }
            times = sorted(row["ms"] for row in rows)
            means |= {
                "p50 ms": times[len(times) // 2],
                "p95 ms": times[int(0.95 * (len(times) - 1))],
            }
            yield category, len(rows), means


def measured(samples: Iterable[Sample], folder: Path) -> dict[str, Tally]:
    """Every system over all questions of the samples."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for sample in samples:
        memory, seconds = opened(sample, folder)
        turns = list(sample.turns())
        print(
            f"{sample.name}: {len(turns)} turns, {len(sample.questions)} questions, ingest {seconds:.1f} s"
        )
        systems = {
            "varve": by_memory(memory),
            "BM25": by_bm25(turns),
            "cosine": by_cosine(turns),
        }
        for name, search in systems.items():
            search(
                "who is there?"
            )  # the first search reads the store and loads the model
            for question in sample.questions:
                figures = judged(question, search(question.text))
                tallies[name].count(question.category, figures)
                tallies[name].rows[f"({sample.name})"].append(figures)
    return tallies


def measured_with_facts(
    path: Path, now: datetime | None, folder: Path
) -> dict[str, Tally]:
    """Varve over all questions of a file, with its observations as a model's facts."""
    tally = Tally()
    facts = read_observations(path)
    for sample in locomo(path, now):
        named = replace(sample, name=f"{sample.name}-facts")
        memory, _ = opened(named, folder, facts[sample.name])
        search = by_memory(memory)
        search("who is there?")
        for question in sample.questions:
            tally.count(
                question.category, judged(question, search(question.text))
            )
    return {"varve with facts": tally}


def printed(tallies: dict[str, Tally]) -> None:
    """The tables, in Markdown."""
    for system, tally in tallies.items():
        rows = list(tally.lines())
        names = list(rows[0][2])
        print(
            f"\n| {system} | n | "
            + " | ".join(names)
            + " |\n|"
            + "---|" * (len(names) + 2)
        )
        for category, count, means in rows:
            cells = [_cell(name, means[name]) for name in names]
            print(f"| {category} | {count} | " + " | ".join(cells) + " |")


def _cell(name: str, value: float) -> str:
    if name.startswith("R"):
        return f"{100 * value:.1f}"
    return (
        f"{value:.0f}"
        if name.startswith("tokens")
        else f"{value:.3f}"
        if value < 1
        else f"{value:.1f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--locomo", type=Path, help="a file in LoCoMo's shape")
    parser.add_argument(
        "--facts",
        action="store_true",
        help="with its observations as facts as well",
    )
    parser.add_argument(
        "--chopped", action="store_true", help="its chats in pieces as well"
    )
    parser.add_argument(
        "--stores",
        type=Path,
        help="where ingested stores are kept between runs",
    )
    parser.add_argument("--no-corpus", action="store_true")
    parser.add_argument(
        "--now",
        type=datetime.fromisoformat,
        help="the time of the questions (default: now)",
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.stores or Path(temporary)
        if given.locomo:
            samples = list(locomo(given.locomo, given.now))
            printed(measured(samples, folder))
            if given.facts:
                printed(measured_with_facts(given.locomo, given.now, folder))
            if given.chopped:
                printed(measured(map(chopped, samples), folder))
        if not given.no_corpus:
            printed(measured(corpus(), folder))


if __name__ == "__main__":
    main()
