"""A run of sessions that only read gets each answer once, and may change its own copy."""

from __future__ import annotations

from collections.abc import Sequence

from varve.usecases import kept_reads
from varve.usecases.kept_reads import KeptReads


class CountingReader:
    """Answers with what it was asked, and counts the questions."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def get(self, scope: str, ids: Sequence[str]) -> list[str]:
        self.asked.append((scope, tuple(ids)))
        return [*ids]

    def at(self, scope: str) -> CountingReader:
        self.asked.append(scope)
        return self

    def write(self, scope: str) -> None:
        self.asked.append(scope)


def test_the_same_question_is_asked_once_and_another_again() -> None:
    reader = CountingReader()
    reads = KeptReads()
    for ids in (["a"], ["a"], ["b"]):
        assert reads.keep(reader).get("s", ids) == ids
    assert reader.asked == [("s", ("a",)), ("s", ("b",))]


def test_an_answer_that_its_caller_changed_is_kept_as_it_was() -> None:
    kept = KeptReads().keep(CountingReader())
    kept.get("s", ["a"]).append("b")
    assert kept.get("s", ["a"]) == ["a"]


def test_a_view_is_opened_once_and_keeps_its_answers() -> None:
    reader = CountingReader()
    kept = KeptReads().keep(reader)
    for _ in range(2):
        kept.at("s").get("s", ["a"])
    assert reader.asked == ["s", ("s", ("a",))]


def test_another_reader_and_what_is_no_answer_are_asked_each_time() -> None:
    one, other = CountingReader(), CountingReader()
    reads = KeptReads()
    for reader in (one, other):
        reads.keep(reader).get("s", ["a"])
        reads.keep(reader).write("s")
        reads.keep(reader).write("s")
    assert one.asked == other.asked == [("s", ("a",)), "s", "s"]


def test_only_the_newest_answers_stay() -> None:
    reader = CountingReader()
    kept = KeptReads().keep(reader)
    for number in range(kept_reads.MAX_KEPT + 1):
        kept.get("s", [str(number)])
    kept.get("s", ["0"])
    assert len(reader.asked) == kept_reads.MAX_KEPT + 2
