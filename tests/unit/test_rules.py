"""What the rules say of sentences, and of which they say nothing."""

import time
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from varve.domain.extraction import Batch, Extraction, Utterance
from varve.domain.identity import Scope
from varve.domain.language.statements import Lean
from varve.domain.rules import RuleExtractor, english_words, spanish_words
from varve.domain.rules.sentences import BREAK, may_break, sentences
from varve.domain.triple import Op, fold

WEDNESDAY = "2026-03-04T10:00:00Z"


def batch(
    *texts: str,
    said: str = WEDNESDAY,
    zone: str = "Europe/Lisbon",
    role: str = "user",
) -> Batch:
    at = datetime.fromisoformat(said)
    spoken = tuple(
        Utterance(f"m{i}", role, "Dana", text, at, "u-42")
        for i, text in enumerate(texts)
    )
    return Batch(
        Scope("acme", "support"), "c-1", spoken, (), ZoneInfo(zone), at
    )


def extract(
    *texts: str, said: str = WEDNESDAY, zone: str = "Europe/Lisbon"
) -> Extraction:
    return RuleExtractor().extract(batch(*texts, said=said, zone=zone))


def contents(found: Extraction) -> list[str]:
    return [fact.content for fact in found.facts]


def changes(found: Extraction) -> list[str]:
    return [
        f"{o.op} {o.subject} {o.predicate} {o.object}".strip()
        for o in found.operations
    ]


