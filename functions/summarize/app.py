"""SummarizeFunction: a schedule per grain -> work items; a work item -> one summary, on the write queue."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from varve.adapters.aws import batch_response, deliveries
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
        planned = app.nights.plan(Grain(event["grain"]), parse_instant(event["scheduledTime"]))
        if planned:
            metrics.add_metric("PlannedPeriods", MetricUnit.Count, planned)
        return {"planned": planned}
    outcome = app.nights.work(deliveries(event, app.parts.summary_queue))
    metrics.add_metric("BuiltSummaries", MetricUnit.Count, outcome.built)
    metrics.add_metric("UnchangedSummaries", MetricUnit.Count, outcome.unchanged)
    metrics.add_metric("FailedPeriods", MetricUnit.Count, outcome.failed)
    metrics.add_metric("GivenUpPeriods", MetricUnit.Count, outcome.given_up)
    metrics.add_metric("ReturnedMessages", MetricUnit.Count, len(outcome.returned))
    return batch_response(outcome.returned)
