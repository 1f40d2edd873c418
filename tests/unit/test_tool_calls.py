"""Three callers of one tool, each with its own form; no identity comes from a model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.identity import Identity, Scope
from varve.domain.search.query import parse_search_request
from varve.messages.tool_calls import ToolCall, answer_tool_call

ACME, BOUND = Scope("acme", "support"), Scope("bound", "agent")
IDENTITIES = {
    "my-target": Identity(BOUND),
    "TARGETID01": Identity(BOUND),
    "AGENT12345": Identity(BOUND),
    "one-user": Identity(BOUND, "u-1"),
}
HEADERS = {"x-varve-workspace": "acme", "x-varve-agent": "support"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)


class Tool:
    """Returns its own arguments, validated as the real tool validates them."""

    def __init__(self, identities: dict[str, Identity] | None = None) -> None:
        self.identities = identities or {}
        self.calls: list[ToolCall] = []

    def call(self, event: Any, custom: dict[str, Any] | None = None) -> Any:
        return answer_tool_call(
            event, custom or {}, self.identities, self._answer
        )

    def _answer(self, call: ToolCall) -> dict[str, Any]:
        request = parse_search_request(call.arguments)
        self.calls.append(call)
        return {"asked": request.query_text, "user": request.user_id}

    @property
    def scope(self) -> Scope:
        return self.calls[-1].scope


def a_direct_call(**arguments: Any) -> dict[str, Any]:
    return {
        "workspaceId": "acme",
        "agentId": "support",
        "arguments": arguments,
    }


def a_gateway_context(
    headers: Any = HEADERS, tool: str = "memory___search_memory", **more: Any
) -> dict[str, Any]:
    return {
        "bedrockAgentCoreToolName": tool,
        "bedrockAgentCoreMessageVersion": "1.0",
        "bedrockAgentCoreTargetId": "TARGET9999",
        "bedrockAgentCorePropagatedHeaders": headers,
        **more,
    }


def a_function_call(
    *, session: Any = None, agent: str = "AGENT99999", **arguments: str
) -> dict[str, Any]:
    """A Bedrock agent's action group of function details: values are strings."""
    return {
        "messageVersion": "1.0",
        "agent": {
            "name": "some-agent",
            "id": agent,
            "alias": "TSTALIASID",
            "version": "1",
        },
        "inputText": "Where does Dana live?",
        "sessionId": "1",
        "actionGroup": "memory",
        "function": "search_memory",
        "parameters": [
            {"name": name, "type": "string", "value": value}
            for name, value in arguments.items()
        ],
        "sessionAttributes": {"workspaceId": "acme", "agentId": "support"}
        if session is None
        else session,
        "promptSessionAttributes": {"p": "1"},
    }


def an_openapi_call(**arguments: str) -> dict[str, Any]:
    """The same of an action group described by an OpenAPI document."""
    event = a_function_call()
    del event["function"]
    properties = [
        {"name": name, "type": "string", "value": value}
        for name, value in arguments.items()
    ]
    return event | {
        "apiPath": "/search_memory",
        "httpMethod": "POST",
        "parameters": [],
        "requestBody": {
            "content": {"application/json": {"properties": properties}}
        },
    }


