"""What was told last holds, although summaries repeat what was told before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer, prompt
from varve import Memory

pytestmark = pytest.mark.usefixtures("clean_environment")

USER = "u-1"
SUMMED_UP = datetime(2026, 6, 20, 12, tzinfo=UTC)
EXPIRED = datetime(2026, 7, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Telling:
    """A person who tells of two homes, and the questions about them."""

    name: str
    before: str
    after: str
    asked: str
    asked_before: str
    old: str
    new: str
    correction: str
    pet: str
    said: str
    """How the profile's new home is told, in the language of the words."""


ENGLISH = Telling(
    "Dana",
    "I live in Lisbon.",
    "I moved to Porto.",
    "Where does Dana live?",
    "Where did Dana live before?",
    "Lisbon",
    "Porto",
    "Dana lives in Porto",
    "I have two cats.",
    "live in Porto",
)
SPANISH = Telling(
    "Pilar",
    "Vivo en Sevilla.",
    "Me he mudado a Bilbao.",
    "¿Dónde vive Pilar?",
    "¿Dónde vivía Pilar antes?",
    "Sevilla",
    "Bilbao",
    "Pilar vive en Bilbao",
    "Tengo dos gatos.",
    "vive en Bilbao",
)
both = pytest.mark.parametrize("told", [ENGLISH, SPANISH], ids=["en", "es"])


def tell(memory: Memory, name: str, text: str, day: str) -> None:
    message = {
        "id": "m1",
        "role": "user",
        "name": name,
        "content": text,
        "timestamp": f"{day}T09:00:00Z",
    }
    memory.ingest(
        {"conversationId": f"c-{day}", "userId": USER, "messages": [message]}
    )


def moved(folder: Path, told: Telling) -> Memory:
    """Return a summarized memory of a person who has moved."""
    memory = Memory.open(folder, now=SUMMED_UP)
    tell(memory, told.name, told.before, "2026-03-02")
    tell(memory, told.name, told.after, "2026-05-02")
    memory.summarize()
    return memory


def settled(folder: Path, told: Telling) -> Memory:
    """Return a summarized memory of a person who has only told the old home."""
    memory = Memory.open(folder, now=SUMMED_UP)
    tell(memory, told.name, told.before, "2026-03-02")
    memory.summarize()
    return memory


def expire(folder: Path) -> Memory:
    """Return the memory after its words have expired on the free plan."""
    memory = Memory.open(folder, now=EXPIRED)
    memory.configure("plan", "free")
    memory.summarize()
    memory.cleanup()
    assert memory.status()["grains"]["working"]["records"] == 0
    return memory


def change_by_hand(memory: Memory, told: Telling) -> None:
    """Say the new home in the graph and in the profile."""
    home = {
        "source_id": told.name,
        "label": "lives_in",
        "target_id": told.new,
    }
    with memory.graph as graph:
        graph.update_facts([home])
    memory.set_profile("location", told.new, user_id=USER)


def list_lines(memory: Memory, prompt: str) -> list[str]:
    block = str(memory.context(prompt, user_id=USER))
    return [line for line in block.splitlines() if line.startswith("- [")]


def check_answer(memory: Memory, told: Telling) -> list[Any]:
    """Check that the new home comes first and that the old one is marked."""
    results = memory.search(told.asked, user_id=USER).results
    assert told.new in results[0].content
    assert told.old not in results[0].content
    assert results[0].current
    for result in results:
        assert result.current is (told.old not in result.content)
    lines = list_lines(memory, told.asked)
    assert any(told.new in line for line in lines)
    stale = [line for line in lines if told.old in line]
    assert all(
        "(likely no longer)" in one or "(held until" in one for one in stale
    )
    assert len(stale) <= 1
    return list(results)


def check_old_home_first(results: Sequence[Any], told: Telling) -> None:
    """Check that what tells the old home comes first, and is marked."""
    tells_old = [told.old in one.content for one in results]
    assert tells_old[0]
    assert tells_old == sorted(tells_old, reverse=True)
    assert [one.current for one in results] == [not old for old in tells_old]


@both
def test_a_summary_of_a_superseded_statement_is_folded_into_it(
    tmp_path: Path, told: Telling
) -> None:
    results = check_answer(moved(tmp_path, told), told)
    assert [
        one.memory_type for one in results if one.memory_type == "summary"
    ] == []
    [stale] = [one for one in results if told.old in one.content]
    assert any(id_.startswith("summary-") for id_ in stale.also_in)
    assert stale.superseded_by


