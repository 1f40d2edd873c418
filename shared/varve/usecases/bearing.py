"""Which results of a search enter a context whatever their likeness to the prompt is."""

from collections.abc import Iterator, Sequence

from varve.domain.record import MemoryType
from varve.domain.search.answer import Result, SearchResponse
from varve.domain.search.mentions import has_mentions
from varve.domain.search.question import find_whom
from varve.domain.statements.bearing import (
    bears_on,
    concerns,
    goes_on_from,
    seeks_own_state,
)
from varve.domain.statements.cues import asks_past, read_cues

MAX_BEARING = 6
"""So many of the best results may enter the block whatever their likeness is."""
NAME_KEY = "name"
MAX_GUESSED = 3
"""So many of them do where the question asks for the speaker's own state."""


def find_bearing(
    response: SearchResponse,
    prompt: str,
    user: str | None,
    profile: Sequence[str],
) -> frozenset[str]:
    """Return the ids of the best statements that bear on the prompt.

    The best of all are guessed to bear on a question for the speaker's own state, if they
    are the `user`'s, or no one's for a prompt of none, and no entry of the `profile` answers
    it. The successor of a statement that bears on the prompt does too; where that one more
    likely holds than not, and of a prompt about bygone times, both do.
    """
    found = _find_asked_by_time(response)
    best = [one for one in response.results[:MAX_BEARING] if _is_told(one)]
    found.update(_find_changes(best, prompt))
    own = [one for one in best if one.user_id == user]
    bearing = [*_guess(own, prompt, profile), *_find_answers(best, prompt)]
    found.update(one.superseded_by or one.id for one in bearing)
    is_past = asks_past(prompt)
    found.update(one.id for one in bearing if is_past or one.odds < 0)
    return frozenset(found & {result.id for result in response.results})


def _find_answers(best: Sequence[Result], prompt: str) -> list[Result]:
    whom = find_whom(prompt)
    return [one for one in best if _bears(one, prompt, whom)]


def _guess(
    best: Sequence[Result], prompt: str, profile: Sequence[str]
) -> list[Result]:
    """Return the best results for a question that the profile does not answer.

    What repeats the profile is no guess; a name stands beside much else.
    """
    cues = read_cues(prompt)
    if not seeks_own_state(cues):
        best = [one for one in best if _names_speaker(prompt, one)]
    if not cues.asks or cues.has("asks_help"):
        return []
    if any(bears_on(prompt, entry) for entry in profile):
        return []
    attributes = (entry.partition(": ") for entry in profile)
    values = [value for key, _, value in attributes if key != NAME_KEY]
    return [
        one
        for one in best[:MAX_GUESSED]
        if not has_mentions(_words(one), [values])
    ]


def _bears(result: Result, prompt: str, whom: str) -> bool:
    """Return whether a result names the one asked about, answers or is of the matter."""
    if whom and has_mentions(result.content, [[whom]]):
        return True
    return result.answers or bears_on(prompt, result.content)


def _is_told(result: Result) -> bool:
    return result.memory_type in (MemoryType.FACT, MemoryType.TURN)


def _find_changes(best: Sequence[Result], prompt: str) -> Iterator[str]:
    """Yield the ids of the statements that end what the prompt asks for.

    Search has named the one they end, or they name nothing themselves.
    """
    asked = [one for one in best if concerns(prompt, one.content)]
    for result in asked:
        if result.superseded_by is not None:
            yield result.superseded_by
        for later in best:
            is_later = later.event_time > result.event_time
            if is_later and later.current and goes_on_from(_words(later)):
                yield later.id


def _names_speaker(prompt: str, result: Result) -> bool:
    """Return whether a prompt names who said a turn, as of a user whose name is known."""
    if result.memory_type != MemoryType.TURN:
        return False
    speaker, named, _ = result.content.partition(": ")
    return bool(named) and has_mentions(prompt, [[speaker]])


def _words(result: Result) -> str:
    """Return what a result says, without the speaker's name before a turn."""
    if result.memory_type != MemoryType.TURN:
        return result.content
    return result.content.partition(": ")[2]


def _find_asked_by_time(response: SearchResponse) -> set[str]:
    """Return the ids of the results in the time that a prompt of time alone asks for.

    Nothing is left of it: those of the first results, which are the summaries that tell of it.
    """
    asked = response.searched.understood
    if asked is None or not asked.is_all:
        return set()
    inside = {
        result.id
        for result in response.results
        if (asked.since is None or result.event_time >= asked.since)
        and (asked.until is None or result.event_time < asked.until)
    }
    return inside or set(asked.covering)
