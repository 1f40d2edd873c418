"""What every framework's adapter must do; each test module brings the framework's agent.

The framework is the real one; only the model's words are written here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from varve import Memory
from varve.domain.search.answer import SearchResponse

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
REPLY = "The form is on its way to you."
"""A courtesy would be no turn."""
TOLD = "I moved to Porto last week."
ASKED = "Which city did I move to?"
NO_ATTRIBUTE = "The blue bicycle broke on the bridge yesterday."
"""It enters no profile, which stands in every block of its user."""
UNRELATED = "Please compute seventeen times twelve."


class Talker(Protocol):
    """One user's agent in a framework, in one conversation."""

    seen: list[str]
    """The text of each model call, in order."""

    async def say(self, text: str) -> str:
        """Run one turn and return the model's words, with memory flushed."""
        ...

    async def repeat(self) -> None:
        """Hand the turns so far to the adapter once more, as a retry would."""
        ...


MakeTalker = Callable[[Memory, str, str], Talker]
"""Builds a talker from a memory, a user and a conversation's id."""


class HeldMemory(Memory):
    """A memory whose reads and writes wait until the event loop releases them."""

    blocked: threading.Event
    released: threading.Event

    @classmethod
    def wrap(cls, memory: Memory) -> HeldMemory:
        held = cls(memory.sessions, memory.scope)
        held.blocked = threading.Event()
        held.released = threading.Event()
        return held

    def ingest(self, *given: Any, **named: Any) -> Any:
        self._wait()
        return super().ingest(*given, **named)

    def context(self, *given: Any, **named: Any) -> Any:
        self._wait()
        return super().context(*given, **named)

    def search(self, *given: Any, **named: Any) -> Any:
        self._wait()
        return super().search(*given, **named)

    def answer(self, *given: Any, **named: Any) -> Any:
        self._wait()
        return super().answer(*given, **named)

    def _wait(self) -> None:
        self.blocked.set()
        assert self.released.wait(60), "the adapter blocks the event loop"


def open_memory(folder: Path) -> Memory:
    return Memory.open(folder, now=NOW, environment={})


def list_memory(memory: Memory, user: str | None = None) -> SearchResponse:
    return memory.search(max_results=100, user_id=user)


class AdapterContract:
    """The cases; a test class gives `make_talker`."""

    make_talker: MakeTalker

    @pytest.fixture
    def memory(self, tmp_path: Path) -> Memory:
        return open_memory(tmp_path / "memory")

    def talk(
        self, memory: Memory, user: str, conversation: str, *texts: str
    ) -> Talker:
        talker = type(self).make_talker(memory, user, conversation)

        async def run() -> None:
            for text in texts:
                assert await talker.say(text) == REPLY

        asyncio.run(run())
        return talker

    def test_turns_go_in_with_their_ids(self, memory: Memory) -> None:
        self.talk(memory, "dana", "c-1", TOLD)
        turns = memory.search(memory_types=["turn"], max_results=100).results
        contents = " ".join(turn.content for turn in turns)
        assert TOLD in contents
        assert REPLY in contents
        assert all(
            turn.source_ids and turn.user_id == "dana" for turn in turns
        )
        assert len({turn.source_ids[0] for turn in turns}) == 2

    def test_the_same_turns_again_add_nothing(self, memory: Memory) -> None:
        talker = type(self).make_talker(memory, "dana", "c-1")

        async def run() -> tuple[SearchResponse, SearchResponse]:
            await talker.say(TOLD)
            before = list_memory(memory)
            await talker.repeat()
            return before, list_memory(memory)

        before, after = asyncio.run(run())
        assert before.results
        assert after.results == before.results

    def test_equal_words_of_two_turns_are_two_turns(
        self, memory: Memory
    ) -> None:
        self.talk(memory, "dana", "c-1", TOLD, TOLD)
        shown = list_memory(memory).results
        told = next(one for one in shown if TOLD in one.content)
        turns = [id_ for id_ in (told.id, *told.also_in) if "turn" in id_]
        assert len(turns) == 2

    def test_the_next_run_recalls_what_was_told(self, memory: Memory) -> None:
        self.talk(memory, "dana", "c-1", TOLD)
        later = self.talk(memory, "dana", "c-2", ASKED)
        assert "Porto" in later.seen[0]

    def test_nothing_enters_that_does_not_bear_on_the_prompt(
        self, memory: Memory
    ) -> None:
        self.talk(memory, "dana", "c-1", NO_ATTRIBUTE)
        later = self.talk(memory, "dana", "c-2", UNRELATED)
        assert UNRELATED in later.seen[0]
        assert "bicycle" not in later.seen[0]

    def test_another_users_words_never_enter(self, memory: Memory) -> None:
        self.talk(memory, "dana", "c-1", TOLD)
        later = self.talk(memory, "marco", "c-2", ASKED)
        assert "Porto" not in "".join(later.seen)

    def test_an_injected_block_is_not_learnt(self, memory: Memory) -> None:
        self.talk(memory, "dana", "c-1", TOLD)
        before = {result.id for result in list_memory(memory).results}
        later = self.talk(memory, "dana", "c-2", ASKED)
        assert "Porto" in later.seen[0]
        new = [x for x in list_memory(memory).results if x.id not in before]
        assert any(ASKED in result.content for result in new)
        assert not any("Porto" in result.content for result in new)

    def test_a_failure_of_memory_does_not_break_the_turn(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        place = tmp_path / "file"
        place.write_text("not a directory")
        broken = open_memory(place / "memory")
        talker = self.talk(broken, "dana", "c-1", TOLD)
        assert TOLD in talker.seen[0]
        logged = [record.getMessage() for record in caplog.records]
        assert any(
            "Misconfigured" in text or "memory" in text for text in logged
        )
        assert not any("Porto" in text for text in logged)

    def test_the_event_loop_goes_on_while_memory_works(
        self, memory: Memory
    ) -> None:
        held = HeldMemory.wrap(memory)

        async def run() -> str:
            talker = type(self).make_talker(held, "dana", "c-1")
            turn = asyncio.create_task(talker.say(TOLD))
            await asyncio.to_thread(held.blocked.wait, 60)
            assert not turn.done()
            held.released.set()
            return await turn

        assert asyncio.run(run()) == REPLY
