"""What a schedule's event makes CleanupFunction plan, and what it tells the alarms."""

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from tests.functions.test_events import load_event
from tests.support.drivers import PassOutcome, give_handler


@pytest.mark.parametrize(
    ("name", "planned"),
    [("cleanup.nightly", 3), ("cleanup.curate", 5), ("cleanup.catch-up", 2)],
)
def test_an_event_without_a_task_is_of_what_has_expired(
    name: str,
    planned: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Varve")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    app = importlib.import_module("functions.cleanup.app")
    give_handler(
        monkeypatch,
        app,
        clean=lambda _: PassOutcome(3, 7),
        curate=lambda _: PassOutcome(5, 7),
        catch_up=lambda _: PassOutcome(2, 7),
    )
    context: Any = SimpleNamespace(
        function_name="f",
        memory_limit_in_mb=1,
        invoked_function_arn="a",
        aws_request_id="r",
    )
    assert app.lambda_handler(load_event(name), context) == {
        "planned": planned,
        "left": 7,
    }
    told = capsys.readouterr().out
    assert f'"PlannedAgents":[{planned}.0]' in told
    assert '"LeftAgents":[7.0]' in told
