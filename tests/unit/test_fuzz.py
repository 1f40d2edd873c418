"""Whatever comes in from outside is taken or refused with an error of ours; nothing else is raised.

`make fuzz` tries the same parsers for as long as one likes, guided by coverage.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.parsers import Parser, parsers

PARSERS = parsers()
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**301)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "",
            "..",
            "\x00",
            "\ud800",
            "9" * 400,
            "2026-02-30",
            "0001-01-01T00:00:00+14:00",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMED = pytest.mark.parametrize(
    "parser", PARSERS, ids=lambda parser: parser.name.replace(" ", "-")
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything in a JSON value."""
    steps = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path,
        *(
            place
            for step, inner in steps
            for place in places(inner, (*path, step))
        ),
    ]


@st.composite
def changed_json(draw: st.DrawFn, value: Any) -> bytes:
    """The JSON value with something in it replaced, removed, or put beside something."""
    value = json.loads(json.dumps(value))
    for _ in range(draw(st.integers(1, 2))):
        *above, last = draw(
            st.sampled_from([p for p in places(value) if p] or [(None,)])
        )
        holder = value
        for step in above:
            holder = holder[step]
        if last is None:
            return json.dumps(draw(JSON)).encode()
        what = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if what == "replace":
            holder[last] = draw(JSON)
        elif what == "remove":
            del holder[last]
        elif isinstance(holder, dict):
            holder[draw(st.text(max_size=6))] = draw(JSON)
        else:
            holder.insert(last, draw(JSON))
    return json.dumps(value).encode()


@st.composite
def changed_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes cut off, or with some replaced, removed or put in between."""
    start = draw(st.integers(0, len(data)))
    end = draw(
        st.sampled_from(
            [
                start,
                min(start + 1, len(data)),
                min(start + 8, len(data)),
                len(data),
            ]
        )
    )
    between = draw(
        st.binary(max_size=8)
        | st.sampled_from([b"\x00", b"\xff" * 8, "\u202e".encode(), b"'"])
    )
    return data[:start] + between + data[end:]


def changed(data: bytes) -> st.SearchStrategy[bytes]:
    try:
        return changed_json(json.loads(data)) | changed_bytes(data)
    except ValueError:
        return changed_bytes(data)


@NAMED
def test_each_parser_accepts_some_of_its_own_inputs(parser: Parser) -> None:
    taken = [parser.try_out(data) for data in parser.inputs]
    assert any(taken)


@NAMED
@settings(max_examples=25)
@given(data=st.data())
def test_a_mutated_input_is_accepted_or_refused(
    parser: Parser, data: st.DataObject
) -> None:
    parser.try_out(
        data.draw(changed(data.draw(st.sampled_from(parser.inputs))))
    )


@NAMED
@settings(max_examples=15)
@given(
    data=st.binary(max_size=64)
    | st.text(max_size=32).map(lambda t: t.encode("utf-8", "replace"))
    | JSON
)
def test_any_input_is_accepted_or_refused(parser: Parser, data: Any) -> None:
    parser.try_out(
        data if isinstance(data, bytes) else json.dumps(data).encode()
    )


@NAMED
@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5_000, b"9" * 5_000 + b"-W01"],
)
def test_extreme_nesting_and_long_numbers_are_accepted_or_refused(
    parser: Parser, data: bytes
) -> None:
    parser.try_out(data)
