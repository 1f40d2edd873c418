"""A model judges, when words are stored, which earlier statements they supersede or confirm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.drivers import driver_of
from tests.support.model_server import (
    SERVER_ERROR,
    ModelServer,
    Request,
    prompt,
)
from varve import Memory
from varve.api.inspection import Inspection
from varve.cli.main import main
from varve.domain.calendar import Grain
from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.domain.search.answer import Result

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
SUGAR = "I take my coffee with sugar"
SWEET = "My doctor banned everything sweet"
ATTIC = ("We sleep in the blue room", "The attic is our bedroom these days")
QUESTION = "Do I take sugar in my coffee?"
SCOPE = Scope("default", "default")
NOTHING: dict[str, Any] = {"facts": [], "triples": []}


class Judge:
    """A model that judges every pair it is offered in the same way, and notes the pairs."""

    def __init__(self, verdict: str, quote: str = "", ended: str = "") -> None:
        self.verdict = verdict
        self.quote = quote
        self.ended = ended
        self.offered: list[tuple[str, str]] = []

    def __call__(self, request: Request) -> dict[str, Any]:
        old = read_block(request, "old")
        new = read_block(request, "new")
        texts = {id_: one["text"] for id_, one in (old | new).items()}
        verdicts = []
        for id_, one in new.items():
            for earlier in one["compare"]:
                self.offered.append((texts[id_], texts[earlier]))
                verdicts.append(self.judge(id_, earlier, texts))
        return {"verdicts": verdicts}

    def judge(
        self, new: str, old: str, texts: dict[str, str]
    ) -> dict[str, str]:
        return {
            "new": new,
            "old": old,
            "verdict": self.verdict,
            "quote": self.quote or texts[new],
            "ended": self.ended or texts[old],
        }


def read_block(request: Request, tag: str) -> dict[str, dict[str, Any]]:
    """Return the lines of a fenced block of the prompt, by id."""
    found = re.search(rf"<{tag}>\n(.*?)</{tag}>", prompt(request), re.DOTALL)
    lines = found[1].splitlines() if found else []
    return {one["id"]: one for one in map(json.loads, lines)}


def talk(number: int, *texts: str, user: str = "u-1") -> dict[str, Any]:
    messages = []
    for place, text in enumerate(texts):
        at = FIRST + timedelta(days=number, minutes=place)
        message = {"id": f"m{number}-{place}", "role": "user"}
        message |= {"content": text, "timestamp": at.isoformat()}
        messages.append(message)
    return {
        "conversationId": f"c{number}",
        "userId": user,
        "messages": messages,
    }


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda _: NOTHING) as running:
        yield running


@pytest.fixture
def memory(tmp_path: Path, server: ModelServer) -> Memory:
    return open_memory(tmp_path, server)


def open_memory(path: Path, server: ModelServer) -> Memory:
    environment = {"VARVE_LLM": "openai:gpt-4o-mini", **server.environment}
    return Memory.open(path / "memory", now=NOW, environment=environment)


def find(memory: Memory, words: str, question: str = "", **how: Any) -> Result:
    results = memory.search(question or words, **how).results
    return next(one for one in results if words in one.content)


UNSEEN = [
    ("I take my coffee with sugar", "My doctor banned everything sweet"),
    ("We sleep in the blue room", "The crib has filled it, so off upstairs"),
    ("Vivo en Oporto con mi hermano", "Echo de menos el Duero desde lejos"),
    ("Tomo tres cafés al día", "El médico me quitó la cafeína"),
]


@pytest.mark.parametrize(("old", "new"), UNSEEN)
def test_a_model_finds_the_change_that_rules_miss(
    tmp_path: Path, memory: Memory, server: ModelServer, old: str, new: str
) -> None:
    server.compare = Judge("supersedes")
    plain = Memory.open(tmp_path / "plain", now=NOW)
    for one in (plain, memory):
        one.ingest(talk(1, old))
        one.ingest(talk(30, new))
    assert find(plain, old).current
    told = find(memory, old)
    assert not told.current
    assert told.superseded_by == find(memory, new).id


def test_history_and_a_time_before_still_tell_the_old_statement(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes")
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, SWEET))
    before = FIRST + timedelta(days=2)
    assert find(memory, SUGAR, as_of=before.isoformat()).current
    assert find(memory, SUGAR).content.endswith(SUGAR)
    context = memory.context(QUESTION, user_id="u-1").text
    assert SUGAR not in context
    assert SWEET in context


def test_a_statement_of_two_parts_still_answers_for_the_other_part(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes", ended="live in Porto")
    both = "I work as a nurse, and I live in Porto"
    memory.ingest(talk(1, both))
    memory.ingest(talk(30, "My home is a boat on the Tejo"))
    assert not find(memory, both, "Where do I live?").current
    assert find(memory, both, "What do I work as?").current


def test_a_confirmation_dates_the_statement(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("confirms")
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, "Still two spoons of the sweet stuff for me"))
    told = find(memory, SUGAR)
    assert told.current
    assert told.confirmed_at.startswith("2026-04-01")


@pytest.mark.parametrize(
    ("old", "new", "judge"),
    [
        pytest.param(
            SUGAR, SWEET, Judge("supersedes", "no sugar at all"), id="quote"
        ),
        pytest.param(
            SUGAR, SWEET, Judge("supersedes", "my"), id="quote-of-no-meaning"
        ),
        pytest.param(
            SUGAR, SWEET, Judge("supersedes", ended="tea"), id="ended-words"
        ),
        pytest.param(
            f"{SUGAR}, and the printer needs ink",
            SWEET,
            Judge("supersedes", ended=SUGAR),
            id="a-part-of-another-topic",
        ),
        pytest.param(SUGAR, SWEET, Judge("adds"), id="adds"),
        pytest.param(SUGAR, SWEET, Judge("unrelated"), id="unrelated"),
        pytest.param(
            "I live in Porto",
            "Home is still Braga for me",
            Judge("confirms"),
            id="another-name-confirms-nothing",
        ),
    ],
)
def test_what_the_words_do_not_show_is_not_believed(
    memory: Memory, server: ModelServer, old: str, new: str, judge: Judge
) -> None:
    server.compare = judge
    memory.ingest(talk(1, old))
    memory.ingest(talk(30, new))
    assert judge.offered
    assert links_of(memory) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Porto", "I might move to Lisbon"),
        ("I live in Porto", "My sister lives in Lisbon"),
        ("I live in Porto", "I almost moved to Lisbon"),
        ("Vivo en Oporto", "Mi hermana vive en Lisboa"),
        ("I live in Porto", "Do I live in Lisbon?"),
    ],
)
def test_what_the_rules_guard_is_not_even_asked(
    memory: Memory, server: ModelServer, old: str, new: str
) -> None:
    server.compare = judge = Judge("supersedes")
    memory.ingest(talk(1, old))
    memory.ingest(talk(30, new))
    assert judge.offered == []
    assert find(memory, old).current


def test_ids_that_were_not_offered_link_nothing(
    memory: Memory, server: ModelServer
) -> None:
    for number, text in enumerate((SUGAR, "My dog is called Rufo")):
        memory.ingest(talk(number, text))

    def invent(request: Request) -> dict[str, Any]:
        whole = {"quote": SWEET, "ended": SUGAR, "verdict": "supersedes"}
        pairs = [("n1", "o9"), ("n7", "o1"), ("o1", "n1"), ("n1", "n1")]
        return {
            "verdicts": [
                {"new": new, "old": old, **whole} for new, old in pairs
            ]
        }

    server.compare = invent
    memory.ingest(talk(30, SWEET))
    assert links_of(memory) == []


def test_two_judgements_of_one_pair_link_nothing(
    memory: Memory, server: ModelServer
) -> None:
    def waver(request: Request) -> dict[str, Any]:
        pair = {"new": "n1", "old": "o1", "quote": SWEET, "ended": SUGAR}
        return {
            "verdicts": [
                {**pair, "verdict": "supersedes"},
                {**pair, "verdict": "confirms"},
            ]
        }

    server.compare = waver
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, SWEET))
    assert links_of(memory) == []


def test_only_what_was_told_before_is_compared(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = judge = Judge("supersedes")
    memory.ingest(talk(30, SWEET))
    memory.ingest(talk(1, SUGAR))
    assert judge.offered == []


def test_a_prompt_holds_one_users_words(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = judge = Judge("supersedes")
    memory.ingest(talk(1, SUGAR, user="u-2"))
    memory.ingest(talk(30, SWEET))
    assert judge.offered == []
    assert server.comparisons == []


def test_statements_of_one_conversation_are_compared_in_one_call(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = judge = Judge("supersedes")
    memory.ingest(talk(1, SUGAR, "We sleep in the blue room", SWEET))
    assert (SWEET, SUGAR) in judge.offered
    assert len(server.comparisons) == 1
    assert not find(memory, SUGAR).current


def name(talk: dict[str, Any], *speakers: str) -> dict[str, Any]:
    for message, speaker in zip(talk["messages"], speakers, strict=True):
        message["name"] = speaker
    return talk


def test_the_speakers_of_a_user_are_compared_in_one_call_each_with_oneself(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = judge = Judge("supersedes")
    memory.ingest(name(talk(1, SUGAR, ATTIC[0]), "Ana", "Bo"))
    memory.ingest(name(talk(30, SWEET, ATTIC[1]), "Ana", "Bo"))
    assert len(server.comparisons) == 1
    assert set(judge.offered) == {(SWEET, SUGAR), (ATTIC[1], ATTIC[0])}
    (request,) = server.comparisons
    speakers = {
        one["speaker"] for one in read_block(request.body, "new").values()
    }
    assert speakers == {"Ana", "Bo"}
    assert not find(memory, SUGAR).current
    assert not find(memory, ATTIC[0]).current


def test_a_statement_of_another_speaker_is_not_compared(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = judge = Judge("supersedes")
    memory.ingest(name(talk(1, SUGAR), "Ana"))
    memory.ingest(name(talk(30, SWEET, SUGAR), "Bo", "Ana"))
    assert (SWEET, SUGAR) not in judge.offered


def test_two_users_of_one_conversation_have_a_call_each(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes")
    for day, texts in ((1, (SUGAR, ATTIC[0])), (30, (SWEET, ATTIC[1]))):
        said = talk(day, *texts)
        said["messages"][1]["userId"] = "u-2"
        memory.ingest(said)
    prompts = [prompt(request.body) for request in server.comparisons]
    assert len(prompts) == 2
    for one in prompts:
        assert (SWEET in one) != (ATTIC[1] in one)
        assert (SUGAR in one) != (ATTIC[0] in one)


def test_a_redelivery_leaves_the_same_links_and_asks_no_more(
    tmp_path: Path, memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes")
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, SWEET))
    before = links_of(memory)
    asked = len(server.chats)
    for path in (tmp_path / "memory").glob("ledger/conversations/**/c30.json"):
        path.unlink()  # as if the first delivery had died before its end
    server.compare = Judge("adds")
    memory.ingest(talk(30, SWEET))
    assert links_of(memory) == before != []
    assert len(server.chats) == asked


def test_an_invalid_reply_links_nothing_and_loses_nothing(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = lambda _: {"verdicts": [{"new": "n1"}]}
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, SWEET))
    assert links_of(memory) == []
    assert find(memory, SWEET).current


def test_an_outage_is_retried_and_the_words_are_kept(
    memory: Memory, server: ModelServer
) -> None:
    memory.ingest(talk(1, SUGAR))
    answer = Judge("supersedes")

    def fail(request: Request) -> dict[str, Any]:
        server.fail_next(SERVER_ERROR)
        return {"verdicts": "broken"}

    server.compare = fail  # the repair of the broken reply meets the outage
    with pytest.raises(Retryable):
        memory.ingest(talk(30, SWEET))
    assert find(memory, SWEET).content.endswith(SWEET)
    server.compare = answer
    memory.ingest(talk(30, SWEET))
    assert not find(memory, SUGAR).current


def test_without_a_budget_rules_alone_decide_until_the_model_catches_up(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes")
    memory.ingest(talk(1, SUGAR))
    memory.configure("budget.models", "0 USD")
    memory.ingest(talk(30, SWEET))
    assert server.comparisons == []
    assert find(memory, SUGAR).current
    memory.configure("budget.models", "20 USD")
    memory.catch_up()
    assert not find(memory, SUGAR).current


def test_a_workspace_may_leave_it_to_the_rules(
    memory: Memory, server: ModelServer
) -> None:
    memory.configure("statements.changes", "rules")
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, SWEET))
    assert server.comparisons == []


@pytest.mark.parametrize("subject", ["conversation", "user"])
def test_an_erased_successor_supersedes_nothing(
    tmp_path: Path, memory: Memory, server: ModelServer, subject: str
) -> None:
    server.compare = Judge("supersedes")
    memory.ingest(talk(1, SUGAR))
    memory.ingest(talk(30, SWEET))
    if subject == "conversation":
        memory.forget(conversation="c30")
        assert find(memory, SUGAR).current
    else:
        memory.forget(user="u-1")
    assert links_of(memory) == []
    kept = (tmp_path / "memory" / "payloads").rglob("*.json")
    assert not [path for path in kept if '"c30"' in path.read_text()]


WORK = "My desk is at Kestrel"
SWIM = "From now on I teach children to swim"


def tell_work(request: Request) -> dict[str, Any]:
    """Extract from the message `m1-0` where its speaker works."""
    triple = {
        "op": "ADD",
        "subject": "u-1",
        "predicate": "works_at",
        "object": "Kestrel",
        "event_time": None,
        "confidence": 0.9,
        "message_ids": ["m1-0"],
        "replaces": None,
    }
    is_told = '"m1-0"' in prompt(request)
    return {"facts": [], "triples": [triple] if is_told else []}


def employers_of(memory: Memory) -> list[str]:
    """Return what profile and graph hold of the user's work now."""
    triples = driver_of(memory).graph.triples(SCOPE)
    held = [one.evidence[-1].object for one in triples if one.holds(NOW)]
    attributes = memory.profile(user_id="u-1")["attributes"]
    return [*held, *(one["value"] for one in attributes)]


