"""The JSON objects under `audit/` that protect an agent's data, one of each kind."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from varve.domain.errors import Retryable
from varve.domain.identity import Scope
from varve.ports.objects import Objects
from varve.usecases.write.contention import change_object

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class AuditObject(Generic[Content]):
    """One kind of object, stored as `audit/{workspace}/{kind}/{agent}.json`."""

    kind: str
    empty: Callable[[], Content]
    encode: Callable[[Content], object]
    decode: Callable[[Any], Content]

    def read(self, scope: Scope, objects: Objects) -> Content:
        """Return the agent's content. Raises Retryable: the object is not readable."""
        return self._read(scope, objects)[0]

    def change(
        self,
        scope: Scope,
        change: Callable[[Content], Content],
        objects: Objects,
    ) -> Content:
        """Apply `change` to the agent's content; return the result.

        Raises Retryable: not readable, or others changed it too often meanwhile.
        """
        return change_object(
            self._key(scope),
            lambda: self._read(scope, objects),
            change,
            self._encode,
            objects=objects,
        )

    def _encode(self, content: Content) -> bytes:
        return json.dumps(self.encode(content), separators=(",", ":")).encode()

    def _read(
        self, scope: Scope, objects: Objects
    ) -> tuple[Content, str | None]:
        stored = objects.get(self._key(scope))
        if stored is None:
            return self.empty(), None
        try:
            return self.decode(json.loads(stored.data)), stored.etag
        except (
            AttributeError,
            KeyError,
            RecursionError,
            TypeError,
            ValueError,
        ) as error:
            # Read as empty, forgotten data could return or statements of others be lost.
            message = f"{self.kind} of {scope}: the object is not readable"
            raise Retryable(message) from error

    def _key(self, scope: Scope) -> str:
        return f"audit/{scope.workspace}/{self.kind}/{scope.agent}.json"
