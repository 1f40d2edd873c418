"""Answers of a memory's readers, kept for a run of many sessions that only read."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

MAX_KEPT = 500
"""Answers of one reader that are kept; those that were not asked for longest go first."""
_ANSWERS = frozenset(
    {
        "about",
        "aliases",
        "browse",
        "changed",
        "count",
        "drawn_from",
        "get",
        "in_conversations",
        "read_links",
        "tally",
        "triples",
    }
)
"""Methods of `MemoryReader`, `GraphStore` and `GraphView` that return lists, dicts or counts."""
_VIEWS = frozenset({"at", "open"})
"""Methods that return another reader, of one moment."""

Reader = TypeVar("Reader")


class KeptReads:
    """Readers that answer each question once, and again from what they have kept."""

    def __init__(self) -> None:
        self._readers: dict[int, _KeptReader] = {}

    def keep(self, reader: Reader) -> Reader:
        """Return the reader with its answers kept, the same one for the same reader."""
        kept = self._readers.setdefault(id(reader), _KeptReader(reader))
        return cast(Reader, kept)


class _KeptReader:
    """A reader whose answers are kept; other methods and attributes are its own."""

    def __init__(self, reader: object) -> None:
        self._reader = reader
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._reader, name)
        if name not in _ANSWERS and name not in _VIEWS:
            return found

        def answer(*arguments: Any, **named: Any) -> Any:
            key = (name, _freeze(arguments), _freeze(sorted(named.items())))
            return self._answer(key, lambda: found(*arguments, **named))

        return answer

    def _answer(
        self, key: tuple[str, Any, Any], ask: Callable[[], Any]
    ) -> Any:
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            told = ask()
            self._kept[key] = _KeptReader(told) if key[0] in _VIEWS else told
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        told = self._kept[key]
        # A caller may change its list.
        return told.copy() if isinstance(told, list | dict) else told


def _freeze(value: Any) -> Any:
    """Return a value as a key: its lists become tuples."""
    if isinstance(value, list | tuple):
        return tuple(map(_freeze, value))
    return frozenset(value) if isinstance(value, set) else value
