"""One agent's experience, as a program uses it."""

import atexit
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from threading import Lock
from typing import Any

from varve.api.answers import AnswerBook
from varve.api.arguments import checks_arguments
from varve.api.lessons import LessonBook
from varve.api.outcomes import OutcomeRecorder
from varve.api.research import ResearchNotes
from varve.domain.calendar import iso
from varve.domain.errors import VarveError
from varve.domain.experience.block import KNOWN_FROM, build_experience_block
from varve.domain.experience.history import PastEpisode
from varve.domain.experience.recall import Recollection
from varve.domain.identity import Scope
from varve.usecases.experience import recall as usecases
from varve.usecases.experience.forgetting import forget_unread
from varve.usecases.experience.recall import RecallRequest
from varve.usecases.experience.rows import read_past
from varve.usecases.session import Session
from varve.wiring.sessions import Sessions

READS_PER_WRITE = 50
"""Reads that are counted in process before one row for all of them is written."""


@checks_arguments
class Experience(OutcomeRecorder):
    """One agent's episodes, lessons, prior answers and research notes.

    >>> before = memory.experience.recall("requests time out under load", state="debugging")
    >>> memory.record_outcome("c-7", "FAILURE", correction="It was the release.", used=before.ids)
    """

    def __init__(self, sessions: Sessions, scope: Scope) -> None:
        self._sessions = sessions
        self.scope = scope
        self._reads: Counter[str] = Counter()
        self._lock = Lock()
        self.lessons = LessonBook(sessions, scope, self.flush)
        self.answers = AnswerBook(
            sessions, scope, self.count_reads, self.flush
        )
        self.research = ResearchNotes(sessions, scope, self.flush)

    def episodes(self, *, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the episodes, the newest first, as JSON values."""
        with self._open() as session:
            lived = list(reversed(read_past(session).past_episodes))
        return [episode_as_json(one) for one in lived[:limit]]

    def episode(self, id_: str) -> dict[str, Any]:
        """Return one episode with all that is known of it. Raises Rejected: no such episode."""
        with self._open() as session:
            return episode_as_json(
                usecases.find_episode(session, read_past(session), id_)
            )

    def recall(
        self,
        situation: str,
        *,
        state: str | None = None,
        user: str | None = None,
        limit: int = 8,
        regime: Mapping[str, str] | None = None,
    ) -> "Recall":
        """Return episodes with their outcomes and lessons that bear on a situation.

        Episodes of another `regime` count half. Raises Rejected: the situation has no words.
        """
        request = RecallRequest(situation, state, user, limit, regime)
        with self._open() as session:
            outcome = usecases.recall(session, request)
        self.count_reads([item.id for item in outcome.found.items])
        return Recall(outcome.found, outcome.chains)

    def why(self, id_: str, *, depth: int = 4) -> dict[str, Any]:
        """Return the links around an episode, and their story. Raises Rejected: no such episode."""
        with self._open() as session:
            steps, story = usecases.explain_episode(session, id_, depth)
        return {
            "id": id_,
            "links": [asdict(step) for step in steps],
            "story": story,
        }

    def count_reads(self, ids: Sequence[str]) -> None:
        """Count reads in process; every fiftieth writes one row for all of them.

        The rest is written with the next write of experience, or when the process ends.
        """
        with self._lock:
            if ids and not self._reads:
                atexit.register(self.flush)
            self._reads.update(ids)
            is_full = self._reads.total() >= READS_PER_WRITE
        if is_full:
            self.flush()

    def flush(self) -> None:
        """Write the reads counted so far."""
        with self._lock:
            reads = dict(self._reads)
            self._reads.clear()
            atexit.unregister(self.flush)
        if not reads:
            return
        try:
            with self._open() as session:
                usecases.write_reads(session, reads)
        except VarveError:
            with self._lock:
                self._reads.update(reads)
            raise

    def forget_unread(
        self, *, dry_run: bool = True, now: datetime | None = None
    ) -> dict[str, Any]:
        """Delete rows past their time to live, decay or limits, if configured.

        With `dry_run` nothing is deleted.
        """
        with self._open(now) as session:
            gone = forget_unread(session, dry_run=dry_run)
        return {"forgotten": gone, "dryRun": dry_run}

    def _open(self, now: datetime | None = None) -> Session:
        return self._sessions.open(self.scope, now)

    def _write_reads(self) -> None:
        self.flush()


class Recall:
    """What `recall` found; pass `ids` to `record_outcome` as `used`."""

    def __init__(
        self, found: Recollection, chains: Mapping[str, Sequence[str]]
    ) -> None:
        self._found = found
        self.items = found.items
        self.familiarity = found.familiarity
        self.chains = chains

    @property
    def ids(self) -> list[str]:
        """The ids of all items."""
        return [item.id for item in self.items]

    @property
    def known(self) -> bool:
        """Whether an answer known already is likelier than a new one."""
        return self.familiarity >= KNOWN_FROM

    @property
    def block(self) -> str:
        """The `<experience>` block for a prompt, at most 300 tokens; empty without a past."""
        return build_experience_block(self._found)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        items = [
            asdict(item) | {"chain": list(self.chains.get(item.id, ()))}
            for item in self.items
        ]
        return {
            "familiarity": round(self.familiarity, 4),
            "items": items,
            "block": self.block,
        }


def episode_as_json(one: PastEpisode) -> dict[str, Any]:
    """Return an episode as JSON values."""
    episode = one.episode
    return {
        "id": episode.id,
        "conversationId": episode.conversation_id,
        "messageIds": list(episode.message_ids),
        "userId": episode.user_id,
        "began": iso(episode.began),
        "ended": iso(episode.ended),
        "state": episode.state,
        "cut": episode.why,
        "situation": episode.situation,
        "summary": episode.summary,
        "subject": episode.subject,
        "taskType": episode.task_type,
        "outcome": str(one.outcome),
        "outcomeFrom": "report" if one.reports else episode.verdict.source,
        "decision": one.decision,
        "correction": one.correction,
        "resolution": one.resolution,
        "used": list(one.used),
        "decisions": list(episode.decisions),
        "assumptions": list(episode.assumptions),
        "corrections": list(episode.corrections),
        "tags": list(episode.tags),
        "regime": dict(episode.regime),
        "importance": episode.importance,
    }
