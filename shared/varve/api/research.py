"""One agent's research logs, as a person uses them."""

from datetime import datetime

from varve.domain.errors import Rejected
from varve.domain.experience.research import (
    MAX_ENTRIES,
    Component,
    ResearchFinding,
    ResearchLog,
    finding_from,
    finding_record,
    with_answer,
)
from varve.domain.identity import Scope
from varve.domain.record import MemoryType
from varve.usecases.experience.rows import year_of
from varve.verbs.experience import ExperienceVerbs


class ResearchNotes:
    """Logs by name: facts, questions, search queries, visited sources."""

    def __init__(self, verbs: ExperienceVerbs, scope: Scope) -> None:
        self._verbs, self.scope = verbs, scope

    def log(self, name: str) -> ResearchLog:
        """The log of that name, empty where nothing was noted."""
        rows = self._verbs.history(self.scope).rows(MemoryType.FINDING)
        return ResearchLog(
            tuple(finding_from(row) for row in rows if row.about == name)
        )

    def note(
        self,
        name: str,
        component: str,
        text: str,
        *,
        source: str | None = None,
        conversation_id: str | None = None,
        user_id: str | None = None,
        most: int = MAX_ENTRIES,
        now: datetime | None = None,
    ) -> tuple[ResearchFinding, bool]:
        """Add an entry, unless one says the same; the entry, and whether it is new. The oldest give way.

        Raises Rejected: no such component, or no words.
        """
        if component not in set(Component) or not text.strip():
            raise Rejected(
                "component", f"must be one of {', '.join(Component)}, with a text"
            )
        text = self._verbs.private(self.scope, text)
        log, at = self.log(name), self._verbs.parts.at(now)
        config = self._verbs.parts.config(self.scope.workspace)
        known = log.known(
            Component(component), text, self._verbs.parts.embedder(config).embed
        )
        if known is not None:
            return known, False
        entry = ResearchFinding(
            name,
            Component(component),
            text,
            at,
            at,
            None,
            source,
            conversation_id,
            user_id,
        )
        self._verbs.write(self.scope, [finding_record(entry, year_of(at, config.zone))])
        surplus = ResearchLog((*log.entries, entry)).surplus(most)
        self._verbs.delete(self.scope, [one.id for one in surplus])
        return entry, True

    def answer(
        self, name: str, question: str, answer: str, *, now: datetime | None = None
    ) -> ResearchFinding:
        """Answer a question of the log. Raises Rejected: the log has no such question."""
        asked = [q for q in self.log(name).of(Component.QUESTION) if q.text == question]
        if not asked:
            raise Rejected("question", f"the log {name[:60]!r} has no such question")
        config = self._verbs.parts.config(self.scope.workspace)
        entry = with_answer(
            asked[0], self._verbs.private(self.scope, answer), self._verbs.parts.at(now)
        )
        self._verbs.write(
            self.scope, [finding_record(entry, year_of(entry.at, config.zone))]
        )
        return entry

    def block(self, name: str, question: str, limit: int = 5) -> str:
        """The facts that bear on a question and what is open, for a prompt."""
        embedder = self._verbs.parts.embedder(
            self._verbs.parts.config(self.scope.workspace)
        )
        return self.log(name).block(question, embedder.embed, limit)
