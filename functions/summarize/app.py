"""SummarizeFunction: a schedule per grain -> work items; a work item -> a summary or a cleanup, written."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import count_models
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.application import Application, open_application
from varve.domain.calendar import Grain, parse_instant

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A schedule's `{"grain", "scheduledTime"}`, or a batch of the work queue."""
    app: Application = application()
    if "Records" not in event:
        done = app.nights.plan(
            Grain(event["grain"]), parse_instant(event["scheduledTime"])
        )
        if done.planned or done.left:
            metrics.add_metric("PlannedPeriods", MetricUnit.Count, done.planned)
            metrics.add_metric("LeftPeriods", MetricUnit.Count, done.left)
        return {"planned": done.planned, "left": done.left, "waiting": done.waiting}
    outcome = app.nights.work(deliveries(event, app.parts.summary_queue))
    for name, count in outcome.metrics().items():
        metrics.add_metric(name, MetricUnit.Count, count)
    metrics.add_metric("PyramidLag", MetricUnit.Seconds, outcome.lag_seconds)
    count_models(metrics, app.parts.usage)
    return batch_response(outcome.returned)
