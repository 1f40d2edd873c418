"""What models were asked for: requests and tokens, counted over all clients of one process."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Usage:
    """Requests answered, and tokens as the provider counts them; one that tells none adds none."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, usage: Any) -> None:
        """Count one answer by its `usage`: `prompt_tokens` and `completion_tokens` as attributes, or None."""
        self.calls += 1
        self.prompt_tokens += getattr(usage, "prompt_tokens", None) or 0
        self.completion_tokens += getattr(usage, "completion_tokens", None) or 0

    def taken(self) -> "Usage":
        """What was counted since this was last asked; the count begins anew."""
        taken = Usage(self.calls, self.prompt_tokens, self.completion_tokens)
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        return taken
