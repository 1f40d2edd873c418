"""Key facts of one statement, told again or in two languages, are one."""

from datetime import UTC, datetime, timedelta

import pytest

from varve.domain.same_key_facts import TripleValue, fold_values, index_values
from varve.domain.summary import KeyFact
from varve.domain.triple import Op, TripleOperation, fold

START = datetime(2026, 3, 2, tzinfo=UTC)
BLUEFIN = ("works_at", "Bluefin")


def build_fact(number: int, content: str, user: str = "u-1") -> KeyFact:
    return KeyFact(
        id=f"fact-{number}",
        content=content,
        event_time=START + timedelta(days=number),
        importance=1 - number / 10,
        user_id=user,
        conversation_id="c-1",
        message_ids=(f"m{number}",),
    )


def fold_told(
    *contents: str, values: tuple[tuple[str, str], ...] = (BLUEFIN, BLUEFIN)
) -> list[str]:
    """Fold facts of which each states a value of the graph."""
    facts = [build_fact(number, text) for number, text in enumerate(contents)]
    stated = [
        TripleOperation(
            op=Op.ADD,
            subject="Elena",
            predicate=predicate,
            object=value,
            event_time=START + timedelta(days=number),
            created_at=START + timedelta(days=number),
            conversation_id="c-1",
            message_ids=(f"m{number}",),
            user_id="u-1",
        )
        for number, (predicate, value) in enumerate(values)
    ]
    told = index_values(fold(stated))
    return [fact.content for fact in fold_values(facts, told)]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Elena trabaja en Bluefin.", "Elena works at Bluefin."),
        ("Elena works at Bluefin.", "Elena trabaja en Bluefin."),
        ("Elena works for Bluefin.", "Elena works at Bluefin."),
    ],
)
def test_the_latest_of_one_statement_stays(earlier: str, later: str) -> None:
    assert fold_told(earlier, later) == [later]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Elena works at Bluefin in Ghent.", "Elena trabaja en Bluefin."),
        ("Elena works at Bluefin.", "Elena doesn't work at Bluefin."),
        ("Elena earns 900 euros at Bluefin.", "Elena works at Bluefin."),
    ],
)
def test_what_says_something_else_stays(one: str, other: str) -> None:
    assert fold_told(one, other) == [one, other]


def test_other_values_and_facts_without_a_triple_stay() -> None:
    told = ("Elena works at Bluefin.", "Elena works at Trigo.")
    assert fold_told(*told, values=(BLUEFIN, ("works_at", "Trigo"))) == [*told]
    assert fold_told(*told, values=()) == [*told]


def test_the_fact_that_stays_is_as_important_as_the_one_that_goes() -> None:
    facts = [
        build_fact(0, "Elena trabaja en Bluefin."),
        build_fact(1, "Elena works at Bluefin."),
    ]
    key = ("elena", "works_at", "bluefin")
    told = {
        ("c-1", f"m{number}"): [TripleValue("bluefin", key)]
        for number in (0, 1)
    }
    (left,) = fold_values(facts, told)
    assert (left.id, left.importance) == ("fact-1", 1.0)


def test_two_users_share_no_statement() -> None:
    key = ("elena", "works_at", "bluefin")
    told = {
        ("c-1", f"m{number}"): [TripleValue("bluefin", key)]
        for number in (0, 1)
    }
    facts = [
        build_fact(0, "Elena works at Bluefin."),
        build_fact(1, "Elena works at Bluefin.", user="u-2"),
    ]
    assert len(fold_values(facts, told)) == 2
