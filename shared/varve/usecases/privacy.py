"""A workspace's filter for texts that are stored, sent to a model or searched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from varve.domain.allowance import (
    MAX_SECONDS,
    Allowance,
    FilterLimit,
    PartlyFiltered,
)
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected
from varve.domain.extraction import Batch, Extraction, Fact
from varve.domain.personal import (
    Detection,
    Kind,
    Mode,
    drop_overlaps,
    iterate_strings,
    map_strings,
    placeholder,
    replace_detections,
)
from varve.domain.rewording import reword
from varve.domain.search.query import SearchRequest
from varve.domain.summary import Summary, SummaryTask
from varve.domain.triple import TripleOperation
from varve.messages.ingest import IngestMessage
from varve.ports.clock import Timer
from varve.ports.models import LLM, Detector, Extractor, Reply, Summarizer


@dataclass(frozen=True, slots=True)
class Filtered:
    """A filtered conversation, and its messages whose filter reached a limit."""

    conversation: Conversation
    partly: tuple[PartlyFiltered, ...]


class Privacy:
    """One workspace's filter: it takes a text and returns the text that may be kept.

    `modes` say how each kind that is not off is treated; secrets are always redacted.
    `detectors` must find every kind that has a mode. `pseudonym` returns the replacement
    for a kind and a value. `timer` counts the processor time of a message's filter; None:
    there is no limit of time.
    """

    def __init__(
        self,
        modes: Mapping[Kind, Mode],
        detectors: Sequence[Detector],
        pseudonym: Callable[[Kind, str], str] | None = None,
        timer: Timer | None = None,
    ) -> None:
        self._modes = {**modes, Kind.SECRET: Mode.REDACT}
        self._detectors = detectors
        self._pseudonym = pseudonym
        self._timer = timer

    @property
    def name(self) -> str:
        """The modes by kind, for cache keys: it changes when results may change.

        Empty: only secrets are filtered.
        """
        parts: list[str] = []
        for kind, mode in sorted(self._modes.items()):
            if kind is not Kind.SECRET:
                parts.append(f"{kind}={mode}")
        return ",".join(parts)

    def __call__(self, text: str) -> str:
        """Return the filtered text; what should have been blocked is redacted.

        It is deterministic, without a limit of time, and filtering the result again
        changes nothing. Raises Misconfigured: a detector cannot run.
        """
        return self._filter(Allowance(), text)

    def filter_conversation(self, conversation: Conversation) -> Filtered:
        """Return the filtered conversation; ids and speakers' names stay.

        An id that was made from a message's words is made again from the filtered words.
        A message that takes too long keeps the words that were not read in time.
        Raises Rejected: names the message with data that the workspace blocks, and the
        kind, or the message that could not be checked in time; Misconfigured.
        """
        self._refuse_blocked(conversation)
        return self._filter_each(conversation)

    def filter_message(
        self, message: IngestMessage
    ) -> tuple[IngestMessage, tuple[PartlyFiltered, ...]]:
        """Return a filtered message of the ingest queue, and what reached a limit.

        Raises what `filter_conversation` raises.
        """
        filtered = self.filter_conversation(message.conversation)
        private = replace(message, conversation=filtered.conversation)
        if message.context:
            update = {"messages": [*message.context]}
            context = message.conversation.model_copy(update=update)
            before = self._filter_each(context).conversation.messages
            private = replace(private, context=tuple(before))
        return private, filtered.partly

    def filter_request(self, request: SearchRequest) -> SearchRequest:
        """Return the request with a filtered query.

        Memory holds filtered words, so a query with a real value finds its pseudonym.
        """
        if not request.query_text:
            return request
        private = self(request.query_text)
        if private == request.query_text:
            return request
        return request.model_copy(update={"query_text": private})

    def _filter_each(self, conversation: Conversation) -> Filtered:
        """Return the conversation, each message filtered within its allowance."""
        allowances: dict[int | None, Allowance] = {}

        def change(place: int | None, value: object) -> object:
            allowance = allowances.setdefault(place, Allowance(self._timer))
            return map_strings(value, partial(self._filter, allowance))

        filtered = reword(conversation, change)
        partly: list[PartlyFiltered] = []
        for place, allowance in allowances.items():
            for limit in allowance.reached:
                one = PartlyFiltered(
                    conversation.conversation_id, place, limit
                )
                partly.append(one)
        return Filtered(filtered, tuple(partly))

    def _filter(self, allowance: Allowance, text: str) -> str:
        found = self._detect(text, allowance)
        return (
            replace_detections(text, found, self._replacement)
            if found
            else text
        )

    def _detect(self, text: str, allowance: Allowance) -> list[Detection]:
        """Return the detections of all kinds that have a mode."""
        found: list[Detection] = []
        for detector in self._detectors:
            for detection in detector.find(text, allowance):
                if detection.kind in self._modes:
                    found.append(detection)
        return found

    def _replacement(self, finding: Detection) -> str:
        mode = self._modes[finding.kind]
        if mode is Mode.PSEUDONYM and self._pseudonym is not None:
            return self._pseudonym(finding.kind, finding.canonical)
        return placeholder(finding.kind)

    def _refuse_blocked(self, conversation: Conversation) -> None:
        """Raise Rejected if any text of it holds what the workspace blocks."""
        if Mode.BLOCK not in self._modes.values():
            return
        self._refuse_in(conversation.extra, "conversation")
        for index, message in enumerate(conversation.messages):
            self._refuse_in(
                [message.content, message.state, message.extra],
                f"messages[{index}].content",
            )

    def _refuse_in(self, value: object, field: str) -> None:
        allowance = Allowance(self._timer)
        kinds: set[Kind] = set()
        for text in iterate_strings(value):
            for finding in drop_overlaps(self._detect(text, allowance)):
                if self._modes[finding.kind] is Mode.BLOCK:
                    kinds.add(finding.kind)
        blocked = sorted(kinds)
        if blocked:
            raise Rejected(
                field,
                f"holds personal data that this workspace blocks: {', '.join(blocked)}",
            )
        if FilterLimit.TIME in allowance.reached:
            raise Rejected(
                field,
                f"could not be checked in {MAX_SECONDS:g} s of processor time for "
                "personal data that this workspace blocks",
            )


def filter_operation(
    operation: TripleOperation, private: Callable[[str], str]
) -> TripleOperation:
    """Return the operation with filtered subject, predicate and objects."""
    return replace(
        operation,
        subject=private(operation.subject),
        predicate=private(operation.predicate),
        object=private(operation.object),
        replaces=operation.replaces and private(operation.replaces),
    )


class PrivateExtractor:
    """An Extractor that filters what the inner one returns; speakers keep their names."""

    def __init__(self, inner: Extractor, privacy: Privacy) -> None:
        self._inner = inner
        self._privacy = privacy

    @property
    def name(self) -> str:
        """The names of the inner extractor and of the filter."""
        return "/".join(filter(None, (self._inner.name, self._privacy.name)))

    def extract(self, batch: Batch) -> Extraction:
        """Return filtered facts and operations, without duplicates.

        Raises what the inner extractor and the filter raise.
        """
        names = {one.speaker for one in (*batch.utterances, *batch.context)}
        extraction = self._inner.extract(batch)
        facts: dict[tuple[str, tuple[str, ...]], Fact] = {}
        for original in extraction.facts:
            fact = self._filter_fact(original, names)
            facts[fact.content, fact.message_ids] = fact

        def filter_name(text: str) -> str:
            return self._filter_name(text, names)

        operations = [
            filter_operation(o, filter_name) for o in extraction.operations
        ]
        return Extraction(
            tuple(facts.values()), tuple(dict.fromkeys(operations))
        )

    def _filter_fact(self, fact: Fact, names: set[str]) -> Fact:
        return replace(
            fact,
            content=self._privacy(fact.content),
            about=self._filter_name(fact.about, names),
        )

    def _filter_name(self, text: str, names: set[str]) -> str:
        return text if text in names else self._privacy(text)


class PrivateLLM:
    """An LLM that filters the inner one's answers, for callers that keep answers."""

    def __init__(self, inner: LLM, privacy: Privacy) -> None:
        self._inner = inner
        self._privacy = privacy

    @property
    def model(self) -> str:
        """The names of the inner model and of the filter."""
        return "/".join(filter(None, (self._inner.model, self._privacy.name)))

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """Return the filtered answer. Raises what the inner model and the filter raise."""
        answer = self._inner.complete(system, user, reply)
        return reply.model_validate(
            map_strings(answer.model_dump(), self._privacy)
        )


class PrivateSummarizer:
    """A Summarizer that filters the inner one's input and output."""

    def __init__(self, inner: Summarizer, privacy: Privacy) -> None:
        self._inner = inner
        self._privacy = privacy

    @property
    def name(self) -> str:
        """The names of the inner summarizer and of the filter."""
        return "/".join(filter(None, (self._inner.name, self._privacy.name)))

    def summarize(self, task: SummaryTask) -> Summary:
        """Return the filtered summary. Raises what the inner one and the filter raise."""
        # The sources may have been stored before the workspace set up its privacy.
        sources = tuple(
            replace(source, text=self._privacy(source.text))
            for source in task.sources
        )
        summary = self._inner.summarize(replace(task, sources=sources))
        return Summary(
            text=self._privacy(summary.text),
            people=tuple(map(self._privacy, summary.people)),
            topics=tuple(map(self._privacy, summary.topics)),
            open_questions=tuple(map(self._privacy, summary.open_questions)),
        )
