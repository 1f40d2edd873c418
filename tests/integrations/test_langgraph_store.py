"""LangGraph's store over notes: the cases that its own stores are held to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "langgraph.store.base", reason="make test-integrations installs it"
)

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from varve import Memory
from varve.integrations.langgraph_store import VarveStore

NAMESPACES = [
    ("test", "documents", "public"),
    ("test", "documents", "private"),
    ("test", "images", "public"),
    ("prod", "documents", "public"),
    ("testing", "documents"),
]


def count_minutes() -> Iterator[datetime]:
    at = datetime(2026, 3, 3, 12, tzinfo=UTC)
    while True:
        yield at
        at += timedelta(minutes=1)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    minutes = count_minutes()
    return Memory.open(tmp_path, now=lambda: next(minutes), environment={})


@pytest.fixture
def store(memory: Memory) -> VarveStore:
    return VarveStore(memory, user_id="dana")


def keys(items: Any) -> list[str]:
    return [item.key for item in items]


def test_an_item_is_put_changed_and_deleted(
    store: VarveStore, memory: Memory
) -> None:
    namespace = ("test", "documents")
    store.put(namespace, "doc1", {"title": "First", "tags": ["a", {"b": 1.5}]})
    first = store.get(namespace, "doc1")
    assert first is not None
    assert (first.namespace, first.key) == (namespace, "doc1")
    assert first.value == {"title": "First", "tags": ["a", {"b": 1.5}]}
    store.put(namespace, "doc1", {"title": "Second", "none": None})
    second = store.get(namespace, "doc1")
    assert second is not None
    assert second.value == {"title": "Second", "none": None}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert store.get(("test", "other"), "doc1") is None
    store.delete(namespace, "doc1")
    assert store.get(namespace, "doc1") is None
    assert memory.search(user_id="dana").results == []


def test_a_batch_answers_in_order_and_reads_before_it_writes(
    store: VarveStore,
) -> None:
    store.put(("test", "foo"), "key1", {"data": "value1"})
    ops = [
        PutOp(("test", "bar"), "key2", {"data": "first"}),
        GetOp(("test", "bar"), "key2"),
        PutOp(("test", "bar"), "key2", {"data": "last"}),
        SearchOp(("test",), filter={"data": "value1"}),
        ListNamespacesOp(),
        GetOp(("test",), "key3"),
        PutOp(("test", "foo"), "gone", None),
        GetOp(("test", "foo"), "key1"),
    ]
    put, unseen, again, found, namespaces, none, gone, item = store.batch(ops)
    assert [put, unseen, again, none, gone] == [None] * 5
    assert keys(found) == ["key1"]
    assert namespaces == [("test", "foo")]
    assert item.value == {"data": "value1"}  # type: ignore[union-attr]
    last = store.get(("test", "bar"), "key2")
    assert last is not None
    assert last.value == {"data": "last"}
    assert asyncio.run(store.abatch([GetOp(("test", "bar"), "key2")])) == [
        last
    ]


LISTINGS: list[dict[str, Any]] = [
    {},
    {"prefix": ("test",)},
    {"suffix": ("public",)},
    {"prefix": ("*", "documents")},
    {"suffix": ("*", "public")},
    {"max_depth": 1},
    {"max_depth": 2},
    {"limit": 2},
    {"limit": 2, "offset": 1},
    {"prefix": ("Test",)},
    {"prefix": ("te",)},
    {"prefix": ("test",), "suffix": ("private",)},
    {"prefix": ("a", "b", "c", "d")},
]


def test_namespaces_are_listed_as_the_store_in_memory_lists_them(
    store: VarveStore,
) -> None:
    other = InMemoryStore()
    for namespace in NAMESPACES:
        for each in (store, other):
            each.put(namespace, "key", {"content": "x"})
    for listing in LISTINGS:
        assert store.list_namespaces(**listing) == other.list_namespaces(
            **listing
        )
    both = ListNamespacesOp(
        (
            MatchCondition("prefix", ("test",)),
            MatchCondition("suffix", ("public",)),
        )
    )
    assert store.batch([both]) == other.batch([both])


DOCS: dict[str, dict[str, Any]] = {
    "doc1": {"text": "red apple", "color": "red", "score": 4.5},
    "doc2": {
        "text": "red car",
        "color": "red",
        "score": 3.0,
        "at": {"x": 1, "y": 2},
    },
    "doc3": {
        "text": "green apple",
        "color": "green",
        "score": 4,
        "tags": ["a", "b"],
    },
    "doc4": {"text": "blue car", "color": "blue", "score": 3.5},
}
FILTERS: list[dict[str, Any]] = [
    {"color": "red"},
    {"color": {"$eq": "red"}},
    {"color": {"$ne": "red"}},
    {"score": {"$gt": 3.0}},
    {"score": {"$gte": 3.0}},
    {"score": {"$lt": 4}},
    {"score": {"$lte": 4}},
    {"score": {"$gte": 3.5, "$lt": 4.5}},
    {"color": "red", "score": {"$gt": 4}},
    {"at": {"x": 1}},
    {"at": {"x": 1, "y": 3}},
    {"tags": ["a", "b"]},
    {"tags": ["a"]},
    {"missing": 1},
    {"color": "Red"},
    {"color": "' OR 1=1 --"},
    {},
]


def test_filters_pass_what_they_pass_in_the_store_in_memory(
    store: VarveStore,
) -> None:
    other = InMemoryStore()
    for key, value in DOCS.items():
        for each in (store, other):
            each.put(("docs",), key, value)
    for conditions in FILTERS:
        found = keys(store.search(("docs",), filter=conditions))
        expected = keys(other.search(("docs",), filter=conditions))
        assert sorted(found) == sorted(expected), conditions
    assert store.search(("docs",), filter={"color": {"$gt": 1}}) == []
    with pytest.raises(ValueError, match="operator"):
        store.search(("docs",), filter={"color": {"$in": ["red"]}})
    # With a query the filter applies as well, and the nearest comes first.
    ranked = store.search(("docs",), query="apple", filter={"color": "red"})
    assert keys(ranked)[0] == "doc1"
    assert ranked[0].score is not None
    assert keys(store.search(("docs",), query="blue car"))[0] == "doc4"


def test_a_search_keeps_to_its_namespace_and_pages(store: VarveStore) -> None:
    for namespace in NAMESPACES:
        store.put(namespace, "key", {"content": "a flat in Lisbon"})
    below = store.search(("test",))
    assert {item.namespace for item in below} == set(NAMESPACES[:3])
    assert len(store.search(("test",), query="Lisbon", limit=50)) == 3
    assert len(store.search(())) == len(NAMESPACES)
    assert [item.namespace for item in below] == NAMESPACES[2::-1]
    pages = [store.search((), limit=2, offset=at) for at in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert len({item.namespace for page in pages for item in page}) == 5
    assert store.search(("tes",)) == []
    assert keys(store.search(("test",), query=" "))
    assert store.search(("test",), query="zzzqqq xylophone") == []


LABELS = [
    "plain",
    "UPPER",
    "upper",
    "a b",
    " a",
    "a/b",
    "a%2Fb",
    "..",
    "*",
    "%",
    "_",
    "ключ",
    "鍵",
    "e\u0301",
    "é",
    "😀",
    "a\\b",
    "a\nb",
    "user@example:1",
    "'; DROP TABLE store; --",
]


def test_keys_and_labels_of_any_characters_stay_apart(
    store: VarveStore,
) -> None:
    for number, label in enumerate(LABELS):
        store.put(("root", label.replace(".", "-")), label, {"n": number})
    for number, label in enumerate(LABELS):
        namespace = ("root", label.replace(".", "-"))
        item = store.get(namespace, label)
        assert item is not None
        assert (item.namespace, item.key) == (namespace, label)
        assert item.value == {"n": number}
    assert len(store.list_namespaces(limit=100)) == len(LABELS)


@pytest.mark.parametrize(
    "namespace", [(), ("",), ("a.b",), ("langgraph", "a"), (1,)], ids=str
)
def test_namespaces_that_no_store_takes_are_refused(
    store: VarveStore, namespace: Any
) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "key", {"a": 1})


def test_a_label_is_checked_in_a_batch_too(store: VarveStore) -> None:
    for op in (GetOp(("a.b",), "k"), SearchOp(("a.b",))):
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])


def test_a_time_to_live_is_refused(store: VarveStore) -> None:
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {"a": 1}, ttl=5)
    with pytest.raises(NotImplementedError):
        store.batch([PutOp(("a",), "k", {"a": 1}, ttl=5)])


def test_items_are_notes_that_memory_finds_and_forgets(
    store: VarveStore, memory: Memory
) -> None:
    store.put(("prefs",), "home", {"text": "Dana has a flat in Lisbon."})
    other = VarveStore(memory, user_id="marco")
    assert other.search(()) == []
    (result,) = memory.search("flat", user_id="dana").results
    assert result.source_ids == ["langgraph/prefs/home"]
    key = "sk-proj-" + "a1B2c3D4" * 6
    store.put(("prefs",), "secret", {"api_key": key, "password": "hunter2!x"})
    kept = store.get(("prefs",), "secret")
    assert kept is not None
    assert key not in str(kept.value)
    memory.forget(user="dana")
    assert store.search(()) == []
