"""The fold of experience rows gives the same lessons and links for any order of delivery."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import WordEmbedder
from varve.domain.experience.agreement import follows
from varve.domain.experience.erasure import plan_erasure
from varve.domain.experience.generalizing import explain_vagueness
from varve.domain.experience.history import History
from varve.domain.experience.lessons import Lesson, derive_lessons, wilson
from varve.domain.experience.links import (
    LinkType,
    follow_links,
    links_of_report,
    links_of_uses,
    tell_story,
)
from varve.domain.experience.outcomes import Outcome, Verdict
from varve.domain.experience.reads import ReadCounts, usage_record
from varve.domain.experience.recall import recollect
from varve.domain.experience.rows import (
    Episode,
    LessonVersion,
    Report,
    episode_from,
    episode_id,
    episode_record,
    lesson_id,
    lesson_record,
    report_from,
    report_record,
)
from varve.domain.record import Record
from varve.domain.triple import fold

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SITUATIONS = (
    "threads wait for a connection",
    "connection refused while threads wait",
    "errors after the release",
)


def an_episode(
    number: int,
    situation: str | None = None,
    user: str = "u-1",
    state: str = "debugging",
) -> Episode:
    at = START + timedelta(days=number)
    return Episode(
        id=episode_id(f"c-{number}", "m1"),
        conversation_id=f"c-{number}",
        message_ids=("m1",),
        began=at,
        ended=at,
        situation=situation or SITUATIONS[number % 3],
        why="the run begins",
        verdict=Verdict(Outcome.UNKNOWN, "none"),
        created_at=at,
        state=state,
        user_id=user,
    )


def a_report(
    episode: Episode, outcome: Outcome, *, later: int = 0, **given: object
) -> Report:
    at = episode.ended + timedelta(minutes=later)
    fields = {
        "conversation_id": episode.conversation_id,
        "user_id": episode.user_id,
        **given,
    }
    return Report(episode.id, outcome, at, at, **fields)  # type: ignore[arg-type]


def rows_of(*parts: Episode | Report | LessonVersion) -> list[Record]:
    made = {
        Episode: episode_record,
        Report: report_record,
        LessonVersion: lesson_record,
    }
    return [made[type(part)](part, "2026") for part in parts]  # type: ignore[operator]


@st.composite
def pasts(draw: st.DrawFn) -> list[Episode | Report | LessonVersion]:
    parts: list[Episode | Report | LessonVersion] = []
    episodes = [
        an_episode(number) for number in range(draw(st.integers(2, 6)))
    ]
    for episode in episodes:
        parts.append(episode)
        for later in range(draw(st.integers(0, 2))):
            answer = draw(
                st.sampled_from(["raise the pool", "roll back", None])
            )
            used = draw(
                st.lists(
                    st.sampled_from([e.id for e in episodes]),
                    unique=True,
                    max_size=2,
                )
            )
            decision = draw(st.sampled_from(["raise the pool", "roll back"]))
            outcome = draw(st.sampled_from(Outcome))
            parts.append(
                a_report(
                    episode,
                    outcome,
                    later=later,
                    resolution=answer,
                    decision=decision,
                    used=tuple(used),
                )
            )
    for number in range(draw(st.integers(0, 3))):
        parts.append(a_version(number, active=draw(st.booleans())))
    return parts


def a_version(
    number: int,
    *,
    active: bool = True,
    supporting: tuple[str, ...] | None = None,
) -> LessonVersion:
    at = START + timedelta(days=30 + number)
    return LessonVersion(
        lesson_id=lesson_id("debugging", "raise the pool"),
        claim=f"When threads wait for connections, version {number}: raise the pool",
        condition="threads wait for connections",
        action="raise the pool",
        at=at,
        created_at=at,
        state="debugging",
        supporting=(an_episode(0).id,) if supporting is None else supporting,
        active=active,
    )


@given(pasts(), st.randoms(use_true_random=False))
def test_outcomes_in_any_order_and_number_give_the_same_lessons_and_links(
    parts: list, random: object
) -> None:
    rows = rows_of(*parts)
    shuffled = [*rows, *rows[::2]]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert derive_lessons(History(rows)) == derive_lessons(History(shuffled))
    reports = [part for part in parts if isinstance(part, Report)]
    operations = [
        link
        for report in reports
        for link in links_of_report(report, report.target)
    ]
    uses = links_of_uses(History(rows), derive_lessons(History(rows)))
    again = links_of_uses(History(shuffled), derive_lessons(History(shuffled)))
    assert fold(uses) == fold(again)
    operations += uses
    mixed = [*operations, *operations[::-1]]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert fold(operations) == fold(mixed)
    embed, (vector,) = (
        WordEmbedder().embed,
        WordEmbedder().embed([SITUATIONS[0]]),
    )
    known, other = History(rows), History(shuffled)
    one = recollect(SITUATIONS[0], vector, known, derive_lessons(known), embed)
    assert one == recollect(
        SITUATIONS[0], vector, other, derive_lessons(other), embed
    )
    known_scores = [item.score for item in one.items if item.answer]
    assert sum(known_scores) <= one.familiarity + 0.01


@given(pasts())
def test_versions_of_lessons_are_never_lost(parts: list) -> None:
    written = [part for part in parts if isinstance(part, LessonVersion)]
    seen: set[str] = set()
    for count in range(1, len(parts) + 1):
        known = derive_lessons(History(rows_of(*parts[:count])))
        ids = {version.id for lesson in known for version in lesson.versions}
        assert {v.id for v in written if v in parts[:count]} <= ids
        assert seen & {v.id for v in written} <= ids
        seen |= ids


def test_rows_hold_every_field_of_episodes_and_reports() -> None:
    episode = an_episode(1)
    report = a_report(
        episode,
        Outcome.FAILURE,
        correction="no",
        decision="a",
        resolution="b",
        used=("x", "y"),
    )
    assert episode_from(episode_record(episode, "2026")) == episode
    assert report_from(report_record(report, "2026")) == report


def test_a_stated_outcome_wins_over_an_inferred_one_and_the_last_over_the_first() -> (
    None
):
    episode = an_episode(0)
    first = a_report(episode, Outcome.SUCCESS, decision="raise the pool")
    last = a_report(
        episode, Outcome.FAILURE, later=5, correction="it was the release"
    )
    (lived,) = History(rows_of(last, episode, first)).past_episodes
    assert (lived.outcome, lived.decision, lived.correction) == (
        Outcome.FAILURE, "raise the pool", "it was the release",
    )  # fmt: skip
    assert lived.explicit


def agreeing(
    count: int, answer: str = "raise the pool"
) -> list[Episode | Report]:
    episodes = [an_episode(n, SITUATIONS[n % 2]) for n in range(count)]
    reports = [
        a_report(e, Outcome.SUCCESS, decision=answer, resolution=answer)
        for e in episodes
    ]
    return [*episodes, *reports]


def test_agreeing_episodes_become_a_lesson_with_a_condition_and_an_action() -> (
    None
):
    (lesson,) = derive_lessons(History(rows_of(*agreeing(3))))
    assert lesson.action == "raise the pool"
    assert lesson.condition == "threads wait for a connection"
    assert len(lesson.supporting) == 3
    assert lesson.confidence == wilson(3, 3)
    assert derive_lessons(History(rows_of(*agreeing(1)))) == []


def test_confidence_falls_with_contradictions_until_the_lesson_is_retired() -> (
    None
):
    parts = agreeing(2)
    confidences = []
    for number in range(4):
        wrong = an_episode(10 + number, SITUATIONS[2])
        parts += [
            wrong,
            a_report(
                wrong,
                Outcome.FAILURE,
                decision="raise the pool",
                resolution=f"other {number}",
            ),
        ]
        (lesson,) = derive_lessons(History(rows_of(*parts)))
        confidences.append(lesson.confidence)
    assert confidences == sorted(confidences, reverse=True)
    assert lesson.standing == "retired"
    assert "speak against" in lesson.reason


def test_a_lesson_that_makes_episodes_worse_is_quarantined() -> None:
    id_ = lesson_id("debugging", "raise the pool")
    parts = agreeing(20)
    for number in range(3):
        failed = an_episode(40 + number)
        parts += [
            failed,
            a_report(
                failed,
                Outcome.FAILURE,
                decision="I raise the pool size",
                used=(id_,),
            ),
        ]
    (lesson,) = derive_lessons(History(rows_of(*parts)))
    assert lesson.standing == "quarantined"
    assert lesson.reason == "0% succeeded with it, 100% without"


POOL = lesson_id("debugging", "raise the pool")


def shown_to(
    count: int, outcome: Outcome, decision: str
) -> list[Episode | Report]:
    """Episodes that saw the lesson "raise the pool" and decided by themselves."""
    parts: list[Episode | Report] = []
    for number in range(count):
        episode = an_episode(60 + number, "errors after the release")
        report = a_report(episode, outcome, decision=decision, used=(POOL,))
        parts += [episode, report]
    return parts


def find_pool(*parts: Episode | Report | LessonVersion) -> Lesson:
    lessons = derive_lessons(History(rows_of(*parts)))
    return next(lesson for lesson in lessons if lesson.id == POOL)


def test_a_lesson_gains_no_support_where_another_decision_was_taken() -> None:
    shown = find_pool(*agreeing(3), *shown_to(5, Outcome.SUCCESS, "roll back"))
    assert len(shown.supporting) == 3
    taken = find_pool(
        *agreeing(3), *shown_to(5, Outcome.SUCCESS, "raise the pool")
    )
    assert len(taken.supporting) == 8


def test_a_lesson_is_not_quarantined_for_failures_of_another_decision() -> (
    None
):
    shown = find_pool(
        *agreeing(20), *shown_to(5, Outcome.FAILURE, "wait for it")
    )
    assert (shown.standing, shown.contradicting) == ("active", ())


def test_three_for_and_four_against_is_not_active() -> None:
    parts = [*agreeing(3), *shown_to(4, Outcome.FAILURE, "raise the pool")]
    lesson = find_pool(*parts)
    assert (len(lesson.supporting), len(lesson.contradicting)) == (3, 4)
    assert not lesson.active


@pytest.mark.parametrize(
    ("decision", "takes"),
    [
        ("I raise the pool size.", True),
        ("Do not raise the pool", False),
        ("raise the timeout", False),
        ("raise", False),
    ],
)
def test_a_decision_follows_an_action_if_it_has_its_words_and_denials(
    decision: str, takes: bool
) -> None:
    assert follows(decision, "raise the pool") is takes


def test_a_figure_tells_two_actions_apart() -> None:
    assert not follows("set the pool to 20", "set the pool to 40")


def used_links(decision: str | None) -> dict[tuple[str, str], float]:
    """The links of a failed episode that saw two earlier ones and itself."""
    (pool, wait), later = (an_episode(0), an_episode(1)), an_episode(2)
    parts = [
        a_report(pool, Outcome.SUCCESS, decision="raise the pool"),
        a_report(wait, Outcome.SUCCESS, decision="wait"),
        a_report(
            later,
            Outcome.FAILURE,
            decision=decision,
            used=(pool.id, wait.id, later.id),
        ),
    ]
    history = History(rows_of(pool, wait, later, *parts))
    links = [
        link
        for link in links_of_uses(history, [])
        if link.predicate == "led_to"
    ]
    return {(link.subject, link.object): link.confidence for link in links}


def test_only_the_used_episode_whose_answer_was_taken_is_linked() -> None:
    first, second, later = (an_episode(number).id for number in range(3))
    assert used_links("raise the pool") == {(first, later): 0.4}
    assert used_links(None) == {(first, later): 0.1, (second, later): 0.1}


def test_a_retired_lesson_keeps_its_history() -> None:
    retired = a_version(9, active=False)
    (lesson,) = derive_lessons(
        History(rows_of(*agreeing(2), a_version(1), retired))
    )
    assert (lesson.standing, lesson.version) == ("retired", 3)


def test_a_vague_lesson_is_refused() -> None:
    assert explain_vagueness("initial diagnosis is often wrong", "be careful")
    assert explain_vagueness("connections", "raise the pool")
    assert explain_vagueness("threads wait for connections", "be careful")
    assert (
        explain_vagueness("threads wait for connections", "raise the pool")
        is None
    )


def test_wilson_returns_the_published_lower_bound() -> None:
    assert wilson(0, 0) == 0.0
    assert round(wilson(8, 10), 4) == 0.4902
    assert round(wilson(10, 10), 4) == 0.7225


def test_a_story_follows_the_links_of_a_corrected_decision() -> None:
    first, then = an_episode(0), an_episode(1)
    report = a_report(
        then,
        Outcome.FAILURE,
        correction="the release",
        resolution="roll back",
        used=(first.id,),
    )
    history = History(rows_of(first, then, report))
    links = [*links_of_report(report, then.id), *links_of_uses(history, [])]
    triples = fold(links)
    steps = follow_links(then.id, triples)
    assert {step.link for step in steps} == {
        LinkType.LED_TO,
        LinkType.CONTRADICTED,
        LinkType.CAUSED_BY,
        LinkType.LEARNED_FROM,
    }
    lines = tell_story(steps, history)
    assert any("the release" in line for line in lines)
    assert all(step.evidence == (report.id,) for step in steps)


def test_erasure_of_a_user_leaves_a_lesson_without_evidence_retired() -> None:
    theirs, other = an_episode(0, user="u-1"), an_episode(1, user="u-2")
    by_hand = a_version(1, supporting=(theirs.id,))
    rows = rows_of(
        theirs,
        other,
        a_report(theirs, Outcome.SUCCESS),
        a_report(other, Outcome.FAILURE),
        by_hand,
    )
    erased = plan_erasure(rows, user_ids={"u-1"})
    left = [row for row in rows if row.id not in erased.deleted] + list(
        erased.rewritten
    )
    assert not any(
        row.user_id == "u-1" or theirs.id in row.source_ids for row in left
    )
    (lesson,) = derive_lessons(History(left))
    assert (lesson.supporting, lesson.standing, lesson.reason) == (
        (),
        "retired",
        "no evidence is left",
    )


def test_reads_of_many_batches_add_up() -> None:
    batches = [
        ReadCounts({"a": 2, "b": 1}, START, "1"),
        ReadCounts({"a": 1}, START + timedelta(days=1), "2"),
    ]
    history = History(
        [usage_record(batch, "2026") for batch in [*batches, batches[0]]]
    )
    assert history.reads == {
        "a": (3, START + timedelta(days=1)),
        "b": (1, START),
    }
