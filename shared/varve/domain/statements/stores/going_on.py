"""Which later statements may supersede an earlier one, where some only say that it goes on."""

from collections.abc import Sequence

from varve.domain.statements.pairs.confirming import CONFIRMING, Again
from varve.domain.statements.stores.paired import StoreStatements


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
    told_again = [
        other for other in confirming if _confirms(row, other, store)
    ]
    only_again = _find_repeating(confirming, later, store)
    return [
        other
        for other in later
        if other not in only_again and not _is_before(other, told_again, store)
    ]


def _find_repeating(
    confirming: Sequence[int], later: Sequence[int], store: StoreStatements
) -> set[int]:
    """Return the confirmations that confirm one of the later statements."""
    return {
        other
        for other in confirming
        if any(_confirms(one, other, store) for one in later)
    }


def _is_before(
    row: int, others: Sequence[int], store: StoreStatements
) -> bool:
    return any(store.is_later(row, other) for other in others)


def _confirms(row: int, other: int, store: StoreStatements) -> bool:
    """Return whether a later statement says in its words that a row goes on."""
    if not store.is_later(row, other):
        return False
    return store.compare_tellings(row, other) is Again.IN_WORDS
