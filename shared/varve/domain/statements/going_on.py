"""Which later statements may supersede an earlier one, where some only say that it goes on."""

from collections.abc import Sequence

from varve.domain.statements.confirming import CONFIRMING, Again
from varve.domain.statements.paired import StoreStatements


def list_superseding(
    row: int, later: Sequence[int], store: StoreStatements
) -> list[int]:
    """Return those of a statement's later ones that may supersede it.

    What was told before "as I said, I live in Vigo" did not end "I live in Vigo". What only
    confirms another of the later ones supersedes no more than that one does.
    """
    confirming = [
        other for other in later if store.read(other).cues.has(CONFIRMING)
    ]
    if not confirming:
        return list(later)
    told_again = [
        other for other in confirming if _confirms(row, other, store)
    ]
    kept: list[int] = []
    for other in later:
        is_outlived = any(store.is_later(other, one) for one in told_again)
        is_again = other in confirming and any(
            _confirms(one, other, store) for one in later
        )
        if not is_outlived and not is_again:
            kept.append(other)
    return kept


def _confirms(row: int, other: int, store: StoreStatements) -> bool:
    """Return whether a later statement says in its words that a row goes on."""
    if not store.is_later(row, other):
        return False
    return store.compare_tellings(row, other) is Again.IN_WORDS
