"""McpFunction: an MCP request that IAM has authenticated -> its answer."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.costs import count_costs
from varve.api.memory import Memory
from varve.domain.identity import Identity
from varve.integrations.mcp_function import answer_url_event
from varve.integrations.mcp_tools import Tools
from varve.wiring.sessions import Sessions

logger = Logger()
metrics = Metrics()
sessions = cache(Sessions.from_environment)


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: Any, context: LambdaContext) -> dict[str, Any]:
    """Answer one request over Streamable HTTP; the signer chooses the memory."""
    opened = sessions()

    def open_tools(identity: Identity) -> Tools:
        return Tools(Memory(opened, identity.scope), identity.user_id)

    answer = answer_url_event(event, opened.settings.identities, open_tools)
    metrics.add_metric(
        "McpRefused", MetricUnit.Count, answer["statusCode"] == 403
    )
    count_costs(metrics, opened)
    return answer
