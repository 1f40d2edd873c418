"""Reads a batch with a chat model, and keeps what was read so that a redelivered batch is not read anew."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import iso, parse_instant
from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.identity import digest
from varve.domain.record import fact_id
from varve.domain.triple import (
    Op,
    TripleOperation,
    operation_as_json,
    operation_from_json,
)
from varve.ports.models import LLM, Extractor
from varve.ports.objects import Objects
from varve.prompts import extract as prompt
from varve.prompts.extract import ExtractReply, ReplyFact, ReplyTriple
from varve.usecases.checkpoints import once


class ModelExtractor:
    """The Extractor port over a chat model; `instructions` replace the prompt's own (prompts.extract)."""

    def __init__(self, llm: LLM, *, instructions: str | None = None) -> None:
        self._llm = llm
        self._instructions = instructions

    @property
    def name(self) -> str:
        """The model and a hash of the prompt and the reply's shape."""
        return f"{self._llm.model}/{prompt.fingerprint(self._instructions)}"

    def extract(self, batch: Batch) -> Extraction:
        """What the model read, as far as it stands on the batch's own messages.

        Raises Retryable, Rejected (no valid answer), Misconfigured, as the model's adapter does.
        """
        if not any(utterance.text.strip() for utterance in batch.utterances):
            return Extraction()
        system = prompt.system_text(self._instructions)
        return _Reading(batch).of(
            self._llm.complete(system, prompt.user_text(batch), ExtractReply)
        )


class _Reading:
    """Turns a reply into domain values; what the model got wrong is mended or left out."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._context_ids = {utterance.message_id for utterance in batch.context}

    def of(self, reply: ExtractReply) -> Extraction:
        facts: dict[str, Fact] = {}
        for fact in filter(None, map(self._fact, reply.facts)):
            facts.setdefault(
                fact_id(self._batch.conversation_id, fact.message_ids, fact.content),
                fact,
            )
        operations = filter(None, map(self._operation, reply.triples))
        return Extraction(tuple(facts.values()), tuple(dict.fromkeys(operations)))

    def _fact(self, raw: ReplyFact) -> Fact | None:
        content, cited = raw.content.strip(), self._cited(raw.message_ids)
        if not content or not cited:
            return None
        return Fact(
            content=content,
            about=raw.about.strip() or cited[0].speaker,
            event_time=self._event_time(raw.event_time, cited),
            message_ids=_ids(cited),
            importance=_unit(raw.importance),
            confidence=_unit(raw.confidence),
        )

    def _operation(self, raw: ReplyTriple) -> TripleOperation | None:
        subject, predicate, value = (
            raw.subject.strip(),
            snake_case(raw.predicate),
            raw.object.strip(),
        )
        cited = self._cited(raw.message_ids)
        if (
            not cited
            or not subject
            or not predicate
            or not (value or raw.op == Op.DELETE)
        ):
            return None
        return TripleOperation(
            op=Op(raw.op),
            subject=subject,
            predicate=predicate,
            object=value,
            event_time=self._event_time(raw.event_time, cited),
            created_at=self._batch.created_at,
            conversation_id=self._batch.conversation_id,
            message_ids=_ids(cited),
            user_id=_user_of(cited),
            confidence=_unit(raw.confidence),
            replaces=_replaced(raw),
        )

    def _cited(self, ids: Sequence[str]) -> list[Utterance]:
        """The batch's utterances among the ids, in their own order.

        Ids that are in the batch nowhere are the model's slip: with a single utterance there is only one
        thing they can have meant. What only the context says belongs to an earlier batch.
        """
        cited = [u for u in self._batch.utterances if u.message_id in ids]
        if (
            not cited
            and len(self._batch.utterances) == 1
            and self._context_ids.isdisjoint(ids)
        ):
            return list(self._batch.utterances)
        return cited

    def _event_time(self, text: str | None, cited: Sequence[Utterance]) -> datetime:
        parsed = parse_event_time(text, self._batch.zone) if text else None
        return parsed or max(utterance.said_at for utterance in cited)


def parse_event_time(text: str, zone: ZoneInfo) -> datetime | None:
    """The instant in UTC; without an offset it is local time, and a bare day, month or year its start.

    None: the text is no ISO 8601 date or time.
    """
    text = text.strip()
    padded = text + {4: "-01-01", 7: "-01"}.get(len(text), "")
    try:
        parsed = datetime.fromisoformat(padded)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)).astimezone(
            UTC
        )
    except (ValueError, OverflowError):
        return None


def snake_case(name: str) -> str:
    """`livesIn`, `Lives in` and `lives-in` as `lives_in`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", words).strip("_").lower()


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _ids(cited: Sequence[Utterance]) -> tuple[str, ...]:
    return tuple(utterance.message_id for utterance in cited)


