"""What a chat model would be asked for the corpus: `python benchmarks/tokens.py`.

The prompts and schemas are the real ones, of extraction and of all summaries; their tokens are the
project's estimate of four UTF-8 bytes each. The answers are made up: `FACTS` facts, with a triple each, for a
message of a user, of the length that the prompt's own example has, and summaries of half the length of what
they sum up, as far as they may be so long.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from traffic import SimulatedClock, markdown

from tests.support.drivers import open_driver
from varve.domain.calendar import SUMMARY_GRAINS
from varve.domain.conversation import parse_conversation
from varve.domain.identity import Scope
from varve.domain.text import estimated_tokens
from varve.ports.models import Reply
from varve.prompts.extract import ExtractReply

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
FIRST = datetime(2026, 3, 2, tzinfo=UTC)
AGENT = Scope("northwind", "assistant")
MODEL = "gpt-4o-mini"
FACTS = 0.5
NIGHT = 29.67
"""Hours after midnight by which a day's passes are over."""
_FACT = {
    "content": "Oskar moved from Graz to Linz on 2026-02-27.",
    "about": "Oskar",
}
_TRIPLE = {
    "op": "ADD",
    "subject": "Oskar",
    "predicate": "likes",
    "object": "Linz",
    "replaces": None,
}
_SURE = {"event_time": "2026-02-27", "confidence": 1.0}


@dataclass(slots=True)
class CountingLLM:
    """The LLM port of a model that answers by rule; counts what it is asked."""

    model: str = MODEL
    facts: int = 0
    asked: Counter[str] = field(default_factory=Counter)

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """An answer of the length that one may expect."""
        answer = reply.model_validate(
            self._extraction(user) if reply is ExtractReply else _summary(user)
        )
        kind = "extraction" if reply is ExtractReply else "summaries"
        schema = json.dumps(reply.model_json_schema())
        self.asked[f"{kind}, calls"] += 1
        self.asked[f"{kind}, tokens in"] += sum(
            map(estimated_tokens, (system, user, schema))
        )
        self.asked[f"{kind}, tokens out"] += estimated_tokens(
            answer.model_dump_json()
        )
        return answer

    def _extraction(self, user: str) -> dict[str, Any]:
        said = user.rpartition("<messages>")[2]
        ids = [
            line["id"]
            for line in map(_json, said.splitlines())
            if line and line["role"] == "user"
        ]
        cited = [
            {"message_ids": [id_]} for id_ in ids[: round(FACTS * len(ids))]
        ]
        self.facts += len(cited)
        return {
            "facts": [
                _FACT | _SURE | {"importance": 0.8} | ids for ids in cited
            ],
            "triples": [_TRIPLE | _SURE | ids for ids in cited],
        }


def _summary(user: str) -> dict[str, Any]:
    limit = re.search(r"\((\d+) tokens\)", user)
    texts = [line["text"] for line in map(_json, user.splitlines()) if line]
    words = " ".join(texts)
    most = min(int(limit[1]) if limit else 0, estimated_tokens(words) // 2)
    return {
        "summary": words[: 4 * most] or "Nothing.",
        "people": ["Dana"],
        "topics": ["boiler", "move"],
        "open_questions": [],
    }


def _json(line: str) -> dict[str, Any]:
    return dict(json.loads(line)) if line.startswith("{") else {}


def days(most: int) -> Iterator[dict[str, Any]]:
    """Conversations of one agent of the corpus, one for each day, dated to that day."""
    stored = json.loads((CORPUS / "northwind-dana.json").read_text("utf-8"))
    stored += json.loads((CORPUS / "northwind-marco.json").read_text("utf-8"))
    for day, conversation in enumerate(stored[:most]):
        at = FIRST + timedelta(days=day, hours=12)
        messages = [
            message
            | {"timestamp": (at + timedelta(seconds=20 * number)).isoformat()}
            for number, message in enumerate(conversation["messages"])
        ]
        owner = {"workspaceId": AGENT.workspace, "agentId": AGENT.agent}
        yield conversation | owner | {"messages": messages}


def asked(most: int) -> tuple[CountingLLM, int]:
    """What the model was asked for so many days' conversations, and how many of these there were."""
    llm, clock = CountingLLM(), SimulatedClock(FIRST)
    with TemporaryDirectory() as folder:
        environment = {
            "VARVE_LLM": f"openai:{MODEL}",
            "VARVE_DEFAULT_PLAN": "starter",
        }
        application = open_driver(environment, folder, clock, llm=llm)
        done = 0
        for day, conversation in enumerate(days(most)):
            clock.go(day, 12.5, FIRST)
            application.ingest([parse_conversation(conversation)])
            application.summarize(
                AGENT, SUMMARY_GRAINS, clock.go(day, NIGHT, FIRST)
            )
            done += 1
    return llm, done


def table(counted: Mapping[str, float], conversations: int) -> str:
    """Calls and tokens for a conversation."""
    rows: list[list[object]] = [
        [name, value / conversations]
        for name, value in sorted(counted.items())
    ]
    return markdown(["model", "for a conversation"], rows)


def main() -> None:
    """Count and print."""
    llm, conversations = asked(40)
    print(
        table(llm.asked, conversations),
        f"\nFacts: {llm.facts / conversations:.1f} a conversation.",
    )


if __name__ == "__main__":
    main()
