"""Publish: write a workspace's tables as Parquet files, in a folder for each partition.

A file's name is a hash of its bytes, so a partition that has not changed keeps its file.
A new file is written before the one that it replaces goes, and an agent's manifest comes
last. A run that ends half-way leaves a manifest that says so, and the next run puts it right.

Of two runs the one that opens the manifest last goes on; the other sees this before it
writes a file, and starts again. So a run that read rows before an erasure does not publish
them after it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol
from uuid import uuid4

from varve.domain.analytics import TABLES, AnalyticsTable
from varve.domain.calendar import iso
from varve.domain.damage import intact
from varve.domain.errors import Contended, Misconfigured
from varve.domain.identity import Scope, digest
from varve.domain.publishing import (
    MANIFESTS,
    SCHEMA_KEY,
    AgentManifest,
    agent_folder,
    manifest_from_json,
    manifest_key,
    partition_folder,
    schema_as_json,
)
from varve.ports.analytics import TableStage
from varve.ports.objects import ObjectInfo, Objects
from varve.usecases.analytics.rows import READERS, AgentTables
from varve.usecases.analytics.targets import change_targets
from varve.usecases.operate.agents import list_agent_names
from varve.usecases.progress import Progress, StepCounter, no_progress
from varve.usecases.session import Session
from varve.usecases.write.contention import until_uncontended

_NAME_DIGITS = 32

AreaHashes = dict[tuple[str, str], str]
"""Hashes of what is stored, by agent and area."""


class PublishingTools(Protocol):
    """What publishing needs beyond a session."""

    def open_stage(self) -> AbstractContextManager[TableStage]:
        """Open an empty stage for the tables."""

    def open_target(self, target: str) -> Objects:
        """Open the objects of a target. Raises Misconfigured."""


@dataclass(slots=True)
class PublishOutcome:
    """How many files and rows a target has, and what this run did for that.

    `written` and `dropped` count files, `published` agents whose stores had changed,
    `removed` agents that are no more.
    """

    target: str
    agents: int = 0
    published: int = 0
    removed: int = 0
    files: int = 0
    rows: int = 0
    written: int = 0
    dropped: int = 0

    def count(self, manifest: AgentManifest) -> None:
        """Add an agent's files."""
        self.agents += 1
        self.files += len(manifest.files)
        self.rows += sum(manifest.files.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "target": self.target,
            "agents": {
                "all": self.agents,
                "published": self.published,
                "removed": self.removed,
            },
            "files": {
                "all": self.files,
                "written": self.written,
                "dropped": self.dropped,
            },
            "rows": self.rows,
        }


def publish(
    session: Session,
    target: str,
    tools: PublishingTools,
    progress: Progress = no_progress,
) -> PublishOutcome:
    """Bring a target up to date with all agents of the workspace.

    The session must be the owner's. The store notes the target before the first file is
    written. Raises Misconfigured, Retryable: publishing again goes on.
    """
    workspace = session.scope.workspace
    noted = change_targets(
        workspace,
        lambda known: known.with_target(target),
        objects=session.objects,
    )
    place = tools.open_target(target)
    _put_schema(place)
    outcome = PublishOutcome(target)
    hashes = _hash_areas(session, workspace)
    agents = list_agent_names(session)
    names = sorted({*agents, *_list_published(workspace, place)})
    step = StepCounter("agents", len(names), progress)
    for name in step.count(names):
        agent = replace(session, scope=Scope(workspace, name))
        if name not in agents:
            _remove_agent(agent.scope, place, outcome)
            continue
        writer = _AgentPublisher(agent, place, tools, outcome)
        states = _read_states(session, name, hashes)
        writer.publish(states, force=name in noted.owed[target])
    for name in noted.owed[target]:
        settle(session, target, name)
    return outcome


