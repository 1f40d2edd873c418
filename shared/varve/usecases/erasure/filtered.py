"""The facts and turns that filters name, for an erasure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from varve.domain.errors import Rejected
from varve.domain.listing import MAX_PAGE, parse_list_request
from varve.usecases.records import read_all_records
from varve.usecases.session import Session


def choose_ids(session: Session, filters: Mapping[str, Any]) -> list[str]:
    """Return the ids of the facts and turns in working memory that pass.

    Raises Rejected: names the filter, or nothing passes; Retryable.
    """
    request = replace(parse_list_request(filters), limit=MAX_PAGE)
    found = [record.id for record in read_all_records(session, request)]
    if not found:
        raise Rejected("delete", "no fact or turn passes the filters")
    return found
