"""Read records by id, or page by page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from varve.domain.calendar import SUMMARY_GRAINS, Period
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, reference
from varve.domain.listing import (
    ListPlace,
    ListRequest,
    RecordPage,
    StoredRecord,
)
from varve.domain.record import GRAINS, Record, Store, StoreName
from varve.domain.search.query import Filter, window
from varve.domain.summary import NO_WORDS
from varve.domain.validation import valid_text
from varve.ports.records import MemoryReader
from varve.usecases.search.metadata import find_ids
from varve.usecases.session import Session


def find_record(
    reader: MemoryReader, scope: Scope, id_: str
) -> tuple[StoreName, Record]:
    """Return a record with its grain, or the notes' store. Raises Rejected: there is none of this id."""
    found = _look_up(reader, scope, id_)
    if found is None:
        raise Rejected("id", f"there is no record {id_[:80]!r} in {scope}")
    return found


def get_record(
    session: Session, id_: str, *, hide_forgotten: bool = False
) -> StoredRecord | None:
    """Return the record of this id; None: there is none. Raises Rejected, Retryable.

    `hide_forgotten`: without what its user asked to forget.
    """
    found = _look_up(session.records.at(session.scope), session.scope, id_)
    if found is None:
        return None
    grain, record = found
    shown = [record]
    if hide_forgotten:
        shown = _hide_forgotten(session, shown)
    return StoredRecord.of(shown[0], grain) if shown else None


def _hide_forgotten(
    session: Session, records: Sequence[Record]
) -> list[Record]:
    """Return the records without what their users asked to forget in conversations."""
    # It loads numpy: on first use.
    from varve.usecases.forget.asked_to_forget import hide_forgotten

    told = hide_forgotten(session, records)
    return [one for one in told if one.content != NO_WORDS]


def _look_up(
    reader: MemoryReader, scope: Scope, id_: str
) -> tuple[StoreName, Record] | None:
    valid_text(id_, "id")
    for grain in (*GRAINS, Store.NOTES):
        for record in reader.get(scope, grain, [id_]):
            return grain, record
    return None


def list_records(
    session: Session, request: ListRequest, *, hide_forgotten: bool = False
) -> RecordPage:
    """Return a page of the records that pass the filters, newest first.

    Records that are written meanwhile neither repeat nor hide a record of the list.
    `hide_forgotten`: without what their users asked to forget; a page may then be shorter.
    Raises Rejected: the limits leave no time; Retryable.
    """
    found = _read_after(session, request, _build_filter(session, request))
    following = None
    if len(found) > request.limit:
        following = str(ListPlace.of(found[request.limit - 1]))
    shown = found[: request.limit]
    if hide_forgotten:
        shown = _hide_forgotten(session, shown)
    page = tuple(StoredRecord.of(one, request.grain) for one in shown)
    return RecordPage(records=page, next=following)


def read_all_records(
    session: Session, request: ListRequest
) -> Iterator[StoredRecord]:
    """Yield every record of a list, whatever its length."""
    while True:
        page = list_records(session, request)
        yield from page.records
        if page.next is None:
            return
        request = replace(request, after=ListPlace.parse(page.next))


def list_summarized_periods(
    session: Session, user_id: str | None = None
) -> list[Period]:
    """Return the periods that have summaries, of all users or of one, newest first.

    Of periods that begin on one day the finer comes first. Raises Rejected, Retryable.
    """
    if user_id is not None:
        reference(user_id, "user_id")
    reader = session.records.at(session.scope)
    where = Filter(user_id=user_id)
    found = []
    for grain in SUMMARY_GRAINS:
        tallies = reader.tally(session.scope, grain, ("period",), where=where)
        found += [Period(grain, str(tally.key[0])) for tally in tallies]
    return sorted(found, key=_newest_period_first)


def _newest_period_first(period: Period) -> tuple[int, int]:
    first, last = period.days
    return -first.toordinal(), last.toordinal()


def _read_after(
    session: Session, request: ListRequest, where: Filter
) -> list[Record]:
    """Return up to one record more than a page has."""
    wanted = request.limit + 1
    limit = wanted
    while True:
        read = session.records.browse(
            session.scope, request.grain, where=where, limit=limit
        )
        found = [one for one in read if _is_after(one, request.after)]
        if len(found) >= wanted or len(read) < limit:
            return found[:wanted]
        limit *= 2  # records of the page before have the same time


def _is_after(record: Record, last: ListPlace | None) -> bool:
    return last is None or last.precedes(ListPlace.of(record))


def _build_filter(session: Session, request: ListRequest) -> Filter:
    where = window(request.wanted, session.now, session.zone)
    ids = find_ids(session.records, session.scope, request.wanted.where)
    where = replace(where, ids=ids)
    if request.period is not None:
        # A summary's event time is the middle of its period.
        since = request.period.start(session.zone)
        until = request.period.end(session.zone)
        where = _narrow(where, Filter(since=since, until=until))
    if request.after is not None:
        end = request.after.event_time + timedelta(microseconds=1)
        where = _narrow(where, Filter(until=end))
    return where


def _narrow(where: Filter, within: Filter) -> Filter:
    """Return the filter with the later start and the earlier end of both."""
    starts = [one.since for one in (where, within) if one.since is not None]
    ends = [one.until for one in (where, within) if one.until is not None]
    since = max(starts, default=None)
    until = min(ends, default=None)
    return replace(where, since=since, until=until)