def republish(
    session: Session,
    place: Objects,
    tools: PublishingTools,
    outcome: PublishOutcome,
) -> None:
    """Write the files of the session's agent again, if the target has any.

    Raises Contended, Misconfigured, Retryable.
    """
    scope = session.scope
    if scope.agent in _list_published(scope.workspace, place):
        hashes = _hash_areas(session, str(scope))
        writer = _AgentPublisher(session, place, tools, outcome)
        writer.publish(_read_states(session, scope.agent, hashes), force=True)


def settle(session: Session, target: str, agent: str) -> None:
    """Note that an erasure has reached all of an agent's files at a target."""
    change_targets(
        session.scope.workspace,
        lambda known: known.settled(target, agent),
        objects=session.objects,
    )


def remove(
    session: Session, target: str, tools: PublishingTools
) -> PublishOutcome:
    """Delete the workspace's files at a target, and the store's note of it.

    Raises Misconfigured, Retryable.
    """
    workspace = session.scope.workspace
    place = tools.open_target(target)
    outcome = PublishOutcome(target)
    for name in _list_published(workspace, place):
        _remove_agent(Scope(workspace, name), place, outcome)
    change_targets(
        workspace,
        lambda known: known.without_target(target),
        objects=session.objects,
    )
    return outcome


def require_there(place: Objects, target: str) -> None:
    """Raise Misconfigured if the target has lost what marks it as one.

    A folder on a disk that is not mounted looks empty.
    """
    if place.get(SCHEMA_KEY) is None:
        raise Misconfigured(
            f"{target}: there is no {SCHEMA_KEY}; is it mounted?"
        )


def _hash_areas(session: Session, folder: str) -> AreaHashes:
    """Return hashes of the names, sizes and times of the agents' stored objects.

    `folder` is a workspace or one agent of it. A hash changes with every write, so the
    same hash means the same rows.
    """
    hashes: defaultdict[tuple[str, str], Any] = defaultdict(sha256)
    areas: set[str] = set()
    for table in TABLES.values():
        areas.update(table.areas)
    for area in areas:
        for info in session.objects.list(f"{area}/{folder}"):
            agent = info.key.split("/")[2]
            hashes[agent, area].update(_describe(info))
    return {key: one.hexdigest() for key, one in hashes.items()}


def _read_states(
    session: Session, agent: str, hashes: AreaHashes
) -> dict[str, str]:
    """Return for each table a hash of all that an agent's rows are made of."""
    prices = session.config.costs.prices
    states: dict[str, str] = {}
    for table in TABLES.values():
        parts = [hashes.get((agent, area), "") for area in table.areas]
        states[table.name] = digest(*parts, str(prices), length=_NAME_DIGITS)
    return states


def _describe(info: ObjectInfo) -> bytes:
    return f"{info.key}\0{info.size}\0{iso(info.last_modified)}\0".encode()


def _put_schema(place: Objects) -> None:
    data = json.dumps(schema_as_json(), indent=2).encode()
    stored = place.get(SCHEMA_KEY)
    if stored is None or stored.data != data:
        place.put(SCHEMA_KEY, data)


def _list_published(workspace: str, place: Objects) -> set[str]:
    """Return the names of the workspace's agents that have files at a target."""
    names: set[str] = set()
    for info in place.list(f"{MANIFESTS}/{workspace}"):
        names.add(info.key.split("/")[2].removesuffix(".json"))
    for folder in place.folders(f"workspace={workspace}"):
        names.add(folder.removeprefix("agent="))
    return names


def _remove_agent(
    scope: Scope, place: Objects, outcome: PublishOutcome
) -> None:
    keys = [info.key for info in place.list(agent_folder(scope))]
    place.delete([*keys, manifest_key(scope)])
    outcome.dropped += len(keys)
    outcome.removed += 1