def test_profile_and_graph_end_what_a_model_saw_superseded(
    memory: Memory, server: ModelServer
) -> None:
    server.reply = tell_work
    server.compare = Judge("supersedes")
    memory.ingest(talk(1, WORK))
    assert employers_of(memory) == ["Kestrel", "Kestrel"]
    memory.ingest(talk(30, SWIM))
    assert employers_of(memory) == []
    memory.forget(conversation="c30")
    assert employers_of(memory) == ["Kestrel", "Kestrel"]


def test_the_end_of_a_value_is_forgotten_with_the_value(
    tmp_path: Path, memory: Memory, server: ModelServer
) -> None:
    server.reply = tell_work
    server.compare = Judge("supersedes")
    memory.ingest(talk(1, WORK))
    memory.ingest(talk(30, SWIM))
    memory.forget(conversation="c1")
    assert driver_of(memory).graph.triples(SCOPE) == []
    kept = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert not [one for one in kept if b"Kestrel" in one.read_bytes()]


def test_a_part_that_is_left_ends_nothing(
    memory: Memory, server: ModelServer
) -> None:
    server.reply = tell_work
    server.compare = Judge("supersedes", ended="live in Porto")
    memory.ingest(talk(1, "I work at Kestrel, and I live in Porto"))
    memory.ingest(talk(30, "My home is a boat on the Tejo"))
    assert links_of(memory)
    assert employers_of(memory) == ["Kestrel", "Kestrel"]


