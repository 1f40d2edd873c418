"""Who calls `search_memory` and how: directly, through an AgentCore Gateway, or as a Bedrock agent.

Identity comes from the caller's context in each of them, never from the arguments a model wrote.
Shapes: Amazon Bedrock AgentCore, "Lambda function targets"; Amazon Bedrock, "Configure Lambda
functions to send information an agent elicits"; Powertools' BedrockAgentFunctionResolver.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.identity import Scope, reference

Identities = Mapping[str, Scope]
_TOOL_NAME, _TARGET_ID, _HEADERS = (
    "bedrockagentcoretoolname",
    "bedrockagentcoretargetid",
    "bedrockagentcorepropagatedheaders",
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Whose memory is asked, what for, and how the caller wants the answer wrapped."""

    scope: Scope
    arguments: dict[str, Any]
    wrap: Callable[[dict[str, Any]], Any]


def answer_tool_call(
    event: Mapping[str, Any],
    custom: Mapping[str, Any],
    identities: Identities,
    answer: Callable[[ToolCall], dict[str, Any]],
) -> Any:
    """The caller's form of `answer`, or of a structured error for arguments that are refused.

    `custom` is the invocation's client context; `identities` map gateway targets and Bedrock agents
    to the memory they are bound to. Raises Misconfigured, Retryable.
    """
    wrap = _bedrock_wrap(event) if _is_bedrock(event) else _plain
    try:
        call = _read(
            event,
            {name.lower(): value for name, value in custom.items()},
            identities,
            wrap,
        )
        return wrap(answer(call))
    except Rejected as error:
        return wrap(error_answer(error))


def error_answer(error: Rejected) -> dict[str, Any]:
    """The structured error that every function answers with."""
    return {"error": {"type": "Rejected", "field": error.field, "reason": error.reason}}


def _read(
    event: Mapping[str, Any],
    custom: Mapping[str, Any],
    identities: Identities,
    wrap: Callable[..., Any],
) -> ToolCall:
    if not isinstance(event, Mapping):
        raise Rejected("event", "must be an object")
    if _TOOL_NAME in custom:
        return _gateway(event, custom, identities, wrap)
    return (
        _bedrock(event, identities, wrap)
        if _is_bedrock(event)
        else _direct(event, wrap)
    )


def _direct(event: Mapping[str, Any], wrap: Callable[..., Any]) -> ToolCall:
    """`{"workspaceId", "agentId", "userId"?, "arguments": {…}}`, or the arguments beside the identity."""
    given = dict(event)
    identity = {name: given.pop(name, None) for name in ("workspaceId", "agentId")}
    if "arguments" not in given:
        return ToolCall(_scope(identity), given, wrap)
    arguments, user_id = given.pop("arguments"), given.pop("userId", None)
    if given:
        raise Rejected(min(given), "is not a known name beside 'arguments'")
    return ToolCall(_scope(identity), pinned(_object(arguments), user_id), wrap)


def _gateway(
    event: Mapping[str, Any],
    custom: Mapping[str, Any],
    identities: Identities,
    wrap: Callable[..., Any],
) -> ToolCall:
    """The arguments flat; identity bound to the target, or from the headers the gateway passes on."""
    target = str(custom[_TOOL_NAME]).partition("___")[0]
    headers = _headers(custom.get(_HEADERS))
    bound = identities.get(target) or identities.get(str(custom.get(_TARGET_ID)))
    scope = bound or _named(
        headers, "x-varve-workspace", "x-varve-agent", f"gateway target {target!r}"
    )
    return ToolCall(scope, pinned(dict(event), headers.get("x-varve-user")), wrap)


