"""The Runtime API harness, with a toy handler under the real runtime client."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.runtime_api import (
    PAYLOAD_LIMIT,
    FunctionError,
    LambdaPool,
    LambdaProcess,
)

TOY = """
import os, time
print("importing")

def lambda_handler(event, context):
    print("handling", event.get("word", ""))
    if "raise" in event:
        raise ValueError(event["raise"])
    if "exit" in event:
        os._exit(event["exit"])
    if "wait" in event:
        time.sleep(event["wait"])
    if "answer" in event:
        return "x" * event["answer"]
    client = context.client_context
    return {"event": event, "pid": os.getpid(), "custom": client and client.custom,
            "left": context.get_remaining_time_in_millis(), "home": os.environ.get("VIRTUAL_ENV")}
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("task")
    (home / "functions" / "toy").mkdir(parents=True)
    (home / "functions" / "toy" / "app.py").write_text(TOY)
    return home


def process(
    root: Path, handler: str = "functions.toy.app.lambda_handler"
) -> LambdaProcess:
    return LambdaProcess(
        handler,
        python=Path(sys.executable),
        cwd=root,
        environment={},
        timeout=30,
        name="Toy",
    )


@pytest.fixture
def toy(root: Path) -> Iterator[LambdaProcess]:
    function = process(root)
    yield function
    function.stop()


def test_an_event_comes_back_through_the_real_runtime_client(
    toy: LambdaProcess,
) -> None:
    answer = toy.invoke({"word": "Lissabon é"})
    assert answer["event"] == {"word": "Lissabon é"}
    assert answer["custom"] is None
    assert answer["home"] is None
    assert 0 < answer["left"] <= 30_000


def test_one_process_serves_many_invocations(toy: LambdaProcess) -> None:
    assert len({toy.invoke({})["pid"] for _ in range(3)}) == 1
    assert toy.starts == 1


def test_the_client_context_arrives_as_a_gateway_sends_it(
    toy: LambdaProcess,
) -> None:
    headers = {
        "bedrockAgentCorePropagatedHeaders": {"x-varve-workspace": "acme"}
    }
    assert toy.invoke({}, {"custom": headers})["custom"] == headers


def test_a_raised_error_keeps_its_type_and_message_and_the_process(
    toy: LambdaProcess,
) -> None:
    first = toy.invoke({})["pid"]
    with pytest.raises(FunctionError) as caught:
        toy.invoke({"raise": "no such period"})
    assert (caught.value.error_type, caught.value.message) == (
        "ValueError",
        "no such period",
    )
    assert toy.invoke({})["pid"] == first


def test_a_crash_is_an_error_and_the_next_invocation_starts_afresh(
    toy: LambdaProcess,
) -> None:
    with pytest.raises(FunctionError, match="exited with status 3"):
        toy.invoke({"exit": 3})
    assert toy.invoke({"word": "again"})["event"] == {"word": "again"}
    assert toy.starts == 2


def test_a_killed_process_starts_afresh(toy: LambdaProcess) -> None:
    toy.invoke({})
    toy.kill()
    toy.invoke({})
    assert toy.starts == 2


def test_a_function_that_runs_too_long_is_ended(toy: LambdaProcess) -> None:
    toy.start()
    with pytest.raises(
        FunctionError,
        match=r"Sandbox.Timedout: Task timed out after 0\.30 seconds",
    ):
        toy.invoke({"wait": 20}, timeout=0.3)
    assert not toy.alive


def test_a_handler_that_cannot_be_imported_says_so_every_time(
    root: Path,
) -> None:
    function = process(root, "functions.nowhere.app.lambda_handler")
    for _ in range(2):
        with pytest.raises(FunctionError, match="ImportModuleError"):
            function.invoke({})
    function.stop()


def test_payloads_are_limited_as_lambda_limits_them(
    toy: LambdaProcess,
) -> None:
    with pytest.raises(FunctionError, match="ResponseSizeTooLarge"):
        toy.invoke({"answer": PAYLOAD_LIMIT + 1})
    with pytest.raises(ValueError, match="over Lambda's"):
        toy.invoke({"word": "x" * PAYLOAD_LIMIT})


def test_the_log_holds_what_every_start_wrote(toy: LambdaProcess) -> None:
    toy.invoke({"word": "first"})
    toy.kill()
    toy.invoke({"word": "second"})
    assert toy.logs.count("importing") == 2
    assert "handling first" in toy.logs
    assert "handling second" in toy.logs


def test_a_pool_runs_invocations_side_by_side(root: Path) -> None:
    functions = LambdaPool([process(root), process(root)])
    with ThreadPoolExecutor(2) as threads:
        answers = list(
            threads.map(functions.invoke, [{"wait": 0.5}, {"wait": 0.5}])
        )
    functions.stop()
    assert len({answer["pid"] for answer in answers}) == 2
