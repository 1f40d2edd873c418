"""The pages: what each shows, and that hostile words stay text."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tests.support.look import (
    NOW,
    conversation,
    open_costly,
    open_empty,
    open_told,
    page_of,
)
from varve import Memory
from varve.api.inspection import Inspection
from varve.look.pages.search import LEAST_PART
from varve.look.site import NOT_FOUND, PAGES


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return open_told(tmp_path_factory.mktemp("look") / "store")


def words(page: str) -> str:
    """Return a page's words as a reader sees them."""
    body = re.sub(r"(?s)<head>.*?</head>|<[^>]+>", " ", page)
    return " ".join(html.unescape(body).split())


def links(page: str) -> set[str]:
    return set(map(html.unescape, re.findall(r'href="([^"]+)"', page)))


def shown(memory: Memory, page: str, *keys: str, **options: object) -> str:
    found = page_of(memory, page, *keys, **options)
    assert found.status == 200, words(found.html)
    return found.html


def test_the_timeline_leads_to_every_year(memory: Memory) -> None:
    page = shown(memory, "timeline")
    assert {"/period/2026", "/period/2025"} <= links(page)
    assert "5 turns" in words(page)


def test_the_pyramid_leads_from_the_year_to_the_words(memory: Memory) -> None:
    steps = (
        ("timeline", (), "/period/2026"),
        ("period", ("2026",), "/period/2026-Q1"),
        ("period", ("2026-Q1",), "/period/2026-02"),
        ("period", ("2026-02",), "/period/2026-W09"),
        ("period", ("2026-W09",), "/period/2026-02-23"),
        ("period", ("2026-02-23",), "/conversation/2026-02-23/c-1"),
    )
    for page, keys, goal in steps:
        assert goal in links(shown(memory, page, *keys)), (page, keys)
    said = shown(memory, "conversation", "2026-02-23", "c-1")
    assert "I moved to Lisbon last week." in words(said)
    assert "remembered Dana moved to Lisbon" in words(said)


def test_a_period_tells_its_state_counts_and_changes(memory: Memory) -> None:
    page = words(shown(memory, "period", "2026-02"))
    assert "1 conversation · 1 turn" in page
    assert "ready" in page
    assert re.search(r"Dana Whitfield lives in Lisbon", page)
    assert "Kept until" in page
    running = words(shown(memory, "period", "2026-Q2"))
    assert "running" in running


def test_a_user_limits_the_timeline_and_its_links(memory: Memory) -> None:
    page = shown(memory, "timeline", user="u-marco")
    assert "1 turn" in words(page)
    assert "/period/2026?user=u-marco" in links(page)


def test_search_shows_the_answer_of_the_tool_with_its_reasons(
    memory: Memory,
) -> None:
    page = shown(memory, "search", q="where does Dana live")
    (first, *_) = memory.search("where does Dana live").results
    assert f"/record/{first.id}" in links(page)
    assert first.content in words(page)
    assert "shares words with the question" in words(page)
    block = memory.context("where does Dana live")
    assert f"{block.tokens} tokens" in words(page)
    assert block.text in html.unescape(page)


def test_the_signals_of_a_result_are_those_of_its_explanation(
    memory: Memory,
) -> None:
    (first, *_) = memory.search("where does Dana live", explain=True).results
    page = shown(memory, "search", q="where does Dana live")
    part = re.search(r'<p class="reasons">(.*?)</p>', page, re.DOTALL)
    assert part is not None
    shares = [
        float(share) for share in re.findall(r"<b>([0-9.]+)</b>", part[1])
    ]
    parts = sorted((first.why.parts or {}).values(), reverse=True)
    assert shares == [round(one, 2) for one in parts if one >= LEAST_PART]


def test_a_wrong_filter_is_explained_beside_the_form(memory: Memory) -> None:
    page = shown(memory, "search", q="x", since="yesterdayish")
    assert "since" in words(page)
    assert 'role="alert"' in page


def test_a_record_leads_to_its_source_and_to_its_summaries(
    memory: Memory,
) -> None:
    (fact,) = Inspection(memory).facts_of("c-1")
    page = shown(memory, "record", fact.id)
    assert "I moved to Lisbon last week." in words(page)
    assert "/conversation/2026-02-23/c-1" in links(page)
    assert "daily summary of 2026-02-23" in words(page)
    assert "quarterly summary of 2026-Q1" in words(page)
    assert "What the graph took from it" in words(page)


