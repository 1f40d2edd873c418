"""Draw docs/flow.svg from docs/flow.txt, for light and dark pages.

Run: `python -m docs.flow`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "flow.txt"
PICTURE = HERE / "flow.svg"

BOX_WIDTH, BOX_HEIGHT = 150, 52
COLUMN_WIDTH, ROW_HEIGHT = 178, 104
MARGIN = 14
CORNERS = {"caller": 26, "function": 4, "queue": 14, "store": 4}

STYLE = """
  text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1f2328; }
  .small { font-size: 11px; fill: #59636e; }
  rect { stroke-width: 1.5; }
  .caller { fill: #ffffff; stroke: #8c959f; }
  .function { fill: #ddf4ff; stroke: #0969da; }
  .queue { fill: #fff8c5; stroke: #9a6700; stroke-dasharray: 5 3; }
  .store { fill: #dafbe1; stroke: #1a7f37; }
  path { fill: none; stroke: #59636e; stroke-width: 1.5; }
  marker path { fill: #59636e; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .caller { fill: #0d1117; stroke: #9198a1; }
    .function { fill: #0c2d6b; stroke: #4493f8; }
    .queue { fill: #3b2300; stroke: #d29922; }
    .store { fill: #033a16; stroke: #3fb950; }
    path { stroke: #9198a1; }
    marker path { fill: #9198a1; }
  }
"""


@dataclass(frozen=True)
class Box:
    """One box of the picture, placed by column and row."""

    name: str
    kind: str
    column: int
    row: int
    lines: tuple[str, ...]

    @property
    def x(self) -> int:
        """The centre, from the left."""
        return MARGIN + self.column * COLUMN_WIDTH + BOX_WIDTH // 2

    @property
    def y(self) -> int:
        """The centre, from the top."""
        return MARGIN + self.row * ROW_HEIGHT + BOX_HEIGHT // 2


@dataclass(frozen=True)
class Edge:
    """One arrow, from a box to another."""

    start: Box
    end: Box
    label: str

    def path(self) -> str:
        """Return the arrow's way as SVG path data: along the row, or by the rows' gap."""
        if self.start.row == self.end.row:
            return self._path_along_row()
        down = self.end.row > self.start.row
        side = BOX_HEIGHT // 2 if down else -BOX_HEIGHT // 2
        begin = self.start.y + side
        finish = self.end.y - side
        if self.start.column == self.end.column:
            return f"M{self.start.x},{begin} V{finish}"
        if abs(self.end.row - self.start.row) == 1:
            left = self.start.x - BOX_WIDTH // 4
            bend = (begin + finish) // 2
            return f"M{left},{begin} V{bend} H{self.end.x} V{finish}"
        beside = self.end.x - BOX_WIDTH // 4
        bend = finish + (ROW_HEIGHT - BOX_HEIGHT) // 4
        return f"M{self.start.x},{begin} V{bend} H{beside} V{finish}"

    def _path_along_row(self) -> str:
        side = BOX_WIDTH // 2
        if self.end.column < self.start.column:
            side = -side
        return f"M{self.start.x + side},{self.start.y} H{self.end.x - side}"


def draw(source: str) -> str:
    """Return the SVG of a source text."""
    boxes: dict[str, Box] = {}
    edges: list[Edge] = []
    for line in source.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "box":
            box = _parse_box(rest)
            boxes[box.name] = box
        elif word == "edge":
            start, end, *label = rest.split(maxsplit=2)
            edges.append(Edge(boxes[start], boxes[end], " ".join(label)))
    width = max(box.x for box in boxes.values()) + BOX_WIDTH // 2 + MARGIN
    height = max(box.y for box in boxes.values()) + BOX_HEIGHT // 2 + MARGIN
    return "\n".join(_lines(width, height, list(boxes.values()), edges)) + "\n"


def _parse_box(text: str) -> Box:
    name, kind, column, row, words = text.split(maxsplit=4)
    lines = tuple(line.strip() for line in words.split("|"))
    return Box(name, kind, int(column), int(row), lines)


def _lines(
    width: int, height: int, boxes: list[Box], edges: list[Edge]
) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">'
    )
    yield "<title>How a conversation becomes memory, and how it is found</title>"
    yield f"<style>{STYLE}</style>"
    yield (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 Z"/></marker></defs>'
    )
    for edge in edges:
        yield f'<path d="{edge.path()}" marker-end="url(#head)"/>'
        if edge.label:
            x = (edge.start.x + edge.end.x) // 2
            y = (edge.start.y + edge.end.y) // 2 - 5
            yield f'<text class="small" x="{x}" y="{y}">{escape(edge.label)}</text>'
    for box in boxes:
        yield from _box_lines(box)
    yield "</svg>"


def _box_lines(box: Box) -> Iterator[str]:
    left = box.x - BOX_WIDTH // 2
    top = box.y - BOX_HEIGHT // 2
    yield (
        f'<rect class="{box.kind}" x="{left}" y="{top}" width="{BOX_WIDTH}" '
        f'height="{BOX_HEIGHT}" rx="{CORNERS[box.kind]}"/>'
    )
    first, *others = box.lines
    yield f'<text x="{box.x}" y="{box.y - 3 if others else box.y + 4}">{escape(first)}</text>'
    for line in others:
        yield f'<text class="small" x="{box.x}" y="{box.y + 14}">{escape(line)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(SOURCE.read_text("utf-8")), encoding="utf-8")
