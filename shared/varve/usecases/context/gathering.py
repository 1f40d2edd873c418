"""Candidates for a context: profile, search results, triples, document passages, lessons."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from varve.domain.block import Entry
from varve.domain.calendar import day_of
from varve.domain.context import ContextRequest, ContextSearched
from varve.domain.entities import fold_of_user
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.experience.curation import claim_line, select_lessons
from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson, derive_lessons
from varve.domain.identity import Scope
from varve.domain.mention import in_words, mentioned
from varve.domain.profile import ProfileEntry, name_speaker
from varve.domain.relevance import word_shares
from varve.domain.search.answer import Result, SearchResponse, Understood
from varve.domain.search.query import SearchRequest
from varve.domain.search.supersession import find_ended
from varve.domain.triple import Triple
from varve.domain.workspace import SearchConfig
from varve.ports.knowledge import EntityFinder, Reranker
from varve.ports.models import Embedder
from varve.ports.records import MemoryReader
from varve.usecases.context.bearing import (
    find_bearing,
    find_telling,
    select_results,
)
from varve.usecases.context.block_entries import (
    DOUBTFUL_MARK,
    is_stated,
    result_entry,
    select_passages,
    triple_entry,
)
from varve.usecases.context.origins import Origin, find_origins
from varve.usecases.corrections.superseded import drop_superseded_triples
from varve.usecases.experience.learnt import (
    limit_to_user,
    read_granted_lessons,
)
from varve.usecases.ledger import Ledger
from varve.usecases.search.find import Stock
from varve.usecases.search.lookup import Lookup, SharedMemory
from varve.usecases.search.search import look_up
from varve.usecases.search.shared_memories import name_agents

MAX_FOUND = 40
MAX_TRIPLES = 100
"""The most candidates from each source."""
_BEGINNING = "0001-01-01"
"""A start of time that excludes nothing; with it, time words set no limit."""
_FIRST_PERSON = frozenset(
    {
        "i",
        "i'm",
        "i've",
        "me",
        "my",
        "mine",
        "myself",
        "yo",
        "mi",
        "mis",
        "conmigo",
    }
)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a context's candidates, and the optional models.

    `profile` reads every statement of the user, or of the default user if the request
    names none; `past` reads the agent's experience. Of the agent's lessons at most
    `most_lessons` enter, the nearest first. Without a finder or reranker, neither model is
    called. `ranking` is how the workspace ranks a search. `shared` are the memories of
    other agents.
    """

    reader: MemoryReader
    ledger: Ledger
    triples: Callable[[], Sequence[Triple]]
    profile: Callable[[], Sequence[ProfileEntry]]
    past: Callable[[], History]
    embedder: Embedder
    finder: EntityFinder | None = None
    reranker: Reranker | None = None
    most_lessons: int = 0
    ranking: SearchConfig = field(default_factory=SearchConfig)
    shared: Sequence[SharedMemory] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """Entries to choose from, each list in its source's order, and how they were found.

    `entities` are the ids of the entities that the prompt names. `naming` reports on
    the entity finder: `off`, `done` or the reason of its failure. `origins` tell where
    the words of profile, records and triples come from, by the entries' ids. `bearing`
    are the ids of the statements that bear on the prompt whatever their likeness is, and
    `telling` those of the summaries that have such a sentence.
    `gone` are those of the records that are left out as surely superseded. `agents` are
    the other agents whose memory was read.
    """

    profile: list[Entry]
    found: list[Entry] = field(default_factory=list)
    triples: list[Entry] = field(default_factory=list)
    passages: list[Entry] = field(default_factory=list)
    lessons: list[Entry] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    naming: str = "off"
    response: SearchResponse | None = None
    origins: Mapping[str, Origin] = field(default_factory=dict)
    bearing: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    agents: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """A request for a context with its scope and time.

    `prompt` is the part of the request's prompt to ask about.
    """

    scope: Scope
    request: ContextRequest
    prompt: str
    now: datetime
    zone: ZoneInfo

    def open_stock(self, sources: Sources) -> Stock:
        """Return the agent's stores."""
        return Stock(
            self.scope,
            sources.reader,
            sources.embedder,
            triples=sources.triples,
        )


