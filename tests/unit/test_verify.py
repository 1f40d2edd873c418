"""The proof of an erasure: what it looks for, where it looks, and that it finds what is there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.builders import ACME, UtteranceExtractor
from tests.support.forgetful import Forgetful
from tests.support.usecase_drivers import run_verify
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import Grain
from varve.domain.erasure import Selector
from varve.domain.identity import Scope
from varve.domain.record import Store, StoreName
from varve.ports.erasure import Inspected
from varve.usecases.erasure.needles import (
    MAX_NEEDLES,
    Needles,
    collect_needles,
)
from varve.usecases.erasure.verify import Verification

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
WANTED = Needles(frozenset({"kumquatville", "u-dana"}))


def looked_for(*said: tuple[str, Any], name: str = "talk-1") -> frozenset[str]:
    """What is looked for when Dana is forgotten who has said this, and others that, in one conversation."""
    memory = Forgetful(UtteranceExtractor())
    messages = [
        {
            "id": f"{name}-m{n}",
            "role": "user",
            "userId": user,
            "name": f"{user[2:]}qq",
            "content": content,
        }
        for n, (user, content) in enumerate(said)
    ]
    memory.ingest({"conversationId": name, "messages": messages}, now=NOW)
    return collect_needles(
        Selector(user="u-dana"), memory.find(user="u-dana")
    ).texts


@pytest.mark.parametrize(
    ("name", "found"),
    [("c-1", False), ("c-12", True), ("c123", False), ("c12345", True)],
)
def test_an_id_that_random_bytes_may_hold_is_not_looked_for(
    name: str, found: bool
) -> None:
    assert (name in looked_for(("u-dana", "I like tea."), name=name)) is found


def test_looked_for_are_ids_names_long_words_and_how_texts_begin() -> None:
    text = "My cat Mo likes QUINCES and deadbeef " + "and so on " * 20
    wanted = looked_for(("u-dana", text))
    assert {"u-dana", "talk-1", "talk-1-m0", "danaqq", "quinces"} <= wanted
    assert text[:80].casefold() in wanted
    assert max(map(len, wanted)) == 80
    assert (
        not {"likes", "deadbeef", "cat", ""} & wanted
    )  # short ones and numbers are anywhere by chance


@pytest.mark.parametrize(
    "content",
    [
        "I like Quinces.",
        [
            {"type": "text", "text": "I like"},
            {"type": "text", "text": "quinces"},
        ],
    ],
)
def test_nothing_is_looked_for_that_somebody_else_has_said(
    content: Any,
) -> None:
    wanted = looked_for(
        ("u-dana", "Give me quinces and kumquats."), ("u-marco", content)
    )
    assert {"kumquats", "talk-1-m0"} <= wanted
    assert not {"quinces", "talk-1", "talk-1-m1", "marcoqq"} & wanted


def test_where_there_are_too_many_the_shortest_words_are_not_looked_for() -> (
    None
):
    words = " ".join(f"w{number:05}" for number in range(MAX_NEEDLES))
    wanted = looked_for(("u-dana", f"{words} extraordinarily"))
    assert len(wanted) == MAX_NEEDLES
    assert {"u-dana", "talk-1-m0", "extraordinarily"} <= wanted


class Stores:
    """A StoreInspector to which objects are text; one store holds something."""

    def __init__(self, store: StoreName = Grain.DAILY, **found: Any) -> None:
        self._store, self._found = store, Inspected(**found)

    def forms(self, data: bytes) -> Iterable[str]:
        return [data.decode()]

    def inspect(self, scope: Scope, grain: StoreName) -> Inspected:
        return (
            self._found
            if (scope, grain) == (ACME, self._store)
            else Inspected()
        )


def proof(
    objects: dict[str, bytes], stores: Stores | None = None
) -> Verification:
    held = InMemoryObjects()
    for key, data in objects.items():
        held.put(key, data)
    return run_verify(ACME, WANTED, objects=held, stores=stores or Stores())


@pytest.mark.parametrize(
    ("key", "data"),
    [
        (
            "timeline/acme/support/2026-04-19/c-1/x.jsonl",
            b"She lives in KUMQUATVILLE.",
        ),
        ("timeline/acme/support/2026-04-19/u-dana/x.jsonl", b""),
        ("workspaces/acme/config.json", b"kumquatville"),
        ("audit/acme/receipts/support/x.json", b"kumquatville"),
        (
            "ledger/failed/daily/2026-04-19/acme/support/failure.json",
            b"kumquatville",
        ),
        ("ledger/curation/acme/support/report.json", b"kumquatville"),
        ("an-area-that-came-later/acme/support/x", b"kumquatville"),
    ],
)
def test_invariant_8_a_byte_of_the_forgotten_is_found_wherever_it_lies(
    key: str, data: bytes
) -> None:
    clean = {
        "timeline/acme/support/2026-04-19/c-2/x.jsonl": b"Marco likes espresso."
    }
    found = proof({key: data, **clean})
    assert (found.proved, found.found_in) == (False, [key])
    assert found.figures() == {
        "proved": False,
        "reason": None,
        "objects": 2,
        "bytes": len(data) + 21,
        "needles": 2,
        "hits": 1,
        "storesWithRemains": 0,
        "targetsNotRead": 0,
    }


def test_what_is_other_agents_is_not_read() -> None:
    keys = [
        "timeline/acme/sales/x", "timeline/rival/support/x", "workspaces/rival/config.json",
        "ledger/failed/daily/2026-04-19/acme/sales/failure.json", "ledger/curation/support/acme/report.json",
    ]  # fmt: skip
    found = proof(dict.fromkeys(keys, b"kumquatville"))
    assert (found.proved, found.objects) == (True, 0)


@pytest.mark.parametrize(
    "store", [Grain.WORKING, Grain.YEARLY, Store.EXPERIENCE]
)
def test_invariant_8_rows_of_any_version_and_remains_that_cannot_be_read_are_no_proof(
    store: StoreName,
) -> None:
    place = [f"vectordb/{ACME}/{store}"]
    rows = proof(
        {},
        Stores(
            store,
            texts=["Marco likes espresso.", "Dana lives in Kumquatville."],
        ),
    )
    assert (rows.proved, rows.found_in, rows.unclean) == (False, place, [])
    for remains in ({"hidden_rows": 1}, {"stray_files": 1}):
        left = proof(
            {}, Stores(store, texts=["Marco likes espresso."], **remains)
        )
        assert (left.proved, left.found_in, left.unclean) == (False, [], place)
    assert proof(
        {}, Stores(store, texts=["Marco likes espresso."], versions=3)
    ).proved
