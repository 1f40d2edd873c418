"""Conversations are cut into episodes, each with its outcome, decisions and corrections."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.experience.outcomes import (
    Outcome,
    is_correction,
    judge_outcome,
    read_cues,
)
from varve.domain.experience.reading import read_segment
from varve.domain.experience.running import MAX_TOKENS, RunningSummary
from varve.domain.experience.segments import SegmentMessage, cut_segments
from varve.domain.text import estimated_tokens

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LONG = "one two three four five six seven eight nine"


def heard(
    number: int,
    text: str = LONG,
    *,
    minutes: int = 0,
    axis: int = 0,
    **given: object,
) -> SegmentMessage:
    at = START + timedelta(minutes=number + minutes)
    role = str(given.pop("role", "user"))
    return SegmentMessage(
        "c",
        f"m{number}",
        role,
        text,
        at,
        np.eye(4, dtype=np.float32)[axis],
        **given,
    )  # type: ignore[arg-type]


def test_every_cut_has_its_reason() -> None:
    run = [
        heard(0, state="debugging"),
        heard(1, state="planning"),
        heard(2, state="planning", minutes=300),
        heard(3, minutes=300, axis=1),
        heard(4, minutes=300, axis=1, signal="episode_end"),
        heard(5, minutes=300, axis=1),
        heard(6, minutes=300, axis=1, signal="episode_start"),
    ]
    assert [segment.why for segment in cut_segments(run)] == [
        "the run begins",
        "state: debugging to planning",
        "gap: 5 h 01 min of silence",
        "meaning: cosine 0.00 to the 4 messages before",
        "signal: episode_end",
        "signal: episode_start",
    ]


def test_a_short_message_or_one_with_an_outcome_is_no_shift_of_meaning() -> (
    None
):
    closing = "thank you very much indeed, all of the tests pass now"
    assert (
        len(
            cut_segments(
                [
                    heard(0),
                    heard(1, "go on", axis=1),
                    heard(2, closing, axis=2),
                ]
            )
        )
        == 1
    )


MESSAGES = st.lists(
    st.builds(
        lambda axis, minutes, state, signal: (axis, minutes, state, signal),
        st.integers(0, 3), st.sampled_from([0, 500]), st.sampled_from([None, "a", "b"]),
        st.sampled_from([None, "episode_start", "episode_end"]),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@given(MESSAGES, st.data())
def test_a_growing_conversation_keeps_its_episodes(
    parts: list, data: st.DataObject
) -> None:
    total, run = 0, []
    for number, (axis, minutes, state, signal) in enumerate(parts):
        total += minutes
        run.append(
            heard(number, minutes=total, axis=axis, state=state, signal=signal)
        )
    whole = cut_segments(run)
    assert [one for segment in whole for one in segment.messages] == run
    before = cut_segments(run[: data.draw(st.integers(1, len(run)))])
    assert before[:-1] == whole[: len(before) - 1]
    assert (
        whole[len(before) - 1].messages[: len(before[-1].messages)]
        == before[-1].messages
    )


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([("user", "All tests pass now.")], Outcome.SUCCESS),
        ([("tool", "build failed with exit code 1")], Outcome.FAILURE),
        ([("user", "The build did not pass")], Outcome.FAILURE),
        ([("user", "That worked, thanks")], Outcome.SUCCESS),
        ([("user", "no, it was the release")], Outcome.FAILURE),
        ([("user", "Ya funciona, gracias")], Outcome.SUCCESS),
        ([("user", "Las pruebas fallan todavía")], Outcome.FAILURE),
        ([("user", "No, era el despliegue")], Outcome.FAILURE),
        ([("user", "eso era, queda resuelto")], Outcome.SUCCESS),
        (
            [("user", "The build passed but the login is still broken")],
            Outcome.PARTIAL,
        ),
        (
            [("user", "tests fail"), ("user", "now the tests pass")],
            Outcome.SUCCESS,
        ),
        ([("user", "What is the weather like in Lisbon?")], Outcome.UNKNOWN),
        ([("assistant", "All tests pass now.")], Outcome.SUCCESS),
        (
            [("assistant", "Three places that work for children: …")],
            Outcome.UNKNOWN,
        ),
        ([("assistant", "Exactly! That's right.")], Outcome.UNKNOWN),
        ([("assistant", "Calle Murta 17. ¿Correcto?")], Outcome.UNKNOWN),
    ],
)
def test_words_imply_an_outcome(
    said: list[tuple[str, str]], outcome: Outcome
) -> None:
    assert read_cues(said).outcome is outcome


def test_a_stated_outcome_wins_over_a_cue() -> None:
    assert (
        judge_outcome(["partial"], [("user", "tests pass")]).outcome
        is Outcome.PARTIAL
    )


def test_only_a_user_corrects() -> None:
    assert is_correction("user", "Actually, it was the cache.")
    assert not is_correction("assistant", "Actually, it was the cache.")


def test_an_episode_has_its_decisions_assumptions_and_corrections() -> None:
    (segment,) = cut_segments(
        [
            heard(
                0,
                "checkout-service times out",
                state="debugging",
                user_id="u-1",
            ),
            heard(
                1,
                "I think the pool is full. Let's raise it.",
                role="assistant",
            ),
            heard(2, "No, it was the release."),
        ]
    )
    episode = read_segment(segment, START)
    assert episode.message_ids == ("m0", "m1", "m2")
    assert (episode.state, episode.subject, episode.user_id) == (
        "debugging",
        "checkout-service",
        "u-1",
    )
    assert episode.assumptions == ("I think the pool is full.",)
    assert episode.decisions == ("Let's raise it.",)
    assert episode.corrections == ("No, it was the release.",)
    assert episode.verdict.outcome is Outcome.FAILURE


@given(st.lists(st.text(min_size=1, max_size=300), max_size=30))
def test_a_running_summary_stays_within_its_tokens_and_keeps_decisions(
    texts: list[str],
) -> None:
    summary = RunningSummary().told("user", "We decided to go with Postgres.")
    for text in texts:
        summary = summary.told("assistant", text.replace(".", " "))
        assert estimated_tokens(summary.text) <= MAX_TOKENS
        assert len(summary.lines) <= MAX_TOKENS
    assert "Postgres" in summary.text
