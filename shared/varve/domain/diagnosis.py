"""What an examination of a deployment found."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Health(StrEnum):
    """The state of one part of a deployment."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part, why, and a command or step that mends it."""

    part: str
    health: Health
    told: str
    remedy: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "part": self.part,
            "health": str(self.health),
            "told": self.told,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, in the order of the parts."""

    findings: tuple[Finding, ...]

    @property
    def failed(self) -> int:
        """How many parts failed."""
        return sum(one.health is Health.FAILED for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        findings = [one.to_dict() for one in self.findings]
        return {"failed": self.failed, "findings": findings}
