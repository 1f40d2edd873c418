"""Experience: episodes with their outcomes, and lessons with their evidence."""

from typing import Any

from varve.api.experience import Experience
from varve.api.lessons import lesson_as_json
from varve.domain.experience.outcomes import Outcome
from varve.look.links import target
from varve.look.visit import SHOWN, PageView, Visit


def list_experience(visit: Visit) -> PageView:
    """List lessons, the most trustworthy first, and episodes, the newest first."""
    start = visit.where.number("start")
    experience = visit.memory.experience
    outcome = visit.where.option("outcome")
    # One more than the page shows tells whether there is a next page.
    newest = _list_episodes(experience, outcome, start + SHOWN + 1)
    episodes = newest[start:]
    lessons = experience.lessons.all()
    values = {
        "outcome": outcome,
        "outcomes": [one.value for one in Outcome],
        "lessons": [lesson_as_json(one) for one in lessons[:SHOWN]],
        "lesson_count": len(lessons),
        "episodes": episodes[:SHOWN],
        "more": len(episodes) > SHOWN,
        "start": start,
        "shown": SHOWN,
    }
    return PageView(
        "experience.html",
        "Experience",
        values,
        up=target("timeline"),
        command=("lessons", "list"),
    )


def _list_episodes(
    experience: Experience, outcome: str, most: int
) -> list[dict[str, Any]]:
    """Return the newest episodes that ended so; all outcomes if none is named."""
    if not outcome:
        return experience.episodes(limit=most)
    ended = [one for one in experience.episodes() if one["outcome"] == outcome]
    return ended[:most]


def show_episode(visit: Visit) -> PageView:
    """Show an episode and its links. Raises Rejected: there is no such episode."""
    id_ = visit.key()
    experience = visit.memory.experience
    values = {
        "episode": experience.episode(id_),
        "links": experience.why(id_)["links"],
    }
    return PageView(
        "episode.html",
        "Episode",
        values,
        up=target("experience"),
        command=("episode", "show", id_),
    )


def show_lesson(visit: Visit) -> PageView:
    """Show a lesson with its evidence. Raises Rejected: there is no such lesson."""
    id_ = visit.key()
    lesson = lesson_as_json(visit.memory.experience.lessons.find(id_))
    return PageView(
        "lesson.html",
        "Lesson",
        {"lesson": lesson},
        up=target("experience"),
        command=("lessons", "retire", id_),
    )