STATED = [
    ("My boss is Mr. Lang.", "Dana's boss is Mr. Lang.", "UPDATE Dana reports_to Mr. Lang"),
    ("I live in St. Gallen.", "Dana lives in St. Gallen.", "UPDATE Dana lives_in St. Gallen"),
    ("I'm 34 years old.", "Dana is 34 years old.", "UPDATE Dana age 34"),
    ("I'm from Buenos Aires.", "Dana is from Buenos Aires.", "UPDATE Dana hometown Buenos Aires"),
    ("I live in Lisbon.", "Dana lives in Lisbon.", "UPDATE Dana lives_in Lisbon"),
    ("I've been living in the Netherlands for years.",
     "Dana lives in the Netherlands.", "UPDATE Dana lives_in the Netherlands"),
    ("I moved to Lisbon last week.",
     "Dana moved to Lisbon and lives there (week of 2026-02-23).", "UPDATE Dana lives_in Lisbon"),
    ("Last Friday, I moved to São Paulo.",
     "Dana moved to São Paulo and lives there (2026-02-27).", "UPDATE Dana lives_in São Paulo"),
    ("We've just moved from Porto to Lisbon!",
     "Dana moved from Porto to Lisbon and lives there.", "UPDATE Dana lives_in Lisbon"),
    ("I no longer live in Porto.", "Dana no longer lives in Porto.", "DELETE Dana lives_in Porto"),
    ("I don't live in Porto any more.", "Dana no longer lives in Porto.", "DELETE Dana lives_in Porto"),
    ("I live in Lisbon, not Porto.", "Dana lives in Lisbon, not in Porto.", "UPDATE Dana lives_in Lisbon"),
    ("I work at Acme.", "Dana works at Acme.", "UPDATE Dana works_at Acme"),
    ("Yesterday I started at Northwind.",
     "Dana started at Northwind (2026-03-03).", "UPDATE Dana works_at Northwind"),
    ("I don't work for Acme anymore.", "Dana no longer works at Acme.", "DELETE Dana works_at Acme"),
    ("I left my job at Acme two days ago.", "Dana left Acme (2026-03-02).", "DELETE Dana works_at Acme"),
    ("I'm a software engineer.",
     "Dana works as a software engineer.", "UPDATE Dana works_as software engineer"),
    ("Now I live in Porto.", "Dana lives in Porto.", "UPDATE Dana lives_in Porto"),
    ("I'm head nurse now.", "Dana works as a head nurse.", "UPDATE Dana works_as head nurse"),
    ("I'm the new team lead.", "Dana works as a team lead.", "UPDATE Dana works_as team lead"),
    ("I've been made head of sales.", "Dana was promoted to head of sales.",
     "UPDATE Dana works_as head of sales"),
    ("Me and Tom broke up.", "Dana and Tom broke up.", "DELETE Dana has_partner Tom"),
    ("I got promoted to lead designer yesterday.",
     "Dana was promoted to lead designer (2026-03-03).", "UPDATE Dana works_as lead designer"),
    ("I love hiking.", "Dana loves hiking.", "ADD Dana likes hiking"),
    ("I like fish and chips.", "Dana likes fish and chips.", "ADD Dana likes fish and chips"),
    ("My favourite colour is green.", "Dana's favourite colour is green.",
     "UPDATE Dana favourite_colour green"),
    ("I don't like coffee any more.", "Dana no longer likes coffee.", "DELETE Dana likes coffee"),
    ("I can't stand olives.", "Dana dislikes olives.", "ADD Dana dislikes olives"),
    ("I prefer window seats.", "Dana prefers window seats.", "ADD Dana prefers window seats"),
    ("I prefer tea to coffee.", "Dana prefers tea to coffee.", "ADD Dana prefers tea"),
    ("I'm allergic to peanuts.", "Dana is allergic to peanuts.", "ADD Dana allergic_to peanuts"),
    ("I'm vegan.", "Dana is vegan.", "UPDATE Dana diet vegan"),
    ("I visited my sister Ana in May.", "Dana's sister is called Ana.", "ADD Dana has_sister Ana"),
    ("My wife's name is Inês.", "Dana's wife is called Inês.", "UPDATE Dana married_to Inês"),
    ("My manager is Gareth Lowe.", "Dana's manager is Gareth Lowe.", "UPDATE Dana reports_to Gareth Lowe"),
    ("I have a son called Leo.", "Dana's son is called Leo.", "ADD Dana has_son Leo"),
    ("My birthday is on 3 March.", "Dana's birthday is 3 March.", "UPDATE Dana birthday 3 March"),
    ("I was born on March 3rd, 1990.",
     "Dana's birthday is 3 March 1990.", "UPDATE Dana birthday 3 March 1990"),
    ("My sister's birthday is on 4 May.",
     "The birthday of Dana's sister is 4 May.", "UPDATE Dana's sister birthday 4 May"),
    ("I speak Polish.", "Dana speaks Polish.", "ADD Dana speaks Polish"),
    ("My time zone is Europe/Lisbon.",
     "Dana's time zone is Europe/Lisbon.", "UPDATE Dana time_zone Europe/Lisbon"),
    ("My new email is dana@example.org.",
     "Dana's email is dana@example.org.", "UPDATE Dana email dana@example.org"),
    ("My phone number is +351 912 345 678.",
     "Dana's phone number is +351 912 345 678.", "UPDATE Dana phone +351 912 345 678"),
    ("My address is 12 Hill Road, Leeds.",
     "Dana's address is 12 Hill Road, Leeds.", "UPDATE Dana address 12 Hill Road, Leeds"),
    ("Soy de Valencia.", "Dana es de Valencia.", "UPDATE Dana hometown Valencia"),
    ("Vivo en La Habana.", "Dana vive en La Habana.", "UPDATE Dana lives_in La Habana"),
    ("Me mudé a Lisboa el viernes pasado.",
     "Dana se mudó a Lisboa y vive allí (2026-02-27).", "UPDATE Dana lives_in Lisboa"),
    ("Nos mudamos a Sevilla hace dos semanas.",
     "Dana se mudó a Sevilla y vive allí (semana del 2026-02-16).", "UPDATE Dana lives_in Sevilla"),
    ("Ya no vivo en Oporto.", "Dana ya no vive en Oporto.", "DELETE Dana lives_in Oporto"),
    ("Trabajo en Acme.", "Dana trabaja en Acme.", "UPDATE Dana works_at Acme"),
    ("Ya no trabajo en Acme.", "Dana ya no trabaja en Acme.", "DELETE Dana works_at Acme"),
    ("Soy enfermera.", "Dana trabaja como enfermera.", "UPDATE Dana works_as enfermera"),
    ("soy enfermera en Vigo",
     "Dana trabaja como enfermera y reside en Vigo.", "UPDATE Dana works_as enfermera"),
    ("Soy fontanero en Cádiz, dos hijas.",
     "Dana trabaja como fontanero y reside en Cádiz.", "UPDATE Dana works_as fontanero"),
    ("I'm a baker in Utrecht with two kids.",
     "Dana works as a baker and is based in Utrecht.", "UPDATE Dana works_as baker"),
    ("I'm a nurse in Leeds General Infirmary.",
     "Dana works as a nurse.", "UPDATE Dana works_as nurse"),
    ("Ayer me ascendieron a directora.",
     "Ascendieron a Dana a directora (2026-03-03).", "UPDATE Dana works_as directora"),
    ("Me encantan los gatos.", "A Dana le encantan los gatos.", "ADD Dana likes gatos"),
    ("Ya no me gusta el café.", "A Dana ya no le gusta: café.", "DELETE Dana likes café"),
    ("No me gusta el brócoli.", "A Dana no le gusta el brócoli.", "ADD Dana dislikes brócoli"),
    ("Odio las aceitunas.", "Dana detesta las aceitunas.", "ADD Dana dislikes aceitunas"),
    ("Prefiero el tren al avión.", "Dana prefiere el tren antes que el avión.", "ADD Dana prefers tren"),
    ("Nací el 3 de marzo de 1990.",
     "El cumpleaños de Dana es el 3 de marzo de 1990.", "UPDATE Dana birthday 3 March 1990"),
    ("Prefiero los asientos de ventana.",
     "Dana prefiere los asientos de ventana.", "ADD Dana prefers asientos de ventana"),
    ("Soy alérgica a los cacahuetes.",
     "Dana es alérgica a los cacahuetes.", "ADD Dana allergic_to cacahuetes"),
    ("Mi hermana se llama Ana.", "La hermana de Dana se llama Ana.", "ADD Dana has_sister Ana"),
    ("Mi cumpleaños es el 3 de marzo.",
     "El cumpleaños de Dana es el 3 de marzo.", "UPDATE Dana birthday 3 March"),
    ("El cumpleaños de mi hermana es el 4 de mayo.",
     "El cumpleaños de la hermana de Dana es el 4 de mayo.", "UPDATE Dana's sister birthday 4 May"),
    ("Hablo polaco.", "Dana habla polaco.", "ADD Dana speaks polaco"),
    ("Mi correo es dana@example.org.",
     "El correo de Dana es dana@example.org.", "UPDATE Dana email dana@example.org"),
    ("Mi zona horaria es Europe/Madrid.",
     "La zona horaria de Dana es Europe/Madrid.", "UPDATE Dana time_zone Europe/Madrid"),
]  # fmt: skip

