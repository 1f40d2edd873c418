"""Errors, named by what the caller must do.

VarveError
├── Retryable       try again later: the outside world failed, nothing is wrong with the request
├── Rejected        this input can never succeed: names the field and the reason
└── Misconfigured   an operator must change something: names the setting
"""


class VarveError(Exception):
    """Base of everything this library raises on purpose."""


class Retryable(VarveError):
    """The outside world failed; the same call may succeed later."""


class Rejected(VarveError):
    """The input can never succeed.

    `field` is the path to the faulty value as the caller wrote it (`messages[0].role`),
    `reason` says what is wrong with it.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class Misconfigured(VarveError):
    """A setting, a workspace configuration or an endpoint must be changed by its operator."""
