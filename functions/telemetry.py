"""What a function tells of its work: the fate of each message by its correlation id, and what models took."""

from collections.abc import Collection, Sequence

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from varve.domain.dead_letter import correlation_of
from varve.domain.usage import ModelUsage
from varve.ports.queues import Delivery


def tell_fates(
    logger: Logger, batch: Sequence[Delivery], returned: Collection[Delivery]
) -> None:
    """A line for each message of the batch: its ids, and whether it comes again. Never what is in it."""
    again = {delivery.id for delivery in returned}
    for delivery in batch:
        ids = {"correlationId": correlation_of(delivery.body), "messageId": delivery.id}
        logger.info("returned" if delivery.id in again else "settled", extra=ids)


def tell_accepted(logger: Logger, correlation_ids: Sequence[str]) -> None:
    """A line for each message that ingest put on the queue."""
    for correlation_id in correlation_ids:
        logger.info("accepted", extra={"correlationId": correlation_id})


def count_models(metrics: Metrics, usage: ModelUsage) -> None:
    """What models were asked since the last invocation; nothing where none was."""
    taken = usage.take()
    if taken.calls:
        metrics.add_metric("ModelCalls", MetricUnit.Count, taken.calls)
        metrics.add_metric(
            "ModelTokens",
            MetricUnit.Count,
            taken.prompt_tokens + taken.completion_tokens,
        )