class TestDirectly:
    def test_arguments_come_in_an_object_beside_the_identity(self) -> None:
        tool = Tool()
        assert tool.call(a_direct_call(queryText="tea")) == {
            "asked": "tea",
            "user": None,
        }
        assert tool.scope == ACME

    def test_arguments_may_also_lie_flat_beside_the_identity(self) -> None:
        tool = Tool()
        event = {
            "workspaceId": "acme",
            "agentId": "support",
            "queryText": "tea",
            "userId": "u-42",
        }
        assert tool.call(event) == {"asked": "tea", "user": "u-42"}

    def test_the_callers_user_wins_over_the_one_a_model_wrote(self) -> None:
        event = a_direct_call(userId="u-7", queryText="tea") | {
            "userId": "u-42"
        }
        assert Tool().call(event) == {"asked": "tea", "user": "u-42"}

    def test_the_callers_user_is_not_replaced_by_another_spelling(
        self,
    ) -> None:
        answer = Tool().call(a_direct_call(user_id="u-7") | {"userId": "u-42"})
        assert answer["error"]["field"] == "user_id"

    @pytest.mark.parametrize(
        "name", ["workspaceId", "agentId", "workspace", "agent"]
    )
    def test_invariant_7_identity_within_the_arguments_is_refused(
        self, name: str
    ) -> None:
        answer = Tool().call(a_direct_call(**{name: "rival"}))
        assert answer["error"]["type"] == "Rejected"
        assert answer["error"]["field"] == name
        assert "identity comes from the caller" in answer["error"]["reason"]

    @pytest.mark.parametrize(
        ("event", "field"),
        [
            (None, "event"),
            ([], "event"),
            ("text", "event"),
            ({}, "workspaceId"),
            ({"workspaceId": "acme"}, "agentId"),
            ({"workspaceId": 5, "agentId": "support"}, "workspaceId"),
            ({"workspaceId": "a/b", "agentId": "support"}, "workspaceId"),
            ({"workspaceId": "acme", "agentId": "../x"}, "agentId"),
            (a_direct_call() | {"arguments": "text"}, "event"),
            (a_direct_call() | {"userId": "a b"}, "userId"),
            (a_direct_call() | {"grain": "daily"}, "grain"),
            (a_direct_call(maxResults="many"), "maxResults"),
            (a_direct_call(query="tea"), "query"),
        ],
    )
    def test_a_faulty_call_has_a_structured_error(
        self, event: Any, field: str
    ) -> None:
        answer = Tool().call(event)
        assert set(answer) == {"error"}
        assert (answer["error"]["type"], answer["error"]["field"]) == (
            "Rejected",
            field,
        )
        assert answer["error"]["reason"]

    @given(JSON, JSON)
    def test_anything_at_all_has_an_answer_or_a_structured_error(
        self, event: Any, arguments: Any
    ) -> None:
        for sent in (event, a_direct_call() | {"arguments": arguments}):
            assert (
                "error" in (answer := Tool().call(sent)) or "asked" in answer
            )


class TestThroughAGateway:
    @pytest.mark.parametrize(
        "headers",
        [
            HEADERS,
            {"X-Varve-Workspace": "acme", "X-VARVE-AGENT": "support"},
            json.dumps(HEADERS),
            json.dumps(
                {
                    "X-Varve-Workspace": "acme",
                    "X-Varve-Agent": "support",
                    "Other": 1,
                }
            ),
        ],
    )
    def test_identity_comes_from_the_propagated_headers_in_any_case_and_as_text_too(
        self, headers: Any
    ) -> None:
        tool = Tool()
        assert tool.call({"queryText": "tea"}, a_gateway_context(headers)) == {
            "asked": "tea",
            "user": None,
        }
        assert tool.scope == ACME

    def test_the_contexts_names_may_come_in_any_case(self) -> None:
        tool = Tool()
        custom = {
            name.replace("bedrockAgentCore", "bedrockagentcore"): v
            for name, v in a_gateway_context().items()
        }
        tool.call({"queryText": "tea"}, custom)
        assert tool.scope == ACME

    @pytest.mark.parametrize(
        "more",
        [
            {"tool": "my-target___search_memory"},
            {"bedrockAgentCoreTargetId": "TARGETID01"},
        ],
    )
    def test_a_bound_target_sees_its_own_memory_whatever_the_headers_say(
        self, more: dict[str, Any]
    ) -> None:
        tool = Tool(IDENTITIES)
        tool.call({"queryText": "tea"}, a_gateway_context(**more))
        assert tool.scope == BOUND

    def test_the_headers_user_is_the_only_one_that_is_searched(self) -> None:
        context = a_gateway_context({**HEADERS, "X-Varve-User": "u-42"})
        assert Tool().call({"queryText": "tea", "userId": "u-7"}, context) == {
            "asked": "tea",
            "user": "u-42",
        }

    @pytest.mark.parametrize(
        "name", ["workspaceId", "agentId", "workspace", "agent"]
    )
    def test_invariant_7_identity_among_the_arguments_is_refused(
        self, name: str
    ) -> None:
        tool = Tool()
        answer = tool.call(
            {"queryText": "tea", name: "rival"}, a_gateway_context()
        )
        assert answer["error"]["field"] == name
        assert tool.calls == []

    def test_invariant_7_a_model_cannot_pose_as_another_caller(self) -> None:
        tool = Tool()
        posed = a_function_call(
            session={"workspaceId": "rival", "agentId": "x"}
        )
        direct = a_direct_call(queryText="tea") | {"workspaceId": "rival"}
        for event in (posed, direct):
            tool.call(event, a_gateway_context())
        assert tool.calls == []

    @pytest.mark.parametrize(
        "headers",
        [
            None,
            {},
            "{}",
            {"x-varve-workspace": "acme"},
            {"x-varve-agent": "a"},
        ],
    )
    def test_a_target_without_identity_is_for_its_operator_to_mend(
        self, headers: Any
    ) -> None:
        with pytest.raises(
            Misconfigured,
            match=r"gateway target 'memory'.*VARVE_IDENTITIES.*x-varve-workspace",
        ):
            Tool().call({"queryText": "tea"}, a_gateway_context(headers))

    @pytest.mark.parametrize(
        ("headers", "field"),
        [
            ("", "bedrockAgentCorePropagatedHeaders"),
            ("not json", "bedrockAgentCorePropagatedHeaders"),
            ("[1]", "event"),
            (
                {"x-varve-workspace": "a/b", "x-varve-agent": "x"},
                "workspaceId",
            ),
            ({**HEADERS, "x-varve-user": "a b"}, "userId"),
        ],
    )
    def test_faulty_headers_have_a_structured_error(
        self, headers: Any, field: str
    ) -> None:
        assert (
            Tool().call({"queryText": "tea"}, a_gateway_context(headers))[
                "error"
            ]["field"]
            == field
        )


