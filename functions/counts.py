"""Metrics that several functions share."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

if TYPE_CHECKING:  # other functions start without the parts of this one
    from varve.usecases.work import WorkOutcome


def count_all(metrics: Metrics, counts: Mapping[str, int]) -> None:
    """Add each count to the metric of its name."""
    for name, count in counts.items():
        metrics.add_metric(name, MetricUnit.Count, count)


def count_work(metrics: Metrics, outcome: "WorkOutcome") -> None:
    """Count what a batch of work came to, and how late the oldest period was."""
    count_all(metrics, outcome.metrics())
    metrics.add_metric("PyramidLag", MetricUnit.Seconds, outcome.lag_seconds)


def count_partly_filtered(metrics: Metrics, messages: int) -> None:
    """Count the messages whose filter reached a limit, if there are any."""
    if messages:
        metrics.add_metric(
            "PartlyFilteredMessages", MetricUnit.Count, messages
        )