FACTS_ONLY = [
    ("My flight is on Friday at 3pm.", "Dana's flight is on Friday at 3pm (2026-03-06).", "2026-03-06"),
    ("The review is next Monday.", "The review is next Monday (2026-03-09).", "2026-03-09"),
    ("I have a dentist appointment tomorrow.",
     "Dana has a dentist appointment tomorrow (2026-03-05).", "2026-03-05"),
    ("I'm moving to Berlin next month.", "Dana is moving to Berlin (2026-04).", "2026-04-01"),
    ("My order number is NW-48213, can you check it?", "Dana's order number is NW-48213.", None),
    ("My account number is ES91 2100 0418 4502 0005 1332.",
     "Dana's account number is ES91 2100 0418 4502 0005 1332.", None),
    ("My IBAN is GB29 NWBK 6016 1331 9268 19, thanks.", "Dana's IBAN is GB29 NWBK 6016 1331 9268 19.", None),
    ("My account number is 2100 0418 45 0200051332.",
     "Dana's account number is 2100 0418 45 0200051332.", None),
    ("My account is 4711 2 days old.", "Dana's account is 4711.", None),
    ("Order number: 1234 5678", "Dana mentioned Order 1234 5678.", None),
    ("Mi cuenta es ES91 2100 0418 4502 0005 1332.",
     "Dana indicó su cuenta: ES91 2100 0418 4502 0005 1332.", None),
    ("La cuenta ES91 2100 0418 4502 0005 1332 es la de casa.",
     "Dana mencionó cuenta ES91 2100 0418 4502 0005 1332.", None),
    ("It says error E-4092 again.", "Dana mentioned error E-4092.", None),
    ("Remember that my badge is blue.", "Dana's badge is blue.", None),
    ("For the record, I have never been to Rome.", "Dana has never been to Rome.", None),
    ("Please remember that I went to Harvard.", 'Dana asked to remember: "I went to Harvard."', None),
    ("Remember that Ana is away until Monday.", "Ana is away until Monday (said 2026-03-04).", None),
    ("Mi vuelo sale el próximo lunes.", "El vuelo de Dana sale el próximo lunes (2026-03-09).", "2026-03-09"),
    ("Tengo cita con el dentista mañana.",
     "Dana tiene cita con el dentista mañana (2026-03-05).", "2026-03-05"),
    ("Me sale el error E-4092.", "Dana mencionó error E-4092.", None),
    ("Recuerda que mi contrato es anual.", "El contrato de Dana es anual.", None),
]  # fmt: skip

