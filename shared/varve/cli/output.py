"""What the command line prints: JSON for programs, plain lines for people."""

import json
import sys
from textwrap import shorten
from typing import Any

from varve.domain.search.answer import Result, SearchResponse

MAX_LINE = 300
MAX_SOURCES = 3


def as_json(value: Any) -> str:
    """Indented JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def say(line: str = "") -> None:
    """Progress and remarks, on standard error."""
    print(line, file=sys.stderr, flush=True)


def search_lines(response: SearchResponse, *, ids: bool = True) -> list[str]:
    """The results, a line or two each, then what was searched."""
    lines: list[str] = []
    for number, result in enumerate(response.results, start=1):
        lines += _result_lines(number, result, ids)
    searched = response.searched
    window = (
        f"{searched.since or 'the beginning'} to {searched.until or 'now and later'}"
    )
    lines.append(
        f"searched {searched.records} records ({', '.join(searched.grains)}), {window}"
    )
    if response.hint:
        lines.append(response.hint)
    return lines


def _result_lines(number: int, result: Result, ids: bool) -> list[str]:
    content = shorten(result.content, MAX_LINE, placeholder=" …")
    lines = [f"{number:>3}. {result.date}  {result.score:.2f}  {content}"]
    if ids:
        sources = ", ".join(result.source_ids[:MAX_SOURCES])
        sources += (
            f" and {more} more"
            if (more := len(result.source_ids) - MAX_SOURCES) > 0
            else ""
        )
        lines.append(
            f"     {result.id}  {result.memory_type}  {result.conversation_id or ''}  {sources}"
        )
    return lines


def show_lines(shown: dict[str, Any]) -> list[str]:
    """A record in full and, level by level below it, its sources, a line each."""
    lines = [
        f"{shown['id']}  {shown['memoryType']}  {shown['grain']} {shown['period']}",
        shown["content"],
    ]
    lines += [f"  {name}: {_plain(shown[name])}" for name in _SHOWN if shown.get(name)]
    return lines + _source_lines(shown.get("sources", []), "  ")


_SHOWN = (
    "eventTime", "createdAt", "about", "userId", "conversationId", "importance", "confidence", "people",
    "topics", "openQuestions",
)  # fmt: skip


def _source_lines(sources: list[dict[str, Any]], indent: str) -> list[str]:
    lines = []
    for source in sources:
        when = source.get("period") or source.get("at") or ""
        who = f"{source.get('name') or source['role']}: " if "role" in source else ""
        said = (
            _plain(source.get("content"))
            if "content" in source
            else "is no longer kept"
        )
        lines.append(
            f"{indent}└ {when}  {source['id']}  {shorten(who + said, MAX_LINE, placeholder=' …')}"
        )
        lines += _source_lines(source.get("sources", []), indent + "  ")
    return lines


def _plain(value: Any) -> str:
    return (
        ", ".join(value)
        if isinstance(value, list) and all(isinstance(v, str) for v in value)
        else str(value)
    )


def cleanup_lines(report: dict[str, Any], *, dry_run: bool) -> list[str]:
    """A line for each grain: what goes, what is left and why."""
    verb = "would go" if dry_run else "gone"
    lines = []
    for grain, held in report["grains"].items():
        line = f"  {grain:<10}{held['expiredRecords']:>8} records of {held['expiredPeriods']} periods {verb}"
        lines.append(f"{line}; kept for {held['limit']}, from {held['oldestKept']} on")
        if held["unsealed"]:
            waiting = ", ".join(held["unsealed"])
            lines.append(
                f"            kept all the same, for their summary is not ready: {waiting}"
            )
    lines.append(f"  {'timeline':<10}{report['timelineDays']:>8} days {verb}")
    return lines


def config_lines(settings: dict[str, Any]) -> list[str]:
    """A line for each setting."""
    return [
        f"{name} = {'' if value is None else value}" for name, value in settings.items()
    ]


def status_lines(status: dict[str, Any]) -> list[str]:
    """A line for each grain, the graph and the timeline."""
    lines = [f"{status['workspaceId']}/{status['agentId']}"]
    for grain, held in status["grains"].items():
        span = f"{held['oldest']} to {held['newest']}" if held["records"] else ""
        lines.append(
            f"  {grain:<10}{held['records']:>8} records {_size(held['bytes']):>10}  {span}".rstrip()
        )
        lines += _period_lines(held.get("periods"))
    backlog = [f"{count} {what}" for what, count in status["backlog"].items() if count]
    lines += [f"  {'backlog':<10}{', '.join(backlog)}"] if backlog else []
    graph, timeline = status["graph"], status["timeline"]
    triples = f"{graph['triples']:>8} triples {_size(graph['bytes']):>10}"
    lines.append(f"  {'graph':<10}{triples}  {graph['current']} current")
    lines.append(f"  {'timeline':<10}{'':>16} {_size(timeline['bytes']):>10}")
    return lines + _erasure_lines(status["erasure"])


def _erasure_lines(erasure: dict[str, Any] | None) -> list[str]:
    """The last erasure, in a line; nothing where there was none."""
    if erasure is None:
        return []
    ended = (
        "complete"
        if erasure["complete"]
        else "NOT COMPLETE (varve forget again goes on)"
    )
    proved = {True: "proved", False: "NOT PROVED", None: "not verified"}[
        erasure["proved"]
    ]
    return [
        f"  {'erasure':<10}{erasure['forgottenAt']}  {ended}, {proved}: {erasure['receipt']}"
    ]


def _period_lines(periods: dict[str, Any] | None) -> list[str]:
    """What waits and what has failed; nothing where all is well."""
    if periods is None:
        return []
    waiting = [
        f"{len(periods[state])} {state}" for state in ("due", "stale") if periods[state]
    ]
    lines = [f"            {', '.join(waiting)} (varve summarize)"] if waiting else []
    return lines + [
        f"            {failed['period']} failed {failed['attempts']} times, again {failed['nextTry']}: "
        f"{failed['reason']}"
        for failed in periods["failed"]
    ]


def _size(count: int) -> str:
    return (
        f"{count / 1_000_000:.1f} MB"
        if count >= 1_000_000
        else f"{count / 1_000:.1f} kB"
    )
