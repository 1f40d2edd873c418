"""SummarizeFunction: a schedule -> work items; a work item -> a summary or a cleanup."""

from dataclasses import asdict
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import fold_costs
from functions.counts import count_all, count_work
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
def lambda_handler(
    event: dict[str, Any], context: LambdaContext
) -> dict[str, Any]:
    """Handle a schedule's `{"grain", "scheduledTime"}`, or a batch of the work queue."""
    opened = sessions()
    if "Records" not in event:
        return _plan(opened, event)
    queue, now = opened.work_queue, opened.clock()
    batch, dead = deliveries(event, queue), opened.dead_letters(queue)
    done = work(opened.open, batch, now=now, dead_letters=dead, queue=queue)
    count_work(metrics, done)
    fold_costs(logger, metrics, opened)
    return batch_response(done.returned)


def _plan(opened: Sessions, event: dict[str, Any]) -> dict[str, Any]:
    now = parse_instant(event["scheduledTime"])
    outcome = plan_summaries(opened.open_planner(), Grain(event["grain"]), now)
    count_all(metrics, outcome.metrics("PlannedPeriods", "LeftPeriods"))
    return asdict(outcome)
