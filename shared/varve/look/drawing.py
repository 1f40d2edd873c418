"""A drawing of triples as trees: an SVG, or an HTML page with it.

Both are self-contained: they refer to no other file and no address. Each triple has its
own row, so no label can lie on another one, however many there are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from varve.look.branches import Branch, Edge, Tree, format_validity, grow_trees
from varve.look.formats import as_words
from varve.look.text_lines import Line, Piece, fill_lines, measure

SIZE = 13
"""Size of the type, in pixels."""
LINE = 18
"""Height of a line of text, in pixels."""
SPACE = 8
"""Space between two rows, in pixels."""
INDENT = 36
LEFT, TOP = 20, 16
TEXT = 640
"""Width of a row's text, in pixels."""
NO_TRIPLES = "no triples"

_STYLE = """
svg{background:#fbf9f5}text{font:13px/18px system-ui,sans-serif;fill:#23201b}
tspan{unicode-bidi:isolate}.of,.when{fill:#6b6255}.who,.root{font-weight:600}
circle{fill:#8c7355}circle.past{fill:#fbf9f5;stroke:#b9a283}
path{fill:none;stroke:#b9a283;stroke-width:1.5}path.past{stroke-dasharray:4 4}
@media (prefers-color-scheme:dark){svg{background:#171512}text{fill:#ece6db}
.of,.when{fill:#a89d8b}circle{fill:#857559}circle.past{fill:#171512;stroke:#5c5240}
path{stroke:#5c5240}}
"""

AddressOf = Callable[[str], str]
"""Returns the address of an entity's page."""


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """One row: its lines of text, its place, and that of the row it hangs from.

    `y` is the middle of the first line. `above` is None for the root of a tree.
    """

    lines: tuple[Line, ...]
    depth: int
    y: float
    above: float | None
    past: bool
    entity: str

    @property
    def x(self) -> float:
        """The place of the row's dot."""
        return LEFT + self.depth * INDENT


def draw_html(
    edges: Sequence[Edge],
    title: str,
    root: str | None = None,
    left_out: int = 0,
) -> str:
    """Return an HTML page with the drawing."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{clean(title)}</title></head>\n"
        '<body style="margin:0">\n'
        f"{draw_svg(edges, title, root, left_out)}</body></html>\n"
    )


def draw_svg(
    edges: Sequence[Edge],
    title: str,
    root: str | None = None,
    left_out: int = 0,
) -> str:
    """Return an SVG of the triples around `root`, or of all by subject.

    Past triples are dashed. `left_out` triples are said to be missing. The same edges
    give the same drawing.
    """
    rows = place_rows(grow_trees(edges, root), left_out)
    inner = f"<title>{clean(title)}</title><style>{_STYLE}</style>"
    return _wrap(
        rows, inner, 'xmlns="http://www.w3.org/2000/svg" role="img"', None
    )


def draw_inline(
    edges: Sequence[Edge], root: str, left_out: int, address: AddressOf
) -> str:
    """Return an SVG for a page that has the style; names link to their entities."""
    rows = place_rows(grow_trees(edges, root), left_out)
    given = 'class="tree" role="group" aria-label="Neighbourhood"'
    return _wrap(rows, "", given, address)


def place_rows(trees: Sequence[Tree], left_out: int = 0) -> list[DrawnRow]:
    """Return the rows of the trees from top to bottom."""
    placer = _Placer()
    for tree in trees:
        placer.add_tree(tree)
    if not trees:
        placer.add_remark(NO_TRIPLES)
    if left_out:
        noun = "triple is" if left_out == 1 else "triples are"
        placer.add_remark(f"{left_out:,} more {noun} not drawn")
    return placer.rows


def clean(text: str) -> str:
    """Escape the text for XML, and drop the control characters that XML forbids."""
    printable = "".join(
        character for character in text if character.isprintable()
    )
    return escape(printable)


class _Placer:
    def __init__(self) -> None:
        self.rows: list[DrawnRow] = []
        self._y: float = TOP

    def add_tree(self, tree: Tree) -> None:
        """Add an entity and all rows below it."""
        root = self._add([Piece("root", tree.name)], 0, None, tree.id)
        for branch in tree.branches:
            self._add_branch(branch, root.y, 1)
        self._y += SPACE

    def add_remark(self, text: str) -> None:
        """Add a row without a dot's parent, in quiet type."""
        self._add([Piece("of", text)], 0, None, "")

    def _add_branch(self, branch: Branch, above: float, depth: int) -> None:
        arrow = "←" if branch.incoming else "→"
        pieces = [
            Piece("of", f"{as_words(branch.edge['label'])} {arrow}"),
            Piece("who", branch.name),
            Piece("when", format_validity(branch.edge)),
        ]
        row = self._add(pieces, depth, above, branch.id, past=branch.past)
        for below in branch.below:
            self._add_branch(below, row.y, depth + 1)

    def _add(
        self,
        pieces: Sequence[Piece],
        depth: int,
        above: float | None,
        entity: str,
        *,
        past: bool = False,
    ) -> DrawnRow:
        printable = [
            Piece(one.style, _keep_printable(one.text)) for one in pieces
        ]
        lines = tuple(fill_lines(printable, TEXT, SIZE))
        row = DrawnRow(lines, depth, self._y + LINE / 2, above, past, entity)
        self.rows.append(row)
        self._y += LINE * len(lines) + SPACE
        return row


def _keep_printable(text: str) -> str:
    return "".join(
        character if character.isprintable() else " " for character in text
    )


def _wrap(
    rows: Sequence[DrawnRow],
    inner: str,
    attributes: str,
    address: AddressOf | None,
) -> str:
    """Return the SVG element around the rows; `inner` comes first in it."""
    ends = [row.x + 14 + _measure_row(row) for row in rows]
    width = max(ends) + LEFT
    last = rows[-1]
    height = last.y + LINE * len(last.lines) + TOP
    size = f'width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg {attributes} {size} viewBox="0 0 {width:.0f} {height:.0f}">{inner}',
    ]
    for row in rows:
        parts += _draw_row(row, address)
    return "\n".join([*parts, "</svg>", ""])


def _measure_row(row: DrawnRow) -> float:
    """Return the most that a row's longest line is wide, spaces between pieces included."""
    widths: list[float] = []
    for line in row.lines:
        text = " ".join(piece.text for piece in line)
        widths.append(measure(text, SIZE) * 1.06 + SIZE)
    return max(widths, default=0.0)


def _draw_row(row: DrawnRow, address: AddressOf | None) -> Iterator[str]:
    style = ' class="past"' if row.past else ""
    if row.above is not None:
        start = row.x - INDENT
        top = row.above + 5
        end = row.x - 4
        yield f'<path{style} d="M{start:g} {top:g}V{row.y:g}H{end:g}"/>'
    if row.entity:
        yield f'<circle{style} cx="{row.x:g}" cy="{row.y:g}" r="4"/>'
    x = row.x + 14
    for number, line in enumerate(row.lines):
        y = row.y + 4.5 + LINE * number
        pieces = " ".join(
            _draw_piece(piece, row.entity, address) for piece in line
        )
        yield f'<text x="{x:g}" y="{y:g}">{pieces}</text>'


def _draw_piece(piece: Piece, entity: str, address: AddressOf | None) -> str:
    drawn = f'<tspan class="{piece.style}">{clean(piece.text)}</tspan>'
    if address is None or piece.style != "who" or not entity:
        return drawn
    return f'<a href="{escape(address(entity))}">{drawn}</a>'
