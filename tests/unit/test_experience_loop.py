"""The example of a loop with experience: OpenAI's real client on loopback, and offline."""

from __future__ import annotations

from pathlib import Path

from examples.experience_loop import INCIDENTS, main
from tests.support.model_server import ModelServer, Request, prompt


def test_the_offline_loop_is_right_the_second_time(tmp_path: Path) -> None:
    first = main(str(tmp_path), {})
    assert not all(first)
    assert all(main(str(tmp_path), {}))


def test_a_model_reads_the_experience_of_the_loop(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        known = prompt(request).split("<experience>")[-1]
        _, found, rest = known.partition("\n- ")
        return rest.split(":")[0] if found else "restart the service"

    with ModelServer(answer) as server:
        environment = server.environment | {"MODEL": "gpt-test"}
        main(str(tmp_path), environment)
        assert all(main(str(tmp_path), environment))
        asked = [prompt(one.body) for one in server.chats]
    assert len(asked) == 2 * len(INCIDENTS)
    assert "Nothing like this is known from past work." in asked[1]
    assert "restart the service was a FAILURE" in asked[2]
