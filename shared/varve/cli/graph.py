"""`varve graph`: query the triples with SQL, or show them as a tree or a drawing."""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from varve.api.graph import Graph
from varve.api.memory import Memory
from varve.cli.drawing import Edge, draw_html, draw_svg, format_validity
from varve.cli.output import format_count, print_result, say
from varve.domain.errors import Rejected

MAX_CELL = 60
"""Characters of a value in a table of rows."""

Draw = Callable[[list[Edge], str], str]
_DRAWINGS: dict[str, Draw] = {".svg": draw_svg, ".html": draw_html}


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
        "--out", metavar="FILE", help="draw the triples into an .svg or .html file"
    )


def graph(options: argparse.Namespace, memory: Memory) -> None:
    """Run `graph query` or `graph show`.

    Raises Rejected: the SQL is missing or refused, or the file cannot be written.
    """
    if options.action == "query":
        _query(options, memory.graph)
    else:
        _show(options, memory.graph)


def _query(options: argparse.Namespace, graph: Graph) -> None:
    if not options.subject:
        raise Rejected("graph query", "needs SQL")
    rows = graph.query_graph(options.subject)
    print_result(options, rows, format_table(rows))


def _show(options: argparse.Namespace, graph: Graph) -> None:
    lines: list[str] = []
    if options.out is not None:
        draw = _choose_drawing(options.out)
        edges = graph.edges(options.subject)
        _write(Path(options.out), draw(edges, options.subject or "the graph"))
        say(f"{options.out}: {format_count(len(edges), 'edge')}")
    else:
        edges = graph.edges(options.subject)
        if not options.json:
            lines = format_tree(edges, _find_root(options.subject, graph))
    print_result(options, edges, lines)


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
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
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


def format_tree(edges: list[Edge], root: str | None) -> list[str]:
    """Return a tree of the edges from `root`; without a root one tree a subject.

    From a root, the tree has a second level: the edges of the current targets. The
    edges that point to the root come last.
    """
    if not edges:
        return [f"nothing is known about {root}" if root else "no triples"]
    by_subject: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        by_subject[edge["sourceId"]].append(edge)
    if root is not None:
        return _format_root(root, edges, by_subject)
    lines = []
    for subject in sorted(by_subject):
        own = by_subject[subject]
        lines.append(own[-1]["source"])
        lines += _format_branches(own, {})
    return lines


def _format_root(
    root: str, edges: list[Edge], by_subject: dict[str, list[Edge]]
) -> list[str]:
    own = by_subject.get(root, [])
    others = {id_: known for id_, known in by_subject.items() if id_ != root}
    pointing = []
    for edge in edges:
        if edge["targetId"] == root and edge["sourceId"] != root:
            pointing.append(edge)
    title = root
    if own:
        title = own[-1]["source"]
    elif pointing:
        title = pointing[0]["target"]
    lines = [title, *_format_branches(own, others)]
    for edge in _sort(pointing):
        lines.append(f"◀─ {edge['label']} ─ {edge['source']}  {format_validity(edge)}")
    return lines


def _format_branches(
    edges: list[Edge], below: dict[str, list[Edge]], indent: str = ""
) -> Iterator[str]:
    """Yield a line for each edge, followed by the edges of its target in `below`."""
    ordered = _sort(edges)
    for number, edge in enumerate(ordered, start=1):
        last = number == len(ordered)
        branch = "└" if last else "├"
        words = f"{edge['label']} ─▶ {edge['target']}  {format_validity(edge)}"
        yield f"{indent}{branch}─ {words}"
        if not edge["invalidAt"]:
            deeper = below.get(edge["targetId"], [])
            deeper_indent = indent + ("   " if last else "│  ")
            yield from _format_branches(deeper, {}, deeper_indent)


def _sort(edges: list[Edge]) -> list[Edge]:
    """Sort by label, then current before past, then newest first."""
    newest_first = sorted(edges, key=lambda edge: edge["validAt"], reverse=True)
    return sorted(newest_first, key=lambda edge: (edge["label"], _is_past(edge)))


def _is_past(edge: Edge) -> bool:
    return edge["invalidAt"] is not None


def _find_root(name: str | None, graph: Graph) -> str | None:
    """Return the entity's id; warn if several entities claim the name."""
    if name is None:
        return None
    entity = graph.entity(name)
    if entity["ambiguous"]:
        claimants = " or ".join(entity["ambiguous"])
        say(f"{name} may be {claimants}; showing only triples of {name} itself")
    return str(entity["id"])


def _choose_drawing(out: str) -> Draw:
    suffix = Path(out).suffix.lower()
    if suffix not in _DRAWINGS:
        raise Rejected("--out", f"must end in {' or '.join(_DRAWINGS)}")
    return _DRAWINGS[suffix]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        reason = f"cannot be written ({type(error).__name__})"
        raise Rejected("--out", reason) from error
