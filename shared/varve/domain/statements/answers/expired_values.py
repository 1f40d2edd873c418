"""The values that sentences of summaries state whose words have expired."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from varve.domain.language.tokens import spaced_words
from varve.domain.search.ranking import Ranked
from varve.domain.search.row import MessageKey
from varve.domain.statements.answers.lone_sentence import LoneSentence
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.triple import Triple, TripleOperation

_NEAR = (timedelta(0), timedelta(-1), timedelta(1))
"""A local day begins up to a day before or after that of UTC."""


def tell_values(
    told: ToldValues, lone: Sequence[LoneSentence], turns: Sequence[Ranked]
) -> ToldValues:
    """Return the values that sentences and turns state, each as one message of its id.

    A sentence states the value of a triple that a message of its user and its day stated or
    ended, if it names it.
    """
    return ToldValues(lambda: _Retelling(lone, turns).tell(told.triples))


class _Retelling:
    """Which sentence or turn repeats the message of a statement."""

    def __init__(
        self, lone: Iterable[LoneSentence], turns: Iterable[Ranked]
    ) -> None:
        self._tellers: dict[MessageKey, tuple[str, tuple[str, ...]]] = {}
        for turn in turns:
            teller = (turn.id, tuple(turn.row.sources))
            self._tellers.update(dict.fromkeys(turn.row.messages, teller))
        self._lone: dict[tuple[str | None, date], list[LoneSentence]] = {}
        for one in lone:
            first, last = one.days
            if first == last:
                key = (one.summary.row.user, date.fromisoformat(first))
                self._lone.setdefault(key, []).append(one)

    def tell(self, triples: Sequence[Triple]) -> Iterator[Triple]:
        """Yield the triples of the values, with the messages of their statements replaced."""
        found = dict(self._find_sentences(triples))
        for triple in triples:
            for said in triple.evidence:
                if said.id in found:
                    # A message's end of another value is its sentence's too.
                    id_ = found[said.id].id
                    for message in said.messages:
                        self._tellers.setdefault(message, (id_, (id_,)))
        told = {one.key for one in triples if self._is_told(one)}
        for triple in triples:
            if triple.key in told:
                evidence = [
                    self._retell(one, found) for one in triple.evidence
                ]
                yield replace(triple, evidence=tuple(evidence))

    def _find_sentences(
        self, triples: Iterable[Triple]
    ) -> Iterator[tuple[str, LoneSentence]]:
        """Yield the ids of statements, each with the sentence that names their value."""
        for triple in triples:
            for said in triple.evidence:
                for one in self._list_near(said):
                    if spaced_words(said.object) in spaced_words(
                        one.sentence.said
                    ):
                        yield said.id, one
                        break

    def _list_near(self, said: TripleOperation) -> Iterator[LoneSentence]:
        """Yield the sentences of a statement's user and day."""
        day = said.event_time.date()
        for apart in _NEAR:
            yield from self._lone.get((said.user_id, day + apart), ())

    def _is_told(self, triple: Triple) -> bool:
        """Return whether a sentence or a turn repeats any statement of a triple."""
        return any(
            message in self._tellers
            for said in triple.evidence
            for message in said.messages
        )

    def _retell(
        self, said: TripleOperation, found: Mapping[str, LoneSentence]
    ) -> TripleOperation:
        """Return a statement as one of the sentence or the turn that repeats it."""
        tellers = (self._tellers.get(one) for one in said.messages)
        teller = next(filter(None, tellers), None)
        if said.id in found:
            id_ = found[said.id].id
            teller = (id_, (id_,))
        if teller is None:
            return said
        conversation, ids = teller
        return replace(said, conversation_id=conversation, message_ids=ids)