def attribute_entry(
    statement: ProfileEntry,
    zone: ZoneInfo,
    doubtful: Collection[str],
    confirmed: datetime,
    speakers: Collection[str],
) -> Entry:
    """Return a profile entry as `location: Lisbon`, dated by when it began to hold.

    `doubtful` are the ids of those that later words likely supersede; `confirmed` is when
    it was last stated. One of several `speakers` is named: `Lena's location: Hamburg`.
    """
    words = f"{statement.key.replace('_', ' ')}: {statement.value}"
    if name_speaker(statement, speakers):
        words = f"{statement.subject}'s {words}"
    if statement.id in doubtful:
        words += DOUBTFUL_MARK
    day = day_of(statement.event_time, zone)
    last = day_of(confirmed, zone)
    return Entry(statement.id, day, words, last if last > day else "")


def gather_candidates(
    question: ContextQuestion,
    statements: Sequence[ProfileEntry],
    profile: Sequence[Entry],
    *,
    sources: Sources,
) -> Candidates:
    """Return everything that may bear on the prompt.

    `profile` are the entries of the profile's statements.
    If the request names a user, only that user's memory enters.
    """
    prompt = question.prompt
    zone = question.zone
    response = _search(question, sources)
    names, naming = _find_names(prompt, sources.finder)
    known = fold_of_user(sources.triples(), question.request.user_id)
    ended = find_ended(known, question.now)
    held = drop_superseded_triples(
        [triple for triple in known if triple.holds(question.now)],
        question.open_stock(sources),
    )
    results = select_results(response, prompt)
    entities = _named_entities(prompt, held, names, statements)
    triples = _select_triples(prompt, held, entities, statements)
    found = [result_entry(result, prompt, ended, zone) for result in results]
    bearing = find_bearing(
        response,
        prompt,
        question.request.user_id,
        [entry.text for entry in profile],
    )
    today = day_of(question.now, zone)
    passages = select_passages(question.request.documents, prompt, today)
    return Candidates(
        profile=list(profile),
        found=found,
        triples=[triple_entry(triple, zone) for triple in triples],
        passages=passages,
        lessons=_select_lessons(question, sources),
        entities=sorted(entities),
        naming=naming,
        response=response,
        origins=find_origins(
            statements,
            results,
            known,
            triples,
            {one.subject for one in sources.profile() if one.subject},
        ),
        bearing=bearing.intersection(entry.id for entry in found),
        telling=find_telling(results, prompt),
        gone=_list_left_out(response, results),
        agents=[memory.scope.agent for memory in sources.shared],
    )


def _list_left_out(
    response: SearchResponse, results: Collection[Result]
) -> frozenset[str]:
    """Return the ids of the records found that are not among the results for the block."""
    kept = {result.id for result in results}
    found: set[str] = set()
    for result in response.results:
        if result.id not in kept:
            found.update(result.record_ids)
    return frozenset(found)


def _select_lessons(
    question: ContextQuestion, sources: Sources
) -> list[Entry]:
    """Return the lessons to show; if the request names a user, only that user's."""
    if not sources.most_lessons:
        return []
    user = question.request.user_id
    embed = sources.embedder.embed
    known = derive_lessons(limit_to_user(sources.past(), user), embed)
    for memory in sources.shared:
        known += read_granted_lessons(memory, user, embed)
    nearest = select_lessons(
        known,
        sources.most_lessons,
        embed,
        situation=question.prompt,
    )
    return [_lesson_entry(lesson, question.zone) for lesson in nearest]


def _lesson_entry(lesson: Lesson, zone: ZoneInfo) -> Entry:
    day = day_of(lesson.versions[-1].at, zone)
    return Entry(lesson.id, day, claim_line(lesson))


