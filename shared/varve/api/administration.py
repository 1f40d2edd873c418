"""What an operator does with a whole deployment rather than with one agent's memory."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.workspace import WorkspaceConfig
from varve.ports.queues import DeadLetterBox, Letter
from varve.usecases.dead_letters import describe_letter
from varve.wiring.sessions import Sessions

QUEUES = ("ingest", "write", "summary")


class Administration:
    """The operator's verbs over the store and the queues that the settings name.

    >>> administration = Administration.open("s3://bucket/memory")
    >>> administration.dead_letters()
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> "Administration":
        """Open it over a store root and an environment, by default the process's.

        Raises Misconfigured.
        """
        return cls(Sessions.from_environment(store, environment=environment))

    @property
    def queues(self) -> tuple[str, ...]:
        """The queues that the settings name, of `QUEUES`; none on a laptop, where nothing lies between."""
        return tuple(self._sessions.dead_letter_boxes)

    def dead_letters(self, queue: str | None = None) -> list[dict[str, Any]]:
        """All dead letters, or one queue's, as JSON values: ids, sizes and reasons, no content.

        Nothing is taken away. Raises Rejected: no such queue. Raises Retryable, Misconfigured.
        """
        return [self._shown(name, letter) for name, letter in self._letters(queue)]

    def dead_letter(self, id_: str, *, content: bool = False) -> dict[str, Any]:
        """One of them, with `content` the message too, its secrets left out. Raises Rejected: not there."""
        for name, letter in self._letters(None):
            if letter.id == id_:
                return self._shown(name, letter, content=content)
        raise Rejected(
            "ID",
            f"there is no dead letter {id_[:128]!r} among the first ten of each group",
        )

    def redrive(
        self, ids: Collection[str] | None = None, queue: str | None = None
    ) -> list[str]:
        """Send them, or all (of one queue), back to where they came from; the ids of those that were.

        Raises Rejected: one of the ids is not there; the others have been sent.
        """
        return self._each("redrive", ids, queue)

    def drop(
        self, ids: Collection[str] | None = None, queue: str | None = None
    ) -> list[str]:
        """Remove them, or all (of one queue), for good; the ids of those that were.

        Raises Rejected: one of the ids is not there; the others are gone.
        """
        return self._each("drop", ids, queue)

    def _each(
        self, verb: str, ids: Collection[str] | None, queue: str | None
    ) -> list[str]:
        done: list[str] = []
        for _, box in self._boxes(queue):
            # Of each group ten are seen at a time, so that all of them take several rounds.
            while chosen := _chosen(box, ids):
                moved = getattr(box, verb)(chosen)
                done += moved
                if ids is not None or not moved:
                    break
        missing = sorted(set(ids or ()) - set(done))
        if missing:
            raise Rejected(
                "ID",
                f"there is no dead letter {', '.join(missing)[:256]}; done: {len(done)}",
            )
        return done

    def _letters(self, queue: str | None) -> list[tuple[str, Letter]]:
        return [
            (name, letter)
            for name, box in self._boxes(queue)
            for letter in box.letters()
        ]

    def _boxes(self, queue: str | None) -> list[tuple[str, DeadLetterBox]]:
        boxes = self._sessions.dead_letter_boxes
        if queue is not None and queue not in boxes:
            raise Rejected(
                "queue",
                f"{queue[:40]!r} is not one of the queues there are: {', '.join(boxes) or 'none'}",
            )
        return [(name, box) for name, box in boxes.items() if queue in (None, name)]

    def _shown(
        self, queue: str, letter: Letter, *, content: bool = False
    ) -> dict[str, Any]:
        secretless = self._sessions.models.privacy(WorkspaceConfig(), "any")
        return describe_letter(queue, letter, secretless, content=content)


def _chosen(box: DeadLetterBox, ids: Collection[str] | None) -> list[str]:
    there = [letter.id for letter in box.letters()]
    return there if ids is None else [id_ for id_ in there if id_ in ids]
