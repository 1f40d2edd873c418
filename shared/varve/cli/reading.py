"""`varve search`, `varve show` and `varve status`."""

import argparse
from collections.abc import Iterator
from typing import Any

from varve.api.memory import Memory
from varve.cli.elsewhere import name_other_memories
from varve.cli.entries import AddEntry, AddNames
from varve.cli.output import (
    fit_line,
    format_count,
    list_some,
    make_faint,
    print_result,
)
from varve.domain.calendar import Grain
from varve.domain.errors import rename_field
from varve.domain.search.answer import Result, SearchResponse
from varve.domain.search.query import PYTHON_NAMES, parse_search_request

MAX_SOURCES = 3
"""Source ids that a search result shows."""
SEARCH_OPTIONS = [
    "grain",
    "since",
    "until",
    "minimum_days_ago",
    "maximum_days_ago",
    "as_of",
    "max_results",
    "max_tokens",
    "user_id",
    "conversation_id",
    "include_superseded",
    "explain",
    "memory_types",
    "about",
    "people",
    "topics",
    "where",
    "agents",
]
"""Options of `varve search` with the names of `search_memory`, in snake case."""
_SHORT_NAMES = {
    "minimum_days_ago": "--min-days-ago",
    "maximum_days_ago": "--max-days-ago",
    "memory_types": "--types",
    "user_id": "--user",
    "conversation_id": "--conversation",
}
_OPTION_NAMES = {
    spelt: _SHORT_NAMES.get(name, f"--{name.replace('_', '-')}")
    for in_json, name in PYTHON_NAMES.items()
    for spelt in (in_json, name)
    if name in SEARCH_OPTIONS
}
"""The options as they are typed, by the names that errors may give them."""
_SHOWN_FIELDS = [
    "eventTime",
    "createdAt",
    "about",
    "userId",
    "conversationId",
    "supersededBy",
    "askedToForget",
    "importance",
    "confidence",
    "people",
    "topics",
    "openQuestions",
]


