"""Lines that tell of requests to forget in what was just stored."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from varve.cli.output import fit_line, format_count

if TYPE_CHECKING:
    from varve.usecases.forget.understood import UnderstoodRequest

MOST_REQUESTS = 5
MOST_STATEMENTS = 3
"""The requests, and the statements of each, that are shown; `--json` lists all."""


def format_requests(
    requests: "Sequence[UnderstoodRequest]",
) -> Iterator[str]:
    """Yield what was asked to be forgotten, what is hidden now, and how to erase it."""
    for one in requests[:MOST_REQUESTS]:
        yield f"asked to forget: {fit_line(one.content)}"
        yield from _format_hidden(one)
    more = len(requests) - MOST_REQUESTS
    if more > 0:
        requests_ = format_count(more, "more request")
        yield f"{requests_} to forget; --json lists all"
    if any(one.hidden for one in requests):
        yield "hidden, not erased: varve review proposes to erase it, varve forget erases it"


def _format_hidden(request: "UnderstoodRequest") -> Iterator[str]:
    if not request.hidden:
        yield "  nothing in memory says it"
        return
    count = format_count(len(request.hidden), "statement")
    yield f"  hidden from now on: {count}"
    for one in request.hidden[:MOST_STATEMENTS]:
        yield f"    {one.date}  {fit_line(one.content)}"
    more = len(request.hidden) - MOST_STATEMENTS
    if more > 0:
        yield f"    and {more} more"
