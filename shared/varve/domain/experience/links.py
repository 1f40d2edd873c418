"""Links between episodes: triples for the graph, and the causal story that they tell.

A stored link follows from one row, or from two neighbouring episodes of one conversation.
The links of used episodes and lessons follow from the whole history and are derived on
every read. So all links are the same in whatever order the rows arrive.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from varve.domain.experience.agreement import follows
from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson
from varve.domain.experience.link_types import LinkType
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Episode, Report
from varve.domain.triple import Op, Triple, TripleOperation

LINK_WEIGHTS = {
    Outcome.SUCCESS: 1.0,
    Outcome.PARTIAL: 0.6,
    Outcome.FAILURE: 0.4,
    Outcome.UNKNOWN: 0.2,
}
"""The weight of a use's links, by outcome."""
UNSURE_WEIGHT = 0.1
"""The weight of a use's links if the decision or the used answer is unknown."""


def links_of_report(report: Report, target: str) -> list[TripleOperation]:
    """Return the links that a report alone gives its episode: its cause and its lesson."""
    links: list[TripleOperation] = []
    if report.resolution:
        cause = f"cause: {report.resolution}"
        links.append(_link(report, target, LinkType.CAUSED_BY, cause, 1.0))
    failed = report.outcome is Outcome.FAILURE
    has_lesson = report.correction or report.resolution
    if failed and has_lesson:
        links.append(
            _link(report, target, LinkType.LEARNED_FROM, report.id, 1.0)
        )
    return links


def links_of_uses(
    history: History, lessons: Iterable[Lesson]
) -> list[TripleOperation]:
    """Return the links between episodes and the episodes and lessons their agents used.

    A used item counts only if its answer is the decision taken. If the decision or the
    answer is unknown, the link has `UNSURE_WEIGHT`.
    """
    actions: dict[str, str | None] = {
        lesson.id: lesson.action for lesson in lessons
    }
    for past in history.past_episodes:
        actions[past.id] = past.resolution or past.decision
    links: list[TripleOperation] = []
    for report in history.reports:
        links += _links_of_use(report, history, actions)
    return links


def _links_of_use(
    report: Report, history: History, actions: Mapping[str, str | None]
) -> list[TripleOperation]:
    target = history.target_at(report.target, report.at)
    links: list[TripleOperation] = []
    for used in report.used:
        weight = _weight_of_use(report, actions.get(used))
        if used == target or not weight:
            continue
        links.append(_link(report, used, LinkType.LED_TO, target, weight))
        if report.outcome is Outcome.FAILURE:
            link = _link(report, target, LinkType.CONTRADICTED, used, weight)
            links.append(link)
    return links


def _weight_of_use(report: Report, answer: str | None) -> float:
    """Return the weight of a used item's links; 0 if the agent decided otherwise."""
    if not report.decision or not answer:
        return UNSURE_WEIGHT
    if follows(report.decision, answer):
        return LINK_WEIGHTS[report.outcome]
    return 0.0


def links_of_neighbours(
    before: Episode, after: Episode
) -> list[TripleOperation]:
    """Return the link between two neighbouring episodes of the same state, if any.

    The later one retries a failed episode, or continues another one.
    """
    if before.state != after.state:
        return []
    predicate = LinkType.CONTINUATION
    confidence = 0.5
    if before.verdict.outcome is Outcome.FAILURE:
        predicate = LinkType.RETRY_OF
        confidence = 0.8
    return [
        TripleOperation(
            op=Op.ADD,
            subject=after.id,
            predicate=predicate,
            object=before.id,
            event_time=after.began,
            created_at=after.created_at,
            conversation_id=after.conversation_id,
            message_ids=(before.message_ids[-1], after.message_ids[0]),
            user_id=after.user_id,
            confidence=confidence,
        )
    ]


def _link(
    report: Report, subject: str, link: LinkType, object_: str, weight: float
) -> TripleOperation:
    return TripleOperation(
        op=Op.ADD,
        subject=subject,
        predicate=link,
        object=object_,
        event_time=report.at,
        created_at=report.created_at,
        conversation_id=report.conversation_id or report.target,
        message_ids=(report.id,),
        user_id=report.user_id,
        confidence=weight,
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a story, found `depth` hops from its start."""

    depth: int
    source: str
    link: str
    target: str
    weight: float
    evidence: tuple[str, ...]


def follow_links(
    start: str, triples: Iterable[Triple], *, depth: int = 4
) -> list[Step]:
    """Return the links within `depth` hops of a record, nearest first, each once."""
    links = _links_by_id(triples)
    steps: list[Step] = []
    seen = {start}
    frontier = {start}
    for hop in range(1, depth + 1):
        found = [
            triple for triple in links.values() if _ends(triple) & frontier
        ]
        ends: set[str] = set()
        for triple in found:
            del links[triple.id]
            steps.append(_step(triple, hop))
            ends |= _ends(triple)
        frontier = ends - seen
        seen |= frontier
    return steps


def _links_by_id(triples: Iterable[Triple]) -> dict[str, Triple]:
    labels = set(LinkType)
    links: dict[str, Triple] = {}
    for triple in triples:
        if triple.label in labels:
            links.setdefault(triple.id, triple)
    return links


def _ends(triple: Triple) -> set[str]:
    return {triple.source_id, triple.target_id}


def _step(triple: Triple, depth: int) -> Step:
    evidence = chain.from_iterable(op.message_ids for op in triple.evidence)
    return Step(
        depth=depth,
        source=triple.source_id,
        link=triple.label,
        target=triple.target_id,
        weight=triple.confidence,
        evidence=tuple(evidence),
    )


_SENTENCES = {
    LinkType.CAUSED_BY: "{0} was caused by {1}",
    LinkType.LED_TO: "{0} led to {1}",
    LinkType.RETRY_OF: "{0} tried again what {1} had failed at",
    LinkType.LEARNED_FROM: "{0} was wrong, and {1} says what is right",
    LinkType.CONTINUATION: "{0} went on with {1}",
    LinkType.CONTRADICTED: "{0} spoke against {1}",
}


def tell_story(steps: Sequence[Step], history: History) -> list[str]:
    """Return a sentence for each step, indented by its depth."""
    sentences: list[str] = []
    for step in steps:
        source = _label(step.source, history)
        target = _label(step.target, history)
        template = _SENTENCES[LinkType(step.link)]
        sentence = template.format(source, target)
        indent = "  " * step.depth
        sentences.append(f"{indent}{sentence} (weight {step.weight:.1f})")
    return sentences


def _label(id_: str, history: History) -> str:
    """Return an episode's outcome and first words, a report's text, or else the id."""
    past = history.by_id.get(id_)
    if past is not None:
        return f"{id_} [{past.outcome}] “{past.situation[:60]}”"
    for report in history.reports:
        if report.id == id_:
            return f"“{report.correction or report.resolution}”"
    return id_
