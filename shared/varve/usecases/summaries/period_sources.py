"""The sources of one period's summaries, by user."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from varve.domain.record import MemoryType, Record
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.summary import KeyFact, Source, is_little
from varve.usecases.summaries.source_records import source_of


@dataclass(frozen=True, slots=True)
class PeriodSources:
    """One user's current sources in a period, their key facts, and the last summary.

    `user_id` is None for messages without a user. `id` is the summary's. `sources` are told;
    `replaced` are cited only, because a correction among `sources` counts instead.
    `priors` are the records that the summary replaces: the last summary, and others left
    from another `summaries.scope`. `lost` are their sources that retention has deleted
    since. Only the priors still have that content, so they become sources of the next
    summary. `days` are the first and the last local day of the period's own sources.
    `forgotten` are the values that the summary must not name; it is `outdated` if the last
    one does. `ended` says when key facts ceased to hold, by their ids.
    """

    id: str
    user_id: str | None
    sources: tuple[Source, ...]
    replaced: tuple[Source, ...]
    key_facts: tuple[KeyFact, ...]
    priors: tuple[Record, ...]
    lost: frozenset[str]
    days: tuple[str, str]
    forgotten: tuple[AnyForgotten, ...] = ()
    outdated: bool = False
    ended: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether a source is new or changed since the last summary."""
        known = known_sources(self.priors)
        if self.outdated or len(self.priors) > 1:
            return True
        return any(
            known.get(source.id) != source.fingerprint
            for source in (*self.sources, *self.replaced)
        )

    def list_replaced_priors(self) -> list[str]:
        """Return the ids of the priors to delete once the summary is written."""
        if not self.changed:
            return []
        return [prior.id for prior in self.priors if prior.id != self.id]

    @property
    def little(self) -> bool:
        """Whether the sources are so short that no model is called for them."""
        return is_little(self.with_priors())

    def with_priors(self) -> tuple[Source, ...]:
        """Return the sources, preceded by the priors if these have lost sources."""
        priors = map(source_of, self.priors) if self.lost else ()
        return (*priors, *self.sources)

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of every source of the summary, lost ones too, by id."""
        known = known_sources(self.priors)
        fingerprints = {id_: known[id_] for id_ in known if id_ in self.lost}
        for source in sorted(
            (*self.sources, *self.replaced), key=_citation_order
        ):
            fingerprints[source.id] = source.fingerprint
        return fingerprints


@dataclass(frozen=True, slots=True)
class PeriodUsers:
    """A period's sources by user, in the users' order.

    `replaced` are ids of summaries to delete once the changed users' summaries are
    written: those of an older store and of another `summaries.scope`. `asked` are the
    values that messages of the period ask to forget.
    """

    users: tuple[PeriodSources, ...]
    replaced: tuple[str, ...]
    has_summary: bool
    asked: tuple[AnyForgotten, ...] = ()


def user_order(user_id: str | None) -> tuple[bool, str]:
    """Return the sort key of a user; messages without a user come first."""
    return user_id is not None, user_id or ""


def known_sources(priors: Iterable[Record]) -> Mapping[str, str]:
    """Return the fingerprints of the summaries' sources by id."""
    known: dict[str, str] = {}
    for prior in priors:
        known.update(
            zip(prior.source_ids, prior.source_fingerprints, strict=True)
        )
    return known


def _citation_order(
    source: Source,
) -> tuple[datetime, list[tuple[str, str]], str]:
    """Return the sort key of a citation, the same after a store is rewritten.

    Many facts have the time of a whole day, so their messages decide between them. Turns of
    one instant keep the order of the store: their ids need not tell which was said first.
    """
    if source.memory_type is not MemoryType.FACT:
        return source.at, [], ""
    said = [(talk or "", message) for talk, message in source.messages]
    return source.at, sorted(said), source.id


def sort_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources by the time of what they tell."""
    return tuple(sorted(sources, key=lambda one: one.at))
