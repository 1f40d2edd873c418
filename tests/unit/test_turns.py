"""Which words become records: no courtesies, and a long message also in short."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.api.inspection import Inspection
from varve.cli.main import main
from varve.domain.calendar import Period
from varve.domain.language.courtesies import is_courtesy
from varve.domain.record import IN_SHORT, turn_id


@pytest.mark.parametrize(
    "text",
    [
        "Hi!",
        "Hello Dana, how can I help you today?",
        "Got it, thanks!",
        "ok thanks",
        "¡Hola! ¿En qué puedo ayudarte?",
        "Muchas gracias, Dana.",
        "Alles klar, danke schön",
        "D'accord, merci beaucoup !",
        "👍",
        "👍🏽 ❤️",
        "Hi Sam, thanks, that works!",
        "Gracias María, perfecto",
        "Thank you Tom!",
        "Thanks a lot, you're great!",
        "Hi there, how are you doing today?",
        "Vale, genial, mil gracias por todo",
        "Hey Dana, how's it going?",
        "Good morning! I hope you're doing well.",
        "You've been very helpful, I really appreciate it.",
        "Thank you so much for your help, you are the best!",
        "Fine, thanks, and you?",
        "Hola, ¿cómo estás hoy?",
        "¡Muchísimas gracias, eres un sol!",
        "Genial, te lo agradezco mucho",
        "Buenos días, ¿qué tal va todo?",
        "Muy bien, gracias, ¿y tú?",
        "Nice to meet you, Marta!",
        "I'm so glad to meet you, Marta.",
        "It was great talking to you, Tom!",
        "Thanks, Tom!",
        "Encantado, Marta",
        "Hola, Ana. Encantada de conocerte.",
        "Mucho gusto, Luis",
        "That's awesome, thanks a lot",
        "Perfect, exactly what I needed",
        "Wow, that's really interesting!",
        "Hi everyone",
        "Morning all",
        "hmm",
        "ty",
        "Sorry about that",
        "Ok, talk later",
        "Nice one, cheers",
    ],
)
def test_a_greeting_or_an_acknowledgement_is_a_courtesy(text: str) -> None:
    assert is_courtesy(text, ["Dana"])


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "No, thanks",
        "Thanks, I moved to Porto.",
        "ok, Thursday",
        "Got it, 9:30.",
        "¯\\_(ツ)_/¯ 42",
        "Hi Sam, the oven works!",
        "ok Thursday",
        "Hi, Thursday",
        "Hi, I'm Marta",
        "Nice to meet you, my name is Marta",
        "Marta, nice to meet you",
        "See you, Monday",
        "Hola, Jueves",
        "Encantado, soy Marta",
        "Encantada con el horno, Marta",
        "-----",
        "",
        "Hola, soy Ana",
        "Hi, I moved to Porto",
        "Hi there, how are you doing with the oven?",
        "Thanks a lot, you're late",
        "You're great with children.",
        "Thanks for the loan",
        "How are you feeling after the operation?",
        "I hope you're right",
        "Great job at Acme",
        "I'm fine with Thursday, thanks",
        "Hola, me he mudado a Oporto",
        "Gracias por todo, me voy a Lugo",
        "Eres mi hermana",
        "¿Cómo está el horno hoy?",
        "Que bien toca Ana",
        "It's amazing in Porto",
        "That's what I needed: a day off",
        "Great Dane",
        "Sorry, I meant Porto",
        "On it since May",
        "All morning",
        "Exactly",
        "No thanks",
        "Hi team lead Marta",
    ],
)
def test_what_tells_something_is_no_courtesy(text: str) -> None:
    assert not is_courtesy(text, ["Dana"])


def test_courtesies_are_on_the_timeline_and_no_records(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.ingest(talk(1, "Hi!", "> Hello!", "The kiln is full.", "> Got it."))
    page = memory.list(limit=10)
    assert [one.content for one in page.records] == ["u-1: The kiln is full."]
    inspection = Inspection(memory)
    kept = inspection.conversation(Period.parse("2026-03-03"), "c1")
    said = [one["message"]["content"] for one in kept.messages]
    assert said == ["Hi!", "Hello!", "The kiln is full.", "Got it."]


@pytest.mark.parametrize("text", ["thanks", "Vale, gracias"])
def test_what_remember_is_given_is_kept_even_a_courtesy(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.remember(text)
    page = memory.list(limit=10)
    assert [one.content for one in page.records] == [f"User: {text}"]
    store = ["--store", str(tmp_path / "cli")]
    assert main(["remember", text, *store]) == 0
    assert "new: 1 turn, 0 facts" in capsys.readouterr().out


def test_a_text_of_over_2000_characters_has_one_record_in_short(
    tmp_path: Path,
) -> None:
    burner = (
        "The {} burner of the kiln fails at high load, so we ordered a valve. "
    )
    text = "".join(burner.format(number) for number in range(90))
    memory = Memory.open(tmp_path, now=NOW)
    memory.ingest(talk(1, text))
    records = memory.list(limit=10).records
    assert len(records) == len(text) // 2000 + 2
    short = memory.get(turn_id("c1", "m1-0", IN_SHORT))
    assert short is not None
    assert short.memory_type == "turn"
    assert 100 < len(short.content) < 700
    said = short.content.removeprefix("u-1: ").split(" […] ")
    assert all(piece in text for piece in said)
