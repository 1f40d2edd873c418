"""Context: build one bounded block of the memories that bear on a prompt."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

from varve.domain.block import (
    Entry,
    Head,
    build_block,
    build_head,
    explain_no_room,
)
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.current_profile import select_current_entries
from varve.domain.echo import without_injected
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.identity import Scope
from varve.domain.profile import (
    DEFAULT_USER,
    VITAL_KEYS,
    ProfileEntry,
    drop_unasked,
    find_confirmations,
    find_speakers,
    sort_for_block,
)
from varve.domain.record import STORES, Vector
from varve.domain.relevance import (
    ENTRY_FLOOR,
    FLOOR,
    NAMED_FLOOR,
    telling_stems,
)
from varve.domain.search.diversity import mmr
from varve.domain.search.query import SearchRequest
from varve.domain.statements.texts.cues import restore_question_mark
from varve.domain.text import estimated_tokens
from varve.ports.knowledge import Reranker
from varve.ports.meter import doing
from varve.ports.models import Embedder
from varve.usecases.context.entry_scores import score_entries
from varve.usecases.context.fold_entries import Folded, fold_entries
from varve.usecases.context.gathering import (
    Candidates,
    ContextQuestion,
    Sources,
    attribute_entry,
    gather_candidates,
    report_searched,
)
from varve.usecases.corrections.superseded import (
    confirm_attributes,
    drop_superseded_attributes,
    find_doubtful_attributes,
)
from varve.usecases.experience.beside_context import (
    leave_room,
    recall_for_context,
    with_experience,
)
from varve.usecases.experience.rows import read_history
from varve.usecases.search.shared_memories import (
    AskedGrants,
    open_shared,
    start_reading_configured_grants,
    start_reading_grants,
)
from varve.usecases.session import Session
from varve.usecases.views import View

Profile = Callable[[], list[ProfileEntry]]

MAX_RANKED_TRIPLES = 30
MAX_BLOCK_ENTRIES = 40
QUERY_END = 1_000
"""Of a long prompt, so many characters of its beginning and its end are asked about."""
BALANCE = 0.6
"""Weight of relevance against novelty; measured with benchmarks/context.py."""


@doing("context")
def context(session: Session, request: ContextRequest) -> ContextBlock:
    """Build the block for a prompt; empty if nothing in memory bears on it.

    If the request names a user, only that user's memory enters. What other agents share
    enters if the request or the configuration names them.
    Raises Rejected, Misconfigured, Retryable.
    """
    grants = start_reading_grants(session, request.agents)
    user = request.user_id or DEFAULT_USER
    profile = session.views.start(
        partial(session.profiles.entries, session.scope, user)
    )
    answer = partial(_answer_view, session, request, profile, grants)
    return session.views.answer(session, SearchRequest(), answer, STORES)


def _answer_view(
    session: Session,
    request: ContextRequest,
    profile: Profile,
    grants: AskedGrants,
    view: View,
) -> ContextBlock:
    session = session.with_config(view.config)
    grants = grants or start_reading_configured_grants(session, request.agents)
    models = session.models
    sources = Sources(
        reader=view.reader,
        ledger=view.ledger,
        triples=view.triples,
        profile=profile,
        past=cache(partial(read_history, session.scope, reader=view.reader)),
        embedder=session.embedder,
        finder=models.entity_finder(view.config),
        reranker=models.reranker(view.config),
        most_lessons=view.config.experience.block_lessons,
        ranking=view.config.search,
        shared=open_shared(session, grants, STORES),
    )
    # Filtered as memory's own words are, and before a model sees them.
    filtered = request.model_copy(
        update={
            "prompt": session.privacy(request.prompt),
            "documents": tuple(map(session.privacy, request.documents)),
            "window_tokens": request.window_tokens
            or view.config.models.window_tokens,
        }
    )
    experience = recall_for_context(filtered, sources)
    block = build_context(
        session.scope,
        leave_room(filtered, experience),
        session.now,
        session.zone,
        sources,
    )
    return with_experience(block, experience)


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
    question = ContextQuestion(scope, request, prompt, now, zone)
    told = _select_profile(question, sources)
    profile, head = told.entries, told.head
    if not telling_stems(prompt):
        reason = "the prompt has no words to look for"
        return _profile_block(request, head, Candidates(profile), reason)
    candidates = gather_candidates(
        question, told.statements, profile, sources=sources
    )
    ranked, vectors = _rank(question, candidates, head, sources.embedder)
    if ranked is None:
        reason = "nothing in memory has enough to do with the prompt"
        return _profile_block(request, head, candidates, reason)
    order, reranking = _rerank(prompt, ranked.entries, sources.reranker)
    diverse = _diversify(order, vectors)
    text, ids = build_block(head, diverse, request.budget, candidates.lessons)
    if not text or not (ids or head.ids):
        lines = [*diverse, *profile, *candidates.lessons]
        reason = explain_no_room(request.budget, lines)
        return _empty_block(head, candidates, reason)
    shown = [*head.ids, *ids]
    repeated = [id_ for id_ in shown if id_ in ranked.also_in]
    return ContextBlock(
        text=text,
        head=head.text,
        head_hash=head.hash,
        ids=shown,
        also_in={id_: ranked.also_in[id_] for id_ in repeated},
        tokens=estimated_tokens(text),
        empty=False,
        reason=None,
        searched=report_searched(candidates, reranking),
    )


@dataclass(frozen=True, slots=True)
class _Profile:
    """The profile's current statements, their entries, and the head that they make."""

    statements: list[ProfileEntry]
    entries: list[Entry]
    head: Head


