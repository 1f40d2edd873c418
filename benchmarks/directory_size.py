"""Bytes of a memory in a directory, by part: after ingest and after `summarize`.

`python -m benchmarks.directory_size` takes in 5,000 messages of 22 words from the
project's corpus, each conversation of 20 in a call of its own.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from varve.api.memory import Memory

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
CONVERSATION_MESSAGES = 20
DAY_CONVERSATIONS = 5
MESSAGE_WORDS = 22
FIRST_DAY = datetime(2026, 1, 1, 9, tzinfo=UTC)
ENVIRONMENT = {"VARVE_LLM": "offline", "VARVE_EMBEDDER": "embedded"}
PARTS = ("data", "_indices", "_versions", "_transactions", "_deletions")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=5_000)
    count = parser.parse_args().messages
    days = count // (CONVERSATION_MESSAGES * DAY_CONVERSATIONS)
    now = FIRST_DAY + timedelta(days=days + 32)
    with TemporaryDirectory() as folder:
        memory = Memory.open(folder, now=now, environment=ENVIRONMENT)
        text = 0
        for conversation in conversations(days):
            text += sum(
                len(m["content"].encode()) for m in conversation["messages"]
            )
            memory.ingest(conversation)
        ingested = sizes(Path(folder))
        memory.summarize()
        summarized = sizes(Path(folder))
    print(
        f"text: {text / 1e6:.2f} MB\n\n| part | ingested, MB | summarized, MB |"
    )
    print("|---|---|---|")
    for part in sorted(ingested | summarized):
        print(
            f"| {part} | {megabytes(ingested[part])} | {megabytes(summarized[part])} |"
        )
    print(
        f"| together | {total(ingested, text)} | {total(summarized, text)} |"
    )


def conversations(days: int) -> Iterator[dict[str, Any]]:
    """Yield the conversations, the same in each run."""
    words = corpus_words()
    chance = random.Random(1)
    for day in range(days):
        for number in range(DAY_CONVERSATIONS):
            start = FIRST_DAY + timedelta(days=day, hours=number)
            yield {
                "conversationId": f"c-{day}-{number}",
                "userId": "u-1",
                "messages": messages(start, words, chance),
            }


def messages(
    start: datetime, words: list[str], chance: random.Random
) -> list[dict[str, Any]]:
    """Return a conversation's messages, a minute apart."""
    said = []
    for index in range(CONVERSATION_MESSAGES):
        at = start + timedelta(minutes=index)
        message = {
            "id": f"m{index}",
            "role": "assistant" if index % 2 else "user",
            "name": "Marco" if index % 2 else "Dana",
            "content": " ".join(chance.choices(words, k=MESSAGE_WORDS)),
            "timestamp": at.isoformat(),
        }
        said.append(message)
    return said


def corpus_words() -> list[str]:
    """Return the words of the corpus, as often as they occur."""
    words: list[str] = []
    for path in sorted(CORPUS.glob("*-*.json")):
        found = json.loads(path.read_text())
        for conversation in found if isinstance(found, list) else [found]:
            for message in conversation["messages"]:
                words += str(message["content"]).split()
    return words


def sizes(root: Path) -> Counter[str]:
    """Return the bytes of each part of the store."""
    found: Counter[str] = Counter()
    for path in root.rglob("*"):
        if path.is_file():
            found[part_of(path.relative_to(root))] += path.stat().st_size
    return found


def part_of(path: Path) -> str:
    """Return a LanceDB table's folder, or the first folder of another path."""
    if path.parts[0] != "vectordb":
        return path.parts[0]
    inside = [part for part in path.parts if part in PARTS]
    return f"LanceDB: {inside[0]}" if inside else "LanceDB: other"


def megabytes(size: int) -> str:
    """Format bytes as megabytes."""
    return f"{size / 1e6:.2f}"


def total(found: Counter[str], text: int) -> str:
    """Format the sum, and how many times the text it is."""
    size = found.total()
    return f"{megabytes(size)} ({size / text:.1f} times the text)"


if __name__ == "__main__":
    main()
