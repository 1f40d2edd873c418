"""The values that messages state, as the triples drawn from them show.

"I moved to Utrecht" and "I live in Utrecht" differ in their words and state one value.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain

from varve.domain.language.tokens import fold
from varve.domain.predicates import is_single_valued
from varve.domain.search.row import MessageKey
from varve.domain.statements.pairs.confirming import Agreement
from varve.domain.statements.texts.cues import Cues
from varve.domain.statements.texts.particulars import collect_stems, read_stems
from varve.domain.triple import Op, Triple, TripleKey, TripleOperation

Slot = tuple[str, str]
"""The entity and the predicate of a triple."""
Values = dict[Slot, set[str]]
INTRODUCING = "has_"
"""The beginning of predicates that only say who somebody is, as "my daughter Ida" does."""
TIMELESS = frozenset({"is_a"})
"""Predicates whose values end nothing and hold nothing: a cat that died is still a cat."""


class ToldValues:
    """The values of an agent's triples, by the messages that state and end them.

    `read` is called when the first pair is compared.
    """

    def __init__(self, read: Callable[[], Iterable[Triple]] = list) -> None:
        self._read = read

    @cached_property
    def triples(self) -> Sequence[Triple]:
        """The agent's triples, read when they are first needed."""
        return tuple(self._read())

    @cached_property
    def _stating(self) -> dict[MessageKey, dict[TripleKey, TripleOperation]]:
        """By message, the triples that it states, each with its statement."""
        found: dict[MessageKey, dict[TripleKey, TripleOperation]] = {}
        for triple in self.triples:
            for one in triple.stating:
                for message in one.messages:
                    of_message = found.setdefault(message, {})
                    of_message.setdefault(triple.key, one)
        return found

    @cached_property
    def _stated(self) -> dict[MessageKey, Values]:
        found: dict[MessageKey, Values] = {}
        for message, triples in self._stating.items():
            values = found.setdefault(message, {})
            for source, label, target in triples:
                values.setdefault((source, label), set()).add(target)
        return found

    @cached_property
    def _ended(self) -> dict[MessageKey, Values]:
        found: dict[MessageKey, Values] = {}
        for triple in self.triples:
            end = triple.evidence[-1]
            if triple.invalid_at is not None and end.op is Op.DELETE:
                _add(found, triple, end.conversation_id, end.message_ids)
        return found

    @cached_property
    def _holding(self) -> frozenset[TripleKey]:
        return frozenset(one.key for one in self.triples if not _has_end(one))

    @cached_property
    def _ends(self) -> dict[MessageKey, list[Collection[MessageKey]]]:
        """By the message that states a value, the messages that end it; none: it holds.

        What the user foresees has not ended. A value that holds again has not either.
        """
        holding = self._holding
        found: dict[MessageKey, list[Collection[MessageKey]]] = {}
        for triple in self.triples:
            if triple.label in TIMELESS:
                continue
            ends: Collection[MessageKey] = ()
            if triple.key not in holding:
                ends = triple.evidence[-1].messages
            for one in triple.evidence[: -1 if triple.invalid_at else None]:
                for message in one.messages:
                    found.setdefault(message, []).append(ends)
        return found

    def have_any(self, messages: Iterable[MessageKey]) -> bool:
        """Return whether any of the messages states a value."""
        return any(
            one in self._stated or one in self._ends for one in messages
        )

    def end_all(
        self, earlier: Collection[MessageKey], later: Collection[MessageKey]
    ) -> bool:
        """Return whether no value of earlier messages holds, and later ones end one."""
        ends: list[Collection[MessageKey]] = []
        for message in earlier:
            ends += self._ends.get(message, ())
        if not ends or not all(ends):
            return False
        return any(message in later for one in ends for message in one)

    def list_ended(
        self, earlier: Collection[MessageKey], later: Collection[MessageKey]
    ) -> list[str]:
        """Return the values of earlier messages that later ones end, each with its predicate."""
        before = _collect(self._stated, earlier)
        ended = _collect(self._ended, later)
        found: list[str] = []
        for slot in before.keys() & ended.keys():
            entity, predicate = slot
            for value in before[slot] & ended[slot]:
                if (entity, predicate, value) not in self._holding:
                    found.append(f"{predicate.replace('_', ' ')} {value}")
        return sorted(found)

    def leave_others(
        self,
        asked: Cues | None,
        earlier: Collection[MessageKey],
        later: Collection[MessageKey],
        said: Cues,
    ) -> bool:
        """Return whether later messages end some of several values, and the others hold.

        As long as the question names none of those that ended, the earlier messages answer
        it. `said` is what the later ones say: another language's value shows not whether
        the question names it.
        """
        words = collect_stems(said.particulars.telling)
        ended = [
            read_stems(value)
            for value in self._list_ended_of_several(earlier, later)
        ]
        if not ended or not all(one <= words for one in ended):
            return False
        if asked is None:
            return True
        names = collect_stems(asked.particulars.telling)
        is_past = asked.has("asks_past")
        return not is_past and all(map(names.isdisjoint, ended))

    def find_ended_beside(
        self, messages: Collection[MessageKey]
    ) -> tuple[list[TripleOperation], list[str]]:
        """Return statements of messages that hold, and the values that ended beside them.

        Only predicates count of which the messages state both.
        """
        held: dict[Slot, list[TripleOperation]] = {}
        ended: dict[Slot, list[TripleOperation]] = {}
        stated: dict[TripleKey, TripleOperation] = {}
        for message in messages:
            stated.update(self._stating.get(message, {}))
        for key, one in stated.items():
            found = held if key in self._holding else ended
            found.setdefault(key[:2], []).append(one)
        both = held.keys() & ended.keys()
        return (
            list(chain.from_iterable(held[slot] for slot in both)),
            [one.object for slot in both for one in ended[slot]],
        )

    def _list_ended_of_several(
        self, earlier: Collection[MessageKey], later: Collection[MessageKey]
    ) -> list[str]:
        """Return the values of earlier messages that later ones end, if others of each hold.

        Empty: they end none, or all that the earlier messages state of a predicate.
        """
        before = _collect(self._stated, earlier)
        ended = _collect(self._ended, later)
        found: list[str] = []
        for slot in before.keys() & ended.keys():
            held = {
                one for one in before[slot] if (*slot, one) in self._holding
            }
            if not held:
                return []
            found += before[slot] & ended[slot] - held
        return found

    def agree(
        self, earlier: Collection[MessageKey], later: Collection[MessageKey]
    ) -> Agreement:
        """Return whether later messages state values of earlier ones and change none."""
        before = _collect(self._stated, earlier)
        after = _collect(self._stated, later)
        shared = before.keys() & after.keys()
        if not shared or not before.keys().isdisjoint(
            _collect(self._ended, later)
        ):
            return Agreement.NONE
        if any(before[slot].isdisjoint(after[slot]) for slot in shared):
            return Agreement.NONE
        if all(map(_introduces, shared)):
            return Agreement.WHO
        return Agreement.VALUE

    def have_same_slot(
        self,
        earlier: Collection[MessageKey],
        later: Collection[MessageKey],
        *,
        tells_change: bool,
    ) -> bool | None:
        """Return whether both tell of one predicate of one entity.

        Two values of a predicate that may have several need a change in the later words.
        None: one of the two states no triple.
        """
        before = _collect(self._stated, earlier).keys()
        after = _collect(self._stated, later).keys()
        shared = before & (after | _collect(self._ended, later).keys())
        if any(is_single_valued(predicate) for _, predicate in shared):
            return True
        if shared:
            return tells_change
        return False if before and after else None

    def tell_apart(
        self, earlier: Collection[MessageKey], later: Collection[MessageKey]
    ) -> bool:
        """Return whether both state triples, and none of one predicate or one value.

        Those that only say who somebody is do not count.
        """
        before = _collect(self._stated, earlier)
        after = _collect(self._stated, later)
        told = {slot for slot in before if not _introduces(slot)}
        said = {slot for slot in after if not _introduces(slot)}
        if not told or not said:
            return False
        ended = _collect(self._ended, later)
        if not told.isdisjoint(said | ended.keys()):
            return False
        values = set().union(*(before[slot] for slot in told))
        return all(values.isdisjoint(after[slot]) for slot in said)

    def tell_again(
        self,
        words: str,
        earlier: Collection[MessageKey],
        later: Collection[MessageKey],
    ) -> bool:
        """Return whether later messages state again a value that words drawn from earlier ones name.

        They do not if they replace another value that the words name. That "my daughter
        Ida" is named again says nothing of what Ida is allergic to.
        """
        before = _collect(self._stated, earlier)
        after = _collect(self._stated, later)
        folded = fold(words)
        again: set[Slot] = set()
        named: set[Slot] = set()
        for slot, values in before.items():
            told = {value for value in values if fold(value) in folded}
            if not told:
                continue
            named.add(slot)
            if told & after.get(slot, set()):
                again.add(slot)
            elif slot in after and is_single_valued(slot[1]):
                return False
        tells_value = not all(map(_introduces, named))
        return any(not (tells_value and _introduces(slot)) for slot in again)


def _introduces(slot: Slot) -> bool:
    """Return whether a slot only says who somebody is to another one, or what it is."""
    _, predicate = slot
    if predicate.startswith(INTRODUCING):
        return True
    return predicate in TIMELESS or predicate == "married_to"


def _has_end(triple: Triple) -> bool:
    """Return whether the triple had ended when memory learnt of the end."""
    if triple.invalid_at is None or triple.expired_at is None:
        return False
    return triple.invalid_at <= triple.expired_at


def _add(
    found: dict[MessageKey, Values],
    triple: Triple,
    conversation: str,
    messages: Iterable[str],
) -> None:
    slot = (triple.source_id, triple.label)
    for message in messages:
        values = found.setdefault((conversation, message), {})
        values.setdefault(slot, set()).add(triple.target_id)


def _collect(
    told: dict[MessageKey, Values], messages: Iterable[MessageKey]
) -> Values:
    """Return what all of the messages state or end."""
    found: Values = {}
    for message in messages:
        for slot, values in told.get(message, {}).items():
            found.setdefault(slot, set()).update(values)
    return found
