"""Which results of a search enter a context whatever their likeness to the prompt is."""

from varve.domain.record import MemoryType
from varve.domain.search.answer import SearchResponse
from varve.domain.search.mentions import has_mentions
from varve.domain.search.question import find_whom
from varve.domain.statements.bearing import bears_on
from varve.domain.statements.cues import asks_past

MAX_BEARING = 6
"""So many of the best results may enter the block whatever their likeness is."""


def find_bearing(response: SearchResponse, prompt: str) -> frozenset[str]:
    """Return the ids of the best statements that bear on the prompt.

    The successor of a statement that bears on it does too; of a prompt about bygone times,
    both do.
    """
    is_past = asks_past(prompt)
    whom = find_whom(prompt)
    found = _find_asked_by_time(response)
    for result in response.results[:MAX_BEARING]:
        is_told = result.memory_type in (MemoryType.FACT, MemoryType.TURN)
        names = whom and has_mentions(result.content, [[whom]])
        bears = names or result.answers or bears_on(prompt, result.content)
        if is_told and bears:
            found.add(result.superseded_by or result.id)
            if is_past:
                found.add(result.id)
    return frozenset(found & {result.id for result in response.results})


def _find_asked_by_time(response: SearchResponse) -> set[str]:
    """Return the ids of the results in the time that a prompt of time alone asks for."""
    asked = response.searched.understood
    if asked is None or not asked.is_all:
        return set()
    found: set[str] = set()
    for result in response.results:
        is_late = asked.since is None or result.event_time >= asked.since
        is_early = asked.until is None or result.event_time < asked.until
        if is_late and is_early:
            found.add(result.id)
    return found
