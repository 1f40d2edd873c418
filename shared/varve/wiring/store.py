"""The store under one root, opened with one set of credentials."""

from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from varve.domain.identity import Scope, path_id
from varve.domain.personal import Mode
from varve.domain.retention import Plan
from varve.domain.workspace import WorkspaceConfig, parse_workspace_config
from varve.ports.clock import Clock
from varve.ports.locks import Locks
from varve.ports.meter import Meter
from varve.ports.objects import Objects
from varve.wiring.settings import Settings

if TYPE_CHECKING:
    from varve.adapters.credentials.scoped import TemporaryCredentials
    from varve.adapters.graph.parquet import ParquetGraph
    from varve.adapters.json_profiles import JsonProfiles
    from varve.adapters.lance_cache.records import LanceRecords
    from varve.usecases.views import Views


class OpenStore:
    """The adapters of one store root, each imported and built on first use.

    `credentials` are an agent's own; without them the process's apply. `cache_bytes`
    bound the disk cache. `meter` counts the requests to S3. `open_shared` opens another
    agent's records with credentials for these alone; without it this store's are enough.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        credentials: "TemporaryCredentials | None" = None,
        cache_bytes: int | None = None,
        meter: Meter | None = None,
        open_shared: "Callable[[Scope], OpenStore] | None" = None,
    ) -> None:
        self._meter = meter
        self._settings = settings
        self._clock = clock
        self.credentials = credentials
        self._cache_bytes = cache_bytes or settings.cache_bytes
        self._open_shared = open_shared

    @cached_property
    def objects(self) -> Objects:
        """The objects under the store root."""
        from varve.adapters.objects.store import local_objects, s3_objects

        location = self._settings.s3_location
        if location is None:
            return local_objects(Path(self._settings.store))
        if self.credentials is None:
            return s3_objects(*location, meter=self._meter)
        return s3_objects(
            *location, self.credentials.for_objects(), self._meter
        )

    @cached_property
    def locks(self) -> Locks:
        """Keeps writers of this process, and of others in a directory, from each other."""
        from varve.adapters.objects.locks import DirectoryLocks, ProcessLocks

        if self._settings.s3_location is None:
            return DirectoryLocks(Path(self._settings.store))
        return ProcessLocks(self._settings.store.rstrip("/"))

    @cached_property
    def records(self) -> "LanceRecords":
        """The records of every agent and grain."""
        from varve.adapters.lance_cache.cache_directory import Caching
        from varve.adapters.lance_cache.records import LanceRecords

        return LanceRecords(
            self._settings.store.rstrip("/"),
            self.objects,
            self._lance_options(),
            caching=Caching(self._settings.cache_directory, self._cache_bytes),
            meter=self._meter if self._settings.s3_location else None,
        )

    def shared_records(self, scope: Scope) -> "LanceRecords":
        """The records of another agent, read with rights to that agent's records alone."""
        return (
            self._open_shared(scope).records
            if self._open_shared
            else self.records
        )

    def _lance_options(self) -> dict[str, str] | None:
        from varve.adapters.objects.store import lance_options

        if self._settings.s3_location is None:
            return None
        if self.credentials is None:
            return lance_options()
        return {**lance_options(), **self.credentials.for_lance()}

    @cached_property
    def stores(self) -> "LanceRecords":
        """The record stores as a whole, with their embedding models."""
        return self.records

    @cached_property
    def graph(self) -> "ParquetGraph":
        """The agents' triples."""
        from varve.adapters.graph.parquet import ParquetGraph

        return ParquetGraph(self.objects)

    @cached_property
    def profiles(self) -> "JsonProfiles":
        """The users' profiles."""
        from varve.adapters.json_profiles import JsonProfiles

        return JsonProfiles(self.objects)

    @cached_property
    def views(self) -> "Views":
        """Reads and keeps views of the agents' memories."""
        from varve.usecases.views import Views

        return Views(
            remote=self._settings.s3_location is not None,
            max_staleness=self._settings.max_staleness,
            clock=self._clock,
        )

    def read_config(self, workspace: str) -> WorkspaceConfig:
        """Return the workspace's configuration as stored now. Raises Rejected: invalid."""
        key = f"workspaces/{path_id(workspace, 'workspaceId')}/config.json"
        stored = self.objects.get(key)
        data = stored.data if stored else b"{}"
        settings = self._settings
        return _parse_config(
            data, settings.default_plan, settings.privacy_mode
        )

    def require_own_folders(self, scope: Scope) -> None:
        """Refuse an agent whose folders the file system takes for another agent's.

        Raises Misconfigured: names both.
        """
        from varve.adapters.objects.store import LocalObjects

        if isinstance(self.objects, LocalObjects):
            self.objects.require_own_folders(str(scope))

    def require_safe(self) -> None:
        """Refuse an endpoint that could lose acknowledged rows, before the first write.

        Amazon S3 honours conditional puts and is not asked. Raises Misconfigured.
        """
        from varve.adapters.objects.store import (
            custom_endpoint,
            require_conditional_put,
        )

        endpoint = custom_endpoint() if self._settings.s3_location else None
        if endpoint:
            require_conditional_put(self.objects, endpoint)


@lru_cache(maxsize=1_000)
def _parse_config(
    data: bytes, default_plan: Plan, privacy_mode: Mode
) -> WorkspaceConfig:
    """Return the stored configuration, with the operator's values where it sets none."""
    config = parse_workspace_config(data)
    update: dict[str, object] = {}
    if "plan" not in config.model_fields_set:
        update["plan"] = default_plan
    if "mode" not in config.privacy.model_fields_set:
        update["privacy"] = config.privacy.model_copy(
            update={"mode": privacy_mode}
        )
    return config.model_copy(update=update)
