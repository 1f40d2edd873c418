"""Single records of a memory: read one, or list them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias

from varve.api.arguments import checks_arguments
from varve.api.owner import OwnerVerbs
from varve.domain.errors import Rejected
from varve.domain.listing import RecordPage, StoredRecord, parse_list_request
from varve.domain.metadata import Scalar
from varve.domain.search.query import GrainName, MemoryTypeName

Moment: TypeAlias = date | str
"""A day, an instant (a `datetime`, which is a `date`), or either as ISO 8601."""


@checks_arguments
class RecordVerbs(OwnerVerbs):
    """Reading of single records, page by page."""

    def get(self, record_id: str) -> StoredRecord | None:
        """Return the record of this id; None: there is none. Raises Rejected, Retryable.

        `show` returns it with its sources.
        """
        from varve.usecases.records import get_record

        with self.sessions.open(self.scope) as session:
            return get_record(session, record_id)

    def show(
        self,
        record_id: str,
        *,
        depth: int | None = None,
        hide_forgotten: bool = False,
    ) -> dict[str, Any]:
        """Return a record and its sources as JSON values, `depth` levels of them.

        None: down to the messages. `hide_forgotten`: without what users asked to forget
        in conversations. Raises Rejected: there is no such record.
        """
        from varve.usecases.show import show

        with self.sessions.open(self.scope) as session:
            return show(
                session, record_id, depth, hide_forgotten=hide_forgotten
            )

    def delete(
        self,
        *,
        ids: Sequence[str] = (),
        memory_types: Sequence[MemoryTypeName] | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        where: Mapping[str, Scalar] | None = None,
        dry_run: bool = False,
        verify: bool = False,
    ) -> dict[str, Any]:
        """Erase the facts and turns in working memory that pass the filters, as `forget` does.

        The messages in which they were said go with them, and so does all that was made
        of these: summaries, triples, profile values. `ids` names records; without them at
        least one filter is needed. A user or a conversation alone is erased as a whole.
        With `dry_run` nothing is erased. Return the receipt's figures.
        Raises Rejected: names the argument, or nothing is named; Retryable: call again.
        """
        from varve.usecases.erasure.filtered import choose_ids

        filters = {
            "memory_types": memory_types,
            "user_id": user_id,
            "conversation_id": conversation_id,
            **as_json_times(since=since, until=until),
            "where": where,
        }
        given = without_missing(filters)
        if ids and given:
            raise Rejected(min(given), "cannot stand beside ids")
        if ids:
            return self.forget(ids=ids, dry_run=dry_run, verify=verify)
        if given.keys() <= {"user_id"}:
            return self.forget(user=user_id, dry_run=dry_run, verify=verify)
        if given.keys() == {"conversation_id"}:
            return self.forget(
                conversation=conversation_id, dry_run=dry_run, verify=verify
            )
        with self.sessions.open_owner(self.scope) as session:
            chosen = choose_ids(session, given)
        return self.forget(ids=chosen, dry_run=dry_run, verify=verify)

    def catch_up(self, *, now: datetime | None = None) -> dict[str, int]:
        """Have the model read what waits for its budget; count it.

        `periods` are due again, for `summarize`; `left` wait further, without budget.
        Raises Retryable, Rejected, Misconfigured: call again to go on.
        """
        from varve.usecases.ingest.catching_up import catch_up_waiting

        with self.sessions.open(self.scope, now) as session:
            return catch_up_waiting(session).to_dict()

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
        where: Mapping[str, Scalar] | None = None,
        limit: int | None = None,
        after: str | None = None,
        hide_forgotten: bool = False,
    ) -> RecordPage:
        """List the records of one grain that pass the filters, newest first.

        `period` is a label, such as `2026-W47`. Without `grain` it is the period's, and
        without both it is working, which has facts and turns. `where` has entries that
        the metadata of a fact or turn must have. `limit` lies in 1 to 1,000
        (default 100). `after` is the `next` of the page before. `hide_forgotten`: without
        what users asked to forget in conversations.
        Raises Rejected: names the argument; Retryable.
        """
        from varve.usecases.records import list_records

        given = {
            "grain": grain,
            "period": period,
            "memory_types": memory_types,
            "user_id": user_id,
            "conversation_id": conversation_id,
            **as_json_times(since=since, until=until),
            "where": where,
            "limit": limit,
            "after": after,
        }
        request = parse_list_request(without_missing(given))
        with self.sessions.open(self.scope) as session:
            return list_records(
                session, request, hide_forgotten=hide_forgotten
            )


def as_json_times(**moments: Moment | None) -> dict[str, str | None]:
    """Return dates and times as the contract writes them, by the argument's name."""
    return {name: _as_json_time(moment) for name, moment in moments.items()}


def _as_json_time(moment: Moment | None) -> str | None:
    return moment.isoformat() if isinstance(moment, date) else moment


def without_missing(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given; None means that one was not."""
    return {name: value for name, value in given.items() if value is not None}
