"""Single records of a memory: read one, or list them."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

from varve.api.owner import OwnerVerbs
from varve.domain.listing import RecordPage, StoredRecord, parse_list_request
from varve.domain.search.query import GrainName, MemoryTypeName

Moment: TypeAlias = date | str
"""A day, an instant (a `datetime`, which is a `date`), or either as ISO 8601."""


class RecordVerbs(OwnerVerbs):
    """Reading of single records, page by page."""

    def get(self, record_id: str) -> StoredRecord | None:
        """Return the record of this id; None: there is none. Raises Rejected, Retryable.

        `show` returns it with its sources.
        """
        from varve.usecases.records import get_record

        with self.sessions.open(self.scope) as session:
            return get_record(session, record_id)

    def periods(self, *, user_id: str | None = None) -> tuple[str, ...]:
        """Return the labels of the periods that have summaries, newest first.

        With `user_id` of those that have one of that user. Raises Retryable.
        """
        from varve.usecases.records import list_summarized_periods

        with self.sessions.open(self.scope) as session:
            found = list_summarized_periods(session, user_id)
        return tuple(period.label for period in found)

    def list(
        self,
        *,
        grain: GrainName | None = None,
        period: str | None = None,
        memory_types: Sequence[MemoryTypeName] | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> RecordPage:
        """List the records of one grain that pass the filters, newest first.

        `period` is a label, such as `2026-W47`. Without `grain` it is the period's, and
        without both it is working, which has facts and turns. `limit` lies in 1 to 1,000
        (default 100). `after` is the `next` of the page before.
        Raises Rejected: names the argument; Retryable.
        """
        from varve.usecases.records import list_records

        given = {
            "grain": grain,
            "period": period,
            "memory_types": memory_types,
            "user_id": user_id,
            "conversation_id": conversation_id,
            "since": as_json_time(since),
            "until": as_json_time(until),
            "limit": limit,
            "after": after,
        }
        request = parse_list_request(without_missing(given))
        with self.sessions.open(self.scope) as session:
            return list_records(session, request)


def as_json_time(moment: Moment | None) -> str | None:
    """Return dates and times as the contract writes them."""
    return moment.isoformat() if isinstance(moment, date) else moment


def without_missing(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given; None means that one was not."""
    return {name: value for name, value in given.items() if value is not None}
