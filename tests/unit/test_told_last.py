"""What was told last holds: a later statement supersedes an earlier one of its speaker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.everyday_cases import read
from varve import Memory
from varve.domain.search.answer import Result
from varve.domain.statements.texts.cues import split_at_change

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
FIRST_ONES = 5
CHATTER = [
    f"{what} {when}"
    for what in ("saw a heron", "the soup was too salty", "missed the bus",
                 "the neighbours had a party", "it rained all day", "baked a cake")
    for when in ("this morning", "again", "on the way home", "last night",
                 "in the park", "for once", "at the weekend")
]  # fmt: skip


def talk(number: int, *texts: str, user: str = "u-1") -> dict[str, Any]:
    """Return a conversation of one day; a text after `>` is the assistant's."""
    messages = []
    for place, text in enumerate(texts):
        at = FIRST + timedelta(days=number, minutes=place)
        role = "assistant" if text.startswith(">") else "user"
        messages.append(
            {
                "id": f"m{number}-{place}",
                "role": role,
                "content": text.removeprefix("> "),
                "timestamp": at.isoformat(),
            }
        )
    return {
        "conversationId": f"c{number}",
        "userId": user,
        "messages": messages,
    }


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


def search(memory: Memory, question: str, **arguments: Any) -> list[Result]:
    return list(memory.search(question, **arguments).results)


def find(results: list[Result], words: str) -> Result:
    return next(result for result in results if words in result.content)


def test_invariant_11_what_was_told_last_holds_in_search(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "standup is at 9:30", "> Got it, 9:30."))
    memory.ingest(talk(2, "the basil needs water again"))
    memory.ingest(talk(3, "from next week we do standup at 10"))
    results = search(memory, "what time is standup?")
    assert "at 10" in results[0].content
    assert results[0].current
    stale = find(results, "u-1: standup is at 9:30")
    assert not stale.current
    assert stale.superseded_by == results[0].id


def test_a_late_arrival_supersedes_by_event_time(memory: Memory) -> None:
    memory.ingest(talk(9, "we use Postgres 16 in production now"))
    memory.ingest(talk(1, "we use Postgres 14 in production"))
    results = search(memory, "which Postgres do we use in production?")
    assert "16" in results[0].content
    assert not find(results, "14").current


def test_an_erased_successor_supersedes_nothing(memory: Memory) -> None:
    memory.ingest(talk(1, "we use Postgres 14 in production"))
    memory.ingest(talk(9, "we use Postgres 16 in production now"))
    memory.forget(conversation="c9")
    (only,) = search(memory, "which Postgres do we use in production?")
    assert only.current
    assert only.superseded_by is None


def test_a_later_statement_of_another_user_supersedes_nothing(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "my rent is 700"))
    memory.ingest(talk(2, "my rent is 950 now", user="u-2"))
    results = search(memory, "how much is the rent?")
    assert all(result.current for result in results)


def test_a_list_in_passages_supersedes_nothing_without_a_word_of_change(
    memory: Memory,
) -> None:
    filler = " ".join(
        f"Item {n} of the inventory is in its place." for n in range(99)
    )
    memory.ingest(
        talk(
            1,
            f"My flat is in Porto, and this is its list: {filler}",
            f"On: {filler}",
        )
    )
    results = search(memory, "Where is my flat?")
    assert "Porto" in results[0].content
    assert results[0].current


def test_a_passage_with_a_word_of_change_supersedes(memory: Memory) -> None:
    filler = " ".join(
        f"Item {n} of the inventory is in its place." for n in range(99)
    )
    memory.ingest(talk(1, "my flat is in Porto"))
    memory.ingest(talk(9, f"I moved, my flat is in Lisbon now. {filler}"))
    assert not find(search(memory, "Where is my flat?"), "Porto").current


@pytest.mark.parametrize(
    "alike",
    [
        "my sister moved to Bremen last week",
        "if I ever won the lottery I'd move to Madeira",
        "I almost moved to Kiel, glad I didn't",
        "should I move to Kiel now?",
        "omg my sister got a flat in Kiel, I'm so jealous",
        "a mi hermana le gusta su casa nueva en Kiel, me da envidia",
    ],
)
def test_a_look_alike_supersedes_nothing(memory: Memory, alike: str) -> None:
    memory.ingest(talk(1, "I live in Hamburg"))
    memory.ingest(talk(2, alike))
    results = search(memory, "where do I live?")
    assert "Hamburg" in results[0].content
    assert find(results, "Hamburg").current


