"""What to forget, as a caller names it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from varve.domain.erasure import Selector
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, path_id, reference
from varve.domain.validation import valid_text

PATIENCE = timedelta(seconds=60)
"""How long an erasure waits for a queue's writer, in all its passes."""

_EVENT_FIELDS: Mapping[str, type] = {
    "workspaceId": str,
    "agentId": str,
    "user": str,
    "conversation": str,
    "ids": list,
    "verify": bool,
    "dryRun": bool,
}
ONE_SELECTOR = (
    "takes exactly one of: user, conversation, ids, query, proposal; "
    "a query may name its user too"
)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to erase: `selector`, or the best matches of `query`.

    With `of_user` the matches are what is that user's alone. Of the matches only those
    with the numbers in `only`, from 1, are taken; None takes all. With `dry_run` nothing is
    erased; with `verify` everything left is read and searched.
    """

    selector: Selector | None = None
    query: str | None = None
    of_user: str | None = None
    only: tuple[int, ...] | None = None
    dry_run: bool = False
    verify: bool = False
    patience: timedelta = PATIENCE


def parse_selector(
    user: str | None = None,
    conversation: str | None = None,
    ids: Sequence[str] = (),
) -> Selector:
    """Return a selector of exactly one of the three. Raises Rejected: names the field."""
    if isinstance(ids, str):
        raise Rejected("ids", "must be a list of ids, not one")
    if sum(map(bool, (user, conversation, ids))) != 1:
        raise Rejected("forget", ONE_SELECTOR)
    if user:
        reference(user, "user")
    if conversation:
        path_id(conversation, "conversation")
    checked = tuple(reference(id_, "id") for id_ in ids)
    return Selector(user or None, conversation or None, checked)


def refuse_beside_proposal(*others: object) -> None:
    """Raise Rejected if a proposal is named beside another selector."""
    if any(others):
        raise Rejected("forget", ONE_SELECTOR)


def parse_forget_request(
    user: str | None,
    conversation: str | None,
    ids: Sequence[str],
    query: str | None,
    *,
    only: Sequence[int] | None = None,
    dry_run: bool,
    verify: bool,
) -> ForgetRequest:
    """Return the request that names exactly one subject, or a query and its user.

    Raises Rejected.
    """
    if query is not None:
        valid_text(query, "query")
    if only is not None and query is None:
        raise Rejected("only", "chooses among the statements of a query")
    if query is None:
        selector = parse_selector(user, conversation, ids)
        return ForgetRequest(selector=selector, dry_run=dry_run, verify=verify)
    if conversation or ids:
        raise Rejected("forget", ONE_SELECTOR)
    of_user = None if user is None else reference(user, "user")
    numbers = None if only is None else tuple(only)
    return ForgetRequest(
        query=query,
        of_user=of_user,
        only=numbers,
        dry_run=dry_run,
        verify=verify,
    )


def read_forget_event(event: Any) -> tuple[Scope, ForgetRequest]:
    """Return whose memory to erase from and what, of an administrator's invocation.

    `{"workspaceId", "agentId", "user" | "conversation" | "ids", "verify"?, "dryRun"?}`.
    Raises Rejected: names the field.
    """
    if not isinstance(event, Mapping):
        raise Rejected("event", "must be an object")
    _check_event_fields(event)
    scope = Scope(event["workspaceId"], event["agentId"])
    ids = event.get("ids", ())
    selector = parse_selector(
        event.get("user"), event.get("conversation"), ids
    )
    request = ForgetRequest(
        selector=selector,
        dry_run=event.get("dryRun", False),
        verify=event.get("verify", False),
    )
    return scope, request


def _check_event_fields(event: Mapping[str, Any]) -> None:
    for name, value in event.items():
        if name not in _EVENT_FIELDS:
            raise Rejected(name, "is not a known name")
        if not isinstance(value, _EVENT_FIELDS[name]):
            raise Rejected(name, "is not of the right type")
    if not all(isinstance(id_, str) for id_ in event.get("ids", ())):
        raise Rejected("ids", "must be a list of strings")
    for name in ("workspaceId", "agentId"):
        if name not in event:
            raise Rejected(name, "is missing")
