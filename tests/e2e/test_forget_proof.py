"""What a proof of an erasure looks for, and what is erased without a message's help."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.test_forget import conversation, files_under, traces
from varve import Memory
from varve.cli import main

NOW = datetime(2026, 4, 20, 12, tzinfo=UTC)
AHEAD = NOW + timedelta(minutes=5)
DANA = conversation(
    "c-1", "u-7", "Dana", "I live in Kumquatolia.", "How nice!"
)
MARCO = conversation("c-2", "u-8", "Marco", "I like espresso.", "Noted.")
OUTCOME_WORDS = "The zebrinaquoll was osprelliant."


def open_memory(root: Path, now: datetime = NOW) -> Memory:
    return Memory.open(
        root, workspace="acme", agent="support", now=now, environment={}
    )


def plant(root: Path, words: str) -> Path:
    """Leave words where no erasure reaches, as a failed deletion would."""
    folder = root / "caches" / "acme" / "support"
    folder.mkdir(parents=True)
    file = folder / "rest.json"
    file.write_text(json.dumps({"said": words}))
    return file


@pytest.mark.parametrize("verify_first", [True, False])
def test_a_second_run_still_knows_what_to_look_for(
    tmp_path: Path, verify_first: bool
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest([DANA, MARCO])
    rest = plant(tmp_path, "Dana: I live in Kumquatolia.")
    first = memory.forget(user="u-7", verify=verify_first)
    if verify_first:
        assert first["verification"]["proved"] is False
    second = memory.forget(user="u-7", verify=True)["verification"]
    assert second["proved"] is False
    assert second["foundIn"] == ["caches/acme/support/rest.json"]
    rest.unlink()
    third = memory.forget(user="u-7", verify=True)["verification"]
    assert third["proved"] is True
    assert third["needles"] > 0


def test_nothing_to_look_for_is_no_proof_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest([DANA, MARCO])
    assert (
        memory.forget(user="u-7", verify=True)["verification"]["proved"]
        is True
    )
    again = memory.forget(user="u-7", verify=True)["verification"]
    assert (again["proved"], again["needles"]) == (None, 0)
    assert "nothing to look for" in again["reason"]
    words = [
        "forget",
        "--user",
        "u-7",
        "--yes",
        "--verify",
        "--store",
        str(tmp_path),
    ]
    at = [
        "--workspace",
        "acme",
        "--agent",
        "support",
        "--now",
        "2026-04-20T12:00:00Z",
    ]
    assert main([*words, *at]) == 0
    assert "nothing is proved: nothing to look for" in capsys.readouterr().out


def test_the_id_of_an_unknown_subject_is_no_proof_and_is_found_all_the_same(
    tmp_path: Path,
) -> None:
    """A long id can be looked for, but tells nothing of the words."""
    memory = open_memory(tmp_path)
    known = conversation(
        "c-1", "u-dana-kim", "Dana", "I live in Kumquatolia.", "Ah!"
    )
    memory.ingest([known, MARCO])
    assert memory.forget(user="u-dana-kim", verify=True)["verification"][
        "proved"
    ]
    for user in ("u-dana-kim", "u-nobody-knows"):
        again = memory.forget(user=user, verify=True)["verification"]
        assert (again["proved"], again["hits"]) == (None, 0)
        assert "nothing to look for but the id" in again["reason"]
        assert again["needles"] > 0
    plant(tmp_path, "written by u-dana-kim")
    found = memory.forget(user="u-dana-kim", verify=True)["verification"]
    assert (found["proved"], found["reason"]) == (False, None)


def test_kept_needles_hold_no_content_and_are_dropped_once_nothing_is_found(
    tmp_path: Path,
) -> None:
    memory = open_memory(tmp_path)
    memory.ingest([DANA, MARCO])
    memory.forget(user="u-7")
    kept = tmp_path / "audit" / "acme" / "needles" / "support.json"
    assert len(kept.read_text()) > 100
    assert traces(files_under(tmp_path), "kumquatolia", "u-7") == []
    memory.forget(user="u-7", verify=True)
    assert json.loads(kept.read_text()) == {}


def test_what_another_user_says_later_is_no_trace(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.ingest([DANA, MARCO])
    memory.forget(user="u-7")
    same = conversation(
        "c-9", "u-9", "Priya", "I live in Kumquatolia.", "How nice!"
    )
    memory.ingest(same)
    checked = memory.forget(user="u-7", verify=True)["verification"]
    assert checked["foundIn"] == []


def state_without_messages(memory: Memory) -> None:
    """Say something in each way that leaves no message."""
    memory.set_profile("employer", "Zebrinaquoll Ltd", user_id="u-7")
    memory.record_outcome(
        "c-none", "FAILURE", user="u-7", correction=OUTCOME_WORDS, at=AHEAD
    )
    experience = memory.experience
    experience.answers.remember(
        "budget",
        "forecast",
        "How much zebrinaquoll?",
        "Osprelliant much.",
        user_id="u-7",
    )
    experience.research.note(
        "log", "fact", "Zebrinaquolls are small.", user_id="u-7"
    )
    with memory.graph as graph:
        graph.insert_facts(
            [
                {
                    "source_id": "Dana",
                    "label": "owns",
                    "target_id": "Zebrinaquoll Farm",
                    "properties": {"userId": "u-7"},
                }
            ]
        )


def test_what_has_no_message_goes_with_its_subject_though_the_clock_is_behind(
    tmp_path: Path,
) -> None:
    """The id is too short to search for, so the words themselves have to be gone."""
    ahead = open_memory(tmp_path, AHEAD)
    ahead.ingest(MARCO)
    state_without_messages(ahead)
    ahead.experience.flush()
    held = traces(files_under(tmp_path), "zebrinaquoll", "osprelliant")
    areas = {name.split("/")[0] for name in held}
    assert areas >= {"vectordb", "graphs", "profiles"}
    done = open_memory(tmp_path, NOW).forget(user="u-7", verify=True)
    assert done["verification"]["proved"] is True
    assert done["verification"]["needles"] > 3
    assert traces(files_under(tmp_path), "zebrinaquoll", "osprelliant") == []


@pytest.mark.parametrize("user", ["u-7", None])
@pytest.mark.parametrize("shared", [True, False])
def test_invariant_8_a_replayed_outcome_does_not_return(
    tmp_path: Path, user: str | None, shared: bool
) -> None:
    """The same statement comes again later, and its episode is no longer there."""
    memory = open_memory(tmp_path)
    said = {**DANA, "messages": list(DANA["messages"])}
    said["messages"][0] = said["messages"][0] | {"state": "moving"}
    if shared:
        other = {
            "id": "c-1-m9",
            "role": "user",
            "userId": "u-8",
            "content": "Hello.",
        }
        said["messages"].append(other | {"timestamp": "2026-04-19T10:00:00Z"})
    memory.ingest([said, MARCO])
    at = NOW - timedelta(hours=1)
    stated = {"correction": OUTCOME_WORDS, "user": user, "at": at}
    memory.record_outcome("c-1", "FAILURE", **stated)
    assert traces(files_under(tmp_path), "zebrinaquoll")
    memory.forget(user="u-7", verify=True)
    assert traces(files_under(tmp_path), "zebrinaquoll") == []
    later = open_memory(tmp_path, NOW + timedelta(days=1))
    later.record_outcome("c-1", "FAILURE", **stated)
    assert traces(files_under(tmp_path), "zebrinaquoll") == []


def test_an_outcome_reported_after_the_erasure_is_kept(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.ingest([DANA, MARCO])
    memory.forget(user="u-7")
    later = NOW + timedelta(days=1)
    open_memory(tmp_path, later).record_outcome(
        "c-2", "SUCCESS", user="u-7", correction=OUTCOME_WORDS, at=later
    )
    assert traces(files_under(tmp_path), "zebrinaquoll")


LESSONS = [
    ("Dana said that Kumquatolia is far.", False),
    ("Moves take long.", True),
]


@pytest.mark.parametrize(("claim", "stays"), LESSONS)
def test_a_lesson_by_hand_goes_if_it_repeats_the_words_and_the_proof_ends(
    tmp_path: Path, claim: str, stays: bool
) -> None:
    memory = open_memory(tmp_path)
    said = {**DANA, "messages": list(DANA["messages"])}
    said["messages"][0] = said["messages"][0] | {"state": "moving"}
    memory.ingest([said, MARCO])
    (episode,) = memory.experience.episodes()
    memory.experience.lessons.add(
        claim,
        when="a user of this service is moving house",
        then="ask for the new address and the date",
        evidence=[episode["id"]],
    )
    done = memory.forget(user="u-7", verify=True)["verification"]
    assert (done["foundIn"], done["proved"]) == ([], True)
    assert traces(files_under(tmp_path), "kumquatolia") == []
    assert bool(traces(files_under(tmp_path), "moves take long")) is stays


def test_a_lesson_of_other_evidence_is_others_words(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    said = {**MARCO, "messages": list(MARCO["messages"])}
    said["messages"][0] = said["messages"][0] | {"state": "moving"}
    memory.ingest([said, DANA])
    (episode,) = memory.experience.episodes()
    memory.experience.lessons.add(
        "Kumquatolia is far.",
        when="a user of this service is moving house",
        then="ask for the new address and the date",
        evidence=[episode["id"]],
    )
    done = memory.forget(user="u-7", verify=True)["verification"]
    assert (done["foundIn"], done["proved"]) == ([], True)
    assert traces(files_under(tmp_path), "kumquatolia")


def test_a_short_id_in_a_date_is_no_trace(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    odd = conversation(
        "03-0", "26-0", "Dana", "I like tea.", "Fine.", day="2026-03-01"
    )
    odd["messages"][0]["id"] = "2026-03-01"
    memory.ingest(
        [odd, conversation("c-2", "u-8", "Marco", "Hi.", day="2026-03-01")]
    )
    memory.summarize()
    done = memory.forget(user="26-0", verify=True)["verification"]
    assert (done["foundIn"], done["proved"]) == ([], True)


def test_the_label_of_another_users_triple_is_no_trace(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    eva = "Soy alérgica a los mariscos."
    memory.ingest(
        [
            conversation("c-1", "u-7", "Dana", "I'm allergic to walnuts."),
            conversation("c-2", "u-8", "Eva", eva),
        ]
    )
    verification = memory.forget(user="u-7", verify=True)["verification"]
    assert verification["proved"] is True
