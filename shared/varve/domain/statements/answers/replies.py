"""Questions for what the assistant said: its replies come first, by what they answer."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from varve.domain.language.tokens import fold
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.ranking import Ranked
from varve.domain.statements.answers.present import BEHIND, build_item
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.texts.cues import join_phrases, read_cues

MAX_LIKELY = 2
"""So many of the best replies are likely answers, whatever their likeness is."""


def asks_for_replies(text: str) -> bool:
    """Return whether a question asks what the assistant said: "What did you recommend?".

    "What did it cost when you wrote this?" does not.
    """
    if not read_cues(text).asks:
        return False
    recalling, time = _build_patterns()
    return recalling.search(time.sub("", fold(text))) is not None


@cache
def _build_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what asks for the assistant's words, and a clause of time that does not."""
    recalling = join_phrases(lambda language: language.questions.recalling)
    time = join_phrases(lambda language: language.questions.recalling_time)
    return (
        re.compile(rf"\b(?:{recalling})\b"),
        re.compile(rf"\b(?:{time})\b.*"),
    )


def put_replies_first(
    ranked: Sequence[Ranked],
    columns: Columns,
    question: Floats,
) -> list[Ranked]:
    """Return the rows with the assistant's replies before what persons said.

    A reply has at least the score of what it answers, for it shares few words with the
    question: "Can you recommend a restaurant?", "Try the Olive Shed." `question` is the
    question's vector.
    """
    store = columns.derive(StoreStatements)
    items = {item.number: item for item in ranked}
    for item in ranked:
        statement = store.find_statement(item.number)
        told = item.number if statement is None else statement
        for row in store.find_replies(told):
            reply = items.get(row) or build_item(row, item, columns, question)
            score = max(reply.score, item.score)
            items[row] = replace(reply, score=score)
    replies: list[Ranked] = []
    others: list[Ranked] = []
    for item in items.values():
        if store.is_assistant(item.number):
            replies.append(item)
        else:
            others.append(replace(item, score=item.score * BEHIND))
    replies.sort(key=lambda item: -item.score)
    likely = [replace(one, answers=True) for one in replies[:MAX_LIKELY]]
    placed = [*likely, *replies[MAX_LIKELY:], *others]
    return sorted(placed, key=lambda item: -item.score)
