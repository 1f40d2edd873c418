"""What stands in place of personal data: the same for the same value, and nothing of the value in it."""

import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.personal import (
    PLACEHOLDER,
    Detection,
    Kind,
    drop_overlaps,
    iterate_strings,
    map_strings,
    placeholder,
    pseudonym,
    replace_detections,
)

KEY = b"a key of the tests' own"


def finding(kind: Kind, start: int, end: int) -> Detection:
    return Detection(kind, start, end, "")


def test_every_finding_is_replaced_where_it_stands() -> None:
    found = [finding(Kind.PHONE, 8, 11), finding(Kind.EMAIL, 0, 3)]
    assert (
        replace_detections(
            "a@b and 123.", found, lambda f: placeholder(f.kind)
        )
        == "[email] and [phone]."
    )


def test_of_findings_that_overlap_the_secret_counts_then_the_longest() -> None:
    secret, email = finding(Kind.SECRET, 2, 9), finding(Kind.EMAIL, 0, 20)
    assert drop_overlaps([email, secret]) == [secret]
    long, short = finding(Kind.PHONE, 0, 9), finding(Kind.PHONE, 0, 5)
    assert drop_overlaps([short, long]) == [long]


def test_what_stands_in_place_of_a_value_is_left_alone() -> None:
    text = "write to [email:bcdfghjklmnp] now"
    inside = finding(Kind.PHONE, text.index("bcd"), text.index("] now"))
    assert replace_detections(text, [inside], lambda _: "x") == text


spans = st.lists(
    st.tuples(st.sampled_from(Kind), st.integers(0, 60), st.integers(1, 20)),
    max_size=12,
)


@given(spans)
def test_no_two_that_are_kept_overlap_and_none_is_dropped_without_a_rival(
    drawn: list[tuple[Kind, int, int]],
) -> None:
    findings = [
        finding(kind, start, start + length) for kind, start, length in drawn
    ]
    kept = drop_overlaps(findings)
    assert all(a.end <= b.start for a, b in pairwise(kept))
    for lost in set(findings) - set(kept):
        assert any(lost.start < k.end and k.start < lost.end for k in kept)


@given(st.text(min_size=1, max_size=40), st.sampled_from(Kind))
def test_a_pseudonym_is_the_same_for_the_same_and_has_the_form_that_is_left_alone(
    value: str, kind: Kind
) -> None:
    made = pseudonym(kind, value, KEY, "acme")
    assert made == pseudonym(kind, value, KEY, "acme")
    assert PLACEHOLDER.fullmatch(made)


@pytest.mark.parametrize(
    "other",
    [
        (Kind.PHONE, "v", KEY, "acme"),
        (Kind.EMAIL, "w", KEY, "acme"),
        (Kind.EMAIL, "v", b"k", "acme"),
        (Kind.EMAIL, "v", KEY, "globex"),
    ],
)
def test_a_pseudonym_differs_by_kind_value_key_and_workspace(
    other: tuple[Kind, str, bytes, str],
) -> None:
    mine, theirs = (
        p.partition(":")[2]
        for p in (pseudonym(Kind.EMAIL, "v", KEY, "acme"), pseudonym(*other))
    )
    assert mine != theirs


def test_strings_are_changed_at_every_depth_and_nothing_else_is() -> None:
    value = {"a": ["x", {"b": "y"}, 3, None, True], "c": "z"}
    assert map_strings(value, str.upper) == {
        "a": ["X", {"b": "Y"}, 3, None, True],
        "c": "Z",
    }
    assert sorted(iterate_strings(value)) == ["x", "y", "z"]


def test_a_pseudonym_has_no_digits_and_no_vowels_and_so_is_no_number_and_no_word() -> (
    None
):
    made = pseudonym(Kind.PHONE, "+34612345678", KEY, "acme").partition(":")[2]
    assert not set(made) & {*string.digits, *"aeiou"}
