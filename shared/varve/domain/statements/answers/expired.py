"""Which sentences of summaries still hold if the words that they repeat have expired.

They are judged as turns of their speakers, together with the turns that memory still has.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

import numpy as np

from varve.domain.calendar import Grain, microseconds, moment, noon_of
from varve.domain.language.stems import stems
from varve.domain.language.tokens import words
from varve.domain.record import EmbeddedRecord, MemoryType, Record, span_of
from varve.domain.search.columns import Columns, columns_of
from varve.domain.search.lexical import Floats, WordVectors
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Lane, Ranked, rank
from varve.domain.search.row import RecordRow
from varve.domain.search.signals import EmbeddedQuestion, names_in
from varve.domain.search.strategies import Strategy
from varve.domain.statements.answers.answering import ASKED_PLACES, settle
from varve.domain.statements.answers.expired_values import tell_values
from varve.domain.statements.answers.lone_sentence import LoneSentence
from varve.domain.statements.pairs.drawn import leave_out_date
from varve.domain.statements.standings.known import KnownStandings, mark_known
from varve.domain.statements.standings.standing import Standing
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.particulars import (
    Particulars,
    collect_stems,
    read_particulars,
)
from varve.domain.statements.texts.persons import is_person

DIMENSIONS = 256


@dataclass(frozen=True, slots=True)
class Ranking:
    """How a search ranks turns: the time that counts as now, and the strategy."""

    present: datetime
    strategy: Strategy


def confirm_summary(about: str | None, period: str) -> int:
    """Return when a summary was last confirmed, in microseconds: noon of its sources' last day."""
    _, last = span_of(about, period)
    return microseconds(noon_of(last))


def judge_sentences(
    lone: Sequence[LoneSentence],
    turns: Sequence[Ranked],
    visible: Filter,
    sought: EmbeddedQuestion,
    told: ToldValues,
    ranking: Ranking,
    *,
    about_present: bool,
) -> dict[str, Standing]:
    """Return the standings of the sentences by their ids.

    A successor is the id of a turn, or that of a sentence. `turns` are those that memory
    has of the same persons, and `told` the values of the agent's triples.
    """
    if not lone:
        return {}
    first_of = _find_firsts(lone)
    firsts = [one for one in lone if first_of[one.id] is one]
    columns = _build_columns(firsts, turns, sought)
    embedded = _embed_question(sought, columns)
    standings = _judge(
        _find(firsts, columns, embedded, ranking),
        columns,
        visible,
        embedded,
        tell_values(told, firsts, turns),
        about_present=about_present,
    )
    by_id = {one.id: one for one in lone}
    found: dict[str, Standing] = {}
    for one in lone:
        standing = standings.get(first_of[one.id].id)
        if standing is not None:
            found[one.id] = _date(standing, first_of[one.id], by_id)
    return found


def _find_firsts(lone: Sequence[LoneSentence]) -> dict[str, LoneSentence]:
    """Return for each sentence, by its id, the one that is judged for it.

    That is a copy in another summary, or what says the same of the same day: a summary has
    "Dana lives in Lisbon" beside "Dana: I live in Lisbon". Words with a speaker are judged
    before others, and facts with the day of an event last.
    """
    first_of: dict[str, LoneSentence] = {}
    by_key: dict[tuple[str | None, ...], LoneSentence] = {}
    by_days: dict[tuple[str, str], list[LoneSentence]] = {}
    for one in sorted(lone, key=_order):
        first = by_key.get(one.key)
        if first is None:
            known = chain.from_iterable(
                of_days
                for days, of_days in by_days.items()
                if one.may_be_of(days)
            )
            same = (other for other in known if _say_the_same(one, other))
            first = next(same, one)
            by_days.setdefault(one.days, []).append(one)
            by_key[one.key] = first
        first_of[one.id] = first
    return first_of


def _order(one: LoneSentence) -> tuple[bool, bool]:
    return one.sentence.speaker is None, one.is_dated_fact


