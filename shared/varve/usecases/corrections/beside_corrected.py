"""What a message states beside a corrected value, in the same part: it still holds."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from varve.domain.language.languages import Language
from varve.domain.names import normalized
from varve.domain.profile import KEY_OF_PREDICATE
from varve.domain.record import MemoryType, Record
from varve.domain.statements.forgetting.forgetting import (
    AnyForgotten,
    keep_rest,
)
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.parts import (
    find_corrected_parts,
    find_parts,
    split_parts,
)
from varve.domain.statements.texts.sentences import tell_triple
from varve.domain.statements.texts.telling import EndedMessage
from varve.domain.triple import Op, Triple, TripleOperation
from varve.usecases.forget.asked_to_forget import read_forgotten
from varve.usecases.forget.forgotten_statements import stated_by
from varve.usecases.session import Session


class BesideCorrected:
    """Tells what else holds of the corrected parts of messages."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def _triples(self) -> Sequence[Triple]:
        return tuple(self._session.graph.triples(self._session.scope))

    @cached_property
    def _forgotten(self) -> Sequence[AnyForgotten]:
        reader = self._session.records.at(self._session.scope)
        return read_forgotten(self._session.scope, reader, self._triples)

    def tell(
        self,
        turn: Record,
        corrected: Record,
        ended: Collection[EndedMessage],
        told: str,
        language: Language,
    ) -> str:
        """Return a correction with sentences of what else its parts state.

        "I work at Endesa as an engineer", corrected by "I work at Acme.", still tells that
        the speaker is an engineer. `corrected` is the turn or one of its facts. What a
        user asked to forget is not told again. Raises Retryable.
        """
        inside = _read_corrected_parts(turn, corrected, told)
        words = normalized(keep_rest(stated_by(turn), self._forgotten))
        sentences = [told]
        of_value = self._find_predicates(turn, ended)
        for one in self._list_beside(turn, ended):
            value = normalized(one.object)
            is_inside = any(value in part for part in inside)
            if not is_inside or value not in words:
                continue
            sentence = tell_triple(
                one.subject,
                one.predicate,
                one.object,
                turn.about,
                language=language,
            )
            # "I love jazz and opera": each value holds for itself.
            is_beside = one.predicate in KEY_OF_PREDICATE or (
                one.predicate in of_value
            )
            if is_beside or _is_apart(sentence, told):
                sentences.append(sentence)
        return " ".join(dict.fromkeys(sentences))

    def _find_predicates(
        self, turn: Record, ended: Collection[EndedMessage]
    ) -> set[str]:
        """Return the predicates with which a turn's message states the ended values."""
        values = _list_values(ended)
        return {
            one.predicate
            for triple in self._triples
            for one in triple.evidence
            if _states(one, turn) and normalized(one.object) in values
        }

    def _list_beside(
        self, turn: Record, ended: Collection[EndedMessage]
    ) -> Iterator[TripleOperation]:
        """Yield what a turn's message states of the triples that hold, but the ended values."""
        values = _list_values(ended)
        for triple in self._triples:
            if not triple.holds(self._session.now):
                continue
            stated = (one for one in triple.evidence if _states(one, turn))
            for one in islice(stated, 1):
                if normalized(one.object) not in values:
                    yield one


def _list_values(ended: Iterable[EndedMessage]) -> set[str]:
    return {normalized(one.value) for one in ended}


def _read_corrected_parts(
    turn: Record, corrected: Record, told: str
) -> list[str]:
    """Return the parts of a turn that a correction of it, or of its fact, is about."""
    if corrected.memory_type is MemoryType.FACT:
        numbers = find_parts(turn.words, corrected.words)
    else:
        numbers = find_corrected_parts(turn.words, told)
    return [
        normalized(part)
        for number, part in enumerate(split_parts(turn.words))
        if number in numbers
    ]


def _states(operation: TripleOperation, turn: Record) -> bool:
    """Return whether a turn's message states an operation's value."""
    if operation.op is Op.DELETE:
        return False
    is_same_talk = operation.conversation_id == turn.conversation_id
    ids = set(operation.message_ids)
    return is_same_talk and not ids.isdisjoint(turn.source_ids)


def _is_apart(sentence: str, told: str) -> bool:
    """Return whether a sentence is of other topics than a correction.

    Whoever changes their employer may have another boss.
    """
    topics = read_cues(sentence).topics
    return topics.isdisjoint(read_cues(told).topics)
