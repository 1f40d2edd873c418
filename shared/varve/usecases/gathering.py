"""What a context has to choose from: profile, search over all grains, triples, passages of documents."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.block import MAX_BLOCK_ENTRY_CHARACTERS, Entry, EntryType
from varve.domain.calendar import day_of
from varve.domain.context import ContextRequest, ContextSearched
from varve.domain.entities import fold_of_user
from varve.domain.errors import Rejected, Retryable
from varve.domain.experience.curation import claim_line, select_lessons
from varve.domain.identity import Scope
from varve.domain.mention import in_words, mentioned
from varve.domain.profile import ProfileEntry
from varve.domain.record import MemoryType
from varve.domain.relevance import word_shares
from varve.domain.search.answer import Result, SearchResponse
from varve.domain.search.query import SearchRequest
from varve.domain.search.supersession import EndedStatement, find_ended, held_until
from varve.domain.text import passages
from varve.domain.triple import Triple
from varve.ports.knowledge import EntityFinder, Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.usecases.experience.learnt import lessons_of
from varve.usecases.ledger import Ledger
from varve.usecases.search import Lookup, look_up

MAX_RESULTS, MAX_TRIPLES, MAX_PASSAGES = 40, 100, 40
"""Of what there is from each source, so many are weighed against each other."""
_BEGINNING = "0001-01-01"
"""A limit that limits nothing, so that time words are not read as one."""
_FIRST_PERSON = frozenset(
    {"i", "i'm", "i've", "me", "my", "mine", "myself", "yo", "mi", "mis", "conmigo"}
)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the context looks, and what orders it; without a finder or reranker neither model is asked.

    `profile` has every statement of the user, or without one of those who were not named. Of more than
    `most_lessons` lessons the nearest enter.
    """

    reader: MemoryReader
    ledger: Ledger
    triples: Callable[[], Sequence[Triple]]
    profile: Callable[[], Sequence[ProfileEntry]]
    embedder: Embedder
    finder: EntityFinder | None = None
    reranker: Reranker | None = None
    most_lessons: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """Entries to choose from, list by list, each in its own order; and what was looked at on the way."""

    profile: list[Entry]
    found: list[Entry] = field(default_factory=list)
    triples: list[Entry] = field(default_factory=list)
    passages: list[Entry] = field(default_factory=list)
    lessons: list[Entry] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    naming: str = "off"
    response: SearchResponse | None = None

    @property
    def lists(self) -> tuple[list[Entry], ...]:
        return (self.found, self.triples, self.passages)


def attribute_entry(statement: ProfileEntry, zone: ZoneInfo) -> Entry:
    """`location: Lisbon`, dated by when it began to hold."""
    words = f"{statement.key.replace('_', ' ')}: {statement.value}"
    return Entry(statement.id, day_of(statement.event_time, zone), words)


@dataclass(frozen=True, slots=True)
class Question:
    """Who asks what, and when: the prompt's own words beside the request as it came."""

    scope: Scope
    request: ContextRequest
    prompt: str
    now: datetime
    zone: ZoneInfo


def gathered(
    question: Question, statements: Sequence[ProfileEntry], *, sources: Sources
) -> Choice:
    """All that may bear on the prompt; of a request that names a user nothing but that user's memory."""
    prompt, zone = question.prompt, question.zone
    response = _searched(question, sources)
    names, naming = _names(prompt, sources.finder)
    known = fold_of_user(sources.triples(), question.request.user_id)
    entities, triples = _known(question, statements, names, known)
    over = find_ended(known, question.now)
    return Choice(
        profile=[attribute_entry(statement, zone) for statement in statements],
        found=[_result(result, prompt, over, zone) for result in response.results],
        triples=[
            Entry(f"{EntryType.TRIPLE}-{t.id}", day_of(t.valid_at, zone), in_words(t))
            for t in triples
        ],
        passages=list(
            _passages(question.request.documents, prompt, day_of(question.now, zone))
        ),
        lessons=_lessons(question, sources),
        entities=sorted(entities),
        naming=naming,
        response=response,
    )


def _lessons(question: Question, sources: Sources) -> list[Entry]:
    """What the agent has learnt, of a request that names a user from that user's episodes alone."""
    if not sources.most_lessons:
        return []
    known = lessons_of(question.scope, question.request.user_id, reader=sources.reader)
    told = select_lessons(
        known, sources.most_lessons, sources.embedder.embed, situation=question.prompt
    )
    return [
        Entry(
            lesson.id, day_of(lesson.versions[-1].at, question.zone), claim_line(lesson)
        )
        for lesson in told
    ]