def _bedrock(
    event: Mapping[str, Any], identities: Identities, wrap: Callable[..., Any]
) -> ToolCall:
    """The parameters as name and text; identity bound to the agent, or from the session attributes."""
    agent = _object(event.get("agent"))
    session = _object(event.get("sessionAttributes") or {})
    bound = identities.get(str(agent.get("id"))) or identities.get(
        str(agent.get("name"))
    )
    scope = bound or _named(
        session, "workspaceId", "agentId", f"Bedrock agent {agent.get('id')!r}"
    )
    return ToolCall(scope, pinned(_parameters(event), session.get("userId")), wrap)


def _parameters(event: Mapping[str, Any]) -> dict[str, Any]:
    """Function details and OpenAPI bodies alike carry a list of name, type and value."""
    content = _object(_object(event.get("requestBody") or {}).get("content") or {})
    bodies = [_object(body).get("properties") or [] for body in content.values()]
    try:
        listed = [
            *(event.get("parameters") or []),
            *(p for body in bodies for p in body),
        ]
        return {parameter["name"]: parameter["value"] for parameter in listed}
    except (KeyError, TypeError) as error:
        raise Rejected(
            "parameters", "must be a list of objects with 'name' and 'value'"
        ) from error


def _is_bedrock(event: object) -> bool:
    return isinstance(event, Mapping) and {
        "messageVersion",
        "actionGroup",
        "agent",
    } <= set(event)


def _bedrock_wrap(
    event: Mapping[str, Any],
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def wrap(body: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(body, ensure_ascii=False)
        response = (
            _api_response(event, body, text)
            if "apiPath" in event
            else _text_response(event, body, text)
        )
        return {
            "messageVersion": "1.0",
            "response": response,
            "sessionAttributes": event.get("sessionAttributes") or {},
            "promptSessionAttributes": event.get("promptSessionAttributes") or {},
        }

    return wrap


def _text_response(
    event: Mapping[str, Any], body: dict[str, Any], text: str
) -> dict[str, Any]:
    # REPROMPT hands the reason to the model, which may mend its arguments.
    state = {"responseState": "REPROMPT"} if "error" in body else {}
    return {
        "actionGroup": event["actionGroup"],
        "function": event.get("function"),
        "functionResponse": {**state, "responseBody": {"TEXT": {"body": text}}},
    }


def _api_response(
    event: Mapping[str, Any], body: dict[str, Any], text: str
) -> dict[str, Any]:
    return {
        "actionGroup": event["actionGroup"],
        "apiPath": event["apiPath"],
        "httpMethod": event.get("httpMethod"),
        "httpStatusCode": 400 if "error" in body else 200,
        "responseBody": {"application/json": {"body": text}},
    }


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    return body


def pinned(arguments: Mapping[str, Any], user_id: object) -> dict[str, Any]:
    """The arguments, limited to the caller's own user where the caller's context names one."""
    if user_id is None:
        return dict(arguments)
    return {**arguments, "userId": reference(str(user_id), "userId")}


def _named(
    context: Mapping[str, Any], workspace: str, agent: str, caller: str
) -> Scope:
    if not context.get(workspace) or not context.get(agent):
        raise Misconfigured(
            f"{caller}: VARVE_IDENTITIES does not bind it to a memory, "
            f"and {workspace} and {agent} do not come with it"
        )
    return Scope(str(context[workspace]), str(context[agent]))


def _scope(identity: Mapping[str, Any]) -> Scope:
    for name, value in identity.items():
        if not isinstance(value, str):
            raise Rejected(name, "is missing" if value is None else "must be a string")
    return Scope(identity["workspaceId"], identity["agentId"])


def _headers(value: object) -> dict[str, Any]:
    """Header names in lower case; some runtimes pass the dictionary as JSON text."""
    try:
        decoded = json.loads(value) if isinstance(value, str) else value or {}
    except ValueError as error:
        raise Rejected(
            "bedrockAgentCorePropagatedHeaders", "is not valid JSON"
        ) from error
    return {str(name).lower(): header for name, header in _object(decoded).items()}


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Rejected("event", "does not have the form its caller is known for")
    return dict(value)
