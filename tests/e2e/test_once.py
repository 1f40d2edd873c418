"""A statement takes one place, and an answer has the things that the question needs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_replies import Knowledge, extraction
from tests.support.model_server import ModelServer
from tests.support.statements import tell
from varve import Memory
from varve.cli import main

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)


def open_memory(
    folder: Path, now: datetime = NOW, **environment: str
) -> Memory:
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
    memory.ingest(
        conversation("c-9", "I'm not allergic to walnuts.", day="2026-03-09")
    )
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
    found = memory.search(
        "Who likes the bakery in Utrecht?", max_results=2
    ).results
    assert {source for result in found for source in result.source_ids} == {
        "c-1.m1",
        "c-1.m2",
    }
    [folded] = [result for result in found if result.source_ids == ["c-1.m1"]]
    assert len(folded.also_in) == 5


def test_7_a_context_tells_each_statement_in_one_line(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    for number in range(1, 5):
        memory.ingest(
            conversation(
                f"c-{number}",
                "I live in Utrecht.",
                "I'm allergic to peanuts.",
                day=f"2026-03-0{number}",
            )
        )
    memory.summarize()
    block = memory.context("Where does Ana Ruiz live?", max_tokens=1_000)
    lines = [
        line for line in str(block).splitlines() if line.startswith("- [")
    ]
    assert len([line for line in lines if "Utrecht" in line]) == 1
    folded = [id_ for ids in block.also_in.values() for id_ in ids]
    assert len(folded) >= 4
    records = [id_ for id_ in folded if not id_.startswith("summary-")]
    assert set(records).isdisjoint(block.ids)


def test_7_a_summary_keeps_only_what_no_other_line_says(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(
        conversation(
            "c-1",
            "Our oven was repaired by Hugo for 120 euros.",
            "The dog is fine.",
        )
    )
    memory.summarize()
    block = memory.context("Who repaired the oven?", max_tokens=1_000)
    assert str(block).count("repaired") == 1


def test_10_a_users_context_always_has_the_profile(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.set_profile("role", "engineer", user_id="u-ana")
    memory.set_profile("preferences", "short answers", user_id="u-ana")
    memory.set_profile("allergies", "peanuts", user_id="u-ana")
    for prompt in ("I'm hungry, what can I eat?", "???"):
        block = memory.context(prompt, user_id="u-ana")
        assert not block.empty
        assert "allergies: peanuts" in str(block)
        assert block.ids[0] in str(block)
        first = [
            line for line in str(block).splitlines() if line.startswith("- [")
        ]
        assert "allergies" in first[0]
        assert "preferences" in first[1]
    assert memory.context("???").empty
    assert memory.context("What can I eat?", user_id="u-bo").empty


def test_10_the_profile_keeps_to_its_part_of_the_budget(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.set_profile("allergies", "peanuts", user_id="u-ana")
    for number in range(40):
        memory.set_profile(
            "preferences", f"preference {number}", user_id="u-ana"
        )
    block = memory.context("What can I eat?", user_id="u-ana", max_tokens=400)
    assert "allergies: peanuts" in str(block)
    assert block.tokens <= 400
    # The frame takes 45 tokens, and the lines half of the others.
    assert len(block.head) // 4 <= 225


def test_10_the_allergy_comes_first_in_any_budget_that_holds_its_line(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    said = (
        "I am allergic to peanuts.",
        "I live in Utrecht.",
        "I prefer window seats.",
        "I work at Globex.",
    )
    memory.ingest(conversation("c-1", *said))
    line = memory.context("I'm hungry", user_id="u-ana", max_tokens=120)
    for tokens in range(line.tokens, 200, 10):
        block = memory.context(
            "Where do I live and work?", user_id="u-ana", max_tokens=tokens
        )
        assert "allergies: peanuts" in str(block), tokens
        assert block.tokens <= tokens
    memory.configure("models.windowTokens", "2000")
    narrow = memory.context(
        "Where do I work?", user_id="u-ana", window_fraction=0.05
    )
    assert "allergies: peanuts" in str(narrow)


def test_5_the_context_and_the_status_tell_the_last_confirmation(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, datetime(2026, 9, 20, tzinfo=UTC))
    said = ("I work at Globex.", "I have a dog called Rex.")
    memory.ingest(conversation("c-1", *said, day="2026-01-10"))
    again = "I work at Globex."
    memory.ingest(conversation("c-2", again, day="2026-06-10"))
    block = memory.context("Where does Ana work?", user_id="u-ana").text
    assert "employer: Globex (confirmed 2026-06-10)" in block
    (employer,) = [
        result
        for result in memory.search("Globex", user_id="u-ana").results
        if "Globex" in result.content
    ]
    assert employer.confirmed_at == "2026-06-10T09:01:00Z"
    confirmed = memory.status()["graph"]["confirmed"]
    assert confirmed["newest"] == "2026-06-10T09:01:00Z"
    assert confirmed["oldest"] == "2026-01-10T09:02:00Z"
    assert "Rex" in confirmed["statement"]


def test_10_a_fraction_of_the_window_bounds_the_block(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    texts = [
        f"I bought {number} books about the city of Utrecht."
        for number in range(9)
    ]
    memory.ingest(conversation("c-1", *texts))
    memory.configure("models.windowTokens", "2000")
    wide = memory.context("books about Utrecht", window_fraction=0.5)
    narrow = memory.context("books about Utrecht", window_fraction=0.1)
    assert narrow.tokens <= 200 < wide.tokens <= 1_000
    both = memory.context(
        "books about Utrecht", window_fraction=0.5, max_tokens=150
    )
    assert both.tokens <= 150


def test_13_a_question_about_nothing_in_memory_has_no_results(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(
        conversation("c-1", "I live in Utrecht.", "My dog is called Rex.")
    )
    for text in ("zzzqqq", "what is zzzqqq?", "quantum chromodynamics"):
        answer = memory.search(text)
        assert answer.results == []
        assert answer.hint
    # Kinds and similar words are a meaning: nothing here says "pet".
    assert memory.search("which pets are there?").results


def test_13_hints_are_true_of_a_forgotten_memory_and_name_no_argument(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(conversation("c-1", "I live in Utrecht."))
    unmatched = str(memory.search("zzzqqq").hint)
    assert "queryText" not in unmatched
    assert "window" not in unmatched
    memory.forget(conversation="c-1")
    empty = str(memory.search("zzzqqq").hint)
    assert "no records" in empty
    assert "ingested" not in empty


def test_13_finer_grains_in_place_of_the_one_asked_for_are_told(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(conversation("c-1", "I live in Utrecht."))
    memory.summarize()
    answer = memory.search("Utrecht", grain="yearly", memory_types=["summary"])
    assert answer.results
    assert {result.grain for result in answer.results} <= {"daily", "weekly"}
    assert answer.searched.fallback
    assert "no yearly summaries" in str(answer.hint)


@pytest.mark.parametrize("text", [None, "trip"])
def test_13_finer_grains_answer_only_for_the_months_that_are_not_built(
    tmp_path: Path, text: str | None
) -> None:
    memory = open_memory(tmp_path, now=datetime(2026, 9, 20, tzinfo=UTC))
    for month, day in product((6, 7, 8, 9), (8, 10)):
        said = conversation(
            f"c-{month}-{day}",
            f"Trip {month} to place {day}.",
            day=f"2026-{month:02}-{day:02}",
        )
        memory.ingest(said)
    memory.summarize()
    answer = memory.search(
        text, grain="monthly", memory_types=["summary"], max_results=50
    )
    found = [(one.grain, one.period) for one in answer.results]
    assert sorted(period for _, period in found)[:3] == [
        "2026-06",
        "2026-07",
        "2026-08",
    ]
    finer = {period for grain, period in found if grain != "monthly"}
    assert finer
    assert finer <= {"2026-09-08", "2026-09-10", "2026-W37"}


def test_13_a_browse_of_a_grain_tells_each_time_in_one_grain(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, now=datetime(2026, 9, 20, tzinfo=UTC))
    days = ["2025-05-04", "2025-11-04", "2026-02-03", "2026-05-05"]
    days += ["2026-07-07", "2026-08-11", "2026-09-08", "2026-09-15"]
    for day in days:
        memory.ingest(conversation(f"c-{day}", f"Trip {day}.", day=day))
    memory.summarize()
    found = memory.search(grain="yearly", max_results=50).results
    assert [one.period for one in found] == [
        "2026-09-15",
        "2026-W37",
        "2026-08",
        "2026-07",
        "2026-Q2",
        "2026-Q1",
        "2025",
    ]


def test_13_without_a_query_the_newest_come_first_at_every_grain(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, now=datetime(2026, 9, 20, tzinfo=UTC))
    for month in (5, 6, 7):
        day = f"2026-0{month}-04"
        memory.ingest(conversation(f"c-{month}", f"Trip {month}.", day=day))
    memory.summarize()
    memory.ingest(conversation("c-9", "Trip 9.", day="2026-08-19"))
    answer = memory.search(grain="monthly", max_results=50)
    times = [result.event_time for result in answer.results]
    assert times == sorted(times, reverse=True)


def test_13_a_query_of_nothing_but_a_time_opens_its_window(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(conversation("c-1", "I live in Utrecht.", day="2026-02-02"))
    memory.ingest(
        conversation("c-2", "I went to the dentist.", day="2026-03-04")
    )
    for text in ("in March", "March 2026", "en marzo"):
        answer = memory.search(text)
        assert answer.searched.since == "2026-03-01T00:00:00Z", text
        assert {result.date for result in answer.results} == {"2026-03-04"}


def say_spring(memory: Memory) -> None:
    roof = ("I repaired the roof with Piet.", "I started a pottery class.")
    memory.ingest(conversation("c-march", *roof, day="2026-03-10"))
    tulips = "The garden is full of tulips."
    memory.ingest(conversation("c-april", tulips, day="2026-04-10"))


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Return a memory of two statements of March and one of April; no test changes it."""
    memory = open_memory(
        tmp_path_factory.mktemp("spring"),
        datetime(2026, 5, 20, 12, tzinfo=UTC),
    )
    say_spring(memory)
    return memory


