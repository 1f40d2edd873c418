"""What an invocation has used: as metrics, and folded into the store's costs."""

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from varve.domain.errors import VarveError
from varve.domain.prices import prices_with
from varve.domain.usage import STORE_REQUESTS, ModelUsage
from varve.wiring.sessions import Sessions


def count_costs(metrics: Metrics, opened: Sessions) -> None:
    """Count what was used since the last invocation: requests, models, dollars.

    The dollars are an estimate at list prices, in millionths.
    """
    used = opened.meter.report()
    models = ModelUsage.of(used)
    dollars, _ = prices_with(None).estimate(used)
    requests = sum(used[item] for item in STORE_REQUESTS)
    if models.calls:
        metrics.add_metric("ModelCalls", MetricUnit.Count, models.calls)
        metrics.add_metric("ModelTokens", MetricUnit.Count, models.tokens)
    if used:
        metrics.add_metric("StoreRequests", MetricUnit.Count, requests)
        microdollars = round(dollars * 1_000_000)
        metrics.add_metric(
            "EstimatedMicrodollars", MetricUnit.Count, microdollars
        )
    opened.costs.finish()
    opened.searches.finish()


def fold_costs(logger: Logger, metrics: Metrics, opened: Sessions) -> None:
    """Count what was used, and add it to the store; if that fails, the next fold does."""
    count_costs(metrics, opened)
    try:
        opened.costs.fold()
    except VarveError as error:
        logger.warning("costs wait", extra={"error": type(error).__name__})