def _select_profile(question: ContextQuestion, sources: Sources) -> _Profile:
    stock = question.open_stock(sources)
    stated = drop_unasked(sources.profile())
    current = select_current_entries(stated, question.now)
    statements = drop_superseded_attributes(sort_for_block(current), stock)
    doubtful = find_doubtful_attributes(statements, stock)
    confirmed = confirm_attributes(
        find_confirmations(stated, question.now), statements, stock
    )
    speakers = find_speakers(stated)
    entries = [
        attribute_entry(
            one, question.zone, doubtful, confirmed[one.id], speakers
        )
        for one in statements
    ]
    vital = {one.id for one in statements if one.key in VITAL_KEYS}
    head = build_head(entries, question.request.budget, vital)
    return _Profile(statements, entries, head)


def _profile_block(
    request: ContextRequest, head: Head, candidates: Candidates, reason: str
) -> ContextBlock:
    """Return the profile of the request's user; without a user, an empty block.

    What a user cannot eat bears on "what can I eat?", although no word says so.
    """
    text, _ = build_block(head, [], request.budget)
    if request.user_id is None or not head.ids or not text:
        if request.user_id is not None and candidates.profile:
            reason = explain_no_room(request.budget, candidates.profile)
        return _empty_block(head, candidates, reason)
    return ContextBlock(
        text=text,
        head=head.text,
        head_hash=head.hash,
        ids=list(head.ids),
        also_in={},
        tokens=estimated_tokens(text),
        empty=False,
        reason=None,
        searched=report_searched(candidates, "off"),
    )


def _query(prompt: str) -> str:
    """Return the prompt's own words; of a long one the beginning and the end.

    A long prompt has its question in one of the two.
    """
    own = restore_question_mark(without_injected(prompt))
    if len(own) <= 2 * QUERY_END:
        return own
    return f"{own[:QUERY_END]}\n{own[-QUERY_END:]}"


def _rank(
    question: ContextQuestion,
    candidates: Candidates,
    head: Head,
    embedder: Embedder,
) -> tuple[Folded | None, dict[str, Vector]]:
    """Return the entries above their floor, the sources interleaved, and their vectors.

    Each statement has one entry. None: no candidate, of profile and lessons either,
    reaches the floor. The floor is lower for a prompt that names an entity of the graph.
    """
    entries = [
        *candidates.profile,
        *candidates.lessons,
        *candidates.found,
        *candidates.triples,
        *candidates.passages,
    ]
    scored = score_entries(
        question.prompt,
        entries,
        embedder,
        candidates.bearing,
        is_pinned=question.request.user_id is not None,
    )
    scores = scored.scores
    for id_ in candidates.bearing | candidates.telling:
        scores[id_] = max(scores[id_], FLOOR)
    floor = NAMED_FLOOR if candidates.entities else FLOOR
    if max(scores.values(), default=0.0) < floor:
        return None, {}

    def best_first(entry: Entry) -> float:
        return -scores[entry.id]

    triples = sorted(candidates.triples, key=best_first)
    documents = sorted(candidates.passages, key=best_first)
    lists: list[list[Entry]] = []
    for source in (candidates.found, triples[:MAX_RANKED_TRIPLES], documents):
        kept = [entry for entry in source if scores[entry.id] >= ENTRY_FLOOR]
        lists.append(kept)
    in_head = [entry for entry in candidates.profile if entry.id in head.ids]
    folded = fold_entries(
        _interleave(lists),
        in_head,
        candidates.origins,
        scored.vectors,
        replace(scored.sentences, gone=candidates.gone),
    )
    return folded, scored.vectors


def _interleave(lists: Iterable[Sequence[Entry]]) -> list[Entry]:
    """Merge lists by rank; at the same rank the earlier list comes first."""
    ranked: list[tuple[int, int, Entry]] = []
    for source, entries in enumerate(lists):
        for rank, entry in enumerate(entries):
            ranked.append((rank, source, entry))
    ranked.sort(key=lambda item: item[:2])
    return [entry for _, _, entry in ranked]


def _rerank(
    prompt: str, ranked: list[Entry], reranker: Reranker | None
) -> tuple[list[Entry], str]:
    """Return the entries in the reranker's order, and a report on the call."""
    if reranker is None or not ranked:
        return ranked, "off"
    try:
        scores = reranker.rerank(prompt, [entry.text for entry in ranked])
    except (Retryable, Rejected, Misconfigured) as error:
        return ranked, f"failed, the fused order was kept: {error}"
    order = sorted(range(len(ranked)), key=lambda index: -scores[index])
    return [ranked[index] for index in order], "done"


def _diversify(
    order: Sequence[Entry], vectors: dict[str, Vector]
) -> list[Entry]:
    """Move repetitions back; relevance falls evenly from 1 to 0 along the given order."""
    relevance = [1.0 - rank / len(order) for rank in range(len(order))]
    in_order = [vectors[entry.id] for entry in order]
    chosen = mmr(relevance, in_order, MAX_BLOCK_ENTRIES, BALANCE)
    return [order[index] for index in chosen]


def _empty_block(
    head: Head, candidates: Candidates, reason: str
) -> ContextBlock:
    return ContextBlock(
        text="",
        head=head.text,
        head_hash=head.hash,
        ids=[],
        also_in={},
        tokens=0,
        empty=True,
        reason=reason,
        searched=report_searched(candidates, "off"),
    )
