"""The comparison with other memories: it reads both file shapes and reports what cannot run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import peers

INSTALLED = ["Varve", "BM25", "flat vectors", "LanceDB hybrid"]
TIMES = {1: "9:15 am on 2 March, 2026", 2: "4:05 pm on 9 March, 2026"}
WORDS = {
    "D1:1": ("Dana", "I moved to Lisbon last week."),
    "D1:2": ("Ben", "How is your new flat?"),
    "D1:3": ("Dana", "Small, but it has a view of the river."),
    "D2:1": ("Ben", "My sister adopted a grey cat called Miso."),
    "D2:2": ("Dana", "I am learning to play the cello."),
}
ASKED = [
    ("Where did Dana move?", ["D1:1"], 4),
    ("What is the name of the cat?", ["D2:1"], 4),
    ("Which instrument does Dana play?", ["D2:2"], 1),
    ("A question without evidence", [], 4),
]


def write_locomo(path: Path) -> Path:
    conversation: dict[str, Any] = {"speaker_a": "Dana", "speaker_b": "Ben"}
    for number, time in TIMES.items():
        conversation[f"session_{number}_date_time"] = time
        conversation[f"session_{number}"] = [
            {"dia_id": id_, "speaker": speaker, "text": text}
            for id_, (speaker, text) in WORDS.items()
            if id_.startswith(f"D{number}:")
        ]
    asked = [
        {"question": question, "evidence": evidence, "category": category}
        for question, evidence, category in ASKED
    ]
    sample = {
        "sample_id": "made-up",
        "conversation": conversation,
        "qa": asked,
    }
    path.write_text(json.dumps([sample]))
    return path


def write_realtalk(path: Path) -> Path:
    turns = [
        {
            "dia_id": id_,
            "speaker": speaker,
            "clean_text": text,
            "date_time": "02.03.2026, 09:15:00",
        }
        for id_, (speaker, text) in WORDS.items()
    ]
    turns[0]["blip_caption"] = "a tram"
    asked = [
        {"question": question, "evidence": evidence, "category": 1}
        for question, evidence, _ in ASKED
    ]
    chat = {
        "name": {"speaker_1": "Dana", "speaker_2": "Ben"},
        "session_1": turns[:3],
        "session_1_date_time": "02.03.2026, 09:15:00",
        "session_2": turns[3:],
        "session_2_date_time": "02.03.2026, 09:15:00",
        "qa": asked,
    }
    path.write_text(json.dumps(chat))
    return path


def test_one_run_prints_a_row_for_each_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    peers.main(
        [str(write_locomo(tmp_path / "chats.json")), "--only", *INSTALLED]
    )
    said = capsys.readouterr().out
    assert "1 conversations, 5 turns, 3 questions" in said
    rows = dict(
        re.findall(r"^\| ([\w ]+) \(.*?\) \| ([\d.]+) \|", said, re.MULTILINE)
    )
    # Ten of five turns: every system finds all the evidence, except what it leaves out.
    assert list(rows) == INSTALLED
    assert {rows[name] for name in INSTALLED[2:]} == {"1.000"}
    assert float(rows["Varve"]) > 0.6


def test_a_peer_without_its_library_is_named_with_the_reason(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(sample: Any, folder: Path) -> Any:
        raise ModuleNotFoundError("No module named 'elsewhere'")

    missing = peers.Peer("Elsewhere", "elsewhere", fail)
    monkeypatch.setattr(peers, "PEERS", (missing, *peers.PEERS))
    chats = write_locomo(tmp_path / "chats.json")
    peers.main([str(chats), "--only", "Elsewhere", "BM25"])
    said = capsys.readouterr().out
    assert "| Elsewhere | not installed: No module named 'elsewhere' |" in said
    assert "| BM25 (bm25s " in said


def test_a_realtalk_file_is_read_with_its_captions_and_times(
    tmp_path: Path,
) -> None:
    (sample,) = peers.read_samples(
        write_realtalk(tmp_path / "Chat_1_Dana_Ben.json")
    )
    first = sample.conversations[0]["messages"][0]
    assert sample.name == "Chat_1_Dana_Ben"
    assert [len(each["messages"]) for each in sample.conversations] == [3, 2]
    assert first["content"] == "I moved to Lisbon last week. [shares a tram]"
    assert first["timestamp"] == "2026-03-02T09:15:00+00:00"
    assert [question.evidence for question in sample.questions] == [
        {"D1:1"},
        {"D2:1"},
        {"D2:2"},
    ]


def test_an_answer_lists_each_message_once_with_the_tokens_up_to_it() -> None:
    def find(question: str) -> list[tuple[list[str], str]]:
        return [
            (["D1:1", "D1:2"], "four words of text"),
            (["D1:1", "D1:3"], "more"),
        ]

    answer = peers._timed(find)("where?")
    assert list(answer.ids) == ["D1:1", "D1:2", "D1:3"]
    assert answer.tokens[0] == answer.tokens[1] < answer.tokens[2]
    assert answer.seconds >= 0
