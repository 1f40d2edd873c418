"""Generalize lessons from episodes that agree, in the order of the events."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest

from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.rows import (
    GENERALIZED,
    LessonVersion,
    lesson_id,
    union,
)
from varve.domain.experience.words import DENIED, content_words, opposite

AGREEING = 2
"""Episodes that must agree before a lesson is proposed."""
CONDITION_WORDS = 5


def explain_vagueness(condition: str, action: str) -> str | None:
    """Return why a lesson is too vague to be of use, or None if it is not.

    The condition must have two content words or more, the action at least one.
    """
    empty_words = _bare_words(_EMPTY_WORDS)
    condition_words = _bare_words(condition) - empty_words
    action_words = _bare_words(action) - empty_words
    if len(condition_words) < 2:
        return "does not say when: name at least two things that tell the situation apart"
    if not action_words:
        return "does not say what to do"
    return None


def _bare_words(text: str) -> set[str]:
    """Return the stems of a text's content words, denied or not."""
    return {stem.removeprefix(DENIED) for stem in content_words(text)}


_EMPTY_WORDS = (
    "often sometimes usually always never maybe careful carefully better wrong right"
    " good bad thing things stuff something anything everything problem problems issue"
    " issues situation situations case cases time times initial first check try think"
    " make sure really likely many much people users"
    " siempre nunca veces quizas cuidado mejor mal bien cosa cosas algo problema"
    " problemas caso casos"
)


def resolved_episodes(history: History) -> list[PastEpisode]:
    """Return the episodes whose right action is known, the oldest first."""
    return [past for past in history.past_episodes if past.resolution]


def lesson_of(past: PastEpisode) -> str:
    """Return the id of the lesson that a resolved episode supports."""
    return lesson_id(past.state, str(past.resolution))


_PUNCTUATION = ".,;:!?()[]\"'“”¿¡"


@dataclass(slots=True)
class _Agreement:
    """The agreeing episodes of a lesson so far, and their words.

    `stems` counts the episodes that have a stem, `forms` the written forms of each stem.
    """

    episodes: list[PastEpisode] = field(default_factory=list)
    stems: Counter[str] = field(default_factory=Counter)
    forms: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, past: PastEpisode) -> None:
        text = _text_of(past)
        self.episodes.append(past)
        self.stems.update(content_words(text))
        spaced = text.casefold().replace("_", " ")
        for word in spaced.split():
            bare = word.strip(_PUNCTUATION)
            for stem in content_words(bare):
                self.forms[stem][bare] += 1
                self.forms[opposite(stem)][f"no {bare}"] += 1

    def written(self, stem: str) -> str:
        """Return the stem's most frequent written form, on a tie the alphabetically first."""
        forms = self.forms[stem]
        return min(forms, key=lambda form: (-forms[form], form))


def replay_versions(history: History) -> defaultdict[str, list[LessonVersion]]:
    """Return the generalized versions of each lesson, replayed in order of event time."""
    versions: defaultdict[str, list[LessonVersion]] = defaultdict(list)
    groups: defaultdict[str, _Agreement] = defaultdict(_Agreement)
    stems: Counter[str] = Counter()
    for count, past in enumerate(resolved_episodes(history), start=1):
        id_ = lesson_of(past)
        group = groups[id_]
        group.add(past)
        stems.update(content_words(_text_of(past)))
        if len(group.episodes) < AGREEING:
            continue
        condition = ", ".join(_telling_words(group, stems, count))
        if explain_vagueness(condition, str(past.resolution)) is not None:
            continue
        version = _generalize(id_, condition, group.episodes)
        known = versions[id_]
        if not known or known[-1].claim != version.claim:
            known.append(version)
    return versions


def _claim(condition: str, last: PastEpisode) -> str:
    where = f"In {last.state}, when" if last.state else "When"
    return f"{where} it is about {condition}: {last.resolution}"


def _generalize(
    id_: str, condition: str, agreeing: Sequence[PastEpisode]
) -> LessonVersion:
    last = agreeing[-1]
    episodes = [past.episode for past in agreeing]
    user_ids = {episode.user_id for episode in episodes if episode.user_id}
    conversation_ids = {episode.conversation_id for episode in episodes}
    return LessonVersion(
        lesson_id=id_,
        claim=_claim(condition, last),
        condition=condition,
        action=str(last.resolution),
        at=last.episode.began,
        created_at=max(past.settled_at for past in agreeing),
        origin=GENERALIZED,
        state=last.state,
        tags=union(episode.tags for episode in episodes),
        supporting=tuple(sorted(episode.id for episode in episodes)),
        conversation_ids=tuple(sorted(conversation_ids)),
        user_ids=tuple(sorted(user_ids)),
    )


def _telling_words(
    group: _Agreement, stems: Mapping[str, int], count: int
) -> list[str]:
    """Return the words that set a group apart, as they were written.

    At least two of the group's episodes have such a word, and a larger share of them than of
    the other episodes. `stems` counts the episodes with each stem among all `count` episodes
    so far.
    """
    size = len(group.episodes)
    others = max(1, count - size)
    ranks: dict[str, tuple[float, float, str]] = {}
    for stem, having in group.stems.items():
        share = having / size
        other_share = (stems[stem] - having) / others
        if having >= AGREEING and share > other_share:
            ranks[stem] = (other_share - share, -share, stem)
    best = nsmallest(CONDITION_WORDS, ranks, key=ranks.__getitem__)
    return [group.written(stem) for stem in best]


def _text_of(past: PastEpisode) -> str:
    return f"{past.situation} {past.correction or ''}"
