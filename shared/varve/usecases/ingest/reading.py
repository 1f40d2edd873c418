"""Extract with a chat model, once for each batch however often it is delivered."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from varve.domain.calendar import iso, parse_instant
from varve.domain.extraction import Batch, Extraction, Fact, Utterance
from varve.domain.identity import digest
from varve.domain.predicates import name_predicate
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
from varve.usecases.ingest.checkpoints import once


class ModelExtractor:
    """The Extractor port over a chat model; `instructions` replace those of the prompt."""

    def __init__(self, llm: LLM, *, instructions: str | None = None) -> None:
        self._llm = llm
        self._instructions = instructions

    @property
    def name(self) -> str:
        """The model, with a hash of the prompt and the reply's shape."""
        return f"{self._llm.model}/{prompt.fingerprint(self._instructions)}"

    def extract(self, batch: Batch) -> Extraction:
        """Return the facts and operations that cite the batch's own messages.

        Raises Retryable, Rejected (no valid answer), Misconfigured as the model does.
        """
        if not any(utterance.text.strip() for utterance in batch.utterances):
            return Extraction()
        system = prompt.system_text(self._instructions)
        reply = self._llm.complete(
            system, prompt.user_text(batch), ExtractReply
        )
        return _ReplyReader(batch).read(reply)


class _ReplyReader:
    """Turns a model's reply into domain values; mends or drops invalid ones."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._context_ids = {
            utterance.message_id for utterance in batch.context
        }

    def read(self, reply: ExtractReply) -> Extraction:
        facts: dict[str, Fact] = {}
        conversation_id = self._batch.conversation_id
        for fact in filter(None, map(self._fact, reply.facts)):
            id_ = fact_id(conversation_id, fact.message_ids, fact.content)
            facts.setdefault(id_, fact)
        operations = filter(None, map(self._operation, reply.triples))
        return Extraction(
            tuple(facts.values()), tuple(dict.fromkeys(operations))
        )

    def _fact(self, raw: ReplyFact) -> Fact | None:
        content = raw.content.strip()
        cited = self._cited(raw.message_ids)
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
        subject = raw.subject.strip()
        predicate = name_predicate(raw.predicate)
        value = raw.object.strip()
        cited = self._cited(raw.message_ids)
        if not (cited and subject and predicate):
            return None
        if not value and raw.op != Op.DELETE:
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
        """Return the batch's utterances with these ids, in their own order.

        Unknown ids are the model's error; they mean the only utterance if there is one.
        Ids of the context give nothing: its messages belong to an earlier batch.
        """
        utterances = self._batch.utterances
        cited = [
            utterance
            for utterance in utterances
            if utterance.message_id in ids
        ]
        if (
            not cited
            and self._context_ids.isdisjoint(ids)
            and len(utterances) == 1
        ):
            return list(utterances)
        return cited

    def _event_time(
        self, text: str | None, cited: Sequence[Utterance]
    ) -> datetime:
        parsed = parse_event_time(text, self._batch.zone) if text else None
        return parsed or max(utterance.said_at for utterance in cited)


def parse_event_time(text: str, zone: ZoneInfo) -> datetime | None:
    """Return the instant in UTC; a day, month or year means its start.

    Without an offset the time is local to `zone`. None: not an ISO 8601 date or time.
    """
    text = text.strip()
    padded = text + {4: "-01-01", 7: "-01"}.get(len(text), "")
    try:
        parsed = datetime.fromisoformat(padded)
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=zone)
        return parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _ids(cited: Sequence[Utterance]) -> tuple[str, ...]:
    return tuple(utterance.message_id for utterance in cited)


def _user_of(cited: Sequence[Utterance]) -> str | None:
    """Return the user of the first cited user message, else of any cited message."""
    users_first = sorted(cited, key=lambda one: one.role != "user")
    for utterance in users_first:
        if utterance.user_id:
            return utterance.user_id
    return None


def _replaced(raw: ReplyTriple) -> str | None:
    if raw.op != Op.UPDATE or raw.replaces is None:
        return None
    return raw.replaces.strip() or None


class CheckpointedExtractor:
    """An extractor that keeps each batch's extraction and returns it again.

    A model words each answer differently, so reading a redelivered batch again would
    store its facts twice.
    """

    def __init__(self, inner: Extractor, objects: Objects) -> None:
        self._inner = inner
        self._objects = objects

    @property
    def name(self) -> str:
        """The inner extractor's name."""
        return self._inner.name

    def extract(self, batch: Batch) -> Extraction:
        """Return the kept extraction of this batch, with its `created_at`, or a new one.

        Raises what the inner extractor and `once` do.
        """
        return once(
            self._key(batch),
            lambda: self._inner.extract(batch),
            encode=lambda extraction: self._checkpoint(batch, extraction),
            decode=_extraction,
            objects=self._objects,
        )

    def _checkpoint(
        self, batch: Batch, extraction: Extraction
    ) -> dict[str, object]:
        """Return the extraction as JSON values, with the ids by which an erasure finds it."""
        users = {one.user_id for one in batch.utterances if one.user_id}
        facts = [_fact_as_json(fact) for fact in extraction.facts]
        operations = [operation_as_json(one) for one in extraction.operations]
        return {
            "extractor": self.name,
            "conversationId": batch.conversation_id,
            "messageIds": list(_ids(batch.utterances)),
            "userIds": sorted(users),
            "facts": facts,
            "operations": operations,
        }

    def _key(self, batch: Batch) -> str:
        """Return a key of the extractor and the messages, without arrival and context."""
        said = [
            [
                u.message_id,
                u.role,
                u.speaker,
                u.text,
                iso(u.said_at),
                u.user_id or "",
            ]
            for u in batch.utterances
        ]
        content = json.dumps(
            [str(batch.scope), batch.conversation_id, said], ensure_ascii=False
        )
        name = digest(self.name, content, length=40)
        return f"payloads/{batch.scope}/extractions/{name}.json"


def _extraction(value: Any) -> Extraction:
    facts = map(_fact_from_json, value["facts"])
    operations = map(operation_from_json, value["operations"])
    return Extraction(tuple(facts), tuple(operations))


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
