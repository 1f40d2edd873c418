"""ForgetFunction: an administrator's request -> erasure through the write queue, and a receipt."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from varve.application import Application, open_application
from varve.domain.errors import Rejected
from varve.messages.tool_calls import error_answer
from varve.verbs.forgetting import forget, read_request

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """`{"workspaceId", "agentId", "user" | "conversation" | "ids", "verify"?, "dryRun"?}`."""
    app: Application = application()
    try:
        scope, request = read_request(event)
        done = forget(app, scope, now=app.parts.clock(), **request)
    except Rejected as error:
        metrics.add_metric("RejectedRequests", MetricUnit.Count, 1)
        return error_answer(error)
    metrics.add_metric("Erasures", MetricUnit.Count, int(not done.dry_run))
    return done.to_dict()
