"""What an MCP client may read: records and periods, each under an address.

Shapes: Model Context Protocol, "Resources".
"""

import json
from typing import Any
from urllib.parse import quote, unquote

from varve.domain.calendar import Period
from varve.domain.errors import Rejected
from varve.integrations.mcp_tools import Tools

RECORD = "varve://record/"
PERIOD = "varve://period/"
MIME_TYPE = "application/json"
MOST_PERIODS = 100
"""The most periods that a client is listed; the template reaches all."""
MOST_RECORDS = 200
"""The most summaries of one period that a client reads at once."""

TEMPLATES: list[dict[str, Any]] = [
    {
        "uriTemplate": RECORD + "{id}",
        "name": "record",
        "title": "A record with its sources",
        "description": "A fact, turn or summary that a search found, with what it was made from",
        "mimeType": MIME_TYPE,
    },
    {
        "uriTemplate": PERIOD + "{label}",
        "name": "period",
        "title": "A period's summaries",
        "description": "The summaries of a day (2026-11-21), week (2026-W47), month (2026-11), quarter "
        "(2026-Q4) or year (2026)",
        "mimeType": MIME_TYPE,
    },
]


def list_resources(tools: Tools) -> list[dict[str, Any]]:
    """Return the newest periods that have summaries, as resources. Raises Retryable."""
    labels = tools.memory.periods(user_id=tools.user_id)[:MOST_PERIODS]
    return [_describe_period(Period.parse(label)) for label in labels]


def read_resource(tools: Tools, uri: str) -> str:
    """Return a resource as JSON text.

    Raises Rejected: there is none at this address, or it is another user's; Retryable.
    """
    if uri.startswith(RECORD):
        record_id = unquote(uri.removeprefix(RECORD))
        tools.require_own(record_id)
        shown = tools.memory.show(record_id, depth=1, hide_forgotten=True)
        return _as_text(shown)
    if uri.startswith(PERIOD):
        return _read_period(tools, unquote(uri.removeprefix(PERIOD)))
    raise Rejected("uri", f"{uri[:80]!r} is neither a record nor a period")


def _read_period(tools: Tools, label: str) -> str:
    page = tools.memory.list(
        period=Period.parse(label).label,
        user_id=tools.user_id,
        limit=MOST_RECORDS,
        hide_forgotten=True,
    )
    summaries = [one.to_dict() for one in page.records]
    if not summaries:
        raise Rejected("uri", f"{label!r} has no summary")
    return _as_text({"period": label, "summaries": summaries})


def _describe_period(period: Period) -> dict[str, Any]:
    return {
        "uri": PERIOD + quote(period.label),
        "name": period.label,
        "title": f"{period.label} ({period.grain})",
        "mimeType": MIME_TYPE,
    }


def _as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
