"""What becomes of a conversation: its words, facts, triples and episodes go to the writer."""

from typing import Any

from varve.domain.calendar import Grain, Period
from varve.domain.identity import Scope
from varve.domain.ledger import LedgerChanges
from varve.messages.erasure import Reread
from varve.messages.ingest import IngestMessage
from varve.ports.queues import Queue
from varve.usecases.experience.episodes import Cutting
from varve.usecases.experience.judging import ModelJudge
from varve.usecases.extract import ExtractOutcome, extract
from varve.usecases.ledger import Ledger
from varve.usecases.timeline import end_of
from varve.usecases.together import Together
from varve.wiring.parts import Parts


def take_in(
    parts: Parts, message: IngestMessage | Reread, scope: Scope, queue: Queue | Together
) -> ExtractOutcome:
    """Extract from a delivery and send what comes of it. Raises Retryable, Rejected, Misconfigured."""
    config = parts.config(scope.workspace)
    privacy = parts.privacy(config, scope.workspace)
    tools: dict[str, Any] = {
        "extractor": parts.extractor(config, scope.agent, privacy),
        "embedder": parts.embedder(config),
        "queue": queue,
        "objects": parts.objects,
    }
    if isinstance(message, Reread):
        from varve.usecases.erasure.reread import reread

        return reread(message, config.zone, **tools)
    # Filtered again, for whoever put it on the queue may not have gone through ingest.
    private, llm = privacy.delivered(message), parts.llm(config, privacy)
    cutting = Cutting(config.experience.thresholds, ModelJudge(llm) if llm else None)
    if isinstance(queue, Together):
        queue.begin((scope, message.conversation.conversation_id))
        tools["afterwards"] = queue.afterwards
    done = extract(private, config.zone, **tools, cutting=cutting)
    if done.messages and not done.turns:
        # Nobody has said a word, so that no summary will note when the day's messages are over.
        over = end_of(
            Period.of(message.received_at, Grain.DAILY, config.zone), scope, config
        )
        Ledger(parts.objects).change(LedgerChanges(expiries=(over,)))
    return done
