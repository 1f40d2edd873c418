"""One agent's summaries over in-memory ports, with a summarizer that tells its input."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.support.builders import (
    ACME,
    RecordingQueue,
    WordEmbedder,
    a_record,
    embedded,
    stores_over,
)
from tests.support.traffic import ScriptedSummarizer
from tests.support.usecase_drivers import run_summarize, run_write_now
from varve.adapters.in_memory import (
    InMemoryGraph,
    InMemoryObjects,
    InMemoryRecords,
)
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period
from varve.domain.record import MemoryType, Record
from varve.domain.summary import PeriodPart, Summary
from varve.domain.workspace import WorkspaceConfig
from varve.messages.write import WriteRecords, send_records
from varve.usecases.ledger import Ledger
from varve.usecases.summaries.summarize import (
    MAX_CALLS,
    SummarizeOutcome,
    SummaryOutcome,
)

DAY, WEEK = Period.parse("2026-03-02"), Period.parse("2026-W10")
PYRAMID = [Period.of_day(DAY.days[0], grain) for grain in SUMMARY_GRAINS]
NOW = datetime(2027, 2, 1, tzinfo=UTC)


class Agent:
    """One agent's stores, with a summarizer that tells what it was given."""

    def __init__(self, **config: Any) -> None:
        self.records, self.objects, self.queue = (
            InMemoryRecords(),
            InMemoryObjects(),
            RecordingQueue(),
        )
        self.ledger, self.summarizer = (
            Ledger(self.objects),
            ScriptedSummarizer(),
        )
        self.graph = InMemoryGraph()
        self.stores = stores_over(self.records, self.graph, self.objects)
        self.config = WorkspaceConfig.model_validate(config)
        self.embedder: Any = WordEmbedder()

    def tell(self, *records: Record, grain: Grain = Grain.WORKING) -> None:
        message = WriteRecords(
            ACME, grain, WordEmbedder.model, tuple(embedded(*records))
        )
        send_records(message, queue=self.queue, objects=self.objects)
        self.commit()

    def commit(self) -> None:
        for delivery in self.queue.sent:
            run_write_now([delivery], self.stores)
        self.queue.sent.clear()

    def sum_up(
        self,
        period: Period = DAY,
        summarizer: Any = None,
        *,
        commit: bool = True,
        now: datetime = NOW,
    ) -> SummaryOutcome:
        """Summarize a period, in one run."""
        return self.run(period, summarizer, commit=commit, now=now).state

    def run(
        self,
        period: Period = DAY,
        summarizer: Any = None,
        *,
        part: PeriodPart | None = None,
        most_calls: int = MAX_CALLS,
        commit: bool = True,
        now: datetime = NOW,
    ) -> SummarizeOutcome:
        """Summarize a period, or the rest of one that an earlier run has left."""
        outcome = run_summarize(
            ACME, period, now, self.config, part=part, most_calls=most_calls, reader=self.records,
            ledger=self.ledger, summarizer=summarizer or self.summarizer,
            embedder=self.embedder, queue=self.queue, objects=self.objects, graph=self.graph,
        )  # fmt: skip
        if commit:
            self.commit()
        return outcome

    def summary(self, period: Period = DAY) -> Record:
        (found,) = self.records.in_period(ACME, period.grain, period.label)
        return found

    def lose(self, period: Period) -> None:
        self.records.delete_periods(ACME, period.grain, [period.label])

    def is_due(self, period: Period = DAY) -> bool:
        return bool(self.ledger.marks(ACME, period))


class Saying:
    """A Summarizer that always says this."""

    name = "saying"

    def __init__(self, text: str, **given: Any) -> None:
        self.summary = Summary(text, **given)

    def summarize(self, task: Any) -> Summary:
        return self.summary


def told(*records: Record, **config: Any) -> Agent:
    agent = Agent(**config)
    agent.tell(*(records or (a_record(),)))
    return agent


def turn(content: str = "Dana: hello", **given: Any) -> Record:
    return a_record(content, memory_type=MemoryType.TURN, **given)