@pytest.mark.parametrize("shape", [a_function_call, an_openapi_call])
class TestAsABedrockAgent:
    def test_arguments_are_the_parameters_and_identity_the_sessions(
        self, shape: Any
    ) -> None:
        tool = Tool()
        tool.call(shape(queryText="tea", maxResults="3", grain=""))
        assert tool.scope == ACME
        assert tool.calls[-1].arguments == {
            "queryText": "tea",
            "maxResults": "3",
            "grain": "",
        }

    def test_session_attributes_are_handed_back(self, shape: Any) -> None:
        answer = Tool().call(shape(queryText="tea"))
        assert answer["messageVersion"] == "1.0"
        assert answer["sessionAttributes"] == {
            "workspaceId": "acme",
            "agentId": "support",
        }
        assert answer["promptSessionAttributes"] == {"p": "1"}
        assert answer["response"]["actionGroup"] == "memory"

    def test_a_bound_agent_sees_its_own_memory_whatever_the_session_says(
        self, shape: Any
    ) -> None:
        tool = Tool(IDENTITIES)
        agent = {"id": "AGENT12345", "name": "x"}
        tool.call(shape(queryText="tea") | {"agent": agent})
        assert tool.scope == BOUND

    def test_the_sessions_user_is_the_only_one_that_is_searched(
        self, shape: Any
    ) -> None:
        tool = Tool()
        session = {
            "workspaceId": "acme",
            "agentId": "support",
            "userId": "u-42",
        }
        tool.call(
            shape(queryText="tea", userId="u-7")
            | {"sessionAttributes": session}
        )
        assert tool.calls[-1].arguments["userId"] == "u-42"

    def test_invariant_7_identity_among_the_parameters_is_refused(
        self, shape: Any
    ) -> None:
        tool = Tool()
        answer = tool.call(shape(queryText="tea", workspaceId="rival"))
        assert "identity comes from the caller" in json.dumps(answer)
        assert tool.calls == []

    def test_invariant_7_a_bedrock_agent_is_bound_by_its_id_and_not_by_its_name(
        self, shape: Any
    ) -> None:
        """Anyone who may create an agent chooses its name."""
        bound = {"some-agent": Scope("rival", "support")}
        event = shape(queryText="tea") | {"sessionAttributes": {}}
        with pytest.raises(Misconfigured, match="VARVE_IDENTITIES"):
            Tool(bound).call(event)

    @pytest.mark.parametrize(
        "session", [{}, None, {"workspaceId": "acme"}, {"agentId": "support"}]
    )
    def test_an_agent_without_identity_is_for_its_operator_to_mend(
        self, shape: Any, session: Any
    ) -> None:
        with pytest.raises(
            Misconfigured,
            match=r"Bedrock agent 'AGENT99999'.*VARVE_IDENTITIES",
        ):
            Tool().call(
                shape(queryText="tea") | {"sessionAttributes": session}
            )

    @pytest.mark.parametrize(
        "parameters",
        [
            5,
            "text",
            {"name": "x"},
            [5],
            [{"name": "queryText"}],
            [{"name": [], "value": "x"}],
        ],
    )
    def test_faulty_parameters_have_a_wrapped_error(
        self, shape: Any, parameters: Any
    ) -> None:
        answer = Tool().call(shape() | {"parameters": parameters})
        assert answer["messageVersion"] == "1.0"
        assert "'name' and 'value'" in json.dumps(answer)

    @pytest.mark.parametrize("name", [None, 7, True])
    def test_a_parameter_whose_name_is_not_a_string_is_refused(
        self, shape: Any, name: Any
    ) -> None:
        tool = Tool()
        parameters = [{"name": name, "value": "tea"}]
        answer = json.dumps(tool.call(shape() | {"parameters": parameters}))
        assert "have a name that is not a string" in answer
        assert r"\"field\": \"parameters\"" in answer
        assert tool.calls == []

    @given(JSON, JSON)
    def test_anything_at_all_is_answered_in_the_agents_form(
        self, shape: Any, parameters: Any, body: Any
    ) -> None:
        for fault in (
            {"parameters": parameters},
            {"requestBody": body},
            {"requestBody": {"content": body}},
        ):
            assert Tool().call(shape() | fault)["messageVersion"] == "1.0"


