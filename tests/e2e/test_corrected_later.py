"""A correction that opens a conversation is about an earlier one's statement."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from varve import Memory

NOW = datetime(2026, 3, 20, 9, tzinfo=UTC)
USER = "u-1"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def say(memory: Memory, *texts: str, user: str = USER) -> None:
    """Say each text in a conversation of its own, an hour after the one before."""
    for number, text in enumerate(texts):
        at = NOW - timedelta(days=1) + timedelta(hours=number)
        said = {
            "id": "m1",
            "role": "user",
            "name": "Dana",
            "content": text,
            "timestamp": at.isoformat(),
        }
        memory.ingest(
            {
                "conversationId": f"{user}-{number}",
                "userId": user,
                "messages": [said],
            }
        )


def list_values(memory: Memory) -> list[str]:
    attributes = memory.profile(user_id=USER)["attributes"]
    return [one["value"] for one in attributes]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (["My birthday is 3 May.", "I love pasta.", "Sorry, I meant 3 June."], "3 June"),
        (["Mi cumpleaños es el 3 de mayo.", "Perdón, quería decir el 3 de junio."], "3 June"),
        (["My birthday is 3 May.", "My exam is on 4 May.", "Sorry, I meant 3 June."], "3 May"),
        (["My birthday is 3 May.", "Do you know a poem? Sorry, I meant 3 June."], "3 May"),
        (["My birthday is 3 May.", "Sorry, I meant the other one."], "3 May"),
    ],
)  # fmt: skip
def test_the_only_statement_with_such_a_value_is_corrected(
    memory: Memory, told: list[str], kept: str
) -> None:
    say(memory, *told)
    assert list_values(memory) == [kept]


def test_another_users_statement_stays(memory: Memory) -> None:
    say(memory, "My birthday is 3 May.")
    say(memory, "Sorry, I meant 3 June.", user="u-2")
    assert list_values(memory) == ["3 May"]


def test_what_is_read_goes_with_the_statement_that_it_corrects(
    memory: Memory,
) -> None:
    say(memory, "My birthday is 3 May.", "Sorry, I meant 3 June.")
    memory.forget(conversation=f"{USER}-0")
    assert list_values(memory) == []
    found = memory.search(user_id=USER).results
    assert not any("birthday" in one.content for one in found)
