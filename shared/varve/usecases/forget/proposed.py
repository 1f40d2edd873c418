"""Forget in two steps: an agent proposes, a person confirms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from varve.domain.erasure import Selector
from varve.domain.validation import valid_text
from varve.ports.meter import doing
from varve.usecases.erasure import proposed
from varve.usecases.forget.forget import ErasureTools, ForgetOutcome, forget
from varve.usecases.forget.proposals import Proposal, list_chosen
from varve.usecases.forget.propose import propose
from varve.usecases.forget.requests import ForgetRequest
from varve.usecases.progress import Progress, no_progress
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class ForgetProposal:
    """A proposal that waits: its number, None without statements, and the statements."""

    number: int | None
    statements: Sequence[Proposal]

    def concerns(self, user_id: str) -> bool:
        """Return whether any statement is in a user's memory."""
        return any(user_id in one.users for one in self.statements)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        told = [one.to_dict(at) for at, one in enumerate(self.statements, 1)]
        return {"proposal": self.number, "statements": told}


@doing("forget")
def propose_forget(
    session: Session, query: str, user_id: str | None = None
) -> ForgetProposal:
    """Leave a proposal to erase the statements that the query names; erase nothing.

    With `user_id` it proposes statements of that user alone. Raises Rejected, Retryable.
    """
    valid_text(query, "query")
    found = propose(session, query, user_id=user_id)
    erasable = [one for one in found if one.erases]
    number = proposed.keep(session, erasable) if erasable else None
    return ForgetProposal(number, erasable)


def list_forget_proposals(session: Session) -> list[ForgetProposal]:
    """Return the proposals that wait for a person, oldest first. Raises Retryable."""
    return [
        ForgetProposal(one.number, proposed.read_one(session, one.number))
        for one in proposed.read_waiting(session)
    ]


@doing("forget")
def forget_proposed(
    session: Session,
    number: int,
    tools: ErasureTools,
    *,
    only: Sequence[int] | None = None,
    dry_run: bool = False,
    verify: bool = False,
    progress: Progress = no_progress,
) -> ForgetOutcome:
    """Erase what a proposal names, or its statements with the numbers in `only`.

    Once that is done, the proposal is closed. Raises as `forget`.
    """
    statements = proposed.read_one(session, number)
    ids = list_chosen(statements, only)
    if not ids:
        return _close_empty(session, number, dry_run=dry_run)
    request = ForgetRequest(
        selector=Selector(ids=ids), dry_run=dry_run, verify=verify
    )
    outcome = forget(session, request, tools, progress)
    outcome.proposals = statements
    if not dry_run and outcome.erased.complete:
        proposed.discard(session, number)
    return outcome


def _close_empty(
    session: Session, number: int, *, dry_run: bool
) -> ForgetOutcome:
    """Close a proposal of which memory has nothing left."""
    outcome = ForgetOutcome(f"proposal {number}", session.now, dry_run, (), 0)
    outcome.erased.complete = not dry_run
    if not dry_run:
        proposed.discard(session, number)
    return outcome
