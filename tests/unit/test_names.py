"""Aliases: what makes two names one entity, and what does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import ACME, MORNING, an_operation
from tests.unit.test_triple import current
from varve.adapters.graph.parquet import ParquetGraph
from varve.adapters.in_memory import InMemoryGraph, InMemoryObjects
from varve.domain import entities
from varve.domain.names import ALSO_KNOWN_AS, Names
from varve.domain.triple import (
    TripleOperation,
    evidence_of,
    fold,
    stated_names,
)

PEOPLE = [
    "Dana",
    "Dana Whitfield",
    "Dana Osei",
    "Robert",
    "Bob",
    "bob.",
    "Bobby",
]
PAIRS = st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"))


def known_as(
    full: str, alias: str, day: int = 0, **given_: object
) -> TripleOperation:
    return an_operation(alias, ALSO_KNOWN_AS, subject=full, day=day, **given_)  # type: ignore[arg-type]


OPERATIONS = st.builds(
    lambda op, subject, predicate, value, day, replaces, message: an_operation(
        value,
        predicate,
        op=op,
        subject=subject,
        day=day,
        replaces=replaces,
        message_ids=(message,),
    ),
    st.sampled_from(["ADD", "ADD", "UPDATE", "DELETE"]),
    st.sampled_from(PEOPLE),
    st.sampled_from(["lives_in", "knows", "knows", "goes_by"]),
    st.sampled_from(["Lisbon", "", *PEOPLE]),
    st.integers(0, 4),
    st.sampled_from([None, "Bob", "Lisbon"]),
    st.sampled_from(["m1", "m2"]),
)
ALIASES = st.builds(
    lambda op, full, alias, day: an_operation(
        alias, ALSO_KNOWN_AS, op=op, subject=full, day=day
    ),
    st.sampled_from(["ADD", "ADD", "ADD", "DELETE"]),
    st.sampled_from(PEOPLE),
    st.sampled_from(PEOPLE),
    st.integers(0, 3),
)


@st.composite
def deliveries(
    draw: st.DrawFn,
) -> tuple[list[TripleOperation], list[list[TripleOperation]]]:
    """A history with aliases in it, and the same shuffled, in batches."""
    history = draw(st.lists(OPERATIONS, max_size=9)) + draw(
        st.lists(ALIASES, max_size=5)
    )
    shuffled = draw(st.permutations(history))
    cuts = sorted(draw(st.lists(st.integers(0, len(shuffled)), max_size=4)))
    return history, [
        list(shuffled[a:b])
        for a, b in zip([0, *cuts], [*cuts, len(shuffled)], strict=True)
    ]


@given(deliveries())
def test_invariant_2_aliases_told_late_early_or_again_lead_to_the_same_triples(
    delivered: tuple[list[TripleOperation], list[list[TripleOperation]]],
) -> None:
    history, batches = delivered
    assert fold(operation for batch in batches for operation in batch) == fold(
        history
    )


@given(deliveries())
def test_invariant_2_folding_only_what_a_batch_can_change_gives_the_table_of_folding_all(
    delivered: tuple[list[TripleOperation], list[list[TripleOperation]]],
) -> None:
    history, batches = delivered
    graph = ParquetGraph(InMemoryObjects())
    new = sum(graph.apply(ACME, batch) for batch in batches)
    assert graph.triples(ACME) == fold(history)
    assert new == len({operation.id for operation in history})


@given(st.lists(PAIRS, max_size=10), st.randoms())
def test_names_are_a_function_of_the_set_of_what_was_stated(
    pairs: list[tuple[str, str]], chance: Sequence[int]
) -> None:
    one, other = Names(pairs), Names([*reversed(pairs), *pairs])
    assert all(one.entity(name) == other.entity(name) for name in "abcdefg")
    assert one.changed(other) == set()
    for name in "abcdef":
        assert one.entity(one.entity(name)) == one.entity(name)


def test_a_full_name_and_its_short_form_are_one_person_also_for_what_was_said_before() -> (
    None
):
    moved = an_operation(
        "Lisbon", op="UPDATE", subject="Dana Whitfield", day=9
    )
    triples = fold(
        [
            an_operation("Leeds"),
            moved,
            known_as("Dana Whitfield", "Dana", day=20),
        ]
    )
    homes = [t for t in triples if t.label == "lives_in"]
    assert [
        (t.source_id, t.target_id, t.invalid_at is None) for t in homes
    ] == [
        ("dana whitfield", "leeds", False),
        ("dana whitfield", "lisbon", True),
    ]


def test_two_people_of_one_short_name_are_not_guessed_at() -> None:
    claims = [
        known_as("Dana Whitfield", "Dana"),
        known_as("Dana Osei", "Dana", day=1),
    ]
    assert ("dana", "lives_in", "lisbon") in current([an_operation(), *claims])
    names = Names([("dana whitfield", "dana"), ("dana osei", "dana")])
    assert names.entity("Dana") == "dana"
    assert names.claimants("DANA") == ("dana osei", "dana whitfield")


def test_claimants_that_turn_out_to_be_one_settle_the_name() -> None:
    names = Names(
        [
            ("robert miller", "robert"),
            ("robert", "bob"),
            ("robert miller", "bob"),
        ]
    )
    assert names.entity("Bob") == "robert miller"
    assert names.claimants("Bob") == ()


def test_every_name_is_settled_whose_claimants_turn_out_to_be_one() -> None:
    people = [("robert miller", "robert", "bob"), ("ann osei", "ann", "annie")]
    names = Names(
        pair for a, b, c in people for pair in ((a, b), (b, c), (a, c))
    )
    assert [names.entity(short) for _, _, short in people] == [
        "robert miller",
        "ann osei",
    ]


def test_names_that_claim_each_other_are_the_longest_of_them() -> None:
    names = Names([("bob", "robert"), ("robert", "bob")])
    assert (names.entity("Bob"), names.entity("Robert")) == (
        "robert",
        "robert",
    )


@pytest.mark.parametrize("nobody", ["User", "assistant", "I", "Usuario", ""])
def test_what_stands_for_a_missing_name_is_nobodys_alias(nobody: str) -> None:
    assert fold([known_as("Dana Whitfield", nobody)])
    assert ("user", "lives_in", "lisbon") in current(
        [known_as("Dana Whitfield", "User"), an_operation(subject="User")]
    )
    aliased = fold([known_as("Dana Whitfield", nobody or " ")])
    assert stated_names(evidence_of(aliased).values()).resolved() == {}


def test_an_alias_taken_back_parts_the_names_again() -> None:
    history = [
        known_as("Dana Whitfield", "Dana"),
        an_operation(),
        known_as("Dana Whitfield", "Dana", day=3, op="DELETE"),
    ]
    assert ("dana", "lives_in", "lisbon") in current(history)


def test_an_object_is_deleted_by_any_of_its_names() -> None:
    history = [
        an_operation("Robert", "knows"),
        known_as("Robert", "Bob"),
        an_operation("bob", "knows", op="DELETE", day=2),
    ]
    assert not {c for c in current(history) if c[1] == "knows"}


def test_the_names_of_a_graph_lead_to_its_entities() -> None:
    graph = InMemoryGraph()
    graph.apply(
        ACME,
        [
            an_operation(),
            known_as("Dana Whitfield", "Dana"),
            an_operation("Bob", "knows"),
        ],
    )
    triples = graph.triples(ACME)
    names = stated_names(evidence_of(triples).values())
    assert [names.entity(name) for name in ("Dana", "Dana Whitfield")] == [
        "dana whitfield",
        "dana whitfield",
    ]
    assert [names.entity(name) for name in ("Lisbon", "Bob")] == [
        "lisbon",
        "bob",
    ]
    assert (
        entities.find_spellings(triples)["dana whitfield"] == "Dana Whitfield"
    )


def test_what_was_believed_is_what_had_been_learnt() -> None:
    late = an_operation(
        "tea", "likes", op="DELETE", day=3, created_at=MORNING.replace(day=28)
    )
    ended = an_operation(
        "tea", "likes", op="DELETE", day=5, created_at=MORNING.replace(day=12)
    )
    triples = fold([an_operation("tea", "likes"), late, ended])
    (then,) = [
        t
        for t in entities.fold_known_at(triples, MORNING.replace(day=20))
        if t.valid_at == MORNING
    ]
    assert then.invalid_at == ended.event_time
    (now,) = [t for t in triples if t.valid_at == MORNING]
    assert now.invalid_at == late.event_time
    assert [
        t.target_id
        for t in entities.fold_known_at(triples, MORNING)
        if t.invalid_at is None
    ] == ["tea"]


def test_what_held_is_told_apart_from_what_holds() -> None:
    triples = fold(
        [an_operation("Porto"), an_operation("Lisbon", op="UPDATE", day=5)]
    )

    def held(day: int) -> list[str]:
        return [
            t.target_id for t in triples if t.holds(MORNING.replace(day=day))
        ]

    assert [held(day) for day in (1, 2, 6, 7, 8)] == [
        [],
        ["porto"],
        ["porto"],
        ["lisbon"],
        ["lisbon"],
    ]