@pytest.mark.parametrize(
    ("old", "new", "question", "right"),
    [
        (
            "the caterer wants 68 a head, is that much for a buffet?",
            "she came down, we signed with the caterer at 61 a head",
            "how much a head is our caterer?",
            "61",
        ),
        (
            "tenemos Postgres 13 en el servidor, ¿qué le ajusto?",
            "anoche migramos, nuestro servidor quedó en Postgres 16",
            "¿qué Postgres tenemos en el servidor?",
            "16",
        ),
    ],
)
def test_a_statement_before_a_question_is_superseded(
    memory: Memory, old: str, new: str, question: str, right: str
) -> None:
    memory.ingest(talk(1, old))
    memory.ingest(talk(9, new))
    results = search(memory, question)
    assert right in results[0].content
    assert not find(results, old).current


def test_a_statement_without_a_value_supersedes_nothing(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "The kiln is full."))
    memory.ingest(talk(9, "The kiln is hot."))
    results = search(memory, "Tell me about the kiln")
    assert all(result.current for result in results)


def test_before_the_change_the_earlier_statement_holds(memory: Memory) -> None:
    memory.ingest(talk(1, "standup is at 9:30"))
    memory.ingest(talk(3, "from next week we do standup at 10"))
    at = (FIRST + timedelta(days=2)).isoformat()
    (only,) = search(memory, "what time is standup?", as_of=at)
    assert only.current


def test_the_assistants_echo_steps_back(memory: Memory) -> None:
    memory.ingest(
        talk(1, "standup is at 9:30", "> Noted, standup is at 9:30.")
    )
    results = search(memory, "what time is standup?")
    assert results[0].content == "u-1: standup is at 9:30"


def test_another_part_of_a_superseded_message_still_holds(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "I work as a nurse and I live in Porto."))
    memory.ingest(talk(2, "I moved to Lisbon last week."))
    results = search(memory, "which job do I have, where do I work?")
    assert find(results, "nurse").current


def test_replayed_deliveries_leave_the_same_standing(memory: Memory) -> None:
    told = [
        talk(1, "we deploy with Jenkins"),
        talk(5, "we switched, we deploy with Drone now"),
    ]
    memory.ingest(told)
    before = memory.search("how do we deploy?").to_dict()["results"]
    memory.ingest(reversed(told))
    assert memory.search("how do we deploy?").to_dict()["results"] == before
    assert "Drone" in before[0]["content"]


def test_a_statement_said_again_is_confirmed(memory: Memory) -> None:
    memory.ingest(talk(1, "I am allergic to peanuts"))
    memory.ingest(talk(2, "the basil needs water again"))
    memory.ingest(talk(7, "I am allergic to peanuts."))
    results = search(memory, "what am I allergic to?")
    again = (FIRST + timedelta(days=7)).isoformat().replace("+00:00", "Z")
    assert find(results, "peanuts").confirmed_at == again
    assert all(result.current for result in results)


def test_a_question_about_one_of_two_speakers_keeps_its_order(
    memory: Memory,
) -> None:
    said = talk(1, "standup is at 9:30", "nice, the basil needs water")
    again = talk(
        3, "from next week we do standup at 10", "okay, see you there"
    )
    for conversation in (said, again):
        for place, message in enumerate(conversation["messages"]):
            message["name"] = ("Jon", "Gina")[place]
    memory.ingest([said, again])
    results = search(memory, "which standup is Jon's?", explain=True)
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(result.current for result in results)


@pytest.mark.parametrize(
    "limits", [{"conversation_id": "c1"}, {"until": "2026-03-05T00:00:00Z"}]
)
def test_what_supersedes_a_result_passes_the_same_filter(
    memory: Memory, limits: dict[str, str]
) -> None:
    memory.ingest(talk(1, "I live in Lisbon."))
    memory.ingest(talk(9, "I moved to Porto, I live in Porto now."))
    (only,) = search(memory, "Where do I live?", **limits)
    assert "Lisbon" in only.content


