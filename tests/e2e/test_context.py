"""The context over the project's corpus: what it holds, when it is empty, and that it never feeds itself."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from varve import Memory
from varve.cli import main
from varve.domain.block import CLOSING
from varve.domain.text import estimated_tokens

pytestmark = pytest.mark.usefixtures("clean_environment")

NOW = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
AGENTS = {"northwind": "assistant", "brightline": "helpdesk"}

HOLDS = [
    ("northwind", None, "Where does Dana live now?", "Porto"),
    ("northwind", "u-dana", "Where do I live?", "location: Porto"),
    (
        "northwind",
        None,
        "When is Hannah's birthday? I want to send a card.",
        "12th of March",
    ),
    (
        "northwind",
        None,
        "Which antibiotic must Dana never be given?",
        "penicillin",
    ),
    ("northwind", None, "What is Dana's neighbour called?", "Graciete"),
    (
        "northwind",
        "u-priya",
        "Cook something for me: what is my diet?",
        "diet: vegan",
    ),
    (
        "northwind",
        None,
        "At which house number on Hill Road did Dana live?",
        "41 Hill Road",
    ),
    (
        "northwind",
        None,
        "Which ticket belongs to the stuck charging cable?",
        "NW-53977",
    ),
    (
        "northwind",
        "u-marco",
        "Where do I work these days?",
        "employer: Órbita Salud",
    ),
    ("northwind", None, "¿Cómo se llama el perro de Marco?", "Tronco"),
    (
        "brightline",
        None,
        "Order a replacement charger for Lee's laptop",
        "BLP-55210",
    ),
    ("northwind", None, "Write to Priya's manager", "Tomasz"),
    ("brightline", None, "VPN client shows E-4092, what now?", "6.4.2"),
    ("brightline", None, "Whose phone extension is 4471?", "4471"),
    (
        "brightline",
        "u-dana",
        "Any allergies of mine that the caterer should know?",
        "allergies: peanuts",
    ),
]

SHOULD = [
    ("northwind", "Plan a weekend trip for Dana and her sister"),
    ("northwind", "Where does Dana live now?"),
    ("northwind", "Write a birthday card for Dana's sister"),
    ("northwind", "Suggest a restaurant for Dana tonight, she is hungry"),
    (
        "northwind",
        "The doctor wants to prescribe Dana an antibiotic. Anything to watch out for?",
    ),
    ("northwind", "What tablets does Biscuit take, and how often?"),
    ("northwind", "Draft an e-mail to Priya's manager about her promotion"),
    ("northwind", "Cook dinner for Priya: which ingredients must I avoid?"),
    ("northwind", "Send the invoice to the account of Marco's bakery job"),
    ("northwind", "¿En qué colegio empieza Nico y cuándo?"),
    ("northwind", "Prepara un regalo para la hija de Marco"),
    ("northwind", "What is the status of ticket NW-53977?"),
    ("northwind", "my charging cable is stuck again"),
    ("northwind", "Which flight did Marco take for Christmas?"),
    ("northwind", "Remind me when the mehndi was"),
    ("northwind", "the boiler is banging again, who fixed it last time?"),
    ("brightline", "VPN client shows E-4092"),
    ("brightline", "Whose phone extension is 4471?"),
    ("brightline", "Order a replacement charger for Lee's laptop"),
    (
        "brightline",
        "Dana from Finance wants snacks for her party; any allergies?",
    ),
]
SHOULD_NOT = [
    ("northwind", "What is the capital of Mongolia?"),
    ("northwind", "Write a Python function that reverses a linked list"),
    ("northwind", "Explain how photosynthesis works"),
    ("northwind", "Translate 'good morning' into Japanese"),
    ("northwind", "Who won the 1998 football world cup?"),
    ("northwind", "hello"),
    ("northwind", "thanks, that is all"),
    ("northwind", "Compose a haiku about autumn leaves"),
    ("northwind", "What is 17 times 243?"),
    ("northwind", "Summarise the plot of Hamlet in two sentences"),
    ("northwind", "How do I center a div with CSS?"),
    ("northwind", "¿Cuál es la velocidad de la luz?"),
    ("northwind", "Escribe un poema sobre el mar"),
    ("northwind", "What causes inflation in an economy?"),
    ("northwind", "Convert 30 degrees Celsius to Fahrenheit"),
    ("brightline", "Explain the difference between TCP and UDP"),
    ("brightline", "Who painted the Mona Lisa?"),
    ("brightline", "Write a limerick about a frog"),
    ("brightline", "What is the boiling point of ethanol?"),
    ("brightline", "List the planets of the solar system"),
]
"""The floors of `domain/relevance.py` were chosen on these forty."""

UNSEEN_SHOULD = [
    ("northwind", "When is Hannah's baby due?"),
    ("northwind", "Which antibiotic must never be given?"),
    ("northwind", "Who repaired the heating?"),
    ("northwind", "Book the vet for the cat again"),
    ("northwind", "What did I say about bouldering?"),
    ("northwind", "Priya starts a new job soon, write a speech"),
    ("northwind", "Which house number on Hill Road?"),
    (
        "northwind",
        "Is there a nut allergy I should tell the restaurant about?",
    ),
    ("northwind", "the charging point broke down, which ticket was that?"),
    ("northwind", "¿Dónde vive Marco ahora?"),
    ("northwind", "¿Cómo se llama el perro de Marco?"),
    ("northwind", "¿Qué le regalamos a Nico por su cumpleaños?"),
    ("northwind", "When is Arjun's wedding?"),
    ("brightline", "Lee's laptop will not start"),
    ("brightline", "Which asset tag does the laptop have?"),
    ("brightline", "certificate expired on the gateway"),
    ("brightline", "Priya needs another charger"),
]
UNSEEN_SHOULD_NOT = [
    ("northwind", "How tall is Mount Everest?"),
    ("northwind", "Explain quantum entanglement to a child"),
    ("northwind", "Sort this list of numbers: 4, 2, 9"),
    ("northwind", "What is the chemical formula of table salt?"),
    ("northwind", "ok perfect"),
    ("northwind", "Give me five synonyms for happy"),
    ("northwind", "Who wrote Don Quixote?"),
    ("northwind", "¿Cuántos habitantes tiene China?"),
    ("northwind", "Traduce 'buenas noches' al alemán"),
    ("northwind", "Escribe una función en Java que sume dos números"),
    ("northwind", "Why is the sky blue?"),
    ("northwind", "Tell me a joke about penguins"),
    ("northwind", "What is the derivative of x squared?"),
    ("northwind", "When did the Roman Empire fall?"),
    ("brightline", "Write a bash loop that renames files"),
    ("brightline", "How does a combustion engine work?"),
    ("brightline", "What is the square root of 144?"),
]
"""These had no part in it."""


@pytest.fixture(scope="module")
def memories(corpus_store: Path) -> dict[str, Memory]:
    return {workspace: opened(corpus_store, workspace) for workspace in AGENTS}


def opened(root: Path, workspace: str = "northwind") -> Memory:
    return Memory.open(
        root, workspace=workspace, agent=AGENTS[workspace], now=NOW
    )


@pytest.mark.parametrize(
    ("workspace", "user_id", "prompt", "expected"),
    HOLDS,
    ids=[h[2][:40] for h in HOLDS],
)
def test_the_block_holds_what_the_prompt_needs(
    memories: dict[str, Memory],
    workspace: str,
    user_id: str | None,
    prompt: str,
    expected: str,
) -> None:
    block = memories[workspace].context(
        prompt, user_id=user_id, max_tokens=800
    )
    assert expected.lower() in block.text.lower()
    assert block.tokens == estimated_tokens(block.text) <= 800


class TestFloor:
    def test_prompts_that_memory_bears_on_get_a_block(
        self, memories: dict[str, Memory]
    ) -> None:
        assert [p for w, p in SHOULD if memories[w].context(p).empty] == []

    def test_prompts_about_nothing_in_memory_get_none(
        self, memories: dict[str, Memory]
    ) -> None:
        found = {p: memories[w].context(p) for w, p in SHOULD_NOT}
        assert [p for p, block in found.items() if not block.empty] == []
        assert all(
            block.text == "" and block.reason for block in found.values()
        )

    def test_most_prompts_that_had_no_part_in_it_are_told_apart(
        self, memories: dict[str, Memory]
    ) -> None:
        missed = [p for w, p in UNSEEN_SHOULD if memories[w].context(p).empty]
        injected = [
            p for w, p in UNSEEN_SHOULD_NOT if not memories[w].context(p).empty
        ]
        assert len(missed) <= 3, missed
        assert len(injected) <= 3, injected


def test_few_statements_of_a_long_memory_are_marked_superseded(
    memories: dict[str, Memory],
) -> None:
    """A person says hundreds of things; hardly any of them supersedes another one."""
    results = []
    for workspace, prompt in (*SHOULD, *UNSEEN_SHOULD):
        results += memories[workspace].search(prompt).results
    superseded = [result for result in results if not result.current]
    assert len(superseded) <= len(results) / 15


def test_a_users_block_holds_no_other_users_words(
    memories: dict[str, Memory],
) -> None:
    memory = memories["northwind"]
    for _, prompt in SHOULD[:8]:
        block = memory.context(prompt, user_id="u-marco", max_tokens=2_000)
        ids = [id_ for id_ in block.ids if id_.startswith(("fact-", "turn-"))]
        owners = {memory.show(id_, depth=0)["userId"] for id_ in ids}
        assert owners <= {"u-marco"}


CHANGES: list[Callable[[str], str]] = [
    lambda block: block,
    lambda block: "\n".join(f"> {line}" for line in block.splitlines()),
    lambda block: "\n".join(f"    {line}" for line in block.splitlines()),
    html.escape,
    json.dumps,
    lambda block: block[: len(block) * 2 // 3],
]


def test_a_memory_fed_back_to_itself_fifty_times_does_not_grow(
    tmp_path: Path,
) -> None:
    memory = opened(tmp_path)
    told = "I moved to Lisbon and I am allergic to peanuts. My sister Hannah lives in Leeds."
    memory.ingest(conversation("c-0", f"My name is Dana Whitfield. {told}"))
    before, triples = count(memory), memory.status()["graph"]["triples"]
    own = 0
    for round_ in range(50):
        block = memory.context(
            "Where do Dana and Hannah live, any allergies?", user_id="u-dana"
        )
        assert not block.empty
        echo = CHANGES[round_ % len(CHANGES)](block.text)
        memory.ingest(
            conversation(
                f"c-echo-{round_}",
                echo,
                role=("user", "assistant")[round_ % 2],
            )
        )
        if round_ % 10 == 0:
            memory.ingest(
                conversation(
                    f"c-own-{round_}",
                    f"{echo}\n\nThe weather is round {round_} today.",
                )
            )
            own += 1
    assert count(memory) == before + own
    assert memory.status()["graph"]["triples"] == triples
    assert len(memory.profile(user_id="u-dana")["history"]) == 3


def conversation(
    name: str, content: str, role: str = "user"
) -> dict[str, Any]:
    speaker = "Dana" if role == "user" else "Assistant"
    message = {
        "role": role,
        "name": speaker,
        "content": content,
        "timestamp": "2026-10-01T09:00:00Z",
    }
    return {"conversationId": name, "userId": "u-dana", "messages": [message]}


def count(memory: Memory) -> int:
    return sum(
        int(grain["records"]) for grain in memory.status()["grains"].values()
    )


class TestCommandLine:
    def run(
        self,
        corpus_store: Path,
        capsys: pytest.CaptureFixture[str],
        *words: str,
        now: datetime = NOW,
    ) -> tuple[int, str, str]:
        where = [
            "--store",
            str(corpus_store),
            "--workspace",
            "northwind",
            "--agent",
            "assistant",
        ]
        code = main([*words, *where, "--now", now.isoformat()])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    def test_context_prints_the_block_and_json_the_whole_answer(
        self,
        corpus_store: Path,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        manual = tmp_path / "manual.txt"
        manual.write_text(
            "Dana's boiler manual: hold reset for ten seconds.", "utf-8"
        )
        words = [
            "context",
            "Dana's boiler",
            "--max-tokens",
            "400",
            "--user",
            "u-dana",
            "--document",
            str(manual),
        ]
        code, out, err = self.run(corpus_store, capsys, *words)
        block = opened(corpus_store).context(
            "Dana's boiler",
            max_tokens=400,
            user_id="u-dana",
            documents=[manual.read_text("utf-8")],
        )
        assert (code, out, err) == (0, f"{block}\n", "")
        assert "document-1.1" in block.ids
        assert block.text.endswith(CLOSING)
        code, out, _ = self.run(corpus_store, capsys, *words, "--json")
        assert json.loads(out) == block.to_dict()

    def test_nothing_to_inject_prints_nothing_and_says_why(
        self, corpus_store: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, err = self.run(
            corpus_store, capsys, "context", "What is the capital of Mongolia?"
        )
        assert (code, out) == (0, "")
        assert "nothing to inject" in err

    def test_a_profile_is_shown_and_set_and_its_history_kept(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        user = ["--user", "auth0|42"]
        answers = [
            ("language", "French"),
            ("language", "German"),
            ("preferences", "short answers"),
        ]
        for day, (key, value) in enumerate(answers, start=1):
            words = ["profile", "set", key, value, *user]
            assert (
                self.run(tmp_path, capsys, *words, now=NOW.replace(day=day))[0]
                == 0
            )
        later = NOW.replace(day=9)
        code, out, _ = self.run(
            tmp_path, capsys, "profile", "show", *user, "--json", now=later
        )
        shown = json.loads(out)
        assert code == 0
        held = {a["key"]: a["value"] for a in shown["attributes"]}
        assert held == {"language": "German", "preferences": "short answers"}
        assert [a["value"] for a in shown["history"]] == [
            "French",
            "German",
            "short answers",
        ]
        _, out, _ = self.run(
            tmp_path,
            capsys,
            "profile",
            "set",
            "preferences",
            "",
            *user,
            now=later,
        )
        assert "preferences" not in out
        assert "set by hand" in out

    @pytest.mark.parametrize(
        "words",
        [
            ["profile", "set", "language"],
            ["profile", "set", "No Key", "x"],
            ["profile", "set", "language", "x" * 301],
            ["profile", "show", "language"],
            ["profile", "show", "--user", "a b"],
            ["context", "x", "--max-tokens", "0"],
            ["context", "x", "--document", "no-such-file"],
        ],
    )
    def test_bad_words_change_nothing_and_exit_with_2(
        self,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        words: list[str],
    ) -> None:
        code, out, err = self.run(tmp_path / "store", capsys, *words)
        assert (code, out) == (2, "")
        assert err.startswith("varve: ")
        assert not (tmp_path / "store").exists()
