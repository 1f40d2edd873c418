"""Where the words of a context's entries come from, by which repetitions are found."""

from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass, field, replace

from varve.domain.block import EntryType
from varve.domain.language.languages import installed_languages
from varve.domain.mention import in_words
from varve.domain.names import normalized
from varve.domain.profile import KEY_OF_PREDICATE, ProfileEntry, find_key
from varve.domain.record import MemoryType, turn_id
from varve.domain.search.answer import Result
from varve.domain.search.row import MAX_BRIEF_TOKENS, MessageKey
from varve.domain.search.supersession import list_stating
from varve.domain.statements.answers.folding import (
    says_little_more,
    tells_something_beside,
)
from varve.domain.statements.answers.summary_sentences import fold_words
from varve.domain.statements.pairs.sameness import names_value
from varve.domain.text import estimated_tokens
from varve.domain.triple import Triple


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry's words come from, by which entries are compared.

    `text` are the words without what the entry adds, such as when a fact ended. `day`,
    `messages`, `whole`, `value` and `user` are those of a `Saying`; `triples` the ids of
    the triples that the words state and little more. `also_in` are the records that
    search folded into the entry. `outdated` are the folded sentences of a summary that
    are superseded, `repeats` has the records that say one, and `apart` are those of
    conversations without anything on the question. `wordings` are other folded sentences
    that say an attribute.
    """

    text: str
    day: str = ""
    messages: frozenset[MessageKey] = frozenset()
    whole: bool = False
    value: str = ""
    user: str | None = None
    triples: frozenset[str] = frozenset()
    also_in: tuple[str, ...] = ()
    outdated: frozenset[str] = frozenset()
    repeats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    wordings: frozenset[str] = frozenset()


def find_origins(
    statements: Sequence[ProfileEntry],
    results: Sequence[Result],
    known: Sequence[Triple],
    chosen: Sequence[Triple],
    names: Collection[str],
) -> dict[str, Origin]:
    """Return the origins of profile, records and triples by the ids of their entries.

    `names` are those of the profile's user.
    """
    by_message = _index_by_message(known)
    by_value = _index_by_value(known, names)
    origins: dict[str, Origin] = {}
    for statement in statements:
        origin = _profile_origin(statement, by_message)
        told_as = (statement.key, normalized(statement.value))
        if not origin.triples:
            # What is set by hand has no message; corrections tell it.
            origin = replace(
                origin, triples=by_value.get(told_as, frozenset())
            )
        wordings = frozenset(_word_attribute(statement, names))
        origins[statement.id] = replace(origin, wordings=wordings)
    told = _index_values(statements)
    for result in results:
        origins[result.id] = _result_origin(result, by_message, told)
    for triple in chosen:
        value = triple.evidence[0].object
        origins[triple_entry_id(triple)] = Origin(
            text=in_words(triple),
            messages=list_stating(triple),
            value=value,
            triples=frozenset([triple.id]),
        )
    return origins


def _index_by_message(
    known: Iterable[Triple],
) -> dict[MessageKey, list[Triple]]:
    found: dict[MessageKey, list[Triple]] = {}
    for triple in known:
        for message in list_stating(triple):
            found.setdefault(message, []).append(triple)
    return found


def _index_by_value(
    known: Iterable[Triple], names: Iterable[str]
) -> dict[tuple[str, str], frozenset[str]]:
    """Return the triples about the user that say an attribute, by its key and value."""
    own = set(map(normalized, names))
    found: dict[tuple[str, str], frozenset[str]] = {}
    for triple in known:
        told = triple.evidence[0]
        key = find_key(triple.label)
        if normalized(told.subject) not in own:
            continue
        value = (key, normalized(told.object))
        found[value] = found.get(value, frozenset()) | {triple.id}
    return found


def _index_values(
    statements: Iterable[ProfileEntry],
) -> dict[MessageKey, set[str]]:
    """Return the values of the profile by the messages that state them."""
    found: dict[MessageKey, set[str]] = {}
    for one in statements:
        for message in one.message_ids:
            key = (one.conversation_id, message)
            found.setdefault(key, set()).add(one.value)
    return found


def _word_attribute(
    statement: ProfileEntry, names: Iterable[str]
) -> Iterator[str]:
    """Yield the folded words of the triples about the user that say an attribute."""
    for predicate in {*KEY_OF_PREDICATE, statement.key}:
        if find_key(predicate) == statement.key:
            words = predicate.replace("_", " ")
            for name in names:
                yield fold_words(f"{name} {words} {statement.value}")


def _profile_origin(
    statement: ProfileEntry, by_message: Mapping[MessageKey, Sequence[Triple]]
) -> Origin:
    messages = frozenset(
        (statement.conversation_id, message)
        for message in statement.message_ids
    )
    stated: set[str] = set()
    value = normalized(statement.value)
    for message in messages:
        for triple in by_message.get(message, ()):
            if normalized(triple.evidence[0].object) == value:
                stated.add(triple.id)
    return Origin(
        text=f"{statement.key} {statement.value}",
        messages=messages,
        value=statement.value,
        triples=frozenset(stated),
    )


def _result_origin(
    result: Result,
    by_message: Mapping[MessageKey, Sequence[Triple]],
    told: Mapping[MessageKey, Set[str]],
) -> Origin:
    if result.memory_type == MemoryType.SUMMARY:
        also_in = tuple(result.also_in)
        return Origin(
            result.content,
            user=result.user_id,
            also_in=also_in,
            outdated=frozenset(result.outdated),
            repeats=result.repeats,
            apart=result.apart,
        )
    messages = result.messages
    stated: set[str] = set()
    for message in messages:
        for triple in by_message.get(message, ()):
            if _states(result.content, triple, told.get(message, set())):
                stated.add(triple.id)
    return Origin(
        text=result.content,
        day=result.date,
        messages=messages,
        whole=_is_brief_turn(result),
        user=result.user_id,
        triples=frozenset(stated),
        also_in=tuple(result.also_in),
    )


def _states(text: str, triple: Triple, told: Set[str]) -> bool:
    """Return whether a text states the triple's value and little more.

    What else it states has lines of its own if it is `told`.
    """
    value = triple.evidence[0].object
    words = _tell_in_each_language(triple)
    if not names_value(text, value) or not says_little_more(text, words):
        return False
    return not tells_something_beside(text, {value, *told}, words)


def _tell_in_each_language(triple: Triple) -> str:
    """Return the words of a triple, and those of each language for it."""
    said = triple.evidence[0]
    told = [in_words(triple)]
    for one in installed_languages():
        words = one.tellings.tell(
            said.subject, triple.label, said.object, ends=False
        )
        told.append(words or "")
    return " ".join(told)


def _is_brief_turn(result: Result) -> bool:
    if result.memory_type != MemoryType.TURN or len(result.messages) != 1:
        return False
    whole = turn_id(result.conversation_id or "", result.source_ids[0])
    is_brief = estimated_tokens(result.content) <= MAX_BRIEF_TOKENS
    return result.id == whole and is_brief


def triple_entry_id(triple: Triple) -> str:
    """Return the id of a triple's entry in a block."""
    return f"{EntryType.TRIPLE}-{triple.id}"
