"""The predicates of the links between episodes, and how the graph tells such links."""

import re
from enum import StrEnum

from varve.domain.triple import Triple

LINK_END = "(episode|outcome|lesson|answer|finding)-[0-9a-f]{24}"
"""The form of the ids of experience. Each link has such an id at one end."""


class LinkType(StrEnum):
    """The predicates of links, as the graph stores them."""

    CAUSED_BY = "caused_by"
    LED_TO = "led_to"
    RETRY_OF = "retry_of"
    LEARNED_FROM = "learned_from"
    CONTINUATION = "continuation"
    CONTRADICTED = "contradicted"


LINKS_OF_USES = frozenset({LinkType.LED_TO, LinkType.CONTRADICTED})
"""Links of episodes and lessons that an agent used."""


def is_experience(entity: str) -> bool:
    """Return whether an entity's id is one of experience."""
    return re.fullmatch(LINK_END, entity) is not None


def is_link(triple: Triple) -> bool:
    """Return whether the triple is a link between episodes."""
    if triple.label not in set(LinkType):
        return False
    return is_experience(triple.source_id) or is_experience(triple.target_id)
