"""400 days of 50 agents, with passes missed, messages repeated and delayed, and a model that often fails."""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.support.nightly import NIGHTLY, choose
from tests.support.traffic import (
    CALM,
    ROUGH,
    Arrival,
    CountingObjects,
    Simulation,
    Speaker,
    corpus,
    traffic,
)
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, is_closed, iso
from varve.domain.conversation import parse_conversation
from varve.domain.identity import Scope, digest
from varve.domain.language.courtesies import is_courtesy
from varve.domain.record import Record, turn_id
from varve.domain.retention import expired
from varve.domain.search.query import Filter, SearchRequest
from varve.domain.summary import BUDGET_TOKENS, summary_id
from varve.domain.text import estimated_tokens
from varve.domain.workspace import RetentionConfig, WorkspaceConfig
from varve.usecases.plan import GRACE

SEED = 20_251_121
FIRST, DAYS = date(2025, 8, 4), 400
START = datetime(2025, 8, 4, tzinfo=UTC)
END = START + timedelta(days=DAYS)
LONG = {str(grain): "9000 days" for grain in Grain}
BRIEF = ("24 hours", "9 days", "3 weeks", "2 months", "1 quarter", "1 year")


def _workspace(
    zone: str, plan: str = "free", **retention: str
) -> WorkspaceConfig:
    return WorkspaceConfig.model_validate(
        {"timezone": zone, "plan": plan, "retention": retention}
    )


CONFIGS = {
    "harbour": _workspace("UTC"),
    "hudson": _workspace("America/New_York"),
    "lisboa": _workspace("Europe/Lisbon", "starter"),
    "kumo": _workspace("Asia/Tokyo", "pro"),
    "annapurna": _workspace(
        "Asia/Kathmandu", **dict(zip(LONG, BRIEF, strict=True))
    ),
    "archive": _workspace("Pacific/Auckland", **LONG),
    "attic": _workspace("America/St_Johns", **LONG),
    "northwind": _workspace("Europe/London", **LONG),
    "brightline": _workspace("Europe/Brussels"),
}
AGENTS = {
    "harbour": 8,
    "hudson": 8,
    "lisboa": 8,
    "kumo": 8,
    "annapurna": 6,
    "archive": 6,
    "attic": 4,
}
"""Fifty with the corpus' two; by day about a fifth of them live."""
CORPUS_SCOPES = (
    Scope("northwind", "assistant"),
    Scope("brightline", "helpdesk"),
)
FORGETTING_NOTHING = ("archive", "attic", "northwind")
FORGOTTEN = ("counsellor", "forget what I told you")
"""In what Dana and Marco ask to forget."""
SHARES = (0.3, 0.1, 0.08, 0.05, 0.03)


