"""Answers to questions about the present: current statements first, superseded ones marked.

A successor takes the place of what it supersedes. The assistant's echoes step back.
"""

import math
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace

from varve.domain.language.tokens import written_words
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.query import Filter
from varve.domain.search.ranking import Ranked
from varve.domain.statements.answers.present import (
    BEHIND,
    ECHO_BEHIND,
    PresentAnswer,
    describe,
)
from varve.domain.statements.answers.replies import put_replies_first
from varve.domain.statements.answers.retold import hold_retold
from varve.domain.statements.pairs.events import asks_for_told_event
from varve.domain.statements.questions.asked_statements import AskedStatements
from varve.domain.statements.questions.asked_words import AskedWords
from varve.domain.statements.questions.asking import (
    Asking,
    Found,
    count_mixed,
    count_valued,
    list_first_said,
    measure_stated,
)
from varve.domain.statements.questions.whom import (
    NamedSpeaker,
    find_whom,
    list_speaking,
)
from varve.domain.statements.standings.standing import Successor
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.stores.paired import (
    StoreStatements,
    find_admitted,
)
from varve.domain.statements.stores.told_values import ToldValues
from varve.domain.statements.texts.cues import (
    asks_openly,
    asks_past,
    read_cues,
    split_at_change,
)
from varve.domain.statements.texts.particulars import (
    Particulars,
    count_shared,
    read_particulars,
)
from varve.domain.statements.texts.persons import Persons

SHARPNESS = 0.25
"""How much of the chances counts in the scores, whose order they alone decide."""
ASKED_PLACES = 40
"""So many rows of a ranking are judged, however many are wanted. The others follow them."""


def settle(
    ranked: Sequence[Ranked],
    columns: Columns,
    visible: Filter,
    text: str,
    question: Floats,
    *,
    about_present: bool,
    told: ToldValues,
    by_line: bool = False,
) -> list[Ranked]:
    """Return the ranked rows with their standings, in the order of the answer.

    All rows are of `columns`. `visible` passes the rows that the request may see; `text`
    is the question and `question` its vector. `told` has the values that the messages of
    the columns state. In an answer about neither the present nor the past the order
    stays. `by_line`: doubtful statements are marked as well, for the lines of a context.
    """
    store = columns.derive(StoreStatements)
    cues = read_cues(text)
    is_of_past = not about_present and asks_past(text)
    whom = find_whom(text, columns, visible, told, about_present=about_present)
    statements = {
        item.number: store.find_statement(item.number) for item in ranked
    }
    rows = _list_told(statements)
    judged = None
    if whom.tells and (about_present or is_of_past):
        found = _collect_found(ranked, store, statements)
        asking = _read_asking(text, found, columns, visible, is_of_past)
        judged = AskedStatements(
            asking, columns, found, rows, told, by_line=by_line
        )
        ranked = put_likely_first(ranked, statements, judged)
        about_present = about_present or asking.is_of_event
    standings = Standings(
        columns,
        admitted=find_admitted(columns, visible),
        question=cues,
        judged=judged,
        careful=whom.names_speakers,
        speaker=whom.speaker,
        told=told,
    )
    every = dict.fromkeys([*rows, *_list_folded(ranked, columns, store)])
    successors = hold_retold(standings.find_successors(every), standings)
    ranked = _put_relatives_behind(ranked, whom.speaker)
    if about_present:
        return _put_current_first(
            ranked, statements, successors, standings, question
        )
    marked = [
        _mark(item, statements, successors, standings) for item in ranked
    ]
    if not is_of_past:
        return marked
    own_words = _put_echoes_behind(marked, statements, store)
    return _put_change_behind(own_words, store, text)


def settle_replies(
    ranked: Sequence[Ranked],
    columns: Columns,
    visible: Filter,
    text: str,
    question: Floats,
    told: ToldValues,
) -> list[Ranked]:
    """Return the rows with the assistant's replies first; only what others said is marked.

    What the assistant said it has said, whatever holds now. The parameters are those of
    `settle`.
    """
    store = columns.derive(StoreStatements)
    placed = put_replies_first(ranked, columns, question)
    statements = {
        item.number: store.find_statement(item.number) for item in placed
    }
    standings = Standings(
        columns,
        admitted=find_admitted(columns, visible),
        question=read_cues(text),
        told=told,
    )
    rows = dict.fromkeys(_list_told(statements))
    successors = hold_retold(standings.find_successors(rows), standings)
    return [
        item
        if store.is_assistant(item.number)
        else _mark(item, statements, successors, standings)
        for item in placed
    ]


def _read_asking(
    text: str,
    found: Mapping[int, Found],
    columns: Columns,
    visible: Filter,
    is_past: bool,
) -> Asking:
    """Return what a question asks among the statements that were found."""
    cues = read_cues(text)
    told = [read_cues(one.text) for one in found.values()]
    said = list_first_said(found.values())
    is_of_event = asks_for_told_event(cues, told)
    return Asking(
        cues,
        columns.derive(Persons).count_told(visible),
        AskedWords(cues, told, list_speaking(columns, visible)),
        is_past and not is_of_event,
        count_valued(said),
        asks_openly(text),
        is_of_event,
        max((one.cosine for one in found.values()), default=0.0),
        measure_stated(said),
        is_bare=len(written_words(text)) == 1,
        mixed=count_mixed(said),
        text=text,
    )