@both
def test_a_grain_asked_for_marks_its_superseded_summary(
    tmp_path: Path, told: Telling
) -> None:
    memory = moved(tmp_path, told)
    results = memory.search(told.asked, user_id=USER, grain="monthly").results
    assert [(one.until, one.current) for one in results] == [
        ("2026-05-02", True),
        ("2026-03-02", False),
    ]
    for result in results:
        assert (result.confirmed_at or "").startswith(result.until or "none")


@both
def test_a_question_about_the_past_is_answered_by_the_old_home(
    tmp_path: Path, told: Telling
) -> None:
    memory = moved(tmp_path, told)
    results = memory.search(told.asked_before, user_id=USER).results
    check_old_home_first(results, told)
    assert any(id_.startswith("summary-") for id_ in results[0].also_in)


@both
def test_a_question_about_the_past_is_answered_by_summaries_of_expired_words(
    tmp_path: Path, told: Telling
) -> None:
    moved(tmp_path, told)
    memory = expire(tmp_path)
    results = memory.search(told.asked_before, user_id=USER).results
    assert {one.memory_type for one in results} == {"summary"}
    check_old_home_first(results, told)


@both
def test_the_last_summary_holds_once_the_words_have_expired(
    tmp_path: Path, told: Telling
) -> None:
    moved(tmp_path, told)
    results = check_answer(expire(tmp_path), told)
    assert {one.memory_type for one in results} == {"summary"}
    stale = [one for one in results if told.old in one.content]
    assert [one.superseded_by for one in stale] == [results[0].id]


@both
def test_a_correction_reaches_summaries_at_once(
    tmp_path: Path, told: Telling
) -> None:
    memory = settled(tmp_path, told)
    [turn] = memory.search(told.asked, memory_types=["turn"]).results
    memory.correct(turn.id, told.correction)
    results = check_answer(memory, told)
    assert not [one for one in results if told.old in one.content]
    assert not [
        one for one in list_lines(memory, told.asked) if told.old in one
    ]


@both
def test_the_graph_and_the_profile_reach_summaries_at_once(
    tmp_path: Path, told: Telling
) -> None:
    memory = settled(tmp_path, told)
    change_by_hand(memory, told)
    check_answer(memory, told)
    lines = list_lines(memory, told.asked)
    assert [line for line in lines if told.old in line] == []
    assert len([line for line in lines if told.new in line]) == 1


@both
def test_the_graph_and_the_profile_reach_summaries_of_expired_words(
    tmp_path: Path, told: Telling
) -> None:
    settled(tmp_path, told)
    memory = expire(tmp_path)
    change_by_hand(memory, told)
    check_answer(memory, told)


@both
def test_the_profile_alone_reaches_a_sentence_of_expired_words(
    tmp_path: Path, told: Telling
) -> None:
    """The summary's other sentence holds."""
    memory = Memory.open(tmp_path, now=SUMMED_UP)
    tell(memory, told.name, f"{told.before} {told.pet}", "2026-03-02")
    memory.summarize()
    memory = expire(tmp_path)
    memory.set_profile("location", told.new, user_id=USER)
    check_answer(memory, told)
    first, *_ = memory.search(told.asked, user_id=USER).results
    assert told.said in first.content


def test_a_home_whose_words_have_expired_is_found_before_another_house(
    tmp_path: Path,
) -> None:
    """The summary of the last statement has the value that holds, not the nearest words."""
    memory = Memory.open(tmp_path, now=SUMMED_UP)
    tell(memory, "Dana", "We moved to Antwerp on Friday.", "2026-03-02")
    tell(memory, "Dana", "We rented a house in Cambados.", "2026-05-02")
    memory.summarize()
    memory = expire(tmp_path)
    first, *_ = memory.search("Where do I live?", user_id=USER).results
    assert "Antwerp" in first.content


def test_a_statement_told_on_four_days_and_summarized_is_one_result(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=EXPIRED)
    days = ("2026-03-02", "2026-03-12", "2026-05-04", "2026-06-05")
    for day in days:
        tell(memory, "Lucía", "Soy alérgica a los cacahuetes.", day)
    memory.summarize()
    [found] = memory.search("¿A qué es alérgica Lucía?", user_id=USER).results
    assert found.memory_type == "fact"
    assert found.confirmed_at == "2026-06-05T09:00:00Z"
    kinds = {id_.partition("-")[0] for id_ in found.also_in}
    assert kinds == {"fact", "turn", "summary"}
    lines = list_lines(memory, "¿A qué es alérgica Lucía?")
    assert len([line for line in lines if "cacahuetes" in line]) == 1


