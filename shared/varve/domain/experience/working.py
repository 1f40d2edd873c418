"""One request's scratch state, in process, never stored."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class WorkingMemory:
    """What a request has found and done so far, and what it may still spend."""

    max_tokens: int | None = None
    max_tool_calls: int | None = None
    findings: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    tokens: int = 0
    tool_calls: int = 0

    def find(self, finding: str) -> bool:
        """Note a finding. False: it was noted before."""
        if finding in self.findings:
            return False
        self.findings.append(finding)
        return True

    def done(self, step: str, *, tokens: int = 0, tool_calls: int = 0) -> None:
        """Note a step and what it cost. Raises ValueError: a cost below 0."""
        if tokens < 0 or tool_calls < 0:
            raise ValueError("a step costs nothing or something, never less")
        self.steps.append(step)
        self.tokens += tokens
        self.tool_calls += tool_calls

    def within_budget(self, tokens: int = 0, tool_calls: int = 0) -> bool:
        """Whether so much more may be spent; a budget that was not set never ends."""
        tokens_left = self.max_tokens is None or self.tokens + tokens <= self.max_tokens
        return tokens_left and (
            self.max_tool_calls is None
            or self.tool_calls + tool_calls <= self.max_tool_calls
        )
