"""The use of models: requests and tokens, counted over all clients of one process."""

from dataclasses import dataclass
from typing import Any


@dataclass
class ModelUsage:
    """Answered requests, and tokens as the provider counts them.

    A provider that reports no tokens adds none.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """The tokens of prompts and completions."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, usage: Any) -> None:
        """Count one answer.

        `usage` is None or has `prompt_tokens` and `completion_tokens` as attributes.
        """
        self.calls += 1
        self.prompt_tokens += getattr(usage, "prompt_tokens", None) or 0
        self.completion_tokens += getattr(usage, "completion_tokens", None) or 0

    def take(self) -> "ModelUsage":
        """Return the counts since the last call, and reset them to zero."""
        taken = ModelUsage(self.calls, self.prompt_tokens, self.completion_tokens)
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        return taken