SILENT = [
    "Do I live in Lisbon?", "If I moved to Lisbon, I would be happy.",
    "I live in Lisbon if the visa comes through.",
    "I might move to Lisbon.", "I'd like to live in Lisbon.", "I'm thinking about moving to Lisbon.",
    "Maybe I live in Lisbon, who knows.", "Ana said I live in Lisbon.",
    'He wrote "I live in Lisbon and love it".',
    "I moved to Linux last year.", "I've moved from Logistics to the Field Kit team.",
    "I moved to another team.",
    "I moved to Apartment 4B.", "Nos mudamos a Lima dentro de dos meses, creo.", "Trabajo en Marketing.",
    "I'm a nurse in training.", "Remember that it is urgent.", "My son English homework is due.",
    "I never liked olives.", "I almost moved to Lisbon.", "I like your idea.", "I like that.", "I love it!",
    "I'd love sushi.", "I love you.", "I like the second option.", "I prefer the first one.",
    "I'm a bit tired.",
    "I'm a fan.", "I'm a former teacher.", "I'm a doctor's daughter.", "I'm sorry.", "I'm Spanish.",
    "I left the meeting early.", "I left Berlin on Friday.", "I work at night.", "I work from home.",
    "My boss is French.", "My sister and Ana are late.", "My cousin Rex died.", "Forget it.", "Never mind.",
    "I forgot my keys.", "Please forget that I like olives and everything else about me.",
    "Remember to call Ana.",
    "Remember when we met?", "Do you remember that I live in Lisbon?", "Translate this: I live in Paris.",
    "Write me a story. I live in a castle in France.", "Imagine this. I work at Acme.",
    "```\nI live in Lisbon.\n```",
    "> I live in Lisbon.", "ERROR: order NW-48213 failed", "The order is fine.", "I ordered 12-15 pieces.",
    "It was in 2019.", "The weather is nice on Friday.", "Thanks a lot!", "I hate to bother you.", "I see.",
    "¿Vivo en Lisboa?", "Si me mudé a Lisboa fue por ti.", "Quizás vivo en Lisboa.",
    "Ana dice que vivo en Lisboa.",
    "Me gustaría vivir en Lisboa.", "Estoy pensando en mudarme a Lisboa.", "Trabajo en Madrid.",
    "Me gusta eso.",
    "Me gusta tu idea.", "Prefiero la segunda opción.", "Hablo con mi madre.", "Soy yo.", "Soy feliz.",
    "Olvídalo.", "No es nada.", "Traduce esto: vivo en París.", "Vivo con mi hermana.", "¡Muchas gracias!",
    "", "   ", "🙂", "I", "my", ".", "I live in", "My birthday is soon.", "My favourite is.", "Me encanta.",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fact", "change"), STATED, ids=[row[0] for row in STATED]
)
def test_a_plain_statement_becomes_a_fact_and_a_change(
    text: str, fact: str, change: str
) -> None:
    found = extract(text)
    assert contents(found) == [fact]
    assert changes(found) == [change]


@pytest.mark.parametrize(
    ("text", "fact", "day"), FACTS_ONLY, ids=[row[0] for row in FACTS_ONLY]
)
def test_a_dated_labelled_or_requested_statement_becomes_a_fact(
    text: str, fact: str, day: str | None
) -> None:
    found = extract(text)
    assert (contents(found), changes(found)) == ([fact], [])
    local = found.facts[0].event_time.astimezone(ZoneInfo("Europe/Lisbon"))
    assert local.isoformat()[:16] == (
        f"{day}T00:00" if day else WEDNESDAY[:16]
    )


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Mom wrote:\nI'm allergic to nuts.", ""),
        ("Mom wrote: I'm allergic to nuts.", ""),
        ("Email from Mom:\n\nI'm allergic to nuts.\nI live in Oslo.", ""),
        ("Mi madre me escribió:\nSoy alérgica a las nueces.", ""),
        ("Mom wrote:\nI'm in.\n\nI live in Rome.", "Dana lives in Rome."),
        ("Ana ha escrito:\nYa voy.\n\nVivo en Roma.", "Dana vive en Roma."),
        ("I wrote to Ana:\nI live in Oslo.", "Dana lives in Oslo."),
        ("Quick update:\nI live in Oslo.", "Dana lives in Oslo."),
        ("Nota de hoy:\nVivo en Oslo.", "Dana vive en Oslo."),
    ],
)
def test_what_stands_below_another_persons_saying_is_not_the_speakers(
    text: str, fact: str
) -> None:
    assert contents(extract(text)) == [fact][: bool(fact)]


@pytest.mark.parametrize("text", SILENT)
def test_nothing_is_made_of_what_is_not_stated(text: str) -> None:
    assert extract(text) == Extraction()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I love sushi, ramen and tempura.", ["sushi", "ramen", "tempura"]),
        ("Me gusta el café, el té y la cerveza.", ["café", "té", "cerveza"]),
        ("I'm allergic to peanuts and to latex.", ["peanuts", "latex"]),
        ("Hablo español e inglés.", ["español", "inglés"]),
    ],
)
def test_each_member_of_a_list_is_a_value_of_its_own(
    text: str, expected: list[str]
) -> None:
    assert [
        operation.object for operation in extract(text).operations
    ] == expected


def test_a_pet_has_a_name_and_a_kind() -> None:
    assert changes(extract("My dog is called Rex.")) == [
        "ADD Dana has_pet Rex",
        "ADD Rex is_a dog",
    ]
    assert changes(extract("Mi gata se llama Luna.")) == [
        "ADD Dana has_pet Luna",
        "ADD Luna is_a cat",
    ]


