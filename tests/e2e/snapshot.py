"""What memory holds, but for the times of learning and asking: two runs can be compared by it."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow.parquet as pq

from tests.support.deployment import Deployment

LEARNT = {"created_at", "createdAt", "expired_at", "expiredAt"}
ASKED = {"score", "why"}


def snapshot(
    deployment: Deployment, workspace: str, *agents: str
) -> dict[str, Any]:
    """Records, triples and the timeline of a workspace's agents."""
    return {
        agent: {
            "records": records(deployment, workspace, agent),
            "count": deployment.search(workspace, agent)["searched"][
                "records"
            ],
            "triples": triples(deployment, workspace, agent),
            "timeline": timeline(deployment, workspace, agent),
        }
        for agent in agents
    }


def records(
    deployment: Deployment, workspace: str, agent: str
) -> list[dict[str, Any]]:
    """All statements of an agent, newest first, as SearchFunction gives them."""
    answer = deployment.search(workspace, agent, maxResults=100)
    return [without(result, LEARNT | ASKED) for result in answer["results"]]


def list_ids(results: list[dict[str, Any]]) -> list[str]:
    """Return the ids of all records in these results, those folded into another first."""
    folded = [id_ for result in results for id_ in result["alsoIn"]]
    return folded + [result["id"] for result in results]


def triples(
    deployment: Deployment, workspace: str, agent: str
) -> list[dict[str, Any]]:
    """The rows of an agent's facts.parquet."""
    data = deployment.read(
        f"{deployment.root}graphs/{workspace}/{agent}/facts.parquet"
    )
    rows = pq.read_table(io.BytesIO(data)).to_pylist()
    parsed = [
        {**row, "properties": json.loads(row["properties"])} for row in rows
    ]
    return [without(row, LEARNT) for row in parsed]


def timeline(deployment: Deployment, workspace: str, agent: str) -> list[str]:
    """The names of an agent's timeline objects; they are immutable and named by their content."""
    prefix = f"{deployment.root}timeline/{workspace}/{agent}/"
    return [key.removeprefix(prefix) for key in deployment.keys(prefix)]


def contents(deployment: Deployment, workspace: str, agent: str) -> set[str]:
    return {
        result["content"] for result in records(deployment, workspace, agent)
    }


def without(value: Any, names: set[str]) -> Any:
    """The value with these keys left out at every depth."""
    if isinstance(value, dict):
        return {
            key: without(each, names)
            for key, each in value.items()
            if key not in names
        }
    return (
        [without(each, names) for each in value]
        if isinstance(value, list)
        else value
    )