@dataclass(slots=True)
class _AgentPublisher:
    """Brings one agent's files at a target up to date."""

    session: Session
    place: Objects
    tools: PublishingTools
    outcome: PublishOutcome
    _there: set[str] = field(default_factory=set)
    _opened: AgentManifest | None = None

    def publish(
        self, states: Mapping[str, str], *, force: bool = False
    ) -> None:
        """Write what changed, drop what went, put the manifest.

        Only the tables are read whose states differ from those of the manifest, or all
        with `force`. Raises Contended: other runs published the agent meanwhile;
        Misconfigured, Retryable.
        """

        def attempt() -> None:
            manifest, etag = self._read_manifest()
            kept: dict[str, int] = {}
            changed = list(TABLES.values())
            if manifest is not None and not force:
                changed = [
                    table
                    for table in TABLES.values()
                    if not manifest.is_current(table.name, states[table.name])
                ]
                kept = manifest.files_without(table.name for table in changed)
            if manifest is not None and not changed:
                self.outcome.count(manifest)
                return
            self._opened = self._mark_opened(manifest)
            self._put_manifest(self._opened, etag)
            files = {**kept, **self._write_files(changed, kept)}
            fresh = AgentManifest(states, iso(self.session.now), files)
            self._put_manifest(fresh, self._require_opened())
            self.outcome.published += 1
            self.outcome.count(fresh)

        until_uncontended(attempt)

    def _read_manifest(self) -> tuple[AgentManifest | None, str | None]:
        key = manifest_key(self.session.scope)
        stored = self.place.get(key)
        if stored is None:
            return None, None
        with intact(key):
            return manifest_from_json(json.loads(stored.data)), stored.etag

    def _put_manifest(self, manifest: AgentManifest, etag: str | None) -> None:
        """Put the manifest in place of the one with the ETag. Raises Contended."""
        data = json.dumps(manifest.as_json(), indent=2).encode()
        if not self.place.put_if(manifest_key(self.session.scope), data, etag):
            raise self._overtaken()

    def _overtaken(self) -> Contended:
        scope = self.session.scope
        return Contended(
            f"publish {scope}: another run publishes it meanwhile"
        )

    def _mark_opened(self, manifest: AgentManifest | None) -> AgentManifest:
        """Return the manifest of before, marked as opened by this run."""
        run = uuid4().hex
        if manifest is None:
            return AgentManifest({}, iso(self.session.now), {}, run=run)
        return replace(manifest, run=run)

    def _require_opened(self) -> str | None:
        """Return the ETag of the manifest. Raises Contended: it is another run's."""
        manifest, etag = self._read_manifest()
        if manifest != self._opened:
            raise self._overtaken()
        return etag

    def _write_files(
        self, tables: Sequence[AnalyticsTable], kept: Mapping[str, int]
    ) -> dict[str, int]:
        """Write the tables' files, and drop all others but the kept ones.

        Return the rows of each file written. Raises Contended.
        """
        scope = self.session.scope
        self._there = {
            info.key for info in self.place.list(agent_folder(scope))
        }
        files: dict[str, int] = {}
        with self.tools.open_stage() as stage:
            own = AgentTables(self.session)
            for table in tables:
                stage.add(scope, table, READERS[table.name](own))
                files |= self._write_table(stage, table)
        self._drop(self._there - files.keys() - kept.keys())
        return files

    def _write_table(
        self, stage: TableStage, table: AnalyticsTable
    ) -> Iterator[tuple[str, int]]:
        """Write a table's partitions that are new; yield the key and rows of each."""
        for part in stage.parts(table):
            folder = partition_folder(
                self.session.scope, table.name, part.month
            )
            name = sha256(part.data).hexdigest()[:_NAME_DIGITS]
            key = f"{folder}/part-{name}.parquet"
            if key not in self._there:
                self._require_opened()
                self.place.put(key, part.data)
                self.outcome.written += 1
            self._drop(
                one for one in self._there if _lies_in(one, folder, key)
            )
            yield key, part.rows

    def _drop(self, keys: Iterable[str]) -> None:
        doomed = set(keys)
        if doomed:
            self._require_opened()
            self.place.delete(sorted(doomed))
        self._there -= doomed
        self.outcome.dropped += len(doomed)


def _lies_in(key: str, folder: str, kept: str) -> bool:
    """Return whether a key is of a folder's file other than the one to keep."""
    return key.startswith(f"{folder}/") and key != kept