def test_a_statement_that_is_likely_superseded_stays_behind(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "standup is at 9:30"))
    memory.ingest(talk(3, "from next week we do standup at 10"))
    present = list(memory.search("what time is standup?").results)
    assert "at 10" in present[0].content
    assert not find(present, "9:30").current


def test_a_question_about_the_past_still_finds_what_was_superseded(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "standup is at 9:30"))
    memory.ingest(talk(3, "from next week we do standup at 10"))
    results = memory.search("what time was standup before?").results
    assert not find(results, "9:30").current


def test_the_change_that_a_question_names_is_not_its_answer(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "I charge 22 pounds for a piano lesson"))
    memory.ingest(talk(9, "a letter to the parents of all my pupils went out"))
    asked = (
        "what did I charge for a lesson before I sent the parents a letter?"
    )
    first, *_ = search(memory, asked)
    assert "22 pounds" in first.content


@pytest.mark.parametrize(
    ("question", "change"),
    [
        ("Where did I live before I moved?", "i moved"),
        ("¿Dónde vivía antes de la mudanza?", "la mudanza?"),
        ("Where did I live before?", ""),
    ],
)
def test_the_change_follows_the_state_in_a_question(
    question: str, change: str
) -> None:
    _, named = split_at_change(question)
    assert named.strip(" ?") == change.strip("?")


def test_the_context_dates_a_statement_by_its_last_confirmation(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "my bike is a blue Brompton"))
    memory.ingest(talk(40, "my bike is a blue Brompton"))
    block = memory.context("what bike does the user have?").text
    assert block.count("Brompton") == 1
    assert "[2026-04-11 " in block


def test_a_question_about_the_past_has_the_former_statement_first(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "our choir meets on Wednesday evenings"))
    memory.ingest(
        talk(9, "karate has the hall now, our choir meets on Thursday")
    )
    asked = "when did our choir meet before karate got the hall?"
    former, *_ = search(memory, asked)
    assert "Wednesday" in former.content
    assert not former.current


def test_a_change_told_beside_a_question_supersedes(memory: Memory) -> None:
    memory.ingest(talk(1, "my dentist appointment is on the 9th"))
    memory.ingest(
        talk(
            5,
            "They moved my dentist appointment to the 23rd. Can I eat before?",
        )
    )
    results = search(memory, "when is my dentist appointment?")
    assert "23rd" in results[0].content
    assert not find(results, "9th").current


def test_the_context_marks_what_is_likely_superseded(memory: Memory) -> None:
    memory.ingest(talk(1, "I live in Lisbon."))
    memory.ingest(
        talk(9, "keys handed over, boxes everywhere, but Porto is home now")
    )
    block = memory.context("where do I live?", user_id="u-1").text
    (stale,) = [line for line in block.splitlines() if "Lisbon" in line]
    assert stale.endswith("location: Lisbon (likely no longer)")
    assert "Porto is home now" in block


def test_statements_of_one_conversation_do_not_replace_each_other(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "I live in Utrecht.", "My dog is called Rex."))
    first = search(memory, "where do I live?")[0]
    assert "Utrecht" in first.content
    assert first.current
    other = search(memory, "what is my dog called?")[0]
    assert "Rex" in other.content
    assert other.current


def test_the_first_results_do_not_depend_on_how_many_are_wanted(
    memory: Memory,
) -> None:
    told, *_ = read("one")
    memory.ingest(
        [
            talk(number, text)
            for number, text in enumerate(told.statements.values())
        ]
        + [talk(100 + number, text) for number, text in enumerate(CHATTER)]
    )
    for asked in told.questions:
        most = search(memory, asked.text, user_id="u-1", max_results=60)
        for count in (1, 3, 10, 25):
            found = search(
                memory, asked.text, user_id="u-1", max_results=count
            )
            first = [(one.id, one.current) for one in found[:FIRST_ONES]]
            assert first == [
                (one.id, one.current) for one in most[: len(first)]
            ], asked.text
