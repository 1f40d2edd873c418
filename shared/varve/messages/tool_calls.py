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
from varve.domain.identity import Identity, Scope, reference
from varve.domain.strict_json import parse_json

Identities = Mapping[str, Identity]
Fields = Mapping[str, Any]
Json = dict[str, Any]
SEARCH = "search_memory"
CONTEXT = "get_context"
RECORD = "get_record"
TOOLS = (SEARCH, CONTEXT, RECORD)
"""The tools of a direct call; gateways and Bedrock agents have the search alone."""
_TOOL_NAME = "bedrockagentcoretoolname"
_TARGET_ID = "bedrockagentcoretargetid"
_HEADERS = "bedrockagentcorepropagatedheaders"
_BEDROCK_FIELDS = frozenset({"messageVersion", "actionGroup", "agent"})
Wrap = Callable[[Json], Any]
"""Puts an answer into the form the caller expects."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call: the agent whose memory is read, the arguments, the answer's form, the tool."""

    scope: Scope
    arguments: Json
    wrap: Wrap
    tool: str = SEARCH


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
    wrap = _choose_wrap(event)
    context = {name.lower(): value for name, value in custom.items()}
    try:
        call = _parse_call(event, context, identities, wrap)
        return wrap(answer(call))
    except Rejected as error:
        return wrap(error_answer(error))


def _choose_wrap(event: Fields) -> Wrap:
    if _is_bedrock(event):
        return _bedrock_wrap(event)
    return _wrap_plain


def error_answer(error: Rejected) -> Json:
    """Return the structured error that every function answers with."""
    return {
        "error": {
            "type": "Rejected",
            "field": error.field,
            "reason": error.reason,
        }
    }


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
    """Parse `{"workspaceId", "agentId", "userId"?, "tool"?, "arguments": {…}}`.

    The arguments may also stand beside the identity, without "arguments".
    """
    given = dict(event)
    workspace = given.pop("workspaceId", None)
    agent = given.pop("agentId", None)
    if "arguments" not in given:
        scope = _stated_scope(workspace, agent)
        return ToolCall(scope, given, wrap)
    arguments = given.pop("arguments")
    user_id = given.pop("userId", None)
    tool = given.pop("tool", SEARCH)
    if tool not in TOOLS:
        raise Rejected("tool", f"must be one of {', '.join(TOOLS)}")
    if given:
        raise Rejected(min(given), "is not a known name beside 'arguments'")
    scope = _stated_scope(workspace, agent)
    pinned_arguments = pinned(_object(arguments), user_id)
    return ToolCall(scope, pinned_arguments, wrap, tool)


def _parse_gateway(
    event: Fields,
    custom: Fields,
    identities: Identities,
    wrap: Wrap,
) -> ToolCall:
    """Parse a gateway call: the event has the arguments.

    The identity is bound to the gateway target, or comes from the propagated headers.
    """
    tool_name = str(custom[_TOOL_NAME])
    target = tool_name.partition("___")[0]
    target_id = str(custom.get(_TARGET_ID))
    headers = _headers(custom.get(_HEADERS))
    bound = identities.get(target) or identities.get(target_id)
    if bound is None:
        caller = f"gateway target {target!r}"
        bound = Identity(
            _scope_in_context(
                headers, "x-varve-workspace", "x-varve-agent", caller
            )
        )
    arguments = pinned(event, bound.user_id or headers.get("x-varve-user"))
    return ToolCall(bound.scope, arguments, wrap)


def _parse_bedrock(
    event: Fields, identities: Identities, wrap: Wrap
) -> ToolCall:
    """Parse a Bedrock agent's call: parameters with names and texts.

    The identity is bound to the Bedrock agent's id, or comes from the session attributes.
    An agent's name binds nothing: anyone who may create an agent chooses its name.
    """
    agent = _object(event.get("agent"))
    session = _object(event.get("sessionAttributes") or {})
    agent_id = agent.get("id")
    bound = identities.get(str(agent_id))
    if bound is None:
        caller = f"Bedrock agent {agent_id!r}"
        bound = Identity(
            _scope_in_context(session, "workspaceId", "agentId", caller)
        )
    arguments = pinned(
        _parameters(event), bound.user_id or session.get("userId")
    )
    return ToolCall(bound.scope, arguments, wrap)


def _parameters(event: Fields) -> Json:
    """Return the parameters by name, of function details and of an OpenAPI body."""
    request = _object(event.get("requestBody") or {})
    content = _object(request.get("content") or {})
    bodies = [_object(body) for body in content.values()]
    try:
        parameters = list(event.get("parameters") or [])
        for body in bodies:
            parameters.extend(body.get("properties") or [])
        values = {one["name"]: one["value"] for one in parameters}
    except (KeyError, TypeError) as error:
        reason = "must be a list of objects with 'name' and 'value'"
        raise Rejected("parameters", reason) from error
    _require_text_names(values)
    return values


def _require_text_names(values: Mapping[object, object]) -> None:
    for name in values:
        if not isinstance(name, str):
            raise Rejected(
                "parameters", f"have a name that is not a string: {name!r}"
            )


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
            "promptSessionAttributes": event.get("promptSessionAttributes")
            or {},
        }

    return wrap


def _text_response(event: Fields, body: Json, text: str) -> Json:
    # REPROMPT passes the reason to the model, which can then correct its arguments.
    state = {"responseState": "REPROMPT"} if "error" in body else {}
    return {
        "actionGroup": event["actionGroup"],
        "function": event.get("function"),
        "functionResponse": {
            **state,
            "responseBody": {"TEXT": {"body": text}},
        },
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


def _stated_scope(workspace: object, agent: object) -> Scope:
    return Scope(
        _required(workspace, "workspaceId"), _required(agent, "agentId")
    )


def _required(value: object, field: str) -> str:
    if value is None:
        raise Rejected(field, "is missing")
    if not isinstance(value, str):
        raise Rejected(field, "must be a string")
    return value


def _headers(value: object) -> Json:
    """Return the headers with lower-case names; some runtimes pass them as JSON text."""
    decoded = value or {}
    if isinstance(value, str):
        decoded = _decode_headers(value)
    headers = _object(decoded)
    return {str(name).lower(): header for name, header in headers.items()}


def _decode_headers(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError as error:
        field = "bedrockAgentCorePropagatedHeaders"
        raise Rejected(field, "is not valid JSON") from error


def _object(value: object) -> Json:
    if not isinstance(value, Mapping):
        raise Rejected(
            "event", "does not have the form that this caller sends"
        )
    return dict(value)
