"""Who speaks in a transcript, and what is none."""

from __future__ import annotations

import pytest

from varve.domain.transcript import introduction, speakers


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("Dana: I moved.", "Dana", "I moved."),
        ("Mary-Jane O'Neil Jr.: hi", "Mary-Jane O'Neil Jr.", "hi"),
        ("李雷: 你好", "李雷", "你好"),
        ("dana: I moved.", "", "dana: I moved."),
        ("I moved: at last", "", "I moved: at last"),
        ("https://example.com", "", "https://example.com"),
        ("12:30 it rang", "", "12:30 it rang"),
        ("Dana:", "", "Dana:"),
    ],
)
def test_a_name_before_a_colon_introduces_what_follows(
    text: str, name: str, rest: str
) -> None:
    assert introduction(text) == (name, rest)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["Dana: hi", "Mel: hello"], {"Dana", "Mel"}),
        (
            [
                "Dana: hi",
                "Mel: hello",
                "Dana: tea?",
                "Kim: yes",
                "Kim: no",
                "Mel: no",
            ],
            {"Dana", "Mel", "Kim"},
        ),
        (["Dana: hi", "Dana: anyone?"], {"Dana"}),
        (["Dana: hi"], set()),
        (
            [
                "Error: it broke",
                "What does that mean?",
                "Error: again",
                "Try this.",
            ],
            set(),
        ),
        (["Milk: two", "Bread: one", "Eggs: twelve"], set()),
        ([], set()),
    ],
)
def test_a_transcript_is_known_by_nearly_all_of_its_texts_and_few_names(
    texts: list[str], names: set[str]
) -> None:
    assert speakers(texts) == names
