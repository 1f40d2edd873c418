"""Experience on real stores: episodes, outcomes by call and by queue, answers, research."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ACME, RecordingQueue, attempt, raw_message
from tests.support.drivers import driver_of, open_driver
from varve import Memory
from varve.adapters.in_memory import InMemoryDeadLetters
from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.experience.rows import episode_id
from varve.domain.record import Store
from varve.domain.search.query import Filter

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(
        tmp_path,
        workspace="acme",
        agent="support",
        now=START + timedelta(days=9),
        environment={},
    )


def conversation(number: int, *texts: str, **given: Any) -> dict[str, Any]:
    at = START + timedelta(days=number)
    messages = [
        {
            "id": f"m{place}",
            "role": "assistant" if place % 2 else "user",
            "content": text,
            "timestamp": (at + timedelta(minutes=place)).isoformat(),
            **given,
        }
        for place, text in enumerate(texts)
    ]
    return {
        "conversationId": f"c-{number}",
        "userId": f"u-{number}",
        "messages": messages,
    }


def learnt(memory: Memory) -> list[str]:
    """Three episodes with outcomes; their ids."""
    said = (
        "threads wait for a connection",
        "all connections taken, threads wait",
        "errors since the release",
    )
    memory.ingest(
        [
            conversation(n, text, state="debugging")
            for n, text in enumerate(said)
        ]
    )
    ids = [episode_id(f"c-{n}", "m0") for n in range(3)]
    for id_ in ids[:2]:
        memory.record_outcome(
            id_,
            "SUCCESS",
            decision="raise the pool",
            resolution="raise the pool",
            at=START,
        )
    memory.record_outcome(
        "c-2", "FAILURE", decision="raise the pool", resolution="roll back", correction="It was the release.",
        used=[ids[0]], at=START + timedelta(days=3),
    )  # fmt: skip
    return ids


def rows(memory: Memory) -> int:
    return driver_of(memory).records.count(
        memory.scope, Store.EXPERIENCE, where=Filter()
    )


def test_an_episode_refers_to_the_timeline_and_grows_with_its_conversation(
    memory: Memory,
) -> None:
    whole = conversation(
        0,
        "threads wait",
        "I think the pool is full.",
        "That works, tests pass.",
        state="debugging",
    )
    memory.ingest(whole | {"messages": whole["messages"][:1]})
    memory.ingest(whole)
    memory.ingest(whole)
    (episode,) = memory.experience.episodes()
    assert episode["messageIds"] == ["m0", "m1", "m2"]
    assert (episode["outcome"], episode["outcomeFrom"]) == ("SUCCESS", "cue")
    assert rows(memory) == 1


def test_messages_with_nothing_to_learn_make_no_episode(
    memory: Memory,
) -> None:
    memory.ingest(conversation(0, "I moved to Lisbon."))
    assert memory.experience.episodes() == []
    assert (
        driver_of(memory).records.periods(memory.scope, Store.EXPERIENCE) == {}
    )


def test_the_loop_from_outcomes_to_lessons_and_links(memory: Memory) -> None:
    first, second, third = learnt(memory)
    found = memory.recall_experience(
        "payments: threads wait for connections", state="debugging"
    )
    assert {item.id for item in found.items if item.kind == "episode"} == {
        first,
        second,
        third,
    }
    assert {
        item.outcome for item in found.items if item.kind == "episode"
    } == {
        "SUCCESS",
        "FAILURE",
    }
    (lesson,) = [item for item in found.items if item.kind == "lesson"]
    assert lesson.answer == "raise the pool"
    assert found.chains[third]
    story = memory.experience.why(third)
    assert {link["link"] for link in story["links"]} >= {
        "caused_by",
        "led_to",
        "contradicted",
        "learned_from",
    }


def test_the_same_outcome_counts_once_however_often_it_is_stated(
    memory: Memory,
) -> None:
    learnt(memory)
    before, links = rows(memory), driver_of(memory).graph.triples(memory.scope)
    learnt(memory)
    assert rows(memory) == before
    assert driver_of(memory).graph.triples(memory.scope) == links


def test_an_outcome_may_come_before_its_episode(memory: Memory) -> None:
    memory.record_outcome(
        episode_id("c-0", "m0"), "FAILURE", correction="no", at=START
    )
    memory.ingest(conversation(0, "threads wait", state="debugging"))
    (episode,) = memory.experience.episodes()
    assert (episode["outcome"], episode["correction"]) == ("FAILURE", "no")


def test_search_offers_lessons_and_episodes_together(memory: Memory) -> None:
    learnt(memory)
    answer = memory.search(
        "threads wait for a connection", memory_types=["lesson"]
    )
    assert {result.memory_type for result in answer.results} == {
        "lesson",
        "episode",
    }
    assert any(
        "[FAILURE]" in r.content and "It was the release." in r.content
        for r in answer.results
    )
    turns = memory.search("threads", memory_types=["turn"])
    assert {result.memory_type for result in turns.results} == {"turn"}
    assert memory.search("threads").searched.grains == [
        str(grain) for grain in Grain
    ]


@pytest.mark.parametrize("written", [False, True], ids=["derived", "written"])
def test_a_search_for_one_user_omits_lessons_from_other_users(
    memory: Memory, written: bool
) -> None:
    learnt(memory)
    if written:
        memory.experience.lessons.curate()
    asked = "threads wait for a connection"
    assert "lesson" in {
        r.memory_type
        for r in memory.search(asked, memory_types=["lesson"]).results
    }
    for user in ("u-0", "u-2"):
        found = memory.search(
            asked, memory_types=["lesson"], user_id=user
        ).results
        recalled = memory.recall_experience(asked, user=user).items
        assert "lesson" not in {r.memory_type for r in found}
        assert "lesson" not in {item.kind for item in recalled}


def test_experience_outlives_working_memory_and_expires_with_its_year(
    memory: Memory,
) -> None:
    memory.configure("plan", "free")
    learnt(memory)
    held = rows(memory)
    memory.cleanup(force=True, now=START + timedelta(days=90))
    assert rows(memory) == held
    report = memory.cleanup(force=True, now=START + timedelta(days=365 * 4))
    assert report["grains"]["experience"]["expiredRecords"] == held
    assert rows(memory) == 0


def test_a_lesson_by_hand_needs_evidence_a_condition_and_an_action(
    memory: Memory,
) -> None:
    ids = learnt(memory)
    book = memory.experience.lessons
    vague = attempt(
        lambda: book.add(
            "Be careful", when="often", then="check", evidence=ids
        )
    )
    assert isinstance(vague, Rejected)
    unproven = attempt(
        lambda: book.add(
            "c",
            when="errors after release",
            then="roll back",
            evidence=["none"],
        )
    )
    assert isinstance(unproven, Rejected)
    claim = "When errors begin with a release: roll back"
    id_ = book.add(
        claim,
        when="errors begin with a release",
        then="roll back",
        evidence=[ids[2]],
        state="debugging",
    )
    assert book.find(id_).claim == claim
    assert claim in book.block()
    book.retire(id_, reason="superseded")
    assert (book.find(id_).standing, book.find(id_).reason) == (
        "retired",
        "superseded",
    )
    assert claim not in book.block()
    assert claim in book.render()


def test_curation_writes_each_generalized_version_once(memory: Memory) -> None:
    learnt(memory)
    assert memory.experience.lessons.curate()["kept"] == 1
    assert memory.experience.lessons.curate()["kept"] == 0


def test_a_prior_answer_is_reused_until_a_signal_regime_age_or_doubt_forbids_it(
    memory: Memory,
) -> None:
    book, at = memory.experience.answers, START
    book.remember(
        "ACME",
        "credit",
        "Will ACME pay?",
        "yes",
        now=at,
        probability=0.9,
        confidence=0.8,
    )
    ask = lambda **given: book.should_rerun(  # noqa: E731
        "ACME", "credit", now=at + timedelta(days=1), **given
    )
    assert not ask().rerun
    assert (
        "material signal: lawsuit"
        in ask(signals={"lawsuit": True, "weather": None}).reason
    )
    assert "another regime" in ask(regime={"rates": "high"}).reason
    assert book.should_rerun(
        "ACME", "credit", now=at + timedelta(days=20)
    ).reason.startswith("no answer")
    book.remember(
        "ACME",
        "credit",
        "Will ACME pay?",
        "hardly",
        now=at + timedelta(hours=1),
        confidence=0.3,
    )
    assert "confidence 0.30" in ask().reason


def test_a_research_step_reuses_and_proposes_a_lesson_when_the_answer_changes_much(
    memory: Memory,
) -> None:
    book, calls = memory.experience.answers, []

    def research(hints: Any) -> dict[str, Any]:
        calls.append(hints)
        return {
            "answer": f"answer {len(calls)}",
            "probability": 0.9 if len(calls) == 1 else 0.2,
        }

    step = lambda days, **given: book.research_step(  # noqa: E731
        "ACME",
        "credit",
        "Will it pay?",
        research,
        now=START + timedelta(days=days),
        **given,
    )
    assert not step(0).reused
    assert step(1).reused
    changed = step(2, signals={"lawsuit": True})
    assert (changed.reused, len(calls)) == (False, 2)
    assert changed.proposal is not None
    assert [hint.answer for hint in calls[1]] == ["answer 1"]


def test_eviction_lists_its_deletions_and_a_dry_run_deletes_nothing(
    memory: Memory,
) -> None:
    book = memory.experience.answers
    old = book.remember("A", "t", "q", "a", now=START - timedelta(days=200))
    read = book.remember("B", "t", "q", "b", now=START - timedelta(days=40))
    unread = book.remember("C", "t", "q", "c", now=START - timedelta(days=40))
    memory.experience.count_reads([read.id])
    memory.experience.flush()
    assert set(book.evict(now=START)) == {old.id, unread.id}
    assert len(book.all()) == 3
    book.evict(now=START, dry_run=False)
    assert [answer.id for answer in book.all()] == [read.id]


def test_an_episode_is_shown_with_the_year_it_is_stored_under(
    tmp_path: Path,
) -> None:
    memory = Memory.open(
        tmp_path, now=datetime(2027, 1, 5, tzinfo=UTC), environment={}
    )
    said = raw_message(
        "requests time out",
        state="debugging",
        outcome="FAILURE",
        timestamp="2027-01-01T09:00:00Z",
    )
    memory.ingest({"conversationId": "c-1", "messages": [said]})
    (found,) = memory.search("time out", memory_types=["episode"]).results
    assert (
        driver_of(memory).records.periods(memory.scope, Store.EXPERIENCE)
        == {found.period: 1}
        == {"2026": 1}
    )


def test_the_searched_count_covers_only_the_requested_memory_types(
    memory: Memory,
) -> None:
    learnt(memory)
    lived = len(memory.experience.episodes())
    spoken = memory.search(
        "threads wait", memory_types=["turn"]
    ).searched.records
    assert min(lived, spoken) > 1

    def records(*kinds: str, **limits: Any) -> int:
        return memory.search(
            "threads wait", memory_types=list(kinds), **limits
        ).searched.records

    assert records("episode") == records("lesson") == lived
    assert records("episode", "turn") == lived + spoken
    assert (
        records("episode", until=START.date() - timedelta(days=1))
        == records("prior_answer")
        == 0
    )


def test_reads_are_written_in_batches(memory: Memory) -> None:
    learnt(memory)
    before = rows(memory)
    for _ in range(9):
        memory.recall_experience("threads wait")
    assert rows(memory) == before
    for _ in range(9):
        memory.recall_experience("threads wait")
    assert rows(memory) == before + 1


def test_forgetting_is_off_until_a_workspace_turns_it_on(
    memory: Memory,
) -> None:
    learnt(memory)
    later = START + timedelta(days=60)
    assert memory.experience.forget_unread(now=later)["forgotten"] == {}
    memory.configure("experience.decay", "true")
    assert len(memory.experience.forget_unread(now=later)["forgotten"]) == 3
    memory.configure("experience.timeToLiveDays", "30")
    memory.experience.forget_unread(now=later, dry_run=False)
    assert memory.experience.episodes() == []


@pytest.mark.parametrize(
    ("key", "value"),
    [("timeToLiveDays", "30"), ("decay", "true"), ("evict", "true")],
)
def test_the_nightly_cleanup_forgets_where_it_is_configured(
    memory: Memory, key: str, value: str
) -> None:
    old = memory.experience.answers.remember("A", "t", "q", "a", now=START)
    later = START + timedelta(days=60)
    assert memory.cleanup(now=later)["forgotten"] == {}
    memory.configure(f"experience.{key}", value)
    assert set(memory.cleanup(now=later, dry_run=True)["forgotten"]) == {
        old.id
    }
    assert len(memory.experience.answers.all()) == 1
    memory.cleanup(now=later)
    assert memory.experience.answers.all() == []


def test_the_limits_of_eviction_are_settings(memory: Memory) -> None:
    book, notes = memory.experience.answers, memory.experience.research
    for number in range(3):
        at = START + timedelta(days=number)
        book.remember("A", "t", "q", f"answer {number}", now=at)
        notes.note("log", "query", f"query {number}", now=at)
    memory.configure("experience.evict", "true")
    assert memory.cleanup(dry_run=True)["forgotten"] == {}
    memory.configure("experience.answersPerSubject", "2")
    memory.configure("experience.researchEntries", "1")
    reasons = memory.cleanup(dry_run=True)["forgotten"].values()
    assert sorted(reason.split(" of ")[0] for reason in reasons) == [
        "more than 1 entries",
        "more than 1 entries",
        "more than 2",
    ]


def test_a_research_log_keeps_no_duplicates_and_stays_within_its_limit(
    memory: Memory,
) -> None:
    notes = memory.experience.research
    assert notes.note("acme", "fact", "ACME has 40 employees.")[1]
    assert not notes.note("acme", "fact", "ACME has 40 employees")[1]
    notes.note("acme", "question", "Who owns ACME?")
    assert "Who owns ACME?" in notes.block("acme", "How big is ACME?")
    notes.answer("acme", "Who owns ACME?", "A family.")
    assert "Who owns ACME?" not in notes.block("acme", "How big is ACME?")
    for number in range(3):
        notes.note(
            "acme",
            "query",
            f"acme owner {number}",
            most=2,
            now=START + timedelta(days=number),
        )
    assert [
        e.text for e in notes.log("acme").entries if e.component == "query"
    ] == [
        "acme owner 1",
        "acme owner 2",
    ]
    assert "1 of 1 questions answered" in notes.log("acme").summary()


def test_an_invalid_outcome_or_target_is_refused_by_field(
    memory: Memory,
) -> None:
    assert attempt(memory.record_outcome, "c-1", "WON").field == "outcome"
    assert attempt(memory.record_outcome, "../c", "SUCCESS").field == "episode"


def test_invariant_2_an_outcome_may_arrive_any_number_of_times(
    tmp_path: Path,
) -> None:
    urls = {
        f"VARVE_{name}_QUEUE_URL": f"https://sqs.invalid/{name}"
        for name in ("INGEST", "WRITE")
    }
    ingest, write, letters = (
        RecordingQueue(),
        RecordingQueue(),
        InMemoryDeadLetters(),
    )
    app = open_driver(
        urls,
        tmp_path,
        START,
        ingest_queue=ingest,
        write_queue=write,
        dead_letters=letters,
    )
    memory = app.memory(ACME)
    memory.ingest(
        conversation(0, "threads wait for a connection", state="debugging")
    )
    memory.record_outcome(
        episode_id("c-0", "m0"),
        "FAILURE",
        correction="the release",
        resolution="roll back",
    )
    assert [
        app.extract(batch) for batch in (ingest.sent[::-1], ingest.sent)
    ] == [
        [],
        [],
    ]
    assert {"acme:support:experience", "acme:support:graph"} < set(
        write.groups
    )
    for batch in (write.sent[::-1], write.sent):
        assert app.write(batch).returned == []
    (episode,) = memory.experience.episodes()
    assert (episode["outcome"], episode["resolution"]) == (
        "FAILURE",
        "roll back",
    )
    assert {link["link"] for link in memory.experience.why(episode["id"])["links"]} == {
        "caused_by", "learned_from",
    }  # fmt: skip
    assert (rows(memory), letters.letters) == (2, [])


def told(**given: Any) -> dict[str, Any]:
    whose = {
        "workspaceId": "acme",
        "agentId": "support",
        "conversationId": "c-0",
    }
    return {
        "type": "outcome",
        **whose,
        "outcome": "FAILURE",
        "at": START.isoformat(),
        **given,
    }


def test_an_outcome_event_is_redacted_and_counts_once(
    memory: Memory,
) -> None:
    memory.configure("privacy.mode", "redact")
    memory.ingest(
        conversation(0, "threads wait for a connection", state="debugging")
    )
    for _ in range(2):
        driver_of(memory).ingest_outcome(
            told(correction="Ask ops@example.com for the release.")
        )
    (episode,) = memory.experience.episodes()
    assert episode["outcome"] == "FAILURE"
    assert episode["correction"].endswith("for the release.")
    assert "example.com" not in episode["correction"]
    assert rows(memory) == 2


def test_an_outcome_of_a_conversation_links_its_episode_to_the_used_rows(
    memory: Memory,
) -> None:
    memory.ingest(
        conversation(1, "threads wait for a connection", state="debugging")
    )
    (before,) = memory.experience.episodes()
    driver_of(memory).ingest_outcome(
        told(correction="It was the release.", used=[before["id"]])
    )
    memory.ingest(
        conversation(
            0, "threads wait for a connection again", state="debugging"
        )
    )
    after = episode_id("c-0", "m0")
    assert {(link["source"], link["link"]) for link in memory.experience.why(after, depth=1)["links"]} == {
        (before["id"], "led_to"), (after, "contradicted"), (after, "learned_from"),
    }  # fmt: skip


def test_erasing_a_user_deletes_outcomes_that_name_only_the_conversation(
    memory: Memory,
) -> None:
    memory.ingest(
        conversation(0, "threads wait for a connection", state="debugging")
    )
    driver_of(memory).ingest_outcome(told(correction="It was the release."))
    assert rows(memory) == 2
    memory.forget(user="u-0")
    assert rows(memory) == 0


def test_invariant_8_erasing_a_user_deletes_outcomes_of_conversations_without_episodes(
    memory: Memory,
) -> None:
    memory.ingest(conversation(0, "I moved to Lisbon."))
    memory.ingest(conversation(1, "I moved to Porto."))
    application = driver_of(memory)
    for name in ("c-0", "c-1"):
        application.ingest_outcome(
            told(
                conversationId=name,
                correction=f"The address in {name} was old.",
            )
        )
    memory.forget(user="u-0")
    (left,) = driver_of(memory).history(memory.scope).reports
    assert left.conversation_id == "c-1"
    application.ingest_outcome(
        told(conversationId="c-0", correction="The address in c-0 was old.")
    )
    assert rows(memory) == 1, "nor does a replay bring it back"