def _say_the_same(one: LoneSentence, other: LoneSentence) -> bool:
    """Return whether two sentences of one user have the same telling words.

    The speakers' names do not count, nor does the day of a fact's event.
    """
    if one.summary.row.user != other.summary.row.user:
        return False
    names = f"{one.sentence.speaker or ''} {other.sentence.speaker or ''}"
    known = read_particulars(names)
    first = _read_told(one)
    second = _read_told(other)
    return _tells_all(first, second, known) and _tells_all(
        second, first, known
    )


def _read_told(one: LoneSentence) -> Particulars:
    """Return a sentence's particulars, of a fact without the date of its event."""
    said = one.sentence.said
    return read_particulars(
        leave_out_date(said) if one.is_dated_fact else said
    )


def _tells_all(
    one: Particulars, other: Particulars, names: Particulars
) -> bool:
    """Return whether the other sentence has all telling words of the first but names."""
    known = collect_stems((*other.telling, *names.telling))
    words = all(word.stems & known for word in one.telling)
    return (
        words and one.numbers == other.numbers and one.denials == other.denials
    )


def _find(
    lone: Iterable[LoneSentence],
    columns: Columns,
    sought: EmbeddedQuestion,
    ranking: Ranking,
) -> list[Ranked]:
    """Return the first rows of the ranking, and the sentences that are asked for."""
    asked_for = {one.id for one in lone if one.is_asked_for}
    return [
        item
        for item in _rank(columns, sought, ranking)
        if item.place < ASKED_PLACES or item.id in asked_for
    ]


def _judge(
    ranked: Sequence[Ranked],
    columns: Columns,
    visible: Filter,
    embedded: EmbeddedQuestion,
    told: ToldValues,
    *,
    about_present: bool,
) -> dict[str, Standing]:
    """Return the standings of the sentences and turns, judged as turns are."""
    text = embedded.question.text
    visible = replace(visible, until=None)
    settled = settle(
        ranked,
        columns,
        visible,
        text,
        embedded.whole,
        about_present=about_present,
        told=told,
    )
    known = KnownStandings(columns, visible, told, text)
    marked = mark_known(settled, known)
    return {item.id: item.standing for item in marked if item.standing}


def _date(
    standing: Standing,
    one: LoneSentence,
    by_id: Mapping[str, LoneSentence],
) -> Standing:
    """Return the standing; a sentence that may have been said before is no successor."""
    successor = by_id.get(standing.successor or "")
    if standing.current or successor is None or _is_later(successor, one):
        return standing
    return Standing(current=True, confirmed=standing.confirmed)


def _is_later(one: LoneSentence, other: LoneSentence) -> bool:
    """Return whether a sentence was said after another one.

    Of one day, the order is known only of words with speakers.
    """
    is_heard = one.sentence.speaker and other.sentence.speaker
    if is_heard and one.days == other.days and one.sentence.day:
        return True
    return one.days[0] > other.days[1]


def _build_columns(
    lone: Sequence[LoneSentence],
    turns: Sequence[Ranked],
    sought: EmbeddedQuestion,
) -> Columns:
    speakers = _collect_speakers(lone, turns)
    records = [
        _build_record(one, place, speakers) for place, one in enumerate(lone)
    ]
    records += [_copy_turn(one.row) for one in turns]
    texts = [record.words for record in records]
    vectors = embed_texts(texts, sought.embed_words)
    return columns_of(
        EmbeddedRecord(record, vector)
        for record, vector in zip(records, vectors, strict=True)
    )


def _collect_speakers(
    lone: Iterable[LoneSentence], turns: Iterable[Ranked]
) -> dict[str | None, set[str]]:
    """Return the names of the persons who speak, by user."""
    found: dict[str | None, set[str]] = {}
    for one in lone:
        name, _ = one.sentence.tell_whose()
        if name and is_person(name):
            found.setdefault(one.summary.row.user, set()).add(name)
    for turn in turns:
        name = turn.row.about
        if name and is_person(name):
            found.setdefault(turn.row.user, set()).add(name)
    return found


