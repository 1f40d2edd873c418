"""A drawing of the triples: an SVG, or an HTML page with it.

Both are self-contained: they refer to no other file and no address.
"""

from collections import Counter, deque
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

Edge = dict[str, Any]
Points = NDArray[np.float64]
Slice = tuple[float, float]
"""Start and width of a sector, in radians."""

RING = 210
"""Least distance of two rings, in pixels; crowded rings lie further apart."""
ROOM = 40
"""Least length of the first ring for each leaf of the trees, in pixels."""
MARGIN = 190
"""Space around the entities, in pixels."""
AXIS = 20
"""Distance from the vertical axis, in pixels, below which a name is centred."""
LABEL_POSITION = 0.66
"""Where an edge's label lies, as a share of the way from the inner to the outer end."""

_STYLE = (
    "text{font:13px sans-serif;fill:#222}"
    ".of{font-size:9px;fill:#666;text-anchor:middle}"
    ".who{font-weight:600}circle{fill:#dcebf7;stroke:#3a6ea5}"
    "line{stroke:#3a6ea5;stroke-width:1.4}line.past{stroke:#aaa;stroke-dasharray:5 4}"
)
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="19" refY="5" '
    'markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L10 5L0 10z" fill="#3a6ea5"/></marker></defs>'
)


def draw_html(edges: list[Edge], title: str) -> str:
    """Return an HTML page with the drawing."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{_escape(title)}</title></head>\n"
        f'<body style="margin:0">\n{draw_svg(edges, title)}</body></html>\n'
    )


def draw_svg(edges: list[Edge], title: str) -> str:
    """Return an SVG: entities as circles, triples as arrows with label and validity.

    Past triples are dashed. The same edges give the same drawing.
    """
    names = _collect_names(edges)
    numbers = {id_: number for number, id_ in enumerate(sorted(names))}
    pairs = [(numbers[edge["sourceId"]], numbers[edge["targetId"]]) for edge in edges]
    places = place_nodes(len(names), pairs)
    parts = [
        _open_svg(places),
        f"<title>{_escape(title)}</title><style>{_STYLE}</style>{_ARROW}",
    ]
    drawn: Counter[frozenset[int]] = Counter()
    for edge, (source, target) in zip(edges, pairs, strict=True):
        ends = frozenset((source, target))
        drawn[ends] += 1
        parts += _draw_edge(edge, places[source], places[target], drawn[ends])
    for id_, number in numbers.items():
        parts += _draw_entity(names[id_], places[number])
    return "\n".join([*parts, "</svg>", ""])


def format_validity(edge: Edge) -> str:
    """Return `since 2026-08-15`, or `2026-02-16 to 2026-08-15` for a past triple."""
    start = edge["validAt"][:10]
    if edge["invalidAt"]:
        return f"{start} to {edge['invalidAt'][:10]}"
    return f"since {start}"


def _collect_names(edges: list[Edge]) -> dict[str, str]:
    """Return each entity's name by its id; a target's name wins over a source's."""
    names = {edge["sourceId"]: edge["source"] for edge in edges}
    for edge in edges:
        names[edge["targetId"]] = edge["target"]
    return names


def _open_svg(places: Points) -> str:
    low = high = np.zeros(2)
    if len(places):
        low = places.min(axis=0)
        high = places.max(axis=0)
    left, top = low - MARGIN
    width, height = high - low + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height:.0f}" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" role="img">'
    )


def _draw_edge(edge: Edge, start: Points, end: Points, nth: int) -> list[str]:
    """Return the arrow and its label; `nth` separates labels between the same two."""
    inner = start
    outer = end
    if np.hypot(*end) < np.hypot(*start):
        inner = end
        outer = start
    x, y = inner + LABEL_POSITION * (outer - inner)
    dx, dy = end - start
    angle = np.degrees(np.arctan2(dy, dx))
    upright = (angle + 90) % 180 - 90
    label = f"{edge['label']} {format_validity(edge)}"
    style = ' class="past"' if edge["invalidAt"] else ""
    line = (
        f'<line{style} x1="{start[0]:.1f}" y1="{start[1]:.1f}" '
        f'x2="{end[0]:.1f}" y2="{end[1]:.1f}" marker-end="url(#arrow)"/>'
    )
    transform = f"translate({x:.1f} {y:.1f}) rotate({upright:.1f})"
    text = (
        f'<text class="of" transform="{transform}" y="{11 * nth - 14}">'
        f"{_escape(label)}</text>"
    )
    return [line, text]


