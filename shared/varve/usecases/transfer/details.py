"""Validation of `key_facts`: the JSON details that records of each type keep there."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from pydantic import TypeAdapter

from varve.domain.errors import Rejected
from varve.domain.experience.answers import answer_from
from varve.domain.experience.reads import usage_from
from varve.domain.experience.research import finding_from
from varve.domain.experience.rows import episode_from, lesson_from, report_from
from varve.domain.metadata import decode_metadata, encode_metadata
from varve.domain.record import MemoryType, Record
from varve.domain.summary import KeyFact, key_facts_from_json

CITING = frozenset({MemoryType.PRIOR_ANSWER, MemoryType.FINDING})
"""Types whose sources may be anything cited, such as web addresses."""


def require_details(record: Record) -> None:
    """Check that a record's details can be read. Raises Rejected: they cannot."""
    try:
        _READERS[record.memory_type](record)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as error:
        raise Rejected(
            "keyFacts", f"are not those of a {record.memory_type}"
        ) from error


def _require_key_facts(record: Record) -> None:
    facts = key_facts_from_json(record.key_facts)
    _KEY_FACTS.validate_python([asdict(fact) for fact in facts])


def _require_counts(record: Record) -> None:
    _COUNTS.validate_python(usage_from(record).counts)


def _require_metadata(record: Record) -> None:
    if encode_metadata(decode_metadata(record.key_facts)) != record.key_facts:
        raise ValueError("the metadata of a fact or a turn is sorted")


_KEY_FACTS = TypeAdapter(list[KeyFact])
_COUNTS = TypeAdapter(dict[str, int])
_READERS: Mapping[MemoryType, Callable[[Record], object]] = {
    MemoryType.FACT: _require_metadata,
    MemoryType.TURN: _require_metadata,
    MemoryType.SUMMARY: _require_key_facts,
    MemoryType.EPISODE: episode_from,
    MemoryType.OUTCOME: report_from,
    MemoryType.LESSON: lesson_from,
    MemoryType.PRIOR_ANSWER: answer_from,
    MemoryType.FINDING: finding_from,
    MemoryType.USAGE: _require_counts,
}
