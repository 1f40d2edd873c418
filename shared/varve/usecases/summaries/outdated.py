"""The periods whose summaries a write makes outdated."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from varve.domain.calendar import Grain, Period
from varve.domain.statements.texts.telling import find_corrected
from varve.messages.write import WriteRecords
from varve.ports.records import MemoryReader


def list_outdated(
    message: WriteRecords, reader: MemoryReader
) -> Iterator[Period]:
    """Yield the parents of the written periods, and of those of corrected records.

    A period that the message names as ready is left out. Raises Retryable.
    """
    grain = message.grain
    if not isinstance(grain, Grain):
        return
    labels = {one.record.period for one in message.records}
    if grain is Grain.WORKING:
        cited = chain.from_iterable(
            one.record.source_ids for one in message.records
        )
        get = partial(reader.get, message.scope, grain)
        labels.update(one.period for one in find_corrected(cited, get))
    for label in labels:
        parent = Period(grain, label).parent()
        if parent and parent.label not in message.ready:
            yield parent
