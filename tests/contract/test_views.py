"""What a question asks of the object store: everything at once, and nothing at all where that is allowed."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.contract.test_columns import ACME, SAID, WORKING, put
from tests.contract.test_lance_upkeep import T0, embedded
from tests.contract.test_replica import SCOPE, SELDOM, Store, Watched, nothing
from tests.support.builders import WordEmbedder
from tests.support.drivers import open_driver
from tests.support.internals import before_rows_are_read, hold_rows
from varve.domain.calendar import Grain
from varve.domain.errors import Rejected, Retryable
from varve.domain.search.query import parse_search_request

EMBEDDER = WordEmbedder()


class Asked:
    """An application over a watched store, at a time that is set by hand."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.store, self.now = Store(folder), T0 + timedelta(hours=1)
        self.objects = Watched(self.store.objects)
        self.writer = self.store.writer(SELDOM)
        self.application = open_driver(
            settings,
            "s3://bucket/root",
            self.clock,
            objects=self.objects,
            records=self.store.open(objects=self.objects),
            embedder=EMBEDDER,
        )

    def clock(self) -> datetime:
        return self.now

    def write(self, *numbers: int, grain: Grain = Grain.WORKING) -> None:
        records = [embedded(number) for number in numbers]
        self.writer.upsert(
            SCOPE, grain, [_worded(one) for one in records], EMBEDDER.model
        )

    def search(self, **arguments: Any) -> set[str]:
        request = parse_search_request({"queryText": "tea", **arguments})
        return {
            result.id
            for result in self.application.search(SCOPE, request).results
        }

    def asked_for(self, **arguments: Any) -> list[str]:
        """What a search asks of the store."""
        keys: list[str] = []
        self.objects.before = lambda verb, key: keys.append(f"{verb} {key}")
        self.search(**arguments)
        self.objects.before = nothing
        return sorted(keys)


def _worded(one: Any) -> Any:
    (vector,) = EMBEDDER.embed([one.record.content])
    return type(one)(one.record, vector)


CONFIG, AGENT = (
    f"get workspaces/{SCOPE.workspace}/config.json",
    f"list vectordb/{SCOPE}",
)


class TestOneRoundTrip:
    def test_a_warm_search_asks_for_the_configuration_and_one_listing(
        self, tmp_path: Path
    ) -> None:
        asked = Asked(tmp_path)
        asked.write(0)
        asked.write(1, grain=Grain.DAILY)
        assert asked.search() == {"r-00000", "r-00001"}
        assert asked.asked_for() == [CONFIG, AGENT]
        asked.write(2)
        manifest, rows, *others = asked.asked_for()
        assert others == [CONFIG, AGENT]
        assert "/_versions/" in manifest
        assert "/data/" in rows
        assert asked.search() == {"r-00000", "r-00001", "r-00002"}

    @pytest.mark.parametrize(
        "arguments", [{"grain": "daily"}, {"queryText": "tea last week"}]
    )
    def test_the_ledger_is_asked_beside_them_where_a_summary_is_asked_for(
        self, tmp_path: Path, arguments: dict[str, Any]
    ) -> None:
        asked = Asked(tmp_path)
        asked.write(0)
        asked.search()
        together = Barrier(3, timeout=30)

        def meet(verb: str, key: str) -> None:
            together.wait()

        asked.objects.before = meet
        asked.search(**arguments)
        asked.objects.before = nothing
        assert len(asked.asked_for(**arguments)) == 3

    @pytest.mark.parametrize(
        "zone", ["America/Los_Angeles", "Pacific/Auckland"]
    )
    def test_limits_that_leave_time_in_the_workspaces_zone_alone_are_none_too_many(
        self, tmp_path: Path, zone: str
    ) -> None:
        asked = Asked(tmp_path)
        asked.write(0)
        config = {"timezone": zone}
        asked.store.objects.put(
            f"workspaces/{SCOPE.workspace}/config.json",
            json.dumps(config).encode(),
        )
        asked.now = T0.replace(hour=3 if zone.startswith("America") else 20)
        today = asked.now.astimezone(ZoneInfo(zone)).date()
        asked.search(maximumDaysAgo=0, until=today.isoformat())
        asked.search(
            minimumDaysAgo=1, since=(today - timedelta(days=1)).isoformat()
        )
        with pytest.raises(Rejected):
            asked.search(minimumDaysAgo=1, since=today.isoformat())


class TestStaleness:
    def test_is_off_by_default(self, tmp_path: Path) -> None:
        asked = Asked(tmp_path)
        asked.write(0)
        asked.search()
        asked.write(1)
        assert asked.search() == {"r-00000", "r-00001"}

    def test_answers_for_so_long_without_any_request(
        self, tmp_path: Path
    ) -> None:
        asked = Asked(tmp_path, VARVE_MAX_STALENESS_SECONDS="30")
        asked.write(0)
        assert asked.search() == {"r-00000"}
        asked.write(1)
        asked.now += timedelta(seconds=29)
        asked.objects.asked.clear()
        assert asked.search() == {"r-00000"}
        assert asked.objects.asked.total() == 0
        asked.now += timedelta(seconds=1)
        assert asked.search() == {"r-00000", "r-00001"}

    def test_is_never_another_agents(self, tmp_path: Path) -> None:
        asked = Asked(tmp_path, VARVE_MAX_STALENESS_SECONDS="86400")
        asked.write(0)
        assert asked.search() == {"r-00000"}
        other = type(SCOPE)("acme", "other")
        request = parse_search_request({"queryText": "tea"})
        assert asked.application.search(other, request).results == []


@pytest.mark.parametrize("compactions", [1, 2, 9])
def test_candidates_are_found_again_where_a_store_is_compacted_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compactions: int
) -> None:
    """Of a store too large to hold, whose rows another thread of the process writes to other places."""
    application = open_driver(
        store=tmp_path, now=T0 + timedelta(hours=1), embedder=EMBEDDER
    )
    put(application.records, *SAID)
    left = compactions

    def compact(*_: Any) -> None:
        nonlocal left
        if left:
            left -= 1
            application.records.delete(ACME, WORKING, [])

    hold_rows(monkeypatch, 3)
    before_rows_are_read(monkeypatch, compact)
    request = parse_search_request({"queryText": "word 4", "maxResults": 1})
    if compactions == 9:
        with pytest.raises(Retryable):
            application.search(ACME, request)
    else:
        assert [
            result.id for result in application.search(ACME, request).results
        ] == ["turn-04"]
        assert not left
