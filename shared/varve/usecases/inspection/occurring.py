"""Who and what occurs in a memory, as `people` and `topics` of a search may name them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from varve.domain.language.tokens import spaced_words
from varve.domain.mention import in_words
from varve.domain.names import normalized
from varve.domain.record import MemoryType, Record
from varve.domain.statements.answers.summary_sentences import read_sentences
from varve.domain.statements.texts.persons import (
    is_person,
    list_roles,
    names_role,
)
from varve.domain.statements.texts.told_persons import find_told_persons
from varve.domain.topics import list_name_words, list_words, stem_topic
from varve.domain.triple import Triple
from varve.usecases.session import Session
from varve.usecases.whole_stores import read_summaries, read_working

MAX_LISTED = 100
_KIN = "has_"
_NO_KIN = frozenset({"has_pet"})
_TO_PERSONS = frozenset({"married_to", "reports_to"})

Occurrence = dict[str, str | int]
"""A name or topic, and how many records have it."""


def list_people(session: Session) -> list[Occurrence]:
    """Return who speaks or is told of, by the number of facts and turns that name them.

    Names come from speakers, summaries, the graph, and what the words tell of persons
    alone; a role such as "User" is none. Whom no fact or turn names any longer has the
    number of summaries and triples. Raises Retryable.
    """
    told = list(read_working(session.scope, session.records))
    triples = session.graph.triples(session.scope)
    summaries = _read_summaries(session)
    texts = [spaced_words(one.content) for one in told]
    kept = [
        spaced_words(" ".join([one.content, *one.people])) for one in summaries
    ]
    for triple in triples:
        said = triple.evidence[0]
        kept.append(spaced_words(f"{said.subject} {said.object}"))
    counts: Counter[str] = Counter()
    for name in _find_names(told, triples, summaries).values():
        words = spaced_words(name)
        counts[name] = _count_with(words, texts) or _count_with(words, kept)
    return _list("name", counts)


def _count_with(words: str, texts: Iterable[str]) -> int:
    return sum(words in text for text in texts)


def list_topics(session: Session) -> list[Occurrence]:
    """Return the topics of statements and summaries, by the records that tell of them.

    Facts and persons' turns count; a topic of nothing but summaries has their number.
    Forms of a word are one topic; verbs are none, so far as their forms show, nor are
    words of the assistant alone. Raises Retryable.
    """
    told = list(read_working(session.scope, session.records))
    summaries = _read_summaries(session)
    triples = session.graph.triples(session.scope)
    people = _find_names(told, triples, summaries).values()
    names = list_name_words(people) | list_roles()
    own = [one for one in told if not _is_reply(one)]
    counts = _count_forms(list_words(_read_words(one), names) for one in own)
    known: set[str] = set().union(*map(stem_topic, counts))
    passed_over = known | _find_replied(told, summaries)
    of_summaries: list[Sequence[str]] = []
    for summary in summaries:
        topics = [one for one in summary.topics if " " not in one]
        of_summaries.append(list_words(" ".join(topics), names))
    for topic, count in _count_forms(of_summaries).items():
        if passed_over.isdisjoint(stem_topic(topic)):
            counts[topic] = count
    return _list("topic", counts)


def _is_reply(record: Record) -> bool:
    """Return whether a record is a turn of the assistant."""
    is_turn = record.memory_type is MemoryType.TURN
    return is_turn and bool(record.about) and not is_person(str(record.about))


def _find_replied(
    told: Iterable[Record], summaries: Iterable[Record]
) -> set[str]:
    """Return the stems that only the assistant says, in turns and summaries."""
    replied = {_read_words(one) for one in told if _is_reply(one)}
    own: set[str] = set()
    for summary in summaries:
        for one in read_sentences(summary.content, summary.user_id):
            is_own = one.speaker is None or is_person(one.speaker)
            (own if is_own else replied).add(one.said)
    return _stem_words(replied) - _stem_words(own)


def _stem_words(texts: Iterable[str]) -> set[str]:
    words = set().union(*(list_words(text, ()) for text in texts))
    return set().union(*map(stem_topic, words))


def _read_words(record: Record) -> str:
    """Return what a record says, without the name of its speaker."""
    return record.content.removeprefix(f"{record.about}: ")


def _count_forms(texts: Iterable[Iterable[str]]) -> Counter[str]:
    """Count the texts by word; a word stands for all its forms, in the most frequent one."""
    group_of: dict[str, int] = {}
    forms: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for words in texts:
        for word in words:
            own = stem_topic(word)
            known = [group_of[stem] for stem in own if stem in group_of]
            group = min(known, default=len(forms))
            group_of.update(dict.fromkeys(own, group))
            forms[group][word] += 1
    counts: Counter[str] = Counter()
    for by_form in forms.values():
        ((word, _),) = by_form.most_common(1)
        counts[word] = by_form.total()
    return counts


def _read_summaries(session: Session) -> list[Record]:
    reader = session.records.at(session.scope)
    return [one for _, one in read_summaries(session.scope, reader)]


def _find_names(
    told: Iterable[Record],
    triples: Iterable[Triple],
    summaries: Iterable[Record],
) -> dict[str, str]:
    """Return the names of persons by their normalized form."""
    known = list(triples)
    found = [name for record in told for name in _list_named(record)]
    found += _list_objects(known, _leads_to_person)
    for triple in known:
        found += find_told_persons(in_words(triple))
    for summary in summaries:
        found += summary.people
        found += _list_summed_up(summary)
    pets = _list_objects(known, _NO_KIN.__contains__)
    no_persons = set(map(normalized, pets))
    names: dict[str, str] = {}
    for name in found:
        if not names_role(name) and normalized(name) not in no_persons:
            names.setdefault(normalized(name), name)
    return names


def _list_named(record: Record) -> Iterator[str]:
    """Yield a record's speaker and the persons of whom its words tell."""
    is_turn = record.memory_type is MemoryType.TURN
    if is_turn and record.about and is_person(record.about):
        yield record.about
    yield from find_told_persons(_read_words(record))


def _list_summed_up(summary: Record) -> Iterator[str]:
    """Yield who speaks in a summary's text, and the persons of whom it tells."""
    for one in read_sentences(summary.content, summary.user_id):
        if one.speaker and is_person(one.speaker):
            yield one.speaker
        yield from find_told_persons(one.said)


def _list_objects(
    triples: Iterable[Triple], has_label: Callable[[str], bool]
) -> list[str]:
    """Return the objects of triples with such labels, as they were first told."""
    return [one.evidence[0].object for one in triples if has_label(one.label)]


def _leads_to_person(label: str) -> bool:
    is_kin = label.startswith(_KIN) and label not in _NO_KIN
    return is_kin or label in _TO_PERSONS


def _list(kind: str, counts: Counter[str]) -> list[Occurrence]:
    def most_first(name: str) -> tuple[int, str]:
        return -counts[name], name

    names = sorted(counts, key=most_first)[:MAX_LISTED]
    return [{kind: name, "records": counts[name]} for name in names]
