"""What a person is asked to look at, and what a user asked to forget."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_told_last import FIRST, NOW, search, talk
from varve import Memory
from varve.adapters.lance_cache import columns
from varve.adapters.lance_cache.records import CachingReader
from varve.cli.main import main
from varve.domain.calendar import SUMMARY_GRAINS
from varve.domain.errors import Rejected
from varve.domain.search.query import Filter
from varve.usecases import review

PHONE = "+351 912 345 678"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "memory", now=NOW)


FILLING = [
    f"the {thing} is on the {place} today"
    for thing in ("cat", "kettle", "parcel", "paint", "bag", "drill")
    for place in ("table", "roof", "stairs", "shelf")
]


def test_5_review_lists_what_a_later_statement_contradicts_oldest_first(
    memory: Memory,
) -> None:
    memory.ingest(
        [
            talk(1, "I live in Lisbon."),
            talk(3, *FILLING),
            talk(9, "I've lived in Porto since 2019."),
        ]
    )
    found = memory.review(days=30)
    home = found.statements[0]
    assert home.content == "u-1: I live in Lisbon."
    assert "Porto" in home.contradicted_by.content
    days = [one.confirmed_at for one in found.statements]
    assert days == sorted(days)
    assert not memory.review(days=30, user_id="u-2").statements
    first = memory.review(days=30, most=1)
    assert first.statements == found.statements[:1]


def test_5_a_statement_confirmed_after_a_contradiction_is_no_longer_doubtful(
    memory: Memory,
) -> None:
    memory.ingest(
        [
            talk(1, "The gym costs 30 euros a month."),
            talk(5, "The gym costs 45 euros a month."),
            talk(9, "The gym costs 30 euros a month."),
        ]
    )
    doubtful = [one.content for one in memory.review(days=30).statements]
    assert doubtful == ["u-1: The gym costs 45 euros a month."]


CHANGED = [
    ("My landlord is Mr. Peters.", "My landlord is Mrs. Claes."),
    ("The gym costs 30 euros a month.", "The gym costs 45 euros a month."),
    ("I take the bus to work.", "These days I cycle to work."),
    ("Trabajo por las tardes.", "Ahora trabajo por las mañanas."),
    ("My phone plan is with Vodafone.", "My phone plan is with Orange."),
    ("Pagamos 900 euros de alquiler.", "Pagamos 980 euros de alquiler."),
]
BESIDE = [
    ("My cat is called Miso.", "My cat is sick."),
    ("I like jazz.", "I like rock."),
    ("I am allergic to peanuts.", "I am allergic to walnuts."),
    ("I have a dog called Rex.", "I have a cat called Tom."),
    ("Me gusta el jazz.", "Me gusta el rock."),
    ("I work at Globex.", "I work as a nurse."),
    ("My oven is new.", "My sister lives in Ghent."),
]


def test_8_review_pairs_statements_of_one_matter_alone(
    memory: Memory,
) -> None:
    pairs = [*CHANGED, *BESIDE]
    memory.ingest(talk(1, *(earlier for earlier, _ in pairs)))
    memory.ingest(talk(9, *(later for _, later in pairs)))
    found = memory.review(days=30).statements
    told = {
        one.content.removeprefix("u-1: "): one.contradicted_by.content
        for one in found
    }
    assert told == {earlier: f"u-1: {later}" for earlier, later in CHANGED}


HOMES = [
    (
        "I'm Ana Ruiz. I live in Utrecht.",
        "I moved to Porto.",
        "I live in Faro.",
    ),
    ("Soy Ana Ruiz. Vivo en Utrecht.", "Me mudé a Oporto.", "Vivo en Faro."),
]
"""A message of two parts, what contradicts its second one, and a correction."""


@pytest.mark.parametrize(
    ("said", "corrections"),
    [
        ([CHANGED[0][0]], [CHANGED[0][1]]),
        *(([first], [last]) for first, _, last in HOMES),
        *(([first], [later, last]) for first, later, last in HOMES),
        *(([first, later], [last]) for first, later, last in HOMES),
    ],
)
def test_8_review_leaves_out_what_a_correction_replaced(
    memory: Memory, said: list[str], corrections: list[str]
) -> None:
    for number, text in enumerate(said):
        memory.ingest(talk(1 + number, text))
    turn = memory.search(memory_types=["turn"]).results[-1].id
    for text in corrections:
        memory.correct(turn, text)
    listed = [one.content for one in memory.review(days=0).statements]
    assert f"u-1: {said[0]}" not in listed


@pytest.mark.parametrize(("said", "later", "correction"), HOMES)
def test_review_lists_a_corrected_message_for_its_other_part(
    memory: Memory, said: str, later: str, correction: str
) -> None:
    costs = {"I": "The gym costs 30 euros.", "S": "Pago 30 euros de gimnasio."}
    now = {"I": "The gym costs 45 euros.", "S": "Pago 45 euros de gimnasio."}
    both = f"{costs[said[0]]} {said.split('. ')[1]}"
    memory.ingest(talk(1, both))
    turn = memory.search(memory_types=["turn"]).results[-1].id
    memory.correct(turn, correction)
    memory.ingest(talk(5, now[said[0]]))
    listed = [one.content for one in memory.review(days=0).statements]
    assert listed == [f"u-1: {both}"]


def tell_homes(memory: Memory, users: int, filling: int) -> None:
    """Tell of a home and of another one of each user; so many words lie between."""
    said = []
    for number in range(users):
        user = f"u-{number}"
        for day, texts in (
            (1 + number, ["I live in Lisbon."]),
            (6, FILLING[:filling]),
            (40, ["I've lived in Porto since 2019."]),
        ):
            one = talk(day, *texts, user=user)
            one["conversationId"] += f"-{user}"
            said.append(one)
    memory.ingest(said)


def test_a_store_too_large_to_load_is_compared_some_users_at_a_time(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_homes(memory, 4, len(FILLING))
    whole = memory.review(days=30)
    assert len({one.user_id for one in whole.statements}) == 4
    monkeypatch.setattr(columns, "MAX_ROWS", 60)
    monkeypatch.setattr(review, "WINDOW_ROWS", 70)
    windows: list[int] = []
    read = CachingReader.columns_of_users

    def count(self: Any, *given: Any, **named: Any) -> Any:
        found = read(self, *given, **named)
        windows.append(len(found))
        return found

    monkeypatch.setattr(CachingReader, "columns_of_users", count)
    again = Memory.open(tmp_path / "memory", now=NOW)
    assert again.review(days=30) == whole
    assert len(windows) == 2
    assert max(windows) <= 70
    first = again.review(days=30, most=2)
    assert first.statements == whole.statements[:2]
    assert not first.complete
    one = again.review(days=30, user_id="u-3")
    assert {each.user_id for each in one.statements} == {"u-3"}


def test_review_tells_whose_records_are_too_many_to_compare(
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell_homes(memory, 2, len(FILLING))
    memory.ingest(talk(9, *FILLING, user="u-1"))
    monkeypatch.setattr(columns, "MAX_ROWS", 40)
    monkeypatch.setattr(review, "MAX_ROWS", 40)
    again = Memory.open(tmp_path / "memory", now=NOW)
    found = again.review(days=30)
    assert {one.user_id for one in found.statements} == {"u-0"}
    assert not found.complete
    (left,) = found.to_dict()["notCompared"]
    assert left["userId"] == "u-1"
    assert left["records"] > len(FILLING)
    main(["review", "--days", "30", "--store", str(tmp_path / "memory")])
    assert "of user u-1, too many to hold" in capsys.readouterr().out


def test_review_leaves_out_what_was_said_or_confirmed_lately(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "I live in Lisbon."))
    assert memory.review(days=365).statements == ()
    with pytest.raises(Rejected, match="days"):
        memory.review(days=-1)


def test_12_forget_my_phone_number_hides_it_at_once_and_is_proposed(
    memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    memory.ingest(
        talk(1, f"My phone number is {PHONE}.", f"> Noted: {PHONE}.")
    )
    memory.ingest(talk(2, "I live in Lisbon."))
    assert any(PHONE in one.content for one in search(memory, "phone number"))
    memory.ingest(talk(3, "Please forget my phone number."))
    for question in ("phone number", "What is my phone number?", None):
        results = memory.search(question, include_superseded=True).results
        assert results
        assert not any(PHONE in one.content for one in results)
    block = memory.context("What is my phone number?", user_id="u-1")
    assert PHONE not in str(block)
    [proposal] = memory.review().proposals
    told = [one["content"] for one in proposal["statements"]]
    assert len(told) == 2
    assert all(PHONE in content for content in told)
    assert memory.review().proposals == (proposal,)
    store = ["--store", str(tmp_path / "memory"), "--now", NOW.isoformat()]
    assert main(["review", *store]) == 0
    assert "varve forget --proposal 1" in capsys.readouterr().out
    memory.forget(proposal=proposal["proposal"])
    assert memory.review().proposals == ()


def read_summaries(memory: Memory, **where: Any) -> list[str]:
    """Return the contents of the summaries of all grains, folded ones too."""
    found = memory.search(memory_types=["summary"], max_results=99, **where)
    ids = [id_ for one in found.results for id_ in (one.id, *one.also_in)]
    return [memory.show(id_, depth=0)["content"] for id_ in ids]


REQUESTS = [
    ("I live in Utrecht.", "Please forget where I live."),
    ("I work at Globex.", "Could you forget where I work?"),
    ("I live in Utrecht.", "Hey, forget my home, please."),
    ("I am allergic to peanuts.", "Forget what I'm allergic to."),
    ("I live in Utrecht and I work at Globex.", "Forget my home and my job."),
    ("Vivo en Madrid.", "Olvida dónde vivo, por favor."),
    ("Trabajo en Endesa.", "¿Puedes olvidar dónde trabajo?"),
    ("Vivo en Madrid.", "Quiero que olvides dónde vivo."),
    ("Soy alérgico a los cacahuetes.", "Olvídate de mis alergias."),
]


@pytest.mark.parametrize(("told", "request_"), REQUESTS)
def test_12_a_request_to_forget_by_what_it_is_about_hides_it_at_once(
    memory: Memory, told: str, request_: str
) -> None:
    memory.ingest(talk(1, told))
    memory.summarize()
    memory.ingest(talk(40, request_))
    assert not memory.graph.query_graph(
        "select target_id from facts where invalid_at is null"
    )
    assert not memory.profile(user_id="u-1")["attributes"]
    assert not search(memory, told, include_superseded=True)
    found = memory.review(days=0)
    assert found.proposals
    assert not found.statements


BY_WORDS = [
    ("I live at Calle Luna 4 in Madrid.", "Please forget where I live."),
    ("My salary is 50000 euros.", "Forget my salary."),
    ("I earn 50000 euros a year.", "Can you forget how much I earn?"),
    ("I have a daughter called Nora.", "Forget what I told you about my daughter."),
    ("My son Leo goes to Oak School.", "Forget what I said about my son."),
    ("Mi dirección es Calle Sol 5, Bilbao.", "Borra mi dirección, por favor."),
    ("Gano 2100 euros al mes.", "Olvida cuánto gano."),
    ("Tengo una hija que se llama Nora.", "Olvida lo que te dije de mi hija."),
]  # fmt: skip


@pytest.mark.parametrize(("told", "request_"), BY_WORDS)
def test_12_a_request_to_forget_hides_what_its_words_name(
    memory: Memory, told: str, request_: str
) -> None:
    memory.ingest([talk(1, told), talk(2, "The kiln needs a new valve.")])
    memory.summarize()
    memory.ingest(talk(40, request_))
    for question in (None, told, "What is my salary? Where do I live?"):
        for one in search(memory, question, include_superseded=True):
            assert told not in one.content
    assert told not in memory.context(told, user_id="u-1").text
    found = memory.review(days=0)
    assert not found.statements
    [proposal] = found.proposals
    memory.ingest(talk(40, request_))
    memory.ingest(talk(50, request_))
    assert memory.review(days=0).proposals == (proposal,)
    done = memory.forget(proposal=proposal["proposal"], verify=True)
    assert done["verification"]["foundIn"] == []
    assert any("valve" in one.content for one in search(memory, "kiln"))


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        ("I have diabetes.", "Forget that I have diabetes."),
        ("I got diabetes in May.", "Forget that I got diabetes."),
        ("Tengo diabetes.", "Olvida que tengo diabetes."),
    ],
)
def test_a_request_that_says_what_to_forget_is_hidden_with_it(
    memory: Memory, told: str, request_: str
) -> None:
    memory.ingest([talk(1, told), talk(2, "The kiln needs a new valve.")])
    memory.ingest(talk(3, f"{request_} I play the cello."))
    memory.summarize()
    for question in (None, "diabetes"):
        for one in search(memory, question, include_superseded=True):
            assert "diabetes" not in one.content
    assert not any("diabetes" in one for one in read_stored_summaries(memory))
    assert any("cello" in one.content for one in search(memory, "cello"))
    [proposal] = memory.review(days=0).proposals
    told_of = [one["content"] for one in proposal["statements"]]
    assert len(told_of) == 2
    memory.forget(proposal=proposal["proposal"])
    assert not search(memory, "diabetes", include_superseded=True)


def test_a_name_that_a_message_gives_to_a_relative_is_hidden_too(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "My son Leo is five. He goes to Oak School."))
    memory.ingest(talk(2, "Leo plays the violin.", "Mia plays the flute."))
    memory.ingest(talk(3, "Forget everything I told you about my son."))
    shown = " ".join(one.content for one in search(memory, None))
    for hidden in ("Leo", "Oak", "violin"):
        assert hidden not in shown
    assert "flute" in shown


HOME_AND_JOB = "I live in Porto with my dog Bruno and I was fired from Globex."


def test_a_request_to_forget_leaves_the_rest_of_a_message(
    memory: Memory,
) -> None:
    memory.ingest(
        talk(1, "My salary is 50000 euros. I play the cello on Fridays.")
    )
    memory.ingest(talk(2, "Forget my salary."))
    block = memory.context("What do I play on Fridays?", user_id="u-1").text
    told = [one.content for one in search(memory, "salary cello")]
    for text in (block, " ".join(told)):
        assert "cello" in text
        assert "50000" not in text
    memory.summarize()
    assert all("50000" not in one for one in read_stored_summaries(memory))
    assert any("cello" in one for one in read_stored_summaries(memory))


@pytest.mark.parametrize(
    ("request_", "shown", "whole"),
    [
        (
            "Forget where I live.",
            "u-1 lives in Porto.",
            [f"u-1: {HOME_AND_JOB}"],
        ),
        ("Forget that I was fired from Globex.", f"u-1: {HOME_AND_JOB}", []),
    ],
)
def test_a_proposal_shows_what_the_request_names_and_all_that_goes(
    memory: Memory, request_: str, shown: str, whole: list[str]
) -> None:
    memory.ingest(talk(1, HOME_AND_JOB))
    memory.ingest(talk(2, request_))
    [proposal] = memory.review().proposals
    first = proposal["statements"][0]
    assert first["content"] == shown
    assert first["wholeMessages"] == whole


def test_a_request_to_forget_all_about_a_person_hides_answers_and_her_name(
    memory: Memory,
) -> None:
    memory.ingest(
        talk(1, "My daughter is called Nora.", "> Nora is a lovely name!")
    )
    memory.ingest(talk(2, "Nora plays the violin.", "I live in Utrecht."))
    memory.ingest(talk(3, "Ana's daughter is called Mia."))
    memory.ingest(talk(4, "Forget everything I told you about my daughter."))
    for question in (None, "Who is Nora?", "Who plays the violin?"):
        found = search(memory, question, include_superseded=True)
        assert not any("Nora" in one.content for one in found)
        block = memory.context(question or "Hi", user_id="u-1").text
        assert "Nora" not in block
    assert any("Mia" in one.content for one in search(memory, "Mia"))
    assert any("Utrecht" in one.content for one in search(memory, "Utrecht"))


def test_what_is_said_again_after_a_request_by_words_is_shown(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "My salary is 50000 euros."))
    memory.ingest(talk(2, "Forget my salary."))
    memory.ingest(talk(3, "My salary is 61000 euros."))
    memory.ingest(talk(0, "My salary is 70000 euros.", user="u-2"))
    told = " ".join(one.content for one in search(memory, "my salary"))
    assert "50000" not in told
    assert "61000" in told
    others = search(memory, "my salary", user_id="u-2")
    assert any("70000" in one.content for one in others)


@pytest.mark.parametrize(
    ("told", "later", "request_"),
    [
        (
            "My dentist appointment is on Tuesday.",
            "My dentist appointment was moved to Thursday.",
            "Forget my dentist appointment.",
        ),
        (
            "Mi cita con el dentista es el martes.",
            "Mi cita con el dentista pasa al jueves.",
            "Olvida mi cita con el dentista.",
        ),
        ("My exam is on Tuesday.", "I live in Porto.", "Forget me."),
    ],
)
def test_a_fact_of_a_day_to_come_is_hidden_with_its_words(
    memory: Memory, told: str, later: str, request_: str
) -> None:
    memory.ingest(talk(1, told))
    memory.ingest(talk(2, later))
    memory.ingest(talk(3, request_))
    for question in (None, told):
        for superseded in (False, True):
            assert not search(memory, question, include_superseded=superseded)
    assert "dentist" not in memory.context(told, user_id="u-1").text


def test_a_fact_of_a_day_to_come_that_is_told_after_a_request_is_shown(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "My dentist appointment is on Tuesday."))
    memory.ingest(talk(2, "Forget my dentist appointment."))
    memory.ingest(talk(3, "My dentist appointment is on Friday."))
    told = " ".join(one.content for one in search(memory, "dentist"))
    assert "Friday" in told
    assert "Tuesday" not in told


def test_a_summary_is_made_again_without_what_a_request_names(
    memory: Memory,
) -> None:
    memory.ingest(
        talk(1, "My salary is 50000 euros.", "The kiln needs a new valve.")
    )
    memory.summarize()
    assert any("50000" in one for one in read_stored_summaries(memory))
    memory.ingest(talk(3, "Forget my salary."))
    shown = read_summaries(memory, user_id="u-1")
    assert shown
    memory.summarize()
    memory.summarize()
    stored = read_stored_summaries(memory)
    assert not any("50000" in one for one in stored)
    assert any("valve" in one for one in stored)
    assert not memory.summarize().get("built")


def test_a_store_too_large_to_load_hides_what_a_request_names(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.ingest(talk(1, "My salary is 50000 euros. I play the cello."))
    memory.ingest(talk(2, "Forget my salary."))
    monkeypatch.setattr(columns, "MAX_ROWS", 1)
    again = Memory.open(tmp_path / "memory", now=NOW)
    told = " ".join(one.content for one in search(again, "salary cello"))
    assert "50000" not in told
    assert "cello" in told


REMINDERS = [
    ("I have a dog called Rex.", "Don't forget my dog's birthday is near."),
    ("I live in Utrecht.", "Don't forget where I live."),
    ("I live in Utrecht.", "Never forget where I live!"),
    ("I live in Utrecht.", "I always forget where I live."),
    ("I live in Utrecht.", "Forget where I parked."),
    ("Vivo en Madrid.", "No olvides dónde vivo."),
    ("Vivo en Madrid.", "Se me olvida dónde vivo."),
    ("Tengo un perro que se llama Rex.", "No te olvides de mi perro."),
]


@pytest.mark.parametrize(("told", "reminder"), REMINDERS)
def test_a_reminder_neither_forgets_nor_supersedes(
    memory: Memory, told: str, reminder: str
) -> None:
    memory.ingest([talk(1, told), talk(40, reminder)])
    assert memory.graph.query_graph(
        "select target_id from facts where invalid_at is null"
    )
    assert search(memory, told)[0].event_time < "2026-04"
    for question in (told, "What is my dog called?", "¿Dónde vivo?"):
        found = search(memory, question, include_superseded=True)
        assert all(one.current for one in found)
    review = memory.review(days=0)
    assert not review.proposals
    assert not review.statements


def test_a_forgotten_value_leaves_summaries_at_once(memory: Memory) -> None:
    memory.ingest(
        talk(1, f"My phone number is {PHONE}.", "The kiln needs a new valve.")
    )
    memory.ingest(talk(2, f"Call the shop at {PHONE}.", user="u-2"))
    memory.summarize()
    assert all(PHONE in one for one in read_summaries(memory, user_id="u-1"))
    memory.ingest(talk(3, "Please forget my phone number."))
    for question in (None, "phone number", "What is my phone number?"):
        results = memory.search(
            question,
            user_id="u-1",
            include_superseded=True,
            memory_types=["summary"],
            max_results=99,
        ).results
        assert not any(PHONE in one.content for one in results)
    shown = memory.search(
        user_id="u-1", memory_types=["summary"], max_results=99
    ).results
    assert sum(1 + len(one.also_in) for one in shown) >= 4
    assert all("valve" in one.content for one in shown)
    block = memory.context("What is my phone number?", user_id="u-1")
    assert PHONE not in block.text
    others = read_summaries(memory, user_id="u-2")
    assert others
    assert all(PHONE in one for one in others)


def test_a_summary_is_made_again_without_a_forgotten_value(
    memory: Memory,
) -> None:
    memory.ingest(
        talk(1, f"My phone number is {PHONE}.", "The kiln needs a new valve.")
    )
    memory.summarize()
    before = memory.summarize()
    assert "built" not in before or not before["built"]
    memory.ingest(talk(3, "Please forget my phone number."))
    memory.summarize()
    memory.summarize()
    stored = read_stored_summaries(memory)
    assert len(stored) > 4
    assert not any(PHONE in one for one in stored)
    told = [one for one in stored if "valve" in one]
    assert len(told) == 4
    after = memory.summarize()
    assert not after.get("built")
    memory.ingest(talk(1, "> The valve is in stock."))
    memory.summarize()
    assert not any(PHONE in one for one in read_stored_summaries(memory))


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        (f"My phone number is {PHONE}", "Please forget my phone number."),
        ("My salary is 50000 euros", "Forget my salary."),
    ],
)
def test_a_summary_whose_words_expired_loses_what_is_forgotten(
    tmp_path: Path, told: str, request_: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=day(9))
    memory.configure("plan", "free")
    memory.ingest(talk(1, f"{told}.", "The kiln needs a new valve."))
    memory.summarize()
    memory.cleanup()
    assert not memory.search(grain="working", now=day(9)).results
    memory.ingest(talk(8, request_))
    memory.summarize(now=day(10))
    memory.summarize(now=day(10))
    memory.cleanup(now=day(20))
    stored = read_summaries(memory, now=day(20))
    assert stored
    assert not any(told in one for one in stored)
    assert any("valve" in one for one in stored)


def day(number: int) -> datetime:
    """Return noon of a day after the first."""
    return FIRST + timedelta(days=number, hours=3)


def read_stored_summaries(memory: Memory) -> list[str]:
    """Return summaries as they are stored, whatever an answer leaves out."""
    with memory.sessions.open(memory.scope) as session:
        found: list[str] = []
        for grain in SUMMARY_GRAINS:
            records = session.records.browse(
                memory.scope, grain, where=Filter(), limit=99
            )
            found += [one.content + one.key_facts for one in records]
    return found


def test_what_is_said_again_after_the_request_is_shown(memory: Memory) -> None:
    memory.ingest(talk(1, f"My phone number is {PHONE}."))
    memory.ingest(talk(2, "Please forget my phone number."))
    memory.ingest(talk(3, "My phone number is +351 999 888 777."))
    told = [one.content for one in search(memory, "phone number")]
    assert any("999" in content for content in told)
    assert not any(PHONE in content for content in told)


def test_an_echo_of_the_same_instant_as_the_request_is_hidden(
    memory: Memory,
) -> None:
    told = talk(1, f"My phone number is {PHONE}.")
    for role, text in [
        ("assistant", f"Noted: {PHONE}."),
        ("user", "Please forget my phone number. The phone is new."),
    ]:
        told["messages"].append({"role": role, "content": text})
    memory.ingest(told)
    results = search(memory, "phone number")
    assert results
    assert not any(PHONE in one.content for one in results)


def test_another_users_number_stays(memory: Memory) -> None:
    memory.ingest(talk(1, f"My phone number is {PHONE}.", user="u-2"))
    memory.ingest(talk(2, f"My phone number is {PHONE}."))
    memory.ingest(talk(3, "Please forget my phone number."))
    told = search(memory, "phone number", user_id="u-2")
    assert any(PHONE in one.content for one in told)


def test_11_status_tells_who_and_what_occurs(
    memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    memory.ingest(
        talk(1, "My sister Ana repaired the kiln.", "> Good for Ana.")
    )
    memory.ingest(talk(2, "The kiln needs a new valve, says Ana."))
    memory.summarize()
    told = memory.status(people=True, topics=True)
    assert {"name": "Ana", "records": 4} in told["people"]
    assert "u-1" in [one["name"] for one in told["people"]]
    assert "kiln" in " ".join(one["topic"] for one in told["topics"])
    assert "people" not in memory.status()
    store = ["--store", str(tmp_path / "memory")]
    assert main(["status", "--people", "--topics", *store]) == 0
    assert "Ana" in capsys.readouterr().out


def test_5_a_long_message_is_listed_once(memory: Memory) -> None:
    long = " ".join(
        f"In chapter {number} I describe how the bakery in Graz changed its"
        f" ovens, its hours and its suppliers, on {number * 3} pages."
        for number in range(1, 25)
    )
    memory.ingest(
        [
            talk(1, f"{long} The bakery opens at 6:30."),
            talk(9, "The bakery opens at 7:00 since Monday."),
        ]
    )
    (listed,) = memory.review(days=30).statements
    assert "opens at 6:30" in listed.content
    assert "opens at 7:00" in listed.contradicted_by.content


@pytest.mark.parametrize(
    ("first", "second", "asked"),
    [
        ("I live in Dublin.", "I moved to Cork.", "where u-1 lives"),
        ("I work at Globex.", "I started at Initech.", "where u-1 works"),
        ("Vivo en Cádiz.", "Me he mudado a Jaén.", "dónde vive u-1"),
        ("Vivo en Cádiz.", "Me trasladé a Jaén.", "dónde vive u-1"),
    ],
)
def test_12_a_chosen_statement_goes_without_what_ended_it(
    memory: Memory, first: str, second: str, asked: str
) -> None:
    memory.ingest([talk(1, first), talk(9, second)])
    shown = memory.forget(query=asked, dry_run=True)["statements"]
    value = first.rstrip(".").split()[-1]
    chosen = next(one for one in shown if value in one["content"])
    memory.forget(query=asked, only=[chosen["number"]])
    left = " ".join(one.content for one in memory.search().results)
    assert value not in left
    assert second in left or second.rstrip(".").split()[-1] in left


def test_13_a_list_of_what_names_somebody_says_that_nothing_does(
    memory: Memory,
) -> None:
    memory.ingest(talk(1, "I live in Dublin."))
    for limit in ({"about": "Zed"}, {"people": ["Zed"]}, {"topics": ["Zed"]}):
        answer = memory.search(**limit)  # type: ignore[arg-type]
        assert not answer.results
        assert "mentions 'Zed'" in str(answer.hint)
        assert "question" not in str(answer.hint)


def test_12_review_of_a_user_lists_no_other_users_proposal(
    memory: Memory,
) -> None:
    for user in ("u-8", "u-9"):
        memory.remember("I weigh 92 kilos.", user_id=user)
        memory.remember("Forget how much I weigh.", user_id=user)
    [own] = memory.review(user_id="u-8").proposals
    assert own["proposal"] == memory.review().proposals[0]["proposal"]
    assert len(memory.review().proposals) == 2
    assert memory.review(user_id="u-7").proposals == ()
