"""Questions for what the assistant said: its replies come first, by what they answer."""

import re
from collections.abc import Sequence
from dataclasses import replace

from varve.domain.language.tokens import fold
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Floats
from varve.domain.search.ranking import Ranked
from varve.domain.statements.answers.present import BEHIND, build_item
from varve.domain.statements.stores.paired import StoreStatements
from varve.domain.statements.texts.cues import read_cues

MAX_LIKELY = 2
"""So many of the best replies are likely answers, whatever their likeness is."""
_ENGLISH = (
    r"(?:did|have|had) you (?:\w+ly |just |ever )?"
    r"(?:recommend|suggest|propose|advise|mention|say|said|tell me|told me|gi?ve|given|wr[io]te|written"
    r"|draft|list)\w*"
    r"|you(?:'ve| had| have)? (?:\w+ly |just |once )?"
    r"(?:recommended|suggested|proposed|advised|mentioned|said|told me|gave|given|wrote|written|drafted"
    r"|listed)"
    r"|(?:was|were) your (?:\w+ )?(?:recommendation|suggestion|advice|proposal|tip)s?"
)
_SPANISH = (
    r"(?:recomendaste|sugeriste|propusiste|aconsejaste|mencionaste|dijiste)"
    r"|(?:me|nos) (?:diste|escribiste|contaste|explicaste|pasaste|enviaste)"
    r"|(?:me |nos )?has (?:recomendado|sugerido|propuesto|aconsejado|mencionado|dicho|dado|escrito)"
    r"|(?:era|eran|fue|fueron) tus? (?:recomendacion|sugerencia|consejo|propuesta)(?:e?s)?"
)
_SAID_BY_YOU = re.compile(rf"\b(?:{_ENGLISH}|{_SPANISH})\b")

_WHEN_YOU = re.compile(
    r"\b(?:when|after|before|since|while|cuando)\s+(?:you|me|nos|\w+ste)\b.*"
)
"""A clause of time, for which a question does not ask: "What did it cost when you wrote this?"."""


def asks_for_replies(text: str) -> bool:
    """Return whether a question asks what the assistant said: "What did you recommend?"."""
    if not read_cues(text).asks:
        return False
    asked = _WHEN_YOU.sub("", fold(text))
    return _SAID_BY_YOU.search(asked) is not None


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
