"""One agent's past as its rows tell it: episodes with what was reported of them, in whatever order."""

from collections import defaultdict
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
class Lived:
    """An episode with all that was reported of it, the oldest report first."""

    episode: Episode
    reports: tuple[Report, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """What was last stated of it, else what its own messages say."""
        stated = [r.outcome for r in self.reports if r.outcome is not Outcome.UNKNOWN]
        return stated[-1] if stated else self.episode.verdict.outcome

    @property
    def explicit(self) -> bool:
        """Whether somebody stated the outcome, rather than a cue giving it away."""
        return bool(self.reports) or self.episode.verdict.source == "stated"

    @property
    def correction(self) -> str | None:
        """What was last said to be different, if anything."""
        said = [r.correction for r in self.reports if r.correction]
        return said[-1] if said else next(reversed(self.episode.corrections), None)

    @property
    def decision(self) -> str | None:
        """What was done."""
        done = [r.decision for r in self.reports if r.decision]
        return done[-1] if done else next(reversed(self.episode.decisions), None)

    @property
    def resolution(self) -> str | None:
        """What was right: as reported, else what was done and succeeded."""
        known = [r.resolution for r in self.reports if r.resolution]
        if known:
            return known[-1]
        return self.decision if self.outcome is Outcome.SUCCESS else None

    @property
    def used(self) -> tuple[str, ...]:
        """The ids of what was looked at before deciding."""
        return tuple(sorted({id_ for report in self.reports for id_ in report.used}))

    @property
    def settled_at(self) -> datetime:
        """When the last that we know of it was said."""
        return max([self.episode.ended, *(report.at for report in self.reports)])


class History:
    """An agent's rows, folded."""

    def __init__(self, rows: Iterable[Record]) -> None:
        self._rows = list({row.id: row for row in rows}.values())

    @cached_property
    def lived(self) -> Sequence[Lived]:
        """Every episode with its reports, the oldest first."""
        reports: defaultdict[str, list[Report]] = defaultdict(list)
        for report in self.reports:
            reports[self.target_at(report.target, report.at)].append(report)
        return [Lived(episode, tuple(reports[episode.id])) for episode in self.episodes]

    @cached_property
    def by_id(self) -> dict[str, Lived]:
        """The episodes by their ids."""
        return {one.episode.id: one for one in self.lived}

    @cached_property
    def episodes(self) -> Sequence[Episode]:
        """The episodes alone, the oldest first."""
        return [episode_from(row) for row in of_type(self._rows, MemoryType.EPISODE)]

    @cached_property
    def reports(self) -> Sequence[Report]:
        """All reports, the oldest first."""
        return [report_from(row) for row in of_type(self._rows, MemoryType.OUTCOME)]

    @cached_property
    def lesson_versions(self) -> Sequence[LessonVersion]:
        """Every version of every lesson that is written down, the oldest first."""
        return [lesson_from(row) for row in of_type(self._rows, MemoryType.LESSON)]

    @cached_property
    def reads(self) -> dict[str, tuple[int, datetime]]:
        """How often each record was read, and when last."""
        read: dict[str, tuple[int, datetime]] = {}
        for usage in map(usage_from, of_type(self._rows, MemoryType.USAGE)):
            for id_, count in usage.counts.items():
                before, last = read.get(id_, (0, usage.at))
                read[id_] = (before + count, max(last, usage.at))
        return read

    @property
    def all_rows(self) -> Sequence[Record]:
        """The rows themselves, each once."""
        return self._rows

    def rows(self, kind: MemoryType) -> list[Record]:
        """The rows of one sort, the oldest first."""
        return of_type(self._rows, kind)

    @cached_property
    def _last_of(self) -> dict[str, list[Episode]]:
        known: defaultdict[str, list[Episode]] = defaultdict(list)
        for episode in self.episodes:
            known[episode.conversation_id].append(episode)
        return known

    def target_at(self, target: str, at: datetime) -> str:
        """The episode meant: of a conversation, the last that had begun at the time; else the id itself."""
        episodes = self._last_of.get(target, [])
        begun = [episode for episode in episodes if episode.began <= at] or episodes[:1]
        return begun[-1].id if begun else target
