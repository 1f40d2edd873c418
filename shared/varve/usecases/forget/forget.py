"""Forget: find a subject, bar it, erase it everywhere, verify, and write a receipt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any, Protocol

from varve.domain.calendar import iso
from varve.domain.erasure import Selector, Tombstones
from varve.domain.errors import Rejected
from varve.domain.record import Record
from varve.ports.erasure import StoreInspector
from varve.ports.meter import doing
from varve.ports.queues import DeadLetterBox
from varve.usecases.analytics.publish import PublishingTools
from varve.usecases.analytics.targets import read_targets
from varve.usecases.erasure import (
    kept_needles,
    published,
    receipts,
    tombstones,
)
from varve.usecases.erasure.emptied import settle_emptied
from varve.usecases.erasure.erased import Erased
from varve.usecases.erasure.kept_needles import KeptNeedles
from varve.usecases.erasure.letters import drop_letters
from varve.usecases.erasure.needles import (
    Needles,
    collect_needles,
    find_repeating,
    join_strings,
    trace,
)
from varve.usecases.erasure.notes import sweep_deleted
from varve.usecases.erasure.passes import bar, erase, prune
from varve.usecases.erasure.published import PublishedCopies, PublishedErasure
from varve.usecases.erasure.rereads import read_plan
from varve.usecases.erasure.searches import (
    erase_searches,
    read_words_of_others,
)
from varve.usecases.erasure.subject import Subject, find_subject
from varve.usecases.erasure.sweep import TimelineLine
from varve.usecases.erasure.verify import Verification, verify
from varve.usecases.forget.proposals import Proposal, list_chosen
from varve.usecases.forget.propose import propose
from varve.usecases.forget.requests import ONE_SELECTOR, ForgetRequest
from varve.usecases.local import catch_up
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.usecases.session import Session
from varve.usecases.sharing import revoke_user

PAUSE = timedelta(seconds=2)
"""How long it waits before another pass."""
MAX_PROOFS = 3

Wait = Callable[[], bool]
"""Let the writer catch up; False: there is no time left."""


class ErasureTools(PublishingTools, Protocol):
    """What an erasure needs beyond a session; each part is built on first use."""

    @property
    def inspector(self) -> StoreInspector:
        """Reads every byte of the agent's stores, to prove that something is gone."""

    @property
    def dead_letter_boxes(self) -> Mapping[str, DeadLetterBox]:
        """The dead letters of each configured queue."""

    def versioning(self) -> str:
        """Whether the bucket keeps old versions: Enabled, Suspended or Disabled.

        A directory is Disabled; Unknown: this process may not ask. Raises Retryable.
        """