def test_a_superseded_statement_leads_to_what_took_its_place(
    memory: Memory,
) -> None:
    (old,) = Inspection(memory).facts_of("c-1")
    page = words(shown(memory, "record", old.id))
    assert "superseded" in page
    successor = page.partition("What took its place")[2].partition(
        "What the graph"
    )[0]
    assert "Dana Whitfield lives in Porto" in successor
    facts = Inspection(memory).facts_of("c-3")
    (new,) = [fact for fact in facts if "Porto" in fact.content]
    page = words(shown(memory, "record", new.id))
    assert "current" in page
    assert "What took its place" not in page


def test_a_record_tells_who_said_it_again_and_how_to_change_it(
    tmp_path: Path,
) -> None:
    memory = open_empty(tmp_path / "store")
    lines = (
        (1, "2026-03-02T09:00:00Z", "u-dana", "Dana", "I live in Porto."),
        (2, "2026-04-02T09:00:00Z", "u-dana", "Dana", "I live in Porto."),
    )
    memory.ingest([conversation(*line) for line in lines])
    (fact,) = Inspection(memory).facts_of("c-1")
    page = shown(memory, "record", fact.id)
    assert "said 2 times, last 2 Apr 2026" in words(page)
    assert "/conversation/2026-04-02/c-2" in links(page)
    assert f"varve correct {fact.id}" in words(page)


def test_a_page_names_the_day_that_it_shows(memory: Memory) -> None:
    assert "as of: now" in words(shown(memory, "timeline"))
    page = shown(memory, "search", q="where does Dana live", at="2026-03-01")
    assert "as of: 2026-03-01" in words(page)


def test_search_can_be_limited_to_a_person_or_thing(memory: Memory) -> None:
    page = words(shown(memory, "search", about="Kestrel Logistics"))
    assert "Marco works at Kestrel Logistics." in page
    assert "The boiler has been repaired." not in page
    assert "The boiler has been repaired." in words(
        shown(memory, "search", grain="auto")
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"grain": "hourly"}, "grain: must be one of"),
        ({"at": "soon"}, " at: 'soon' is not an ISO 8601"),
        (
            {"maxResults": "5"},
            "maxResults: is no filter of this page: q, user",
        ),
        ({"asOf": "2026-03-01"}, "asOf: is no filter of this page"),
    ],
)
def test_search_explains_a_filter_that_it_cannot_use(
    memory: Memory, given: dict[str, str], told: str
) -> None:
    page = words(shown(memory, "search", q="boiler", **given))
    assert told in page
    assert "The boiler has been repaired." not in page


def test_the_timeline_of_an_unknown_user_is_not_called_expired(
    memory: Memory,
) -> None:
    page = page_of(memory, "timeline", user="u-nobody")
    assert page.status == NOT_FOUND
    assert "memory holds nothing of &#39;u-nobody&#39;" in page.html


def test_users_and_episodes_can_be_filtered(memory: Memory) -> None:
    page = shown(memory, "users", q="marco")
    assert "/user/u-marco" in links(page)
    assert "/user/u-dana" not in links(page)
    every = shown(memory, "experience")
    ended = shown(memory, "experience", outcome="SUCCESS")
    assert ended.count('<span class="outcome') == 1
    assert every.count('<span class="outcome') > 1


def test_a_summary_leads_to_its_sources(memory: Memory) -> None:
    (found,) = memory.search(grain="weekly", user_id="u-marco").results
    page = shown(memory, "record", found.id)
    assert {f"/record/{id_}" for id_ in found.source_ids} <= links(page)


def test_an_entity_is_shown_as_of_a_day(memory: Memory) -> None:
    now = words(shown(memory, "entity", "dana"))
    assert "Dana Whitfield lives in Porto" in now
    then = words(shown(memory, "entity", "dana", at="2026-03-01"))
    held = then.partition("What held")[2].partition("What had ended")[0]
    assert "Lisbon" in held
    assert "Porto" not in held
    by_slider = shown(memory, "entity", "dana", day="739676")  # 2026-03-01
    assert words(by_slider).partition("What held")[2].startswith(" who")


def test_the_entities_are_listed_and_filtered(memory: Memory) -> None:
    assert "/entity/dana%20whitfield" in links(shown(memory, "entities"))
    found = words(shown(memory, "entities", q="kestrel"))
    assert "Kestrel Logistics" in found
    assert "Porto" not in found


def test_users_are_listed_with_what_is_held_of_them(memory: Memory) -> None:
    page = shown(memory, "users")
    assert "3 data subjects" in words(page)
    assert "/user/u-dana" in links(page)
    own = words(shown(memory, "user", "u-dana"))
    assert "location Porto" in own
    assert "forget --user u-dana --dry-run" in own
    assert "Without a user" in words(shown(memory, "user", "-"))


