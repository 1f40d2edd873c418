"""Dead letters that hold forgotten data: dropped, or told of."""

from collections.abc import Mapping

from varve.domain.erasure import Tombstones
from varve.domain.errors import Misconfigured, Retryable
from varve.domain.identity import Scope
from varve.messages.erasure import forgotten_share
from varve.ports.queues import DeadLetterBox
from varve.usecases.erasure import tombstones
from varve.usecases.session import Session


def drop_letters(
    session: Session, boxes: Mapping[str, DeadLetterBox]
) -> list[str]:
    """Drop the dead letters that hold only forgotten data; return notes on them."""
    barred = tombstones.load(session.scope, objects=session.objects)
    dropped: list[str] = []
    mixed: set[str] = set()
    notes = []
    for queue, box in boxes.items():
        try:
            _drop_from(box, session.scope, barred, dropped, mixed)
        except (Misconfigured, Retryable) as error:
            # The erasure itself is done, and its receipt must be written.
            notes.append(
                f"THE DEAD LETTERS OF {queue.upper()} COULD NOT BE LOOKED AT: {error}"
            )
    if dropped:
        notes.append(f"{len(dropped)} dead letters were dropped.")
    if mixed:
        notes.append(
            f"{len(mixed)} dead letters hold what others said as well and are left: "
            "redrive them, and only that is taken in, or drop them (varve dlq)."
        )
    return notes


def _drop_from(
    box: DeadLetterBox,
    scope: Scope,
    barred: Tombstones,
    dropped: list[str],
    mixed: set[str],
) -> None:
    """Drop one queue's letters; add their ids to `dropped`, and of mixed ones to `mixed`."""
    # Ten letters of a group are visible at a time: dropping them uncovers others.
    while True:
        whole: list[str] = []
        for letter in box.letters():
            share = forgotten_share(letter.body, scope, barred)
            if share == "all":
                whole.append(letter.id)
            elif share == "some":
                mixed.add(letter.id)
        if not whole:
            return
        gone = box.drop(whole)
        if not gone:
            return
        dropped += gone
