"""The plan of an erasure's rereads: conversations to extract again, kept until that is done.

Facts that were extracted together with forgotten words are erased and extracted again.
The plan is stored before the first of them is erased. So an erasure that ends half-way
loses nothing that others said: the next one finds the plan and continues.
"""

import json
from collections.abc import Callable, Iterable, Sequence

from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.messages.erasure import Reread, reread_as_json, reread_from_json
from varve.ports.objects import Objects

MAX_PLAN_RACES = 20

Plan = dict[str, Reread]
"""The rereads by conversation id."""


def read_plan(scope: Scope, *, objects: Objects) -> list[Reread]:
    """Return the rereads that no erasure has finished. Raises Retryable: not readable."""
    return list(_read(scope, objects)[0].values())


def add_to_plan(
    scope: Scope, rereads: Sequence[Reread], *, objects: Objects
) -> list[Reread]:
    """Add rereads to the plan and return all of it. Raises Retryable."""

    def add(plan: Plan) -> Plan:
        merged = dict(plan)
        for reread in rereads:
            known = plan.get(reread.conversation_id)
            merged[reread.conversation_id] = _merge(known, reread) if known else reread
        return merged

    return list(_change(scope, add, objects).values())


def remove_from_plan(
    scope: Scope, rereads: Iterable[Reread], *, objects: Objects
) -> None:
    """Remove finished rereads from the plan. Raises Retryable."""
    finished = {reread.conversation_id for reread in rereads}
    if not finished:
        return

    def remove(plan: Plan) -> Plan:
        return {name: one for name, one in plan.items() if name not in finished}

    _change(scope, remove, objects)


def _merge(known: Reread, new: Reread) -> Reread:
    """Return both; the known one was planned before facts were erased."""
    return Reread(
        scope=known.scope,
        conversation_id=known.conversation_id,
        learnt={**new.learnt, **known.learnt},
        remembered=known.remembered | new.remembered,
    )


def _change(scope: Scope, change: Callable[[Plan], Plan], objects: Objects) -> Plan:
    for _ in range(MAX_PLAN_RACES):
        plan, etag = _read(scope, objects)
        changed = change(plan)
        if changed == plan:
            return plan
        body = [reread_as_json(reread) for reread in changed.values()]
        if objects.put_if(_key(scope), json.dumps(body).encode(), etag):
            return changed
    raise Retryable(f"rereads of {scope}: lost {MAX_PLAN_RACES} races")


def _read(scope: Scope, objects: Objects) -> tuple[Plan, str | None]:
    stored = objects.get(_key(scope))
    if stored is None:
        return {}, None
    try:
        rereads = [reread_from_json(body) for body in json.loads(stored.data)]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        # Without the plan, statements of others would be lost.
        raise Retryable(f"rereads of {scope}: the object is not readable") from error
    return {reread.conversation_id: reread for reread in rereads}, stored.etag


def _key(scope: Scope) -> str:
    return f"audit/{scope.workspace}/rereads/{scope.agent}.json"
