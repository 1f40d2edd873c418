"""What a message may say of the agent's work: its state, a signal, an outcome."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import (
    a_message,
    attempt,
    raw_conversation,
    raw_message,
)
from varve.domain.conversation import parse_conversation
from varve.domain.errors import Rejected


def test_a_message_may_say_what_the_agent_is_doing_and_how_it_ended() -> None:
    message = a_message(
        state="debugging", signal="episode_end", outcome="success"
    )
    assert (message.state, message.signal, message.outcome) == (
        "debugging",
        "episode_end",
        "success",
    )
    dumped = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert dumped["outcome"] == "success"  # the timeline keeps it as it came


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", ""),
        ("state", "x" * 65),
        ("state", 3),
        ("signal", "begin"),
        ("outcome", "won"),
    ],
)
def test_a_state_signal_or_outcome_of_no_known_form_is_refused_by_name(
    field: str, value: Any
) -> None:
    error = attempt(
        parse_conversation, raw_conversation(raw_message(**{field: value}))
    )
    assert isinstance(error, Rejected)
    assert error.field == f"messages[0].{field}"


def test_states_do_not_change_a_messages_id() -> None:
    assert a_message().id == a_message(state="planning", outcome="FAILURE").id
