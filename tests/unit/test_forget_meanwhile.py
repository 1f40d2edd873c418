"""Two things at once: somebody is forgotten while another is, or while words are summed up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.support.builders import ACME, RecordingQueue
from tests.support.forgetful import Conversation, Forgetful
from tests.support.usecase_drivers import run_summarize
from varve.adapters.in_memory import InMemoryObjects
from varve.domain.calendar import Grain, Period
from varve.domain.errors import Retryable
from varve.domain.summary import Summary, SummaryTask
from varve.usecases.ingest.taken_in import read_taken_in
from varve.usecases.summaries.summarize import SummaryOutcome

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
NAMES = {"u-dana": "Danaqq", "u-marco": "Marcozz", "u-priya": "Priyaxx"}
DAY = Period.parse("2026-04-19")


def said(number: int, *words: tuple[str, str]) -> Conversation:
    """A conversation of several users."""
    messages = [
        {
            "id": f"c-{number}-m{place}",
            "role": "user",
            "userId": user,
            "name": NAMES[user],
            "content": text,
        }
        | {"timestamp": f"2026-04-19T09:{place:02}:00Z"}
        for place, (user, text) in enumerate(words)
    ]
    return {"conversationId": f"c-{number}", "messages": messages}


DANA, MARCO, PRIYA = (
    ("u-dana", "I like quinces."),
    ("u-marco", "I like espresso."),
    ("u-priya", "I like jazz."),
)


def test_invariant_8_what_is_left_of_a_summary_loses_who_was_forgotten_while_it_waited() -> (
    None
):
    memory, waiting = Forgetful(), RecordingQueue()
    memory.ingest(
        *(said(n, one) for n, one in enumerate((DANA, MARCO, PRIYA))), now=NOW
    )
    memory.summarize(NOW)
    memory.records.delete_periods(
        ACME, Grain.WORKING, [DAY.label]
    )  # their time is over
    memory.bar(user="u-dana", now=NOW)
    memory.erase(writes=waiting, wait=lambda: False)
    memory.forget(user="u-marco", now=NOW)
    for delivery in waiting.sent:
        memory.write(delivery)
    assert "espresso" not in str(memory.held())
    memory.forget(user="u-dana", now=NOW)
    assert "quinces" not in str(memory.held())
    assert "Priyaxx likes jazz." in str(memory.held(Grain.DAILY))


def test_invariant_8_somebody_forgotten_while_sources_are_read_leaves_no_trace_in_a_checkpoint() -> (
    None
):
    class Keeping:
        """Keeps what was made of a part, as the one over a model does, and then fails."""

        name = "keeping"

        def summarize(self, task: SummaryTask) -> Summary:
            text = " ".join(source.text for source in task.sources)
            memory.objects.put(
                f"payloads/{ACME}/summaries/part.json", text.encode()
            )
            raise Retryable("model: overloaded")

    class Slow:
        """Reads what there is; meanwhile somebody forgets the user."""

        def __getattr__(self, name: str) -> Any:
            return getattr(memory.records, name)

        def at(self, *_: Any) -> Any:
            return self

        def in_period(self, *place: Any) -> Any:
            found = memory.records.in_period(*place)
            memory.forget(user="u-dana", now=NOW)
            return found

    memory = Forgetful()
    memory.ingest(said(1, DANA), said(2, MARCO), now=NOW)
    parts: dict[str, Any] = {
        "ledger": memory.ledger,
        "embedder": memory.embedder,
        "queue": memory.writes,
    }
    outcome = run_summarize(
        ACME,
        DAY,
        NOW,
        memory.config,
        reader=Slow(),
        summarizer=Keeping(),
        objects=memory.objects,
        **parts,
    )
    assert outcome.state is SummaryOutcome.FAILED
    assert "quinces" not in str(memory.held()) + memory.bytes().decode()


def test_invariant_8_somebody_forgotten_just_before_the_words_are_kept_leaves_no_trace_of_them() -> (
    None
):
    """Who reads a conversation has looked at the tombstones; what it keeps thereafter it takes out again."""
    due = ["u-dana"]

    class Slow(InMemoryObjects):
        """Objects into which words are put just after somebody was forgotten."""

        def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
            if key.startswith("timeline/") and due:
                memory.forget(user=due.pop(), now=NOW)
            return super().put_if(key, data, etag)

    memory = Forgetful(objects=Slow())
    memory.ingest(said(1, DANA, MARCO), now=NOW)
    assert due == []
    assert (
        "quinces"
        not in str(memory.held())
        + str(memory.known())
        + memory.bytes().decode()
    )
    assert "espresso" in str(memory.held())
    assert len(memory.said()) == 1
    (listed,) = [
        taken for _, taken in read_taken_in(ACME, objects=memory.objects)
    ]
    assert (len(listed["messages"]), listed["erased"]) == (1, 1)
