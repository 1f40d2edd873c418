"""Which triples and attributes are corrected or forgotten, and when the others were confirmed."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from varve.domain.calendar import Grain, moment
from varve.domain.mention import in_words
from varve.domain.profile import DEFAULT_USER, ProfileEntry
from varve.domain.search.columns import Columns
from varve.domain.search.row import MessageKey
from varve.domain.statements.forgetting.forgotten import (
    Drawn,
    find_first_message,
)
from varve.domain.statements.standings.confirmed_places import (
    find_confirmations,
)
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.texts.sentences import tell_attribute
from varve.domain.triple import Triple
from varve.usecases.forget.asked_triples import find_last_statement
from varve.usecases.forget.forgotten_statements import (
    RequestScan,
    read_forgotten_words,
)
from varve.usecases.search.find import Stock, read_columns

Parts = dict[str, tuple[MessageKey, str]]
"""By key, a message and the words that were drawn from it."""


def drop_superseded_attributes(
    statements: Sequence[ProfileEntry], stock: Stock
) -> list[ProfileEntry]:
    """Return the profile's statements that no message corrects or asks to forget."""
    drawn = {one.id: draw_attribute(one) for one in statements}
    dropped = _find_dropped(_list_parts(statements), drawn, stock)
    return [one for one in statements if one.id not in dropped]


def draw_attribute(entry: ProfileEntry) -> Drawn:
    """Return what states a profile's statement."""
    return Drawn(
        message=find_first_message(entry.conversation_id, entry.message_ids),
        words=_describe(entry),
        say=lambda _: tell_attribute(entry.key, entry.value),
        user=None if entry.user_id == DEFAULT_USER else entry.user_id,
        at=entry.event_time,
    )


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
        words = _describe(statement)
        for message in statement.message_ids[:1]:
            parts[statement.id] = ((statement.conversation_id, message), words)
    return parts


def _describe(entry: ProfileEntry) -> str:
    return f"{entry.key.replace('_', ' ')} {entry.value}"


def drop_superseded_triples(
    held: Sequence[Triple], stock: Stock
) -> list[Triple]:
    """Return the triples that no message corrects or asks to forget."""
    told = {one.id: find_last_statement(one) for one in held}
    drawn = {key: one for key, one in told.items() if one is not None}
    dropped = _find_dropped(_list_triples(held), drawn, stock)
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


def _find_dropped(
    parts: Parts, drawn: Mapping[str, Drawn], stock: Stock
) -> frozenset[str]:
    """Return the keys of what a message corrects, or a request to forget names.

    Profile and graph end a value by their own rules; a statement that is only likely to
    supersede ends none of theirs. No message of a store too large to load corrects any.
    """
    if not drawn:
        return frozenset()
    columns = stock.columns(Grain.WORKING)
    corrected: frozenset[str] = frozenset()
    if isinstance(columns, Columns):
        if len(columns):
            standings = Standings(columns, told=stock.told)
            corrected = standings.find_corrected(parts)
        asked = columns.derive(RequestScan).words
    else:
        asked = read_forgotten_words(stock.scope, stock.reader)
    return corrected | {
        key
        for key, one in drawn.items()
        if any(request.names(one) for request in asked)
    }


def _read_columns(stock: Stock) -> Columns | None:
    """Return the agent's statements; None: there are none, or too many to load."""
    columns = stock.columns(Grain.WORKING)
    if not isinstance(columns, Columns) or not len(columns):
        return None
    return columns
