"""The memories of other agents that a request reads beside its own."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from varve.domain.grants import Grant
from varve.domain.identity import Scope
from varve.domain.record import GRAINS
from varve.domain.search.answer import Result, SearchResponse
from varve.usecases.search.lookup import SharedMemory
from varve.usecases.session import Session
from varve.usecases.sharing import read_grant
from varve.usecases.views import StoreNames

AskedGrants = Mapping[str, Callable[[], Grant | None]]
"""For each agent that a request asks for, what waits for its grant."""


def start_reading_grants(
    session: Session, agents: Sequence[str]
) -> AskedGrants:
    """Start to read what these agents grant to the session's agent, concurrently on S3.

    A grant is read for every request, so a revocation holds for the next one. An agent's
    own name asks for nothing more.
    """
    scope = session.scope
    asked: dict[str, Callable[[], Grant | None]] = {}
    for agent in agents:
        if agent == scope.agent or agent in asked:
            continue
        other = Scope(scope.workspace, agent)
        read = partial(read_grant, other, scope.agent, session.objects)
        # In a directory each call of what `start` returns would read it again.
        asked[agent] = session.views.start(cache(read))
    return asked


def start_reading_configured_grants(
    session: Session, agents: Sequence[str]
) -> AskedGrants:
    """Do the same for the agents that the configuration names, if the request names none."""
    if agents:
        return {}
    configured = session.config.agents_searched_by(session.scope.agent)
    return start_reading_grants(session, configured)


def open_shared(
    session: Session, grants: AskedGrants, stores: StoreNames = GRAINS
) -> list[SharedMemory]:
    """Open the stores whose records are granted, each pinned to its newest version.

    The memory of an agent without a grant is not touched. Raises Retryable.
    """
    opening = []
    for agent, read in grants.items():
        grant = read()
        if grant is None:
            continue
        scope = Scope(session.scope.workspace, agent)
        granted = tuple(
            store for store in stores if grant.find_types_in(store)
        )
        if not granted:
            continue
        work = partial(_open, session, scope, grant, granted)
        opening.append(session.views.start(work))
    return [finish() for finish in opening]


def _open(
    session: Session, scope: Scope, grant: Grant, stores: StoreNames
) -> SharedMemory:
    reader = session.store.shared_records(scope).at(scope, stores)
    return SharedMemory(scope, grant, reader)


def say_what_was_shared(
    found: SearchResponse, grants: AskedGrants
) -> SearchResponse:
    """Add to an answer which other agents were searched, and which share nothing.

    The hint has the same words for an agent that grants nothing and for one that does not
    exist.
    """
    if not grants:
        return found
    shared = [agent for agent, read in grants.items() if read() is not None]
    silent = [agent for agent in grants if agent not in shared]
    hint = found.hint
    if silent:
        names = ", ".join(silent)
        nothing = f"Nothing is shared with this agent by {names}."
        hint = f"{hint} {nothing}" if hint else nothing
    searched = found.searched.model_copy(update={"agents": shared})
    return found.model_copy(update={"searched": searched, "hint": hint})


def name_agents(found: SearchResponse, scope: Scope) -> SearchResponse:
    """Put the agent's name before the ids of other agents' results: `agent/id`.

    Two agents may have records and conversations of the same id.
    """
    results = [_name_agent(result, scope.agent) for result in found.results]
    return found.model_copy(update={"results": results})


def _name_agent(result: Result, own: str) -> Result:
    agent = result.agent_id
    if agent in (None, own):
        return result
    ids = {"id": result.id, "conversation_id": result.conversation_id}
    ids |= {"superseded_by": result.superseded_by}
    named = {name: id_ and f"{agent}/{id_}" for name, id_ in ids.items()}
    return result.model_copy(update=named)