def test_a_job_and_its_employer_are_told_apart() -> None:
    expected = [
        "UPDATE Dana works_at Acme",
        "UPDATE Dana works_as data engineer",
    ]
    assert changes(extract("I work at Acme as a data engineer.")) == expected


def test_several_clauses_of_one_sentence_are_each_read() -> None:
    found = extract(
        "Hi, I live in Leeds and I hate olives, but I love cheese."
    )
    assert contents(found) == [
        "Dana lives in Leeds.",
        "Dana dislikes olives.",
        "Dana loves cheese.",
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected", "replaced"),
    [
        ("My order number is NW-48213.",
         "Sorry, I meant NW-48231.", "Dana's order number is NW-48231", "NW-48213"),
        ("I live in Leeds.", "Actually it's Ghent, not Leeds.", "Dana lives in Ghent", "Leeds"),
        ("Mi número de pedido es NW-1234.",
         "No es NW-1234, sino NW-4321.", "Dana indicó su número de pedido: NW-4321", "NW-1234"),
    ],
)  # fmt: skip
def test_a_correction_restates_the_message_before(
    first: str, second: str, expected: str, replaced: str
) -> None:
    found = extract(first, second)
    assert len(found.facts) == 2
    assert found.facts[1].content.startswith(expected)
    assert replaced in found.facts[1].content
    assert found.facts[1].message_ids == ("m1",)


def test_a_corrected_value_replaces_the_wrong_one() -> None:
    found = extract(
        "I'm allergic to peanuts.", "I live in Leeds.", "Sorry, I meant Ghent."
    )
    assert found.operations[-1].op is Op.UPDATE
    assert found.operations[-1].replaces == "Leeds"


def test_a_correction_without_anything_to_correct_is_ignored() -> None:
    assert extract("Sorry, I meant Thursday.") == Extraction()
    assert (
        len(
            extract(
                "I live in Leeds and I work at Acme.",
                "Sorry, I meant Ghent and Bolt.",
            ).facts
        )
        == 2
    )


def test_the_context_tells_what_is_corrected_but_is_not_extracted_again() -> (
    None
):
    both = batch("I live in Leeds.", "Sorry, I meant Ghent.")
    found = RuleExtractor().extract(
        replace(
            both, context=both.utterances[:1], utterances=both.utterances[1:]
        )
    )
    assert contents(found) == ["Dana lives in Ghent (corrected: not Leeds)."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Please forget that I live in Leeds.",
            ["DELETE Dana lives_in Leeds"],
        ),
        (
            "Forget what I told you about my sister Ana.",
            ["DELETE Dana has_sister Ana"],
        ),
        ("Please forget my phone number.", ["DELETE Dana phone"]),
        ("Forget everything I said.", []),
        ("Forget my old address.", []),
        ("Olvida que vivo en Oporto.", ["DELETE Dana lives_in Oporto"]),
        ("Por favor, olvida mi teléfono.", ["DELETE Dana phone"]),
    ],
)
def test_a_request_to_forget_ends_what_it_names_and_states_nothing(
    text: str, expected: list[str]
) -> None:
    found = extract(text)
    assert found.facts == ()
    assert changes(found) == expected


def test_what_somebody_asks_to_remember_is_important() -> None:
    found = extract("Remember that I live in Lisbon.")
    assert (contents(found), found.facts[0].importance) == (
        ["Dana lives in Lisbon."],
        0.9,
    )


def test_only_users_are_listened_to() -> None:
    assert (
        RuleExtractor().extract(batch("I live in Lisbon.", role="assistant"))
        == Extraction()
    )


def test_a_move_told_a_week_late_outweighs_what_was_said_in_that_week() -> (
    None
):
    before = extract("I live in Porto.", said="2026-02-25T10:00:00Z")
    after = extract("I moved to Lisbon last week.")
    current = [
        t.target_id
        for t in fold([*before.operations, *after.operations])
        if t.invalid_at is None
    ]
    assert current == ["lisbon"]


