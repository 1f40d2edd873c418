"""What a walk over the triples finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a path; `forward` when it goes from the triple's subject to its object."""

    source: str
    label: str
    target: str
    forward: bool


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity, how many hops away, and the edge to `other`, one hop nearer, by which it was reached.

    `forward` when the triple goes from `other` to `entity`.
    """

    entity: str
    hops: int
    label: str
    other: str
    forward: bool
