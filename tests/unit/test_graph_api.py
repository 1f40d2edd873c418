"""The graph as a program uses it: what is noted and saved, asked, walked, and drawn."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.builders import Failing, RecordingQueue, raw_conversation
from tests.support.drivers import driver_of, open_driver
from varve import Memory
from varve.adapters.graph.walks import FAN_OUT
from varve.api.graph import Graph
from varve.cli import main
from varve.cli.graph import format_table, format_tree
from varve.domain.errors import Rejected, Retryable
from varve.domain.graph import QueryResult
from varve.domain.identity import Scope
from varve.look.branches import format_validity, grow_trees
from varve.look.drawing import TEXT, draw_html, draw_svg, place_rows
from varve.look.text_lines import measure

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def fact(
    source: str, label: str, target: str, day: int = 0, **more: Any
) -> dict[str, Any]:
    held = {
        "source_id": source,
        "label": label,
        "target_id": target,
        "valid_at": NOW + timedelta(days=day),
    }
    return held | more


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(
        tmp_path / "store", now=NOW + timedelta(days=100), environment={}
    )


def queued(store: Path, queue: Any) -> Memory:
    """A memory whose writes go to this queue."""
    urls = {"VARVE_WRITE_QUEUE_URL": "https://sqs.invalid/write"}
    scope, now = Scope("default", "default"), NOW + timedelta(days=100)
    return open_driver(urls, store, now, write_queue=queue).memory(scope)


def told(memory: Memory, *facts: dict[str, Any]) -> Graph:
    with memory.graph as graph:
        graph.insert_facts(facts)
    return memory.graph


def ends(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(f["label"], f["target"]) for f in found]


class TestChanging:
    def test_nothing_is_written_before_it_is_saved(
        self, memory: Memory, tmp_path: Path
    ) -> None:
        memory.graph.insert_facts([fact("Dana", "likes", "tea")])
        assert memory.graph.entity("Dana")["facts"] == []
        assert list(tmp_path.rglob("facts.parquet")) == []
        assert memory.graph.save() == 1
        assert ends(memory.graph.entity("Dana")["facts"]) == [("likes", "tea")]
        assert memory.graph.save() == 0

    def test_a_with_block_saves_and_one_that_fails_does_not(
        self, memory: Memory
    ) -> None:
        told(memory, fact("Dana", "likes", "tea"))

        def fail() -> None:
            with memory.graph as graph:
                graph.insert_facts([fact("Dana", "likes", "jazz")])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert memory.graph.save() == 0
        assert ends(memory.graph.entity("Dana")["facts"]) == [("likes", "tea")]

    def test_what_is_closed_unsaved_is_forgotten(self, memory: Memory) -> None:
        memory.graph.insert_facts([fact("Dana", "likes", "tea")])
        memory.graph.close()
        assert memory.graph.save() == 0

    def test_updates_and_deletes_close_and_keep_history(
        self, memory: Memory
    ) -> None:
        told(
            memory,
            fact("Dana", "lives_in", "Leeds"),
            fact("Dana", "likes", "tea"),
            fact("Dana", "likes", "jazz"),
        )
        with memory.graph as graph:
            graph.update_facts([fact("Dana", "lives_in", "Lisbon", 5)])
            graph.update_facts(
                [fact("Dana", "likes", "fado", 5, replaces="Jazz.")]
            )
            graph.delete_facts([fact("dana", "LIKES", " TEA ", 6)])
        entity = memory.graph.entity("Dana")
        assert ends(entity["facts"]) == [
            ("likes", "fado"),
            ("lives_in", "Lisbon"),
        ]
        past = memory.graph.entity("Dana", history=True)["facts"]
        assert {(f["target"], f["invalidAt"]) for f in past if f["invalidAt"]} == {
            ("Leeds", "2026-03-07T09:15:00Z"), ("jazz", "2026-03-07T09:15:00Z"),
            ("tea", "2026-03-08T09:15:00Z"),
        }  # fmt: skip

    def test_a_deletion_without_a_value_ends_every_value_of_its_label(
        self, memory: Memory
    ) -> None:
        told(
            memory,
            *(fact("Dana", "likes", what) for what in ("tea", "jazz")),
            fact("Dana", "age", "30"),
        )
        with memory.graph as graph:
            graph.delete_facts([fact("Dana", "likes", "", 6)])
        assert ends(memory.graph.entity("Dana")["facts"]) == [("age", "30")]

    def test_a_deletion_is_sent_to_a_queue_that_may_hold_what_it_ends(
        self, tmp_path: Path
    ) -> None:
        queue = RecordingQueue()
        graph = queued(tmp_path / "store", queue).graph
        graph.delete_facts([fact("Dana", "likes", "tea")])
        assert (graph.save(), len(queue.sent)) == (1, 1)

    def test_the_same_again_refreshes_confidence_and_evidence(
        self, memory: Memory
    ) -> None:
        told(
            memory,
            fact("Dana", "likes", "tea", properties={"confidence": 0.4}),
        )
        again = {
            "confidence": 0.9,
            "conversationId": "c-7",
            "messageIds": ["m9"],
            "userId": "u-42",
        }
        (known,) = told(
            memory, fact("Dana", "likes", "Tea", 3, properties=again)
        ).entity("Dana")["facts"]
        assert (known["confidence"], known["validAt"]) == (
            0.9,
            "2026-03-02T09:15:00Z",
        )
        assert (
            known["conversationId"],
            known["messageIds"],
            known["userId"],
        ) == (
            "c-7",
            ["m9"],
            "u-42",
        )

    @pytest.mark.parametrize(
        ("change", "field"),
        [({"source_id": ""}, "source_id"), ({"source_id": " . "}, "facts[1]"), ({"label": ""}, "label"),
         ({"target_id": ""}, "target_id"), ({"valid_at": datetime(2026, 1, 1)}, "valid_at"),  # noqa: DTZ001
         ({"sourceId": "x"}, "sourceId"), ({"properties": {"confidence": 2}}, "confidence"),
         ({"properties": {"userId": "a b"}}, "userId"),
         ({"properties": {"messageIds": ["../x"]}}, "messageIds"),
         ({"target_id": 5}, "target_id")],
    )  # fmt: skip
    def test_a_faulty_fact_is_named_and_none_is_noted(
        self, memory: Memory, change: dict[str, Any], field: str
    ) -> None:
        with pytest.raises(Rejected) as refused:
            memory.graph.insert_facts(
                [
                    fact("Dana", "likes", "tea"),
                    {**fact("Dana", "likes", "jazz"), **change},
                ]
            )
        assert "facts[1]" in refused.value.field
        assert field in refused.value.field
        assert memory.graph.save() == 0

    def test_invariant_4_what_is_saved_goes_through_the_write_queue(
        self, tmp_path: Path
    ) -> None:
        queue = RecordingQueue()
        memory = queued(tmp_path, queue)
        told(memory, fact("Dana", "likes", "tea"))
        assert queue.groups == ["default:default:graph"]
        assert memory.graph.entity("Dana")["facts"] == []

    def test_no_secret_comes_in_by_this_door(self, memory: Memory) -> None:
        key = "AKIA" + "IOSFODNN7EXAMPL3"
        (kept,) = told(memory, fact("Dana", "uses", f"the key {key}")).entity(
            "Dana"
        )["facts"]
        assert key.lower() not in json.dumps(kept).lower()
        assert "the key" in kept["target"].lower()

    def test_what_could_not_be_sent_stays_noted(self, tmp_path: Path) -> None:
        away = Failing(RecordingQueue(), Retryable("the queue is away"), 1)
        memory = queued(tmp_path, away)
        memory.graph.insert_facts([fact("Dana", "likes", "tea")])
        with pytest.raises(Retryable):
            memory.graph.save()
        assert memory.graph.save() == 1


class TestAsking:
    def test_what_held_then_and_what_was_believed_then(
        self, tmp_path: Path
    ) -> None:
        for learnt, facts in [
            (0, [fact("Dana", "lives_in", "Leeds", -20)]),
            (9, [fact("Dana", "lives_in", "Lisbon", -2)]),
        ]:
            memory = Memory.open(
                tmp_path, now=NOW + timedelta(days=learnt), environment={}
            )
            told(memory, *facts)
        graph = memory.graph
        assert ends(graph.entity("Dana")["facts"]) == [("lives_in", "Lisbon")]
        assert ends(
            graph.entity("Dana", as_of=NOW - timedelta(days=5))["facts"]
        ) == [("lives_in", "Leeds")]
        assert ends(graph.entity("Dana", as_of=NOW)["facts"]) == [
            ("lives_in", "Lisbon")
        ]
        assert ends(
            graph.entity("Dana", as_of=NOW, known_at=NOW)["facts"]
        ) == [("lives_in", "Leeds")]
        assert (
            graph.entity("Dana", as_of=NOW - timedelta(days=30))["facts"] == []
        )
        with pytest.raises(Rejected, match="time zone"):
            graph.entity("Dana", as_of=datetime(2026, 1, 1))  # noqa: DTZ001

    def test_what_is_still_to_come_does_not_hold_yet(
        self, memory: Memory
    ) -> None:
        now = driver_of(memory).clock()
        with memory.graph as graph:
            graph.insert_facts(
                [
                    fact("Dana", "lives_in", "Leeds"),
                    fact("Dana", "works_at", "Acme"),
                ]
            )
            graph.update_facts([fact("Dana", "lives_in", "Lisbon", 130)])
            graph.delete_facts([fact("Dana", "works_at", "Acme", 140)])
        held = [("lives_in", "Leeds"), ("works_at", "Acme")]
        assert ends(graph.entity("Dana")["facts"]) == held
        assert {n["id"] for n in graph.neighbours("Dana")} == {"leeds", "acme"}
        assert graph.paths("Dana", "Lisbon") == []
        assert {e["target"] for e in graph.edges()} == {"Leeds", "Acme"}
        assert memory.status()["graph"]["current"] == 2
        assert ends(graph.entity("Dana", as_of=now + timedelta(days=35))["facts"]) == [
            ("lives_in", "Lisbon"), ("works_at", "Acme"),
        ]  # fmt: skip

    def test_any_name_leads_to_the_entity_also_one_learnt_late(
        self, memory: Memory
    ) -> None:
        graph = told(memory, fact("Bob", "works_at", "Acme"), fact("Dana", "knows", "Robert Miller"),
                     fact("Robert Miller", "also_known_as", "Bob", 9))  # fmt: skip
        entity = graph.entity("BOB")
        assert (entity["id"], entity["name"], entity["aliases"]) == (
            "robert miller",
            "Robert Miller",
            ["bob"],
        )
        assert ends(entity["facts"]) == [("works_at", "Acme")]
        assert [(m["source"], m["label"]) for m in entity["mentions"]] == [
            ("Dana", "knows")
        ]
        told(memory, fact("Eve", "knows", "bob"))
        assert ends(graph.entity("Eve")["facts"]) == [
            ("knows", "Robert Miller")
        ]

    def test_a_name_of_two_people_is_said_to_be_ambiguous(
        self, memory: Memory
    ) -> None:
        graph = told(
            memory,
            fact("Dana Osei", "also_known_as", "Dana"),
            fact("Dana Whitfield", "also_known_as", "Dana"),
        )
        assert graph.entity("Dana")["ambiguous"] == [
            "dana osei",
            "dana whitfield",
        ]

    def test_a_user_who_tells_a_full_name_is_one_person_before_and_after(
        self, memory: Memory
    ) -> None:
        for at, text in [
            ("2026-03-01", "I live in Leeds."),
            ("2026-03-02", "By the way, I'm Dana Whitfield."),
        ]:
            said = {
                "role": "user",
                "name": "Dana",
                "content": text,
                "timestamp": f"{at}T08:00:00Z",
            }
            memory.ingest(
                raw_conversation(
                    said,
                    workspaceId="default",
                    agentId="default",
                    conversationId=f"c-{at}",
                )
            )
        assert ("lives_in", "Leeds") in ends(
            memory.graph.entity("Dana Whitfield")["facts"]
        )
        assert memory.graph.entity("dana") == memory.graph.entity(
            "Dana Whitfield"
        )

    def test_sql_comes_back_as_objects(self, memory: Memory) -> None:
        told(memory, fact("Dana", "likes", "tea"))
        rows = memory.graph.query_graph(
            "select source_id, target_id from facts"
        )
        assert rows == [{"source_id": "dana", "target_id": "tea"}]


class TestWalking:
    CHAIN = (
        fact("a", "knows", "b"), fact("b", "knows", "c"), fact("d", "knows", "c"), fact("a", "likes", "d"),
        fact("c", "knows", "a"), fact("a", "name", "z"), fact("z", "knows", "y"),
    )  # fmt: skip

    def test_neighbours_are_reached_in_both_directions_and_circles_end(
        self, memory: Memory
    ) -> None:
        graph = told(memory, *self.CHAIN)
        assert [(n["id"], n["hops"]) for n in graph.neighbours("A", 1)] == [
            ("b", 1),
            ("c", 1),
            ("d", 1),
        ]
        assert [n["id"] for n in graph.neighbours("a", 6)] == ["b", "c", "d"]
        assert ("knows", "c", "a") in {
            (n["label"], n["from"], n["to"]) for n in graph.neighbours("a")
        }
        assert graph.neighbours("nobody", 3) == []

    def test_paths_come_shortest_first_and_pass_nobody_twice(
        self, memory: Memory
    ) -> None:
        graph = told(memory, *self.CHAIN)
        paths = graph.paths("b", "d", 4)
        assert [len(path) for path in paths] == sorted(
            len(path) for path in paths
        )
        assert [(s["from"], s["label"], s["to"]) for s in paths[0]] == [
            ("a", "knows", "b"),
            ("a", "likes", "d"),
        ]
        for path in paths:
            visited = [
                end for step in path for end in (step["from"], step["to"])
            ]
            assert all(visited.count(end) <= 2 for end in visited)
        assert graph.paths("a", "y", 6) == []
        assert graph.paths("a", "A") == []

    def test_only_what_held_is_walked(self, memory: Memory) -> None:
        told(memory, fact("a", "lives_in", "x"))
        graph = told(memory, fact("a", "lives_in", "y", 9))
        assert [n["id"] for n in graph.neighbours("a")] == ["y"]
        assert [
            n["id"]
            for n in graph.neighbours("a", as_of=NOW + timedelta(days=1))
        ] == ["x"]

    def test_a_hub_is_left_by_its_newest_edges_alone(
        self, memory: Memory
    ) -> None:
        crowd = [
            fact(f"p{n:03}", "lives_in", "lisbon", n)
            for n in range(FAN_OUT + 20)
        ]
        graph = told(memory, *crowd, fact("p000", "knows", "someone"))
        found = {
            n["id"]: n["hops"] for n in graph.neighbours("p069", 2, most=1000)
        }
        assert len(found) <= FAN_OUT + 1
        assert found["lisbon"] == 1
        assert "p068" in found
        assert "p000" not in found

    @pytest.mark.parametrize("hops", [0, -1, 7])
    def test_too_many_hops_are_refused(
        self, memory: Memory, hops: int
    ) -> None:
        with pytest.raises(Rejected, match="hops"):
            memory.graph.neighbours("a", hops)
        with pytest.raises(Rejected, match="max_hops"):
            memory.graph.paths("a", "b", hops)


class TestShowing:
    HOSTILE = "</title><script>alert(1)</script>&\x00\x1b[31m"

    def test_the_tree_tells_label_target_and_validity(
        self, memory: Memory
    ) -> None:
        told(
            memory,
            fact("Dana", "lives_in", "Leeds"),
            fact("Dana", "has_pet", "Miso"),
            fact("Miso", "is_a", "dog"),
        )
        graph = told(
            memory,
            fact("Dana", "lives_in", "Lisbon", 5),
            fact("Hannah", "has_sister", "Dana"),
        )
        assert format_tree(graph.edges("dana"), "dana") == [
            "Dana",
            "├─ has_pet ─▶ Miso  since 2026-03-02",
            "│  └─ is_a ─▶ dog  since 2026-03-02",
            "├─ lives_in ─▶ Lisbon  since 2026-03-07",
            "├─ lives_in ─▶ Leeds  2026-03-02 to 2026-03-07",
            "└─ has_sister ◀─ Hannah  since 2026-03-02",
        ]
        assert format_tree(graph.edges(), None)[0] == "Dana"
        assert format_tree([], "nobody") == ["nothing is known about nobody"]

    def test_a_drawing_is_well_formed_complete_and_refers_to_nothing(
        self, memory: Memory
    ) -> None:
        graph = told(memory, fact("Dana", "lives_in", "Lisbon"), fact("Dana", "likes", self.HOSTILE),
                     fact(self.HOSTILE, "is_a", "trap"))  # fmt: skip
        edges = graph.edges("Dana")
        svg = draw_svg(edges, self.HOSTILE)
        root = ElementTree.fromstring(svg)
        words = "".join(root.itertext())
        for edge in edges:
            assert f"{edge['label'].replace('_', ' ')} →" in words
            assert format_validity(edge) in words
        assert not [e for e in root.iter() if e.tag.endswith("script")]
        page = draw_html(edges, self.HOSTILE)
        assert "<script" not in page
        for text in (svg, page):
            assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
            assert "href" not in text
        assert draw_svg(edges, "x") == draw_svg(edges, "x")

    def test_the_neighbourhood_that_was_asked_for_is_drawn_around_its_root(
        self, memory: Memory
    ) -> None:
        hub = [fact(f"p{n}", "lives_in", "Porto", n) for n in range(9)]
        graph = told(memory, fact("Dana", "lives_in", "Porto"), *hub)
        (tree,) = grow_trees(graph.edges("Dana"), "dana")
        assert tree.name == "Dana"
        assert [branch.name for branch in tree.branches] == ["Porto"]
        first, *_ = place_rows([tree])
        assert (first.depth, first.entity) == (0, "dana")

    def test_every_triple_has_one_row(self, memory: Memory) -> None:
        circle = [fact(f"p{n}", "knows", f"p{(n + k) % 12}") for n in range(12) for k in (1, 5)]  # fmt: skip
        graph = told(memory, *circle)
        for root in ("p3", None):
            edges = graph.edges(root)
            rows = place_rows(grow_trees(edges, root))
            assert len([row for row in rows if row.above is not None]) == len(
                edges
            )

    def test_no_label_is_cut_or_lies_on_another_at_two_hundred_triples(
        self, memory: Memory
    ) -> None:
        names = (
            "Ana",
            "W" * 150,
            "a rather long description of a thing " * 5,
            "東京" * 40,
        )
        many = []
        for n in range(200):
            named = f"{names[n % 4]} {n}"
            many.append(fact("Dana", f"label {n} of {n % 7}", named, n % 90))
        edges = told(memory, *many).edges("Dana")
        assert len(edges) == 200
        rows = place_rows(grow_trees(edges, "dana"))
        bottom = 0.0
        for row in rows:
            assert row.y - 9 >= bottom
            bottom = row.y - 9 + 18 * len(row.lines)
            for line in row.lines:
                assert measure(" ".join(p.text for p in line), 13) <= TEXT + 1
        shown = " ".join(
            piece.text for row in rows for line in row.lines for piece in line
        )
        for edge in edges:
            assert edge["target"].replace(" ", "") in shown.replace(" ", "")

    def test_edges_that_are_left_out_are_counted(
        self,
        memory: Memory,
        capsys: pytest.CaptureFixture[str],
        tmp_path: Path,
    ) -> None:
        told(
            memory,
            *[fact("Dana", "likes", f"thing {n}", n % 90) for n in range(30)],
        )
        found = memory.graph.neighbourhood("Dana", most=20)
        assert (len(found.edges), found.left_out) == (20, 10)
        assert memory.graph.neighbourhood(most=25).left_out == 5
        svg = draw_svg(found.edges, "x", "dana", found.left_out)
        assert "10 more triples are not drawn" in svg
        store = ["--store", str(tmp_path / "store"), "--most", "20"]
        assert main(["graph", "show", "Dana", *store]) == 0
        assert "10 edges left out" in capsys.readouterr().err
        assert main(["graph", "show", *store[:2], "--most", "x"]) == 2

    def test_the_links_of_experience_are_drawn_only_if_asked_for(
        self, memory: Memory
    ) -> None:
        episodes = ["episode-" + str(n) * 24 for n in (1, 2)]
        graph = told(
            memory,
            fact("Dana", "lives_in", "Porto"),
            fact(episodes[1], "continuation", episodes[0]),
            fact("Dana", "led_to", "a new job"),
        )
        assert {e["label"] for e in graph.edges()} == {"lives_in", "led_to"}
        assert len(graph.edges(experience=True)) == 3
        assert len(graph.edges(episodes[0])) == 1

    @pytest.mark.parametrize("root", [None, "dana"])
    def test_a_drawing_without_triples_says_so(self, root: str | None) -> None:
        assert "no triples" in draw_svg([], "x", root)

    def test_rows_stand_under_their_columns(self) -> None:
        assert format_table([{"a": "x", "bb": None}, {"a": [1], "bb": "y\nz" * 50}])[:3] == [
            "a    bb", "---  " + "-" * 60, "x",
        ]  # fmt: skip
        assert format_table([]) == ["no rows"]


class TestCommand:
    @pytest.fixture
    def store(self, memory: Memory, tmp_path: Path) -> list[str]:
        told(memory, fact("Dana", "lives_in", "Lisbon"))
        return ["--store", str(tmp_path / "store")]

    def test_query_prints_rows_as_objects(
        self, store: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        sql = "select target_id from facts"
        assert main(["graph", "query", sql, *store, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [{"target_id": "lisbon"}]
        assert main(["graph", "query", sql, *store]) == 0
        assert capsys.readouterr().out.split() == [
            "target_id",
            "---------",
            "lisbon",
        ]

    def test_show_prints_a_tree_or_its_edges(
        self, store: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["graph", "show", "DANA", *store]) == 0
        assert (
            "└─ lives_in ─▶ Lisbon  since 2026-03-02"
            in capsys.readouterr().out
        )
        assert main(["graph", "show", *store, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["target"] == "Lisbon"

    @pytest.mark.parametrize("name", ["dana.svg", "dana.HTML"])
    def test_out_writes_a_drawing(
        self,
        store: list[str],
        tmp_path: Path,
        name: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert (
            main(
                [
                    "graph",
                    "show",
                    "Dana",
                    "--out",
                    str(tmp_path / name),
                    *store,
                ]
            )
            == 0
        )
        drawn = (tmp_path / name).read_text("utf-8")
        assert "lives in →" in drawn
        assert "since 2026-03-02" in drawn
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize(
        ("words", "reason"),
        [(["query"], "needs SQL"), (["query", "delete from facts"], "must be a SELECT"),
         (["show", "Dana", "--out", "x.png"], "must end in"),
         (["show", "--out", "/nowhere/x.svg"], "cannot be")],
    )  # fmt: skip
    def test_what_cannot_be_done_is_said_in_one_line(
        self,
        store: list[str],
        words: list[str],
        reason: str,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert main(["graph", *words, *store]) == 2
        told_ = capsys.readouterr()
        assert reason in told_.err
        assert told_.out == ""
        assert len(told_.err.splitlines()) == 1

    def test_an_ambiguous_name_is_pointed_out(
        self,
        memory: Memory,
        store: list[str],
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        told(
            memory,
            fact("Dana Osei", "also_known_as", "Dana"),
            fact("Dana Whitfield", "also_known_as", "Dana"),
        )
        assert main(["graph", "show", "Dana", *store]) == 0
        assert (
            "Dana may be Dana Osei or Dana Whitfield"
            in capsys.readouterr().err
        )

    def test_an_ambiguous_root_asks_for_the_entity_once(
        self,
        memory: Memory,
        store: list[str],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        told(
            memory,
            fact("Dana Osei", "also_known_as", "Dana"),
            fact("Dana Whitfield", "also_known_as", "Dana"),
        )
        asked: list[str] = []
        entity = Graph.entity

        def count(graph: Graph, name: str) -> dict[str, Any]:
            asked.append(name)
            return entity(graph, name)

        monkeypatch.setattr(Graph, "entity", count)
        assert main(["graph", "show", "Dana", *store]) == 0
        assert asked == ["Dana"]
        assert memory.graph.entity("Dana")["ambiguousNames"] == [
            "Dana Osei",
            "Dana Whitfield",
        ]


def test_rows_as_objects_lose_no_column_whose_name_comes_again() -> None:
    result = QueryResult(("n", "n", "n_2", "n"), ((1, 2, 3, 4),))
    assert result.to_dicts() == [{"n": 1, "n_2": 2, "n_2_2": 3, "n_3": 4}]
