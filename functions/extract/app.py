"""ExtractFunction: a conversation on the ingest queue -> records and triples on the write queue."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import count_models, tell_fates
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.application import Application, open_application

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A batch of the ingest queue; answers with the messages to deliver again."""
    app: Application = application()
    batch = deliveries(event, app.parts.ingest_queue)
    returned = app.extract(batch)
    tell_fates(logger, batch, returned)
    count_models(metrics, app.parts.usage)
    metrics.add_metric("ExtractedFacts", MetricUnit.Count, app.extracted.facts)
    metrics.add_metric(
        "ExtractedMessages", MetricUnit.Count, len(batch) - len(returned)
    )
    metrics.add_metric("ReturnedMessages", MetricUnit.Count, len(returned))
    return batch_response(returned)
