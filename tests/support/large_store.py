"""A store of 200,000 records: `make` writes it, `use` searches and writes to it and tells what that took."""

from __future__ import annotations

import json
import resource
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np

from tests.support.builders import ACME, MORNING, a_record
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain
from varve.domain.record import EmbeddedRecord
from varve.domain.search.query import Filter

RECORDS, BATCH, WIDTH = 200_000, 5_000, 256
MODEL = f"random:{WIDTH}"
WORDS = (
    "Lisbon",
    "Porto",
    "Graz",
    "Kestrel",
    "sushi",
    "ticket",
    "sister",
    "neighbour",
)


def make(root: Path) -> None:
    """Random vectors, and texts of a few words."""
    rng = np.random.default_rng(7)
    records = LanceRecords(str(root), local_objects(root))
    for start in range(0, RECORDS, BATCH):
        vectors = rng.standard_normal((BATCH, WIDTH), dtype=np.float32)
        batch = [
            EmbeddedRecord(
                a_record(
                    f"Fact {n} of {WORDS[n % 8]} and {WORDS[n // 8 % 8]}.",
                    at=MORNING + timedelta(minutes=n % 40_000),
                ),
                vectors[n - start] / np.linalg.norm(vectors[n - start]),
            )
            for n in range(start, start + BATCH)
        ]
        records.upsert(ACME, Grain.WORKING, batch, MODEL)


def use(root: Path) -> dict[str, object]:
    """Search, browse, write; the most memory that the process has had, in MB of 2^20 bytes."""
    records = LanceRecords(str(root), local_objects(root))
    vector = np.ones(WIDTH, np.float32) / np.float32(16)
    asked = {
        "text": "Kestrel sushi",
        "vector": vector,
        "model": MODEL,
        "where": Filter(),
        "limit": 60,
    }
    found = records.candidates(ACME, Grain.WORKING, **asked, reach=0)
    records.browse(ACME, Grain.WORKING, where=Filter(), limit=100)
    records.upsert(
        ACME,
        Grain.WORKING,
        [EmbeddedRecord(a_record("One more."), vector)],
        MODEL,
    )
    count = records.count(ACME, Grain.WORKING, where=Filter())
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"found": len(found), "records": count, "megabytes": round(most)}


if __name__ == "__main__":
    home = Path(sys.argv[1])
    if sys.argv[2] == "make":
        make(home)
    else:
        print(json.dumps(use(home)))
