"""Find the facts and turns whose metadata has what a caller asks for."""

from varve.domain.calendar import Grain
from varve.domain.identity import Scope
from varve.domain.metadata import Values, find_matching
from varve.ports.records import MemoryReader


def find_ids(
    reader: MemoryReader, scope: Scope, where: Values
) -> frozenset[str] | None:
    """Return the ids of the facts and turns with these entries; None: none is asked for.

    Summaries have no metadata. Raises Retryable.
    """
    if not where:
        return None
    return find_matching(reader.read_metadata(scope, Grain.WORKING), where)
