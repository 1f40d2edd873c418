"""How episodes hang together: statements for the triple table, and the causal story they tell.

Every link is stated by one row or by two neighbouring episodes of one conversation alone, so the links are
the same in whatever order those arrive; the triple table keeps each once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from varve.domain.experience.history import History
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.rows import Episode, Report
from varve.domain.triple import Op, Triple, TripleOperation


class Link(StrEnum):
    """The predicates of links, in the triple table's spelling."""

    CAUSED_BY = "caused_by"
    LED_TO = "led_to"
    RETRY_OF = "retry_of"
    LEARNED_FROM = "learned_from"
    CONTINUATION = "continuation"
    CONTRADICTED = "contradicted"


WEIGHTS = {
    Outcome.SUCCESS: 1.0,
    Outcome.PARTIAL: 0.6,
    Outcome.FAILURE: 0.4,
    Outcome.UNKNOWN: 0.2,
}
"""How much a report's link weighs, by how the episode ended; the weight is the statement's confidence."""


def links_of_report(report: Report, target: str) -> list[TripleOperation]:
    """What a report says of its episode: what it came from, what it led to, what it contradicts."""
    weight = WEIGHTS[report.outcome]
    failed = report.outcome is Outcome.FAILURE
    links = [_link(report, used, Link.LED_TO, target, weight) for used in report.used]
    if failed:
        links += [
            _link(report, target, Link.CONTRADICTED, used, weight)
            for used in report.used
        ]
    if report.resolution:
        links.append(
            _link(report, target, Link.CAUSED_BY, f"cause: {report.resolution}", 1.0)
        )
    if failed and (report.correction or report.resolution):
        links.append(_link(report, target, Link.LEARNED_FROM, report.id, 1.0))
    return links


def links_of_neighbours(before: Episode, after: Episode) -> list[TripleOperation]:
    """Whether an episode tries again what has failed just before in its conversation, or goes on with it."""
    if before.state != after.state:
        return []
    retry = before.verdict.outcome is Outcome.FAILURE
    return [
        TripleOperation(
            op=Op.ADD,
            subject=after.id,
            predicate=Link.RETRY_OF if retry else Link.CONTINUATION,
            object=before.id,
            event_time=after.began,
            created_at=after.created_at,
            conversation_id=after.conversation_id,
            message_ids=(before.message_ids[-1], after.message_ids[0]),
            user_id=after.user_id,
            confidence=0.8 if retry else 0.5,
        )
    ]


def _link(
    report: Report, subject: str, link: Link, object_: str, weight: float
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
    """One link of a story, `depth` steps from where it starts."""

    depth: int
    source: str
    link: str
    target: str
    weight: float
    evidence: tuple[str, ...]


def story(start: str, triples: Iterable[Triple], *, depth: int = 4) -> list[Step]:
    """The links around a record, nearest first, each once, at most `depth` steps away."""
    links = [t for t in triples if t.label in set(Link)]
    told: list[Step] = []
    seen, edge = {start}, [start]
    done: set[str] = set()
    for away in range(1, depth + 1):
        beyond: list[str] = []
        for triple in links:
            if triple.id in done or not {triple.source_id, triple.target_id} & set(
                edge
            ):
                continue
            done.add(triple.id)
            ids = tuple(
                id_ for operation in triple.evidence for id_ in operation.message_ids
            )
            told.append(
                Step(
                    away,
                    triple.source_id,
                    triple.label,
                    triple.target_id,
                    triple.confidence,
                    ids,
                )
            )
            beyond += [
                end for end in (triple.source_id, triple.target_id) if end not in seen
            ]
        seen |= set(beyond)
        edge = beyond
    return told


_SPOKEN = {
    Link.CAUSED_BY: "{0} was caused by {1}",
    Link.LED_TO: "{0} led to {1}",
    Link.RETRY_OF: "{0} tried again what {1} had failed at",
    Link.LEARNED_FROM: "{0} was wrong, and {1} says what is right",
    Link.CONTINUATION: "{0} went on with {1}",
    Link.CONTRADICTED: "{0} spoke against {1}",
}


def told(steps: Sequence[Step], history: History) -> list[str]:
    """The story in sentences, a line a step, indented by how far it lies away."""
    return [
        "  " * step.depth
        + _SPOKEN[Link(step.link)].format(
            _named(step.source, history), _named(step.target, history)
        )
        + f" (weight {step.weight:.1f})"
        for step in steps
    ]


def _named(id_: str, history: History) -> str:
    """An episode with its outcome and first words, a report by what it says, anything else as it is."""
    lived = history.by_id.get(id_)
    if lived is not None:
        return f"{id_} [{lived.outcome}] “{lived.episode.situation[:60]}”"
    report = next((report for report in history.reports if report.id == id_), None)
    return f"“{report.correction or report.resolution}”" if report else id_