@pytest.fixture(scope="module")
def busy_spring(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Return a summarized memory of two weeks of March and one of April; no test changes it."""
    memory = open_memory(
        tmp_path_factory.mktemp("busy"), datetime(2026, 5, 20, 12, tzinfo=UTC)
    )
    say_spring(memory)
    memory.ingest(conversation("c-2", "I sold my kayak.", day="2026-03-25"))
    memory.summarize()
    return memory


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What happened in March?", ["pottery", "roof"]),
        ("¿Qué pasó en marzo?", ["pottery", "roof"]),
        ("What did I do last month?", ["tulips"]),
        ("What have we talked about in April?", ["tulips"]),
        ("news since April", ["tulips"]),
    ],
)
def test_13_a_question_of_time_alone_brings_what_its_window_holds(
    spring: Memory, question: str, told: list[str]
) -> None:
    results = spring.search(question, user_id="u-ana").results
    assert len(results) == len(told)
    for result, word in zip(results, told, strict=True):
        assert word in result.content
    block = spring.context(question, user_id="u-ana").text
    for word in ("pottery", "roof", "tulips"):
        assert (word in block) is (word in told)


@pytest.mark.parametrize(
    "question",
    [
        "What happened in March?",
        "¿Qué pasó en marzo?",
        "What have we talked about two months ago?",
        "What happened on 10 March?",
        "March 2026",
        "What happened 10 weeks ago?",
    ],
)
def test_7_a_question_of_time_alone_has_each_statement_in_one_place(
    busy_spring: Memory, question: str
) -> None:
    """A month that has other weeks too adds nothing to an answer about one week."""
    found = busy_spring.search(question, user_id="u-ana").results
    assert {result.memory_type for result in found} == {"turn"}
    for words in ("pottery", "roof", "kayak"):
        assert sum(words in result.content for result in found) <= 1
    folded = [id_ for result in found for id_ in result.also_in]
    assert any(id_.startswith("summary-") for id_ in folded)
    assert len(folded) == len(set(folded))


def test_7_a_busy_time_keeps_the_summaries_that_give_an_overview(
    busy_spring: Memory,
) -> None:
    found = busy_spring.search(
        "What happened in March?", user_id="u-ana", max_results=2
    ).results
    assert "summary" in {result.memory_type for result in found}


def test_7_a_question_of_time_for_one_grain_has_its_summaries(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, datetime(2026, 5, 20, 12, tzinfo=UTC))
    say_spring(memory)
    memory.summarize()
    question = "What happened in March?"
    for limits in ({"grain": "monthly"}, {"memory_types": ["summary"]}):
        found = memory.search(question, user_id="u-ana", **limits).results
        assert {result.memory_type for result in found} == {"summary"}


def test_7_a_question_of_time_alone_keeps_a_summary_of_expired_words(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, datetime(2026, 5, 20, 12, tzinfo=UTC))
    say_spring(memory)
    memory.summarize()
    memory.configure("plan", "free")
    memory.cleanup()
    found = memory.search("What happened in March?", user_id="u-ana").results
    assert [result.memory_type for result in found] == ["summary"]
    assert "pottery" in found[0].content


def test_13_a_telling_word_without_a_match_in_its_window_keeps_the_hint(
    spring: Memory,
) -> None:
    answer = spring.search("What happened to the zzzqqq last month?")
    assert answer.results == []
    assert answer.hint


def browse_standings(memory: Memory) -> dict[str, bool]:
    browsed = memory.search(max_results=20).results
    return {result.content: result.current for result in browsed}


@pytest.mark.parametrize("by", ["message", "graph", "correct"])
def test_3_a_statement_stands_the_same_however_it_is_reached(
    tmp_path: Path, by: str
) -> None:
    """Browsing, showing and a question about something else agree."""
    memory = open_memory(tmp_path, datetime(2026, 6, 20, 12, tzinfo=UTC))
    said = ("I live in Lisbon.", "I repaired the oven on Saturday.")
    memory.ingest(conversation("c-1", *said))
    found = memory.search("Lisbon").results[0]
    assert "Lisbon" in found.content
    if by == "message":
        later = conversation("c-2", "I moved to Porto.", day="2026-05-02")
        memory.ingest(later)
    elif by == "graph":
        moved = {
            "source_id": "Ana Ruiz",
            "label": "lives_in",
            "target_id": "Porto",
        }
        with memory.graph as graph:
            graph.update_facts([moved])
    else:
        memory.correct(found.id, "Ana Ruiz lives in Porto")
    browsed = memory.search(max_results=20).results
    stale = [result for result in browsed if "Lisbon" in result.content]
    assert [result.current for result in stale] == [False]
    assert stale[0].superseded_by
    for id_ in (stale[0].id, *stale[0].also_in):
        assert memory.show(id_)["current"] is False
    other = memory.search("Who repaired the oven?", include_superseded=True)
    for result in other.results:
        assert result.current is ("Lisbon" not in result.content)


def test_7_a_browse_gives_each_statement_one_place_newest_first(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    for day in ("2026-03-02", "2026-03-04", "2026-03-06"):
        said = "I'm allergic to peanuts."
        memory.ingest(conversation(f"c-{day}", said, day=day))
    memory.ingest(conversation("c-dog", "I have a dog.", day="2026-03-03"))
    results = memory.search(max_results=2).results
    assert [result.date for result in results] == ["2026-03-06", "2026-03-03"]
    assert len(results[0].also_in) >= 3
    assert results[0].confirmed_at == "2026-03-06T09:01:00Z"


def test_13_a_triple_of_the_same_instant_or_the_future_can_be_deleted(
    tmp_path: Path,
) -> None:
    graph = open_memory(tmp_path).graph
    fact = {"source_id": "Ana", "label": "likes", "target_id": "tea"}
    planned = {"source_id": "Ana", "label": "lives_in", "target_id": "Porto"}
    with graph:
        graph.insert_facts(
            [fact, {**planned, "valid_at": "2026-05-01T00:00:00Z"}]
        )
    with graph:
        graph.delete_facts([fact, planned])
    later = datetime(2026, 6, 1, tzinfo=UTC)
    assert graph.entity("Ana")["facts"] == []
    assert graph.entity("Ana", as_of=later)["facts"] == []


def test_13_an_earlier_end_leaves_a_later_beginning_alone(
    tmp_path: Path,
) -> None:
    graph = open_memory(tmp_path).graph
    fact = {"source_id": "Ana", "label": "likes", "target_id": "tea"}
    for month in ("01", "03"):
        with graph:
            graph.insert_facts(
                [{**fact, "valid_at": f"2026-{month}-01T00:00:00Z"}]
            )
    with graph:
        graph.delete_facts([{**fact, "valid_at": "2026-02-01T00:00:00Z"}])
    [held] = graph.entity("Ana")["facts"]
    assert held["validAt"] == "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    "missing",
    [
        {"source_id": "Ana", "label": "likes", "target_id": "opera"},
        {"source_id": "Zoe", "label": "likes", "target_id": "tea"},
        {"source_id": "Zoe", "label": "likes"},
        {"source_id": "Ana", "label": "lives_in"},
        {"source_id": "Ana", "label": "likes", "target_id": "chess"},
    ],
)
def test_13_a_deletion_of_what_is_not_there_writes_nothing(
    missing: dict[str, Any], tmp_path: Path
) -> None:
    graph = open_memory(tmp_path).graph
    fact = {"source_id": "Ana", "label": "likes", "target_id": "tea"}
    past = {**fact, "target_id": "chess"}
    graph.insert_facts(
        [fact, {**past, "valid_at": "2026-01-01T00:00:00Z"}],
    )
    graph.delete_facts([{**past, "valid_at": "2026-02-01T00:00:00Z"}])
    assert graph.save() == 3
    rows = graph.query_graph("select * from facts order by id")
    graph.delete_facts([missing])
    assert graph.save() == 0
    assert graph.query_graph("select * from facts order by id") == rows


def test_13_only_the_deletions_that_end_something_are_counted(
    tmp_path: Path,
) -> None:
    graph = open_memory(tmp_path).graph
    fact = {"source_id": "Ana", "label": "likes", "target_id": "tea"}
    graph.insert_facts([fact])
    graph.delete_facts([fact, {**fact, "target_id": "opera"}])
    assert graph.save() == 2
    assert graph.query_graph("select target_id from facts") == [
        {"target_id": "tea"}
    ]


def test_13_everybody_calls_me_bob_is_an_alias(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    said = conversation("c-1", "Robert, everybody calls me Bob.")
    said["messages"][0]["name"] = "Robert"
    memory.ingest(said)
    assert memory.graph.entity("Bob")["id"] == "robert"


def remember_ana_and_bo(memory: Memory) -> None:
    memory.ingest(
        conversation(
            "c-ana",
            "I live in Utrecht.",
            "My dog is called Rex.",
            "I love hiking in the hills.",
            "I'm allergic to peanuts.",
        )
    )
    other = conversation(
        "c-bo", "I live in Oslo.", "I have no dog.", user="u-bo"
    )
    for message in other["messages"]:
        message["name"] = "Bo Lind"
    memory.ingest(other)


def test_12_a_query_proposes_only_the_statements_it_names(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    remember_ana_and_bo(memory)
    dog = memory.forget(query="Ana's dog", dry_run=True)["statements"]
    assert [one["number"] for one in dog] == list(range(1, len(dog) + 1))
    assert len(dog) == 1
    assert "Rex" in dog[0]["content"]
    home = memory.forget(query="that Ana lives in Utrecht", dry_run=True)[
        "statements"
    ]
    assert len(home) == 1
    assert "Utrecht" in home[0]["content"]
    # The fact, the turn, the triple and the profile entry are one statement.
    assert len(home[0]["alsoIn"]) >= 2
    assert all(one["likeness"] >= 0.7 for one in [*dog, *home])
    assert not memory.forget(query="Ana's submarine", dry_run=True)["found"]


def test_12_only_takes_the_numbers_chosen(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(
        conversation(
            "c-1", "My phone is 555-0100.", "My old phone is 555-0199."
        )
    )
    shown = memory.forget(query="Ana's phone", dry_run=True)["statements"]
    assert len(shown) == 2
    [old] = [one["number"] for one in shown if "0199" in one["content"]]
    memory.forget(query="Ana's phone", only=[old])
    left = memory.forget(query="Ana's phone", dry_run=True)["statements"]
    assert ["0100" in one["content"] for one in left] == [True]


def test_12_a_query_finds_what_working_memory_no_longer_holds(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    remember_ana_and_bo(memory)
    memory.configure("retention.working", "48 hours")
    later = open_memory(tmp_path, now=datetime(2026, 5, 20, tzinfo=UTC))
    later.summarize()
    later.cleanup()
    assert later.status()["grains"]["working"]["records"] == 0
    shown = later.forget(query="Ana's dog", dry_run=True)["statements"]
    assert len(shown) == 1
    receipt = later.forget(query="Ana's dog", verify=True)
    assert receipt["complete"]
    assert not later.forget(query="Ana's dog", dry_run=True)["statements"]
    assert later.forget(query="Ana allergic peanuts", dry_run=True)[
        "statements"
    ]


def test_16_own_questions_measure_the_search_by_memory_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "memory"
    memory = open_memory(store)
    remember_ana_and_bo(memory)
    memory.summarize()
    questions = tmp_path / "questions.json"
    asked = [
        {"question": "Where does Ana live?", "messageIds": ["c-ana.m1"]},
        {"question": "What is Ana's dog called?", "words": ["Rex"]},
        {"question": "Who repaired the oven?", "words": ["Hugo"]},
    ]
    questions.write_text(json.dumps(asked), "utf-8")
    command = ["eval", "retrieval", "--questions", str(questions)]
    common = ["--store", str(store), "--now", "2026-03-20T12:00:00Z", "--json"]
    assert main([*command, *common]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["questions"] == 3
    assert figures["withoutSummaries"]["recall@10"] == pytest.approx(
        2 / 3, abs=1e-3
    )
    assert 0 < figures["all"]["mrr"] <= 2 / 3 + 1e-3
    assert figures["turn"]["tokens@10"] > 0
    questions.write_text(json.dumps([{"question": "Where?"}]), "utf-8")
    assert main([*command, *common]) == 2
    assert "questions[0]" in capsys.readouterr().err


def test_16_message_ids_that_memory_does_not_hold_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "memory"
    memory = open_memory(store)
    remember_ana_and_bo(memory)
    questions = tmp_path / "questions.json"
    known = memory.search("Where does Ana live?").results[0].source_ids[0]
    asked = [
        {"question": "Where does Ana live?", "messageIds": [known]},
        {"question": "Who is Bo?", "messageIds": ["m-77", "m-12", "m-77"]},
    ]
    questions.write_text(json.dumps(asked), "utf-8")
    command = ["eval", "retrieval", "--questions", str(questions)]
    assert main([*command, "--store", str(store)]) == 0
    said = capsys.readouterr()
    assert "messageIds of no record here" in said.err
    assert said.err.rstrip().endswith("m-12, m-77")
    assert main([*command, "--store", str(store), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["unknownMessageIds"] == ["m-12", "m-77"]
    asked.pop()
    questions.write_text(json.dumps(asked), "utf-8")
    assert main([*command, "--store", str(store), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["unknownMessageIds"] == []
    assert "no record" not in said.err


def remember_two_anas(memory: Memory) -> None:
    remember_ana_and_bo(memory)
    other = conversation("c-ana-2", "I live in Seville.", user="u-ana-2")
    other["messages"][0]["name"] = "Ana Gómez"
    memory.ingest(other)


def test_11_a_first_name_means_its_only_bearer(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    remember_ana_and_bo(memory)
    found = memory.search("Where does she live?", about="Ana").results
    assert found
    assert all("Ana Ruiz" in result.content for result in found)
    assert "Utrecht" in found[0].content


def test_11_an_ambiguous_first_name_lists_its_bearers(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    remember_two_anas(memory)
    answer = memory.search("Where does she live?", about="Ana")
    assert answer.results == []
    assert "Ana Gómez, Ana Ruiz" in str(answer.hint)
    found = memory.search("Where does she live?", about="Ana Gómez").results
    assert "Seville" in found[0].content
    assert not [result for result in found if "Ruiz" in result.content]


def test_11_a_question_with_an_ambiguous_first_name_tells_its_bearers(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    for number, name in enumerate(("Ana Ruiz", "Ana Torres"), 1):
        said = conversation(f"c-{number}", f"My friend {name} is a nurse.")
        said["messages"][0]["name"] = "Bo"
        memory.ingest(said)
        facts = {
            "source_id": name,
            "label": "works_as",
            "target_id": "nurse",
        }
        with memory.graph as graph:
            graph.update_facts([facts])
    answer = memory.search("What do we know about Ana?")
    assert answer.results
    assert "Ana Ruiz, Ana Torres" in str(answer.hint)
    clear = memory.search("What do we know about Ana Torres?")
    assert clear.hint is None


def test_11_people_and_topics_filter_before_ranking(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    remember_two_anas(memory)
    dogs = memory.search(
        "where do they live?", topics=["dogs", "allergies"]
    ).results
    assert dogs
    assert all("dog" in r.content or "allerg" in r.content for r in dogs)
    people = memory.search("where do they live?", people=["Bo Lind"]).results
    assert people
    assert all("Bo" in result.content for result in people)
    browsed = memory.search(about="Bo Lind").results
    assert {result.user_id for result in browsed} == {"u-bo"}


def test_11_graph_show_suggests_the_whole_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remember_two_anas(open_memory(tmp_path))
    assert main(["graph", "show", "Ana", "--store", str(tmp_path)]) == 0
    assert "did you mean Ana Gómez, Ana Ruiz?" in capsys.readouterr().err


def test_11_topics_are_telling_things_before_and_after_summaries(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    said = (
        "I live in Utrecht and love my garden.",
        "My sister told me that she lives near the gardens.",
        "I talked to her this morning about the kiln.",
    )
    memory.ingest(conversation("c-1", *said))
    for _ in range(2):
        told = memory.status(topics=True)["topics"]
        topics = [one["topic"] for one in told]
        assert {"kiln", "utrecht"} <= set(topics)
        assert ("garden" in topics) != ("gardens" in topics)
        for everyday in ("live", "lives", "told", "love", "talked", "morning"):
            assert everyday not in topics
        memory.summarize()


def test_8_what_recurs_is_no_speaker_and_no_everyday_word(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, datetime(2026, 9, 20, tzinfo=UTC))
    for day in range(2, 30):
        said = [
            f"I talked to Marta this morning about kiln number {day}{place}, "
            f"which cracked along side {place} while firing {day + place} pots."
            for place in range(4)
        ]
        memory.ingest(conversation(f"c-{day}", *said, day=f"2026-03-{day:02}"))
    memory.summarize()
    (month,) = memory.search(grain="monthly", since="2026-03-01").results
    _, _, recurring = month.content.partition("Recurring: ")
    named = recurring.partition("\n")[0]
    assert "kiln" in named
    for everyday in ("Ana Ruiz", "morning", "talked"):
        assert everyday not in named


def test_4_a_summary_rebuilt_for_a_correction_is_dated_by_it_too(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(conversation("c-1", "I live in Lisbon."))
    memory.summarize()
    lisbon = memory.search("Lisbon", memory_types=["turn"]).results[0].id
    memory.correct(lisbon, "Ana Ruiz lives in Porto")
    memory.summarize()
    (week,) = memory.search(grain="weekly").results
    assert "Porto" in week.content
    assert (week.date, week.until) == ("2026-03-02", "2026-03-20")


def test_9_greetings_and_acknowledgements_stay_on_the_timeline_alone(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    said = ("Hi!", "👍", "Hi Sam, thanks, that works!", "Gracias María!")
    memory.ingest(conversation("c-1", *said, "My cat is called Miso."))
    records = memory.list(user_id="u-ana", limit=50).records
    assert records
    assert all("Miso" in record.content for record in records)
    exported = tmp_path / "export"
    memory.export(exported)
    timeline = "".join(
        path.read_text("utf-8")
        for path in exported.rglob("*.json*")
        if "timeline" in str(path)
    )
    assert all(text in timeline for text in said)


def test_9_a_text_of_over_2000_characters_has_one_summary_beside_its_parts(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    said = "The {} bearing of the turbine was worn, so that we replaced it. "
    memory.ingest(
        conversation("c-1", "".join(said.format(n) for n in range(80)))
    )
    records = memory.list(user_id="u-ana", limit=50).records
    short = [one for one in records if "[…]" in one.content]
    assert len(short) == 1
    assert len(records) >= 4
    assert len(short[0].content) < 1_000


def test_4_a_correction_and_a_remembered_statement_reach_every_answer(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest(conversation("c-1", "I live in Lisbon."))
    lisbon = memory.search("Lisbon").results[0].id
    for _ in range(2):
        memory.correct(lisbon, "Ana Ruiz lives in Porto")
        memory.remember("Ana's flight is LH1173", user_id="u-ana")
    question = "Where does Ana Ruiz live?"
    results = memory.search(question, user_id="u-ana").results
    assert "Porto" in results[0].content
    assert not [one for one in results if "Lisbon" in one.content]
    block = memory.context(question, user_id="u-ana").text
    assert "Porto" in block
    assert "Lisbon" not in block
    former = memory.search("Where did Ana Ruiz live before?").results
    assert "Lisbon" in former[0].content
    flights = memory.search("LH1173", user_id="u-ana").results
    assert len([one for one in flights if "LH1173" in one.content]) == 1


def test_8_a_key_fact_that_no_longer_holds_tells_its_end(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path, datetime(2027, 2, 20, tzinfo=UTC))
    memory.ingest(conversation("c-0", "I live in Ghent.", day="2026-01-02"))
    fired = (
        ("sold", "pots"),
        ("replaced", "cups"),
        ("fixed", "jugs"),
        ("moved", "bowls"),
    )
    for number in range(3, 29):
        said = [
            f"We {done} the kiln {chr(90 + number)}{number}, it fired "
            f"{number + place} {made} for the market of Leuven."
            for place, (done, made) in enumerate(fired)
        ]
        day = f"2026-02-{number:02}"
        memory.ingest(conversation(f"c-{number}", *said, day=day))
    moved = conversation("c-99", "I moved to Bruges.", day="2026-09-01")
    memory.ingest(moved)
    memory.summarize()
    (year,) = memory.search(grain="yearly").results
    _, _, facts = year.content.partition("Key facts:")
    ghent = [line for line in facts.splitlines() if "Ghent" in line]
    assert len(ghent) == 1
    assert ghent[0].endswith("(held until 2026-09-01)")
    (first, *_) = memory.search(grain="quarterly", until="2026-03-31").results
    assert "held until" not in first.content, "it held in that quarter"


EVERYDAY = {
    "2026-03-03": ("My birthday is on May 4.", "birthday"),
    "2026-03-04": ("My cousin Leo Ortiz lives in Cádiz.", "cousin"),
    "2026-03-05": ("I love jazz, but only live.", "jazz"),
    "2026-03-06": ("Me he mudado a Bilbao.", "Bilbao"),
    "2026-03-07": ("I don't eat meat any more.", "meat"),
}
"""By the day on which it is said: a statement, and a word that only it has."""


@pytest.mark.parametrize("grain", ["daily", "weekly", "monthly"])
def test_8_a_summary_tells_a_statement_in_one_line(
    tmp_path: Path, grain: str
) -> None:
    """Neither the fact drawn from it nor a key fact tells it again."""
    memory = open_memory(tmp_path, datetime(2026, 4, 20, tzinfo=UTC))
    for day, (text, _) in EVERYDAY.items():
        memory.ingest(conversation(f"c-{day}", text, day=day))
    memory.summarize()
    found = memory.search(grain=grain, user_id="u-ana").results
    told = "\n".join(result.content for result in found)
    for text, word in EVERYDAY.values():
        assert told.count(word) == 1, told
        assert text in told


@pytest.mark.parametrize("user", [None, "u-42"])
def test_8_a_summary_tells_a_statement_of_a_speaker_without_a_name_once(
    tmp_path: Path, user: str | None
) -> None:
    """The fact has the user's id or "User" in place of a name."""
    memory = open_memory(tmp_path, datetime(2026, 4, 20, tzinfo=UTC))
    said = {
        "2026-03-03": ("We live in Girona with our two kids.", "Girona"),
        "2026-03-04": ("My sister Ana Roca lives in Vic.", "Roca"),
        "2026-03-05": ("Odio las aceitunas verdes.", "aceitunas"),
        "2026-03-06": ("Mi color favorito es el granate.", "granate"),
        "2026-03-07": ("I'm married to Laia.", "Laia"),
        "2026-03-08": ("We moved to Lugo in 2019.", "Lugo"),
    }
    for day, (text, _) in said.items():
        one = conversation(f"c-{day}", text, day=day)
        for message in one["messages"]:
            del message["name"]
        memory.ingest({**one, "userId": user})
    memory.summarize()
    for grain in ("daily", "weekly", "monthly"):
        found = memory.search(grain=grain, memory_types=["summary"]).results
        told = "\n".join(result.content for result in found)
        for text, word in said.values():
            assert told.count(word) == 1, told
            assert text in told


def remember_everyday(folder: Path) -> Memory:
    """Return a summarized memory of two statements, one of them told twice."""
    memory = open_memory(folder, datetime(2026, 7, 20, tzinfo=UTC))
    for day in ("2026-03-01", "2026-04-01"):
        said = "My locker at the gym is number 214."
        memory.ingest(conversation(f"c-{day}", said, day=day))
    memory.ingest(conversation("c-ana", "Leo plays padel.", day="2026-04-02"))
    memory.summarize()
    return memory


@pytest.mark.parametrize("about", [None, "Leo"])
def test_7_a_browse_folds_summaries_into_what_they_repeat(
    tmp_path: Path, about: str | None
) -> None:
    memory = remember_everyday(tmp_path)
    found = memory.search(about=about, max_results=50).results
    assert {one.grain for one in found} == {"working"}
    assert len(found) == (1 if about else 2)
    for one in found:
        assert any(id_.startswith("summary-") for id_ in one.also_in)
    every = [id_ for one in found for id_ in (one.id, *one.also_in)]
    assert len(every) == len(set(every))


def test_7_a_browse_for_summaries_shows_them(tmp_path: Path) -> None:
    memory = remember_everyday(tmp_path)
    for grain, count in {"daily": 3, "quarterly": 2}.items():
        found = memory.search(grain=grain, max_results=50).results
        assert [one.grain for one in found] == [grain] * count
    found = memory.search(memory_types=["summary"], max_results=50).results
    assert {one.memory_type for one in found} == {"summary"}
    assert {one.grain for one in found} >= {"daily", "quarterly"}


def test_7_a_browse_keeps_the_summary_that_adds_something(
    tmp_path: Path,
) -> None:
    """A statement that has expired has the finest summary that tells it."""
    remember_everyday(tmp_path)
    memory = open_memory(tmp_path, datetime(2026, 7, 21, tzinfo=UTC))
    memory.configure("plan", "free")
    memory.cleanup()
    assert memory.status()["grains"]["working"]["records"] == 0
    memory.ingest(conversation("c-new", "Leo plays padel.", day="2026-07-20"))
    found = memory.search(max_results=50).results
    lockers = [one for one in found if "locker" in one.content]
    assert lockers
    assert {one.memory_type for one in lockers} == {"summary"}
    for one in lockers:
        finer = [other for other in lockers if other.content in one.content]
        assert finer == [one]


MAY = {
    4: "I started at Acme as an analyst.",
    6: "The meeting with Carmen went well, we decided to launch on 14 June.",
    9: "I went running for 10 km with Javi in the park.",
    12: "Javi lent me his bike for the summer.",
    15: "The launch is postponed to 21 June.",
    18: "I moved yesterday to 14 Toledo Street.",
    20: "Dinner with Javi and Marta at La Latina was very good.",
    23: "Marta is getting married to Luis in September.",
    27: "I bought a desk at Ikea for 149 euros.",
    30: "We cancelled the trip to Lisbon, we go to Cadiz in July.",
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When is the launch?", "21 June"),
        ("Who is getting married?", "Luis in September"),
        ("Where do we go in July?", "Cadiz"),
        ("Where is the desk from?", "Ikea"),
    ],
)
def test_1_a_context_has_the_answer_of_a_summary_whose_words_expired(
    tmp_path: Path, question: str, answer: str
) -> None:
    now = datetime(2026, 7, 15, tzinfo=UTC)
    memory = open_memory(tmp_path, now=now)
    for day, text in MAY.items():
        told = conversation(f"c-{day}", text, day=f"2026-05-{day:02}")
        memory.ingest(told)
    memory.summarize()
    memory.configure("plan", "free")
    memory.cleanup()
    assert not memory.list().records
    block = memory.context(question, user_id="u-ana").text
    assert answer in block


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (
            ("My sister Jule lives in Hamburg.", "My sister Jule is a vegetarian."),
            "What do we know about Jule?",
        ),
        (
            ("My son Leo plays the violin.", "My son Leo broke his arm.", "My son Leo has a cat."),
            "What do we know about Leo?",
        ),
        (
            ("Mi hermana Eva vive en Lugo.", "Mi hermana Eva toca el piano."),
            "¿Qué sabemos de Eva?",
        ),
    ],
)  # fmt: skip
def test_who_is_named_in_several_statements_folds_none_of_them(
    tmp_path: Path, texts: tuple[str, ...], question: str
) -> None:
    memory = tell(tmp_path, texts, NOW)
    for asked in (question, texts[0], None):
        answer = memory.search(asked, user_id="u-1", max_results=20)
        shown = "\n".join(one.content for one in answer.results)
        for text in texts:
            last_word = text.rstrip(".").split()[-1]
            assert last_word in shown, asked
    block = memory.context(question, user_id="u-1").text
    for text in texts:
        assert text.rstrip(".").split()[-1] in block
