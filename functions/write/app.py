"""WriteFunction: a batch on the write queue -> stored; the only function that changes a store."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import tell_fates
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.application import Application, open_application

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A batch of the write queue; answers with the messages to deliver again."""
    app: Application = application()
    batch = deliveries(event, app.parts.write_queue)
    outcome = app.write(batch)
    tell_fates(logger, batch, outcome.returned)
    metrics.add_metric("WrittenRecords", MetricUnit.Count, outcome.records)
    metrics.add_metric("WrittenTriples", MetricUnit.Count, outcome.operations)
    metrics.add_metric("ReturnedMessages", MetricUnit.Count, len(outcome.returned))
    return batch_response(outcome.returned)
