"""Context: of what memory knows that bears on a prompt, one bounded block."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from varve.domain.block import Entry, Head, build_block, build_head
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.echo import without_injected
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.profile import DEFAULT_USER, ProfileEntry, select_current_entries
from varve.domain.record import STORES, Vector
from varve.domain.relevance import (
    BACKGROUND,
    ENTRY_FLOOR,
    FLOOR,
    NAMED_FLOOR,
    relevances,
    telling_stems,
)
from varve.domain.search.diversity import distinct, mmr
from varve.domain.search.query import SearchRequest
from varve.domain.text import estimated_tokens
from varve.ports.knowledge import Reranker
from varve.ports.models import Embedder
from varve.usecases.gathering import (
    Choice,
    Question,
    Sources,
    account,
    attribute_entry,
    gathered,
)
from varve.usecases.session import Session
from varve.usecases.views import View

Profile = Callable[[], list[ProfileEntry]]

MAX_TRIPLES, MAX_ENTRIES = 30, 40
QUERY_END = 1_000
"""Characters of a long prompt's beginning, and of its end, that are asked about."""
BALANCE = 0.6
"""Relevance against novelty in the choice of entries; measured with benchmarks/context.py."""


def context(session: Session, request: ContextRequest) -> ContextBlock:
    """Build the block for a prompt; empty if nothing in memory bears on it.

    If the request names a user, only that user's memory enters.
    Raises Rejected, Misconfigured, Retryable.
    """
    user = request.user_id or DEFAULT_USER
    profile = session.views.start(
        partial(session.profiles.entries, session.scope, user)
    )
    answer = partial(_answer_view, session, request, profile)
    return session.views.answer(session, SearchRequest(), answer, STORES)


def _answer_view(
    session: Session, request: ContextRequest, profile: Profile, view: View
) -> ContextBlock:
    session = session.with_config(view.config)
    models = session.models
    sources = Sources(
        reader=view.reader,
        ledger=view.ledger,
        triples=view.triples,
        profile=profile,
        embedder=session.embedder,
        finder=models.entity_finder(view.config),
        reranker=models.reranker(view.config),
        most_lessons=view.config.experience.block_lessons,
    )
    # Filtered as memory's own words are, and before a model sees them.
    filtered = request.model_copy(
        update={
            "prompt": session.privacy(request.prompt),
            "documents": tuple(map(session.privacy, request.documents)),
        }
    )
    return build_context(session.scope, filtered, session.now, session.zone, sources)


def build_context(
    scope: Scope,
    request: ContextRequest,
    now: datetime,
    zone: ZoneInfo,
    sources: Sources,
) -> ContextBlock:
    """Build the block from what the sources hold.

    Below the floor of relevance nothing is injected. If a reranker does not answer in
    time, the fused order stays, and the result says so.
    """
    prompt = _query(request.prompt)
    statements = select_current_entries(sources.profile(), now)
    profile = [attribute_entry(statement, zone) for statement in statements]
    top = build_head(profile, request.max_tokens)
    if not telling_stems(prompt):
        return _empty(top, Choice(profile), "the prompt has no words to look for")
    choice = gathered(
        Question(scope, request, prompt, now, zone), statements, sources=sources
    )
    ranked, vectors = _relevant(prompt, choice, sources.embedder)
    if ranked is None:
        return _empty(top, choice, "nothing in memory has enough to do with the prompt")
    order, reranking = _reranked(prompt, ranked, sources.reranker)
    text, ids = build_block(
        top, _diverse(order, vectors), request.max_tokens, choice.lessons
    )
    if not text or not (ids or top.ids):
        return _empty(
            top, choice, f"max_tokens={request.max_tokens} leaves no room; raise it"
        )
    return ContextBlock(
        text=text,
        head=top.text,
        head_hash=top.hash,
        ids=[*top.ids, *ids],
        tokens=estimated_tokens(text),
        empty=False,
        reason=None,
        searched=account(choice, reranking),
    )


def _query(prompt: str) -> str:
    """The prompt's own words; of a long one the beginning and the end, where its question stands."""
    own = without_injected(prompt)
    return (
        own if len(own) <= 2 * QUERY_END else f"{own[:QUERY_END]}\n{own[-QUERY_END:]}"
    )


def _relevant(
    prompt: str, choice: Choice, embedder: Embedder
) -> tuple[list[Entry] | None, dict[str, Vector]]:
    """The entries above their floor, the sources' orders interleaved, and their vectors.

    None: not even the best of all, the profile's attributes and lessons included, reaches the floor, which
    is lower for a prompt that names somebody memory knows.
    """
    entries = [
        *choice.profile,
        *choice.lessons,
        *(entry for own in choice.lists for entry in own),
    ]
    texts = [entry.text for entry in entries]
    asked, *embedded = embedder.embed([prompt, *BACKGROUND, *texts])
    nothing, vectors = embedded[: len(BACKGROUND)], embedded[len(BACKGROUND) :]
    scores = dict(
        zip(
            (e.id for e in entries),
            relevances(prompt, asked, texts, vectors, nothing),
            strict=True,
        )
    )
    if max(scores.values(), default=0.0) < (NAMED_FLOOR if choice.entities else FLOOR):
        return None, {}
    triples = sorted(choice.triples, key=lambda entry: -scores[entry.id])
    documents = sorted(choice.passages, key=lambda entry: -scores[entry.id])
    lists = [
        [entry for entry in own if scores[entry.id] >= ENTRY_FLOOR]
        for own in (choice.found, triples[:MAX_TRIPLES], documents)
    ]
    fused = _fused(lists)
    kept = [fused[index] for index in distinct([entry.text for entry in fused])]
    return kept, dict(zip((e.id for e in entries), vectors, strict=True))


def _fused(lists: Iterable[Sequence[Entry]]) -> list[Entry]:
    """One order out of several that have nothing in common: by rank, of equals the earlier source's."""
    ranked = [
        (rank, source, entry)
        for source, own in enumerate(lists)
        for rank, entry in enumerate(own)
    ]
    return [entry for _, _, entry in sorted(ranked, key=lambda item: item[:2])]


def _reranked(
    prompt: str, ranked: list[Entry], reranker: Reranker | None
) -> tuple[list[Entry], str]:
    """The entries in the reranker's order, and what became of it."""
    if reranker is None or not ranked:
        return ranked, "off"
    try:
        scores = reranker.rerank(prompt, [entry.text for entry in ranked])
    except Retryable as error:
        return ranked, f"failed, the fused order was kept: {error}"
    order = sorted(range(len(ranked)), key=lambda index: -scores[index])
    return [ranked[index] for index in order], "done"


def _diverse(order: Sequence[Entry], vectors: dict[str, Vector]) -> list[Entry]:
    """The order with repetitions moved back: relevance falls evenly from 1 to 0 along it."""
    relevance = [1.0 - rank / len(order) for rank in range(len(order))]
    chosen = mmr(
        relevance, [vectors[entry.id] for entry in order], MAX_ENTRIES, BALANCE
    )
    return [order[index] for index in chosen]


def _empty(top: Head, choice: Choice, reason: str) -> ContextBlock:
    return ContextBlock(
        text="",
        head=top.text,
        head_hash=top.hash,
        ids=[],
        tokens=0,
        empty=True,
        reason=reason,
        searched=account(choice, "off"),
    )