DATES = [
    ("en", "yesterday", "past", "2026-03-03"), ("en", "last Friday", "past", "2026-02-27"),
    ("en", "last Wednesday", "past", "2026-02-25"), ("en", "next Wednesday", "future", "2026-03-11"),
    ("en", "this Friday", "future", "2026-03-06"), ("en", "on Friday", "past", "2026-02-27"),
    ("en", "on Friday", "future", "2026-03-06"), ("en", "Friday", "none", None),
    ("en", "Friday of next week", "future", "2026-03-13"), ("en", "3 days ago", "past", "2026-03-01"),
    ("en", "in two weeks", "future", "2026-03-18"), ("en", "in two weeks", "past", None),
    ("en", "last month", "past", "2026-02-01"), ("en", "a month ago", "past", "2026-02-04"),
    ("en", "last year", "past", "2025-01-01"), ("en", "3 March", "past", "2026-03-03"),
    ("en", "5 March", "past", "2025-03-05"), ("en", "March 3rd 2026", "none", "2026-03-03"),
    ("en", "Tuesday, 3 March", "past", "2026-03-03"), ("en", "29 February", "future", "2028-02-29"),
    ("en", "31 February", "past", None), ("en", "2026-03-03", "none", "2026-03-03"),
    ("en", "every Friday", "past", None), ("en", "yesterday or last Friday", "past", None),
    ("en", "in March 2025", "past", "2025-03-01"), ("en", "the day before yesterday", "past", "2026-03-02"),
    ("es", "ayer", "past", "2026-03-03"), ("es", "anteayer", "past", "2026-03-02"),
    ("es", "mañana", "future", "2026-03-05"), ("es", "pasado mañana", "future", "2026-03-06"),
    ("es", "el viernes pasado", "past", "2026-02-27"), ("es", "hace dos semanas", "past", "2026-02-18"),
    ("es", "la semana pasada", "past", "2026-02-23"), ("es", "el próximo lunes", "future", "2026-03-09"),
    ("es", "el lunes que viene", "future", "2026-03-09"), ("es", "3 de marzo", "past", "2026-03-03"),
    ("es",
     "el 3 de marzo de 2025", "none", "2025-03-03"), ("es", "dentro de tres días", "future", "2026-03-07"),
    ("es", "el año pasado", "past", "2025-01-01"), ("es", "el mes que viene", "future", "2026-04-01"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "lean", "expected"), DATES)
def test_an_expression_of_time_means_a_day(
    language: str, text: str, lean: str, expected: str | None
) -> None:
    expressions = {"en": english_words.DATES, "es": spanish_words.DATES}[
        language
    ]
    when = expressions.find(text, date(2026, 3, 4), Lean(lean))
    assert (when.first.isoformat() if when else None) == expected


@pytest.mark.parametrize(
    ("said", "zone", "event_time"),
    [
        ("2026-01-01T00:30:00Z", "UTC", "2025-12-31T00:00:00+00:00"),
        (
            "2026-01-01T00:30:00Z",
            "America/New_York",
            "2025-12-30T05:00:00+00:00",
        ),
        ("2025-12-31T23:30:00Z", "Asia/Tokyo", "2025-12-30T15:00:00+00:00"),
        ("2026-03-30T09:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00+00:00"),
        ("2026-03-31T09:00:00Z", "Europe/Berlin", "2026-03-29T22:00:00+00:00"),
    ],
)
def test_yesterday_is_a_local_day(
    said: str, zone: str, event_time: str
) -> None:
    found = extract("I moved to Lisbon yesterday.", said=said, zone=zone)
    assert found.facts[0].event_time.isoformat() == event_time
    assert found.operations[0].event_time == found.facts[0].event_time


def test_the_calendars_ends_raise_nothing() -> None:
    for said in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        for zone in ("America/New_York", "Asia/Tokyo"):
            extract(
                "I moved to Lisbon last year.",
                "My flight is next week.",
                "I left Acme today.",
                said=said,
                zone=zone,
            )


@given(
    st.one_of(
        st.text(st.sampled_from("ab .!?…;•¿¡()'\"]*_,\u00a0\t")), st.text()
    )
)
@settings(max_examples=500)
def test_no_line_with_a_break_is_taken_for_one_without(line: str) -> None:
    assert may_break(line) or not BREAK.search(line)


@pytest.mark.parametrize(
    "line",
    ["a. b", "a ¿", "a;b c; d", "a? ¿b", "a (b)", "a • b", "(a)", "a. "],
)
def test_a_line_with_a_break_may_break(line: str) -> None:
    assert BREAK.search(line)
    assert may_break(line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "See Dr. Silva at 3.5 km. Then stop.",
            ["See Dr. Silva at 3.5 km", "Then stop"],
        ),
        (
            "Look at https://a.example/b.html?x=1. Fine!",
            ["Look at https://a.example/b.html?x=1", "Fine"],
        ),
        (
            "Order NW-1.2 is late. ¿Dónde está?",
            ["Order NW-1.2 is late", "Dónde está"],
        ),
        ("Vivo en Lisboa, ¿y tú?", ["Vivo en Lisboa", "y tú"]),
        ("One\n```\ncode. more code.\n```\nTwo", ["One", "Two"]),
        ("I moved to\nlisbon. ok", ["I moved to Lisbon", "ok"]),
    ],
)
def test_sentences_survive_what_has_points_in_it(
    text: str, expected: list[str]
) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


