"""The plan of an erasure's rereads: conversations to extract again, kept until that is done.

Facts that were extracted together with forgotten words are erased and extracted again.
The plan is stored before the first of them is erased. So an erasure that ends half-way
loses nothing that others said: the next one finds the plan and continues.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from varve.domain.identity import Scope
from varve.domain.record import MemoryType, Record
from varve.domain.triple import TripleOperation
from varve.messages.erasure import Reread, reread_as_json, reread_from_json
from varve.ports.objects import Objects
from varve.usecases.erasure.audit_object import AuditObject

Plan = dict[str, Reread]
"""The rereads by conversation id."""


def _encode(plan: Plan) -> list[dict[str, Any]]:
    return [reread_as_json(reread) for reread in plan.values()]


def _decode(bodies: Sequence[Mapping[str, Any]]) -> Plan:
    rereads = [reread_from_json(body) for body in bodies]
    return {reread.conversation_id: reread for reread in rereads}


_STORED: AuditObject[Plan] = AuditObject(
    kind="rereads", empty=dict, encode=_encode, decode=_decode
)


def build_reread(
    scope: Scope,
    name: str,
    records: Iterable[Record],
    operations: Iterable[TripleOperation],
    kept: Set[str],
    facts: Set[str],
) -> Reread:
    """Return the reread of a conversation from its records before the erasure.

    `kept` are the ids of the messages that stay, `facts` those of the facts that are
    erased to be extracted again.
    """
    facts_and_turns = [one for one in records if one.conversation_id == name]
    learnt = _learnt_at(name, facts_and_turns, operations)
    turns = frozenset(
        one.source_ids[0]
        for one in facts_and_turns
        if one.memory_type is MemoryType.TURN
    )
    of_kept = {id_: at for id_, at in learnt.items() if id_ in kept}
    own = frozenset(one.id for one in facts_and_turns if one.id in facts)
    return Reread(scope, name, of_kept, turns & kept, facts=own)


def _learnt_at(
    name: str, records: Iterable[Record], operations: Iterable[TripleOperation]
) -> dict[str, datetime]:
    """Return when each message of a conversation was first learnt from."""
    learnt: dict[str, datetime] = {}
    cited = [(one.source_ids, one.created_at) for one in records]
    for one in operations:
        if one.conversation_id == name:
            cited.append((one.message_ids, one.created_at))
    for ids, at in cited:
        for id_ in ids:
            learnt[id_] = min(at, learnt.get(id_, at))
    return learnt


def read_plan(scope: Scope, *, objects: Objects) -> list[Reread]:
    """Return the rereads that no erasure has finished. Raises Retryable: not readable."""
    return list(_STORED.read(scope, objects).values())


def add_to_plan(
    scope: Scope, rereads: Sequence[Reread], *, objects: Objects
) -> list[Reread]:
    """Add rereads to the plan and return all of it. Raises Retryable."""

    def add(plan: Plan) -> Plan:
        merged = dict(plan)
        for reread in rereads:
            known = plan.get(reread.conversation_id)
            merged[reread.conversation_id] = (
                _merge(known, reread) if known else reread
            )
        return merged

    return list(_STORED.change(scope, add, objects).values())


def remove_from_plan(
    scope: Scope, rereads: Iterable[Reread], *, objects: Objects
) -> None:
    """Remove finished rereads from the plan. Raises Retryable."""
    finished = {reread.conversation_id for reread in rereads}
    if not finished:
        return

    def remove(plan: Plan) -> Plan:
        return {
            name: one for name, one in plan.items() if name not in finished
        }

    _STORED.change(scope, remove, objects)


def _merge(known: Reread, new: Reread) -> Reread:
    """Return both; the known one was planned before facts were erased."""
    return Reread(
        scope=known.scope,
        conversation_id=known.conversation_id,
        learnt={**new.learnt, **known.learnt},
        remembered=known.remembered | new.remembered,
        facts=known.facts | new.facts,
    )
