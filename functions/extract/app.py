"""ExtractFunction: a conversation on the ingest queue -> records and triples on the write queue."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import fold_costs
from functions.counts import count_all, count_partly_filtered
from functions.telemetry import log_fates
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.usecases.ingest.extract import extract_batch
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(
    event: dict[str, Any], context: LambdaContext
) -> dict[str, Any]:
    """Handle a batch of the ingest queue; answer with the messages to deliver again."""
    opened = sessions()
    queue = opened.ingest_queue
    batch = deliveries(event, queue)
    outcome = extract_batch(
        opened.open,
        batch,
        objects=opened.store.objects,
        dead_letters=opened.dead_letters(queue),
    )
    log_fates(logger, batch, outcome.returned)
    count_all(metrics, outcome.metrics(of=len(batch)))
    count_partly_filtered(metrics, outcome.partly_filtered)
    fold_costs(logger, metrics, opened)
    return batch_response(outcome.returned)