_WORDS = st.sampled_from(
    [
        "I",
        "my",
        "we",
        "live",
        "in",
        "moved",
        "to",
        "work",
        "at",
        "Acme",
        "Lisbon",
        "Ana",
        "sister",
        "is",
        "called",
        ",",
        ".",
        "?",
        "last",
        "Friday",
        "next",
        "3",
        "March",
        "2026-03-03",
        "and",
        "but",
        "not",
        "forget",
        "remember",
        "that",
        "sorry",
        "meant",
        "vivo",
        "en",
        "mi",
        "hermana",
        "se",
        "llama",
        "ayer",
        "me",
        "gusta",
        "el",
        "NW-48213",
        "order",
        "a",
        "the",
    ]
)
_TEXTS = st.one_of(
    st.text(max_size=300), st.lists(_WORDS, max_size=40).map(" ".join)
)


@given(st.lists(_TEXTS, max_size=3), st.datetimes(timezones=st.just(UTC)))
def test_any_text_is_read_the_same_way_twice(
    texts: list[str], said: datetime
) -> None:
    given_batch = replace(batch(*texts), created_at=said)
    found = RuleExtractor().extract(given_batch)
    assert found == RuleExtractor().extract(given_batch)
    ids = {utterance.message_id for utterance in given_batch.utterances}
    for item in [*found.facts, *found.operations]:
        assert set(item.message_ids) <= ids


LONG = [
    "a" * 20_000, "I live in " * 2_000, "my sister " * 2_000, "I like a, " * 2_000, "1-" * 10_000,
    '"' * 20_000,
    "I " * 10_000, "order number " * 1_600, "A" * 20_000, "`" * 20_000, "not x, " * 2_900, "sorry, " * 2_900,
    "my " + "a " * 9_000 + "is", "I like " + "a " * 280, "I like " + "a, " * 180, "(" * 20_000, "A-" * 10_000,
    ". " * 10_000, "I live in " + "Aa " * 190, "remember that " + "I " * 280, "sorry " * 95, "no, " * 145,
    "my meeting " * 50, "a@" * 10_000, "and I " * 95, "I'm a " + "a " * 290, "1 " * 295,
    "please " * 80 + "forget",
    "vivo en " * 2_500, "me gusta " + "el a, " * 115, "me gusta " + "a " * 290, "el " * 195, "perdón, " * 70,
    "tengo cita " * 50, "mi hermana " * 50, "hace un " * 70, "por favor " * 55, "no es " + "a " * 290,
]  # fmt: skip


@pytest.mark.parametrize("text", LONG, ids=[text[:12] for text in LONG])
def test_no_line_takes_long(text: str) -> None:
    started = time.process_time()
    extract(text)
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("My name is Dana Costa.", ["ADD Dana Costa also_known_as Dana", "UPDATE Dana name Dana Costa"]),
        ("Hello, I'm Dana Costa from Acme.",
         ["ADD Dana Costa also_known_as Dana", "UPDATE Dana name Dana Costa"]),
        ("Me llamo Dana Costa.", ["ADD Dana Costa also_known_as Dana", "UPDATE Dana name Dana Costa"]),
        ("Please call me Dee.", ["ADD Dana also_known_as Dee", "ADD Dana goes_by Dee"]),
        ("Everybody calls me Dee.", ["ADD Dana also_known_as Dee", "ADD Dana goes_by Dee"]),
        ("Todos me llaman Dee.", ["ADD Dana also_known_as Dee", "ADD Dana goes_by Dee"]),
        ("My name is Danaë, but everyone calls me Dee.",
         ["ADD Danaë also_known_as Dee", "UPDATE Dana name Danaë", "ADD Dana goes_by Dee"]),
        ("Me llamo Dana Costa, pero todos me llaman Dee.",
         ["ADD Dana Costa also_known_as Dee", "ADD Dana Costa also_known_as Dana",
          "UPDATE Dana name Dana Costa", "ADD Dana goes_by Dee"]),
        ("My brother Robert, everybody calls him Bob.",
         ["ADD Robert also_known_as Bob", "ADD Dana has_brother Robert"]),
        ("My name is Robert Miller.", ["UPDATE Dana name Robert Miller"]),
        ("My name is Dana Csota. Sorry, I meant Dana Costa.",
         ["ADD Dana Csota also_known_as Dana", "UPDATE Dana name Dana Csota",
          "DELETE Dana Csota also_known_as Dana", "ADD Dana Costa also_known_as Dana",
          "UPDATE Dana name Dana Costa"]),
        ("Please forget that my name is Dana Costa.",
         ["DELETE Dana Costa also_known_as Dana", "DELETE Dana name Dana Costa"]),
    ],
)  # fmt: skip
def test_names_are_one_where_the_speaker_says_so_and_the_words_do_not_contradict(
    said: str, expected: list[str]
) -> None:
    assert changes(extract(said)) == expected


