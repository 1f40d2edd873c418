"""`varve graph`: query the triples with SQL, or show them as a tree or a drawing."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varve.api.graph import Graph
from varve.api.memory import Memory
from varve.cli.elsewhere import name_other_memories
from varve.cli.output import format_count, print_result, say
from varve.domain.errors import Rejected
from varve.domain.names import normalized

if TYPE_CHECKING:
    from varve.look.branches import Branch, Edge

MAX_CELL = 60
"""Characters of a value in a table of rows."""

Draw = Callable[["list[Edge]", str, str | None, int], str]


def add_graph(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve graph`."""
    command.add_argument(
        "action",
        choices=["query", "show"],
        help="run a SQL query, or show all triples or those of ENTITY",
    )
    command.add_argument(
        "subject",
        nargs="?",
        metavar="SQL|ENTITY",
        help="one SELECT over the table facts (query), or the name of a person or "
        "thing (show)",
    )
    command.add_argument(
        "--most",
        metavar="N",
        default="200",
        help="edges to show; default: 200",
    )
    command.add_argument(
        "--experience",
        action="store_true",
        help="show the links between episodes too",
    )
    command.add_argument(
        "--out",
        metavar="FILE",
        help="draw the triples into an .svg or .html file",
    )


def graph(options: argparse.Namespace, memory: Memory) -> None:
    """Run `graph query` or `graph show`.

    Raises Rejected: the SQL is missing or refused, or the file cannot be written.
    """
    if options.action == "query":
        _query(options, memory.graph)
    else:
        _show(options, memory)


def _query(options: argparse.Namespace, graph: Graph) -> None:
    if not options.subject:
        raise Rejected("graph query", "needs SQL")
    rows = graph.query_graph(options.subject)
    print_result(options, rows, format_table(rows))


def _show(options: argparse.Namespace, memory: Memory) -> None:
    graph = memory.graph
    draw = None if options.out is None else _choose_drawing(options.out)
    entity = _find_entity(options.subject, graph)
    root = str(entity["id"]) if entity else None
    found = graph.neighbourhood(
        options.subject,
        most=_parse_most(options.most),
        experience=options.experience,
    )
    edges = found.edges
    if draw is not None:
        title = options.subject or "the graph"
        _write(Path(options.out), draw(edges, title, root, found.left_out))
        say(f"{options.out}: {format_count(len(edges), 'edge')}")
    else:
        lines = [] if options.json else format_tree(edges, root)
        print_result(options, edges, lines)
    if options.subject:
        _suggest(options.subject, graph, entity if edges else None)
    if not edges:
        name_other_memories(memory)
    if found.left_out:
        say(
            f"{format_count(found.left_out, 'edge')} left out; --most N shows more"
        )


def _suggest(
    subject: str, graph: Graph, shown: Mapping[str, Any] | None
) -> None:
    """Name the other entities whose names have the words of the one asked for.

    `shown` is the one that is shown, if any is.
    """
    names = graph.suggest(subject)
    if shown is None:
        if names:
            listed = ", ".join(names)
            say(f"no triple names {subject!r}; did you mean {listed}?")
        return
    named = {shown["id"], *map(normalized, shown["ambiguousNames"])}
    others = [one for one in names if normalized(one) not in named]
    if others:
        say(f"{subject!r} may also mean {', '.join(others)}")


def _parse_most(text: str) -> int:
    if not text.isdecimal():
        raise Rejected("--most", f"{text[:40]!r} is not a count")
    return int(text)


def format_table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the rows below their column names; long values are cut."""
    if not rows:
        return ["no rows"]
    header = list(rows[0])
    table = [header]
    for row in rows:
        table.append([_format_cell(value) for value in row.values()])
    widths = []
    for column in range(len(header)):
        widths.append(max(len(cells[column]) for cells in table))
    lines = [_align(cells, widths) for cells in table]
    rule = _align(["-" * width for width in widths], widths)
    return [lines[0], rule, *lines[1:]]


def _align(cells: list[str], widths: list[int]) -> str:
    padded = [
        cell.ljust(width) for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    text = value
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    if len(text) > MAX_CELL:
        return text[: MAX_CELL - 1] + "…"
    return text


def format_tree(edges: "list[Edge]", root: str | None) -> list[str]:
    """Return a tree of the edges from `root`; without a root one tree a subject.

    From a root, the tree has a second level: the edges of the current neighbours. The
    edges that point to the root come last.
    """
    from varve.look.branches import (
        grow_trees,
    )  # here, as every command loads this

    if not edges:
        return [f"nothing is known about {root}" if root else "no triples"]
    lines: list[str] = []
    for tree in grow_trees(edges, root):
        lines.append(tree.name)
        lines += _format_branches(tree.branches)
    return lines


def _format_branches(
    branches: "Sequence[Branch]", indent: str = ""
) -> Iterator[str]:
    """Yield a line for each branch, followed by the branches below it."""
    from varve.look.branches import format_validity

    for number, branch in enumerate(branches, start=1):
        last = number == len(branches)
        fork = "└" if last else "├"
        arrow = "◀─" if branch.incoming else "─▶"
        words = f"{branch.edge['label']} {arrow} {branch.name}"
        yield f"{indent}{fork}─ {words}  {format_validity(branch.edge)}"
        deeper = indent + ("   " if last else "│  ")
        yield from _format_branches(branch.below, deeper)


def _find_entity(name: str | None, graph: Graph) -> dict[str, Any] | None:
    """Return the entity; warn if several entities claim the name."""
    if name is None:
        return None
    entity = graph.entity(name)
    if entity["ambiguous"]:
        claimants = " or ".join(entity["ambiguousNames"])
        say(
            f"{name} may be {claimants}; showing only triples of {name} itself"
        )
    return entity


def _choose_drawing(out: str) -> Draw:
    from varve.look.drawing import draw_html, draw_svg

    drawings: dict[str, Draw] = {".svg": draw_svg, ".html": draw_html}
    suffix = Path(out).suffix.lower()
    if suffix not in drawings:
        raise Rejected("--out", f"must end in {' or '.join(drawings)}")
    return drawings[suffix]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        reason = f"cannot be written ({type(error).__name__})"
        raise Rejected("--out", reason) from error
