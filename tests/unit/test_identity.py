"""Which ids may be used, and that nothing is ever cleaned into one."""

import re
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import attempt
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, digest, path_id, reference

ALLOWED = string.ascii_letters + string.digits + "_.-"
ANY_TEXT = st.text(
    st.characters() | st.sampled_from(ALLOWED + "/\\ \n\t\x00"), max_size=140
)
NEARLY = st.text(ALLOWED + "./ ", max_size=130)


def accepted_by(check: Callable[[str, str], str], value: str) -> bool:
    result = attempt(check, value, "field")
    if isinstance(result, Rejected):
        assert result.field == "field"
        return False
    assert result == value, (
        "an accepted id comes back as it was, never cleaned"
    )
    return True


@given(ANY_TEXT | NEARLY)
def test_invariant_7_a_path_id_is_accepted_if_and_only_if_the_contract_allows_it(
    value: str,
) -> None:
    allowed = (
        re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", value)
        and ".." not in value
    )
    assert accepted_by(path_id, value) == bool(allowed)


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}", fullmatch=True))
def test_every_id_of_the_allowed_letters_is_accepted(value: str) -> None:
    assert accepted_by(path_id, value)
    assert accepted_by(reference, value)


@pytest.mark.parametrize(
    "value",
    ["", ".", "..", "a..b", "../x", "a/b", "a\\b", ".a", "-a", "_a", "a b", "a\n", "\na", "a\x00", "é",
     "a" * 129, "١", "Ａ", "a:b", "a%2fb", "~", "CON/..", "\ud800"],
)  # fmt: skip
def test_invariant_7_an_id_that_could_leave_its_prefix_is_refused(
    value: str,
) -> None:
    assert not accepted_by(path_id, value)
    for workspace, agent in ((value, "support"), ("acme", value)):
        with pytest.raises(Rejected) as refused:
            Scope(workspace, agent)
        assert refused.value.field == (
            "workspaceId" if workspace == value else "agentId"
        )


@given(ANY_TEXT | NEARLY)
def test_a_reference_is_accepted_if_and_only_if_it_is_short_visible_and_without_slashes(
    value: str,
) -> None:
    bad = (
        any(c.isspace() or c in "/\\" or not c.isprintable() for c in value)
        or ".." in value
    )
    assert accepted_by(reference, value) == (
        1 <= len(value) <= 128 and not bad
    )


@pytest.mark.parametrize(
    "value",
    ["auth0|42", "D1:3", "dana@example.com", "+351-912", "użytkownik", "用户"],
)
def test_callers_bring_their_own_user_ids(value: str) -> None:
    assert accepted_by(reference, value)


def test_a_refusal_names_the_value_but_not_all_of_a_long_one() -> None:
    with pytest.raises(Rejected) as refused:
        path_id("x" * 5_000, "agentId")
    assert "agentId: 'xxxx" in str(refused.value)
    assert len(str(refused.value)) < 250


@given(
    st.lists(st.text(), min_size=1, max_size=4),
    st.lists(st.text(), min_size=1, max_size=4),
)
def test_texts_cut_in_different_places_have_different_digests(
    one: list[str], other: list[str]
) -> None:
    plain = all("\0" not in part for part in one + other)
    if plain:
        assert (digest(*one) == digest(*other)) == (one == other)


def test_a_digest_has_the_length_asked_for() -> None:
    assert len(digest("a")) == 64
    assert digest("a", length=16) == digest("a")[:16]


def test_a_scope_shows_as_workspace_and_agent() -> None:
    assert str(Scope("acme", "support")) == "acme/support"
