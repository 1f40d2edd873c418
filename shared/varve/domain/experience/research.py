"""A research log: facts, questions, queries and sources, none of them noted twice."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from operator import itemgetter

from varve.domain.experience.alike import Embed, cosines
from varve.domain.experience.limits import MAX_ENTRIES
from varve.domain.experience.rows import as_text, normalize
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record
from varve.domain.statements.pairs.sameness import mean_the_same


class Component(StrEnum):
    """The kinds of entries."""

    FACT = "fact"
    QUESTION = "question"
    QUERY = "query"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class ResearchFinding:
    """One entry of a log; an answered question has its `answer`."""

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
        """The id, equal for the same text in the same component of the same log."""
        said = normalize(self.text)
        return "finding-" + digest(self.log, self.component, said, length=24)


def finding_record(finding: ResearchFinding, period: str) -> Record:
    """Return the row of an entry; an answered question replaces the open one."""
    details = {
        "component": str(finding.component),
        "answer": finding.answer,
        "source": finding.source,
    }
    source_ids = (finding.source,) if finding.source else ()
    return Record(
        id=finding.id,
        memory_type=MemoryType.FINDING,
        content=finding.text,
        period=period,
        event_time=finding.at,
        created_at=finding.created_at,
        source_ids=source_ids,
        conversation_id=finding.conversation_id,
        user_id=finding.user_id,
        about=finding.log,
        position=1 if finding.answer else 0,
        key_facts=as_text(details),
    )


def finding_from(record: Record) -> ResearchFinding:
    """Return the entry of a row; the inverse of `finding_record`."""
    details = json.loads(record.key_facts)
    return ResearchFinding(
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

    entries: tuple[ResearchFinding, ...] = ()

    def of(self, component: Component) -> list[ResearchFinding]:
        """Return the entries of one component."""
        return [
            entry for entry in self.entries if entry.component is component
        ]

    def known(
        self, component: Component, text: str, embed: Embed, at: datetime
    ) -> ResearchFinding | None:
        """Return an entry that is the same statement as a text noted at `at`, if any.

        Facts and questions are compared as `mean_the_same` does. Queries and sources are
        the same only if their texts are equal, apart from case and white space.
        """
        entries = self.of(component)
        wanted = normalize(text)
        for entry in entries:
            if normalize(entry.text) == wanted:
                return entry
        if not entries or component in {Component.QUERY, Component.SOURCE}:
            return None
        likeness = cosines(text, [entry.text for entry in entries], embed)
        same: list[tuple[float, ResearchFinding]] = []
        for cosine, entry in zip(likeness, entries, strict=True):
            same_day = entry.at.date() == at.date()
            if mean_the_same(entry.text, text, cosine, same_day=same_day):
                same.append((cosine, entry))
        _, nearest = max(same, key=itemgetter(0), default=(0.0, None))
        return nearest

    def surplus(self, most: int = MAX_ENTRIES) -> list[ResearchFinding]:
        """Return the oldest entries beyond `most` of each component."""
        surplus: list[ResearchFinding] = []
        for component in Component:
            entries = self.of(component)
            number = max(0, len(entries) - most)
            surplus += entries[:number]
        return surplus

    def relevant(
        self, question: str, embed: Embed, limit: int = 5
    ) -> list[ResearchFinding]:
        """Return the facts nearest to a question."""
        facts = self.of(Component.FACT)
        if not facts:
            return []
        texts = [fact.text for fact in facts]
        likeness = cosines(question, texts, embed)
        pairs = list(zip(likeness, facts, strict=True))

        def nearest_first(
            pair: tuple[float, ResearchFinding],
        ) -> tuple[float, str]:
            near, fact = pair
            return -near, fact.id

        pairs.sort(key=nearest_first)
        return [fact for _, fact in pairs[:limit]]

    def block(self, question: str, embed: Embed, limit: int = 5) -> str:
        """Return a block for a prompt: relevant facts and open questions."""
        facts = [_line(fact) for fact in self.relevant(question, embed, limit)]
        questions = self.of(Component.QUESTION)
        unanswered = [f"- {q.text}" for q in questions if q.answer is None]
        lines: list[str] = []
        if facts:
            lines += ["Known:", *facts]
        if unanswered:
            lines += ["Open:", *unanswered]
        if not lines:
            return ""
        escaped = [line.replace("<", "‹").replace(">", "›") for line in lines]
        return "\n".join(["<research_log>", *escaped, "</research_log>"])

    def summary(self) -> str:
        """Return the counts of all components, in a line."""
        questions = self.of(Component.QUESTION)
        answered = [
            question for question in questions if question.answer is not None
        ]
        facts = self.of(Component.FACT)
        queries = self.of(Component.QUERY)
        sources = self.of(Component.SOURCE)
        return (
            f"{len(facts)} facts, "
            f"{len(answered)} of {len(questions)} questions answered, "
            f"{len(queries)} searches, "
            f"{len(sources)} sources"
        )


def _line(fact: ResearchFinding) -> str:
    source = f" [{fact.source}]" if fact.source else ""
    return f"- {fact.text}{source}"


def with_answer(
    question: ResearchFinding, answer: str, now: datetime
) -> ResearchFinding:
    """Return the question with its answer."""
    return replace(question, answer=answer, created_at=now)
