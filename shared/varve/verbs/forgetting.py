"""Erasure as all its callers have it: find, bar, erase, verify, leave a receipt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any

from varve.application import Application
from varve.domain.calendar import iso
from varve.domain.erasure import Selector, Tombstones
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.identity import Scope, path_id, reference
from varve.domain.record import MemoryType, Record
from varve.domain.search.query import parse_search_request
from varve.messages.erasure import forgotten_share
from varve.ports.queues import DeadLetterBox
from varve.usecases.erasure import forget as forgetting
from varve.usecases.erasure import receipts, tombstones
from varve.usecases.erasure.forget import Erased, Tools
from varve.usecases.erasure.subject import find
from varve.usecases.erasure.verify import Needles, Verification, needles, verify

PATIENCE, PAUSE = timedelta(seconds=60), timedelta(seconds=2)
"""How long to wait for a queue's writer in all, and between two looks."""

QUERY_RESULTS = 10
MAX_LOOKS = 3

Wait = Callable[[], bool]

_REQUEST: Mapping[str, type] = {
    "workspaceId": str, "agentId": str, "user": str, "conversation": str, "ids": list, "verify": bool,
    "dryRun": bool,
}  # fmt: skip
_ONE = "takes exactly one of: user, conversation, ids, query"


@dataclass(slots=True)
class Forgotten:
    """What came of it; `taken` are the facts and turns, with their words, that went or would go."""

    subject: str
    at: datetime
    dry_run: bool
    taken: Sequence[Record]
    messages: int
    erased: Erased = field(default_factory=Erased)
    verification: Verification | None = None
    receipt: str | None = None
    notes: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; with the words only where nothing has been erased yet."""
        result: dict[str, Any] = {
            "found": bool(
                self.taken or self.messages or any(self.erased.counts.values())
            ),
            "dryRun": self.dry_run,
        }
        if self.dry_run:
            taken = [
                {"id": r.id, "content": r.content, "date": r.period} for r in self.taken
            ]
            return result | {"messages": self.messages, "records": taken}
        result |= {
            "complete": self.erased.complete,
            "erased": self.erased.counts,
            "notes": list(self.notes),
        }
        checked = self.verification
        proof = checked and checked.figures() | {
            "foundIn": checked.found_in,
            "remains": checked.unclean,
        }
        return result | {"verification": proof, "receipt": self.receipt}


def selector_of(
    user: str | None = None, conversation: str | None = None, ids: Sequence[str] = ()
) -> Selector:
    """Exactly one of the three, validated. Raises Rejected: names the field."""
    if isinstance(ids, str):
        raise Rejected("ids", "must be a list of ids, not one")
    if sum(map(bool, (user, conversation, ids))) != 1:
        raise Rejected("forget", _ONE)
    if user:
        reference(user, "user")
    if conversation:
        path_id(conversation, "conversation")
    return Selector(
        user or None, conversation or None, tuple(reference(id_, "id") for id_ in ids)
    )


def described(
    application: Application, scope: Scope, query: str, now: datetime
) -> tuple[str, ...]:
    """The ids of the facts and turns that a description names: the best that share a word with it."""
    request = parse_search_request(
        {"queryText": query, "grain": "working", "maxResults": QUERY_RESULTS}
    )
    if not request.text:
        raise Rejected("query", "is empty")
    results = application.search(scope, request, now).results
    return tuple(
        r.id
        for r in results
        if r.memory_type != MemoryType.SUMMARY and r.why and r.why.keyword
    )


def forget_in(
    application: Application,
    scope: Scope,
    user: str | None,
    conversation: str | None,
    ids: Sequence[str],
    query: str | None,
    *,
    dry_run: bool,
    check: bool,
) -> "Forgotten":
    """`forget` for one of the four ways to say what. Raises Rejected: not exactly one of them."""
    now = application.parts.clock()
    if query is not None:
        if user or conversation or ids:
            raise Rejected("forget", _ONE)
        ids = described(application, scope, query, now)
        if not ids:
            return Forgotten(query, now, dry_run, (), 0)
    return forget(
        application,
        scope,
        selector_of(user, conversation, ids),
        now,
        dry_run=dry_run,
        check=check,
    )


def forget(
    application: Application,
    scope: Scope,
    selector: Selector,
    now: datetime,
    *,
    dry_run: bool = False,
    check: bool = False,
    patience: timedelta = PATIENCE,
) -> Forgotten:
    """Erase what the selector takes, keep it from coming back, and leave a receipt under `audit/`.

    With `dry_run` only say what would go; with `check` read everything that is left and prove it. Where
    queues are configured it waits for the writer, for `patience` in all; doing it again goes on where it
    ended. Raises Rejected, Retryable, Misconfigured.
    """
    parts = application.parts
    subject = find(scope, selector, reader=parts.records, objects=parts.objects)
    name = selector.user or selector.conversation or " ".join(sorted(selector.ids))
    result = Forgotten(
        name, now, dry_run, subject.facts_and_turns, len(subject.messages)
    )
    if dry_run or (selector.ids and not subject):
        result.erased.complete = not dry_run
        return result
    known = tombstones.load(scope, objects=parts.objects)
    barred = forgetting.bar(scope, selector, subject, now, objects=parts.objects)
    tools, wait = _tools(application, scope), _waiting(application, patience)
    result.erased = forgetting.erase(
        tools, prune=bool(subject) or bool(known), wait=wait
    )
    if check:
        wanted = needles(selector, subject, f"{scope} {tools.config.model_dump_json()}")
        result.verification = _verified(application, tools, wanted, wait)
    result.notes = [*_notes(application), *_drop_letters(application, scope)]
    result.receipt = _receipt(
        application, scope, barred.hash("subject", name), selector, result
    )
    return result


def read_request(event: Any) -> tuple[Scope, dict[str, Any]]:
    """Whose memory and what to forget, of an administrator's invocation.

    `{"workspaceId", "agentId", "user" | "conversation" | "ids", "verify"?, "dryRun"?}`.
    Raises Rejected: names the field.
    """
    if not isinstance(event, Mapping):
        raise Rejected("event", "must be an object")
    given = dict(event)
    for name, value in given.items():
        if name not in _REQUEST:
            raise Rejected(name, "is not a known name")
        if not isinstance(value, _REQUEST[name]):
            raise Rejected(name, "is not of the right type")
    if not all(isinstance(id_, str) for id_ in given.get("ids", ())):
        raise Rejected("ids", "must be a list of strings")
    for name in ("workspaceId", "agentId"):
        if name not in given:
            raise Rejected(name, "is missing")
    scope = Scope(given["workspaceId"], given["agentId"])
    selector = selector_of(
        given.get("user"), given.get("conversation"), given.get("ids", ())
    )
    return scope, {
        "selector": selector, "dry_run": given.get("dryRun", False), "check": given.get("verify", False)
    }  # fmt: skip


def _tools(application: Application, scope: Scope) -> Tools:
    parts = application.parts
    config = parts.config(scope.workspace)
    return Tools(
        scope=scope,
        config=config,
        reader=parts.records,
        graph=parts.graph,
        objects=parts.objects,
        ledger=application.ledger,
        embedder=parts.embedder(config),
        writes=application.write_queue,
        conversations=application.ingest_queue,
    )


def _verified(
    application: Application, tools: Tools, wanted: Needles, wait: Wait
) -> Verification:
    """The proof; once more where somebody wrote between the stores' tidying and the look at them."""
    parts = application.parts
    for _ in range(MAX_LOOKS):
        forgetting.prune(tools)
        wait()
        result = verify(
            tools.scope, wanted, objects=parts.objects, stores=application.inspector
        )
        if not result.unclean:
            break
    return result