def tell_homes(memory: Memory) -> tuple[str, str]:
    """Tell of two homes, which a model links; return the ids of both turns."""
    memory.ingest(talk(1, "We sleep in the blue room"))
    memory.ingest(talk(30, "The attic is our bedroom these days"))
    new, old = memory.list(memory_types=["turn"]).records
    return old.id, new.id


def test_tables_follow_what_a_model_links(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes")
    old, new = tell_homes(memory)
    rows = memory.sql("select id, current from turns")
    assert {row["id"]: row["current"] for row in rows} == {
        old: False,
        new: True,
    }


def test_a_records_page_follows_what_a_model_links(
    tmp_path: Path,
    memory: Memory,
    server: ModelServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.compare = Judge("supersedes")
    old, new = tell_homes(memory)
    details = Inspection(memory).statement(old)
    assert details.current is False
    assert details.successor is not None
    assert details.successor.id == new
    shown = memory.show(old)
    assert (shown["current"], shown["supersededBy"]) == (False, new)
    assert main(["show", old, "--store", str(tmp_path / "memory")]) == 0
    told = capsys.readouterr().out
    assert "no longer current" in told
    assert f"supersededBy: {new}" in told
    shown = memory.show(new)
    assert (shown["current"], shown["supersededBy"]) == (True, None)


def test_a_page_names_the_last_of_several_successors(
    memory: Memory, server: ModelServer
) -> None:
    server.compare = Judge("supersedes")
    old, new = tell_homes(memory)
    memory.correct(new, "We sleep in the tent")
    last = find(memory, "We sleep in the tent", "Where do we sleep?")
    assert memory.show(old)["supersededBy"] == last.id
    assert memory.show(new)["supersededBy"] == last.id


def links_of(memory: Memory) -> list[str]:
    """Return the links of all turns."""
    reader = driver_of(memory).records.at(SCOPE)
    found: list[str] = []
    for label in reader.periods(SCOPE, Grain.WORKING):
        for record in reader.in_period(SCOPE, Grain.WORKING, label):
            found += record.links
    return found
