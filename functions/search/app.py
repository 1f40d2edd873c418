"""SearchFunction: a question from an agent -> ranked memories, or a context block."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import count_costs
from varve.messages.tool_calls import ToolCall, answer_tool_call
from varve.usecases.tools import answer_call
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> Any:
    """Answer a tool call: direct, by AgentCore Gateway or a Bedrock agent."""
    opened = sessions()

    def answer(call: ToolCall) -> dict[str, Any]:
        with opened.open(call.scope) as session:
            answered = answer_call(session, call)
        metrics.add_metric(
            "SearchResults", MetricUnit.Count, answered.memories
        )
        return answered.answer

    custom = getattr(context.client_context, "custom", None) or {}
    answered = answer_tool_call(
        event, custom, opened.settings.identities or {}, answer
    )
    count_costs(metrics, opened)
    return answered
