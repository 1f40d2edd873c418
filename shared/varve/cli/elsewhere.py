"""Where memory is, if the memory that a command names holds nothing."""

from collections.abc import Iterator

from varve.api.memory import Memory
from varve.cli.output import format_count, list_some, say
from varve.domain.identity import Scope

MAX_NAMES = 8
"""Agents that a remark names; the others are counted."""


def name_other_memories(memory: Memory) -> None:
    """Say which agents of the store hold memories, if this memory holds none.

    Other workspaces are named only for a directory, which is a person's own.
    """
    scope = memory.scope
    held = _count_records(memory)
    if held.get(scope.agent):
        return
    names = [*_name_agents(scope.workspace, held), *_name_elsewhere(memory)]
    if names:
        say(
            f"{scope} is empty. These agents are not: {list_some(names, MAX_NAMES)}"
        )


def _count_records(memory: Memory) -> dict[str, int]:
    """Return the number of records by agent of the memory's workspace."""
    return {agent["agentId"]: agent["records"] for agent in memory.agents()}


def _name_agents(workspace: str, held: dict[str, int]) -> Iterator[str]:
    for agent, records in held.items():
        if records:
            yield f"{workspace}/{agent} ({format_count(records, 'record')})"


def _name_elsewhere(memory: Memory) -> Iterator[str]:
    """Yield the agents of the store's other workspaces."""
    if not memory.is_directory:
        return
    for workspace in memory.workspaces():
        if workspace == memory.scope.workspace:
            continue
        other = Memory(memory.sessions, Scope(workspace, memory.scope.agent))
        held = _count_records(other)
        yield from _name_agents(workspace, held)
