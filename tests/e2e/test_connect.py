"""A program without rights on the data: Memory.connect over the deployed functions."""

from __future__ import annotations

import pytest

from tests.support.deployment import Deployment
from tests.support.stack_api import StackApi
from varve import Memory

pytestmark = pytest.mark.e2e


def test_what_a_connected_program_says_goes_through_the_queues_and_is_found(
    rehearsal: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = {
        name: pool.invoke for name, pool in rehearsal.functions.items()
    }
    with StackApi("varve", functions) as api:
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        memory = Memory.connect("varve", workspace="far", agent="app")
        words = "I moved to Lisbon last Friday."
        said = [{"role": "user", "content": words, "state": "moving"}]
        told = memory.save_context("c-1", said, user_id="dana")
        assert (told.accepted.messages, told.stored) == (1, None)
        memory.remember("The flight is LH1173.", user_id="dana")
        report = memory.record_outcome("c-1", "success", user="dana")
        rehearsal.run()
        found = memory.search("Who moved to Lisbon?", user_id="dana")
        assert "Lisbon" in found.results[0].content
        assert "LH1173" in memory.context("The flight's number?").text
        episodes = memory.search(memory_types=["episode"]).results
        assert report.target == "c-1"
        assert [one.conversation_id for one in episodes] == ["c-1"]
        assert not any("s3" in action for action, _ in api.seen)
