"""WriteFunction: a batch on the write queue -> stored; the only function that changes a store."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import fold_costs
from functions.telemetry import log_fates
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.usecases.write.write import write
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(
    event: dict[str, Any], context: LambdaContext
) -> dict[str, Any]:
    """Handle a batch of the write queue; answer with the messages to deliver again."""
    opened = sessions()
    queue = opened.write_queue
    batch = deliveries(event, queue)
    outcome = write(opened.open_writer(), batch, opened.dead_letters(queue))
    log_fates(logger, batch, outcome.returned)
    metrics.add_metric("WrittenRecords", MetricUnit.Count, outcome.records)
    metrics.add_metric("WrittenTriples", MetricUnit.Count, outcome.operations)
    metrics.add_metric(
        "ReturnedMessages", MetricUnit.Count, len(outcome.returned)
    )
    fold_costs(logger, metrics, opened)
    return batch_response(outcome.returned)