def numbers(workspace: str) -> list[int]:
    """Return which of a workspace's agents live: all by night, by day some and those of the samples."""
    whole = AGENTS[workspace]
    sampled = {
        int(scope.agent.removeprefix("agent-"))
        for scope in (*SAMPLED, *HOURLY)
        if scope.workspace == workspace
    }
    some = sampled.union(range(whole // 8))
    return choose(by_day=sorted(some), by_night=[*range(whole)])


def speakers() -> list[Speaker]:
    """Agents of all workspaces: chatty ones, rare ones, and some who fall silent on the way."""
    found = []
    for workspace in AGENTS:
        latest = {"archive": 60, "attic": 60, "annapurna": 4}.get(workspace, 9)
        for number in numbers(workspace):
            until = FIRST + timedelta(days=DAYS if number % 4 else 150)
            share = SHARES[number % len(SHARES)]
            scope, zone = (
                Scope(workspace, f"agent-{number}"),
                CONFIGS[workspace].zone,
            )
            found.append(Speaker(scope, zone, share, latest, until))
    return found


def arrivals(seed: int) -> list[Arrival]:
    """What all agents are told in the 400 days, in the order it comes in."""
    rng = random.Random(seed)
    generated = [
        arrival
        for speaker in speakers()
        for arrival in traffic(speaker, FIRST, DAYS, rng)
    ]
    return sorted(
        arrival
        for arrival in [*generated, *corpus(FIRST, DAYS)]
        if arrival.at < END
    )


def live(sim: Simulation, told: list[Arrival], days: int) -> None:
    """Day by day, with all that goes wrong; then the nights after them in which nothing does."""
    waiting = deque(told)
    for number in range(days + 1):
        for at in sim.night(FIRST + timedelta(days=number)):
            while waiting and waiting[0].at <= at:
                sim.clock.now = waiting[0].at
                sim.ingest([waiting.popleft().conversation])
            sim.drain()
    sim.catch_up(sim.clock.now)


def build_at_once(sim: Simulation, told: list[Arrival], now: datetime) -> None:
    """The same data taken in at once, and summed up in one go."""
    sim.clock.now = now
    # A conversation that grew is told as it was at last.
    grown = {
        _name(arrival): arrival.conversation
        for arrival in sorted(told, key=_length)
    }
    sim.ingest(list(grown.values()))
    sim.drain()
    for grain in SUMMARY_GRAINS:
        while sim.plan(grain, now):
            pass


def _name(arrival: Arrival) -> tuple[str, ...]:
    return tuple(
        arrival.conversation[key]
        for key in ("workspaceId", "agentId", "conversationId")
    )


def _length(arrival: Arrival) -> int:
    return len(arrival.conversation["messages"])


def lengthened(
    configs: dict[str, WorkspaceConfig],
) -> dict[str, WorkspaceConfig]:
    """The same workspaces, forgetting nothing."""
    return {
        name: config.model_copy(update={"retention": RetentionConfig(**LONG)})
        for name, config in configs.items()
    }


class Pyramid:
    """One store's records as they stand, by agent, grain and period."""

    def __init__(self, sim: Simulation) -> None:
        self._records = sim.parts.records
        self._known: dict[tuple[Scope, Grain], dict[str, list[Record]]] = {}

    def of(self, scope: Scope, grain: Grain) -> dict[str, list[Record]]:
        """All records of a grain by their period's label."""
        if (scope, grain) not in self._known:
            labels = sorted(self._records.periods(scope, grain))
            found = {
                label: self._records.in_period(scope, grain, label)
                for label in labels
            }
            self._known[scope, grain] = found
        return self._known[scope, grain]

    def ids(self, scope: Scope, grain: Grain) -> dict[str, set[str]]:
        """The same, their ids alone."""
        return {
            label: {r.id for r in records}
            for label, records in self.of(scope, grain).items()
        }


@dataclass(frozen=True)
class Lived:
    """Two pyramids over the same data: lived through, and built at once by a store that forgets nothing."""

    seed: int
    told: list[Arrival]
    sim: Simulation
    at_once: Simulation

    @property
    def now(self) -> datetime:
        return self.sim.clock.now

    @cached_property
    def stored(self) -> Pyramid:
        return Pyramid(self.sim)

    @cached_property
    def whole(self) -> Pyramid:
        return Pyramid(self.at_once)

    @cached_property
    def scopes(self) -> list[Scope]:
        return sorted(
            {Scope(*_name(arrival)[:2]) for arrival in self.told}, key=str
        )

    def sources(
        self, scope: Scope, grain: Grain
    ) -> dict[Period, dict[str | None, set[str]]]:
        """Return the sources of each closed period's summaries, by user: all there ever were."""
        zone = CONFIGS[scope.workspace].zone
        found: dict[Period, dict[str | None, set[str]]] = {}
        for label, records in self.whole.of(scope, Grain.WORKING).items():
            day = Period(Grain.DAILY, label).days[0]
            period = Period.of_day(day, grain)
            if not is_closed(period, self.now, zone, GRACE):
                continue
            below = Period.of_day(day, grain.child or Grain.WORKING)
            users = found.setdefault(period, {})
            for record in records:
                id_ = record.id
                if grain is not Grain.DAILY:
                    id_ = summary_id(below, record.user_id)
                users.setdefault(record.user_id, set()).add(id_)
        return found

    def is_over(self, scope: Scope, period: Period) -> bool:
        """Whether retention is through with the period, by the calendar alone."""
        config = CONFIGS[scope.workspace]
        return expired(
            period, config.limit(period.grain), self.now, config.zone
        )

    def awaits_parent(self, scope: Scope, period: Period) -> bool:
        """Whether the period above is still open, so that nothing can have summed this one up."""
        parent, zone = period.parent(), CONFIGS[scope.workspace].zone
        return parent is not None and not is_closed(
            parent, self.now, zone, GRACE
        )


def lived_through(
    told: list[Arrival], seed: int, days: int, **given: Any
) -> Lived:
    """The days as they went, beside the store that was built at once."""
    sim = Simulation(CONFIGS, START, seed, ROUGH, **given)
    live(sim, told, days)
    at_once = Simulation(lengthened(CONFIGS), END)
    build_at_once(at_once, told, sim.clock.now)
    return Lived(seed, told, sim, at_once)


SAMPLED, SAMPLED_DAYS = (
    (Scope("annapurna", "agent-0"), Scope("archive", "agent-5")),
    36,
)


@pytest.fixture(
    scope="module", params=["all agents in memory", "two agents in files"]
)
def lived(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Lived:
    print(f"seed {SEED}")
    told = arrivals(SEED)
    if request.param == "all agents in memory":
        return lived_through(told, SEED, DAYS)
    end = START + timedelta(days=SAMPLED_DAYS)
    sample = [
        arrival
        for arrival in told
        if arrival.at < end and Scope(*_name(arrival)[:2]) in SAMPLED
    ]
    root = tmp_path_factory.mktemp("memory")
    objects = local_objects(root)
    records = LanceRecords(str(root), objects)
    return lived_through(
        sample, SEED, SAMPLED_DAYS, objects=objects, records=records
    )


# What the simulation was.


def test_the_days_were_as_rough_as_they_should_be(lived: Lived) -> None:
    parts, size = lived.sim.parts, len(lived.told)
    wanted = len(speakers()) + len(CORPUS_SCOPES)
    assert len(lived.scopes) == wanted or size < 100
    assert wanted >= 50 or not NIGHTLY
    assert lived.sim.missed > size / 10
    assert 0.1 < parts.flaky.failed / len(parts.scripted.tasks) < 0.5
    assert parts.records.deleted > size / 2
    assert parts.ingest_queue.repeated > size / 20
    assert parts.write_queue.repeated > size / 10
    assert parts.summary_queue.repeated > size / 20


def test_invariant_1_no_message_became_a_dead_letter_or_is_left_in_a_queue(
    lived: Lived,
) -> None:
    parts = lived.sim.parts
    assert parts.letters.letters == []
    assert [
        len(parts.ingest_queue),
        len(parts.write_queue),
        len(parts.summary_queue),
    ] == [0, 0, 0]


def test_every_word_ever_said_was_a_source_of_its_local_day(
    lived: Lived,
) -> None:
    """The store built at once has each turn in its day, and no courtesies."""
    said: dict[Scope, dict[str, set[str]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for arrival in lived.told:
        conversation = parse_conversation(arrival.conversation)
        zone = CONFIGS[conversation.scope.workspace].zone
        names = {one.name or "" for one in conversation.messages}
        if conversation.scope not in CORPUS_SCOPES:
            for message in conversation.messages:
                if is_courtesy(message.text, names):
                    continue
                day = message.timestamp.astimezone(zone).date().isoformat()
                said[conversation.scope][day].add(
                    turn_id(conversation.conversation_id, str(message.id))
                )
    for scope, days in said.items():
        found = lived.whole.ids(scope, Grain.WORKING)
        turns = {
            day: {id_ for id_ in ids if id_.startswith("turn-")}
            for day, ids in found.items()
        }
        assert turns == days, scope


# Invariants.


def test_invariant_2_any_number_of_deliveries_leaves_the_pyramid_built_in_one_go(
    lived: Lived,
) -> None:
    """Everything but the time of learning is equal, where retention takes nothing."""
    compared = 0
    for scope in lived.scopes:
        if scope.workspace not in FORGETTING_NOTHING:
            continue
        for grain in Grain:
            one, other = (
                lived.stored.of(scope, grain),
                lived.whole.of(scope, grain),
            )
            assert list(one) == list(other), (lived.seed, scope, grain)
            for label, records in one.items():
                assert _timeless(records) == _timeless(other[label]), (
                    lived.seed,
                    scope,
                    label,
                )
                compared += len(records) if grain is not Grain.WORKING else 0
    assert compared > len(lived.told) / 10


def _timeless(records: list[Record]) -> list[Record]:
    return [replace(record, created_at=START) for record in records]


def test_invariant_2_key_facts_are_the_same_whatever_retention_took_meanwhile(
    lived: Lived,
) -> None:
    """A year knows word for word what its days knew, though they and their summaries are long gone."""
    for scope in lived.scopes:
        for grain in SUMMARY_GRAINS:
            whole = lived.whole.of(scope, grain)
            for label, summaries in lived.stored.of(scope, grain).items():
                known = [(one.id, one.key_facts) for one in summaries]
                expected = [(one.id, one.key_facts) for one in whole[label]]
                assert known == expected, (lived.seed, scope, grain, label)


def test_invariant_3_the_first_failure_of_a_group_returned_it_and_all_later_ones(
    lived: Lived,
) -> None:
    parts = lived.sim.parts
    queues = (parts.ingest_queue, parts.write_queue, parts.summary_queue)
    assert [queue.disorder for queue in queues] == [[], [], []]
    assert parts.write_queue.returned >= len(lived.told) // 100


def test_invariant_4_each_grains_store_had_one_group_of_its_own(
    lived: Lived,
) -> None:
    pairs = {pair for pair in lived.sim.parts.write_queue.stores if pair[1]}
    assert len(pairs) > 3 * len(lived.scopes)
    assert max(Counter(group for group, _ in pairs).values()) == 1
    assert max(Counter(store for _, store in pairs).values()) == 1


def test_invariant_5_every_closed_period_has_one_summary_of_each_user_made_of_its_sources(
    lived: Lived,
) -> None:
    for scope in lived.scopes:
        for grain in SUMMARY_GRAINS:
            stored, sources = (
                lived.stored.of(scope, grain),
                lived.sources(scope, grain),
            )
            assert {*stored} <= {period.label for period in sources}, (
                lived.seed,
                scope,
                grain,
            )
            for period, expected in sources.items():
                found = stored.get(period.label)
                if found is None:
                    assert lived.is_over(scope, period), (
                        lived.seed,
                        scope,
                        period,
                    )
                    continue
                made = {summary.id: {*summary.source_ids} for summary in found}
                wanted = {
                    summary_id(period, u): ids for u, ids in expected.items()
                }
                assert made == wanted, (lived.seed, scope, period)
                assert len(found) == len(made), (lived.seed, scope, period)


def test_invariant_5_a_summary_says_what_its_sources_said_when_it_was_made(
    lived: Lived,
) -> None:
    """The fingerprints kept beside the ids are those of the sources as they are, or last were.

    Of a turn that a person asked to forget in part it is that of the rest.
    """
    for scope in lived.scopes:
        for grain in SUMMARY_GRAINS:
            below = lived.stored if grain is not Grain.DAILY else lived.whole
            known = {
                record.id: record.fingerprint[:16]
                for records in below.of(
                    scope, grain.child or Grain.WORKING
                ).values()
                for record in records
                if not any(one in record.content for one in FORGOTTEN)
            }
            stored = lived.stored.of(scope, grain)
            pairs = [
                (label, one) for label, made in stored.items() for one in made
            ]
            for label, summary in pairs:
                made_of = zip(
                    summary.source_ids,
                    summary.source_fingerprints,
                    strict=True,
                )
                differing = [
                    id_
                    for id_, said in made_of
                    if known.get(id_, said) != said
                ]
                assert differing == [], (lived.seed, scope, grain, label)


def test_summaries_keep_their_grains_budget(lived: Lived) -> None:
    for scope in lived.scopes:
        for grain in SUMMARY_GRAINS:
            for summary in chain(*lived.stored.of(scope, grain).values()):
                assert (
                    estimated_tokens(summary.content) <= BUDGET_TOKENS[grain]
                )


def test_no_closed_period_is_due_or_failed(lived: Lived) -> None:
    ledger = lived.sim.app.ledger
    assert list(lived.sim.parts.objects.list("ledger/failed")) == [], (
        lived.seed
    )
    for grain in SUMMARY_GRAINS:
        due = [
            one
            for period in ledger.marked(grain)
            for one in ledger.due_in(period)
            if is_closed(
                period, lived.now, CONFIGS[one.scope.workspace].zone, GRACE
            )
        ]
        assert due == [], lived.seed


def test_invariant_6_nothing_went_before_its_time_or_before_it_was_summed_up(
    lived: Lived,
) -> None:
    """Each single deletion was watched: past its limit, and in the summary above as it was."""
    records = lived.sim.parts.records
    assert records.too_young == [], lived.seed
    assert records.unsealed == [], lived.seed


def test_invariant_6_nothing_older_than_its_limit_is_left_that_was_sealed(
    lived: Lived,
) -> None:
    left = [
        (scope, period)
        for scope in lived.scopes
        for grain in Grain
        for period in (
            Period(grain, label) for label in lived.stored.of(scope, grain)
        )
        if lived.is_over(scope, period)
        and not lived.awaits_parent(scope, period)
    ]
    assert left == [], lived.seed


def test_invariant_6_nothing_younger_than_its_limit_is_gone(
    lived: Lived,
) -> None:
    for scope in lived.scopes:
        stored = lived.stored.ids(scope, Grain.WORKING)
        for label, ids in lived.whole.ids(scope, Grain.WORKING).items():
            if not lived.is_over(scope, Period(Grain.WORKING, label)):
                assert stored.get(label) == ids, (lived.seed, scope, label)
        for grain in SUMMARY_GRAINS:
            kept = {
                p.label
                for p in lived.sources(scope, grain)
                if not lived.is_over(scope, p)
            }
            assert kept <= {*lived.stored.of(scope, grain)}, (
                lived.seed,
                scope,
                grain,
            )


# Retention to the hour.

HOURLY = (
    Scope("harbour", "agent-0"),
    Scope("hudson", "agent-5"),
    Scope("annapurna", "agent-0"),
    Scope("annapurna", "agent-5"),
)


def test_invariant_6_retention_holds_to_the_hour() -> None:
    """Passes every full hour, over a change of month: what each finds over and summed up is gone after it."""
    print(f"seed {SEED}")
    days = 54
    end = START + timedelta(days=days)
    told = [
        a
        for a in arrivals(SEED)
        if a.at < end and Scope(*_name(a)[:2]) in HOURLY
    ]
    sim = Simulation(CONFIGS, START, SEED, CALM)
    live(sim, told, days)
    at_once = Simulation(lengthened(CONFIGS), END)
    build_at_once(at_once, told, sim.clock.now)
    gone = 0
    for hour in range(8, 8 + 60):
        at = end + timedelta(hours=hour)
        for grain in SUMMARY_GRAINS:
            sim.plan(grain, at)
        before = sim.parts.records.deleted
        sim.clean(at)
        gone += sim.parts.records.deleted - before
        moment = Lived(SEED, told, sim, at_once)
        for scope in HOURLY:
            ever = {
                Period(Grain.WORKING, label): None
                for label in moment.whole.of(scope, Grain.WORKING)
            }
            for grain in Grain:
                known = (
                    ever
                    if grain is Grain.WORKING
                    else moment.sources(scope, grain)
                )
                kept = {
                    p.label
                    for p in known
                    if not moment.is_over(scope, p)
                    or moment.awaits_parent(scope, p)
                }
                assert {*moment.stored.of(scope, grain)} == kept, (
                    SEED,
                    at,
                    scope,
                    grain,
                )
    assert gone > 10


# Faults of the reference implementation.

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
SCOPE = Scope("acme", "support")
FREE = {"acme": _workspace("UTC")}


def say(
    *texts: str, at: datetime = MONDAY, name: str = "", scope: Scope = SCOPE
) -> dict[str, Any]:
    """A conversation of the user's, a minute for each message."""
    name = name or f"c-{at:%Y-%m-%dT%H}"
    messages = [
        {
            "id": f"{name}.m{i}",
            "role": "user",
            "content": text,
            "timestamp": iso(at + timedelta(minutes=i)),
        }
        for i, text in enumerate(texts)
    ]
    return {
        "workspaceId": scope.workspace, "agentId": scope.agent, "conversationId": name, "userId": "u-42",
        "startedAt": iso(at), "messages": messages,
    }  # fmt: skip


def told(*conversations: dict[str, Any], **given: Any) -> Simulation:
    """A deployment in which these were said and are in memory."""
    sim = Simulation(given.pop("configs", FREE), MONDAY, **given)
    sim.ingest(conversations)
    sim.drain()
    return sim


def days_of(count: int, **given: Any) -> list[dict[str, Any]]:
    """A conversation on each of so many days."""
    return [
        say(f"I like tea number {i}.", at=MONDAY + timedelta(days=i), **given)
        for i in range(count)
    ]


def summaries(
    sim: Simulation, grain: Grain, scope: Scope = SCOPE
) -> dict[str, list[Record]]:
    return Pyramid(sim).of(scope, grain)


def test_fault_random_summary_ids_a_retry_makes_a_second_summary() -> None:
    """Two deliveries of one work item before either is written, and a pass that runs again after."""
    sim = told(*days_of(1))
    night = MONDAY + timedelta(days=1)
    sim.clock.now = night
    for minutes in (0, 10):
        sim.app.plan(Grain.DAILY, night + timedelta(minutes=minutes))
    sim.parts.summary_queue.drain(
        lambda batch: sim.app.work(batch).returned, CALM
    )
    sim.drain()
    sim.plan(Grain.DAILY, night + timedelta(hours=1))
    assert (
        len(sim.parts.scripted.tasks) == 2
    )  # both saw a day without a summary
    (summary,) = summaries(sim, Grain.DAILY)["2026-03-02"]
    assert summary.id == summary_id(Period(Grain.DAILY, "2026-03-02"), "u-42")


def test_fault_no_catch_up_after_a_missed_run() -> None:
    """No pass for nine days: the tenth night's passes build all nine days and the week."""
    sim = told(*days_of(9))
    tenth = MONDAY + timedelta(days=10)
    assert sim.plan(Grain.DAILY, tenth) == 9
    assert sim.plan(Grain.WEEKLY, tenth) == 1
    assert len(summaries(sim, Grain.DAILY)) == 9
    assert len(summaries(sim, Grain.WEEKLY)["2026-W10"][0].source_ids) == 7


def test_fault_weeks_that_do_not_nest_and_calendar_year_with_iso_week() -> (
    None
):
    """New Year's Eve 2025 is of 2026-W01, and with it of January and the year 2026."""
    sim = told(
        say("I like fireworks.", at=datetime(2025, 12, 31, 22, tzinfo=UTC))
    )
    for grain in SUMMARY_GRAINS:
        sim.plan(grain, datetime(2027, 2, 1, tzinfo=UTC))
    labels = [next(iter(summaries(sim, grain))) for grain in SUMMARY_GRAINS]
    assert labels == ["2025-12-31", "2026-W01", "2026-01", "2026-Q1", "2026"]


def in_files(
    root: Path, *conversations: dict[str, Any], **given: Any
) -> Simulation:
    """The same over files."""
    objects = local_objects(root)
    return told(
        *conversations,
        objects=objects,
        records=LanceRecords(str(root), objects),
        **given,
    )


def test_fault_reads_capped_at_1000_rows_miss_summaries_and_expiry(
    tmp_path: Path,
) -> None:
    """A day of 2,500 records: all of them are sources, and all of them go."""
    texts = [
        f"I like tea number {i}." for i in range(1_250)
    ]  # a turn and a fact each
    sim = in_files(
        tmp_path,
        say(*texts, at=datetime(2026, 3, 2, tzinfo=UTC), name="c-long"),
    )
    assert (
        sum(sim.parts.records.periods(SCOPE, Grain.WORKING).values()) == 2_500
    )
    sim.plan(Grain.DAILY, MONDAY + timedelta(days=1))
    (summary,) = summaries(sim, Grain.DAILY)["2026-03-02"]
    assert len({*summary.source_ids}) == len(summary.source_ids) == 2_500
    sim.clean(MONDAY + timedelta(days=4))
    assert sim.parts.records.periods(SCOPE, Grain.WORKING) == {}
    assert sim.parts.records.deleted == 2_500


def test_fault_one_lambda_looping_over_every_agent() -> None:
    """Planning and cleanup ask only for what is in the ledger, however many agents there are."""
    silent = [Scope("acme", f"silent-{number}") for number in range(30)]
    sim = told(
        *(say("I like tea.", scope=scope) for scope in silent), *days_of(1)
    )
    night = sim.catch_up(MONDAY + timedelta(days=1)) + timedelta(days=1)
    sim.ingest([say("I like chess.", at=MONDAY + timedelta(hours=26))])
    sim.clock.now = night
    sim.drain()
    objects = sim.parts.objects
    assert isinstance(objects, CountingObjects)
    objects.forget_calls()
    planned = [sim.app.plan(grain, night).planned for grain in SUMMARY_GRAINS]
    assert planned == [1, 0, 0, 0, 0]
    assert len(sim.parts.summary_queue) == 1
    assert objects.calls.total() <= 2 * len(SUMMARY_GRAINS) + 2
    assert [key for key in objects.touched if "silent" in key] == []
    assert {key.split("/")[0] for key in objects.touched} <= {
        "ledger",
        "workspaces",
    }


def test_fault_injection_never_sees_a_summary() -> None:
    """`auto` finds summaries beside facts; a grain that is not there yet falls back to what is below."""
    sim = told(*days_of(3))
    now = sim.clock.now = MONDAY + timedelta(days=4)

    def search(**given: Any) -> Any:
        return sim.app.search(
            SCOPE, SearchRequest(query_text="tea number", **given), now
        )

    before = search(grain="daily")
    assert (
        before.searched.fallback,
        {result.grain for result in before.results},
    ) == (
        True,
        {"working"},
    )
    sim.plan(Grain.DAILY, now)
    auto = search()
    # Each summary only repeats facts that have places of their own.
    folded = {id_ for result in auto.results for id_ in result.also_in}
    days = sim.parts.records.browse(
        SCOPE, Grain.DAILY, where=Filter(), limit=10
    )
    assert {day.id for day in days} <= folded
    assert auto.searched.fallback is False
    daily = search(grain="daily", since="2026-03-02", until="2026-03-04")
    assert (
        daily.searched.fallback,
        {result.grain for result in daily.results},
    ) == (
        False,
        {"daily"},
    )
    (monday,) = (
        result for result in daily.results if result.period == "2026-03-02"
    )
    below = sim.parts.records.get(SCOPE, Grain.WORKING, monday.source_ids)
    assert {record.content for record in below} == {
        "u-42: I like tea number 0.",
        "u-42 said: I like tea number 0.",
    }


def bytes_hold(folder: Path, word: str) -> bool:
    """Whether the word is in any file below the folder."""
    return any(
        word.encode() in path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    )


WORDS = [f"zyx{digest(str(number), length=12)}wvu" for number in range(30)]


@pytest.mark.parametrize(
    "kept", [1, 20], ids=["most of it expired", "little of it expired"]
)
def test_fault_purge_leaves_old_versions(tmp_path: Path, kept: int) -> None:
    """After cleanup the bytes of what has expired are in no file of the store any more."""
    days = kept + 1
    configs = {"acme": _workspace("UTC", working=f"{24 * kept} hours")}
    conversations = [
        say(f"Is it {WORDS[i]}?", at=MONDAY + timedelta(days=i))
        for i in range(days)
    ]  # questions: turns without facts
    sim = in_files(tmp_path, *conversations, configs=configs)
    store = tmp_path / "vectordb" / "acme" / "support" / "working"
    sim.parts.records.get(SCOPE, Grain.WORKING, ["none"])
    assert all(bytes_hold(store, word) for word in WORDS[:days])
    for night in range(
        2
    ):  # the second finds all in one file, and nothing to merge it with
        now = datetime(2026, 3, 3, tzinfo=UTC) + timedelta(days=kept + night)
        sim.plan(Grain.DAILY, now + timedelta(hours=1))
        sim.clean(now + timedelta(hours=1))
        assert [
            word
            for word in WORDS[night + 1 : days]
            if not bytes_hold(store, word)
        ] == []
        assert [
            word for word in WORDS[: night + 1] if bytes_hold(store, word)
        ] == []


# Faults of our own.


def test_invariant_6_what_came_between_cleanups_look_and_its_deletion_is_summed_up_first() -> (
    None
):
    """A late message, accepted before cleanup looked and written after, is deleted with its day."""
    sim = told(*days_of(1))
    sim.plan(Grain.DAILY, MONDAY + timedelta(days=1))
    now = sim.clock.now = MONDAY + timedelta(days=4)
    sim.ingest([say("I like late tea.", name="c-late")])
    sim.parts.ingest_queue.drain(
        sim.app.extract, CALM
    )  # on the write queue, and not yet written
    sim.app.clean(now)
    sim.parts.summary_queue.drain(
        lambda batch: sim.app.work(batch).returned, CALM
    )
    assert (
        len(sim.parts.write_queue) > 1
    )  # the late words, and behind them the deletion
    sim.drain()
    sim.catch_up(now)
    assert sim.parts.records.unsealed == []
    assert "late tea" in summaries(sim, Grain.DAILY)["2026-03-02"][0].key_facts


def test_a_message_later_than_its_days_retention_does_not_wash_out_the_week() -> (
    None
):
    """The week knows of that day alone what its summary says, of which the store has lost the source."""
    sim = told(*days_of(1))
    sim.catch_up(MONDAY + timedelta(days=8))
    assert "number 0" in summaries(sim, Grain.WEEKLY)["2026-W10"][0].key_facts
    now = sim.catch_up(MONDAY + timedelta(days=35))
    assert summaries(sim, Grain.DAILY) == {}
    sim.ingest([say("I like late tea.", name="c-late")])
    sim.catch_up(now + timedelta(hours=1))
    facts = summaries(sim, Grain.WEEKLY)["2026-W10"][0].key_facts
    assert "late tea" in facts
    assert "number 0" in facts
