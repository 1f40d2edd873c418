"""Erasure of published files: files are written again without the subject, then searched."""

from dataclasses import dataclass
from typing import Any

from varve.domain.errors import VarveError
from varve.ports.objects import Objects
from varve.usecases.analytics.publish import (
    PublishingTools,
    PublishOutcome,
    republish,
    require_there,
    settle,
)
from varve.usecases.analytics.targets import change_targets, read_targets
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class PublishedErasure:
    """What an erasure did at one target: the files it wrote and dropped.

    `fault` says why it could not reach all of the agent's files; None: it did.
    """

    target: str
    files: int = 0
    fault: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "target": self.target,
            "reached": self.fault is None,
            "files": self.files,
        }

    @property
    def note(self) -> str:
        """What a person must know of a target that was not reached."""
        return (
            f"PUBLISHED FILES WERE NOT REACHED at {self.target} ({self.fault}). They may "
            "hold erased words. Run the same erasure again when it can be reached."
        )


@dataclass(frozen=True, slots=True)
class PublishedCopies:
    """What an erasure did at each target of the workspace."""

    done: tuple[PublishedErasure, ...]

    @property
    def not_reached(self) -> list[str]:
        """The targets at which files may hold erased words."""
        return [one.target for one in self.done if one.fault is not None]

    @property
    def complete(self) -> bool:
        """Whether all targets were reached."""
        return not self.not_reached

    @property
    def notes(self) -> list[str]:
        """What a person must know of the targets that were not reached."""
        return [one.note for one in self.done if one.fault is not None]

    def open(self, tools: PublishingTools) -> dict[str, Objects]:
        """Return the objects of the targets that were reached, to be searched."""
        return {
            one.target: tools.open_target(one.target)
            for one in self.done
            if one.fault is None
        }


def owe(session: Session) -> None:
    """Note that the agent's files at every target must be written again. Raises Retryable."""
    agent = session.scope.agent
    change_targets(
        session.scope.workspace,
        lambda known: known.owing(agent),
        objects=session.objects,
    )


def owes(session: Session) -> bool:
    """Return whether an earlier erasure has not reached all of the agent's files."""
    known = read_targets(session.scope.workspace, objects=session.objects)
    return any(session.scope.agent in agents for agents in known.owed.values())


def erase_copies(
    session: Session, tools: PublishingTools, *, complete: bool
) -> PublishedCopies:
    """Write the agent's files again at every target that has some.

    With `complete` the stores hold nothing of the subject any more, so a target that was
    reached owes nothing. A target's failure is in its result, and the others go on.
    """
    known = read_targets(session.scope.workspace, objects=session.objects)
    done: list[PublishedErasure] = []
    for target in known.owed:
        result = _erase_at(session, target, tools)
        if complete and result.fault is None:
            settle(session, target, session.scope.agent)
        done.append(result)
    return PublishedCopies(tuple(done))


def _erase_at(
    session: Session, target: str, tools: PublishingTools
) -> PublishedErasure:
    outcome = PublishOutcome(target)
    try:
        place = tools.open_target(target)
        require_there(place, target)
        republish(session, place, tools, outcome)
    except VarveError as error:
        return PublishedErasure(target, fault=str(error))
    return PublishedErasure(target, outcome.written + outcome.dropped)
