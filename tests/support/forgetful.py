"""A memory in plain dictionaries that can forget, and what of it two memories are compared by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.builders import ACME, WordEmbedder, stores_over
from tests.support.queues import InlineQueue
from tests.support.usecase_drivers import (
    run_bar,
    run_erase,
    run_extract,
    run_find_subject,
    run_ingest,
    run_plan,
    run_reread,
    run_summarize,
    run_write_now,
)
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.adapters.json_profiles import JsonProfiles
from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.conversation import parse_conversation
from varve.domain.erasure import Selector
from varve.domain.profile import ProfileEntry
from varve.domain.record import Record
from varve.domain.rules import RuleExtractor
from varve.domain.search.query import Filter
from varve.domain.workspace import WorkspaceConfig
from varve.messages.erasure import ErasedMessage as Nothing
from varve.messages.erasure import Reread
from varve.messages.ingest import read_ingest
from varve.ports.queues import Delivery
from varve.usecases.erasure.erased import Erased
from varve.usecases.erasure.subject import Subject
from varve.usecases.erasure.sweep import read_timeline
from varve.usecases.ledger import Ledger
from varve.usecases.summaries.condensing import ExtractiveSummarizer

Conversation = dict[str, Any]
ZONE = ZoneInfo("UTC")


class Forgetful:
    """One agent's memory: every stage over in-memory ports, each called by the one before."""

    def __init__(
        self, extractor: Any = None, objects: InMemoryObjects | None = None
    ) -> None:
        self.records = InMemoryRecords()
        self.graph = InMemoryGraph()
        self.objects = objects or InMemoryObjects()
        self.ledger, self.embedder = Ledger(self.objects), WordEmbedder()
        self.extractor = extractor or RuleExtractor()
        self.config = WorkspaceConfig()
        self.stores = stores_over(self.records, self.graph, self.objects)
        self.writes, self.conversations = (
            InlineQueue(self.write),
            InlineQueue(self.read),
        )
        self.parts: list[Delivery] = []

    def ingest(self, *conversations: Conversation, now: datetime) -> None:
        parsed = [
            parse_conversation(conversation).in_scope(ACME)
            for conversation in conversations
        ]
        run_ingest(parsed, now, queue=self.conversations, objects=self.objects)

    def read(self, delivery: Delivery) -> None:
        """What the extractor does with one delivery, which is kept to be delivered again."""
        self.parts.append(delivery)
        message = read_ingest(delivery, objects=self.objects)
        if isinstance(message, Nothing):
            return
        verb: Any = run_reread if isinstance(message, Reread) else run_extract
        parts = {
            "extractor": self.extractor,
            "embedder": self.embedder,
            "queue": self.writes,
        }
        verb(message, ZONE, objects=self.objects, **parts)

    def write(self, delivery: Delivery) -> None:
        run_write_now([delivery], self.stores)

    def find(self, **selector: Any) -> Subject:
        return run_find_subject(
            ACME,
            Selector(**selector),
            records=self.records,
            graph=self.graph,
            objects=self.objects,
        )

    def forget(self, *, now: datetime, **selector: Any) -> Erased:
        self.bar(now=now, **selector)
        return self.erase(selector=Selector(**selector))

    def bar(self, *, now: datetime, **selector: Any) -> None:
        """Put the tombstones, and erase nothing yet."""
        chosen = Selector(**selector)
        subject = self.find(**selector)
        run_bar(ACME, chosen, subject, now, objects=self.objects)

    def erase(self, **given: Any) -> Erased:
        """Erase what the tombstones bar; `writes`, `prune` and `wait` may be given."""
        ports: dict[str, Any] = {
            "records": self.records,
            "graph": self.graph,
            "objects": self.objects,
            "embedder": self.embedder,
            "writes": self.writes,
            "conversations": self.conversations,
            "prune": False,
        }
        return run_erase(ACME, self.config, **{**ports, **given})

    def summarize(self, now: datetime) -> None:
        for grain in SUMMARY_GRAINS:
            for due in run_plan(
                grain,
                now,
                ledger=self.ledger,
                config=lambda _: self.config,
                scope=ACME,
            ).due:
                run_summarize(
                    ACME, due.period, now, self.config, reader=self.records, ledger=self.ledger,
                    summarizer=ExtractiveSummarizer(self.embedder), embedder=self.embedder,
                    queue=self.writes, objects=self.objects,
                )  # fmt: skip

    def held(self, *grains: Grain) -> dict[str, list[dict[str, Any]]]:
        """The records; places in conversations may have gaps, and fingerprints tell of places."""
        return {
            str(grain): sorted(map(_plain, self.all(grain)), key=str)
            for grain in grains or Grain
        }

    def all(self, grain: Grain) -> list[Record]:
        return self.records.browse(ACME, grain, where=Filter(), limit=100_000)

    def known(self) -> list[dict[str, Any]]:
        """The triples with all that they stand on."""
        return [asdict(triple) for triple in self.graph.triples(ACME)]

    def profile(self, user: str) -> list[ProfileEntry]:
        """What the user's profile stands on."""
        return JsonProfiles(self.objects).entries(ACME, user)

    def said(self) -> list[str]:
        """The timeline's messages."""
        lines: Iterable[Any] = (
            x
            for said in read_timeline(ACME, objects=self.objects).values()
            for x in said
        )
        return sorted(
            f"{line.conversation_id} {line.day} {line.value['message']}"
            for line in lines
        )

    def bytes(self) -> bytes:
        """Everything under the root, keys included."""
        return b"\n".join(
            key.encode() + b" " + stored.data
            for area in self.objects.folders("")
            for key in (info.key for info in self.objects.list(area))
            if (stored := self.objects.get(key))
        )


def _plain(record: Record) -> dict[str, Any]:
    values = asdict(record)
    for name in ("position", "source_fingerprints", "created_at"):
        del values[name]
    return values