@dataclass(slots=True)
class ForgetOutcome:
    """The result of an erasure; `taken` are the facts, turns and notes that were or would be erased."""

    subject: str
    at: datetime
    dry_run: bool
    taken: Sequence[Record]
    messages: int
    erased: Erased = field(default_factory=Erased)
    verification: Verification | None = None
    receipt: str | None = None
    notes: Sequence[str] = ()
    published: Sequence[PublishedErasure] = ()
    proposals: Sequence[Proposal] = ()

    @property
    def found(self) -> bool:
        """Whether there was anything to erase."""
        erased = any(self.erased.counts.values())
        return bool(self.taken or self.messages or erased)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; texts are included only for a dry run."""
        result: dict[str, Any] = {"found": self.found, "dryRun": self.dry_run}
        if self.dry_run:
            taken = [
                {"id": one.id, "content": one.content, "date": one.period}
                for one in self.taken
            ]
            proposed = [
                one.to_dict(number)
                for number, one in enumerate(self.proposals, 1)
            ]
            return result | {
                "messages": self.messages,
                "records": taken,
                "statements": proposed,
            }
        checked = self.verification
        proof = None
        if checked is not None:
            proof = checked.figures()
            proof |= {"foundIn": checked.found_in, "remains": checked.unclean}
            proof |= {"notRead": checked.unread}
        return result | {
            "complete": self.erased.complete,
            "erased": self.erased.counts,
            "published": [one.to_dict() for one in self.published],
            "notes": list(self.notes),
            "verification": proof,
            "receipt": self.receipt,
        }


@doing("forget")
def forget(
    session: Session,
    request: ForgetRequest,
    tools: ErasureTools,
    progress: Progress = no_progress,
) -> ForgetOutcome:
    """Erase what the request names, bar it from being stored again, write a receipt.

    With queues it waits for the writer, for `patience` in all. A second call continues
    where the first ended. Raises Rejected, Retryable, Misconfigured.
    """
    selector = request.selector
    proposals: Sequence[Proposal] = ()
    if request.query is not None:
        proposals = propose(session, request.query, user_id=request.of_user)
        selector = Selector(ids=list_chosen(proposals, request.only))
        if not selector.ids:
            nothing = ForgetOutcome(
                request.query, session.now, request.dry_run, (), 0
            )
            nothing.proposals = proposals
            return nothing
    if selector is None:
        raise Rejected("forget", ONE_SELECTOR)
    subject = find_subject(session, selector)
    ids = " ".join(sorted(selector.ids))
    outcome = ForgetOutcome(
        subject=selector.user or selector.conversation or ids,
        at=session.now,
        dry_run=request.dry_run,
        taken=subject.taken,
        messages=len(subject.messages),
        proposals=proposals,
    )
    nothing_left = selector.ids and not subject and not _has_rest(session)
    if request.dry_run or nothing_left:
        outcome.erased.complete = not request.dry_run
        return outcome
    _erase(session, request, tools, selector, subject, outcome, progress)
    return outcome


def _has_rest(session: Session) -> bool:
    """Whether an earlier erasure left conversations to read again, or published files."""
    plan = read_plan(session.scope, objects=session.objects)
    return bool(plan) or published.owes(session)


def _erase(
    session: Session,
    request: ForgetRequest,
    tools: ErasureTools,
    selector: Selector,
    subject: Subject,
    outcome: ForgetOutcome,
    progress: Progress,
) -> None:
    scope = session.scope
    objects = session.objects
    known = tombstones.load(scope, objects=objects)
    targets = read_targets(scope.workspace, objects=objects).as_json()
    asked = " ".join(read_words_of_others(session, selector.user))
    own_words = f"{scope} {session.config.model_dump_json()} {targets} {asked}"
    wanted = collect_needles(selector, subject, own_words)
    repeating = find_repeating(subject.statements.cited, wanted)
    chosen = subject.with_lessons(repeating)
    barred = bar(scope, selector, chosen, session.now, objects=objects)
    published.owe(session)
    subject_hash = barred.hash("subject", outcome.subject)
    is_known = subject_hash in kept_needles.load(scope, objects=objects)
    if subject.is_known:
        # Before the first deletion: a run that ends half-way destroys its own needles.
        traces = trace(barred.key, selector, subject, own_words)
        kept_needles.keep(scope, subject_hash, traces, objects=objects)
        is_known = True
    passes = StepCounter("passes of the erasure", 0, progress)
    wait = _build_wait(session, request.patience, passes)
    if selector.user:
        revoke_user(session, selector.user)
        sweep_deleted(scope, selector.user, objects=objects)
    must_prune = bool(subject) or bool(known)
    outcome.erased = erase(session, selector, prune=must_prune, wait=wait)
    catch_up(session)
    kept = _needles_to_look_for(session, subject)
    outcome.erased.found["searches"] = erase_searches(
        session, wanted, kept.values()
    )
    copies = published.erase_copies(
        session, tools, complete=outcome.erased.complete
    )
    outcome.published = copies.done
    outcome.erased.complete &= copies.complete
    if request.verify:
        checked = _prove(
            session, tools, wanted, subject, wait, copies, progress
        )
        checked.is_known = is_known
        outcome.verification = checked
        if outcome.erased.complete and not checked.remains:
            kept_needles.drop_all_but(scope, checked.traced, objects=objects)
    if outcome.erased.complete:
        settle_emptied(session)
    letters = drop_letters(session, tools.dead_letter_boxes)
    outcome.notes = [*_notes(session, tools), *letters, *copies.notes]
    outcome.receipt = _write_receipt(session, subject_hash, selector, outcome)


def _prove(
    session: Session,
    tools: ErasureTools,
    wanted: Needles,
    subject: Subject,
    wait: Wait,
    copies: PublishedCopies,
    progress: Progress,
) -> Verification:
    """Search everything left for the needles of this erasure and of earlier ones.

    Starts again if a writer committed between pruning and reading.
    """
    kept = _needles_to_look_for(session, subject)
    for _ in range(MAX_PROOFS):
        prune(session)
        wait()
        result = verify(
            session.scope,
            wanted,
            kept,
            objects=session.objects,
            stores=tools.inspector,
            published=copies.open(tools),
            progress=progress,
        )
        if not result.unclean:
            break
    result.unread += copies.not_reached
    return result


def _needles_to_look_for(session: Session, subject: Subject) -> KeptNeedles:
    """Return the kept needles by subject, without those that others have said since."""
    barred = tombstones.load(session.scope, objects=session.objects)
    kept = kept_needles.load(session.scope, objects=session.objects)
    wanted: KeptNeedles = {}
    for name, traces in kept.items():
        said = [
            join_strings(line.value)
            for line in subject.others
            if not _is_of(line, name, barred)
        ]
        wanted[name] = traces.without([*said, *subject.kept])
    return wanted


def _is_of(line: TimelineLine, subject_hash: str, barred: Tombstones) -> bool:
    """Return whether a message is of the subject with this hash."""
    names = (*line.users, line.conversation_id)
    return any(barred.hash("subject", name) == subject_hash for name in names)


def _build_wait(
    session: Session, patience: timedelta, passes: StepCounter
) -> Wait:
    """Return a wait that writes in this process, or sleeps while a queue delivers.

    Each call ends a pass.
    """
    ends = monotonic() + patience.total_seconds()

    def wait() -> bool:
        passes.add()
        catch_up(session)
        if not session.queues.delivers_writes:
            return True
        if monotonic() >= ends:
            return False
        sleep(PAUSE.total_seconds())
        return True

    return wait


def _notes(session: Session, tools: ErasureTools) -> list[str]:
    """Return notes on copies that this erasure cannot reach."""
    notes = []
    versioning = tools.versioning()
    if versioning != "Disabled":
        notes.append(
            f"BUCKET VERSIONING IS {versioning.upper()}: old versions of objects may "
            "outlive this erasure. Delete noncurrent versions, or have a lifecycle rule do "
            "so. This project's template has it off."
        )
    if session.queues.delivers_writes:
        notes.append(
            "Messages that wait on the queues keep their bodies until they are received "
            "and dropped."
        )
    return notes


def _write_receipt(
    session: Session,
    subject_hash: str,
    selector: Selector,
    outcome: ForgetOutcome,
) -> str:
    """Write the receipt and return its key: hashes, counts and times, no content."""
    kind = "ids"
    if selector.user:
        kind = "user"
    elif selector.conversation:
        kind = "conversation"
    proof = outcome.verification
    body = {
        "subject": {"kind": kind, "hash": subject_hash},
        "forgottenAt": iso(outcome.at),
        "finishedAt": iso(session.clock()),
        "complete": outcome.erased.complete,
        "passes": outcome.erased.passes,
        "erased": outcome.erased.counts,
        "published": [one.to_dict() for one in outcome.published],
        "verification": proof.figures() if proof else None,
        "notes": list(outcome.notes),
    }
    return receipts.put(
        session.scope, outcome.at, body, objects=session.objects
    )
