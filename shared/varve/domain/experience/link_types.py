"""The predicates of the links between episodes, and how the graph tells such links."""

from enum import StrEnum

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
