"""The messages of the command line: all are listed, in plain words."""

from __future__ import annotations

import re

import pytest

from docs.messages import VALUE, list_messages

MESSAGES = list_messages()
ODD = re.compile(
    r"\b(whoever|somebody|someone|nobody|anew|he|his|him|what is|please|oops)\b",
    re.IGNORECASE,
)
MAX_WORDS = 20
COUNTED = re.compile(
    rf"(?:^|[:,(] |\b(?:of|and|has|hold|holds|from) ){VALUE} (records|messages|facts|turns"
    r"|triples|conversations|summaries|periods|users|agents|days|files|pages|results"
    r"|memories|lessons|episodes|edges|stores|objects)\b"
)
"""A count before a plural that is fixed; `format_count` writes the right form."""


def test_the_list_holds_errors_hints_results_and_remarks() -> None:
    for wanted in (
        "forget: takes exactly one of: user, conversation, ids, query, proposal",
        "This memory is empty: there are no records of this workspace and agent.",
        "varve: interrupted; run it again to go on",
        "ignored … stored earlier with different text",
    ):
        assert wanted in "\n".join(MESSAGES)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_in_plain_words(message: str) -> None:
    assert not ODD.search(message)
    assert not COUNTED.search(message)
    for sentence in re.split(r"[.;:!?](?:\s|$)|\(|\)", message):
        assert len(sentence.split()) <= MAX_WORDS, sentence