def _waiting(application: Application, patience: timedelta) -> Wait:
    """Without a queue there is nothing to wait for."""
    ends = monotonic() + patience.total_seconds()

    def wait() -> bool:
        if application.parts.settings.write_queue_url is None:
            return True
        if monotonic() >= ends:
            return False
        sleep(PAUSE.total_seconds())
        return True

    return wait


def _notes(application: Application) -> list[str]:
    """What this erasure cannot reach by itself."""
    notes = []
    versioning = application.versioning()
    if versioning != "Disabled":
        notes.append(
            f"BUCKET VERSIONING IS {versioning.upper()}: old versions of objects may outlive this erasure. "
            "Delete noncurrent versions, or have a lifecycle rule do so. This project's template has it off."
        )
    if application.parts.settings.write_queue_url:
        notes.append(
            "Messages that wait on the queues keep their bodies until they are received and dropped."
        )
    return notes


def _drop_letters(application: Application, scope: Scope) -> list[str]:
    """Drop the dead letters of which nothing would be left; what there is to say of them."""
    barred = tombstones.load(scope, objects=application.parts.objects)
    dropped: list[str] = []
    mixed: set[str] = set()
    notes = []
    for queue, box in application.parts.dead_letter_boxes.items():
        try:
            _drop_from(box, scope, barred, dropped, mixed)
        except (Misconfigured, Retryable) as error:
            # What has been erased is erased, and its receipt must say so.
            notes.append(
                f"THE DEAD LETTERS OF {queue.upper()} COULD NOT BE LOOKED AT: {error}"
            )
    if dropped:
        notes.append(f"{len(dropped)} dead letters were dropped.")
    if mixed:
        notes.append(
            f"{len(mixed)} dead letters hold what others said as well and are left: redrive them, and only "
            "that is taken in, or drop them (varve dlq)."
        )
    return notes


def _drop_from(
    box: DeadLetterBox,
    scope: Scope,
    barred: Tombstones,
    dropped: list[str],
    mixed: set[str],
) -> None:
    # Of each group ten are seen at a time: those that are dropped uncover others.
    while True:
        held = {
            letter.id: forgotten_share(letter.body, scope, barred)
            for letter in box.letters()
        }
        mixed |= {id_ for id_, left in held.items() if left == "some"}
        whole = [id_ for id_, left in held.items() if left == "all"]
        if not whole or not (gone := box.drop(whole)):
            return
        dropped += gone


def _receipt(
    application: Application,
    scope: Scope,
    subject: str,
    selector: Selector,
    done: Forgotten,
) -> str:
    """Write the receipt: hashes, counts and times, nothing of the content; its key."""
    kind = (
        "user" if selector.user else "conversation" if selector.conversation else "ids"
    )
    body = {
        "subject": {"kind": kind, "hash": subject},
        "forgottenAt": iso(done.at),
        "finishedAt": iso(application.parts.clock()),
        "complete": done.erased.complete,
        "passes": done.erased.passes,
        "erased": done.erased.counts,
        "verification": done.verification.figures() if done.verification else None,
        "notes": list(done.notes),
    }
    return receipts.put(scope, done.at, body, objects=application.parts.objects)
