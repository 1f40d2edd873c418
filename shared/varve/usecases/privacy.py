"""What a workspace's privacy asks for, done to a text before it is stored, sent to a model or searched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from varve.domain.conversation import Conversation, reword
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
from varve.domain.search.query import SearchRequest
from varve.domain.summary import Summary, SummaryTask
from varve.domain.triple import TripleOperation
from varve.messages.ingest import IngestMessage
from varve.ports.models import LLM, Detector, Extractor, Reply, Summarizer


class Privacy:
    """One workspace's filter: a text in, the text that may be kept out.

    `modes` say what becomes of each kind that is not off; secrets are redacted always. `detectors` must
    find every kind that has a mode; `pseudonym` makes the word for a kind and value.
    """

    def __init__(
        self,
        modes: Mapping[Kind, Mode],
        detectors: Sequence[Detector],
        pseudonym: Callable[[Kind, str], str] | None = None,
    ) -> None:
        self._modes = {**modes, Kind.SECRET: Mode.REDACT}
        self._detectors = detectors
        self._pseudonym = pseudonym

    @property
    def name(self) -> str:
        """What is done to which kinds, in a form that changes when the results may; empty: secrets alone."""
        return ",".join(
            f"{kind}={mode}"
            for kind, mode in sorted(self._modes.items())
            if kind is not Kind.SECRET
        )

    def __call__(self, text: str) -> str:
        """The text as it may be kept; where it should have been blocked, redacted.

        The same text gives the same, and what this returns stays as it is when filtered again.
        Raises Misconfigured: what is to be looked for cannot be.
        """
        found = self._findings(text)
        return replace_detections(text, found, self._word) if found else text

    def conversation(self, conversation: Conversation) -> Conversation:
        """The conversation as it may be kept, its ids and its speakers' names as they are.

        An id that was made from a message's words is made again from those that are left of it.
        Raises Rejected: names the message that holds what the workspace blocks, and the kind. Misconfigured.
        """
        self._refuse(conversation)
        return reword(conversation, self._json)

    def delivered(self, message: IngestMessage) -> IngestMessage:
        """A message of the ingest queue as it may be kept. Raises as `conversation` does."""
        before = reword(
            message.conversation.model_copy(update={"messages": [*message.context]}),
            self._json,
        )
        return replace(
            message,
            conversation=self.conversation(message.conversation),
            context=tuple(before.messages),
        )

    def question(self, request: SearchRequest) -> SearchRequest:
        """The request with its words as memory has them, so that asking for a pseudonym's value finds it."""
        asked = request.query_text
        private = asked and self(asked)
        return (
            request
            if private == asked
            else request.model_copy(update={"query_text": private})
        )

    def _json(self, value: object) -> object:
        return map_strings(value, self)

    def _findings(self, text: str) -> list[Detection]:
        found = (
            finding for detector in self._detectors for finding in detector.find(text)
        )
        return [finding for finding in found if finding.kind in self._modes]

    def _word(self, finding: Detection) -> str:
        if self._modes[finding.kind] is Mode.PSEUDONYM and self._pseudonym is not None:
            return self._pseudonym(finding.kind, finding.canonical)
        return placeholder(finding.kind)

    def _refuse(self, conversation: Conversation) -> None:
        if Mode.BLOCK not in self._modes.values():
            return
        self._refuse_in(conversation.extra, "conversation")
        for index, message in enumerate(conversation.messages):
            self._refuse_in(
                [message.content, message.extra], f"messages[{index}].content"
            )

    def _refuse_in(self, value: object, field: str) -> None:
        found = [
            f
            for text in iterate_strings(value)
            for f in drop_overlaps(self._findings(text))
        ]
        blocked = sorted({f.kind for f in found if self._modes[f.kind] is Mode.BLOCK})
        if blocked:
            raise Rejected(
                field,
                f"holds personal data that this workspace blocks: {', '.join(blocked)}",
            )


def private_operation(
    operation: TripleOperation, private: Callable[[str], str]
) -> TripleOperation:
    """The operation as it may be kept, what it names put through the filter."""
    return replace(
        operation,
        subject=private(operation.subject),
        object=private(operation.object),
        replaces=operation.replaces and private(operation.replaces),
    )


class PrivateExtractor:
    """The Extractor port with what the inner one writes filtered; speakers keep their names."""

    def __init__(self, inner: Extractor, privacy: Privacy) -> None:
        self._inner = inner
        self._privacy = privacy

    @property
    def name(self) -> str:
        """The inner extractor's and the filter's."""
        return "/".join(filter(None, (self._inner.name, self._privacy.name)))

    def extract(self, batch: Batch) -> Extraction:
        """The inner extractor's facts and operations as they may be kept. Raises what both do."""
        names = {u.speaker for u in (*batch.utterances, *batch.context)}
        extraction = self._inner.extract(batch)
        facts = {
            (f.content, f.message_ids): f
            for f in (self._fact(f, names) for f in extraction.facts)
        }
        operations = (
            private_operation(o, lambda text: self._name(text, names))
            for o in extraction.operations
        )
        return Extraction(tuple(facts.values()), tuple(dict.fromkeys(operations)))

    def _fact(self, fact: Fact, names: set[str]) -> Fact:
        return replace(
            fact,
            content=self._privacy(fact.content),
            about=self._name(fact.about, names),
        )

    def _name(self, text: str, names: set[str]) -> str:
        return text if text in names else self._privacy(text)


class PrivateLLM:
    """The LLM port with every text of the inner one's answer filtered, for callers that keep answers."""

    def __init__(self, inner: LLM, privacy: Privacy) -> None:
        self._inner = inner
        self._privacy = privacy

    @property
    def model(self) -> str:
        """The inner model's name and the filter's."""
        return "/".join(filter(None, (self._inner.model, self._privacy.name)))

    def complete(self, system: str, user: str, reply: type[Reply]) -> Reply:
        """The inner model's answer as it may be kept. Raises what both do."""
        answer = self._inner.complete(system, user, reply)
        return reply.model_validate(map_strings(answer.model_dump(), self._privacy))


class PrivateSummarizer:
    """The Summarizer port with what the inner one is given and what it writes filtered."""

    def __init__(self, inner: Summarizer, privacy: Privacy) -> None:
        self._inner = inner
        self._privacy = privacy

    @property
    def name(self) -> str:
        """The inner summarizer's and the filter's."""
        return "/".join(filter(None, (self._inner.name, self._privacy.name)))

    def summarize(self, task: SummaryTask) -> Summary:
        """The inner summarizer's words as they may be kept. Raises what both do."""
        # What is summed up may have been stored before the workspace asked for privacy.
        sources = tuple(
            replace(source, text=self._privacy(source.text)) for source in task.sources
        )
        summary = self._inner.summarize(replace(task, sources=sources))
        return Summary(
            text=self._privacy(summary.text),
            people=tuple(map(self._privacy, summary.people)),
            topics=tuple(map(self._privacy, summary.topics)),
            open_questions=tuple(map(self._privacy, summary.open_questions)),
        )
