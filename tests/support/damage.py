"""A small memory in which every sort of object of the layout lies, and ways to damage one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.builders import WordEmbedder
from tests.support.drivers import open_driver
from varve import Memory
from varve.domain.calendar import Grain, Period
from varve.domain.errors import VarveError
from varve.domain.identity import Scope
from varve.domain.ledger import failed_key
from varve.ports.objects import Objects
from varve.usecases.ledger import Ledger


def opened(store: str, cache: Path) -> Memory:
    """The memory as a new process would open it."""
    environment = {"VARVE_CACHE_DIR": str(cache)}
    driver = open_driver(environment, store, NOW, embedder=WordEmbedder())
    return driver.memory(Scope(WORKSPACE, AGENT))


WORKSPACE, AGENT = "acme", "support"
SPOKEN, NOW = "2026-03-{:02}T09:15:00Z", datetime(2026, 3, 12, 12, tzinfo=UTC)
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: data[:0],
    "cut off": lambda data: data[: len(data) // 2],
    "other": lambda data: b'["what is this?"]' + data[:0],
    "bits": lambda data: bytes(
        byte ^ 0x5A if n % 7 == 3 else byte for n, byte in enumerate(data)
    ),
}
NAMES_ALONE = {
    "due mark": r"ledger/due/.+",
    "agent's mark": r"ledger/marks/.+",
    "expiry": r"ledger/expiry/.+",
    "lessons": r"ledger/lessons/.+",
}
"""Objects that say what they say by their names; nobody reads what they hold."""
WITH_CONTENT = {
    "config.json": r"workspaces/.+/config\.json",
    "taken in": r"ledger/conversations/.+",
    "failure": r"ledger/failed/.+",
    "timeline": r"timeline/.+",
    "profile": r"profiles/.+",
    "facts.parquet": r"graphs/.+/facts\.parquet",
    "manifest": r"vectordb/.+/working/.+\.manifest",
    "rows": r"vectordb/.+/working/.+\.lance/data/.+\.lance",
    "index": r"vectordb/.+/working/.+/_indices/.+",
    "summaries' manifest": r"vectordb/.+/daily/.+\.manifest",
    "experience's manifest": r"vectordb/.+/experience/.+\.manifest",
    "experience's rows": r"vectordb/.+/experience/.+\.lance/data/.+\.lance",
    "curation": r"ledger/curation/.+",
    "tombstones": r"audit/.+/tombstones/.+",
    "receipt": r"audit/.+/receipts/.+",
}
KINDS = {**NAMES_ALONE, **WITH_CONTENT}


def said(
    day: int, text: str, conversation: str = "", **given: str
) -> dict[str, Any]:
    message = {
        "id": f"m{day}",
        "role": "user",
        "name": "Dana",
        "content": text,
        "timestamp": SPOKEN.format(day),
        **given,
    }
    return {
        "conversationId": conversation or f"c-{day}",
        "userId": "u-42",
        "messages": [message],
    }


def fill(memory: Memory, objects: Objects) -> None:
    """Conversations of two days, their summaries, settings, a profile and a period that has failed.

    An outcome has been learnt from and looked at, and a user has been forgotten.
    """
    memory.configure("timezone", "Europe/Lisbon")
    memory.ingest(
        [said(9, "I live in Lisbon."), said(10, "I work at Kestrel.")], now=NOW
    )
    memory.set_profile("diet", "vegan", user_id="u-42")
    memory.ingest(
        said(
            9, "Threads wait for a connection.", "c-lived", state="debugging"
        ),
        now=NOW,
    )
    memory.record_outcome(
        "c-lived",
        "FAILURE",
        decision="raise the pool",
        correction="Roll back.",
    )
    memory.ingest(
        {**said(9, "I live in Graz.", "c-7"), "userId": "u-7"}, now=NOW
    )
    memory.forget(user="u-7")
    memory.experience.lessons.curate(now=NOW)
    memory.summarize(grain="daily")
    memory.ingest(said(8, "I moved to Porto."), now=NOW)
    scope, period = Scope(WORKSPACE, AGENT), Period(Grain.DAILY, "2026-03-08")
    Ledger(objects).fail(
        scope, period, "no answer", datetime(2026, 3, 9, tzinfo=UTC)
    )
    assert objects.get(failed_key(scope, period))


def verbs(
    memory: Memory, ids: Iterable[str]
) -> dict[str, Callable[[], object]]:
    """Everything a caller can do, by name."""
    return {
        "search": lambda: memory.search("where does Dana live?"),
        "browse": lambda: memory.search(grain="daily"),
        "context": lambda: memory.context(
            "Where does Dana live?", user_id="u-42"
        ),
        "profile": lambda: memory.profile(user_id="u-42"),
        "status": memory.status,
        "show": lambda: [memory.show(id_) for id_ in ids],
        "graph": lambda: memory.graph.entity("Dana"),
        "sql": lambda: memory.graph.query_graph(
            "select label, target_id from facts order by all"
        ),
        "config": memory.config,
        "cleanup": lambda: memory.cleanup(dry_run=True),
        "set profile": lambda: memory.set_profile(
            "diet", "omnivore", user_id="u-42"
        ),
        "ingest": lambda: memory.ingest(
            said(10, "I work at Kestrel."), now=NOW
        ),
        "ingest more": lambda: memory.ingest(
            said(11, "I moved to Graz."), now=NOW
        ),
        "experience": lambda: memory.recall_experience(
            "threads wait for a connection"
        ),
        "lessons": lambda: memory.search("threads", memory_types=["lesson"]),
        "last curation": memory.experience.lessons.last_curation,
        "outcome": lambda: memory.record_outcome("c-lived", "SUCCESS"),
        "forget": lambda: memory.forget(conversation="c-8", verify=True),
        "summarize": memory.summarize,
        "clean": memory.cleanup,
    }


def tried(verb: Callable[[], object]) -> VarveError | None:
    """The error of ours that the verb ended in, if any; every other error passes through."""
    try:
        verb()
    except VarveError as error:
        return error
    return None


def of_each_kind(keys: Iterable[str]) -> dict[str, str]:
    """A key of each kind that is there; manifests are named so that the newest comes first."""
    found = sorted(keys)
    return {
        kind: matching[0 if "manifest" in kind else -1]
        for kind, pattern in KINDS.items()
        if (
            matching := [key for key in found if re.search(pattern + "$", key)]
        )
    }
