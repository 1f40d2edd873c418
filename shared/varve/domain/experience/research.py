"""A research log: what was found, asked, searched for and visited, none of it twice."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import numpy as np

from varve.domain.experience.rows import as_text
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record, Vector

Embed = Callable[[Sequence[str]], Sequence[Vector]]

SAME = 0.92
"""The cosine from which two entries of one component say the same."""
MOST = 200
"""Entries of each component; the oldest go first."""


class Component(StrEnum):
    """What an entry is."""

    FACT = "fact"
    QUESTION = "question"
    QUERY = "query"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry of a log, with the answer once a question has one."""

    log: str
    component: Component
    text: str
    at: datetime
    created_at: datetime
    answer: str | None = None
    source: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None

    @property
    def id(self) -> str:
        """The same text in the same component of the same log is one entry."""
        said = " ".join(self.text.casefold().split())
        return "finding-" + digest(self.log, self.component, said, length=24)


def finding_record(finding: Finding, period: str) -> Record:
    """The row of an entry; a question that has its answer takes the place of the open one."""
    details = {
        "component": str(finding.component),
        "answer": finding.answer,
        "source": finding.source,
    }
    return Record(
        id=finding.id,
        memory_type=MemoryType.FINDING,
        content=finding.text,
        period=period,
        event_time=finding.at,
        created_at=finding.created_at,
        source_ids=(finding.source,) if finding.source else (),
        conversation_id=finding.conversation_id,
        user_id=finding.user_id,
        about=finding.log,
        position=1 if finding.answer else 0,
        key_facts=as_text(details),
    )


def finding_from(record: Record) -> Finding:
    """The inverse of `finding_record`."""
    details = json.loads(record.key_facts)
    return Finding(
        log=record.about or "",
        component=Component(details["component"]),
        text=record.content,
        at=record.event_time,
        created_at=record.created_at,
        answer=details["answer"],
        source=details["source"],
        conversation_id=record.conversation_id,
        user_id=record.user_id,
    )


@dataclass(frozen=True, slots=True)
class ResearchLog:
    """One log's entries, the oldest first."""

    entries: tuple[Finding, ...] = ()

    def of(self, component: Component) -> list[Finding]:
        """The entries of one component."""
        return [entry for entry in self.entries if entry.component is component]

    def known(
        self, component: Component, text: str, embed: Embed, threshold: float = SAME
    ) -> Finding | None:
        """An entry that says the same, if there is one; queries and sources must be the same in letters."""
        entries = self.of(component)
        plain = " ".join(text.casefold().split())
        same = [e for e in entries if " ".join(e.text.casefold().split()) == plain]
        if same or not entries or component in {Component.QUERY, Component.SOURCE}:
            return same[0] if same else None
        vector, *others = embed([text, *(entry.text for entry in entries)])
        cosines = [float(np.dot(vector, other)) for other in others]
        best = int(np.argmax(cosines))
        return entries[best] if cosines[best] >= threshold else None

    def surplus(self, most: int = MOST) -> list[Finding]:
        """The oldest entries of each component that has more than `most`."""
        return [
            e
            for component in Component
            for e in self.of(component)[: max(0, len(self.of(component)) - most)]
        ]

    def relevant(self, question: str, embed: Embed, limit: int = 5) -> list[Finding]:
        """The facts nearest to a question."""
        facts = self.of(Component.FACT)
        if not facts:
            return []
        vector, *others = embed([question, *(fact.text for fact in facts)])
        order = sorted(
            range(len(facts)),
            key=lambda i: (-float(np.dot(vector, others[i])), facts[i].id),
        )
        return [facts[i] for i in order[:limit]]

    def block(self, question: str, embed: Embed, limit: int = 5) -> str:
        """The relevant facts and the open questions, for a prompt."""
        facts = [
            f"- {fact.text}" + (f" [{fact.source}]" if fact.source else "")
            for fact in self.relevant(question, embed, limit)
        ]
        open_ = [f"- {q.text}" for q in self.of(Component.QUESTION) if q.answer is None]
        parts = [
            *(["Known:", *facts] if facts else []),
            *(["Open:", *open_] if open_ else []),
        ]
        lines = [part.replace("<", "‹").replace(">", "›") for part in parts]
        return "\n".join(["<research_log>", *lines, "</research_log>"]) if lines else ""

    def summary(self) -> str:
        """How much there is of what, in a line."""
        questions = self.of(Component.QUESTION)
        answered = sum(question.answer is not None for question in questions)
        return (
            f"{len(self.of(Component.FACT))} facts, {answered} of {len(questions)} questions answered, "
            f"{len(self.of(Component.QUERY))} searches, {len(self.of(Component.SOURCE))} sources"
        )


def answered(question: Finding, answer: str, now: datetime) -> Finding:
    """The question with its answer."""
    return replace(question, answer=answer, created_at=now)
