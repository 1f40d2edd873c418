"""Which triples and attributes are corrected or forgotten, and when the others were confirmed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from varve.domain.calendar import Grain, moment
from varve.domain.mention import in_words
from varve.domain.profile import DEFAULT_USER, ProfileEntry
from varve.domain.search.columns import Columns
from varve.domain.search.row import Message
from varve.domain.statements.confirmed_places import find_confirmations
from varve.domain.statements.standing import Standings
from varve.domain.triple import Triple
from varve.usecases.find import Stock, read_columns
from varve.usecases.forgotten_statements import RequestScan

Parts = dict[str, tuple[Message, str]]
"""By key, a message and the words that were drawn from it."""


def drop_superseded_attributes(
    statements: Sequence[ProfileEntry], stock: Stock
) -> list[ProfileEntry]:
    """Return the profile's statements that no message corrects or asks to forget."""
    parts = _list_parts(statements)
    dropped = _find_dropped(parts, stock)
    owned = [
        (one.id, _real_user(one.user_id), one.event_time) for one in statements
    ]
    dropped |= _find_of_forgotten_users(owned, parts, stock)
    return [one for one in statements if one.id not in dropped]


def _real_user(user: str) -> str | None:
    return None if user == DEFAULT_USER else user


def find_doubtful_attributes(
    statements: Sequence[ProfileEntry], stock: Stock
) -> frozenset[str]:
    """Return the ids of the profile's statements that a later message likely supersedes.

    No question judges them, so that each prompt gets the same answer.
    """
    parts = _list_parts(statements)
    columns = _read_columns(stock) if parts else None
    if columns is None:
        return frozenset()
    standings = Standings(columns, told=stock.told)
    return standings.find_likely_superseded(parts)


def confirm_attributes(
    confirmed: Mapping[str, datetime],
    statements: Sequence[ProfileEntry],
    stock: Stock,
) -> dict[str, datetime]:
    """Return when statements of the profile were last confirmed, by later messages too."""
    return _confirm(confirmed, _list_parts(statements), stock)


def confirm_triples(
    confirmed: Mapping[str, datetime], held: Sequence[Triple], stock: Stock
) -> dict[str, datetime]:
    """Return when triples were last confirmed, by messages that state no triple too."""
    return _confirm(confirmed, _list_triples(held), stock)


def _confirm(
    confirmed: Mapping[str, datetime], parts: Parts, stock: Stock
) -> dict[str, datetime]:
    latest = dict(confirmed)
    columns = read_columns(stock, Grain.WORKING) if parts else None
    if columns is None or not len(columns):
        return latest
    standings = Standings(columns, told=stock.told)
    for key, time in find_confirmations(standings, parts).items():
        latest[key] = max(latest[key], moment(time))
    return latest


def _list_parts(statements: Sequence[ProfileEntry]) -> Parts:
    parts: Parts = {}
    for statement in statements:
        words = f"{statement.key.replace('_', ' ')} {statement.value}"
        for message in statement.message_ids[:1]:
            parts[statement.id] = ((statement.conversation_id, message), words)
    return parts


def drop_superseded_triples(
    held: Sequence[Triple], stock: Stock
) -> list[Triple]:
    """Return the triples that no message corrects or asks to forget."""
    parts = _list_triples(held)
    dropped = _find_dropped(parts, stock)
    told = [(one.id, one.evidence[-1]) for one in held]
    owned = [(id_, one.user_id, one.event_time) for id_, one in told]
    dropped |= _find_of_forgotten_users(owned, parts, stock)
    return [triple for triple in held if triple.id not in dropped]


def _list_triples(held: Sequence[Triple]) -> Parts:
    parts: Parts = {}
    for triple in held:
        told = triple.evidence[-1]
        for message in told.message_ids[:1]:
            parts[triple.id] = (
                (told.conversation_id, message),
                in_words(triple),
            )
    return parts


def _find_dropped(parts: Parts, stock: Stock) -> frozenset[str]:
    """Return the keys of the parts whose messages were corrected, or that are forgotten.

    Profile and graph end a value by their own rules; a statement that is only likely to
    supersede ends none of theirs. A store too large to load answers with none.
    """
    columns = _read_columns(stock) if parts else None
    if columns is None:
        return frozenset()
    corrected = Standings(columns, told=stock.told).find_corrected(parts)
    return corrected | columns.derive(RequestScan).find_told(parts)


def _find_of_forgotten_users(
    owned: Iterable[tuple[str, str | None, datetime]],
    parts: Parts,
    stock: Stock,
) -> frozenset[str]:
    """Return the keys of what users told before they asked to forget all of it.

    `owned` has each key with its user and time. What a turn in memory states is left to
    its own time: "since 2019" may be told today.
    """
    columns = _read_columns(stock)
    if columns is None:
        return frozenset()
    scan = columns.derive(RequestScan)
    if not scan.found:
        return frozenset()
    held = Standings(columns, told=stock.told).find_turns(parts)
    return frozenset(
        key
        for key, user, at in owned
        if key not in held and scan.is_of_user(user, at)
    )


def _read_columns(stock: Stock) -> Columns | None:
    """Return the agent's statements; None: there are none, or too many to load."""
    columns = stock.columns(Grain.WORKING)
    if not isinstance(columns, Columns) or not len(columns):
        return None
    return columns
