"""CleanupFunction: a schedule -> work items: agents to clean up, or agents whose lessons to look at."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from varve.application import Application, open_application
from varve.domain.calendar import parse_instant

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """A schedule's `{"scheduledTime"}`, with `"task": "curate"` the monthly one of lessons."""
    app: Application = application()
    plan = app.nights.curate if event.get("task") == "curate" else app.nights.clean
    done = plan(parse_instant(event["scheduledTime"]))
    if done.planned or done.left:
        metrics.add_metric("PlannedAgents", MetricUnit.Count, done.planned)
        metrics.add_metric("LeftAgents", MetricUnit.Count, done.left)
    return {"planned": done.planned, "left": done.left}
