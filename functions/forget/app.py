"""ForgetFunction: an administrator's request -> erasure through the write queue, and a receipt."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import fold_costs
from varve.domain.errors import Rejected
from varve.messages.tool_calls import error_answer
from varve.usecases.forget.forget import forget
from varve.usecases.forget.requests import read_forget_event
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """Handle `{"workspaceId", "agentId", "user" | "conversation" | "ids", "verify"?, "dryRun"?}`."""
    opened = sessions()
    try:
        scope, request = read_forget_event(event)
        with opened.open_owner(scope) as session:
            outcome = forget(session, request, opened)
    except Rejected as error:
        metrics.add_metric("RejectedRequests", MetricUnit.Count, 1)
        return error_answer(error)
    metrics.add_metric("Erasures", MetricUnit.Count, int(not outcome.dry_run))
    fold_costs(logger, metrics, opened)
    return outcome.to_dict()
