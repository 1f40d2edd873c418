"""A statement takes one place, and an answer has the things that the question needs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.model_replies import Knowledge, extraction
from tests.support.model_server import ModelServer
from varve import Memory

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)


def open_memory(folder: Path, now: datetime = NOW, **environment: str) -> Memory:
    return Memory.open(folder, now=now, environment=environment)


def conversation(
    name: str, *texts: str, day: str = "2026-03-02", user: str = "u-ana"
) -> dict[str, Any]:
    """Build a conversation of Ana's messages, one a minute."""
    messages = []
    for number, text in enumerate(texts, 1):
        messages.append(
            {
                "id": f"{name}.m{number}",
                "role": "user",
                "name": "Ana Ruiz",
                "content": text,
                "timestamp": f"{day}T09:{number:02}:00Z",
            }
        )
    return {"conversationId": name, "userId": user, "messages": messages}


def test_7_the_same_sentence_in_four_conversations_is_one_result(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    for number in range(1, 5):
        said = conversation(
            f"c-{number}", "I'm allergic to peanuts.", day=f"2026-03-0{number}"
        )
        memory.ingest(said)
    memory.ingest(conversation("c-9", "I'm not allergic to walnuts.", day="2026-03-09"))
    found = memory.search("allergic").results
    peanuts = [result for result in found if "peanuts" in result.content]
    assert len(peanuts) == 1
    # Four turns, and the facts that the rules made of them.
    assert len(peanuts[0].also_in) >= 3
    shown = [peanuts[0].id, *peanuts[0].also_in]
    assert len(shown) == len(set(shown))
    assert [result for result in found if "walnuts" in result.content]


def test_15_a_models_facts_do_not_push_other_words_out(tmp_path: Path) -> None:
    """Five facts of one message take one place, and the second message is found."""
    script = {
        f"part {number}": Knowledge(
            f"Ana Ruiz likes the bakery in Utrecht, part {number}.",
            "Ana Ruiz",
            "2026-03-02",
        )
        for number in range(5)
    }
    words = "I like the bakery in Utrecht: " + ", ".join(script)
    other = "My sister likes the bakery in Utrecht as well."
    with ModelServer(extraction(script)) as server:
        memory = open_memory(
            tmp_path, VARVE_LLM="openai:recorded", **server.environment
        )
        memory.ingest(conversation("c-1", words, other))
    found = memory.search("Who likes the bakery in Utrecht?", max_results=2).results
    assert {source for result in found for source in result.source_ids} == {
        "c-1.m1",
        "c-1.m2",
    }
    [folded] = [result for result in found if result.source_ids == ["c-1.m1"]]
    assert len(folded.also_in) == 5
