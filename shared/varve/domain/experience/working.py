"""The scratch state of one request, in memory only."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class WorkingMemory:
    """The findings and steps of a request, with its costs and its budget."""

    max_tokens: int | None = None
    max_tool_calls: int | None = None
    findings: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    tokens: int = 0
    tool_calls: int = 0

    def find(self, finding: str) -> bool:
        """Note a finding; return False if it was noted before."""
        if finding in self.findings:
            return False
        self.findings.append(finding)
        return True

    def done(self, step: str, *, tokens: int = 0, tool_calls: int = 0) -> None:
        """Note a step with its cost. Raises ValueError: the cost is negative."""
        if tokens < 0 or tool_calls < 0:
            raise ValueError("tokens and tool calls must not be negative")
        self.steps.append(step)
        self.tokens += tokens
        self.tool_calls += tool_calls

    def within_budget(self, tokens: int = 0, tool_calls: int = 0) -> bool:
        """Return whether this much more may be spent; without a budget, always."""
        total_tokens = self.tokens + tokens
        total_calls = self.tool_calls + tool_calls
        return _fits(total_tokens, self.max_tokens) and _fits(
            total_calls, self.max_tool_calls
        )


def _fits(amount: int, limit: int | None) -> bool:
    return limit is None or amount <= limit
