"""What records of each sort keep as JSON in `key_facts`, held against what will read it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from pydantic import TypeAdapter

from varve.domain.errors import Rejected
from varve.domain.experience.answers import answer_from
from varve.domain.experience.reads import usage_from
from varve.domain.experience.research import finding_from
from varve.domain.experience.rows import episode_from, lesson_from, report_from
from varve.domain.record import MemoryType, Record
from varve.domain.summary import KeyFact, key_facts_from_json

CITING = frozenset({MemoryType.PRIOR_ANSWER, MemoryType.FINDING})
"""Sorts whose sources are whatever was cited, addresses too."""


def require_details(record: Record) -> None:
    """Raises Rejected: whoever reads the record's details would fail at them."""
    try:
        _READERS[record.memory_type](record)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Rejected(
            "keyFacts", f"are not those of a {record.memory_type}"
        ) from error


def _key_facts_of(record: Record) -> None:
    _KEY_FACTS.validate_python(
        [asdict(fact) for fact in key_facts_from_json(record.key_facts)]
    )


def _counts(record: Record) -> None:
    _COUNTS.validate_python(usage_from(record).counts)


def _nothing(record: Record) -> None:
    if record.key_facts:
        raise ValueError("a fact or a turn has no details")


_KEY_FACTS, _COUNTS = TypeAdapter(list[KeyFact]), TypeAdapter(dict[str, int])
_READERS: Mapping[MemoryType, Callable[[Record], object]] = {
    MemoryType.FACT: _nothing,
    MemoryType.TURN: _nothing,
    MemoryType.SUMMARY: _key_facts_of,
    MemoryType.EPISODE: episode_from,
    MemoryType.OUTCOME: report_from,
    MemoryType.LESSON: lesson_from,
    MemoryType.PRIOR_ANSWER: answer_from,
    MemoryType.FINDING: finding_from,
    MemoryType.USAGE: _counts,
}