@pytest.mark.parametrize("speaker", ["Robert", "Bob", "u-42", "Dana"])
@pytest.mark.parametrize(
    "said",
    [
        "I'm Robert, everybody calls me Bob.",
        "Hi, I'm Robert, but everybody calls me Bob.",
        "My name is Robert but everybody calls me Bob.",
        "Robert, everybody calls me Bob.",
        "Soy Robert, pero todos me llaman Bob.",
        "Me llamo Robert, todos me llaman Bob.",
    ],
)
def test_a_nickname_is_known_whatever_name_its_speaker_has(
    said: str, speaker: str
) -> None:
    spoken = replace(batch(said).utterances[0], speaker=speaker)
    found = RuleExtractor().extract(replace(batch(said), utterances=(spoken,)))
    assert changes(found)[0] == "ADD Robert also_known_as Bob"
    assert {one.subject for one in found.operations} <= {"Robert", speaker}
    assert not any("I'm" in content for content in contents(found))


@pytest.mark.parametrize(
    ("said", "person"),
    [
        ("My brother José lives in Oslo, everyone calls him Pepín.", "José"),
        ("My brother José lives in Oslo and we call him Pepín.", "José"),
        ("My boss is José García. Everyone calls him Pepín.", "José García"),
        ("José García is my dentist. People call him Pepín.", "José García"),
        ("José García, everyone calls him Pepín.", "José García"),
        ("Eva lives in Utrecht. Her nickname is Pepín.", "Eva"),
        ("Mi hermano José vive en Oslo, todos le llaman Pepín.", "José"),
        ("Mi jefe es José García. Le decimos Pepín.", "José García"),
        ("Mi hermana Eva vive en Oslo. Todo el mundo la llama Pepín.", "Eva"),
    ],
)
def test_the_person_named_just_before_has_the_nickname(
    said: str, person: str
) -> None:
    assert f"ADD {person} also_known_as Pepín" in changes(extract(said))


@pytest.mark.parametrize(
    "said",
    [
        "Everyone calls him Pepín.",
        "José lives in Oslo and Eva in Rome. Everyone calls him Pepín.",
        "I talked to José about the boss. Everyone calls him Pepín.",
        "My brother José lives in Oslo. Everyone calls him crazy.",
        "My brother José lives in Oslo. Does everyone call him Pepín?",
        "My brother José lives in Oslo. Maybe everyone calls him Pepín.",
        "Mi hermano José vive en Oslo. Eva dice que todos le llaman Pepín.",
    ],
)
def test_a_nickname_of_nobody_in_particular_is_none(said: str) -> None:
    assert "also_known_as" not in " ".join(changes(extract(said)))


def test_a_name_is_no_other_name_of_itself() -> None:
    said = "I'm Dana, everybody calls me Dee."
    assert changes(extract(said)) == [
        "ADD Dana also_known_as Dee",
        "ADD Dana goes_by Dee",
    ]
    assert changes(extract("I'm Spanish, everybody calls me Paco.")) == []


def test_a_role_or_a_foreign_label_becomes_nobodys_other_name() -> None:
    said = "My name is Dana Costa."
    for label, user_id, linked in [
        ("User", None, False),
        ("u-42", "u-42", True),
        ("web-7", "u-42", False),
    ]:
        spoken = replace(
            batch(said).utterances[0], speaker=label, user_id=user_id
        )
        found = RuleExtractor().extract(
            replace(batch(said), utterances=(spoken,))
        )
        assert (
            any(o.predicate == "also_known_as" for o in found.operations)
            is linked
        )


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Hi! I'm Theo, I run a bakery in Ghent.", "Theo"),
        ("Hola, soy Inés, trabajo de enfermera en La Paz.", "Inés"),
        ("Soy Inés López y vivo en Madrid.", "Inés López"),
        ("I'm Adrian, I work at Acme.", "Adrian"),
        ("My name is Sean.", "Sean"),
        ("My name is Theo.", "Theo"),
    ],
)
def test_an_introduction_gives_the_name_of_a_speaker_known_by_an_id(
    said: str, name: str
) -> None:
    for id_ in ("u-42", name.lower()):
        spoken = replace(batch(said).utterances[0], speaker=id_, user_id=id_)
        found = RuleExtractor().extract(
            replace(batch(said), utterances=(spoken,))
        )
        assert f"UPDATE {id_} name {name}" in changes(found)


@pytest.mark.parametrize(
    "said",
    [
        "I'm Catholic, I go to church on Sundays.",
        "I'm Spanish, I like flamenco.",
        "I'm OK, thanks.",
        "I'm Dana, I run a bakery.",
        "Soy Virgo.",
        "Soy Data Scientist y vivo en Madrid.",
        "Soy Product Manager, trabajo en Acme.",
    ],
)
def test_what_a_speaker_is_and_a_known_name_are_no_new_name(said: str) -> None:
    assert not any(" name " in one for one in changes(extract(said)))
