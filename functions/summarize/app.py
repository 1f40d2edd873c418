"""SummarizeFunction: a schedule per grain -> work items; a work item -> a summary or a cleanup."""

from dataclasses import asdict
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import count_models
from varve.adapters.queues.lambda_batch import batch_response, deliveries
from varve.domain.calendar import Grain, parse_instant
from varve.usecases.plan import plan_summaries
from varve.usecases.work import work
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A schedule's `{"grain", "scheduledTime"}`, or a batch of the work queue."""
    opened = sessions()
    if "Records" not in event:
        return _plan(opened, Grain(event["grain"]), event["scheduledTime"])
    queue = opened.work_queue
    outcome = work(
        opened.open,
        deliveries(event, queue),
        now=opened.clock(),
        dead_letters=opened.dead_letters(queue),
    )
    for name, count in outcome.metrics().items():
        metrics.add_metric(name, MetricUnit.Count, count)
    metrics.add_metric("PyramidLag", MetricUnit.Seconds, outcome.lag_seconds)
    count_models(metrics, opened.models.usage)
    return batch_response(outcome.returned)


def _plan(opened: Sessions, grain: Grain, scheduled: str) -> dict[str, Any]:
    outcome = plan_summaries(opened.open_planner(), grain, parse_instant(scheduled))
    if outcome.planned or outcome.left:
        metrics.add_metric("PlannedPeriods", MetricUnit.Count, outcome.planned)
        metrics.add_metric("LeftPeriods", MetricUnit.Count, outcome.left)
    return asdict(outcome)
