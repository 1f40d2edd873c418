"""Read the sources of one agent's summaries, period by period."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from varve.domain import retention
from varve.domain.calendar import Grain, Period, day_of
from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record, span_of
from varve.domain.same_key_facts import ValuesByMessage, fold_values
from varve.domain.search.supersession import EndedStatement, held_until
from varve.domain.statements.forgetting.forgetting import (
    AnyForgotten,
    choose_concerning,
    keep_rest,
)
from varve.domain.statements.standings.corrected import (
    Corrected,
    correct_records,
)
from varve.domain.statements.texts.telling import CORRECTION
from varve.domain.summary import (
    KeyFact,
    Source,
    agent_summary_id,
    key_facts_from_json,
    most_important,
    summary_id,
)
from varve.domain.workspace import SummaryScope, WorkspaceConfig
from varve.ports.objects import Objects
from varve.ports.records import MemoryReader
from varve.usecases.forget.asked_to_forget import without_values
from varve.usecases.forget.forgotten_statements import stated_by
from varve.usecases.summaries.period_sources import (
    PeriodSources,
    PeriodUsers,
    known_sources,
    sort_sources,
    user_order,
)
from varve.usecases.summaries.shared_summaries import recall_users
from varve.usecases.summaries.source_records import (
    hidden_source_of,
    list_key_facts,
    source_of,
)


@dataclass(slots=True)
class _Pile:
    """One user's records, words, key facts and last summaries of a period.

    `corrected` is what corrections make of the records; None: there are none. It is
    `outdated` if a last summary named a forgotten value.
    """

    records: list[Record] = field(default_factory=list)
    words: list[Source] = field(default_factory=list)
    facts: list[KeyFact] = field(default_factory=list)
    priors: list[Record] = field(default_factory=list)
    corrected: Corrected | None = None
    outdated: bool = False

    @property
    def has_sources(self) -> bool:
        """Whether there is anything to make a summary of, or one to make again."""
        return bool(self.records or self.words or self.outdated)

    def correct(self) -> Corrected:
        """Return the records to tell, and those that a correction replaces."""
        return self.corrected or Corrected(tuple(self.records))


@dataclass(frozen=True, slots=True)
class PeriodReader:
    """Reads the sources of one agent's summaries as they are at `now`.

    `values` are those that users asked to forget, `ended` those that ceased to hold, and
    `told` all values, by the messages that state them.
    """

    scope: Scope
    now: datetime
    config: WorkspaceConfig
    reader: MemoryReader
    objects: Objects
    values: Sequence[AnyForgotten] = ()
    ended: Sequence[EndedStatement] = ()
    told: ValuesByMessage = field(default_factory=dict)

    def gather(self, period: Period, since: int = 0) -> PeriodUsers:
        """Return the sources of a period's summaries, by user, oldest first.

        The store below is read at version `since` or later. Raises Retryable: the store
        failed, or only an older version can be read.
        """
        # Each store's version is looked up once for all reads.
        stores = (period.grain.child or Grain.WORKING, period.grain)
        reader = self.reader.at(self.scope, stores)
        labels = [child.label for child in period.children()]
        below = reader.in_period(self.scope, stores[0], *labels, since=since)
        priors = reader.in_period(self.scope, period.grain, period.label)
        ids = {one.id for one in below}
        asked = [one for one in self.values if one.request_turn in ids]
        below = list(map(self._without_forgotten, below))
        piles, replaced = self._pile_up(period, below, priors)
        if period.grain is Grain.DAILY:
            said = reader.in_conversations(
                self.scope, Grain.WORKING, CORRECTION, since
            )
            self._correct(piles, said)
        users = [
            self._sources(period, user_id, pile)
            for user_id, pile in sorted(piles.items(), key=_user_order)
        ]
        for one in users:
            replaced += one.list_replaced_priors()
        return PeriodUsers(
            tuple(users), tuple(replaced), bool(priors), tuple(asked)
        )

    def _without_forgotten(self, record: Record) -> Record:
        """Return a summary without what names a forgotten value; any other record as it is."""
        if record.memory_type is not MemoryType.SUMMARY:
            return record
        return without_values(record, self.values, self.config.zone)

    def _pile_up(
        self, period: Period, below: list[Record], priors: list[Record]
    ) -> tuple[dict[str | None, _Pile], list[str]]:
        """Return the piles with sources, and the ids of the summaries taken apart for them."""
        piles: dict[str | None, _Pile] = {}
        replaced: list[str] = []
        if self.config.summaries.scope is SummaryScope.USER:
            piles, replaced = self._sort_by_user(period, below, priors)
        else:
            piles = {None: _Pile(records=below, priors=priors)}
        for pile in piles.values():
            self._clean_priors(pile)
        found = {user: one for user, one in piles.items() if one.has_sources}
        return found, replaced

    def _clean_priors(self, pile: _Pile) -> None:
        before = pile.priors
        pile.priors = list(map(self._without_forgotten, before))
        pile.outdated = pile.priors != before

    def _correct(
        self, piles: Mapping[str | None, _Pile], said: Sequence[Record]
    ) -> None:
        """Add to each pile what the corrections of its user say of its records."""
        by_user = self.config.summaries.scope is SummaryScope.USER
        for user_id, pile in piles.items():
            own = said
            if by_user:
                own = [one for one in said if one.user_id == user_id]
            pile.corrected = correct_records(pile.records, own)

    def _sort_by_user(
        self, period: Period, below: Sequence[Record], priors: Sequence[Record]
    ) -> tuple[dict[str | None, _Pile], list[str]]:
        """Return each user's pile, and the ids of the summaries taken apart for the piles."""
        piles: dict[str | None, _Pile] = {}
        for record in below:
            if not self._take_apart(record, period.grain.child, (), piles):
                piles.setdefault(record.user_id, _Pile()).records.append(
                    record
                )
        replaced: list[str] = []
        for prior in priors:
            if self._take_apart(prior, period.grain, below, piles):
                replaced.append(prior.id)
            else:
                piles.setdefault(prior.user_id, _Pile()).priors.append(prior)
        return piles, replaced

    def _take_apart(
        self,
        record: Record,
        grain: Grain | None,
        below: Sequence[Record],
        piles: dict[str | None, _Pile],
    ) -> bool:
        """Add the words and facts of a summary of several users to each one's pile.

        Return False if the record is none. Of a summary whose sources all still exist
        nothing is added.
        """
        if record.memory_type is not MemoryType.SUMMARY or grain is None:
            return False
        period = Period(grain, record.period)
        if record.user_id or record.id != agent_summary_id(period):
            return False
        recalled = recall_users(
            self.scope, record, grain, below, objects=self.objects
        )
        if not recalled:
            return False
        for user_id, (words, facts) in recalled.items():
            pile = piles.setdefault(user_id, _Pile())
            pile.words += words
            pile.facts += facts
        return True

    def _sources(
        self, period: Period, user_id: str | None, pile: _Pile
    ) -> PeriodSources:
        lost = self._find_lost(period, pile)
        corrected = pile.correct()
        rests = [(one, self._keep_rest(one)) for one in corrected.told]
        hidden = [one for one, rest in rests if not rest.content]
        told = [rest for _, rest in rests if rest.content]
        facts = list(pile.facts)
        for record in told:
            facts += list_key_facts(record)
        if lost:
            for prior in pile.priors:
                facts += key_facts_from_json(prior.key_facts)
        sources = {one.id: one for one in (*pile.words, *map(source_of, told))}
        replaced = [
            *map(source_of, corrected.replaced),
            *map(hidden_source_of, hidden),
        ]
        key_facts = most_important(fold_values(facts, self.told))
        return PeriodSources(
            id=self._id(period, user_id),
            user_id=user_id,
            sources=sort_sources(sources.values()),
            replaced=tuple(replaced),
            key_facts=key_facts,
            priors=tuple(pile.priors),
            lost=lost,
            days=self._days(pile, lost),
            forgotten=self._list_forgotten(period, user_id),
            outdated=pile.outdated,
            ended=self._find_ended(period, key_facts),
        )

    def _find_ended(
        self, period: Period, facts: Iterable[KeyFact]
    ) -> dict[str, datetime]:
        """Return when facts ceased to hold, of those that did in the period or before."""
        end = period.end(self.config.zone)
        ended = [one for one in self.ended if one.until < end]
        found: dict[str, datetime] = {}
        for fact in facts:
            messages = {
                (fact.conversation_id, id_) for id_ in fact.message_ids
            }
            until = held_until(messages, fact.content, ended)
            if until is not None:
                found[fact.id] = until
        return found

    def _keep_rest(self, record: Record) -> Record:
        """Return a fact or turn without its forgotten parts; a summary as it is."""
        if record.memory_type is MemoryType.SUMMARY:
            return record
        rest = keep_rest(stated_by(record), self.values)
        if rest == record.content:
            return record
        return replace(record, content=rest)

    def _list_forgotten(
        self, period: Period, user_id: str | None
    ) -> tuple[AnyForgotten, ...]:
        start = period.start(self.config.zone)
        return choose_concerning(self.values, user_id, start)

    def _days(self, pile: _Pile, lost: Collection[str]) -> tuple[str, str]:
        """Return the first and the last local day of the sources, of corrections too."""
        days = [day_of(one.at, self.config.zone) for one in pile.words]
        told = (*pile.records, *pile.correct().told)
        for record in (*told, *(pile.priors if lost else ())):
            if record.memory_type is MemoryType.SUMMARY:
                days += span_of(record.about, record.period)
            else:
                days.append(record.period)
        return min(days), max(days)

    def _id(self, period: Period, user_id: str | None) -> str:
        if self.config.summaries.scope is SummaryScope.AGENT:
            return agent_summary_id(period)
        return summary_id(period, user_id)

    def _find_lost(self, period: Period, pile: _Pile) -> frozenset[str]:
        """Return the ids of the priors' sources that are gone, or expired and rebuilt.

        A message may arrive after its day expired. The day's rebuilt summary then has
        only that message, and the old one's content would be lost.
        """
        known = known_sources(pile.priors)
        child = period.grain.child or Grain.WORKING
        limit = self.config.limit(child)
        zone = self.config.zone
        oldest = retention.oldest_kept(child, limit, self.now, zone).label
        kept: set[str] = set()
        corrected = pile.correct()
        for record in (*corrected.told, *corrected.replaced):
            unchanged = known.get(record.id) == source_of(record).fingerprint
            if record.period >= oldest or unchanged:
                kept.add(record.id)
        return frozenset(known) - kept


def _user_order(item: tuple[str | None, object]) -> tuple[bool, str]:
    return user_order(item[0])
