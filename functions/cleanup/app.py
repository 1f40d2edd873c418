"""CleanupFunction: a schedule -> work items: agents to clean up, curate or catch up."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import fold_costs
from functions.counts import count_all
from varve.domain.calendar import parse_instant
from varve.usecases.plan import plan_catch_up, plan_cleanup, plan_curation
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(
    event: dict[str, Any], context: LambdaContext
) -> dict[str, Any]:
    """Handle a schedule's `{"scheduledTime"}`, some with the `"task"` curate or catch-up."""
    plans = {"curate": plan_curation, "catch-up": plan_catch_up}
    plan = plans.get(event.get("task", ""), plan_cleanup)
    opened = sessions()
    outcome = plan(
        opened.open_planner(), parse_instant(event["scheduledTime"])
    )
    count_all(metrics, outcome.metrics("PlannedAgents", "LeftAgents"))
    fold_costs(logger, metrics, opened)
    return {"planned": outcome.planned, "left": outcome.left}
