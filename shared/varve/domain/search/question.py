"""What a question asks for, as far as its words show without a model."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from varve.domain.search.kinds import kinds_asked
from varve.domain.search.lexical import fold, question_forms, words
from varve.domain.search.stopwords import STOP_WORDS, word_set

# The first four are looked for in lower case: to ignore case takes three times as long.
_WHEN = re.compile(
    r"\b(?:when|cu[áa]ndo|what (?:date|day|month|year|time)|which (?:date|day|month|year)|how long"
    r"|since when|qu[ée] (?:d[íi]a|mes|a[ñn]o|fecha)|cu[áa]nto tiempo)\b"
)
_CURRENT = re.compile(
    r"\b(?:now|nowadays|currently|current|latest|newest|these days|at the moment|still|present"
    r"|ahora|actual(?:mente)?|todav[íi]a|[úu]ltim[oa]s?)\b"
)
_PRESENT = re.compile(
    r"^\W*(?:(?:so|and|y|hey)\W+)?(?:where|who|which|what|how|d[óo]nde|qui[ée]n|qu[ée]|cu[áa]l|c[óo]mo)\b"
    r"[^.?!]{0,40}?\b(?:is|are|does|do|vive|trabaja|est[áa]|tiene|es|usa|estudia)\b"
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|has|have|been|fue|era|estaba|ten[íi]a|hab[íi]a|ha)\b"
)
_STATE = re.compile(
    r"(?i)^\W*(?:where|who|which|what|whose|how|was|were|is|did|d[óo]nde|qui[ée]n|qu[ée]|cu[áa]l|c[óo]mo"
    r"|en qu[ée])\b"
    r".*\b(?:(?:was|were|is|are)\b.*\b(?:living|working|staying|based|studying|using|married|called|employed)"
    r"|(?:did|does|do)\b.*\b(?:live|work|stay|own|have|use|study|belong|know|like|prefer|drive)"
    r"|(?:lived|worked|owned|used|studied|vive|viv[íi]a|trabaja(?:ba)?|estudia(?:ba)?|ten[íi]a|usaba)"
    r"|(?:was|were)\b.*'s (?:job|employer|address|home|role|team|boss|manager|phone|car|doctor|partner))\b"
)
_HAPPENED = word_set(
    "happen happened happening happens going on new news discuss discussed talk talked say said told tell "
    "know learn learned remember summary summarize summarise recap overview like went go work life been "
    "done hablamos paso conto dijo dije dijimos resumen resume novedades nuevo"
)
_ORIGINAL_WORD = re.compile(r"[^\W_]+(?:[-_./:#@+\\][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is ranked by.

    `forms` are its folded words but for stop words; `kinds` the words of each kind of things that it asks for
    (`domain/search/kinds.py`). `since` and `until` are the time it speaks of, where
    that weighs and does not filter; with `lasting` what came before may have held then.
    """

    text: str
    forms: tuple[str, ...]
    kinds: tuple[tuple[str, ...], ...]
    asks_when: bool
    since: datetime | None = None
    until: datetime | None = None
    lasting: bool = False

    def focus(self, names: Collection[str]) -> str:
        """The telling words as they were written, without the names; all of it where none are left."""
        found = _ORIGINAL_WORD.findall(self.text)
        kept = [
            word
            for word in found
            if (form := fold(word)) not in STOP_WORDS and form not in names
        ]
        return " ".join(kept) or self.text


def read_question(
    text: str,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    lasting: bool = False,
) -> Question:
    """The question that a text asks, of a time where that was understood from it."""
    asks_when = bool(_WHEN.search(text.lower()))
    return Question(
        text,
        question_forms(text),
        kinds_asked(words(text)),
        asks_when,
        since,
        until,
        lasting,
    )


def asks_how_things_stand(text: str) -> bool:
    """Whether the text asks what holds at present, such as "where does Dana live now?"."""
    asked = text.lower()
    return bool(_CURRENT.search(asked)) or bool(
        _PRESENT.search(asked) and not _PAST.search(asked)
    )


def asks_for_a_state(text: str) -> bool:
    """Whether the text asks what held at some time, which began before: "where did she live in May?"."""
    return bool(_STATE.search(text))


def asks_what_happened(text: str) -> bool:
    """Whether a question without its words of time asks for whatever there was, of someone at most."""
    telling = [form for form in question_forms(text) if form not in STOP_WORDS]
    return len([form for form in telling if form not in _HAPPENED]) <= (
        1 if set(telling) & _HAPPENED else 0
    )
