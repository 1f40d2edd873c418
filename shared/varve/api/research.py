"""One agent's research logs, as a program uses them."""

from collections.abc import Callable
from datetime import datetime

from varve.api.arguments import checks_arguments
from varve.domain.experience.research import ResearchFinding, ResearchLog
from varve.domain.identity import Scope
from varve.usecases.experience import research as usecases
from varve.usecases.experience.research import LogEntry
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions


@checks_arguments
class ResearchNotes:
    """Logs by name: facts, questions, search queries, visited sources."""

    def __init__(
        self,
        sessions: Sessions,
        scope: Scope,
        flush_reads: Callable[[], None],
    ) -> None:
        self._sessions = sessions
        self._flush_reads = flush_reads
        self.scope = scope

    def log(self, name: str) -> ResearchLog:
        """Return the log of that name; empty if nothing was noted."""
        with self._open() as session:
            return usecases.read_log(session, name)

    def note(
        self,
        name: str,
        component: str,
        text: str,
        *,
        source: str | None = None,
        conversation_id: str | None = None,
        user_id: str | None = None,
        most: int | None = None,
        now: datetime | None = None,
    ) -> tuple[ResearchFinding, bool]:
        """Add an entry unless the log says the same; return it and whether it is new.

        Of more than `most` entries of a component (`experience.researchEntries`) the
        oldest give way. Raises Rejected: no such
        component, or no words.
        """
        note = LogEntry(
            name, component, text, source, conversation_id, user_id, most
        )
        self._flush_reads()
        with self._open(now) as session:
            return usecases.add_note(session, note)

    def answer(
        self,
        name: str,
        question: str,
        answer: str,
        *,
        now: datetime | None = None,
    ) -> ResearchFinding:
        """Answer a question of the log. Raises Rejected: the log has no such question."""
        self._flush_reads()
        with self._open(now) as session:
            return usecases.answer_question(session, name, question, answer)

    def block(self, name: str, question: str, limit: int = 5) -> str:
        """Return the facts that bear on a question and the open questions, for a prompt."""
        with self._open() as session:
            return usecases.build_research_block(
                session, name, question, limit
            )

    def _open(self, now: datetime | None = None) -> Session:
        return self._sessions.open(self.scope, now)
