"""Which results of a search may enter a context, and which whatever their likeness to the prompt."""

import math
from collections.abc import Collection, Iterator, Sequence

from varve.domain.record import MemoryType
from varve.domain.search.answer import Result, SearchResponse
from varve.domain.search.mentions import has_mentions
from varve.domain.search.question import find_whom
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.statements.pairs.events import asks_bygone
from varve.domain.statements.questions.bearing import (
    bears_on,
    concerns,
    goes_on_from,
    seeks_own_state,
)
from varve.domain.statements.texts.cues import read_cues

MAX_BEARING = 6
"""So many of the best results may enter the block whatever their likeness is."""
GONE = 1.0
"""The least odds of a superseded statement that a block about the present leaves out."""
NAME_KEY = "name"
MAX_GUESSED = 5
"""So many of them do where the question asks for the speaker's own state."""


def select_results(response: SearchResponse, prompt: str) -> list[Result]:
    """Return the results for the block.

    A prompt about the present gets none that a correction or a model's verdict replaced,
    and a question none that a result surely superseded.
    """
    if asks_bygone(prompt):
        return response.results
    places = _find_places(response) if read_cues(prompt).asks else {}
    return [one for one in response.results if not _is_gone(one, places)]


def _find_places(response: SearchResponse) -> dict[str, str]:
    """Return the result in which each record has its place, by their ids."""
    found: dict[str, str] = {}
    for result in response.results:
        found.update(dict.fromkeys(result.record_ids, result.id))
    return found


def _is_gone(result: Result, found: Collection[str]) -> bool:
    """Return whether a correction or a verdict replaced a result, or a found one surely did."""
    least = GONE if result.superseded_by in found else math.inf
    return result.odds >= least


def find_bearing(
    response: SearchResponse,
    prompt: str,
    user: str | None,
    profile: Sequence[str],
) -> frozenset[str]:
    """Return the ids of the best statements that bear on the prompt.

    The best of all are guessed to bear on a question for the speaker's own state, if they
    are the `user`'s, or no one's for a prompt of none, and no entry of the `profile` answers
    it. The successor of a statement that bears on the prompt does so in its place; where the
    pair is doubtful, and of a prompt about bygone times, both do.
    """
    places = _find_places(response)
    found = _find_asked_by_time(response)
    best = [one for one in response.results[:MAX_BEARING] if _is_told(one)]
    found.update(_find_changes(best, prompt))
    own = [one for one in best if one.user_id == user]
    bearing = [*_guess(own, prompt, profile), *_find_answers(best, prompt)]
    found.update(_follow(bearing, is_past=asks_bygone(prompt)))
    return frozenset(places[one] for one in found if one in places)


def find_telling(results: Sequence[Result], prompt: str) -> frozenset[str]:
    """Return the ids of the best summaries with a sentence that bears on the prompt.

    `results` are those for the block. The sentence holds, and its words have expired.
    """
    return frozenset(
        one.id
        for one in results[:MAX_BEARING]
        if one.memory_type == MemoryType.SUMMARY and _tells_any(one, prompt)
    )


def _tells_any(summary: Result, prompt: str) -> bool:
    left_out = {*summary.outdated, *summary.repeats}
    return any(
        bears_on(prompt, sentence.said)
        for sentence in read_sentences(summary.content)
        if sentence.wording not in left_out
    )


def _follow(bearing: Sequence[Result], *, is_past: bool) -> Iterator[str]:
    """Yield the ids of the successors of what bears on a prompt, and of what may hold."""
    for one in bearing:
        if is_past or one.odds < 0:
            yield one.id
        yield one.superseded_by or one.id


def _find_answers(best: Sequence[Result], prompt: str) -> list[Result]:
    whom = find_whom(prompt)
    return [one for one in best if _bears(one, prompt, whom)]


def _guess(
    best: Sequence[Result], prompt: str, profile: Sequence[str]
) -> list[Result]:
    """Return the best results for a question that the profile does not answer.

    What repeats the profile is no guess; a name stands beside much else.
    """
    if any(bears_on(prompt, entry) for entry in profile):
        return []
    attributes = (entry.partition(": ") for entry in profile)
    values = [value for key, _, value in attributes if key != NAME_KEY]
    return [
        one
        for one in _find_own(best, prompt)[:MAX_GUESSED]
        if not has_mentions(_words(one), [values])
    ]


def _find_own(best: Sequence[Result], prompt: str) -> Sequence[Result]:
    """Return the results if a question asks for the speaker's own state.

    Of one that names them instead: what they said.
    """
    asked = read_cues(prompt)
    if seeks_own_state(asked):
        return best
    if not asked.asks or asked.has("asks_help"):
        return []
    return [one for one in best if _names_speaker(prompt, one)]


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
    speaker, _ = _split(result)
    return bool(speaker) and has_mentions(prompt, [[speaker]])


def _words(result: Result) -> str:
    """Return what a result says, without the speaker's name before a turn."""
    return _split(result)[1]


def _split(result: Result) -> tuple[str, str]:
    """Return who said a turn, "" of another result, and what it says."""
    if result.memory_type != MemoryType.TURN:
        return "", result.content
    speaker, named, words = result.content.partition(": ")
    return speaker if named else "", words


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
