"""`varve eval retrieval`: a summary answers for the messages whose words it tells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.test_told_last import talk
from varve import Memory
from varve.domain.evaluation import parse_questions

ASKED = {"question": "How hot was the kiln?", "messageIds": ["m3-0"]}
BOWLS = tuple(f"Bowl {at} has the glaze number {at * 7}." for at in range(90))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, now=datetime(2026, 6, 1, tzinfo=UTC)) as opened:
        opened.ingest(
            [
                talk(3, "We fired the kiln at 900 degrees.", "Ana has it."),
                talk(4, *BOWLS),
            ]
        )
        opened.summarize()
        yield opened


def test_16_a_summary_answers_for_a_message_that_it_tells(
    memory: Memory,
) -> None:
    figures = memory.evaluate_retrieval(parse_questions([ASKED]))
    assert figures["summary"].recall[5] == 1
    assert figures["summary"].mrr == 1


def test_16_a_summary_answers_for_no_message_that_it_leaves_out(
    memory: Memory,
) -> None:
    shown = memory.search("bowl glaze", memory_types=["summary"]).results
    told = " ".join(one.content for one in shown)
    left_out = next(at for at, text in enumerate(BOWLS) if text not in told)
    asked = {"question": BOWLS[left_out], "messageIds": [f"m4-{left_out}"]}
    figures = memory.evaluate_retrieval(parse_questions([asked]))
    assert figures["turn"].recall[5] == 1
    assert shown
    assert figures["summary"].recall[20] == 0


def test_16_recall_counts_a_message_once_whatever_tells_it(
    memory: Memory,
) -> None:
    asked = {**ASKED, "messageIds": ["m3-0", "m3-1"]}
    figures = memory.evaluate_retrieval(parse_questions([asked]))
    for name in ("all", "withoutSummaries", "turn", "summary"):
        assert figures[name].recall[20] == 1, name
    one_unknown = {**ASKED, "messageIds": ["m3-0", "m-none"]}
    figures = memory.evaluate_retrieval(parse_questions([one_unknown]))
    assert figures["all"].recall[20] == figures["summary"].recall[20] == 0.5
