"""What a context block costs and holds: `python benchmarks/context.py`.

Ingests the project's corpus into a directory of its own, summarizes it, and asks for the context of every
question of `tests/corpus/questions.json` within 250, 500, 1,000 and 2,000 tokens. Printed are the tokens of
the blocks, their entries, how many were left empty, and the share of questions whose answer's source is in
the block: an entry made from one of the messages that the question's author named. Summaries count only
where they say so (`with summaries`: one of the sources below them is such a message). `repeats` is the share
of lines that say what an earlier line of the block says, by `domain/statements`; `tokens to the answer` is
the median of the tokens read up to the first such source, of the questions whose block has one.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

import traffic  # noqa: F401 - adds the folder in which tests are found to the path

from tests.support.drivers import Driver, open_driver
from varve import Memory
from varve.adapters.models.wordllama_embedder import WordLlamaEmbedder
from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.search.query import Filter
from varve.domain.statements.answers.folding import BlockLine, Folding
from varve.domain.statements.pairs.sameness import Saying
from varve.domain.text import estimated_tokens

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
NOW = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
BUDGETS = (250, 500, 1_000, 2_000)
EMBEDDER = WordLlamaEmbedder()
LINE = re.compile(r"^- \[(?P<date>\S+) (?P<id>\S+)\] (?P<words>.*)$")
ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's block: its tokens, its entries, and whether the answer's source is among them.

    `repeats` counts lines that say what an earlier one says; `to_answer` are the tokens up
    to the first source of the answer.
    """

    tokens: int
    entries: int
    direct: bool
    through_summaries: bool
    repeats: int
    to_answer: int | None


def main() -> None:
    """Print the table."""
    questions = json.loads((CORPUS / "questions.json").read_text("utf-8"))
    with TemporaryDirectory() as root:
        scopes = remember(Path(root))
        memories = {scope: opened(Path(root), scope) for scope in scopes}
        sources = {scope: messages_of(Path(root), scope) for scope in scopes}
        print(f"{len(questions)} questions\n")
        print(
            "| budget | tokens, median (mean) | entries, mean | empty | source in block | with summaries "
            "| repeats | tokens to the answer |"
        )
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for budget in BUDGETS:
            asked = [
                ask(question, memories, sources, budget)
                for question in questions
            ]
            print(row(budget, asked))


def row(budget: int, asked: list[Asked]) -> str:
    """A row of the table."""
    tokens = [one.tokens for one in asked]
    entries = mean(one.entries for one in asked)
    return (
        f"| {budget:,} | {median(tokens):.0f} ({mean(tokens):.0f}) | {entries:.1f} "
        f"| {sum(not one.entries for one in asked)} | {mean(one.direct for one in asked):.0%} "
        f"| {mean(one.through_summaries for one in asked):.0%} "
        f"| {sum(one.repeats for one in asked) / sum(one.entries for one in asked):.1%} "
        f"| {median(one.to_answer for one in asked if one.to_answer is not None):.0f} |"
    )


def ask(
    question: dict[str, Any],
    memories: dict[Scope, Memory],
    sources: dict[Scope, dict[str, set[str]]],
    budget: int,
) -> Asked:
    """The question's context, judged by the messages that answer it."""
    scope = Scope(question["workspaceId"], question["agentId"])
    block = memories[scope].context(question["question"], max_tokens=budget)
    wanted = set(question["messageIds"])
    holding = [
        id_ for id_ in block.ids if sources[scope].get(id_, set()) & wanted
    ]
    direct = any(not id_.startswith("summary-") for id_ in holding)
    found = read_lines(block.text)
    return Asked(
        tokens=block.tokens,
        entries=len(block.ids),
        direct=direct,
        through_summaries=bool(holding),
        repeats=count_repeats(found),
        to_answer=tokens_up_to(block.text, set(holding)),
    )


def read_lines(text: str) -> list[re.Match[str]]:
    """Return the block's entries, one match a line."""
    found = map(LINE.match, text.splitlines())
    return [match for match in found if match]


def count_repeats(lines: list[re.Match[str]]) -> int:
    """Count the lines that say what an earlier line says."""
    texts = [line["words"] for line in lines]
    days = [line["date"] for line in lines]
    vectors = EMBEDDER.embed(texts)
    folding = Folding()
    repeats = 0
    for at, (text, vector, day) in enumerate(
        zip(texts, vectors, days, strict=True)
    ):
        line = BlockLine(str(at), Saying(text, vector, day))
        repeats += not folding.add(line)
    return repeats


def tokens_up_to(text: str, ids: set[str]) -> int | None:
    """Return the tokens of the block up to the first line of these ids; None: it has none."""
    for line in read_lines(text):
        if line["id"] in ids and not line["id"].startswith("summary-"):
            end = text.index(line[0]) + len(line[0])
            return estimated_tokens(text[:end])
    return None


def remember(root: Path) -> list[Scope]:
    """The corpus, ingested and summarized; whose memories there are."""
    files = sorted(
        path for path in CORPUS.glob("*.json") if path.name != "questions.json"
    )
    conversations = [
        conversation
        for path in files
        for conversation in json.loads(path.read_text("utf-8"))
    ]
    scopes = sorted(
        {Scope(c["workspaceId"], c["agentId"]) for c in conversations}, key=str
    )
    for scope in scopes:
        memory = opened(root, scope)
        for conversation in conversations:
            if (conversation["workspaceId"], conversation["agentId"]) == (
                scope.workspace,
                scope.agent,
            ):
                memory.ingest(conversation)
        memory.summarize()
    return scopes


def messages_of(root: Path, scope: Scope) -> dict[str, set[str]]:
    """The messages behind every id that a block may name."""
    parts = open_driver(store=root)
    behind: dict[str, set[str]] = {}
    for grain in Grain:
        for record in parts.records.browse(
            scope, grain, where=Filter(), limit=ALL
        ):
            below = (
                behind.get(source, {source}) for source in record.source_ids
            )
            behind[record.id] = set().union(*below)
    for triple in parts.graph.triples(scope):
        behind[f"triple-{triple.id}"] = {
            m for o in triple.evidence for m in o.message_ids
        }
    return behind | dict(profile_messages(parts, scope))


def profile_messages(
    parts: Driver, scope: Scope
) -> Iterator[tuple[str, set[str]]]:
    """The same of the profile that a block without a user may hold."""
    for entry in parts.profiles.entries(scope, "default"):
        yield entry.id, set(entry.message_ids)


def opened(root: Path, scope: Scope) -> Memory:
    """The agent's memory at the corpus's end."""
    return Memory.open(
        root,
        workspace=scope.workspace,
        agent=scope.agent,
        now=NOW,
        environment={},
    )


if __name__ == "__main__":
    main()