def _build_record(
    one: LoneSentence, place: int, speakers: Mapping[str | None, set[str]]
) -> Record:
    """Return a sentence as a turn in a conversation of its own."""
    sentence = one.sentence
    user = one.summary.row.user
    teller, said = sentence.tell_whose()
    names = speakers.get(user, set())
    speaker = teller or _find_speaker(said, names)
    said_at = noon_of(one.days[1]) + timedelta(milliseconds=place)
    named = f"{speaker}: {said}" if speaker else said
    return Record(
        id=one.id,
        memory_type=MemoryType.TURN,
        content=named,
        period=one.days[1],
        event_time=said_at,
        created_at=said_at,
        source_ids=(one.id,),
        conversation_id=one.id,
        user_id=user,
        about=speaker,
    )


def _find_speaker(said: str, names: set[str]) -> str | None:
    """Return the only person who speaks, else the one with whom a sentence begins."""
    if len(names) == 1:
        return next(iter(names))
    begun = [name for name in sorted(names) if said.startswith(f"{name} ")]
    return max(begun, key=len, default=None)


def _copy_turn(row: RecordRow) -> Record:
    said_at = moment(row.time)
    return Record(
        id=row.id,
        memory_type=MemoryType.TURN,
        content=row.content,
        period=row.period,
        event_time=said_at,
        created_at=said_at,
        source_ids=tuple(row.sources),
        conversation_id=row.id,
        user_id=row.user,
        about=row.about,
    )


def _rank(
    columns: Columns, sought: EmbeddedQuestion, ranking: Ranking
) -> list[Ranked]:
    """Return all rows in the order in which a search finds turns, repeats as well."""
    ranked = rank(
        sought,
        [Lane(Grain.WORKING, columns)],
        Filter(),
        ranking.present,
        ranking.strategy,
        len(columns),
    )
    found: list[Ranked] = []
    for item in ranked:
        found.append(item)
        found += [_unfold(item, columns, id_) for id_ in item.also_in]
    return found


def _unfold(item: Ranked, columns: Columns, id_: str) -> Ranked:
    """Return the row that was folded into a better one, with the score of that."""
    number = columns.row_by_id[id_]
    (row,) = columns.read_rows(np.array([number]))
    return replace(item, row=row, number=number, also_in=())


def _embed_question(
    sought: EmbeddedQuestion, columns: Columns
) -> EmbeddedQuestion:
    """Return the question with the vectors of its words, as sentences have them."""
    question = sought.question
    focus = question.focus(names_in(question, [columns]))
    whole, telling = embed_texts([question.text, focus], sought.embed_words)
    return replace(sought, whole=whole, focus=telling)


def embed_texts(
    texts: Sequence[str], embed_words: WordVectors | None
) -> Floats:
    """Return a vector of unit length for each text, without a call to a model.

    It is the mean of its words' vectors; without such vectors it counts stems.
    """
    told = [words(text) or ["-"] for text in texts]
    if embed_words is None:
        return np.array(list(map(_count_stems, told)), np.float32)
    distinct = list(dict.fromkeys(chain.from_iterable(told)))
    table = embed_words(distinct)
    at = {word: number for number, word in enumerate(distinct)}
    vectors: list[Floats] = []
    for one in told:
        rows = table[[at[word] for word in one]]
        vectors.append(_to_unit(rows.sum(axis=0)))
    return np.array(vectors, np.float32)


def _count_stems(told: Iterable[str]) -> Floats:
    counts = np.zeros(DIMENSIONS, np.float32)
    for word in told:
        for stem in stems(word):
            counts[zlib.crc32(stem.encode()) % DIMENSIONS] += 1
    return _to_unit(counts)


def _to_unit(vector: Floats) -> Floats:
    length = max(1e-9, float(np.linalg.norm(vector)))
    unit: Floats = (vector / length).astype(np.float32)
    return unit
