"""Generalize lessons from episodes that agree, in the order of the events."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from varve.domain.experience.conditions import choose_condition
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.rows import GENERALIZED, LessonVersion, union
from varve.domain.experience.words import DENIED, content_words

AGREEING = 2
"""Episodes that must agree before a lesson is proposed."""


Vagueness = tuple[str, str]
"""The part of a lesson that is vague, and what it must have."""


def explain_vagueness(condition: str, action: str) -> Vagueness | None:
    """Return why a lesson is too vague to be of use, or None if it is not.

    The condition must have two content words or more, the action at least one.
    """
    empty_words = _bare_words(_EMPTY_WORDS)
    condition_words = _bare_words(condition) - empty_words
    action_words = _bare_words(action) - empty_words
    if len(condition_words) < 2:
        return (
            "when",
            "must name at least two things that tell the situation apart",
        )
    if not action_words:
        return "then", "must say what to do"
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


@dataclass(slots=True)
class _Agreement:
    """The agreeing episodes of a lesson so far, and how many of them have each stem."""

    episodes: list[PastEpisode] = field(default_factory=list)
    stems: Counter[str] = field(default_factory=Counter)

    def add(self, past: PastEpisode) -> None:
        self.episodes.append(past)
        self.stems.update(content_words(_text_of(past)))


def replay_versions(
    history: History, lesson_of: Mapping[str, str]
) -> defaultdict[str, list[LessonVersion]]:
    """Return the generalized versions of each lesson, replayed in order of event time.

    `lesson_of` has the lesson of each resolved episode. A lesson without a sentence that
    says when it holds is not proposed.
    """
    versions: defaultdict[str, list[LessonVersion]] = defaultdict(list)
    groups: defaultdict[str, _Agreement] = defaultdict(_Agreement)
    stems: Counter[str] = Counter()
    for count, past in enumerate(resolved_episodes(history), start=1):
        id_ = lesson_of[past.id]
        group = groups[id_]
        group.add(past)
        stems.update(content_words(_text_of(past)))
        if len(group.episodes) < AGREEING:
            continue
        telling = _weigh_telling_words(group, stems, count)
        condition = choose_condition(group.episodes, telling)
        if explain_vagueness(condition, str(past.resolution)) is not None:
            continue
        version = _generalize(id_, condition, group.episodes)
        known = versions[id_]
        if not known or known[-1].claim != version.claim:
            known.append(version)
    return versions


def _claim(condition: str, last: PastEpisode) -> str:
    where = f"In {last.state}, when" if last.state else "When"
    return f"{where} {condition}: {last.resolution}"


def _generalize(
    id_: str, condition: str, agreeing: Sequence[PastEpisode]
) -> LessonVersion:
    last = agreeing[-1]
    episodes = [past.episode for past in agreeing]
    user_ids = {episode.user_id for episode in episodes if episode.user_id}
    conversation_ids = {episode.conversation_id for episode in episodes}
    ids = [episode.id for episode in episodes]
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
        supporting=tuple(sorted(ids)),
        conversation_ids=tuple(sorted(conversation_ids)),
        user_ids=tuple(sorted(user_ids)),
    )


def _weigh_telling_words(
    group: _Agreement, stems: Mapping[str, int], count: int
) -> dict[str, float]:
    """Return a weight for each stem that sets a group apart.

    At least two of the group's episodes have such a stem, and a larger share of them than of
    the other episodes. `stems` counts the episodes with each stem among all `count` episodes
    so far.
    """
    size = len(group.episodes)
    others = max(1, count - size)
    weights: dict[str, float] = {}
    for stem, having in group.stems.items():
        share = having / size
        other_share = (stems[stem] - having) / others
        if having >= AGREEING and share > other_share:
            weights[stem] = share - other_share
    return weights


def _text_of(past: PastEpisode) -> str:
    return f"{past.situation} {past.correction or ''}"
