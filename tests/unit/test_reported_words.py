"""What stands below "Mom wrote:" is not its sender's, and a long line is read once."""

from __future__ import annotations

import pytest

from varve.domain.rules import reported


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Mom wrote:\nI am allergic to nuts\n\nWhat now?", "Mom wrote:\n\nWhat now?"),
        ("Note: I moved. Mom wrote: I'm ill. I am well.", "Note: I moved. Mom wrote. I am well."),
        ('Mom wrote: "I moved. I work at Acme." I am well.', "Mom wrote. I am well."),
        ("Mom wrote: 'I'm ill. I work at Acme.' I am well.", "Mom wrote. I am well."),
        ("Mamá escribió: «Me mudé. Trabajo en Acme». Estoy bien.", "Mamá escribió. Estoy bien."),
        ('Mom wrote: "I moved. I am well.', "Mom wrote. I am well."),
        ("Shopping:\neggs", "Shopping:\neggs"),
        ("at 10:30 I wrote: call me", "at 10:30 I wrote: call me"),
    ],
)  # fmt: skip
def test_another_persons_words_are_left_out(text: str, own: str) -> None:
    assert reported.leave_out_reported(text) == own


def test_the_words_before_a_colon_are_read_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths: list[int] = []

    def note(before: str) -> bool:
        lengths.append(len(before))
        return False

    monkeypatch.setattr(reported, "says_of_others", note)
    reported.leave_out_reported("a word, b word " * 200 + "c: " * 200)
    assert max(lengths) <= reported._MOST_BEFORE
    assert sum(lengths) < 10 * len(lengths) + reported._MOST_BEFORE
