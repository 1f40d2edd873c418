"""IngestFunction: a conversation (or several), or the outcome of one -> durable on the ingest queue."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import tell_accepted
from varve.application import Application, open_application
from varve.domain.errors import Rejected
from varve.messages.outcome import is_outcome_event
from varve.messages.tool_calls import error_answer
from varve.usecases.ingest import read_event

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """A conversation of the contract, a list of them, `{"conversations": […]}`, or an outcome."""
    app: Application = application()
    try:
        if is_outcome_event(event):
            app.ingest_outcome(event)
            return {"accepted": {"outcomes": 1}}
        accepted, _ = app.ingest(read_event(event))
    except Rejected as error:
        metrics.add_metric("RejectedRequests", MetricUnit.Count, 1)
        return error_answer(error)
    tell_accepted(logger, accepted.correlation_ids)
    metrics.add_metric("AcceptedMessages", MetricUnit.Count, accepted.messages)
    return {
        "accepted": {
            "conversations": accepted.conversations,
            "messages": accepted.messages,
        }
    }
