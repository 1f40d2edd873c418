"""What an agent learns from what it did, as a person uses it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from varve.api.answers import AnswerBook
from varve.api.lessons import LessonBook
from varve.api.research import ResearchNotes
from varve.domain.calendar import iso
from varve.domain.errors import Rejected
from varve.domain.experience import forgetting
from varve.domain.experience.history import PastEpisode
from varve.domain.experience.reads import ReadCounts, usage_record
from varve.domain.experience.recall import Recollection
from varve.domain.experience.rows import Report
from varve.domain.identity import Scope
from varve.messages.outcome import check_report, parse_outcome
from varve.usecases.experience.rows import year_of
from varve.verbs.experience import ExperienceVerbs

READS_PER_WRITE = 50
"""Reads that are counted in process before one row of them goes to the writer."""

SendOutcome = Callable[[Scope, Report], None]


class Experience:
    """One agent's episodes, lessons, prior answers and research notes.

    >>> before = memory.experience.recall("requests time out under load", state="debugging")
    >>> memory.record_outcome("c-7", "FAILURE", correction="It was the release.", used=before.ids)
    """

    def __init__(
        self, verbs: ExperienceVerbs, scope: Scope, send_outcome: SendOutcome
    ) -> None:
        self._verbs, self.scope, self._send_outcome = verbs, scope, send_outcome
        self._reads: Counter[str] = Counter()
        self.lessons = LessonBook(verbs, scope)
        self.answers = AnswerBook(verbs, scope, self.count_reads)
        self.research = ResearchNotes(verbs, scope)

    def record_outcome(
        self,
        target: str,
        outcome: str,
        *,
        correction: str | None = None,
        decision: str | None = None,
        resolution: str | None = None,
        used: Sequence[str] = (),
        user: str | None = None,
        at: datetime | None = None,
    ) -> Report:
        """Say how an episode ended, by its id, or the last one of a conversation, by that id.

        `correction` says what was wrong, `decision` what was done, `resolution` what would have been right,
        `used` the ids that were looked at before. The same statement with the same `at` counts once,
        however often it is made. Raises Rejected: names the field.
        """
        if isinstance(used, str):
            raise Rejected("used", "must be a list of ids, not one")
        now, then = self._verbs.parts.clock(), self._verbs.parts.at(at, "at")
        history = self._verbs.history(self.scope)
        lived = history.by_id.get(history.target_at(target, then))
        of_conversation = lived.episode.conversation_id if lived else target
        own = lived.episode.user_id if lived else None
        report = check_report(
            Report(
                target=lived.episode.id if lived else target,
                outcome=parse_outcome(outcome),
                at=then,
                created_at=now,
                correction=self._private(correction),
                decision=self._private(decision),
                resolution=self._private(resolution),
                used=tuple(sorted(set(used))),
                user_id=user or own,
                conversation_id=of_conversation,
            )
        )
        self._send_outcome(self.scope, report)
        return report

    def episodes(self, *, limit: int | None = None) -> list[dict[str, Any]]:
        """The episodes, the newest first, as JSON values."""
        lived = list(reversed(self._verbs.history(self.scope).past_episodes))
        return [shown(one) for one in lived[:limit]]

    def episode(self, id_: str) -> dict[str, Any]:
        """One episode with all that is known of it. Raises Rejected: there is none of this id."""
        return shown(self._find(id_))

    def recall(
        self,
        situation: str,
        *,
        state: str | None = None,
        user: str | None = None,
        limit: int = 8,
    ) -> "Recall":
        """What of the past bears on a situation: episodes with their outcomes, lessons with confidence.

        Raises Rejected: the situation has no words.
        """
        found, chains = self._verbs.recall(
            self.scope, situation, state=state, user_id=user, limit=limit
        )
        self.count_reads([item.id for item in found.items])
        return Recall(found, chains)

    def why(self, id_: str, *, depth: int = 4) -> dict[str, Any]:
        """The links around an episode, and their story in sentences. Raises Rejected: no such episode."""
        steps, told = self._verbs.why(self.scope, self._find(id_), depth)
        return {"id": id_, "links": [asdict(step) for step in steps], "story": told}

    def count_reads(self, ids: Sequence[str]) -> None:
        """Count reads in process; every fiftieth writes one row for all of them."""
        self._reads.update(ids)
        if self._reads.total() >= READS_PER_WRITE:
            self.flush()

    def flush(self) -> None:
        """Write down the reads counted so far."""
        if not self._reads:
            return
        at = self._verbs.parts.clock()
        batch = ",".join(f"{id_}:{count}" for id_, count in sorted(self._reads.items()))
        zone = self._verbs.parts.config(self.scope.workspace).zone
        self._verbs.write(
            self.scope,
            [usage_record(ReadCounts(dict(self._reads), at, batch), year_of(at, zone))],
        )
        self._reads.clear()

    def forget_unread(
        self, *, dry_run: bool = True, now: datetime | None = None
    ) -> dict[str, Any]:
        """What a time to live or decay takes, where they are turned on; done unless `dry_run`."""
        config = self._verbs.parts.config(self.scope.workspace)
        history, at = self._verbs.history(self.scope), self._verbs.parts.at(now)
        gone = forgetting.choose_forgotten(
            history,
            at,
            config.experience.time_to_live_days,
            decay=config.experience.decay,
        )
        if not dry_run:
            self._verbs.delete(self.scope, list(gone))
        return {"forgotten": dict(sorted(gone.items())), "dryRun": dry_run}

    def _private(self, text: str | None) -> str | None:
        return self._verbs.private(self.scope, text) if text else text

    def _find(self, id_: str) -> PastEpisode:
        found = self._verbs.history(self.scope).by_id.get(id_)
        if found is None:
            raise Rejected(
                "episode", f"there is no episode {id_[:60]!r} in {self.scope}"
            )
        return found


class Recall:
    """What `recall` found; `ids` are what to hand to `record_outcome` as `used`."""

    def __init__(
        self, found: Recollection, chains: Mapping[str, Sequence[str]]
    ) -> None:
        self.items, self.familiarity, self.chains = (
            found.items,
            found.familiarity,
            chains,
        )

    @property
    def ids(self) -> list[str]:
        """The ids of all items."""
        return [item.id for item in self.items]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        items = [
            asdict(item) | {"chain": list(self.chains.get(item.id, ()))}
            for item in self.items
        ]
        return {"familiarity": round(self.familiarity, 4), "items": items}


def shown(one: PastEpisode) -> dict[str, Any]:
    """An episode as JSON values."""
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
