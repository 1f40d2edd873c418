"""A memory in plain dictionaries that can forget, and what of it two memories are compared by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.builders import ACME, WordEmbedder, stores_over
from varve.adapters.in_memory import InMemoryGraph, InMemoryObjects, InMemoryRecords
from varve.adapters.json_profiles import JsonProfiles
from varve.adapters.queues.inline import InlineQueue
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
from varve.usecases.condensing import ExtractiveSummarizer
from varve.usecases.erasure.forget import Erased, Tools, bar, erase
from varve.usecases.erasure.reread import reread
from varve.usecases.erasure.subject import Subject, find
from varve.usecases.erasure.sweep import read_timeline
from varve.usecases.extract import extract
from varve.usecases.ingest import ingest
from varve.usecases.ledger import Ledger
from varve.usecases.plan import plan
from varve.usecases.summarize import summarize
from varve.usecases.write import write_now

Conversation = dict[str, Any]
ZONE = ZoneInfo("UTC")


class Forgetful:
    """One agent's memory: every stage over in-memory ports, each called by the one before."""

    def __init__(self, extractor: Any = None) -> None:
        self.records, self.graph, self.objects = (
            InMemoryRecords(),
            InMemoryGraph(),
            InMemoryObjects(),
        )
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
        ingest(parsed, now, queue=self.conversations, objects=self.objects)

    def read(self, delivery: Delivery) -> None:
        """What the extractor does with one delivery, which is kept to be delivered again."""
        self.parts.append(delivery)
        message = read_ingest(delivery, objects=self.objects)
        if isinstance(message, Nothing):
            return
        verb: Any = reread if isinstance(message, Reread) else extract
        parts = {
            "extractor": self.extractor,
            "embedder": self.embedder,
            "queue": self.writes,
        }
        verb(message, ZONE, objects=self.objects, **parts)

    def write(self, delivery: Delivery) -> None:
        write_now([delivery], self.stores, objects=self.objects)

    def find(self, **selector: Any) -> Subject:
        return find(
            ACME, Selector(**selector), reader=self.records, objects=self.objects
        )

    def forget(self, *, now: datetime, **selector: Any) -> Erased:
        chosen = Selector(**selector)
        bar(ACME, chosen, self.find(**selector), now, objects=self.objects)
        return erase(self.tools, prune=False)

    @property
    def tools(self) -> Tools:
        return Tools(
            ACME, self.config, self.records, self.graph, self.objects, self.ledger, self.embedder,
            self.writes, self.conversations,
        )  # fmt: skip

    def summarize(self, now: datetime) -> None:
        for grain in SUMMARY_GRAINS:
            for due in plan(
                grain, now, ledger=self.ledger, config=lambda _: self.config, scope=ACME
            ).due:
                summarize(
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
