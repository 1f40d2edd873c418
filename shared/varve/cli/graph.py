"""`varve graph`: query the triples with SQL, or show them as a tree or a drawing."""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from varve.api.graph import Graph
from varve.cli.drawing import as_html, as_svg
from varve.cli.output import as_json, say
from varve.domain.errors import Rejected

MAX_CELL = 60
_DRAWINGS = {".svg": as_svg, ".html": as_html}

Edge = dict[str, Any]


def run(options: argparse.Namespace, graph: Graph) -> None:
    """Run `graph query` or `graph show`. Raises Rejected: bad SQL, a file of another sort."""
    if options.action == "query":
        if not options.subject:
            raise Rejected("graph query", "needs SQL")
        rows = graph.query_graph(options.subject)
        print(as_json(rows) if options.json else "\n".join(table_lines(rows)))
        return
    draw = _drawing(options.out)
    edges = graph.edges(options.subject)
    if draw:
        _save(Path(options.out), draw(edges, options.subject or "the graph"))
        say(f"{options.out}: {len(edges)} edges")
    if options.json:
        print(as_json(edges))
    elif not draw:
        print("\n".join(tree_lines(edges, _root(options.subject, graph))))


def table_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The rows under their columns' names, long values cut."""
    if not rows:
        return ["no rows"]
    cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [
        max(len(line[column]) for line in cells) for column in range(len(cells[0]))
    ]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def tree_lines(edges: list[Edge], root: str | None) -> list[str]:
    """Every subject with its values and when they held; below a root, what is known of the values too."""
    if not edges:
        return [f"nothing is known about {root}" if root else "no triples"]
    by_subject: defaultdict[str, list[Edge]] = defaultdict(list)
    names = {edge["sourceId"]: edge["source"] for edge in edges}
    for edge in edges:
        by_subject[edge["sourceId"]].append(edge)
    if root is None:
        return [
            line
            for id_ in sorted(by_subject)
            for line in (names[id_], *_branches(by_subject[id_], {}))
        ]
    pointing = [
        edge for edge in edges if edge["targetId"] == root and edge["sourceId"] != root
    ]
    title = names.get(root) or next((e["target"] for e in pointing), root)
    below = {id_: known for id_, known in by_subject.items() if id_ != root}
    lines = [title, *_branches(by_subject.get(root, []), below)]
    return lines + [
        f"◀─ {e['label']} ─ {e['source']}  {validity(e)}" for e in _ordered(pointing)
    ]


def validity(edge: Edge) -> str:
    """`since 2026-08-15`, or `2026-02-16 to 2026-08-15`."""
    start, end = edge["validAt"][:10], edge["invalidAt"]
    return f"{start} to {end[:10]}" if end else f"since {start}"


def _branches(
    edges: list[Edge], below: dict[str, list[Edge]], indent: str = ""
) -> Iterator[str]:
    ordered = _ordered(edges)
    for number, edge in enumerate(ordered, start=1):
        last = number == len(ordered)
        yield f"{indent}{'└' if last else '├'}─ {edge['label']} ─▶ {edge['target']}  {validity(edge)}"
        deeper = below.get(edge["targetId"], []) if not edge["invalidAt"] else []
        yield from _branches(deeper, {}, indent + ("   " if last else "│  "))


def _ordered(edges: list[Edge]) -> list[Edge]:
    """By label, what holds before what held, the newest first."""
    newest_first = sorted(edges, key=lambda e: e["validAt"], reverse=True)
    return sorted(newest_first, key=lambda e: (e["label"], e["invalidAt"] is not None))


def _root(name: str | None, graph: Graph) -> str | None:
    if name is None:
        return None
    asked = graph.entity(name)
    if asked["ambiguous"]:
        say(
            f"{name} may be {' or '.join(asked['ambiguous'])}; shown is what was said of {name} alone"
        )
    return str(asked["id"])


def _drawing(out: str | None) -> Any:
    if out is None:
        return None
    kind = Path(out).suffix.lower()
    if kind not in _DRAWINGS:
        raise Rejected("--out", f"must end in {' or '.join(_DRAWINGS)}")
    return _DRAWINGS[kind]


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise Rejected(
            "--out", f"cannot be written ({type(error).__name__})"
        ) from error


def _cell(value: Any) -> str:
    text = (
        ""
        if value is None
        else value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False)
    )
    text = " ".join(text.split())
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"
