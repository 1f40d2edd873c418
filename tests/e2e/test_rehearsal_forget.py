"""ForgetFunction beside the running queues: erased by the one writer, proved, and not brought back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.e2e.conversations import conversation
from tests.e2e.snapshot import contents, timeline
from tests.support.deployment import Deployment

pytestmark = pytest.mark.e2e


def forget(deployment: Deployment, **request: Any) -> Any:
    """Invoke ForgetFunction, and drive the queues while it waits for the writer."""
    with ThreadPoolExecutor(1) as threads:
        event = {"workspaceId": "forgetting", "agentId": "support", **request}
        answer = threads.submit(
            deployment.functions["ForgetFunction"].invoke, event
        )
        while not answer.done():
            deployment.poller.round()
        return answer.result()


def test_an_administrator_has_a_user_erased(rehearsal: Deployment) -> None:
    at = {"workspace": "forgetting"}
    rehearsal.ingest(
        conversation(
            "c-1",
            "I moved to Lisbon last Friday.",
            "The boxes wobblequill.",
            **at,
        )
    )
    rehearsal.ingest(
        conversation(
            "c-2",
            "It says error code KX-4471.",
            user="u-7",
            speaker="Marco",
            **at,
        )
    )
    rehearsal.run()
    assert contents(rehearsal, "forgetting", "support") >= {
        "Dana: The boxes wobblequill."
    }
    done = forget(rehearsal, user="u-42", verify=True)
    assert (done["complete"], done["verification"]["hits"]) == (True, 0)
    assert done["erased"]["messages"] == 2
    left = contents(rehearsal, "forgetting", "support")
    assert {text.partition(" ")[0].strip(":'s") for text in left} == {"Marco"}
    assert [
        name.split("/")[1]
        for name in timeline(rehearsal, "forgetting", "support")
    ] == ["c-2"]
    rehearsal.ingest(
        conversation(
            "c-1",
            "I moved to Lisbon last Friday.",
            "The boxes wobblequill.",
            **at,
        )
    )
    rehearsal.run()
    assert contents(rehearsal, "forgetting", "support") == left
    held = [
        rehearsal.read(key)
        for key in rehearsal.keys("")
        if "forgetting" in key
    ]
    assert not [
        data for data in held if b"wobblequill" in data or b"u-42" in data
    ]
    assert "wobblequill" not in str(rehearsal.logs)


def test_a_request_that_names_nothing_is_refused(
    rehearsal: Deployment,
) -> None:
    answer = forget(rehearsal)
    assert answer["error"]["type"] == "Rejected"
