"""Triples as trees: the neighbourhood of an entity, or one tree for each subject.

Each triple has exactly one place in the trees.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Edge = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Branch:
    """One triple, seen from the entity above it, and the triples of its other end.

    `incoming` if the triple points to the entity above.
    """

    edge: Edge
    incoming: bool = False
    below: tuple["Branch", ...] = ()

    @property
    def past(self) -> bool:
        """Whether the triple has ended."""
        return self.edge["invalidAt"] is not None

    @property
    def name(self) -> str:
        """The name of the other end."""
        end = "source" if self.incoming else "target"
        return str(self.edge[end])

    @property
    def id(self) -> str:
        """The id of the other end; empty if the triple has no object."""
        end = "sourceId" if self.incoming else "targetId"
        return str(self.edge[end])


@dataclass(frozen=True, slots=True)
class Tree:
    """An entity and the triples around it."""

    id: str
    name: str
    branches: tuple[Branch, ...]


def grow_trees(edges: Sequence[Edge], root: str | None) -> list[Tree]:
    """Return the tree of the entity `root` first; the rest, if any, by subject.

    From the root, the triples of current neighbours stand below them. Without a root
    there is one tree a subject, those with the most triples first.
    """
    grower = _Grower(edges)
    trees: list[Tree] = []
    if root is not None:
        trees.append(grower.grow_around(root))
    trees += grower.grow_rest()
    return [tree for tree in trees if tree.branches]


def format_validity(edge: Edge) -> str:
    """Return `since 2026-08-15`, or `2026-02-16 to 2026-08-15` for a past triple."""
    start = edge["validAt"][:10]
    held = f"since {start}"
    if edge["invalidAt"]:
        held = f"{start} to {edge['invalidAt'][:10]}"
    return f"{held}, asked to forget" if edge.get("askedToForget") else held


class _Grower:
    """Puts each triple in one place."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self._edges = edges
        self._by_subject: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in edges:
            self._by_subject[edge["sourceId"]].append(edge)
        self._placed: set[str] = set()

    def grow_around(self, root: str) -> Tree:
        own = self._take(self._by_subject.get(root, []))
        pointing = self._take(e for e in self._edges if e["targetId"] == root)
        branches = [self._grow(edge, incoming=False) for edge in own]
        branches += [self._grow(edge, incoming=True) for edge in pointing]
        return Tree(root, _find_name(root, own, pointing), tuple(branches))

    def grow_rest(self) -> list[Tree]:
        trees: list[Tree] = []
        for subject, edges in self._by_subject.items():
            own = self._take(edges)
            branches = tuple(Branch(edge) for edge in own)
            trees.append(Tree(subject, _find_name(subject, own, ()), branches))
        return sorted(trees, key=lambda tree: (-len(tree.branches), tree.name))

    def _grow(self, edge: Edge, *, incoming: bool) -> Branch:
        branch = Branch(edge, incoming)
        if branch.past:
            return branch
        below = self._take(self._by_subject.get(branch.id, []))
        return Branch(edge, incoming, tuple(Branch(one) for one in below))

    def _take(self, edges: Iterable[Edge]) -> list[Edge]:
        """Return the edges that have no place yet, in order, and give them one."""
        taken = [edge for edge in edges if edge["id"] not in self._placed]
        self._placed.update(edge["id"] for edge in taken)
        newest_first = sorted(taken, key=_start, reverse=True)
        return sorted(newest_first, key=_label_and_past)


def _start(edge: Edge) -> str:
    return str(edge["validAt"])


def _label_and_past(edge: Edge) -> tuple[str, bool]:
    """Sort by label, then current before past."""
    return edge["label"], edge["invalidAt"] is not None


def _find_name(id_: str, own: Sequence[Edge], pointing: Sequence[Edge]) -> str:
    if own:
        return str(own[-1]["source"])
    return str(pointing[0]["target"]) if pointing else id_
