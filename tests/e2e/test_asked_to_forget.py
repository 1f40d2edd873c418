"""What a user asks to forget in a conversation, wherever it is read (issue 17, number 12)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.model_replies import Knowledge, extraction
from tests.support.model_server import ModelServer
from tests.support.statements import list_conversations, tell
from varve import Memory
from varve.cli import main
from varve.domain.errors import Rejected
from varve.integrations.mcp_resources import PERIOD, RECORD, read_resource
from varve.integrations.mcp_tools import Tools

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
USER = "u-1"
WEIGHT = "I weigh 92 kilos. I'm allergic to sesame."


def find_ids(memory: Memory, word: str) -> list[str]:
    """Return the ids of all facts and turns with a word, hidden ones too."""
    records = memory.list(limit=100).records
    return [one.id for one in records if word in one.content]


@pytest.mark.parametrize(
    ("told", "request_", "question"),
    [
        (WEIGHT, "Please forget how much I weigh.", "How much do I weigh?"),
        (
            "My salary is 50000 euros.",
            "Forget my salary.",
            "What's my salary?",
        ),
        ("Peso 61 kilos.", "Olvida cuánto peso, por favor.", "¿Cuánto peso?"),
        (
            "Mi salario es de 2100 euros.",
            "Me gustaría que olvidaras mi salario.",
            "¿Cuál es mi salario?",
        ),
        (
            "My birthday is May 4.",
            "Please don't store my birthday.",
            "When is my birthday?",
        ),
        (
            "My phone number is 555-0142.",
            "I got a new SIM, please forget my phone number.",
            "What is my phone number?",
        ),
        (
            "Mi salario es de 2100 euros.",
            "No me siento cómoda, por favor olvida mi salario.",
            "¿Cuál es mi salario?",
        ),
        (
            "My e-mail is ro@example.org.",
            "Forget my e-mail address.",
            "What is my e-mail?",
        ),
        (
            "My phone number is 555-0142.",
            "Forget my mobile number.",
            "What is my phone number?",
        ),
        (
            "Nací el 3 de mayo de 1990.",
            "Olvida mi fecha de nacimiento.",
            "¿Cuándo nací?",
        ),
    ],
)
def test_12_a_request_to_forget_answers_no_question(
    tmp_path: Path, told: str, request_: str, question: str
) -> None:
    memory = tell(tmp_path, [told, request_, "The oven is new."], NOW)
    memory.summarize()
    found = memory.search(question, user_id=USER, max_results=50).results
    words = [one.content for one in found]
    words.append(memory.context(question, user_id=USER).text)
    assert not any(request_ in text for text in words)
    assert not any(told in text for text in words)
    listed = memory.search(user_id=USER, max_results=50).results
    assert not any(request_ in one.content for one in listed)
    assert any("oven" in one.content for one in listed)
    proposed = memory.review(days=0).proposals
    shown = [one["content"] for item in proposed for one in item["statements"]]
    assert shown
    assert not any(request_ in content for content in shown)


@pytest.mark.parametrize(
    "said",
    [
        "I don't remember my locker number, can you help?",
        "I do not remember my locker number.",
    ],
)
def test_12_what_one_does_not_remember_stays_in_memory(
    tmp_path: Path, said: str
) -> None:
    memory = tell(tmp_path, ["My locker number is 4417.", said], NOW)
    found = memory.search("What is my locker number?", user_id=USER).results
    told = [one for one in found if "4417" in one.content]
    assert told
    assert all(one.current for one in told)


def test_12_a_value_that_one_does_not_remember_holds(tmp_path: Path) -> None:
    told = ["My phone number is +351 912 345 678.", "I live in Lisbon."]
    asked = [
        "I don't remember my phone number.",
        "I don't remember where I live.",
    ]
    memory = tell(tmp_path, [*told, *asked], NOW)
    held = memory.graph.query_graph(
        "select label from facts where invalid_at is null order by label"
    )
    assert [row["label"] for row in held] == ["lives_in", "phone"]


def test_12_a_model_reads_nothing_forgotten_by_its_address(
    tmp_path: Path,
) -> None:
    phone = "My phone number is +351 912 345 678."
    memory = tell(tmp_path, [WEIGHT, phone], NOW)
    memory.summarize()
    requests = ["Please forget how much I weigh.", "Forget my phone number."]
    for text in requests:
        memory.remember(text, user_id=USER, at=NOW)
    tools = Tools(memory, USER)
    for id_ in find_ids(memory, "912 345"):
        with pytest.raises(Rejected, match="asked to forget"):
            read_resource(tools, RECORD + id_)
    (turn,) = find_ids(memory, "92 kilos")
    read = json.loads(read_resource(tools, RECORD + turn))
    assert read["content"] == "Dana: I'm allergic to sesame."
    texts = [read_resource(tools, RECORD + turn)]
    for label in memory.periods():
        for one in memory.list(period=label).records:
            if "sesame" in one.content:
                texts.append(read_resource(tools, PERIOD + label))
                texts.append(read_resource(tools, RECORD + one.id))
    assert len(texts) > 2
    assert not any("912 345" in text or "92 kilos" in text for text in texts)


@pytest.mark.parametrize(
    ("told", "request_", "hidden", "kept"),
    [
        (
            "I'm allergic to nuts. My phone number is +351 912 345 678.",
            "Forget my phone number.",
            "912",
            "allergic to nuts",
        ),
        (
            "I'm vegan. I live in Kiel.",
            "Forget where I live.",
            "Kiel",
            "vegan",
        ),
        (
            "Soy alérgica al polen. Vivo en Vigo.",
            "Olvida dónde vivo.",
            "Vigo",
            "polen",
        ),
    ],
)
def test_12_a_request_leaves_the_rest_of_its_message(
    tmp_path: Path, told: str, request_: str, hidden: str, kept: str
) -> None:
    memory = tell(tmp_path, [told, request_], NOW)
    for question in (told, kept):
        found = memory.search(question, user_id=USER).results
        rest = [one for one in found if kept in one.content]
        assert rest
        assert all(one.current for one in rest)
        assert not any(hidden in one.content for one in found)


def test_12_a_day_of_a_request_alone_has_no_summary_for_a_model(
    tmp_path: Path,
) -> None:
    told = ["My salary is 50000 euros.", "Forget my salary."]
    memory = tell(tmp_path, told, NOW)
    memory.summarize()
    tools = Tools(memory, USER)
    for label in memory.periods():
        with pytest.raises(Rejected, match="has no summary"):
            read_resource(tools, PERIOD + label)


def test_12_show_and_tables_tell_what_is_asked_to_be_forgotten(
    tmp_path: Path,
) -> None:
    told = ["My salary is 50000 euros.", "Forget my salary.", "I have a cat."]
    memory = tell(tmp_path, told, NOW)
    (salary,) = find_ids(memory, "50000")
    (request,) = find_ids(memory, "Forget")
    shown = memory.show(salary)
    assert shown["askedToForget"] == request
    assert shown["current"] is False
    (cat,) = find_ids(memory, "I have a cat")
    assert memory.show(cat)["askedToForget"] is None
    rows = memory.sql("select content, current from turns")
    assert {row["content"]: row["current"] for row in rows} == {
        "My salary is 50000 euros.": False,
        "Forget my salary.": False,
        "I have a cat.": True,
    }


def test_3_a_fact_beside_others_of_its_message_is_no_longer_current(
    tmp_path: Path,
) -> None:
    told = [
        "I live in Lisbon and I am allergic to nuts.",
        "I moved to Porto.",
    ]
    memory = tell(tmp_path, told, NOW)
    rows = memory.sql("select content, current from facts")
    held = {row["content"]: row["current"] for row in rows}
    assert held["Dana lives in Lisbon."] is False
    assert held["Dana is allergic to nuts."] is True
    (lisbon,) = [
        one for one in find_ids(memory, "Lisbon") if one.startswith("fact")
    ]
    assert memory.show(lisbon)["current"] is False


def test_15_a_fact_that_a_model_draws_from_a_request_is_hidden_too(
    tmp_path: Path,
) -> None:
    told = "Dana wants her salary to be forgotten"
    script = {"Forget my": Knowledge(told, "Dana", "2026-05-20")}
    with ModelServer(extraction(script)) as server:
        environment = {
            "VARVE_LLM": "openai:gpt-4o-mini",
            **server.environment,
        }
        memory = Memory.open(tmp_path, now=NOW, environment=environment)
        said = ["My salary is 50000 euros.", "Forget my salary."]
        for one in list_conversations(said):
            memory.ingest(one)
        assert find_ids(memory, told)
        assert not memory.search("salary", user_id=USER).results


def test_12_a_triple_that_only_a_requests_words_name_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["My dog is called Rex.", "I live in Lisbon.", "Forget my dog."]
    memory = tell(tmp_path, told, NOW)
    (request,) = find_ids(memory, "Forget my dog")
    marks = {
        one["target"]: one["askedToForget"] for one in memory.graph.edges()
    }
    assert marks["Lisbon"] is None
    assert marks.pop("Rex") == request
    known = memory.graph.entity("Rex")
    marked = [*known["facts"], *known["mentions"]]
    assert {one["askedToForget"] for one in marked} == {request}
    assert main(["graph", "show", "--store", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(
        ("asked to forget" in one) == ("Lisbon" not in one)
        for one in lines
        if "since" in one
    )
    rows = memory.sql("select object, current from triples")
    current = {row["object"]: row["current"] for row in rows}
    assert current["lisbon"] is True
    assert current["rex"] is False
    block = memory.context("What do you know of Dana and Rex?", user_id=USER)
    assert "Rex" not in block.text


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        ("My dog is called Rex.", "Forget what I told you about Rex."),
        ("Mi perro se llama Rex.", "Olvida lo que te dije de Rex."),
    ],
)
def test_12_no_model_is_told_such_a_triple_once_its_words_have_expired(
    tmp_path: Path, told: str, request_: str
) -> None:
    memory = tell(tmp_path, [told, "I live in Lisbon."], NOW)
    memory.configure("plan", "free")
    memory.summarize()
    memory.cleanup()
    assert not find_ids(memory, "Rex.")
    asked = "Dana Rex"
    assert "Rex" in memory.context(asked, user_id=USER).text
    memory.remember(request_, user_id=USER, at=NOW)
    assert "Rex" not in memory.context(asked, user_id=USER).text
    edges = [one for one in memory.graph.edges() if one["target"] == "Rex"]
    assert edges
    assert all(one["askedToForget"] for one in edges)


def test_12_a_triple_told_again_later_is_not_marked(tmp_path: Path) -> None:
    told = ["My dog is called Rex.", "Forget my dog.", "My dog is called Rex."]
    memory = tell(tmp_path, told, NOW)
    (edge,) = [one for one in memory.graph.edges() if one["target"] == "Rex"]
    assert edge["askedToForget"] is None


def test_12_another_users_triple_is_not_marked(tmp_path: Path) -> None:
    memory = tell(tmp_path, ["My dog is called Rex."], NOW)
    memory.remember("Forget my dog.", user_id="u-2", at=NOW)
    marks = [one["askedToForget"] for one in memory.graph.edges()]
    assert set(marks) == {None}


@pytest.mark.parametrize(
    "said",
    [
        "He said, forget my salary.",
        "If I get fired, forget my salary.",
    ],
)
def test_12_a_request_that_a_speaker_does_not_mean_hides_nothing(
    tmp_path: Path, said: str
) -> None:
    memory = tell(tmp_path, ["My salary is 50000 euros.", said], NOW)
    found = memory.search("What's my salary?", user_id=USER).results
    assert any("50000" in one.content for one in found)


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        (
            "Mi novio se llama Iván y vive en Cádiz.",
            "Borra lo que te conté de Iván.",
        ),
        (
            "My boyfriend is called Ivan and lives in Leeds.",
            "Forget what I told you about Ivan.",
        ),
        ("Mi salario es de 2100 euros.", "Por favor, olvida mi salario."),
    ],
)
def test_12_a_request_leaves_no_piece_without_its_subject(
    tmp_path: Path, told: str, request_: str
) -> None:
    memory = tell(tmp_path, [told, request_, "The oven is new."], NOW)
    (left,) = memory.search(user_id=USER, max_results=50).results
    assert "oven" in left.content


@pytest.mark.parametrize(
    ("told", "beside", "request_", "word"),
    [
        (
            "I'm taking 20 mg of fluoxetine.",
            "I'm taking the train to Leeds.",
            "Forget the fluoxetine thing.",
            "fluoxetine",
        ),
        (
            "El médico me recetó sertralina.",
            "El médico de Ana cobra 80 euros.",
            "Olvida lo de la sertralina.",
            "sertralina",
        ),
        (
            "My landlord's rent is 870 euros. My salary is 52000 euros.",
            "My boss's salary is 90000 euros.",
            "Forget my salary.",
            "52000",
        ),
    ],
)
def test_12_what_has_expired_is_told_and_proposed(
    tmp_path: Path, told: str, beside: str, request_: str, word: str
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.configure("plan", "free")
    for text in (told, beside):
        memory.remember(text, user_id=USER, at=NOW)
    memory.remember(told, user_id="u-2", at=NOW)
    memory.summarize()
    later = NOW + timedelta(days=9)
    memory.summarize(now=later)
    memory.cleanup(now=later)
    stored = memory.remember(request_, user_id=USER, at=later)
    [asked] = stored.forget_requests
    assert [one.content for one in asked.hidden] == [told]
    [proposal] = memory.review(days=0).proposals
    [statement] = proposal["statements"]
    assert word in statement["content"]
    receipt = memory.forget(proposal=proposal["proposal"], verify=True)
    assert receipt["verification"]["proved"]
    memory.forget(user="u-2")
    held = [one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()]
    left = [one for one in held if word.encode() in one]
    assert all(request_.encode() in one for one in left)


@pytest.mark.parametrize(
    ("told", "request_", "question", "word"),
    [
        (
            "My sister Helen lives in Oslo.",
            "Forget what I told you about my sister.",
            "Where does Helen live?",
            "Oslo",
        ),
        (
            "I'm allergic to sesame.",
            "Please forget the sesame thing.",
            "What am I allergic to?",
            "sesame",
        ),
        (
            "Mi perra se llama Luna.",
            "Olvida lo que te dije de mi perra.",
            "¿Cómo se llama mi perra?",
            "Luna",
        ),
    ],
)
def test_12_what_a_request_names_stays_hidden_once_its_words_expired(
    tmp_path: Path, told: str, request_: str, question: str, word: str
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.configure("plan", "free")
    for user in (USER, "u-2"):
        memory.remember(told, user_id=user)
    memory.remember(request_, user_id=USER)
    for days in range(1, 6):
        later = NOW + timedelta(days=days)
        assert word not in str(
            memory.context(question, user_id=USER, now=later)
        )
        memory.summarize(now=later)
        memory.cleanup(now=later)
    assert memory.list().records == ()
    assert word not in str(memory.context(question, user_id=USER, now=later))
    assert word in str(memory.context(question, user_id="u-2", now=later))


def test_12_a_request_stays_until_what_it_names_is_built_again(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path)
    memory.configure("plan", "free")
    told, asked, later = (NOW + timedelta(days=days) for days in (0, 2, 8))
    memory.remember("I weigh 92 kilos.", user_id=USER, now=told)
    memory.remember("Forget how much I weigh.", user_id=USER, now=asked)
    # The first run summarizes the day of the words before the request's day.
    memory.summarize(now=later)
    first = memory.cleanup(now=later)
    assert first["requestsToForget"] == 0
    assert len(first["grains"]["working"]["unsealed"]) == 2
    again = memory.cleanup(now=later, dry_run=True)
    assert again["grains"]["working"]["expiredRecords"] == 0
    memory.summarize(now=later)
    assert memory.cleanup(now=later)["requestsToForget"] == 1
    assert memory.list().records == ()
    much = later + timedelta(days=60)
    memory.summarize(now=much)
    for at in (later, much):
        assert "92" not in str(memory.search(user_id=USER, now=at))
        assert "92" not in str(memory.context("kilos", user_id=USER, now=at))


def test_12_erasing_an_expired_request_shows_again_what_it_named(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.configure("plan", "free")
    memory.remember("My sister Helen lives in Oslo.", user_id=USER)
    memory.remember("Forget what I told you about my sister.", user_id=USER)
    [asked] = find_ids(memory, "Forget")
    later = NOW + timedelta(days=4)
    memory.summarize(now=later)
    plan = memory.cleanup(now=later, dry_run=True)
    assert plan["requestsToForget"] == 1
    memory.cleanup(now=later)
    assert memory.graph.entity("Helen")["facts"] == []
    memory.forget(ids=[asked])
    [home] = memory.graph.entity("Helen")["facts"][:1]
    assert home["target"] == "Oslo"


ANSWERED = {
    "conversationId": "c-1",
    "userId": USER,
    "messages": [
        {
            "role": "user",
            "name": "Dana",
            "content": "My phone number is 555-0142.",
        },
        {"role": "assistant", "content": "Noted, your number is 555-0142."},
    ],
}


def test_12_cleanup_proposes_what_an_expiring_request_names(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.configure("plan", "free")
    memory.ingest(ANSWERED)
    memory.remember(
        "Forget my phone number.", user_id=USER, now=NOW + timedelta(days=1)
    )
    for days in range(1, 7):
        later = NOW + timedelta(days=days)
        memory.summarize(now=later)
        memory.cleanup(now=later, dry_run=True)
        assert days > 2 or not memory.forget_proposals()
        memory.cleanup(now=later)
    assert memory.list().records == ()
    [kept] = memory.forget_proposals()
    shown = [one["content"] for one in kept["statements"]]
    assert shown == [
        "Dana: My phone number is 555-0142.",
        "Assistant: Noted, your number is 555-0142.",
    ]
    [stored] = tmp_path.glob("audit/*/proposals/*")
    assert "0142" not in stored.read_text("utf-8")
    receipt = memory.forget(proposal=kept["proposal"], verify=True)
    assert receipt["verification"]["proved"] is True
    assert not memory.forget_proposals()


def test_12_cleanup_proposes_nothing_that_is_erased(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, now=NOW)
    memory.configure("plan", "free")
    memory.ingest(ANSWERED)
    memory.remember("Forget my phone number.", user_id=USER)
    [kept] = memory.review().proposals
    memory.forget(proposal=kept["proposal"])
    later = NOW + timedelta(days=4)
    memory.summarize(now=later)
    assert memory.cleanup(now=later)["requestsToForget"] == 1
    assert not memory.forget_proposals()


@pytest.mark.parametrize(
    ("told", "request_", "question", "name"),
    [
        (
            ("My sister is called Eva.", "Eva plays the violin."),
            "Forget my sister.",
            "What do you know about my sister Eva?",
            "Eva",
        ),
        (
            ("Mi hermana se llama Eva.", "Eva toca el violín."),
            "Olvida a mi hermana.",
            "¿Qué sabes de mi hermana Eva?",
            "Eva",
        ),
    ],
)
def test_12_a_request_to_forget_a_relative_means_all_told_of_them(
    tmp_path: Path,
    told: tuple[str, str],
    request_: str,
    question: str,
    name: str,
) -> None:
    memory = tell(tmp_path, (*told, "I live in Leeds.", request_), NOW)
    found = memory.search(question, user_id=USER).results
    assert not any(name in one.content for one in found)
    assert name not in str(memory.context(question, user_id=USER))
    [proposal] = memory.review(user_id=USER).proposals
    done = memory.forget(proposal=proposal["proposal"], verify=True)
    assert done["verification"]["foundIn"] == []
    assert not find_ids(memory, name)
