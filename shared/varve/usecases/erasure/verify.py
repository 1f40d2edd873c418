"""Verify: search every object of an agent, in each of its forms, for forgotten words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.errors import VarveError
from varve.domain.identity import Scope
from varve.domain.publishing import agent_folder, manifest_key
from varve.domain.record import Store
from varve.domain.traces import Traces
from varve.ports.erasure import StoreInspector
from varve.ports.objects import Objects
from varve.usecases.erasure.needles import Needles
from varve.usecases.erasure.sweep import fetch
from varve.usecases.progress import Progress, StepCounter, no_progress

NOTHING_TO_LOOK_FOR = (
    "nothing to look for but the id: the subject is not known here, or an earlier run "
    "has proved its erasure"
)
_WORKSPACE_AREAS = ("workspaces", "audit")
"""Areas that are read for the whole workspace."""


@dataclass(slots=True)
class Verification:
    """Counts of the objects read, and the keys in which a needle was found.

    `found_in` and `unclean` are for the caller; the receipt holds counts alone. `unread`
    are the publish targets whose files could not be read. `traced`
    are the subjects of which a kept needle was found, by hash. `is_known`: memory held
    something of the subject, or needles of it were kept.
    """

    objects: int = 0
    bytes: int = 0
    needles: int = 0
    found_in: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    traced: set[str] = field(default_factory=set)
    is_known: bool = True

    @property
    def proved(self) -> bool | None:
        """Whether nothing was found, and no store keeps data that could not be read.

        None: there was nothing to look for, or only the id of an unknown subject, so
        nothing is proved.
        """
        if self.found_in or self.remains:
            return False
        if self.needles and self.is_known:
            return True
        return None

    @property
    def remains(self) -> bool:
        """Whether something is left that could not be read."""
        return bool(self.unclean or self.unread)

    @property
    def reason(self) -> str | None:
        """Why nothing is proved; None: it is, or data was found."""
        return NOTHING_TO_LOOK_FOR if self.proved is None else None

    def figures(self) -> dict[str, Any]:
        """Return it as JSON values, without keys and words."""
        return {
            "proved": self.proved,
            "reason": self.reason,
            "objects": self.objects,
            "bytes": self.bytes,
            "needles": self.needles,
            "hits": len(self.found_in),
            "storesWithRemains": len(self.unclean),
            "targetsNotRead": len(self.unread),
        }


@dataclass(frozen=True, slots=True)
class _NeedleSearch:
    """The needles of this erasure, and those kept of earlier ones by subject."""

    wanted: Needles
    kept: Mapping[str, Traces]
    result: Verification

    def read_published(
        self, scope: Scope, target: str, place: Objects, stores: StoreInspector
    ) -> None:
        """Search the agent's files and manifest at one target. Raises VarveError."""
        files = [info.key for info in place.list(agent_folder(scope))]
        for key, stored in fetch([*files, manifest_key(scope)], place):
            self.result.objects += 1
            self.result.bytes += len(stored.data)
            if self.finds_any(stores.forms(stored.data)):
                self.result.found_in.append(f"{target}/{key}")

    def finds_any(self, texts: Iterable[str]) -> bool:
        """Search all texts; take note of the subjects whose kept needles are in them."""
        found = False
        for text in texts:
            traced = {
                name for name, one in self.kept.items() if one.stand_in(text)
            }
            self.result.traced |= traced
            if traced or self.wanted.stand_in(text):
                found = True
        return found


def verify(
    scope: Scope,
    wanted: Needles,
    kept: Mapping[str, Traces] | None = None,
    *,
    objects: Objects,
    stores: StoreInspector,
    published: Mapping[str, Objects] = MappingProxyType({}),
    progress: Progress = no_progress,
) -> Verification:
    """Search everything stored of the agent and its workspace for the needles.

    `kept` are the needles of earlier erasures by subject, `published` the objects of the
    targets that the agent may be published at, by their names. Raises Retryable.
    """
    earlier = kept or {}
    older = sum(map(len, earlier.values()))
    result = Verification(needles=len(wanted) + older)
    search = _NeedleSearch(wanted, earlier, result)
    keys = {*_list_keys(scope, objects), *wanted.erased_keys}
    step = StepCounter("objects searched", len(keys), progress)
    for key, stored in step.count(fetch(sorted(keys), objects)):
        result.objects += 1
        result.bytes += len(stored.data)
        forms = (_searched_key(scope, key), *stores.forms(stored.data))
        if search.finds_any(forms):
            result.found_in.append(key)
    for grain in (*Grain, *Store):
        inspected = stores.inspect(scope, grain)
        if search.finds_any(inspected.texts):
            result.found_in.append(f"vectordb/{scope}/{grain}")
        if inspected.hidden_rows or inspected.stray_files:
            result.unclean.append(f"vectordb/{scope}/{grain}")
    for target, place in published.items():
        try:
            search.read_published(scope, target, place, stores)
        except VarveError:
            result.unread.append(target)
    return result


def _list_keys(scope: Scope, objects: Objects) -> Iterator[str]:
    """Yield every object that may hold data of the agent, in areas found by listing."""
    for area in objects.folders(""):
        if area == "ledger":
            for info in objects.list(area):
                if _names_agent(scope, info.key):
                    yield info.key
            continue
        folder = f"{area}/{scope}"
        if area in _WORKSPACE_AREAS:
            folder = f"{area}/{scope.workspace}"
        for info in objects.list(folder):
            yield info.key


def _searched_key(scope: Scope, key: str) -> str:
    """Return the key without the name of another agent.

    The workspace chose that name; it is not data of a user.
    """
    parts = key.split("/")
    if parts[0] == "audit" and len(parts) > 3:
        agent = parts[3].removesuffix(".json")
        if agent != scope.agent:
            del parts[3]
    return "/".join(parts)


def _names_agent(scope: Scope, key: str) -> bool:
    """Return whether workspace and agent follow each other anywhere in the key."""
    parts = key.removesuffix(".json").split("/")
    return (scope.workspace, scope.agent) in pairwise(parts)
