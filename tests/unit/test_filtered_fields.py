"""No text field of any sort of record passes the privacy filter unread."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import a_conversation, raw_message
from tests.unit.test_privacy import privacy
from varve import Memory
from varve.domain.conversation import MAX_LABEL_CHARACTERS
from varve.domain.personal import Mode
from varve.domain.record import MemoryType

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
EMAIL = "dana@example.org"
SORTS = {*MemoryType} - {MemoryType.USAGE}
"""Every sort of record but the counts of reads, which hold ids alone."""


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    later = START + timedelta(days=3)
    memory = Memory.open(
        tmp_path / "store",
        workspace="acme",
        agent="support",
        now=later,
        environment={},
    )
    memory.configure("privacy.mode", "redact")
    return memory


def fill(memory: Memory) -> None:
    """Tell an address in every text field that a caller may give."""
    told = [
        raw_message(
            f"My name is Dana, mail {EMAIL}", id="m1", state=f"asking {EMAIL}"
        ),
        raw_message(f"I live in {EMAIL} town", id="m2", note=f"see {EMAIL}"),
    ]
    for message in told:
        message["timestamp"] = START.isoformat()
    memory.ingest({"conversationId": "c-1", "userId": "u-1", "messages": told})
    memory.summarize()
    memory.set_profile("employer", EMAIL)
    memory.record_outcome(
        "c-1",
        "FAILURE",
        correction=f"ask {EMAIL}",
        decision=f"wrote {EMAIL}",
        resolution=f"call {EMAIL}",
    )
    experience = memory.experience
    episode = experience.episodes()[0]["id"]
    lesson = experience.lessons.add(
        f"Mail to {EMAIL} comes back.",
        when=f"a letter to {EMAIL} is due",
        then=f"write to the office beside {EMAIL}",
        evidence=[episode],
        state=f"writing {EMAIL}",
        tags=[EMAIL],
    )
    experience.lessons.retire(lesson, reason=f"{EMAIL} works again")
    experience.answers.remember(
        f"about {EMAIL}",
        f"sort {EMAIL}",
        f"is {EMAIL} right?",
        f"no, not {EMAIL}",
        citations=(f"a letter of {EMAIL}", EMAIL),
        regime={f"owner {EMAIL}": EMAIL},
    )
    note = {"source": f"a letter by {EMAIL}"}
    experience.research.note(f"log {EMAIL}", "fact", f"{EMAIL} moved", **note)
    experience.research.note(f"log {EMAIL}", "question", f"whose is {EMAIL}?")
    experience.research.answer(
        f"log {EMAIL}", f"whose is {EMAIL}?", f"of {EMAIL}"
    )
    fact = {
        "source_id": f"Dana {EMAIL}",
        "target_id": f"office {EMAIL}",
        "label": f"writes to {EMAIL}",
        "properties": {},
    }
    with memory.graph as graph:
        graph.insert_facts([fact])


def test_every_text_field_of_every_sort_of_record_is_filtered(
    memory: Memory, tmp_path: Path
) -> None:
    fill(memory)
    memory.export(tmp_path / "export")
    sorts: set[str] = set()
    for path in sorted((tmp_path / "export").rglob("*")):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            assert EMAIL not in text, path
            sorts.update(sort for sort in SORTS if f'"{sort}"' in text)
    assert sorts == SORTS


def test_what_was_filtered_is_found_by_its_real_name(memory: Memory) -> None:
    fill(memory)
    experience = memory.experience
    assert len(experience.research.log(f"log {EMAIL}").entries) == 2
    again = experience.answers.should_rerun(
        f"about {EMAIL}",
        f"sort {EMAIL}",
        days=30,
        regime={f"owner {EMAIL}": EMAIL},
    )
    assert not again.rerun


def test_a_state_that_is_blocked_refuses_the_conversation() -> None:
    given = [raw_message("hello", state=EMAIL)]
    with pytest.raises(Exception, match="email"):
        privacy(Mode.BLOCK).filter_conversation(a_conversation(messages=given))


def test_a_state_with_a_placeholder_is_a_valid_label() -> None:
    state = "a@b.co " * 9
    given: list[dict[str, Any]] = [raw_message("hello", state=state.strip())]
    conversation = a_conversation(messages=given)
    filtered = (
        privacy(Mode.PSEUDONYM).filter_conversation(conversation).conversation
    )
    (message,) = filtered.messages
    assert message.state is not None
    assert len(message.state) <= MAX_LABEL_CHARACTERS
    assert "a@b.co" not in json.dumps(filtered.as_json())
