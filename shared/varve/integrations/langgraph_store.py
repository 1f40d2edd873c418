"""LangGraph: a `BaseStore` whose items are notes in an agent's memory.

Needs the extra `langgraph-store`. Shapes: langgraph-checkpoint 4.3, `langgraph.store.base`.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unicodedata import is_normalized
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from varve.api.memory import Memory
from varve.domain.notes import Note

ROOT = "langgraph"
"""The first segment of the items' paths; no namespace may begin with this label."""
_PLAIN = frozenset("_-@:")
_ORDERED = {
    "$gt": lambda value, other: value > other,
    "$gte": lambda value, other: value >= other,
    "$lt": lambda value, other: value < other,
    "$lte": lambda value, other: value <= other,
}


class VarveStore(BaseStore):
    """Items of one user as notes; `user_id` None: the agent's own.

    The item `key` of the namespace `("a", "b")` is the note `langgraph/a/b/key`, its value
    as JSON. A search with a query ranks as Varve does, over the whole value: `index` has no
    effect, and an item that does not bear on the query is no result. There is no TTL.
    """

    __slots__ = ("_notes", "_user_id")

    def __init__(self, memory: Memory, *, user_id: str | None) -> None:
        self._notes = memory.notes
        self._user_id = user_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Return the result of each operation, in order.

        All reads see the items as they were before the batch; of several puts of one item
        the last one counts. Raises InvalidNamespaceError, VarveError.
        """
        results: list[Result] = []
        puts: dict[str, PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                _require_no_ttl(op)
                puts[_path(op.namespace, op.key)] = op
                results.append(None)
            else:
                results.append(self._read(op))
        for path, op in puts.items():
            self._put(path, op.value)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise ValueError(f"unknown operation: {type(op).__name__}")

    def _get(self, op: GetOp) -> Item | None:
        path = _path(op.namespace, op.key)
        note = self._notes.get(path, user_id=self._user_id)
        return None if note is None else Item(**_values(note))

    def _put(self, path: str, value: Mapping[str, Any] | None) -> None:
        if value is None:
            self._notes.delete(path, user_id=self._user_id)
            return
        content = json.dumps(dict(value), ensure_ascii=False)
        self._notes.put(path, content, overwrite=True, user_id=self._user_id)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found: list[SearchItem] = []
        for note, score in self._rank(op):
            item = SearchItem(**_values(note), score=score)
            if _passes(item.value, op.filter):
                found.append(item)
        return found[op.offset : op.offset + op.limit]

    def _rank(self, op: SearchOp) -> list[tuple[Note, float | None]]:
        """Return the items below the prefix, the best or the newest first."""
        prefix = _folder(op.namespace_prefix)
        if op.query and op.query.strip():
            ranked = self._notes.search(
                op.query, prefix, user_id=self._user_id, max_results=1_000
            )
            return [(one.note, one.score) for one in ranked]
        notes = self._notes.list(prefix, user_id=self._user_id)
        notes.sort(key=lambda note: note.updated_at, reverse=True)
        return [(note, None) for note in notes]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        for path in self._notes.paths(f"{ROOT}/", user_id=self._user_id):
            namespace = _labels(path)[:-1]
            if _matches_all(namespace, op.match_conditions or ()):
                found.add(namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]


def _require_no_ttl(op: PutOp) -> None:
    if op.ttl is not None:
        raise NotImplementedError("a note has no TTL")


def _path(namespace: Sequence[str], key: str) -> str:
    return f"{_folder(namespace)}{_encode(key)}"


def _folder(namespace: Sequence[str]) -> str:
    """Return the beginning of the paths of a namespace's items and of those below it."""
    segments = [ROOT, *map(_encode, namespace)]
    return "/".join(segments) + "/"


def _labels(path: str) -> tuple[str, ...]:
    """Return the namespace's labels and the key of a note's path."""
    return tuple(map(unquote, path.split("/")[1:]))


def _encode(label: str) -> str:
    """Return a label as a segment of a path; letters and digits stay as they are."""
    if not is_normalized("NFC", label):
        return quote(label, safe="").replace(".", "%2E")
    letters: list[str] = []
    for letter in label:
        is_plain = letter.isalnum() or letter in _PLAIN
        coded = quote(letter, safe="").replace(".", "%2E")
        letters.append(letter if is_plain else coded)
    return "".join(letters)


def _values(note: Note) -> dict[str, Any]:
    """Return the arguments of an item."""
    *namespace, key = _labels(note.path)
    return {
        "namespace": tuple(namespace),
        "key": key,
        "value": json.loads(note.content),
        "created_at": note.created_at,
        "updated_at": note.updated_at,
    }


def _passes(
    value: Mapping[str, Any], conditions: Mapping[str, Any] | None
) -> bool:
    """Return whether a value has what the filter asks for."""
    asked = (conditions or {}).items()
    return all(_fits(value.get(name), wanted) for name, wanted in asked)


def _fits(value: Any, wanted: Any) -> bool:
    """Compare with a value or with operators; an object need only have the named fields."""
    if not isinstance(wanted, Mapping):
        same = list(wanted) if isinstance(wanted, tuple) else wanted
        return bool(value == same)
    if any(name.startswith("$") for name in wanted):
        return all(
            _compare(value, name, other) for name, other in wanted.items()
        )
    return isinstance(value, Mapping) and _passes(value, wanted)


def _compare(value: Any, operator: str, other: Any) -> bool:
    """Apply an operator; values that have no order pass none of those that compare."""
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in _ORDERED:
        raise ValueError(f"unsupported operator: {operator}")
    try:
        return bool(_ORDERED[operator](value, other))
    except TypeError:
        return False


def _matches_all(
    namespace: tuple[str, ...], conditions: Iterable[MatchCondition]
) -> bool:
    return all(_matches(namespace, condition) for condition in conditions)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Return whether a namespace begins or ends with a pattern; `*` stands for any label."""
    pattern = tuple(condition.path)
    if len(pattern) > len(namespace):
        return False
    part = namespace[: len(pattern)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(pattern) :]
    pairs = zip(part, pattern, strict=True)
    return all(wanted in ("*", label) for label, wanted in pairs)