def _user_of(cited: Sequence[Utterance]) -> str | None:
    """Whose statement it is: the first cited user's, else the one an assistant's message was for."""
    users_first = sorted(cited, key=lambda utterance: utterance.role != "user")
    return next(
        (utterance.user_id for utterance in users_first if utterance.user_id), None
    )


def _replaced(raw: ReplyTriple) -> str | None:
    return (raw.replaces or "").strip() or None if raw.op == Op.UPDATE else None


class CheckpointedExtractor:
    """Reads each batch once: a model words its answer differently every time, and a redelivered message
    must not leave its facts twice.
    """

    def __init__(self, inner: Extractor, objects: Objects) -> None:
        self._inner = inner
        self._objects = objects

    @property
    def name(self) -> str:
        """The inner extractor's."""
        return self._inner.name

    def extract(self, batch: Batch) -> Extraction:
        """The kept extraction of this batch by this extractor, `created_at` included, or a new one.

        Raises what the inner extractor and `once` do.
        """
        return once(
            self._key(batch),
            lambda: self._inner.extract(batch),
            encode=lambda extraction: self._checkpoint(batch, extraction),
            decode=_extraction,
            objects=self._objects,
        )

    def _checkpoint(self, batch: Batch, extraction: Extraction) -> dict[str, object]:
        """The extraction as JSON values, with what an erasure needs to find it by."""
        return {
            "extractor": self.name,
            "conversationId": batch.conversation_id,
            "messageIds": list(_ids(batch.utterances)),
            "userIds": sorted({u.user_id for u in batch.utterances if u.user_id}),
            "facts": [_fact_as_json(fact) for fact in extraction.facts],
            "operations": [
                operation_as_json(operation) for operation in extraction.operations
            ],
        }

    def _key(self, batch: Batch) -> str:
        """From the extractor and the messages alone: neither arrival nor context may tell two apart."""
        said = [
            [u.message_id, u.role, u.speaker, u.text, iso(u.said_at), u.user_id or ""]
            for u in batch.utterances
        ]
        content = json.dumps(
            [str(batch.scope), batch.conversation_id, said], ensure_ascii=False
        )
        name = digest(self.name, content, length=40)
        return f"payloads/{batch.scope}/extractions/{name}.json"


def _extraction(value: Any) -> Extraction:
    return Extraction(
        facts=tuple(_fact_from_json(fact) for fact in value["facts"]),
        operations=tuple(
            operation_from_json(operation) for operation in value["operations"]
        ),
    )


def _fact_as_json(fact: Fact) -> dict[str, object]:
    return {
        "content": fact.content,
        "about": fact.about,
        "eventTime": iso(fact.event_time),
        "messageIds": list(fact.message_ids),
        "importance": fact.importance,
        "confidence": fact.confidence,
    }


def _fact_from_json(value: Mapping[str, Any]) -> Fact:
    return Fact(
        content=value["content"],
        about=value["about"],
        event_time=parse_instant(value["eventTime"]),
        message_ids=tuple(value["messageIds"]),
        importance=value["importance"],
        confidence=value["confidence"],
    )