def _search(question: ContextQuestion, sources: Sources) -> SearchResponse:
    """Search all grains; results in the time that the prompt names come first.

    Unlike a question's, a prompt's time words exclude nothing.
    """
    response = _look_up(question, sources)
    understood = response.searched.understood
    if understood is None:
        return response
    found = {result.id for result in response.results}
    any_time = _look_up(question, sources, since=_BEGINNING)
    more = [result for result in any_time.results if result.id not in found]
    searched = any_time.searched.model_copy(
        update={
            "understood": understood.model_copy(
                update={"covering": tuple(found)}
            )
        }
    )
    return any_time.model_copy(
        update={"results": [*response.results, *more], "searched": searched}
    )


def _look_up(
    question: ContextQuestion, sources: Sources, **limits: str
) -> SearchResponse:
    given = {
        "query_text": question.prompt,
        "user_id": question.request.user_id,
        "max_results": MAX_FOUND,
        # A superseded statement shows what its successor bears on.
        "include_superseded": True,
    }
    lookup = Lookup(
        scope=question.scope,
        now=question.now,
        zone=question.zone,
        reader=sources.reader,
        ledger=sources.ledger,
        embedder=sources.embedder,
        half_life_days=sources.ranking.half_life_days,
        weights=sources.ranking.read_weights(),
        triples=sources.triples,
        shared=sources.shared,
        by_line=True,
    )
    found = look_up(lookup, SearchRequest.model_validate({**given, **limits}))
    return name_agents(found, question.scope)


def _find_names(
    prompt: str, finder: EntityFinder | None
) -> tuple[list[str], str]:
    """Return the names that a model finds in the prompt, and a report on the call."""
    if finder is None:
        return [], "off"
    try:
        return finder.names(prompt), "done"
    except (Retryable, Rejected, Misconfigured) as error:
        return [], f"failed, only names in the graph were matched: {error}"


def _named_entities(
    prompt: str,
    held: Sequence[Triple],
    names: Iterable[str],
    statements: Sequence[ProfileEntry],
) -> set[str]:
    """Return the ids of the entities that the prompt names, or that the user is."""
    given = list(names)
    if _is_first_person(prompt):
        given += {statement.subject for statement in statements}
    return mentioned(prompt, held, given)


def _select_triples(
    prompt: str,
    held: Sequence[Triple],
    entities: Collection[str],
    statements: Sequence[ProfileEntry],
) -> list[Triple]:
    """Return the triples about the entities, the most relevant first.

    Triples that an attribute of the profile states already are left out.
    """
    stated: set[tuple[str, str]] = set()
    for statement in statements:
        value = statement.value.casefold()
        stated.update((message, value) for message in statement.message_ids)
    about: list[Triple] = []
    for triple in held:
        is_named = triple.source_id in entities or triple.target_id in entities
        if is_named and not is_stated(triple, stated):
            about.append(triple)
    shares = word_shares(prompt, [in_words(triple) for triple in about])

    def best_first(index: int) -> tuple[float, float, str]:
        triple = about[index]
        return -shares[index], -triple.valid_at.timestamp(), triple.id

    order = sorted(range(len(about)), key=best_first)
    return [about[index] for index in order[:MAX_TRIPLES]]


def _is_first_person(prompt: str) -> bool:
    words = prompt.casefold().replace("’", "'").split()
    return not _FIRST_PERSON.isdisjoint(words)


def report_searched(candidates: Candidates, reranking: str) -> ContextSearched:
    """Return how many candidates each source gave, and how the models fared."""
    grains: list[str] = []
    records = 0
    understood: Understood | None = None
    if candidates.response:
        searched = candidates.response.searched
        grains = searched.grains
        records = searched.records
        understood = searched.understood
    return ContextSearched(
        grains=grains,
        records=records,
        understood=understood,
        attributes=len(candidates.profile),
        entities=candidates.entities,
        triples=len(candidates.triples),
        passages=len(candidates.passages),
        lessons=len(candidates.lessons),
        naming=candidates.naming,
        reranking=reranking,
        agents=candidates.agents,
    )
