"""An agent's past, folded from its rows in any order: episodes with their reports."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.reads import usage_from
from varve.domain.experience.rows import (
    Episode,
    LessonVersion,
    Report,
    episode_from,
    lesson_from,
    of_type,
    report_from,
)
from varve.domain.record import MemoryType, Record


@dataclass(frozen=True, slots=True)
class PastEpisode:
    """An episode with all its reports, the oldest first."""

    episode: Episode
    reports: tuple[Report, ...] = ()

    @property
    def id(self) -> str:
        """The episode's id."""
        return self.episode.id

    @property
    def situation(self) -> str:
        """The episode's situation."""
        return self.episode.situation

    @property
    def state(self) -> str | None:
        """The state that the episode was in, if known."""
        return self.episode.state

    @property
    def outcome(self) -> Outcome:
        """The last outcome reported, else the one the episode's own messages give."""
        for report in reversed(self.reports):
            if report.outcome is not Outcome.UNKNOWN:
                return report.outcome
        return self.episode.verdict.outcome

    @property
    def explicit(self) -> bool:
        """Whether the outcome was stated, not inferred from the words."""
        return bool(self.reports) or self.episode.verdict.source == "stated"

    @property
    def correction(self) -> str | None:
        """The last correction, if any."""
        reported = [report.correction for report in self.reports]
        return _last(reported, self.episode.corrections)

    @property
    def decision(self) -> str | None:
        """The last decision, if any."""
        reported = [report.decision for report in self.reports]
        return _last(reported, self.episode.decisions)

    @property
    def resolution(self) -> str | None:
        """The right action: as reported, else the decision of a successful episode."""
        reported = [report.resolution for report in self.reports]
        last = _last(reported, ())
        if last:
            return last
        return self.decision if self.outcome is Outcome.SUCCESS else None

    @property
    def used(self) -> tuple[str, ...]:
        """The sorted ids of the episodes and lessons consulted before the decision."""
        ids: set[str] = set()
        for report in self.reports:
            ids.update(report.used)
        return tuple(sorted(ids))

    @property
    def settled_at(self) -> datetime:
        """The time of the episode's end or of its last report."""
        reported_at = [report.at for report in self.reports]
        return max([self.episode.ended, *reported_at])


def _last(reported: Sequence[str | None], own: Sequence[str]) -> str | None:
    """Return the last text reported, else the last of the episode's own, if any."""
    said = [text for text in reported if text] or own
    return said[-1] if said else None


class History:
    """An agent's experience rows, decoded and joined on first use."""

    def __init__(self, rows: Iterable[Record]) -> None:
        by_id = {row.id: row for row in rows}
        self._rows = list(by_id.values())

    @cached_property
    def past_episodes(self) -> Sequence[PastEpisode]:
        """Every episode with its reports, the oldest first."""
        reports: defaultdict[str, list[Report]] = defaultdict(list)
        for report in self.reports:
            target = self.target_at(report.target, report.at)
            reports[target].append(report)
        return [
            PastEpisode(episode, tuple(reports[episode.id]))
            for episode in self.episodes
        ]

    @cached_property
    def by_id(self) -> dict[str, PastEpisode]:
        """The episodes by id."""
        return {past.id: past for past in self.past_episodes}

    @cached_property
    def episodes(self) -> Sequence[Episode]:
        """The episodes without reports, the oldest first."""
        rows = self.rows(MemoryType.EPISODE)
        return [episode_from(row) for row in rows]

    @cached_property
    def reports(self) -> Sequence[Report]:
        """All reports, the oldest first."""
        rows = self.rows(MemoryType.OUTCOME)
        return [report_from(row) for row in rows]

    @cached_property
    def lesson_versions(self) -> Sequence[LessonVersion]:
        """All stored versions of lessons, the oldest first."""
        rows = self.rows(MemoryType.LESSON)
        return [lesson_from(row) for row in rows]

    @cached_property
    def reads(self) -> dict[str, tuple[int, datetime]]:
        """How often each record was read, and the time of the last read."""
        counts: Counter[str] = Counter()
        last: dict[str, datetime] = {}
        for row in self.rows(MemoryType.USAGE):
            batch = usage_from(row)
            counts.update(batch.counts)
            # The rows are ordered by time.
            last.update(dict.fromkeys(batch.counts, batch.at))
        return {id_: (count, last[id_]) for id_, count in counts.items()}

    @property
    def all_rows(self) -> Sequence[Record]:
        """All rows, each id once."""
        return self._rows

    def rows(self, kind: MemoryType) -> list[Record]:
        """Return the rows of one memory type, the oldest first."""
        return of_type(self._rows, kind)

    @cached_property
    def _episodes_of(self) -> dict[str, list[Episode]]:
        """The episodes of each conversation, the oldest first."""
        known: defaultdict[str, list[Episode]] = defaultdict(list)
        for episode in self.episodes:
            known[episode.conversation_id].append(episode)
        return known

    def target_at(self, target: str, at: datetime) -> str:
        """Return the id of the episode that a report means.

        For a conversation this is the last episode begun by `at`, or else its first. Any
        other target is returned unchanged.
        """
        episodes = self._episodes_of.get(target, [])
        if not episodes:
            return target
        begun = [episode for episode in episodes if episode.began <= at]
        return begun[-1].id if begun else episodes[0].id
