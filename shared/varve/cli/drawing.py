"""The triples as a drawing: one SVG, or the same in an HTML page, that refers to nothing outside itself."""

from collections import Counter, deque
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

Edge = dict[str, Any]
Points = NDArray[np.float64]

RING = 210
"""Pixels from one ring to the next, at least; rings grow until their entities have `ROOM` each."""
ROOM = 40
MARGIN = 190

_STYLE = (
    "text{font:13px sans-serif;fill:#222}.of{font-size:9px;fill:#666;text-anchor:middle}"
    ".who{font-weight:600}circle{fill:#dcebf7;stroke:#3a6ea5}"
    "line{stroke:#3a6ea5;stroke-width:1.4}line.past{stroke:#aaa;stroke-dasharray:5 4}"
)
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="19" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0L10 5L0 10z" fill="#3a6ea5"/></marker></defs>'
)


def as_html(edges: list[Edge], title: str) -> str:
    """A page with the drawing in it."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title></head>\n'
        f'<body style="margin:0">\n{as_svg(edges, title)}</body></html>\n'
    )


def as_svg(edges: list[Edge], title: str) -> str:
    """The entities as circles, the triples as arrows with their label and when they held; past ones dashed.

    The same edges give the same drawing.
    """
    names = {e["sourceId"]: e["source"] for e in edges} | {
        e["targetId"]: e["target"] for e in edges
    }
    ids = sorted(names)
    number = {id_: index for index, id_ in enumerate(ids)}
    places = layout(
        len(ids), [(number[e["sourceId"]], number[e["targetId"]]) for e in edges]
    )
    low, high = (
        (places.min(axis=0), places.max(axis=0)) if ids else (np.zeros(2), np.zeros(2))
    )
    (left, top), (width, height) = low - MARGIN, high - low + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" role="img">',
        f"<title>{_text(title)}</title><style>{_STYLE}</style>{_ARROW}",
    ]
    met: Counter[frozenset[str]] = Counter()
    for edge in edges:
        ends = frozenset((edge["sourceId"], edge["targetId"]))
        met[ends] += 1
        parts += _edge(
            edge,
            places[number[edge["sourceId"]]],
            places[number[edge["targetId"]]],
            met[ends],
        )
    for id_, (x, y) in zip(ids, places, strict=True):
        side = "middle" if abs(x) < 20 else "start" if x > 0 else "end"
        shift = {"middle": 0, "start": 13, "end": -13}[side]
        drop = 4 if shift else -14 if y <= 0 else 24
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9"/>')
        parts.append(
            f'<text class="who" text-anchor="{side}" x="{x + shift:.1f}" y="{y + drop:.1f}">'
            f"{_text(names[id_])}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


def layout(count: int, pairs: list[tuple[int, int]]) -> Points:
    """Places for so many entities, an array of count x 2, around (0, 0).

    The best connected is the centre, those next to it are the first ring, and so on; each gets a slice
    as wide as what lies beyond it. Where not all hang together, the centre is empty and the best connected
    of each part lies on the first ring.
    """
    next_to: list[set[int]] = [set() for _ in range(count)]
    for one, other in pairs:
        next_to[one].add(other)
        next_to[other].add(one)
    order, children, depths, centres = _forest(next_to)
    leaves = [1] * count
    for node in reversed(order):
        leaves[node] = sum(leaves[child] for child in children[node]) or 1
    inner = 0 if len(centres) == 1 else 1
    step = max(RING, ROOM * sum(leaves[centre] for centre in centres) / (2 * np.pi))
    places = np.zeros((count, 2))
    slices = _slices(centres, leaves, 0.0, 2 * np.pi)
    for node in order:
        start, width = slices[node]
        angle, radius = start + width / 2, (depths[node] + inner) * step
        places[node] = radius * np.cos(angle), radius * np.sin(angle)
        slices |= _slices(children[node], leaves, start, width)
    return places


def _forest(
    next_to: list[set[int]],
) -> tuple[list[int], list[list[int]], list[int], list[int]]:
    """A tree for each part of the graph: nodes from the centres outward, children, depths, centres."""
    children: list[list[int]] = [[] for _ in next_to]
    depths = [-1] * len(next_to)
    order: list[int] = []
    centres: list[int] = []
    for centre in sorted(
        range(len(next_to)), key=lambda node: (-len(next_to[node]), node)
    ):
        if depths[centre] >= 0:
            continue
        centres.append(centre)
        depths[centre] = 0
        waiting = deque([centre])
        while waiting:
            node = waiting.popleft()
            order.append(node)
            children[node] = sorted(n for n in next_to[node] if depths[n] < 0)
            for child in children[node]:
                depths[child] = depths[node] + 1
            waiting += children[node]
    return order, children, depths, centres


def _slices(
    nodes: list[int], leaves: list[int], start: float, width: float
) -> dict[int, tuple[float, float]]:
    """The slice divided among the nodes, by what lies beyond each: start and width in radians."""
    share = width / max(1, sum(leaves[node] for node in nodes))
    found = {}
    for node in nodes:
        found[node] = (start, share * leaves[node])
        start += share * leaves[node]
    return found


def _edge(edge: Edge, start: Points, end: Points, nth: int) -> list[str]:
    """The arrow with its words along it; those of several between the same two lie side by side."""
    x, y = (
        start + 0.66 * (end - start)
        if np.hypot(*end) >= np.hypot(*start)
        else end + 0.66 * (start - end)
    )
    angle = np.degrees(np.arctan2(*(end - start)[::-1]))
    upright = (angle + 90) % 180 - 90
    past = ' class="past"' if edge["invalidAt"] else ""
    until = f" to {edge['invalidAt'][:10]}" if edge["invalidAt"] else ""
    words = f"{edge['label']} {'' if until else 'since '}{edge['validAt'][:10]}{until}"
    return [
        f'<line{past} x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        'marker-end="url(#arrow)"/>',
        f'<text class="of" transform="translate({x:.1f} {y:.1f}) rotate({upright:.1f})" '
        f'y="{11 * nth - 14}">{_text(words)}</text>',
    ]


def _text(text: str) -> str:
    """Escaped, without the control characters that no XML may hold."""
    return escape("".join(c for c in text if c.isprintable()))
