"""The core sample: periods as layers of sediment, the newest at the top.

A layer's height tells how much was said in it, its shade too; its texture are the periods
one grain finer. The wave of a layer's edge comes from its label, so it never changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sin, sqrt

from varve.domain.identity import digest
from varve.domain.strata import Strata, Stratum
from varve.look.formats import name_period, name_period_briefly

LEFT, RIGHT = 74, 190
"""The edges of the core, in pixels."""
TOP = 26
LEAST, MOST = 17.0, 54.0
"""The height of a layer, in pixels; the most is that of the largest one."""
GAP = 10
"""Space between two groups of layers."""
SHADES = 4
_STEP = 4
_WAVE = 1.7

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: outline and texture as SVG paths, label and full name."""

    stratum: Stratum
    label: str
    name: str
    outline: str
    texture: tuple[str, ...]
    shade: int
    top: float
    height: float

    @property
    def middle(self) -> float:
        """The height at which its label stands."""
        return self.top + self.height / 2


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Layers that belong to one coarser period; `label` is drawn at their top."""

    stratum: Stratum
    label: str
    top: float
    layers: tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class CoreSample:
    """All groups, newest first, and the height of the drawing in pixels."""

    groups: tuple[LayerGroup, ...]
    height: float


def draw_core(
    strata: Strata, groups: Sequence[tuple[Stratum, Sequence[Stratum]]]
) -> CoreSample:
    """Return the drawing of groups of strata, all given oldest first."""
    amounts: list[int] = []
    for _, layers in groups:
        amounts += [layer.amount for layer in layers]
    greatest = max(amounts, default=0)
    y: float = TOP
    drawn: list[LayerGroup] = []
    for group, layers in reversed(groups):
        placed: list[Layer] = []
        top = y
        for stratum in reversed(layers):
            shade = _find_shade(stratum.amount, amounts)
            layer = _draw_layer(strata, stratum, y, greatest, shade)
            placed.append(layer)
            y += layer.height
        label = name_period_briefly(group.period)
        drawn.append(LayerGroup(group, label, top, tuple(placed)))
        y += GAP
    return CoreSample(tuple(drawn), height=y + GAP)


def _find_shade(amount: int, amounts: Sequence[int]) -> int:
    """Return the quarter of all layers in which an amount lies, 1 to 4; 0 for nothing."""
    if not amount:
        return 0
    fewer = sum(one < amount for one in amounts)
    return 1 + SHADES * fewer // len(amounts)


def _draw_layer(
    strata: Strata, stratum: Stratum, top: float, greatest: int, shade: int
) -> Layer:
    share = sqrt(stratum.amount / greatest) if greatest else 0.0
    height = LEAST + (MOST - LEAST) * share
    label = stratum.period.label
    above = _wave(top, label)
    below = _wave(top + height, _find_label_below(stratum))
    return Layer(
        stratum=stratum,
        label=name_period_briefly(stratum.period),
        name=name_period(stratum.period),
        outline=f"M{_spell(above)}L{_spell(below[::-1])}Z",
        texture=tuple(_draw_texture(strata, stratum, top, height)),
        shade=shade,
        top=top,
        height=height,
    )


def _find_label_below(stratum: Stratum) -> str:
    """Return the label that shapes the lower edge: that of the period before."""
    return stratum.period.previous().label


def _draw_texture(
    strata: Strata, stratum: Stratum, top: float, height: float
) -> list[str]:
    """Return a line for each finer period but the newest, where it begins."""
    finer = strata.children(stratum.period)
    whole = sum(one.amount for one in finer)
    lines: list[str] = []
    if not whole:
        return lines
    y = top
    for one in reversed(finer[1:]):
        y += height * one.amount / whole
        if top + 2 < y < top + height - 2:
            lines.append(f"M{_spell(_wave(y, one.period.label))}")
    return lines


def _wave(y: float, label: str) -> list[Point]:
    """Return the points of an edge from left to right."""
    seed = int(digest(label, length=8), 16)
    one = seed % 628 / 100
    other = seed // 628 % 628 / 100
    points: list[Point] = []
    for x in range(LEFT, RIGHT + 1, _STEP):
        long = sin(0.055 * x + one)
        short = sin(0.19 * x + other)
        points.append((x, y + _WAVE * long + 0.35 * _WAVE * short))
    return points


def _spell(points: Sequence[Point]) -> str:
    return "L".join(f"{x:g} {y:.1f}" for x, y in points)
