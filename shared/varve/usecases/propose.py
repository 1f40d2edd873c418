"""Propose the statements that a query names."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from varve.domain.errors import Rejected
from varve.domain.statements.likeness import (
    LEAST_LIKENESS,
    keep_telling,
    telling_words,
    word_likeness,
)
from varve.domain.statements.owners import leave_out_others
from varve.usecases.fold_proposals import fold_statements, list_sentences
from varve.usecases.proposals import Proposal, read_statements
from varve.usecases.session import Session

WORTH_EMBEDDING = 0.3
"""The least share of words at which a text's meaning is compared too."""


def propose(
    session: Session, query: str, *, user_id: str | None = None
) -> list[Proposal]:
    """Return the statements that the query names, the likeliest first.

    Each stands for all its tellings. Nothing below `LEAST_LIKENESS` is proposed and, with
    `user_id`, nothing that is not that user's alone. Raises Rejected: the query is empty.
    """
    if not telling_words(query):
        raise Rejected("query", "has no words to look for")
    found = list(read_statements(session))
    if user_id is not None:
        found = [one for one in found if one.users == {user_id}]
    return _weigh(session, query, found)


def _weigh(
    session: Session, query: str, found: Sequence[Proposal]
) -> list[Proposal]:
    """Return the statements that are likely enough: by words, else by meaning."""
    near: list[Proposal] = []
    said: list[str] = []
    for one in found:
        if word_likeness(query, one.content) < WORTH_EMBEDDING:
            continue
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
    return fold_statements(query, likely, others, vectors)
