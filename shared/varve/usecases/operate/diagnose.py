"""Diagnose: examine a deployment part by part, and say what mends it."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial

from varve.domain.calendar import Grain
from varve.domain.diagnosis import Diagnosis, Finding, Health
from varve.domain.errors import VarveError
from varve.ports.queues import QUEUES
from varve.ports.surroundings import Surroundings
from varve.usecases.erasure import receipts
from varve.usecases.erasure.rereads import read_plan
from varve.usecases.operate.model_check import check_models
from varve.usecases.operate.status import status
from varve.usecases.session import Session

MAX_SKEW = timedelta(seconds=60)
"""A clock that is further off puts words on another day; S3 refuses one at 15 minutes."""

Examine = Callable[[], Iterable[Finding]]


def diagnose(
    session: Session, surroundings: Surroundings, *, asks_models: bool = True
) -> Diagnosis:
    """Examine the session's agent and what lies around it.

    An error of one part is its finding, and the next part is examined. With `asks_models`
    each configured model gets one short request.
    """
    parts: dict[str, Examine] = {
        "store": partial(_examine_store, surroundings),
        "versioning": partial(_examine_versioning, surroundings),
        "clock": partial(_examine_clock, session, surroundings),
        "role": partial(_examine_role, session, surroundings),
        "queues": partial(_examine_queues, surroundings),
        "models": partial(_examine_models, session, asks_models),
        "formats": partial(_examine_formats, session, surroundings),
        "periods": partial(_examine_periods, session),
        "erasure": partial(_examine_erasure, session),
    }
    findings: list[Finding] = []
    for part, examine in parts.items():
        findings += _try(part, examine)
    return Diagnosis(tuple(findings))


def _try(part: str, examine: Examine) -> list[Finding]:
    try:
        return list(examine())
    except VarveError as error:
        return [Finding(part, Health.FAILED, str(error))]


def _examine_store(surroundings: Surroundings) -> Iterator[Finding]:
    surroundings.require_writable()
    yield Finding("store", Health.OK, f"{surroundings.store} can be written")


def _examine_versioning(surroundings: Surroundings) -> Iterator[Finding]:
    state = surroundings.versioning()
    if state == "Disabled":
        yield Finding("versioning", Health.OK, "off: what is deleted is gone")
    elif state == "Unknown":
        yield Finding(
            "versioning",
            Health.WARNING,
            "this process may not ask for the bucket's versioning",
            "allow s3:GetBucketVersioning",
        )
    else:
        yield Finding(
            "versioning",
            Health.WARNING,
            f"{state}: the bucket keeps old versions of what was erased",
            "expire noncurrent versions by a lifecycle rule of one day",
        )


def _examine_clock(
    session: Session, surroundings: Surroundings
) -> Iterator[Finding]:
    server = surroundings.server_time()
    if server is None:
        yield Finding(
            "clock", Health.SKIPPED, "a directory has no server to ask"
        )
        return
    skew = session.clock() - server
    seconds = round(skew.total_seconds())
    if abs(skew) <= MAX_SKEW:
        yield Finding(
            "clock", Health.OK, f"{seconds} s from the store's server"
        )
    else:
        yield Finding(
            "clock",
            Health.FAILED,
            f"{seconds} s from the store's server",
            "synchronize this machine's clock",
        )


def _examine_role(
    session: Session, surroundings: Surroundings
) -> Iterator[Finding]:
    if surroundings.assume_role(session.scope):
        yield Finding(
            "role", Health.OK, f"reads {session.scope} with its own rights"
        )
    else:
        yield Finding(
            "role", Health.SKIPPED, "no role for agents is configured"
        )


def _examine_queues(surroundings: Surroundings) -> Iterator[Finding]:
    if not surroundings.queues:
        yield Finding("queues", Health.SKIPPED, "none are configured")
        return
    for name in QUEUES:
        part = f"{name} queue"
        if name in surroundings.queues:
            yield from _try(part, partial(_examine_queue, surroundings, name))
        else:
            variable = f"VARVE_{name.upper()}_QUEUE_URL"
            yield Finding(
                part, Health.WARNING, "is not configured", f"set {variable}"
            )


def _examine_queue(surroundings: Surroundings, name: str) -> Iterator[Finding]:
    part = f"{name} queue"
    state = surroundings.queue_state(name)
    if not state.is_fifo:
        yield Finding(
            part, Health.FAILED, "is no FIFO queue", "deploy the template"
        )
    elif state.letters:
        yield Finding(
            part,
            Health.WARNING,
            f"{state.letters} dead letters, {state.waiting} messages wait",
            f"varve dlq list --queue {name}",
        )
    else:
        yield Finding(part, Health.OK, f"{state.waiting} messages wait")


def _examine_models(session: Session, asks: bool) -> Iterator[Finding]:
    embedder = session.embedder.model
    llm = session.config.models.llm or "the process's model or none"
    if not asks:
        yield Finding("models", Health.SKIPPED, "not asked (--no-check)")
        return
    check_models(session)
    if session.llm is None:
        yield Finding(
            "models", Health.OK, f"{embedder}; no chat model, rules extract"
        )
    else:
        yield Finding("models", Health.OK, f"{embedder} and {llm} answer")


def _examine_formats(
    session: Session, surroundings: Surroundings
) -> Iterator[Finding]:
    others = list(_find_other_models(session))
    yield from others
    if not others:
        yield Finding("formats", Health.OK, _list_libraries(surroundings))


def _find_other_models(session: Session) -> Iterator[Finding]:
    wanted = session.embedder.model
    for grain in Grain:
        stored = session.store.stores.model(session.scope, grain)
        if stored not in (None, wanted):
            yield Finding(
                "formats",
                Health.WARNING,
                f"{grain} has vectors of {stored}, not {wanted}",
                "varve reembed",
            )


def _list_libraries(surroundings: Surroundings) -> str:
    versions = surroundings.libraries().items()
    return ", ".join(f"{name} {version}" for name, version in versions)


def _examine_periods(session: Session) -> Iterator[Finding]:
    held = status(session)
    waiting = held["backlog"]["periods"]
    failed = 0
    for grain in held["grains"].values():
        periods = grain.get("periods") or {}
        failed += len(periods.get("failed", ()))
    if failed:
        yield Finding(
            "periods",
            Health.WARNING,
            f"the summaries of {failed} periods failed; {waiting} wait",
            "varve status",
        )
    elif waiting:
        told = f"{waiting} closed periods wait for their summaries"
        yield Finding("periods", Health.WARNING, told, "varve summarize")
    else:
        yield Finding("periods", Health.OK, "no closed period waits")


def _examine_erasure(session: Session) -> Iterator[Finding]:
    plan = read_plan(session.scope, objects=session.objects)
    last = receipts.last(session.scope, objects=session.objects)
    if plan or (last and not last["complete"]):
        yield Finding(
            "erasure",
            Health.FAILED,
            "an erasure was interrupted",
            "repeat the same varve forget",
        )
    elif last and last["proved"] is False:
        told = f"{last['receipt']} is not proved"
        yield Finding(
            "erasure", Health.FAILED, told, "repeat it with --verify"
        )
    else:
        yield Finding("erasure", Health.OK, "none is unfinished")
