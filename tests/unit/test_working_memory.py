"""One request's scratch state: findings once each, steps with their cost, and a budget."""

from __future__ import annotations

import pytest

from varve.domain.experience.working import WorkingMemory


def test_a_finding_is_noted_once() -> None:
    memory = WorkingMemory()
    assert [memory.find("the pool is full"), memory.find("the pool is full")] == [
        True,
        False,
    ]
    assert memory.findings == ["the pool is full"]


def test_steps_add_up_until_the_budget_is_spent() -> None:
    memory = WorkingMemory(max_tokens=100, max_tool_calls=2)
    memory.done("read the log", tokens=60, tool_calls=1)
    memory.done("think")
    assert (memory.steps, memory.tokens, memory.tool_calls) == (
        ["read the log", "think"],
        60,
        1,
    )
    assert memory.within_budget(tokens=40, tool_calls=1)
    assert not memory.within_budget(tokens=41)
    assert not memory.within_budget(tool_calls=2)


def test_without_a_budget_nothing_is_refused() -> None:
    assert WorkingMemory().within_budget(tokens=10**9, tool_calls=10**9)


@pytest.mark.parametrize("cost", [{"tokens": -1}, {"tool_calls": -1}])
def test_a_step_with_a_negative_cost_is_refused_and_not_recorded(
    cost: dict[str, int],
) -> None:
    memory = WorkingMemory()
    with pytest.raises(ValueError, match="must not be negative"):
        memory.done("cheat", **cost)
    assert memory == WorkingMemory()
