"""An agent searches in phrases, and gets what was told last (2, 7).

"user's current rent" asks for what its user calls "my rent".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.updates import NOW, fill_store
from benchmarks.updates_cases import FITTED, Case, Line

BEFORE = "I pay 910 for the flat, can you split that by three?"
AFTER = "The landlord put the flat up to 985 from this month. how do I budget?"


@pytest.mark.parametrize(
    "phrase",
    ["user's current rent", "rent of the user", "user rent", "my rent"],
)
def test_2_a_phrase_finds_what_was_told_last(
    tmp_path: Path, phrase: str
) -> None:
    lines = [
        Line("-", BEFORE, "910", continues=False),
        Line("+", AFTER, "985", continues=False),
    ]
    case = Case(1, "price", "en", "", lines, phrase)
    memory, conversations = fill_store([case], tmp_path, FITTED)
    user = conversations[0].get("userId")
    found = memory.search(phrase, user_id=user, now=NOW).results
    standing = {one.content.split(": ")[-1]: one.current for one in found}
    assert AFTER in found[0].content
    assert standing[BEFORE] is False
