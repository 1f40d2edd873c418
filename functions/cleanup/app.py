"""CleanupFunction: a daily schedule -> deletions of what has outlived its plan, on the write queue."""

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
    """A schedule's `{"scheduledTime"}`."""
    app: Application = application()
    outcome = app.nights.clean(parse_instant(event["scheduledTime"]))
    metrics.add_metric("CleanedAgents", MetricUnit.Count, outcome.agents)
    metrics.add_metric("ExpiredPeriods", MetricUnit.Count, outcome.periods)
    metrics.add_metric("UnsealedPeriods", MetricUnit.Count, outcome.unsealed)
    cleaned = {"agents": outcome.agents, "periods": outcome.periods, "records": outcome.records}
    return {"cleaned": cleaned, "unsealed": outcome.unsealed}
