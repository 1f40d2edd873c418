"""Forget experience beside retention: time to live, decay, eviction, where configured."""

from collections import defaultdict

from varve.domain.experience.answers import answer_from, choose_evicted
from varve.domain.experience.config import ExperienceConfig
from varve.domain.experience.forgetting import choose_forgotten
from varve.domain.experience.history import History
from varve.domain.experience.research import (
    ResearchFinding,
    ResearchLog,
    finding_from,
)
from varve.domain.record import MemoryType
from varve.usecases.experience.rows import delete_rows, read_past
from varve.usecases.session import Session


def forget_unread(session: Session, *, dry_run: bool) -> dict[str, str]:
    """Delete the rows of `find_forgotten`; with `dry_run` nothing is deleted."""
    gone = find_forgotten(session)
    if not dry_run:
        delete_rows(session, list(gone))
    return gone


def find_forgotten(session: Session) -> dict[str, str]:
    """Return the ids of rows that the configuration forgets, sorted, with the reasons.

    Empty if it forgets nothing.
    """
    limits = session.config.experience
    if not limits.forgets:
        return {}
    history = read_past(session)
    gone = choose_forgotten(
        history, session.now, limits.time_to_live_days, limits.decay_limits
    )
    if limits.evict:
        gone |= _find_evicted(history, session, limits)
    return dict(sorted(gone.items()))


def _find_evicted(
    history: History, session: Session, limits: ExperienceConfig
) -> dict[str, str]:
    """Return the answers and research entries beyond their limits, with the reasons."""
    answers = [
        answer_from(row) for row in history.rows(MemoryType.PRIOR_ANSWER)
    ]
    gone = choose_evicted(
        answers, history.reads, session.now, limits.answer_limits
    )
    logs: defaultdict[str, list[ResearchFinding]] = defaultdict(list)
    for row in history.rows(MemoryType.FINDING):
        finding = finding_from(row)
        logs[finding.log].append(finding)
    most = limits.research_entries
    for entries in logs.values():
        for entry in ResearchLog(tuple(entries)).surplus(most):
            gone[entry.id] = f"more than {most} entries of its kind in the log"
    return gone
