"""Operations on a whole deployment: its dead letters."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from varve.api.arguments import checks_arguments
from varve.domain.errors import Rejected
from varve.domain.workspace import WorkspaceConfig
from varve.ports.queues import DeadLetterBox, Letter
from varve.usecases.operate.dead_letters import describe_letter
from varve.wiring.sessions import Sessions

Act = Callable[[DeadLetterBox, list[str]], list[str]]


@checks_arguments
class Administration:
    """An operator's access to the dead letters of the queues that the settings name.

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
        """The names of the configured queues; none if the process works without a queue."""
        return tuple(self._sessions.dead_letter_boxes)

    def dead_letters(self, queue: str | None = None) -> list[dict[str, Any]]:
        """Return all dead letters, or one queue's: ids, sizes and reasons, no content.

        The letters stay. Raises Rejected: no such queue; Retryable, Misconfigured.
        """
        return [
            self._as_json(name, letter)
            for name, letter in self._letters(queue)
        ]

    def dead_letter(
        self, id_: str, *, content: bool = False
    ) -> dict[str, Any]:
        """Return one letter; with `content` its message too, without secrets.

        Raises Rejected: there is no such letter.
        """
        for name, letter in self._letters(None):
            if letter.id == id_:
                return self._as_json(name, letter, content=content)
        raise Rejected(
            "ID",
            f"there is no dead letter {id_[:128]!r} among the first ten of each group",
        )

    def redrive(
        self, ids: Collection[str] | None = None, queue: str | None = None
    ) -> list[str]:
        """Send letters, by default all of a queue or of all, back to their queues.

        Return their ids. Raises Rejected: an id is not there; the others have been sent.
        """
        return self._each(lambda box, chosen: box.redrive(chosen), ids, queue)

    def drop(
        self, ids: Collection[str] | None = None, queue: str | None = None
    ) -> list[str]:
        """Delete letters, by default all of a queue or of all.

        Return their ids. Raises Rejected: an id is not there; the others are gone.
        """
        return self._each(lambda box, chosen: box.drop(chosen), ids, queue)

    def _each(
        self, act: Act, ids: Collection[str] | None, queue: str | None
    ) -> list[str]:
        done: list[str] = []
        for _, box in self._boxes(queue):
            done += (
                _act_on_all(act, box) if ids is None else _act(act, box, ids)
            )
        missing = sorted(set(ids or ()) - set(done))
        if missing:
            names = ", ".join(missing)[:256]
            raise Rejected(
                "ID", f"there is no dead letter {names}; done: {len(done)}"
            )
        return done

    def _letters(self, queue: str | None) -> list[tuple[str, Letter]]:
        letters: list[tuple[str, Letter]] = []
        for name, box in self._boxes(queue):
            letters += [(name, letter) for letter in box.letters()]
        return letters

    def _boxes(self, queue: str | None) -> list[tuple[str, DeadLetterBox]]:
        boxes = self._sessions.dead_letter_boxes
        if queue is not None and queue not in boxes:
            names = ", ".join(boxes) or "none"
            raise Rejected(
                "queue",
                f"{queue[:40]!r} is not one of the queues there are: {names}",
            )
        return [
            (name, box) for name, box in boxes.items() if queue in (None, name)
        ]

    def _as_json(
        self, queue: str, letter: Letter, *, content: bool = False
    ) -> dict[str, Any]:
        secretless = self._sessions.models.privacy(WorkspaceConfig(), "any")
        return describe_letter(queue, letter, secretless, content=content)


def _act(act: Act, box: DeadLetterBox, ids: Collection[str]) -> list[str]:
    chosen = [letter.id for letter in box.letters() if letter.id in ids]
    return act(box, chosen) if chosen else []


def _act_on_all(act: Act, box: DeadLetterBox) -> list[str]:
    """Act on every letter, in rounds: a box shows ten letters of a group at a time."""
    done: list[str] = []
    while True:
        there = [letter.id for letter in box.letters()]
        moved = act(box, there) if there else []
        if not moved:
            return done
        done += moved
