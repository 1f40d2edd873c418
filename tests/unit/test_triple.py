"""Operations fold into triples: late, twice, in any order and in any batches, the triples are the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import ACME, MORNING, an_operation
from varve.adapters.in_memory import InMemoryGraph
from varve.domain.graph import encode_properties
from varve.domain.identity import Scope
from varve.domain.predicates import is_single_valued
from varve.domain.triple import (
    Op,
    Triple,
    TripleOperation,
    evidence_of,
    fold,
    normalized,
    operation_as_json,
    operation_from_json,
)

OPERATIONS = st.builds(
    lambda op, subject, predicate, value, day, late, confidence, replaces, message: (
        an_operation(
            value,
            predicate,
            op=op,
            subject=subject,
            day=day,
            created_at=MORNING + timedelta(days=day + late),
            confidence=confidence,
            replaces=replaces,
            message_ids=(message,),
        )
    ),
    st.sampled_from(list(Op)),
    st.sampled_from(["Dana", "dana", "Marco"]),
    st.sampled_from(["lives_in", "likes", "Likes"]),
    st.sampled_from(["Lisbon", "lisbon.", "Porto", "tea", ""]),
    st.integers(0, 3),
    st.integers(0, 2),
    st.sampled_from([0.5, 1.0]),
    st.sampled_from([None, "", "Porto", "LISBON"]),
    st.sampled_from(["m1", "m2"]),
)
HISTORIES = st.lists(OPERATIONS, max_size=12)


def current(
    operations: Sequence[TripleOperation],
) -> set[tuple[str, str, str]]:
    return {
        (t.source_id, t.label, t.target_id)
        for t in fold(operations)
        if t.invalid_at is None
    }


def values(*operations: TripleOperation) -> set[str]:
    return {target for _, _, target in current(operations)}


@st.composite
def deliveries(
    draw: st.DrawFn,
) -> tuple[list[TripleOperation], list[list[TripleOperation]]]:
    """A history, and the same history shuffled, with repeats, in batches."""
    history = draw(HISTORIES)
    repeats = (
        draw(st.lists(st.sampled_from(history), max_size=6)) if history else []
    )
    shuffled = draw(st.permutations([*history, *repeats]))
    cuts = sorted(draw(st.lists(st.integers(0, len(shuffled)), max_size=4)))
    return history, [
        list(shuffled[a:b])
        for a, b in zip([0, *cuts], [*cuts, len(shuffled)], strict=True)
    ]


@given(deliveries())
def test_invariant_2_any_order_and_any_repetition_gives_the_same_triples(
    delivered: tuple[list[TripleOperation], list[list[TripleOperation]]],
) -> None:
    history, batches = delivered
    assert fold(operation for batch in batches for operation in batch) == fold(
        history
    )


@given(deliveries())
def test_invariant_2_a_graph_is_the_same_in_whatever_batches_it_was_told(
    delivered: tuple[list[TripleOperation], list[list[TripleOperation]]],
) -> None:
    history, batches = delivered
    graph = InMemoryGraph()
    new = sum(graph.apply(ACME, batch) for batch in batches)
    assert graph.triples(ACME) == fold(history)
    assert new == len({operation.id for operation in history})


@given(HISTORIES)
def test_triples_carry_all_that_is_needed_to_fold_them_again(
    history: list[TripleOperation],
) -> None:
    triples = fold(history)
    assert set(evidence_of(triples)) == {operation.id for operation in history}
    assert fold(evidence_of(triples).values()) == triples


@given(HISTORIES)
def test_a_closed_triple_ends_after_it_began_and_ids_do_not_collide(
    history: list[TripleOperation],
) -> None:
    triples = fold(history)
    assert len({t.id for t in triples}) == len(triples)
    for triple in triples:
        assert (triple.invalid_at is None) == (triple.expired_at is None)
        assert (
            triple.invalid_at is None or triple.valid_at <= triple.invalid_at
        )


@given(HISTORIES)
def test_a_single_valued_predicate_has_one_current_value_at_most(
    history: list[TripleOperation],
) -> None:
    held = [
        t.source_id
        for t in fold(history)
        if is_single_valued(t.label) and t.invalid_at is None
    ]
    assert len(held) == len(set(held))


@given(OPERATIONS)
def test_an_operation_survives_its_journey_as_json(
    operation: TripleOperation,
) -> None:
    assert (
        operation_from_json(
            json.loads(json.dumps(operation_as_json(operation)))
        )
        == operation
    )


@pytest.mark.parametrize(
    "change",
    [{"op": "MERGE"}, {"op": []}, {"subject": 5}, {"object": None}, {"eventTime": "soon"}, 
     {"messageIds": [5]}, {"confidence": "high"}, {"userId": {}}, {"replaces": 1}, {"conversationId": ["c"]}],
)  # fmt: skip
def test_what_is_no_operation_is_a_value_error(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        operation_from_json({**operation_as_json(an_operation()), **change})


def test_a_new_home_closes_the_one_before() -> None:
    porto, lisbon = fold(
        [
            an_operation("Porto", day=0),
            an_operation("Lisbon", op="UPDATE", day=5),
        ]
    )
    assert (porto.target_id, porto.valid_at, porto.invalid_at) == (
        "porto",
        MORNING,
        MORNING + timedelta(days=5),
    )
    assert porto.expired_at == MORNING + timedelta(days=5)
    assert (lisbon.target_id, lisbon.invalid_at) == ("lisbon", None)


def test_a_move_told_late_takes_its_place_in_time() -> None:
    lisbon = an_operation("Lisbon", day=9)
    porto = replace(
        an_operation("Porto", day=2), created_at=MORNING + timedelta(days=20)
    )
    assert values(lisbon, porto) == {"lisbon"}
    (first, _) = fold([lisbon, porto])
    assert (first.target_id, first.invalid_at) == (
        "porto",
        MORNING + timedelta(days=9),
    )


def test_the_same_value_again_is_more_evidence_and_not_another_triple() -> (
    None
):
    (triple,) = fold(
        [
            an_operation("Lisbon", confidence=0.5),
            an_operation("lisbon.", day=3, confidence=0.9),
        ]
    )
    assert (triple.valid_at, triple.confidence, len(triple.evidence)) == (
        MORNING,
        0.9,
        2,
    )


def test_singular_and_plural_of_a_thing_are_one_value_of_names_two() -> None:
    nuts = [an_operation("nuts", "likes"), an_operation("nut", "likes", day=1)]
    assert values(*nuts) == {"nuts"}
    sons = [
        an_operation("Jame", "has_son"),
        an_operation("James", "has_son", day=1),
    ]
    assert values(*sons) == {"jame", "james"}


def test_fault_an_update_does_not_end_every_object_of_likes() -> None:
    likes = [
        an_operation(thing, "likes", day=i)
        for i, thing in enumerate(["tea", "jazz", "chess"])
    ]
    assert values(
        *likes, an_operation("coffee", "likes", op="UPDATE", day=9)
    ) == {
        "tea",
        "jazz",
        "chess",
        "coffee",
    }
    corrected = an_operation(
        "coffee", "likes", op="UPDATE", day=9, replaces="Tea"
    )
    assert values(*likes, corrected) == {"jazz", "chess", "coffee"}


@pytest.mark.parametrize(
    "said", ["Tea", "tea", " TEA. ", "tea!", "ｔｅａ", "tea\n"]
)
def test_fault_a_delete_does_not_need_the_exact_string(said: str) -> None:
    liked = [an_operation("Tea", "likes"), an_operation("jazz", "likes")]
    ended = an_operation(said, "Likes ", op="DELETE", subject="DANA", day=1)
    assert values(*liked, ended) == {"jazz"}


def test_a_delete_of_another_value_ends_nothing() -> None:
    assert values(
        an_operation("tea", "likes"),
        an_operation("te", "likes", op="DELETE", day=1),
    ) == {"tea"}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Kestrel Logistics", True),
        ("Kestrel", True),
        ("kestrel logistics gmbh.", True),
        ("Kest", False),
    ],
)
def test_a_delete_may_name_the_one_value_by_its_long_or_short_form(
    said: str, left: bool
) -> None:
    job = an_operation("Kestrel Logistics", "works_at")
    assert (
        values(job, an_operation(said, "works_at", op="DELETE", day=1))
        == set()
    ) is left
    liked = an_operation("tea with milk", "likes")
    assert values(liked, an_operation("tea", "likes", op="DELETE", day=1)) == {
        "tea with milk"
    }


def test_of_two_values_for_one_moment_the_one_that_corrects_the_other_holds() -> (
    None
):
    for wrong, right in [("Murta 6", "Murta 9"), ("Murta 9", "Murta 6")]:
        told = [
            an_operation(wrong, "address"),
            an_operation(right, "address", op="UPDATE", replaces=wrong),
        ]
        assert values(*told) == {right.lower()}


def test_what_closed_a_value_does_not_make_it_more_certain() -> None:
    porto, lisbon = fold(
        [
            an_operation("Porto", confidence=0.5),
            an_operation("Lisbon", day=1, confidence=0.9),
        ]
    )
    assert (porto.confidence, lisbon.confidence) == (0.5, 0.9)


def test_a_delete_without_an_object_ends_every_value_of_its_predicate_and_no_other() -> (
    None
):
    known = [
        an_operation("tea", "likes"),
        an_operation("jazz", "likes"),
        an_operation("Lisbon"),
    ]
    assert values(*known, an_operation("", "likes", op="DELETE", day=1)) == {
        "lisbon"
    }


def test_a_delete_that_arrives_before_what_it_ends_still_ends_it() -> None:
    ended = an_operation("tea", "likes", op="DELETE", day=5)
    assert values(ended) == set()
    assert values(ended, an_operation("tea", "likes", day=1)) == set()
    assert values(ended, an_operation("tea", "likes", day=9)) == {"tea"}


def test_what_was_ended_and_is_said_again_holds_again() -> None:
    history = [
        an_operation("tea", "likes"),
        an_operation("tea", "likes", op="DELETE", day=1),
        an_operation("tea", "likes", day=2),
    ]
    closed, held = fold(history)
    assert (closed.invalid_at, held.valid_at) == (
        MORNING + timedelta(days=1),
        MORNING + timedelta(days=2),
    )
    assert closed.id != held.id


def test_of_two_accounts_of_one_statement_the_one_learnt_first_counts() -> (
    None
):
    again = an_operation(created_at=MORNING + timedelta(days=7))
    for order in ([an_operation(), again], [again, an_operation()]):
        (triple,) = fold(order)
        assert triple.created_at == MORNING


def test_subjects_and_agents_are_kept_apart() -> None:
    assert current(
        [an_operation("Porto"), an_operation("Lisbon", subject="Marco", day=1)]
    ) == {
        ("dana", "lives_in", "porto"),
        ("marco", "lives_in", "lisbon"),
    }
    graph, other = InMemoryGraph(), Scope("rival", "support")
    graph.apply(ACME, [an_operation()])
    assert graph.triples(other) == []


@given(st.text())
def test_a_normalized_name_stays_as_it_is(name: str) -> None:
    once = normalized(name)
    assert normalized(once) == once or normalized(
        normalized(once)
    ) == normalized(once)
    assert not once.endswith((".", " "))


@pytest.mark.parametrize(
    "name",
    [
        "Dana Costa",
        "dana  costa",
        " DANA COSTA.",
        "Dana\nCosta . ",
        "Ｄana Costa",
    ],
)
def test_names_that_differ_only_in_form_are_the_same_entity(name: str) -> None:
    assert normalized(name) == "dana costa"


def test_the_same_statement_has_one_id_whenever_and_however_often_it_is_learnt() -> (
    None
):
    one = an_operation(message_ids=("m1", "m2"))
    assert (
        replace(
            one,
            created_at=MORNING + timedelta(days=3),
            message_ids=("m2", "m1"),
        ).id
        == one.id
    )
    assert (
        len(
            {
                one.id,
                replace(one, op=Op.UPDATE).id,
                replace(one, conversation_id="c-2").id,
            }
        )
        == 3
    )


def test_properties_tell_where_the_newest_statement_was_made() -> None:
    (triple,) = fold(
        [
            an_operation(user_id="u-42"),
            an_operation(day=2, user_id="u-7", confidence=0.5),
        ]
    )
    told = json.loads(encode_properties(triple))
    assert (told["userId"], told["messageIds"], told["confidence"]) == (
        "u-7",
        ["m2"],
        1.0,
    )
    assert told["updatedAt"] == "2026-03-04T09:15:00Z"
    assert [operation_from_json(o) for o in told["evidence"]] == list(
        triple.evidence
    )


def test_triples_come_in_a_stable_order() -> None:
    triples: list[Triple] = fold(
        [
            an_operation("b", "likes", day=1),
            an_operation("a", "likes", day=1),
            an_operation("x", "likes"),
        ]
    )
    assert [t.target_id for t in triples] == ["x", "a", "b"]
