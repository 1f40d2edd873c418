"""A graph's table changes batch by batch as if all statements were folded at once."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, an_operation
from varve.adapters.graph.parquet import change
from varve.adapters.graph.table import GraphTable
from varve.domain.names import ALSO_KNOWN_AS
from varve.domain.triple import Op, TripleOperation, fold

DAYS = 12


def build(
    op: Op,
    subject: str,
    predicate: str,
    value: str,
    day: int,
    replaces: str | None,
) -> TripleOperation:
    return an_operation(
        value,
        predicate,
        op=op,
        subject=subject,
        day=day,
        created_at=MORNING + timedelta(days=day),
        replaces=replaces,
        message_ids=("m1",),
    )


STATEMENTS = st.builds(
    build,
    st.sampled_from([Op.ADD, Op.ADD, Op.UPDATE, Op.UPDATE, Op.DELETE]),
    st.sampled_from(["Dana", "Marco"]),
    st.sampled_from(["lives_in", "likes"]),
    st.sampled_from(["Lisbon", "Porto", "tea", ""]),
    st.integers(0, DAYS),
    st.sampled_from([None, "Porto", "tea"]),
)
ALIASES = st.builds(
    build,
    st.just(Op.ADD),
    st.sampled_from(["Dana", "Marco"]),
    st.just(ALSO_KNOWN_AS),
    st.sampled_from(["Dee", "Marco"]),
    st.integers(0, DAYS),
    st.none(),
)


@st.composite
def batches(draw: st.DrawFn) -> list[list[TripleOperation]]:
    """Batches of statements, each mostly later than the one before, with repeats."""
    statements = st.one_of(STATEMENTS, STATEMENTS, STATEMENTS, ALIASES)
    history = draw(st.lists(statements, max_size=20))
    history.sort(key=lambda operation: operation.event_time)
    late = draw(st.lists(statements, max_size=3))
    told = [*history, *late]
    again = draw(st.lists(st.sampled_from(told), max_size=3)) if told else []
    told += again
    cuts = sorted(draw(st.lists(st.integers(0, len(told)), max_size=5)))
    return [
        told[start:end]
        for start, end in zip([0, *cuts], [*cuts, len(told)], strict=True)
    ]


@given(batches())
def test_invariant_2_a_table_changed_in_batches_is_the_fold_of_all(
    told: list[list[TripleOperation]],
) -> None:
    so_far: list[TripleOperation] = []
    with closing(GraphTable()) as table:
        for batch in told:
            before = {operation.id for operation in so_far}
            so_far += batch
            new = change(table, batch)
            assert table.triples() == fold(so_far)
            assert (new or 0) == len({o.id for o in batch} - before)


def test_a_change_reads_only_what_it_can_change() -> None:
    history = [
        build(Op.UPDATE, "Dana", "lives_in", f"city {day}", day, None)
        for day in range(DAYS)
    ]
    later = {("dana", "lives_in"): history[-1].event_time}
    with closing(GraphTable()) as table:
        change(table, history)
        read = table.groups(later, [])
        assert [triple.target_id for triple in read] == ["city 10", "city 11"]
        ended = build(Op.DELETE, "Dana", "lives_in", "city 11", DAYS, None)
        change(table, [ended])
        assert len(table.groups(later, [])) == DAYS