def test_experience_leads_to_episodes(memory: Memory) -> None:
    page = shown(memory, "experience")
    (episode, *_) = memory.experience.episodes()
    assert f"/episode/{episode['id']}" in links(page)
    assert "success" in words(page)
    assert "c-" in words(shown(memory, "episode", episode["id"]))


def test_a_lesson_shows_its_evidence(memory: Memory) -> None:
    (episode, *_) = memory.experience.episodes()
    id_ = memory.experience.lessons.add(
        "Book movers two weeks before.",
        when="moving house to another city",
        then="book the movers early",
        evidence=[episode["id"]],
    )
    page = shown(memory, "lesson", id_)
    assert f"/episode/{episode['id']}" in links(page)
    assert f"/lesson/{id_}" in links(shown(memory, "experience"))


def test_health_tells_what_status_tells(memory: Memory) -> None:
    page = words(shown(memory, "health"))
    assert "plan" in page
    assert "No queue is configured" in page
    assert "Nothing was erased yet" in page


def test_costs_are_shown_by_agent_and_verb_with_their_prices(
    tmp_path: Path,
) -> None:
    memory = open_costly(tmp_path)
    page = words(shown(memory, "costs"))
    assert "Costs of April 2026 $0.55 estimated" in page
    assert "support extract" in page
    assert "gpt-4o-mini 0.15 0.6 2026-06-20" in page
    assert "Without a price, and in no sum: home-grown" in page
    assert "/costs/2026-03" in links(shown(memory, "costs"))
    assert "$0.15 estimated" in words(shown(memory, "costs", "2026-03"))
    assert page_of(memory, "costs", "2026-13").status == 404


def test_a_month_without_costs_says_what_would_fill_it(memory: Memory) -> None:
    assert "config set models.llm" in words(shown(memory, "costs"))


def test_every_page_shows_its_scope_and_a_command(memory: Memory) -> None:
    (found, *_) = memory.search("Dana").results
    pages = (
        ("timeline",),
        ("period", "2026"),
        ("conversation", "2026-02-23", "c-1"),
        ("search",),
        ("record", found.id),
        ("entities",),
        ("entity", "dana"),
        ("user", "u-dana"),
        ("experience",),
        ("notes",),
        ("note", "projects/lisbon.md"),
        ("health",),
        ("costs",),
    )
    for name, *keys in pages:
        page = words(shown(memory, name, *keys))
        assert "acme / support" in page
        assert "--store ./memory --workspace acme --agent support" in page


@pytest.mark.parametrize(
    "where",
    [
        ("nowhere",),
        ("period", "2031"),
        ("period", "soon"),
        ("period", ""),
        ("record", "no-such"),
        ("conversation", "2026-02-23", "../../x"),
        ("conversation", "2026-02-23", "c-9"),
        ("entity", "no one"),
        ("entity", ""),
        ("user", "u-9"),
        ("episode", "episode-9"),
        ("lesson", "lesson-9"),
        ("note", "none.md"),
        ("note", ""),
    ],
)
def test_what_is_not_there_is_explained(
    memory: Memory, where: tuple[str, ...]
) -> None:
    page = page_of(memory, *where)
    assert page.status == 404
    assert "Not here" in words(page.html)


def test_an_empty_memory_shows_three_commands_that_fill_it(
    tmp_path: Path,
) -> None:
    memory = open_empty(tmp_path / "store")
    page = shown(memory, "timeline")
    assert page.count("<code data-copy>") == 3
    for name in sorted(
        PAGES.keys() & {"search", "entities", "users", "experience", "notes"}
    ):
        shown(memory, name)
    shown(memory, "health")