def reply_in_own_words(request: dict[str, Any]) -> dict[str, Any]:
    """Extract nothing, and tell of the homes as no message does."""
    if "open_questions" not in json.dumps(request):
        return {"facts": [], "triples": []}
    sources = prompt(request)
    told = ["Dana told us that she lives in Lisbon."] * ("Lisbon" in sources)
    told += ["Dana says that she moved to Porto."] * ("Porto" in sources)
    lists: dict[str, list[str]] = {"people": [], "topics": []}
    return {"summary": " ".join(told), "open_questions": [], **lists}


@pytest.mark.parametrize("expires", [False, True])
def test_a_models_summary_stands_as_what_it_says_in_other_words(
    tmp_path: Path, expires: bool
) -> None:
    with ModelServer(reply_in_own_words) as server:
        environment = {"VARVE_LLM": "openai:recorded", **server.environment}
        memory = Memory.open(tmp_path, now=SUMMED_UP, environment=environment)
        long = " ".join(f"Parcel {number} is late." for number in range(80))
        tell(memory, "Dana", f"{ENGLISH.before} {long}", "2026-03-02")
        tell(memory, "Dana", f"{ENGLISH.after} {long}", "2026-05-02")
        memory.summarize()
    if expires:
        memory = expire(tmp_path)
    found = memory.search(
        ENGLISH.asked, user_id=USER, memory_types=["summary"]
    ).results
    assert [(one.content[-6:], one.current) for one in found] == [
        ("Porto.", True),
        ("isbon.", False),
    ]


def test_a_summary_stays_for_what_it_adds(tmp_path: Path) -> None:
    """The words of March have expired; what May's words say has another place."""
    memory = Memory.open(tmp_path, now=SUMMED_UP)
    tell(memory, "Ana", "My oven was repaired by Hugo.", "2026-03-02")
    memory.summarize()
    memory.configure("plan", "free")
    memory.cleanup()
    tell(memory, "Ana", "My oven is a Tessel 40.", "2026-06-19")
    memory.summarize()
    results = memory.search("What about the oven?", user_id=USER).results
    told = {one.memory_type for one in results if "Hugo" in one.content}
    assert told == {"summary"}
    assert [one for one in results if "Tessel" in one.content]


def test_a_folded_statement_names_all_its_messages(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=SUMMED_UP)
    for number in range(1, 5):
        memory.remember(
            "Ana is allergic to peanuts",
            user_id=USER,
            at=datetime(2026, 3, number, 9, tzinfo=UTC),
        )
        message = {
            "id": f"c{number}.m1",
            "role": "user",
            "name": "Ana",
            "content": "I'm allergic to peanuts.",
            "timestamp": f"2026-03-0{number}T10:00:00Z",
        }
        memory.ingest(
            {
                "conversationId": f"c{number}",
                "userId": USER,
                "messages": [message],
            }
        )
    results = memory.search("What is Ana allergic to?", user_id=USER).results
    cited = {id_ for one in results for id_ in one.source_ids}
    assert {f"c{number}.m1" for number in range(1, 5)} <= cited


def rewrite_records(export: Path, old: str, new: str) -> None:
    """Replace words in an export's records, as an older version wrote them."""
    records = export / "records.jsonl"
    records.write_text(records.read_text().replace(old, new))
    written = records.read_bytes()
    manifest = export / "manifest.json"
    listed = json.loads(manifest.read_text())
    listed["files"][records.name] = {
        "bytes": len(written),
        "sha256": hashlib.sha256(written).hexdigest(),
    }
    manifest.write_text(json.dumps(listed))


@pytest.mark.parametrize(
    "kept",
    ["The wedding will be on 12 December 2026.", "We got engaged."],
)
def test_a_key_fact_of_a_coming_day_is_no_later_than_its_summary(
    tmp_path: Path, kept: str
) -> None:
    """Its day is the event's; older summaries repeat the sentence that told it."""
    memory = Memory.open(tmp_path / "then", now=SUMMED_UP)
    old = "The wedding will be on 12 December 2026."
    tell(memory, "Tom", old, "2026-03-02")
    tell(
        memory, "Tom", "We moved the wedding to 6 February 2027.", "2026-05-02"
    )
    memory.summarize()
    memory.export(tmp_path / "export")
    fact = "Key facts:\\n- 2026-12-12: " + old.replace(".", " (2026-12-12).")
    rewrite_records(
        tmp_path / "export",
        f"2026-03-02: Tom: {old}",
        f"2026-03-02: Tom: {kept}\\n{fact}",
    )
    Memory.open(tmp_path / "now", now=SUMMED_UP).import_(tmp_path / "export")
    found = expire(tmp_path / "now").search(
        "When is the wedding?", user_id=USER
    )
    standing = {
        ("February" in one.content, "12 december" in " ".join(one.outdated))
        for one in found.results
    }
    assert standing == {(True, False), (False, True)}
    assert "February" in found.results[0].content
