"""The published files: its folders, the manifest of an agent, the targets of a workspace."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from varve.domain.analytics import SCHEMA_VERSION, TABLES
from varve.domain.identity import Scope

MANIFESTS = "_varve"
"""The folder of manifests; engines skip a name that begins with an underscore."""
SCHEMA_KEY = f"{MANIFESTS}/schema.json"


def manifest_key(scope: Scope) -> str:
    """Return the key of an agent's manifest at a target."""
    return f"{MANIFESTS}/{scope}.json"


def agent_folder(scope: Scope) -> str:
    """Return the folder of an agent's files at a target."""
    return f"workspace={scope.workspace}/agent={scope.agent}"


def partition_folder(scope: Scope, table: str, month: str) -> str:
    """Return the folder of a partition, which has one file."""
    return f"{agent_folder(scope)}/type={table}/month={month}"


@dataclass(frozen=True, slots=True)
class AgentManifest:
    """The files of one agent at a target, with the rows of each, by key.

    `states` has for each table a hash of what its rows were made of, and `schema` is the
    version of the tables. While a run replaces the files, `run` names it.
    """

    states: Mapping[str, str]
    published_at: str
    files: Mapping[str, int]
    schema: int = SCHEMA_VERSION
    run: str = ""

    def is_current(self, table: str, state: str) -> bool:
        """Return whether a table's files are those of the stores in this state."""
        is_whole = not self.run and self.schema == SCHEMA_VERSION
        return is_whole and self.states.get(table) == state

    def files_without(self, tables: Iterable[str]) -> dict[str, int]:
        """Return the files of all but these tables."""
        types = tuple(f"/type={table}/" for table in tables)
        others: dict[str, int] = {}
        for key, rows in self.files.items():
            if not any(type_ in key for type_ in types):
                others[key] = rows
        return others

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values; the inverse of `manifest_from_json`."""
        return {
            "schemaVersion": self.schema,
            "publishedAt": self.published_at,
            "states": dict(sorted(self.states.items())),
            "run": self.run,
            "files": dict(sorted(self.files.items())),
        }


def manifest_from_json(value: Mapping[str, Any]) -> AgentManifest:
    """Return the manifest of JSON values.

    Raises KeyError, TypeError, ValueError: not such values.
    """
    files = {str(key): int(rows) for key, rows in value["files"].items()}
    return AgentManifest(
        states={
            str(name): str(state) for name, state in value["states"].items()
        },
        published_at=str(value["publishedAt"]),
        files=files,
        schema=int(value["schemaVersion"]),
        run=str(value["run"]),
    )


def schema_as_json() -> dict[str, Any]:
    """Return the tables with their columns as JSON values."""
    tables = {}
    for table in TABLES.values():
        columns = [
            {"name": one.name, "type": str(one.type), "meaning": one.meaning}
            for one in table.columns
        ]
        tables[table.name] = {
            "meaning": table.meaning,
            "monthOf": table.time,
            "columns": columns,
        }
    return {"schemaVersion": SCHEMA_VERSION, "tables": tables}


@dataclass(frozen=True, slots=True)
class Targets:
    """Where a workspace is published.

    `owed` has for each target the agents of whose files an erasure may not have reached
    all: they must be written again.
    """

    owed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def with_target(self, target: str) -> "Targets":
        """Return these targets and one more."""
        return replace(self, owed={target: frozenset(), **self.owed})

    def without_target(self, target: str) -> "Targets":
        """Return these targets without one."""
        kept = {
            name: owed for name, owed in self.owed.items() if name != target
        }
        return replace(self, owed=kept)

    def owing(self, agent: str) -> "Targets":
        """Return these targets, with the agent owed at each."""
        owed = {name: agents | {agent} for name, agents in self.owed.items()}
        return replace(self, owed=owed)

    def settled(self, target: str, agent: str) -> "Targets":
        """Return these targets, with the agent owed no more at one of them."""
        left = self.owed.get(target, frozenset()) - {agent}
        return replace(self, owed={**self.owed, target: left})

    def as_json(self) -> dict[str, Any]:
        """Return them as JSON values; the inverse of `targets_from_json`."""
        owed = {name: sorted(agents) for name, agents in self.owed.items()}
        return {"targets": owed}


def targets_from_json(value: Mapping[str, Any]) -> Targets:
    """Return the targets of JSON values.

    Raises AttributeError, KeyError, TypeError: not such values.
    """
    owed = {
        str(name): frozenset(agents)
        for name, agents in value["targets"].items()
    }
    return Targets(owed)
