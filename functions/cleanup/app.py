"""CleanupFunction: a schedule -> work items: agents to clean up, or lessons to curate."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from varve.domain.calendar import parse_instant
from varve.usecases.plan import plan_cleanup, plan_curation
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """`{"scheduledTime"}` of a schedule; `"task": "curate"` is the monthly one of lessons."""
    plan = plan_curation if event.get("task") == "curate" else plan_cleanup
    outcome = plan(sessions().open_planner(), parse_instant(event["scheduledTime"]))
    if outcome.planned or outcome.left:
        metrics.add_metric("PlannedAgents", MetricUnit.Count, outcome.planned)
        metrics.add_metric("LeftAgents", MetricUnit.Count, outcome.left)
    return {"planned": outcome.planned, "left": outcome.left}