def add_search(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve search`."""
    command.add_argument(
        "text",
        nargs="?",
        metavar="TEXT",
        default="",
        help="question in plain words",
    )
    grains = ", ".join(["auto", *Grain])
    command.add_argument(
        "--grain",
        metavar="G",
        help=f"grain to search: {grains}; default: auto",
    )
    _add_time_options(command)
    _add_limit_options(command)
    _add_filter_options(command)
    command.add_argument(
        "--about",
        metavar="NAME",
        help="only what mentions this person or thing, by any name of it",
    )
    command.add_argument(
        "--people",
        metavar="NAMES",
        help="only what mentions one of them; commas between",
    )
    command.add_argument(
        "--topics",
        metavar="WORDS",
        help="only what mentions one of them; commas between",
    )
    command.add_argument(
        "--where",
        metavar="KEY=VALUE",
        action=AddEntry,
        help="only facts and turns whose metadata has this; may be repeated",
    )
    add_agents(command)
    command.add_argument(
        "--include-superseded",
        action="store_true",
        default=None,
        help="also statements whose correction is in the answer",
    )
    command.add_argument(
        "--explain",
        action="store_true",
        default=None,
        help="add the part of each signal in the score (with --json)",
    )


def add_agents(command: argparse.ArgumentParser) -> None:
    """Add the option that names other agents to read."""
    command.add_argument(
        "--agents",
        metavar="A,…",
        action=AddNames,
        help="also what these agents share with this one, commas between; may be repeated",
    )


def _add_time_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--since",
        metavar="T",
        help="earliest date, or date and time, ISO 8601; included",
    )
    command.add_argument(
        "--until",
        metavar="T",
        help="latest date, included, or date and time, excluded; ISO 8601",
    )
    command.add_argument(
        "--min-days-ago",
        metavar="N",
        dest="minimum_days_ago",
        help="only memories at least N days old; default: 0",
    )
    command.add_argument(
        "--max-days-ago",
        metavar="N",
        dest="maximum_days_ago",
        help="only memories at most N days old; default: no limit",
    )
    command.add_argument(
        "--as-of", metavar="T", help="answer as of this time, ISO 8601"
    )


def _add_limit_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--max-results",
        metavar="N",
        help="number of results, 1 to 100; default: 10",
    )
    command.add_argument(
        "--max-tokens",
        metavar="N",
        help="tokens of all results together; default: no limit",
    )


def _add_filter_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--user",
        metavar="U",
        dest="user_id",
        help="only memories of this user",
    )
    command.add_argument(
        "--conversation",
        metavar="C",
        dest="conversation_id",
        help="only memories of this conversation",
    )
    command.add_argument(
        "--types",
        metavar="T,…",
        dest="memory_types",
        help="only these memory types, with commas between: fact, turn, summary, "
        "episode, lesson, prior_answer",
    )


def search(options: argparse.Namespace, memory: Memory) -> None:
    """Answer a question; without one list the newest memories."""
    arguments = {name: getattr(options, name) for name in SEARCH_OPTIONS}
    given = {
        name: value for name, value in arguments.items() if value is not None
    }
    with rename_field(_OPTION_NAMES):
        request = parse_search_request({"query_text": options.text, **given})
        response = memory.answer(request)
    print_result(options, response.to_dict(), format_response(response))
    if not response.searched.records:
        name_other_memories(memory)


def format_response(response: SearchResponse) -> Iterator[str]:
    """Yield the results, the window that was searched, and the hint."""
    yield from format_results(response, ids=True)
    searched = response.searched
    records = format_count(searched.records, "record")
    grains = ", ".join(searched.grains)
    since = f" from {searched.since}" if searched.since else ""
    until = f" until {searched.until}" if searched.until else ""
    yield f"searched {records} ({grains}){since}{until}"
    if response.hint:
        yield response.hint


def format_results(response: SearchResponse, *, ids: bool) -> Iterator[str]:
    """Yield two lines for each result: its words, and where they are kept.

    With `ids` the second line names the record and its sources.
    """
    places = [_format_place(result) for result in response.results]
    width = max(map(len, places), default=0)
    for number, result in enumerate(response.results, start=1):
        content = fit_line(result.content)
        yield f"{number:>3}. {result.date}  {result.score:.2f}  {content}"
        below = places[number - 1]
        if ids:
            below = f"{below:<{width}}  {_format_ids(result)}"
        yield make_faint(f"     {below}")


def _format_place(result: Result) -> str:
    """Return grain, period, agent, user and type, and whether a result holds no more."""
    parts = [f"{result.grain} {result.period}"]
    if result.agent_id is not None:
        parts.append(result.agent_id)
    if result.user_id is not None:
        parts.append(result.user_id)
    parts.append(result.memory_type)
    if not result.current:
        parts.append("superseded")
    return " · ".join(parts)


def _format_ids(result: Result) -> str:
    parts = [result.id]
    if result.conversation_id is not None:
        parts.append(result.conversation_id)
    parts.append(list_some(result.source_ids, MAX_SOURCES))
    return "  ".join(parts)


def add_show(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve show`."""
    command.add_argument("id", metavar="ID", help="id of a record")
    command.add_argument(
        "--depth",
        metavar="N",
        type=int,
        help="levels of sources; default: down to the messages",
    )


def show(options: argparse.Namespace, memory: Memory) -> None:
    """Print one record and its sources."""
    record = memory.show(options.id, depth=options.depth)
    print_result(options, record, _format_record(record))


def _format_record(record: dict[str, Any]) -> Iterator[str]:
    yield f"{record['id']}  {record['memoryType']}  {record['grain']} {record['period']}"
    yield record["content"]
    if record.get("current") is False:
        yield "  no longer current"
    if record.get("askedToForget"):
        yield "  its user asked to forget it, or a part of it; see varve review"
    for name in _SHOWN_FIELDS:
        if record.get(name):
            yield f"  {name}: {_format_value(record[name])}"
    yield from _format_sources(record.get("sources", []), "  ")


def _format_sources(
    sources: list[dict[str, Any]], indent: str
) -> Iterator[str]:
    for source in sources:
        when = source.get("period") or source.get("at") or ""
        yield f"{indent}└ {when}  {source['id']}  {_format_words(source)}"
        yield from _format_sources(source.get("sources", []), indent + "  ")


def _format_words(source: dict[str, Any]) -> str:
    """Return what the source says, after its speaker if it is a message."""
    words = "no longer stored"
    if "content" in source:
        words = _format_value(source["content"])
    if "role" in source:
        speaker = source.get("name") or source["role"]
        words = f"{speaker}: {words}"
    return fit_line(words)


def _format_value(value: Any) -> str:
    if isinstance(value, list) and all(
        isinstance(item, str) for item in value
    ):
        return ", ".join(value)
    return str(value)
