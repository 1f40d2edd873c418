"""Run untrusted SQL over the tables of a whole workspace."""

from collections.abc import Iterator
from dataclasses import replace

from varve.domain.analytics import find_named_tables
from varve.domain.graph import QueryLimits, QueryResult
from varve.domain.identity import Scope
from varve.domain.validation import valid_text
from varve.ports.analytics import OpenStage
from varve.usecases.analytics.rows import READERS, AgentTables
from varve.usecases.operate.agents import list_agent_names
from varve.usecases.session import Session


def query_workspace(
    session: Session, sql: str, open_stage: OpenStage, limits: QueryLimits
) -> QueryResult:
    """Run one SELECT over the workspace's tables; only those that it names are loaded.

    The session must be the owner's. Raises Rejected: field `sql`, with the reason or the
    limit that was exceeded; Retryable.
    """
    named = find_named_tables(valid_text(sql, "sql"))
    with open_stage() as stage:
        for agent in _open_agents(session):
            tables = AgentTables(agent)
            for table in named:
                stage.add(agent.scope, table, READERS[table.name](tables))
        return stage.query(sql, limits)


def _open_agents(session: Session) -> Iterator[Session]:
    """Yield a session of each agent of the workspace, by name."""
    workspace = session.scope.workspace
    for name in list_agent_names(session):
        yield replace(session, scope=Scope(workspace, name))
