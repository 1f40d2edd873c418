"""A workspace's month for its operator: words, knowledge, erasures and costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from varve.domain.calendar import iso
from varve.domain.costs import Costs

MEASURES = {
    "conversations": (
        "turns",
        "event_time",
        "count(DISTINCT conversation_id)",
    ),
    "users": ("turns", "event_time", "count(DISTINCT user_id)"),
    "turns": ("turns", "event_time", "count(*)"),
    "facts": ("facts", "event_time", "count(*)"),
    "superseded": (
        "facts",
        "event_time",
        "count(*) FILTER (WHERE NOT current)",
    ),
    "triples": ("triples", "created_at", "count(*)"),
    "ended": ("triples", "expired_at", "count(*)"),
    "summaries": ("summaries", "created_at", "count(*)"),
    "episodes": ("episodes", "event_time", "count(*)"),
}
"""Each figure's table, the time that falls in the month, and how it is counted."""


def build_query(start: datetime, end: datetime) -> str:
    """Return the SQL that counts all measures by agent, from `start` to before `end`."""
    parts = []
    for name, (table, time, count) in MEASURES.items():
        parts.append(
            f"SELECT agent, '{name}' AS measure, {count} AS number FROM {table} "
            f"WHERE {time} >= TIMESTAMPTZ '{iso(start)}' "
            f"AND {time} < TIMESTAMPTZ '{iso(end)}' GROUP BY agent"
        )
    return " UNION ALL ".join(parts)


@dataclass(frozen=True, slots=True)
class AgentMonth:
    """One agent's figures by the names of `MEASURES`, of what memory still holds."""

    agent: str
    figures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure of the month; `proved` is None if no proof was asked for."""

    agent: str
    receipt: str
    complete: bool
    proved: bool | None


@dataclass(frozen=True, slots=True)
class MonthlyReport:
    """The figures of each agent, the erasures and the costs of a calendar month."""

    workspace: str
    month: str
    agents: tuple[AgentMonth, ...]
    erasures: tuple[Erasure, ...]
    costs: Costs

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "workspaceId": self.workspace,
            "month": self.month,
            "agents": [
                {"agentId": one.agent, **one.figures} for one in self.agents
            ],
            "erasures": [
                {
                    "agentId": one.agent,
                    "receipt": one.receipt,
                    "complete": one.complete,
                    "proved": one.proved,
                }
                for one in self.erasures
            ],
            "costs": self.costs.to_dict(),
        }