def _list_told(statements: Mapping[int, int | None]) -> list[int]:
    """Return the rows of the statements, each once."""
    told = [row for row in statements.values() if row is not None]
    return list(dict.fromkeys(told))


def _list_folded(
    ranked: Iterable[Ranked], columns: Columns, store: StoreStatements
) -> Iterator[int]:
    """Yield the rows of the statements that were folded into others of equal words."""
    for item in ranked:
        for id_ in item.also_in:
            row = columns.row_by_id.get(id_)
            statement = None if row is None else store.find_statement(row)
            if statement is not None:
                yield statement


def _collect_found(
    ranked: Sequence[Ranked],
    store: StoreStatements,
    statements: Mapping[int, int | None],
) -> dict[int, Found]:
    """Return what was found first, for each statement and for each row without one."""
    ranked = [item for item in ranked if item.place < ASKED_PLACES]
    best = max((item.score for item in ranked), default=0.0) or 1.0
    rows: dict[int, list[Ranked]] = {}
    for item in ranked:
        row = find_told_row(item, statements)
        rows.setdefault(row, []).append(item)
    places = {row: place for place, row in enumerate(rows)}
    return {
        row: Found(
            text=store.read(row).text,
            share=max(item.score for item in items) / best,
            place=places[row],
            cosine=max(item.vector for item in items),
            is_fact=_tells_fact(items, store),
            is_assistant=store.is_assistant(row),
        )
        for row, items in rows.items()
    }


def find_told_row(item: Ranked, statements: Mapping[int, int | None]) -> int:
    """Return the row of an item's statement, or its own if it has none."""
    statement = statements[item.number]
    return item.number if statement is None else statement


def _tells_fact(items: Iterable[Ranked], store: StoreStatements) -> bool:
    return any(store.is_fact(item.number) for item in items)


def put_likely_first(
    ranked: Sequence[Ranked],
    statements: Mapping[int, int | None],
    judged: AskedStatements,
) -> list[Ranked]:
    """Return the rows by the chance that their statement is the answer.

    Rows that are not judged follow in their order.
    """
    chances = judged.chances
    greatest = max(chances.values(), default=0.0)
    least = min(chances.values(), default=0.0)
    best = max((item.score for item in ranked), default=0.0)
    weighed = []
    for item in ranked:
        row = find_told_row(item, statements)
        score = best if row in chances else item.score
        share = math.exp(SHARPNESS * (chances.get(row, least) - greatest))
        answers = row in judged.likely
        weighed.append(replace(item, score=score * share, answers=answers))
    return sorted(weighed, key=lambda item: -item.score)


def _find_tellers(statements: Mapping[int, int | None]) -> dict[int, int]:
    """Return for each statement the best row that tells it, such as its fact."""
    tellers: dict[int, int] = {}
    for row, statement in statements.items():
        if statement is not None:
            tellers.setdefault(statement, row)
    return tellers


def _mark(
    item: Ranked,
    statements: dict[int, int | None],
    successors: dict[int, Successor],
    standings: Standings,
) -> Ranked:
    statement = statements[item.number]
    return replace(
        item, standing=describe(statement, item, successors, standings)
    )


def _put_current_first(
    ranked: Sequence[Ranked],
    statements: dict[int, int | None],
    successors: dict[int, Successor],
    standings: Standings,
    question: Floats,
) -> list[Ranked]:
    """Return the rows with superseded statements and echoes behind what holds."""
    answer = PresentAnswer(
        standings, successors, question, _find_tellers(statements)
    )
    for item in ranked:
        answer.add(item, statements[item.number])
    return answer.sort()


def _put_echoes_behind(
    marked: Sequence[Ranked],
    statements: Mapping[int, int | None],
    store: StoreStatements,
) -> list[Ranked]:
    """Return the rows with the assistant's echoes behind the statements."""

    def is_echo(row: int) -> bool:
        return statements[row] is not None and store.is_assistant(row)

    return _put_behind(marked, is_echo, ECHO_BEHIND)


def _put_relatives_behind(
    ranked: Sequence[Ranked], speaker: NamedSpeaker | None
) -> Sequence[Ranked]:
    """Return the rows with those behind that tell of the named speaker's people."""
    if speaker is None:
        return ranked
    return _put_behind(ranked, speaker.answers_not)


def _put_behind(
    ranked: Sequence[Ranked],
    is_behind: Callable[[int], bool],
    factor: float = BEHIND,
) -> list[Ranked]:
    """Return the ranked rows with some of them behind, by their numbers."""
    placed = []
    for item in ranked:
        score = item.score * (factor if is_behind(item.number) else 1.0)
        placed.append(replace(item, score=score))
    return sorted(placed, key=lambda item: -item.score)


def _put_change_behind(
    placed: Sequence[Ranked], store: StoreStatements, text: str
) -> list[Ranked]:
    """Return the rows with those behind that tell the change that the question names.

    "Where did I live before I moved to Porto?" is not answered by "I moved to Porto".
    """
    state, change = split_at_change(text)
    if not change:
        return list(placed)
    named = read_particulars(change)
    asked = read_particulars(state)
    behind = []
    for item in placed:
        told = store.read(item.number).cues.particulars
        score = item.score
        if _measure_share(named, told) > _measure_share(asked, told):
            score *= BEHIND
        behind.append(replace(item, score=score))
    return sorted(behind, key=lambda item: -item.score)


def _measure_share(words: Particulars, told: Particulars) -> float:
    """Return the share of the telling words that a row tells."""
    return count_shared(words, told) / max(1, len(words.telling))
