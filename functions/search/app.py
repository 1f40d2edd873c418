"""SearchFunction: a question from an agent -> ranked memories."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import count_costs
from varve.domain.search.query import parse_search_request
from varve.messages.tool_calls import ToolCall, answer_tool_call
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> Any:
    """Answer a `search_memory` call: direct, by AgentCore Gateway or a Bedrock agent."""
    from varve.usecases.search import (
        search,
    )  # loads numpy: on the first question

    opened = sessions()

    def answer(call: ToolCall) -> dict[str, Any]:
        with opened.open(call.scope) as session:
            response = search(session, parse_search_request(call.arguments))
        metrics.add_metric(
            "SearchResults", MetricUnit.Count, len(response.results)
        )
        return response.to_dict()

    custom = getattr(context.client_context, "custom", None) or {}
    answered = answer_tool_call(
        event, custom, opened.settings.identities or {}, answer
    )
    count_costs(metrics, opened)
    return answered
