"""Summaries as records: their text, key facts and dates."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from varve.domain import retention
from varve.domain.calendar import Grain, Period, day_of
from varve.domain.extractive import lines_of
from varve.domain.identity import Scope
from varve.domain.language.tokens import spaced_words
from varve.domain.last_states import find_changed_figures
from varve.domain.ledger import expiry_key
from varve.domain.record import MemoryType, Record, as_span
from varve.domain.source_lines import SourceLine
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.statements.pairs.drawn import has_own_time, tell_fact
from varve.domain.statements.texts.particulars import names_date
from varve.domain.summary import (
    BUDGET_TOKENS,
    KEY_FACTS_HEADING,
    NO_WORDS,
    KeyFact,
    Summary,
    SummaryTask,
    key_facts_as_json,
)
from varve.domain.text import estimated_tokens
from varve.domain.workspace import WorkspaceConfig
from varve.usecases.summaries.period_sources import PeriodSources
from varve.usecases.timeline import timeline_expiry_notes

SUMMARY_IMPORTANCE = 0.6
KEY_FACTS_SHARE = 0.5


def leave_out_told(
    facts: Sequence[KeyFact], text: str, zone: ZoneInfo
) -> list[KeyFact]:
    """Return the facts that the summary's text does not say already.

    In other words, a sentence of the fact's own day says it. A fact with a time of its own
    may be said later, as "last week" or "in 2019", or before, by a sentence with its date.
    """
    above = spaced_words(text)
    left = [one for one in facts if spaced_words(one.content) not in above]
    return [one for one in left if not _is_told(one, text, zone)]


def _is_told(fact: KeyFact, text: str, zone: ZoneInfo) -> bool:
    day = day_of(fact.event_time, zone)
    dated = has_own_time(fact.content)
    return any(
        tell_fact(one.speaker, one.said, fact.content)
        for one in read_sentences(text, fact.user_id)
        if one.day == day
        or (dated and (one.day > day or names_date(one.said, day)))
    )


def leave_out_changed(
    facts: Sequence[KeyFact], task: SummaryTask
) -> list[KeyFact]:
    """Return the facts without those whose date or figure a later source changes."""
    lines = lines_of(task)
    given = [_as_line(fact, lines, task.zone) for fact in facts]
    told = sorted([*given, *lines], key=lambda line: line.day)
    changed = [told[at] for at, _ in find_changed_figures(told)]
    left: list[KeyFact] = []
    for fact, line in zip(facts, given, strict=True):
        tellers = (one for one in changed if one.speaker)
        is_told = any(
            tell_fact(one.speaker, one.sentence, fact.content)
            for one in tellers
        )
        if line not in changed and not is_told:
            left.append(fact)
    return left


def _as_line(
    fact: KeyFact, lines: Sequence[SourceLine], zone: ZoneInfo
) -> SourceLine:
    """Return a fact as a line of the speaker with whose name it begins."""
    speakers = {line.speaker for line in lines if line.speaker}
    begun = [one for one in speakers if fact.content.startswith(f"{one} ")]
    return SourceLine(
        day=day_of(fact.event_time, zone),
        sentence=fact.content,
        at=fact.event_time,
        importance=fact.importance,
        speaker=max(begun, key=len, default=""),
        heard=False,
    )


def summary_record(
    period: Period,
    gathered: PeriodSources,
    summary: Summary,
    facts: str,
    now: datetime,
    config: WorkspaceConfig,
) -> Record:
    sources = gathered.fingerprints()
    start, end = period.start(config.zone), period.end(config.zone)
    users = {source.user_id for source in gathered.with_priors()}
    # Not before the summary it replaces, even if the clock went back.
    earlier = [prior.created_at for prior in gathered.priors]
    created_at = max([now, *earlier])
    user_id = users.pop() if len(users) == 1 else gathered.user_id
    return Record(
        id=gathered.id,
        memory_type=MemoryType.SUMMARY,
        content=summary.text + facts or NO_WORDS,
        period=period.label,
        # The middle: a window that has most of the period has the summary too.
        event_time=start + (end - start) / 2,
        created_at=created_at,
        source_ids=tuple(sources),
        user_id=user_id,
        about=as_span(*gathered.days),
        importance=SUMMARY_IMPORTANCE,
        people=summary.people,
        topics=summary.topics,
        open_questions=summary.open_questions,
        source_fingerprints=tuple(sources.values()),
        key_facts=key_facts_as_json(gathered.key_facts),
    )


def fact_lines(
    facts: Sequence[KeyFact],
    grain: Grain,
    config: WorkspaceConfig,
    ended: Mapping[str, datetime] = MappingProxyType({}),
) -> str:
    """Return the key facts as dated lines, as many as fit their share of the budget.

    `ended` says when facts ceased to hold, by their ids; their lines tell it.
    """
    left = KEY_FACTS_SHARE * BUDGET_TOKENS[grain] - estimated_tokens(
        KEY_FACTS_HEADING
    )
    lines: list[tuple[KeyFact, str]] = []
    ordered = sorted(facts, key=lambda f: (-f.importance, f.event_time, f.id))
    for fact in ordered:
        line = f"- {day_of(fact.event_time, config.zone)}: {fact.content}"
        if fact.id in ended:
            line += f" (held until {day_of(ended[fact.id], config.zone)})"
        cost = estimated_tokens(line + "\n")
        if cost <= left:
            left -= cost
            lines.append((fact, line))

    def by_time(pair: tuple[KeyFact, str]) -> tuple[datetime, str]:
        fact, _ = pair
        return fact.event_time, fact.id

    lines.sort(key=by_time)
    if not lines:
        return ""
    return KEY_FACTS_HEADING + "\n".join(line for _, line in lines)


def expiries(
    scope: Scope, period: Period, config: WorkspaceConfig
) -> tuple[str, ...]:
    """Return the ledger's notes of when cleanup must look at a summarized period.

    They are the expiry of the summary, of its first child, which may have waited for
    the summary, and of a day's messages. Each cleanup notes when the next is due.
    """
    notes: list[str] = []
    for one in (period, period.children()[0]):
        expires = retention.expires_at(
            one, config.limit(one.grain), config.zone
        )
        notes.append(expiry_key(expires, scope, one.grain))
    if period.grain is Grain.DAILY:
        notes += timeline_expiry_notes(period.label, scope, config)
    return tuple(notes)