def _draw_entity(name: str, place: Points) -> list[str]:
    """Return the circle and the name, which lies on the side away from the centre."""
    x, y = place
    shift = 0
    drop = 4
    if abs(x) < AXIS:
        anchor = "middle"
        drop = -14 if y <= 0 else 24
    elif x > 0:
        anchor = "start"
        shift = 13
    else:
        anchor = "end"
        shift = -13
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
    text = (
        f'<text class="who" text-anchor="{anchor}" x="{x + shift:.1f}" '
        f'y="{y + drop:.1f}">{_escape(name)}</text>'
    )
    return [circle, text]


def _escape(text: str) -> str:
    """Escape the text for XML, and drop the control characters that XML forbids."""
    printable = "".join(character for character in text if character.isprintable())
    return escape(printable)


@dataclass(frozen=True)
class _Forest:
    """A spanning tree for each connected part of the graph.

    `order` lists the nodes from the centres outward. A centre has depth 0.
    """

    order: list[int]
    children: list[list[int]]
    depths: list[int]
    centres: list[int]


def place_nodes(count: int, pairs: list[tuple[int, int]]) -> Points:
    """Return a `count` x 2 array of places around (0, 0), in pixels.

    The best connected node is the centre, its neighbours are the first ring, and so
    on. Each node gets a sector in proportion to the leaves of its subtree. If the graph
    has several parts, the centre stays empty and the best connected node of each part
    lies on the first ring.
    """
    forest = _build_forest(_connect(count, pairs))
    leaves = _count_leaves(forest)
    first_ring = 0 if len(forest.centres) == 1 else 1
    all_leaves = sum(leaves[centre] for centre in forest.centres)
    ring_distance = max(RING, ROOM * all_leaves / (2 * np.pi))
    places = np.zeros((count, 2))
    slices = _divide(forest.centres, leaves, (0.0, 2 * np.pi))
    for node in forest.order:
        start, width = slices[node]
        angle = start + width / 2
        radius = (forest.depths[node] + first_ring) * ring_distance
        places[node] = radius * np.cos(angle), radius * np.sin(angle)
        slices |= _divide(forest.children[node], leaves, slices[node])
    return places


def _connect(count: int, pairs: list[tuple[int, int]]) -> list[set[int]]:
    """Return each node's neighbours."""
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for one, other in pairs:
        neighbours[one].add(other)
        neighbours[other].add(one)
    return neighbours


def _build_forest(neighbours: list[set[int]]) -> _Forest:
    """Search breadth first from the best connected node of each part."""
    count = len(neighbours)
    forest = _Forest([], [[] for _ in range(count)], [-1] * count, [])
    by_degree = sorted(range(count), key=lambda node: (-len(neighbours[node]), node))
    for node in by_degree:
        if forest.depths[node] < 0:
            forest.centres.append(node)
            _grow_tree(forest, node, neighbours)
    return forest


def _grow_tree(forest: _Forest, centre: int, neighbours: list[set[int]]) -> None:
    """Add the part of the graph that `centre` reaches."""
    depths = forest.depths
    depths[centre] = 0
    waiting = deque([centre])
    while waiting:
        node = waiting.popleft()
        forest.order.append(node)
        children = sorted(other for other in neighbours[node] if depths[other] < 0)
        for child in children:
            depths[child] = depths[node] + 1
        forest.children[node] = children
        waiting += children


def _count_leaves(forest: _Forest) -> list[int]:
    """Return the number of leaves in each node's subtree; a leaf counts itself."""
    leaves = [1] * len(forest.children)
    for node in reversed(forest.order):
        children = forest.children[node]
        if children:
            leaves[node] = sum(leaves[child] for child in children)
    return leaves


def _divide(nodes: list[int], leaves: list[int], whole: Slice) -> dict[int, Slice]:
    """Divide a slice among the nodes in proportion to their leaves."""
    start, width = whole
    share = width / max(1, sum(leaves[node] for node in nodes))
    slices = {}
    for node in nodes:
        slices[node] = (start, share * leaves[node])
        start += share * leaves[node]
    return slices
