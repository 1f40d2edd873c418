"""Recall: which past episodes and lessons bear on a situation, and how they are linked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from varve.domain.errors import Rejected
from varve.domain.experience import links
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.experience.link_types import LINKS_OF_USES
from varve.domain.experience.reads import ReadCounts, usage_record
from varve.domain.experience.recall import Recollection, recollect
from varve.domain.experience.runs import links_of_runs
from varve.domain.record import Store
from varve.domain.search.query import SearchRequest
from varve.domain.triple import Triple, TripleOperation, fold
from varve.domain.validation import valid_text
from varve.ports.meter import doing
from varve.ports.search import word_embedding
from varve.usecases.experience.learnt import limit_to_user
from varve.usecases.experience.rows import (
    read_history,
    read_past,
    send_rows,
    year_of,
)
from varve.usecases.session import Session


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A situation to compare with the past; `user_id` limits the past to one user's.

    Episodes of another `regime` weigh half.
    """

    situation: str
    state: str | None = None
    user_id: str | None = None
    limit: int = 8
    regime: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RecallOutcome:
    """The recollection, and for each episode the links beside it as sentences."""

    found: Recollection
    chains: Mapping[str, Sequence[str]]


@doing("recall")
def recall(session: Session, request: RecallRequest) -> RecallOutcome:
    """Return the episodes and lessons that bear on a situation.

    Raises Rejected: the situation has no words, or the limit is below 1.
    """
    if not valid_text(request.situation, "situation").strip():
        raise Rejected("situation", "must not be empty")
    if not isinstance(request.limit, int) or request.limit < 1:
        raise Rejected("limit", "must be a whole number, 1 or more")
    view = session.views.read(session, SearchRequest(), (Store.EXPERIENCE,))
    session = session.with_config(view.config)
    whole = read_history(session.scope, reader=view.reader)
    history = limit_to_user(whole, request.user_id)
    lessons = derive_lessons(history, session.embedder.embed)
    situation = session.privacy(request.situation)
    embedder = session.embedder
    (vector,) = embedder.embed([situation])
    found = recollect(
        situation,
        vector,
        history,
        lessons,
        embedder.embed,
        words=word_embedding(embedder),
        state=request.state and session.privacy(request.state),
        limit=request.limit,
        regime=request.regime,
    )
    episodes = [item.id for item in found.items if item.kind == "episode"]
    if not episodes:
        return RecallOutcome(found, {})
    triples = _with_derived_links(session, view.triples(), history, lessons)
    chains: dict[str, list[str]] = {}
    for id_ in episodes:
        followed = links.follow_links(id_, triples, depth=1)
        chains[id_] = links.tell_story(followed, history)
    return RecallOutcome(found, chains)


def explain_episode(
    session: Session, id_: str, depth: int
) -> tuple[list[links.Step], list[str]]:
    """Return the links around an episode and their story. Raises Rejected: no such episode."""
    history = read_past(session)
    episode = find_episode(session, history, id_).episode
    triples = _with_derived_links(
        session,
        session.graph.triples(session.scope),
        history,
        derive_lessons(history, session.embedder.embed),
    )
    steps = links.follow_links(episode.id, triples, depth=depth)
    return steps, links.tell_story(steps, history)


def find_episode(session: Session, history: History, id_: str) -> PastEpisode:
    """Return one episode. Raises Rejected: there is none of this id."""
    found = history.by_id.get(id_)
    if found is None:
        raise Rejected(
            "episode", f"there is no episode {id_[:60]!r} in {session.scope}"
        )
    return found


def write_reads(session: Session, reads: Mapping[str, int]) -> None:
    """Send a row that counts how often records were read. Raises Retryable."""
    at = session.now
    parts = [f"{id_}:{count}" for id_, count in sorted(reads.items())]
    counted = ReadCounts(dict(reads), at, ",".join(parts))
    row = usage_record(counted, year_of(at, session.zone))
    send_rows(session, [row])


def _with_derived_links(
    session: Session,
    triples: Iterable[Triple],
    history: History,
    lessons: Sequence[Lesson],
) -> list[Triple]:
    """Return the agent's triples with the links derived from all its episodes.

    Stored links of uses are left out: what a use is worth depends on the whole history.
    """
    kept = [triple for triple in triples if triple.label not in LINKS_OF_USES]
    thresholds = session.config.experience.thresholds
    derived: list[TripleOperation] = [
        *links_of_runs(history, thresholds, session.embedder.embed),
        *links.links_of_uses(history, lessons),
    ]
    for report in history.reports:
        if not report.names_episode:
            target = history.target_at(report.target, report.at)
            derived += links.links_of_report(report, target)
    return [*kept, *fold(derived)]
