"""Logs that several functions share: ids, never content."""

from collections.abc import Collection, Sequence

from aws_lambda_powertools import Logger

from varve.domain.dead_letter import correlation_of
from varve.ports.queues import Delivery


def log_fates(
    logger: Logger, batch: Sequence[Delivery], returned: Collection[Delivery]
) -> None:
    """Log the ids of each message of the batch, and whether it is delivered again."""
    for delivery in batch:
        ids = {
            "correlationId": correlation_of(delivery.body),
            "messageId": delivery.id,
        }
        logger.info(
            "returned" if delivery in returned else "settled", extra=ids
        )


def log_accepted(logger: Logger, correlation_ids: Sequence[str]) -> None:
    """Log each message that ingest put on the queue."""
    for correlation_id in correlation_ids:
        logger.info("accepted", extra={"correlationId": correlation_id})