def test_function_details_are_answered_with_text() -> None:
    response = Tool().call(a_function_call(queryText="tea"))["response"]
    assert set(response) == {"actionGroup", "function", "functionResponse"}
    assert response["function"] == "search_memory"
    assert set(response["functionResponse"]) == {"responseBody"}
    assert (
        json.loads(
            response["functionResponse"]["responseBody"]["TEXT"]["body"]
        )["asked"]
        == "tea"
    )


def test_an_error_of_function_details_asks_the_model_again() -> None:
    response = Tool().call(a_function_call(maxResults="many"))["response"][
        "functionResponse"
    ]
    assert response["responseState"] == "REPROMPT"
    assert (
        json.loads(response["responseBody"]["TEXT"]["body"])["error"]["field"]
        == "maxResults"
    )


def test_an_openapi_call_is_answered_with_a_status_and_a_body() -> None:
    response = Tool().call(an_openapi_call(queryText="tea"))["response"]
    assert (
        response["apiPath"],
        response["httpMethod"],
        response["httpStatusCode"],
    ) == (
        "/search_memory",
        "POST",
        200,
    )
    assert (
        json.loads(response["responseBody"]["application/json"]["body"])[
            "asked"
        ]
        == "tea"
    )
    assert "function" not in response


def test_an_error_of_an_openapi_call_is_a_bad_request() -> None:
    response = Tool().call(an_openapi_call(maxResults="many"))["response"]
    assert response["httpStatusCode"] == 400
    assert (
        json.loads(response["responseBody"]["application/json"]["body"])[
            "error"
        ]["field"]
        == "maxResults"
    )


def test_non_ascii_text_is_not_escaped() -> None:
    body = Tool().call(a_function_call(queryText="São Tomé"))["response"][
        "functionResponse"
    ]["responseBody"]
    assert "São Tomé" in body["TEXT"]["body"]


@pytest.mark.parametrize(
    "error", [Retryable("storage: down"), Misconfigured("VARVE_STORE: wrong")]
)
def test_an_error_that_is_not_the_callers_is_raised(
    error: Exception,
) -> None:
    def answer(_: ToolCall) -> dict[str, Any]:
        raise error

    for event in (a_direct_call(), a_function_call()):
        with pytest.raises(type(error)):
            answer_tool_call(event, {}, {}, answer)


def test_a_refusal_of_the_tool_itself_has_the_callers_form() -> None:
    def answer(_: ToolCall) -> dict[str, Any]:
        raise Rejected("until", "leaves no time")

    expected = {
        "error": {
            "type": "Rejected",
            "field": "until",
            "reason": "leaves no time",
        }
    }
    assert answer_tool_call(a_direct_call(), {}, {}, answer) == expected
    assert answer_tool_call({}, a_gateway_context(), {}, answer) == expected
    wrapped = answer_tool_call(a_function_call(), {}, {}, answer)["response"][
        "functionResponse"
    ]
    assert json.loads(wrapped["responseBody"]["TEXT"]["body"]) == expected


def test_a_target_bound_to_one_user_serves_no_other() -> None:
    tool = Tool(IDENTITIES)
    context = a_gateway_context(
        {"x-varve-user": "u-2"}, tool="one-user___search_memory"
    )
    answer = tool.call({"queryText": "x", "userId": "u-3"}, context)
    assert answer["user"] == "u-1"
    assert tool.scope == BOUND
