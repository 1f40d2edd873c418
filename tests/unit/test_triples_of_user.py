"""One user's triples: what the user states, as far as nothing has ended it."""

from __future__ import annotations

from tests.support.builders import an_operation
from varve.domain.entities import fold_of_user
from varve.domain.triple import fold


def list_held(user: str, *homes: tuple[str | None, str]) -> list[str]:
    """Return where Dana lives by a user's triples, if users tell these homes in turn."""
    told = [
        an_operation(home, day=day, user_id=owner)
        for day, (owner, home) in enumerate(homes)
    ]
    return [
        one.target_id
        for one in fold_of_user(fold(told), user)
        if one.invalid_at is None
    ]


def test_a_change_of_no_user_ends_a_users_triple_and_is_none_of_them() -> None:
    assert list_held("u-1", ("u-1", "Lisbon"), (None, "Porto")) == []


def test_a_users_later_triple_holds_again() -> None:
    homes = (("u-1", "Lisbon"), (None, "Porto"), ("u-1", "Braga"))
    assert list_held("u-1", *homes) == ["braga"]


def test_another_user_ends_no_triple_of_a_user() -> None:
    assert list_held("u-1", ("u-1", "Lisbon"), ("u-2", "Porto")) == ["lisbon"]
