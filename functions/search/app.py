"""SearchFunction: a question, from whoever may ask it -> ranked memories."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import count_models
from varve.application import Application, open_application
from varve.domain.search.query import parse_search_request
from varve.messages.tool_calls import ToolCall, answer_tool_call

logger = Logger()
metrics = Metrics()
application = cache(open_application)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> Any:
    """A `search_memory` call: direct, through an AgentCore Gateway, or of a Bedrock agent."""
    app: Application = application()

    def answer(call: ToolCall) -> dict[str, Any]:
        response = app.of(call.scope).search(
            call.scope, parse_search_request(call.arguments)
        )
        metrics.add_metric("SearchResults", MetricUnit.Count, len(response.results))
        return response.to_dict()

    custom = getattr(context.client_context, "custom", None) or {}
    answered = answer_tool_call(
        event, custom, app.parts.settings.identities or {}, answer
    )
    count_models(metrics, app.parts.usage)
    return answered
