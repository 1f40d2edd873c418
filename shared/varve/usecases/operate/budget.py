"""The budget for models: whether a workspace's calendar month has any left."""

from dataclasses import dataclass
from typing import Any

from varve.domain.calendar import day_of
from varve.domain.costs import month_of_day
from varve.domain.prices import Prices, prices_with
from varve.usecases.operate.cost_objects import read_days, workspace_key
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class Budget:
    """A month's budget for models, and the part spent, in estimated dollars.

    It is a soft limit: work that runs when it is reached goes on to its end.
    """

    month: str
    limit: float
    spent: float

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "month": self.month,
            "limit": self.limit,
            "spent": round(self.spent, 6),
            "isSpent": self.is_spent,
        }


def read_budget(session: Session) -> Budget | None:
    """Return the workspace's budget for models now, None without a limit.

    Takes one request; what this process has not folded yet counts too. Raises Retryable.
    """
    limit = session.config.budget.dollars
    if limit is None:
        return None
    month = month_of_day(day_of(session.now, session.zone))
    prices = prices_with(session.config.costs.prices)
    workspace = session.scope.workspace
    unfolded = session.meter.pending_of(workspace)
    spent = _read_spent(session, prices, month) + prices.of_models(unfolded)
    return Budget(month, limit, spent)


def is_spent(session: Session) -> bool:
    """Return whether the workspace has a model that it has no budget for."""
    if session.config.budget.dollars is None or session.llm is None:
        return False
    budget = read_budget(session)
    return budget is not None and budget.is_spent


def _read_spent(session: Session, prices: Prices, month: str) -> float:
    key = workspace_key(session.scope.workspace, month)
    dollars = 0.0
    for verbs in read_days(session.objects, key).values():
        for counts in verbs.values():
            dollars += prices.of_models(counts)
    return dollars
