"""Propose the statements that a query names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from varve.domain.errors import Rejected
from varve.domain.statements.forgetting.named_topics import Topic
from varve.domain.statements.forgetting.own_matters import is_of_others
from varve.domain.statements.forgetting.owners import leave_out_others
from varve.domain.statements.forgetting.told_sentences import tell_own
from varve.domain.statements.forgetting.topics import read_own_topics
from varve.domain.statements.pairs.likeness import (
    LEAST_LIKENESS,
    keep_telling,
    telling_words,
    word_likeness,
)
from varve.usecases.forget.echoes import find_echoes
from varve.usecases.forget.fold_proposals import (
    fold_statements,
    list_sentences,
)
from varve.usecases.forget.proposals import Proposal, read_statements
from varve.usecases.session import Session

WORTH_EMBEDDING = 0.3
"""The least share of words at which a text's meaning is compared too."""


def propose(
    session: Session, query: str, *, user_id: str | None = None
) -> list[Proposal]:
    """Return the statements that the query names, the likeliest first.

    Each stands for all its tellings. Nothing below `LEAST_LIKENESS` is proposed but the
    answers that repeat it and, with `user_id`, nothing that is not that user's alone.
    Raises Rejected: the query is empty.
    """
    if not telling_words(query):
        raise Rejected("query", "has no words to look for")
    found = list(read_statements(session))
    if user_id is not None:
        found = [one for one in found if one.users == {user_id}]
    return _weigh(session, query, found)


def _keep_near(query: str, found: Sequence[Proposal]) -> Iterator[Proposal]:
    """Yield the near statements that are no other person's, if the query names one's own.

    "My dog" may be any user's own. "Ana's dog" is Ana's own in what Ana says.
    """
    names: dict[str, set[str]] = {}
    for one in found:
        for user in one.users if one.speaker else ():
            names.setdefault(user, set()).add(one.speaker)
    for one in found:
        if word_likeness(query, one.content) < WORTH_EMBEDDING:
            continue
        known = {one.speaker} - {""}
        own = sorted(known.union(*(names.get(user, ()) for user in one.users)))
        topics = _read_own(query, tuple(own))
        words = one.content.removeprefix(f"{one.speaker}: ")
        if not (topics and is_of_others(topics, words, own)):
            yield one


@lru_cache(maxsize=64)
def _read_own(query: str, names: Iterable[str]) -> tuple[Topic, ...]:
    """Return what a query names of the own matters of the one with these names."""
    for name in names:
        # "Dónde vive Dana" has its subject last.
        last = re.compile(rf"(\w+) {re.escape(name)}\W*$", re.IGNORECASE)
        turned = last.sub(rf"{name} \1", query)
        own = tell_own(query, name)
        query = own if own != query else tell_own(turned, name)
    return read_own_topics(query)


def _weigh(
    session: Session, query: str, found: Sequence[Proposal]
) -> list[Proposal]:
    """Return the statements that are likely enough, by words, else by meaning, and echoes."""
    near: list[Proposal] = []
    said: list[str] = []
    for one in _keep_near(query, found):
        words = leave_out_others(query, one.content)
        share = word_likeness(query, words)
        if share >= WORTH_EMBEDDING:
            near.append(replace(one, likeness=share))
            said.append(words.removeprefix(f"{one.speaker}: "))
    # "El … de" is as much like "el número de Eva" as its thing is.
    asked = keep_telling(query)
    texts = [asked, *said, *list_sentences(query, near)]
    told = list(dict.fromkeys(texts))
    vectors = dict(zip(told, session.embedder.embed(told), strict=True))
    likely: list[Proposal] = []
    others: list[Proposal] = []
    for one, words in zip(near, said, strict=True):
        cosine = float(np.dot(vectors[asked], vectors[words]))
        likeness = min(1.0, max(one.likeness, cosine))
        weighed = replace(one, likeness=likeness)
        kept = likely if likeness >= LEAST_LIKENESS else others
        kept.append(weighed)
    known = {one.id for one in likely}
    for one in find_echoes(query, likely, found):
        if one.id not in known:
            share = word_likeness(query, one.content)
            likely.append(replace(one, likeness=share))
    return fold_statements(query, likely, others, vectors)
