"""The callers of `search_memory`: direct invocations, AgentCore Gateway, Bedrock agents.

The identity always comes from the caller's context, never from arguments a model wrote.
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
Fields = Mapping[str, Any]
Json = dict[str, Any]
_TOOL_NAME = "bedrockagentcoretoolname"
_TARGET_ID = "bedrockagentcoretargetid"
_HEADERS = "bedrockagentcorepropagatedheaders"
_BEDROCK_FIELDS = frozenset({"messageVersion", "actionGroup", "agent"})
Wrap = Callable[[Json], Any]
"""Puts an answer into the form the caller expects."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A search: the agent whose memory is searched, the arguments, the answer's form."""

    scope: Scope
    arguments: Json
    wrap: Wrap


def answer_tool_call(
    event: Fields,
    custom: Fields,
    identities: Identities,
    answer: Callable[[ToolCall], Json],
) -> Any:
    """Answer a tool call in the caller's form; refused arguments give a structured error.

    `custom` is the invocation's client context. `identities` map gateway targets and Bedrock
    agents to the memory they are bound to. Raises Misconfigured, Retryable.
    """
    wrap = _bedrock_wrap(event) if _is_bedrock(event) else _wrap_plain
    context = {name.lower(): value for name, value in custom.items()}
    try:
        call = _parse_call(event, context, identities, wrap)
        return wrap(answer(call))
    except Rejected as error:
        return wrap(error_answer(error))


def error_answer(error: Rejected) -> Json:
    """Return the structured error that every function answers with."""
    return {"error": {"type": "Rejected", "field": error.field, "reason": error.reason}}


def _parse_call(
    event: Fields,
    custom: Fields,
    identities: Identities,
    wrap: Wrap,
) -> ToolCall:
    if not isinstance(event, Mapping):
        raise Rejected("event", "must be an object")
    if _TOOL_NAME in custom:
        return _parse_gateway(event, custom, identities, wrap)
    if _is_bedrock(event):
        return _parse_bedrock(event, identities, wrap)
    return _parse_direct(event, wrap)


def _parse_direct(event: Fields, wrap: Wrap) -> ToolCall:
    """Parse `{"workspaceId", "agentId", "userId"?, "arguments": {…}}`.

    The arguments may also stand beside the identity, without "arguments".
    """
    given = dict(event)
    identity = {name: given.pop(name, None) for name in ("workspaceId", "agentId")}
    if "arguments" not in given:
        return ToolCall(_scope(identity), given, wrap)
    arguments = given.pop("arguments")
    user_id = given.pop("userId", None)
    if given:
        raise Rejected(min(given), "is not a known name beside 'arguments'")
    return ToolCall(_scope(identity), pinned(_object(arguments), user_id), wrap)


def _parse_gateway(
    event: Fields,
    custom: Fields,
    identities: Identities,
    wrap: Wrap,
) -> ToolCall:
    """Parse a gateway call: the event has the arguments.

    The identity is bound to the gateway target, or comes from the propagated headers.
    """
    target = str(custom[_TOOL_NAME]).partition("___")[0]
    headers = _headers(custom.get(_HEADERS))
    bound = identities.get(target) or identities.get(str(custom.get(_TARGET_ID)))
    scope = bound or _scope_in_context(
        headers, "x-varve-workspace", "x-varve-agent", f"gateway target {target!r}"
    )
    return ToolCall(scope, pinned(dict(event), headers.get("x-varve-user")), wrap)


def _parse_bedrock(event: Fields, identities: Identities, wrap: Wrap) -> ToolCall:
    """Parse a Bedrock agent's call: parameters with names and texts.

    The identity is bound to the Bedrock agent, or comes from the session attributes.
    """
    agent = _object(event.get("agent"))
    session = _object(event.get("sessionAttributes") or {})
    by_id = identities.get(str(agent.get("id")))
    bound = by_id or identities.get(str(agent.get("name")))
    scope = bound or _scope_in_context(
        session, "workspaceId", "agentId", f"Bedrock agent {agent.get('id')!r}"
    )
    return ToolCall(scope, pinned(_parameters(event), session.get("userId")), wrap)


def _parameters(event: Fields) -> Json:
    """Return the parameters by name, of function details and of an OpenAPI body."""
    request = _object(event.get("requestBody") or {})
    content = _object(request.get("content") or {})
    bodies = [_object(body).get("properties") or [] for body in content.values()]
    try:
        listed = list(event.get("parameters") or [])
        for properties in bodies:
            listed.extend(properties)
        return {parameter["name"]: parameter["value"] for parameter in listed}
    except (KeyError, TypeError) as error:
        reason = "must be a list of objects with 'name' and 'value'"
        raise Rejected("parameters", reason) from error


def _is_bedrock(event: object) -> bool:
    return isinstance(event, Mapping) and set(event) >= _BEDROCK_FIELDS


def _bedrock_wrap(event: Fields) -> Wrap:
    def wrap(body: Json) -> Json:
        text = json.dumps(body, ensure_ascii=False)
        respond = _api_response if "apiPath" in event else _text_response
        return {
            "messageVersion": "1.0",
            "response": respond(event, body, text),
            "sessionAttributes": event.get("sessionAttributes") or {},
            "promptSessionAttributes": event.get("promptSessionAttributes") or {},
        }

    return wrap


def _text_response(event: Fields, body: Json, text: str) -> Json:
    # REPROMPT passes the reason to the model, which can then correct its arguments.
    state = {"responseState": "REPROMPT"} if "error" in body else {}
    return {
        "actionGroup": event["actionGroup"],
        "function": event.get("function"),
        "functionResponse": {**state, "responseBody": {"TEXT": {"body": text}}},
    }


def _api_response(event: Fields, body: Json, text: str) -> Json:
    return {
        "actionGroup": event["actionGroup"],
        "apiPath": event["apiPath"],
        "httpMethod": event.get("httpMethod"),
        "httpStatusCode": 400 if "error" in body else 200,
        "responseBody": {"application/json": {"body": text}},
    }


def _wrap_plain(body: Json) -> Json:
    return body


def pinned(arguments: Fields, user_id: object) -> Json:
    """Return the arguments, with the user of the caller's context if it names one."""
    if user_id is None:
        return dict(arguments)
    return {**arguments, "userId": reference(str(user_id), "userId")}


def _scope_in_context(
    context: Fields, workspace: str, agent: str, caller: str
) -> Scope:
    if not context.get(workspace) or not context.get(agent):
        raise Misconfigured(
            f"{caller}: VARVE_IDENTITIES does not bind it to a memory, "
            f"and the call carries no {workspace} and {agent}"
        )
    return Scope(str(context[workspace]), str(context[agent]))


def _scope(identity: Fields) -> Scope:
    for name, value in identity.items():
        if not isinstance(value, str):
            raise Rejected(name, "is missing" if value is None else "must be a string")
    return Scope(identity["workspaceId"], identity["agentId"])


def _headers(value: object) -> Json:
    """Return the headers with lower-case names; some runtimes pass them as JSON text."""
    try:
        decoded = json.loads(value) if isinstance(value, str) else value or {}
    except ValueError as error:
        field = "bedrockAgentCorePropagatedHeaders"
        raise Rejected(field, "is not valid JSON") from error
    return {str(name).lower(): header for name, header in _object(decoded).items()}


def _object(value: object) -> Json:
    if not isinstance(value, Mapping):
        raise Rejected("event", "does not have the form that this caller sends")
    return dict(value)
