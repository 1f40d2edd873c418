"""A FIFO batch: order within groups, dead letters at once, the rest back to the queue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import Failing
from varve.adapters.in_memory import InMemoryDeadLetters
from varve.domain.errors import Misconfigured, Rejected, Retryable, VarveError
from varve.ports.queues import Delivery
from varve.usecases.write.deliver import deliver_each, group_deliveries

OUTAGE, POISON, MISSET = (
    Retryable("storage: down"),
    Rejected("records", "is missing"),
    Misconfigured("VARVE_LLM: wrong"),
)


class Bench:
    """Handles deliveries as told by their bodies, and remembers what became of them."""

    def __init__(self, letters: object = None) -> None:
        self.letters = InMemoryDeadLetters()
        self._dead_letters = letters or self.letters
        self.handled: list[str] = []

    def run(self, *deliveries: Delivery) -> list[str]:
        """The ids of the deliveries to return."""
        returned = deliver_each(
            deliveries, self._handle, dead_letters=self._dead_letters
        )  # type: ignore[arg-type]
        return [delivery.id for delivery in returned]

    def _handle(self, delivery: Delivery) -> None:
        faults: dict[str, VarveError] = {
            "outage": OUTAGE,
            "poison": POISON,
            "misset": MISSET,
        }
        if delivery.body in faults:
            raise faults[delivery.body]
        self.handled.append(delivery.id)

    @property
    def buried(self) -> list[tuple[str, str]]:
        return [
            (delivery.id, str(error))
            for delivery, error in self.letters.letters
        ]


def a_delivery(
    id_: str, body: str = "fine", group: str = "g", *, last: bool = False
) -> Delivery:
    return Delivery(id_, body, group, last)


def test_a_batch_is_handled_in_order_and_nothing_is_returned() -> None:
    bench = Bench()
    assert bench.run(*(a_delivery(str(i)) for i in range(5))) == []
    assert bench.handled == ["0", "1", "2", "3", "4"]


def test_invariant_3_the_first_failure_stops_its_group_and_all_later_ones_are_returned() -> (
    None
):
    bench = Bench()
    batch = [
        a_delivery("1"),
        a_delivery("2", "outage"),
        a_delivery("3"),
        a_delivery("4", "poison"),
        a_delivery("5"),
    ]
    assert bench.run(*batch) == ["2", "3", "4", "5"]
    assert (bench.handled, bench.buried) == (["1"], [])


def test_fault_a_batch_does_not_go_on_in_a_group_after_a_failure() -> None:
    bench = Bench()
    bench.run(a_delivery("1", "outage"), a_delivery("2"), a_delivery("3"))
    assert bench.handled == []


def test_a_failure_in_one_group_does_not_stop_the_others() -> None:
    bench = Bench()
    batch = [
        a_delivery("a1", "outage", "a"),
        a_delivery("b1", group="b"),
        a_delivery("a2", group="a"),
        a_delivery("b2", group="b"),
    ]
    assert bench.run(*batch) == ["a1", "a2"]
    assert bench.handled == ["b1", "b2"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("poison", "records: is missing"), ("misset", "VARVE_LLM: wrong")],
)
def test_invariant_1_what_can_never_succeed_is_a_dead_letter_with_its_reason_and_its_group_goes_on(
    fault: str, reason: str
) -> None:
    bench = Bench()
    assert (
        bench.run(a_delivery("1"), a_delivery("2", fault), a_delivery("3"))
        == []
    )
    assert (bench.handled, bench.buried) == (["1", "3"], [("2", reason)])


def test_invariant_1_an_outage_at_the_last_chance_is_a_dead_letter_with_its_reason() -> (
    None
):
    bench = Bench()
    assert (
        bench.run(a_delivery("1", "outage", last=True), a_delivery("2")) == []
    )
    assert (bench.handled, bench.buried) == (["2"], [("1", "storage: down")])


@pytest.mark.parametrize("body", ["poison", "outage"])
def test_invariant_1_a_message_is_returned_while_the_dead_letters_cannot_take_it(
    body: str,
) -> None:
    bench = Bench(Failing(InMemoryDeadLetters(), Retryable("dlq: down"), 1))
    assert bench.run(a_delivery("1", body, last=True), a_delivery("2")) == [
        "1",
        "2",
    ]
    assert bench.handled == []


def test_an_error_nobody_foresaw_is_not_swallowed() -> None:
    def handle(_: Delivery) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        deliver_each(
            [a_delivery("1")], handle, dead_letters=InMemoryDeadLetters()
        )


def test_no_deliveries_are_nothing_to_do() -> None:
    assert (Bench().run(), group_deliveries([])) == ([], [])


BATCHES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["fine", "fine", "outage", "poison"]),
        st.booleans(),
    )
).map(
    lambda rows: [
        a_delivery(str(i), body, group, last=last)
        for i, (group, body, last) in enumerate(rows)
    ]
)


@given(BATCHES)
def test_every_delivery_is_handled_or_buried_or_returned_exactly_once(
    batch: list[Delivery],
) -> None:
    bench = Bench()
    returned = bench.run(*batch)
    ended = [*returned, *bench.handled, *(id_ for id_, _ in bench.buried)]
    assert sorted(ended) == sorted(delivery.id for delivery in batch)


@given(BATCHES)
def test_invariant_3_what_is_returned_of_a_group_is_its_end_in_order(
    batch: list[Delivery],
) -> None:
    returned = Bench().run(*batch)
    for group in group_deliveries(batch):
        ids = [delivery.id for delivery in group]
        ending = [id_ for id_ in returned if id_ in ids]
        assert ending == ids[len(ids) - len(ending) :]


@given(BATCHES)
def test_groups_keep_the_order_they_came_in(batch: list[Delivery]) -> None:
    groups = group_deliveries(batch)
    assert len({group[0].group for group in groups}) == len(groups)
    for group in groups:
        assert group == [
            delivery for delivery in batch if delivery.group == group[0].group
        ]
