"""IngestFunction: conversations, a statement, a correction or an outcome -> the ingest queue."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import fold_costs
from functions.counts import count_partly_filtered
from functions.telemetry import log_accepted
from varve.domain.errors import Rejected
from varve.messages.outcome import is_outcome_event, parse_outcome_event
from varve.messages.tool_calls import error_answer
from varve.usecases.experience.outcomes import accept_report
from varve.usecases.ingest.ingest import ingest_all, read_event
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """Handle conversations, `{"conversations": […]}`, or an event of a `type`."""
    opened = sessions()
    try:
        if is_outcome_event(event):
            scope, report = parse_outcome_event(event, opened.clock())
            with opened.open(scope) as session:
                accept_report(session, report)
            return {"accepted": {"outcomes": 1}}
        outcome = ingest_all(opened.open, read_event(event, opened.clock()))
    except Rejected as error:
        metrics.add_metric("RejectedRequests", MetricUnit.Count, 1)
        return error_answer(error)
    log_accepted(logger, outcome.correlation_ids)
    metrics.add_metric("AcceptedMessages", MetricUnit.Count, outcome.messages)
    count_partly_filtered(metrics, len(outcome.partly_filtered))
    fold_costs(logger, metrics, opened)
    return outcome.to_dict()