HARM = "<i>harm</i>/<img src=x onerror=alert(1)>"
"""A note's path."""
HOSTILE = (
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "\u202etxt.exe\u202c",
    "W" * 900,
    "&lt;b&gt;",
    "</title><svg onload=alert(1)>",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = open_empty(tmp_path_factory.mktemp("hostile") / "store")
    for number, text in enumerate(HOSTILE):
        name = "".join(filter(str.isprintable, text[:60]))
        user = f"u-<u>{number}'\""
        message = {
            "id": f"<i>{number}",
            "role": "user",
            "name": name,
            "content": text,
        }
        message["timestamp"] = "2026-03-02T09:15:00Z"
        memory.ingest(
            {
                "conversationId": f"c-{number}",
                "userId": user,
                "messages": [message],
            }
        )
        memory.set_profile("likes", name, user_id=user)
        for version in (text, f"{text} again"):
            memory.notes.put(HARM, version, overwrite=True, user_id=user)
        with memory.graph as graph:
            graph.insert_facts(
                [
                    {
                        "source_id": text,
                        "label": text[:100],
                        "target_id": f"{text} too",
                    }
                ]
            )
    memory.summarize()
    return memory


def test_hostile_words_in_every_field_stay_text(hostile: Memory) -> None:
    pages = [
        shown(hostile, "timeline"),
        shown(hostile, "period", "2026"),
        shown(hostile, "period", "2026-03-02"),
        shown(hostile, "entities"),
        shown(hostile, "users"),
        shown(hostile, "experience"),
        shown(hostile, "notes"),
        shown(hostile, "health"),
        shown(hostile, "costs"),
    ]
    for number, text in enumerate(HOSTILE):
        pages.append(
            shown(hostile, "conversation", "2026-03-02", f"c-{number}")
        )
        pages.append(
            shown(hostile, "search", q=text, user=f"u-<u>{number}'\"")
        )
        pages.append(shown(hostile, "entity", text))
        pages.append(shown(hostile, "note", HARM, f"u-<u>{number}'\""))
        pages.append(shown(hostile, "user", f"u-<u>{number}'\""))
    told = hostile.search(max_results=20, memory_types=["fact", "turn"])
    for record in told.results:
        pages.append(shown(hostile, "record", record.id))
    for page in pages:
        assert "<script>alert" not in page
        assert not re.search(r"<(?:img|u>|i>)", page)
        assert not re.search(r"<svg[^>]*onload", page)
        assert "49" not in re.findall(r"<bdi>([^<]*)</bdi>", page)


def test_a_command_with_hidden_characters_is_not_offered(
    hostile: Memory,
) -> None:
    page = shown(hostile, "entity", "\u202etxt.exe\u202c")
    assert "graph show" not in page


def test_a_command_is_quoted_for_the_shell(hostile: Memory) -> None:
    page = html.unescape(
        shown(hostile, "entity", "'\"><img src=x onerror=alert(1)>")
    )
    assert "graph show ''\"'\"'\"><img src=x onerror=alert(1)>'" in page


def test_the_pages_change_nothing(memory: Memory) -> None:
    before = times_of(memory)
    for name in (
        "timeline",
        "entities",
        "users",
        "experience",
        "health",
        "costs",
    ):
        shown(memory, name)
    shown(memory, "search", q="Dana", type="episode")
    assert times_of(memory) == before


def times_of(memory: Memory) -> dict[Path, int]:
    """Return when each file of the store was written."""
    files = Path(memory.sessions.settings.store).rglob("*")
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def test_the_footer_tells_the_memory_s_own_time(memory: Memory) -> None:
    assert f"{NOW.day} Apr 2026, 10:00" in words(shown(memory, "help"))


def test_notes_are_listed_with_their_owners(memory: Memory) -> None:
    page = shown(memory, "notes")
    assert "2 notes" in words(page)
    assert "/note/kestrel.md/u-marco" in links(page)
    assert "/note/projects%2Flisbon.md" in links(page)
    below = words(shown(memory, "notes", q="projects/"))
    assert "projects/lisbon.md" in below
    assert "kestrel.md" not in below


def test_a_user_limits_the_notes_to_those_of_the_user(memory: Memory) -> None:
    page = shown(memory, "notes", user="u-marco")
    assert "kestrel.md" in words(page)
    assert "projects/lisbon.md" not in words(page)
    assert "No note lies there" in words(shown(memory, "notes", user="u-dana"))
    assert "/notes?user=u-marco" in links(shown(memory, "user", "u-marco"))


def test_a_note_has_a_page_with_its_versions(memory: Memory) -> None:
    page = words(shown(memory, "note", "kestrel.md", "u-marco"))
    assert "version 2" in page
    assert page.index("Ask for Ana.") < page.index("Ask for HR.")
    assert "varve note show kestrel.md --user u-marco --versions" in page
    assert page_of(memory, "note", "kestrel.md").status == 404
    assert page_of(memory, "note", "../kestrel.md").status == 404


def test_a_search_leads_to_the_page_of_a_note(memory: Memory) -> None:
    page = shown(memory, "search", q="Who rents a flat in Graça?")
    assert "/note/projects%2Flisbon.md" in links(page)


def test_an_episode_shows_what_it_is_linked_to(tmp_path: Path) -> None:
    memory = open_empty(tmp_path)
    told = (
        "I'm back home in Leipzig, the painting is finished.",
        "Actually the gym is 42 euros, I mixed it up.",
        "My daughter Ida can take penicillin after all, the test was negative.",
    )
    memory.ingest(
        {
            "conversationId": "c-linked",
            "messages": [{"role": "user", "content": one} for one in told],
        }
    )
    linked = [
        one["id"]
        for one in memory.experience.episodes()
        if memory.experience.why(one["id"])["links"]
    ]
    assert linked
    for id_ in linked:
        assert "retry of" in words(shown(memory, "episode", id_))