def _searched(question: Question, sources: Sources) -> SearchResponse:
    """All grains; a prompt's time words come first, but unlike a question's they shut nothing out."""
    response = _ask(question, sources)
    if response.searched.understood is None:
        return response
    known = {result.id for result in response.results}
    anywhen = _ask(question, sources, since=_BEGINNING)
    more = [result for result in anywhen.results if result.id not in known]
    return anywhen.model_copy(
        update={
            "results": [*response.results, *more],
            "searched": anywhen.searched.model_copy(
                update={"understood": response.searched.understood}
            ),
        }
    )


def _ask(question: Question, sources: Sources, **limits: str) -> SearchResponse:
    given = {
        "query_text": question.prompt,
        "user_id": question.request.user_id,
        "max_results": MAX_RESULTS,
    }
    lookup = Lookup(
        scope=question.scope,
        now=question.now,
        zone=question.zone,
        reader=sources.reader,
        ledger=sources.ledger,
        embedder=sources.embedder,
    )
    return look_up(lookup, SearchRequest.model_validate({**given, **limits}))


def _names(prompt: str, finder: EntityFinder | None) -> tuple[list[str], str]:
    """What a model says the prompt speaks of, and what became of asking it."""
    if finder is None:
        return [], "off"
    try:
        return finder.names(prompt), "done"
    except (Retryable, Rejected) as error:
        return [], f"failed, only the graph's own names were looked for: {error}"


def _known(
    question: Question,
    statements: Sequence[ProfileEntry],
    names: list[str],
    triples: Sequence[Triple],
) -> tuple[set[str], list[Triple]]:
    """The entities that the prompt speaks of, and the triples about them that hold and no attribute says."""
    prompt, held = question.prompt, [t for t in triples if t.holds(question.now)]
    own = (
        {statement.subject for statement in statements}
        if _first_person(prompt)
        else set()
    )
    entities = mentioned(prompt, held, [*names, *own])
    said = {
        (message, s.value.casefold()) for s in statements for message in s.message_ids
    }
    about = [
        t for t in held if {t.source_id, t.target_id} & entities and not _says(t, said)
    ]
    shares = word_shares(prompt, [in_words(t) for t in about])
    order = sorted(
        range(len(about)),
        key=lambda i: (-shares[i], -about[i].valid_at.timestamp(), about[i].id),
    )
    return entities, [about[index] for index in order[:MAX_TRIPLES]]


def _first_person(prompt: str) -> bool:
    return bool(_FIRST_PERSON & set(prompt.casefold().replace("’", "'").split()))


def _says(triple: Triple, said: set[tuple[str, str]]) -> bool:
    """Whether an attribute of the profile says the same, of the same message."""
    return any(
        (m, o.object.casefold()) in said for o in triple.evidence for m in o.message_ids
    )


def _result(
    result: Result, prompt: str, over: Sequence[EndedStatement], zone: ZoneInfo
) -> Entry:
    """A record; a summary is dated by its period, and a fact that has ended says until when it held."""
    when = result.period if result.memory_type == EntryType.SUMMARY else result.date
    words = _excerpt(result.content, prompt)
    if result.memory_type == MemoryType.FACT:
        messages = {(result.conversation_id, id_) for id_ in result.source_ids}
        until = held_until(messages, result.content, over)
        words += f" (held until {day_of(until, zone)})" if until else ""
    return Entry(result.id, when, words)


def _excerpt(text: str, prompt: str) -> str:
    """The text, or of a long one the passage that holds most of the prompt's words."""
    pieces = list(passages(text, MAX_BLOCK_ENTRY_CHARACTERS))
    if len(pieces) < 2:
        return text
    shares = word_shares(prompt, pieces)
    best = max(range(len(pieces)), key=lambda index: (shares[index], -index))
    return (
        f"{'… ' if best else ''}{pieces[best]}{' …' if best + 1 < len(pieces) else ''}"
    )


def _passages(documents: Sequence[str], prompt: str, today: str) -> Iterator[Entry]:
    """The passages of the caller's documents that hold most of the prompt's words: `document-2.1`."""
    pieces = [
        Entry(f"{EntryType.DOCUMENT}-{number}.{part}", today, passage)
        for number, document in enumerate(documents, start=1)
        for part, passage in enumerate(
            passages(document, MAX_BLOCK_ENTRY_CHARACTERS), start=1
        )
    ]
    shares = word_shares(prompt, [piece.text for piece in pieces])
    order = sorted(range(len(pieces)), key=lambda index: -shares[index])
    yield from (pieces[index] for index in order[:MAX_PASSAGES])


def account(choice: Choice, reranking: str) -> ContextSearched:
    """Where the context looked, in numbers."""
    searched = choice.response.searched if choice.response else None
    return ContextSearched(
        grains=searched.grains if searched else [],
        records=searched.records if searched else 0,
        understood=searched.understood if searched else None,
        attributes=len(choice.profile),
        entities=choice.entities,
        triples=len(choice.triples),
        passages=len(choice.passages),
        lessons=len(choice.lessons),
        naming=choice.naming,
        reranking=reranking,
    )
