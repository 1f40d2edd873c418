"""What template.yaml promises: order, no silent loss, least privilege, a bucket that can forget."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from tests.support import sam
from tests.support.policies import allows, session_statements
from varve.adapters.lance_cache.cache_directory import Caching
from varve.domain.calendar import SUMMARY_GRAINS, Grain, Period, parse_instant
from varve.domain.identity import Scope
from varve.domain.ledger import (
    curation_key,
    due_key,
    expiry_key,
    failed_key,
    lessons_key,
    month_of,
    twin,
)
from varve.usecases.ingest.waiting import WaitingPeriod, key_of
from varve.wiring.settings import DEFAULT_CACHE_MEGABYTES

ROOT = Path(__file__).parents[2]
FUNCTIONS = (
    "IngestFunction",
    "ExtractFunction",
    "WriteFunction",
    "SummarizeFunction",
    "CleanupFunction",
    "SearchFunction",
    "McpFunction",
    "ForgetFunction",
)
QUEUES = {
    "IngestQueue": "IngestDeadLetterQueue",
    "WriteQueue": "WriteDeadLetterQueue",
    "WorkQueue": "WorkDeadLetterQueue",
}
UNDELIVERED = "ScheduleDeadLetterQueue"
SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
HOURLY = "cron(10 * * * ? *)"
SCHEDULES = {
    "SummarizeFunctionDaily": (
        "SummarizeFunction",
        {"grain": "daily"},
        HOURLY,
    ),
    "SummarizeFunctionWeekly": (
        "SummarizeFunction",
        {"grain": "weekly"},
        "cron(40 2 * * ? *)",
    ),
    "SummarizeFunctionMonthly": (
        "SummarizeFunction",
        {"grain": "monthly"},
        "cron(10 3 * * ? *)",
    ),
    "SummarizeFunctionQuarterly": (
        "SummarizeFunction",
        {"grain": "quarterly"},
        "cron(40 3 * * ? *)",
    ),
    "SummarizeFunctionYearly": (
        "SummarizeFunction",
        {"grain": "yearly"},
        "cron(10 4 * * ? *)",
    ),
    "CleanupFunctionNightly": ("CleanupFunction", {}, "cron(40 * * * ? *)"),
    "CleanupFunctionLessons": (
        "CleanupFunction",
        {"task": "curate"},
        "cron(40 5 1 * ? *)",
    ),
    "CleanupFunctionCatchUp": (
        "CleanupFunction",
        {"task": "catch-up"},
        "cron(40 1 * * ? *)",
    ),
}

# The variables of DESIGN 7.5, the name of the key's secret (never the key), the default plan, the
# callers' identities, and Powertools' own.
VARIABLES = {
    "VARVE_STORE",
    "VARVE_INGEST_QUEUE_URL",
    "VARVE_WRITE_QUEUE_URL",
    "VARVE_SUMMARY_QUEUE_URL",
    "VARVE_LLM",
    "VARVE_EMBEDDER",
    "OPENAI_BASE_URL",
    "VARVE_API_KEY_SECRET",
    "VARVE_DEFAULT_PLAN",
    "VARVE_PRIVACY_MODE",
    "VARVE_IDENTITIES",
    "VARVE_SCOPED_ROLE",
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_LOG_LEVEL",
}

_ACME, _DAY = Scope("acme", "support"), Period.parse("2026-03-02")
_AT = datetime(2026, 3, 2, tzinfo=UTC)
_OF_AN_AGENT = {
    due_key(_ACME, _DAY, "token"),
    twin(due_key(_ACME, _DAY, "token")),
    failed_key(_ACME, _DAY),
    expiry_key(_AT, _ACME, Grain.WORKING),
    lessons_key(month_of(_AT), _ACME),
    curation_key(_ACME),
    key_of(_ACME, WaitingPeriod(_DAY)),
}
"""One key of each sort that the ledger keeps for an agent, except the conversations."""

Json = Any
Properties = dict[str, Any]


@pytest.fixture(scope="module")
def source() -> sam.Template:
    return sam.load_template(ROOT / "template.yaml")


@pytest.fixture(scope="module")
def stack(source: sam.Template) -> sam.Template:
    return sam.translate(source)


@pytest.fixture(scope="module")
def findings(
    stack: sam.Template, tmp_path_factory: pytest.TempPathFactory
) -> list[Properties]:
    """cfn-lint's findings on the expanded template; in the SAM source it does not see what SAM adds."""
    path = tmp_path_factory.mktemp("template") / "template.json"
    path.write_text(json.dumps(stack))
    lint = (
        shutil.which("cfn-lint", path=str(Path(sys.executable).parent))
        or "cfn-lint"
    )
    command = [
        lint,
        "--format",
        "json",
        "--regions",
        "us-east-1",
        "--",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: list[Properties] = json.loads(done.stdout)
    return found


# ---- the template as a whole


@pytest.mark.parametrize(
    "section", ["Parameters", "Conditions", "Resources", "Outputs"]
)
def test_the_expanded_template_is_the_recorded_one(
    stack: sam.Template, section: str
) -> None:
    # After an intended change: python -m tests.support.sam > tests/unit/deployed.json
    recorded = json.loads(sam.DEPLOYED.read_text("utf-8"))
    assert stack.keys() == recorded.keys()
    assert stack[section].keys() == recorded[section].keys()
    for name, expected in recorded[section].items():
        assert stack[section][name] == expected, name


def test_sam_cli_is_told_to_read_the_loops() -> None:
    # Without it, `sam build` fails on the first Fn::ForEach.
    defaults = tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))[
        "default"
    ]
    assert defaults["global"]["parameters"]["language_extensions"] is True


def test_every_value_of_the_mappings_is_used() -> None:
    written = (ROOT / "template.yaml").read_text("utf-8")
    mappings = yaml_parse(written)["Mappings"]
    read = re.findall(r"!FindInMap \[(\w+), !Ref \w+, (\w+)\]", written)
    given = {
        (mapping, key)
        for mapping, rows in mappings.items()
        for row in rows.values()
        for key in row
    }
    assert set(read) == given


def test_cfn_lint_finds_no_fault_in_the_expanded_template(
    findings: list[Properties],
) -> None:
    assert [f"{it['Rule']['Id']} {it['Message']}" for it in findings] == []


def test_all_functions_run_one_image_with_a_command_each(
    source: sam.Template, stack: sam.Template
) -> None:
    built = sam.functions(source)
    assert tuple(built) == FUNCTIONS
    assert (
        len({json.dumps(function["Metadata"]) for function in built.values()})
        == 1
    )
    assert {
        it["Properties"]["PackageType"] for it in sam.functions(stack).values()
    } == {"Image"}
    assert not [
        name
        for name, it in sam.functions(stack).items()
        if "Layers" in it["Properties"]
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_command_names_an_existing_handler(
    stack: sam.Template, name: str
) -> None:
    (command,) = _function(stack, name)["ImageConfig"]["Command"]
    module, handler = command.rsplit(".", 1)
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    assert file.is_file()
    assert (
        f"def {handler}(" in file.read_text()
        or f"{handler} = " in file.read_text()
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gets_only_documented_variables(
    stack: sam.Template, name: str
) -> None:
    variables = _variables(stack, name)
    assert variables.keys() <= VARIABLES
    assert "OPENAI_API_KEY" not in variables


@pytest.mark.parametrize(
    ("name", "given"),
    [
        (
            "SummarizeFunction",
            "VARVE_STORE VARVE_WRITE_QUEUE_URL VARVE_SUMMARY_QUEUE_URL VARVE_LLM VARVE_EMBEDDER"
            " OPENAI_BASE_URL VARVE_API_KEY_SECRET VARVE_DEFAULT_PLAN"
            " VARVE_PRIVACY_MODE VARVE_SCOPED_ROLE",
        ),
        ("CleanupFunction", "VARVE_STORE VARVE_SUMMARY_QUEUE_URL"),
    ],
)
def test_the_nightly_functions_get_the_variables_they_need_and_no_more(
    stack: sam.Template, name: str, given: str
) -> None:
    own = {
        name
        for name in _variables(stack, name)
        if not name.startswith("POWERTOOLS_")
    }
    assert own == set(given.split())


def test_every_function_that_filters_texts_gets_the_privacy_mode(
    stack: sam.Template,
) -> None:
    assert stack["Parameters"]["PrivacyMode"]["Default"] == "redact"
    given = {
        name
        for name in FUNCTIONS
        if "VARVE_PRIVACY_MODE" in _variables(stack, name)
    }
    assert given == {*FUNCTIONS} - {"WriteFunction", "CleanupFunction"}


def test_the_image_build_fails_if_a_handler_does_not_import(
    stack: sam.Template,
) -> None:
    steps = (ROOT / "Dockerfile").read_text()
    for name in FUNCTIONS:
        module, _, _ = _function(stack, name)["ImageConfig"]["Command"][
            0
        ].rpartition(".")
        assert f'python3 -c "import {module}"' in steps


def test_functions_that_call_no_model_get_no_api_key(
    stack: sam.Template,
) -> None:
    for name in ("IngestFunction", "CleanupFunction"):
        assert "VARVE_API_KEY_SECRET" not in _variables(stack, name)
        assert "ApiKeySecretArn" not in json.dumps(_role(stack, name))


def test_only_functions_that_filter_or_embed_text_may_read_workspace_keys(
    stack: sam.Template,
) -> None:
    reading = {
        name
        for name in FUNCTIONS
        if "secret:varve/*" in json.dumps(_role(stack, name))
    }
    filtering = {
        "IngestFunction",
        "ExtractFunction",
        "SummarizeFunction",
        "SearchFunction",
        "McpFunction",
    }
    assert reading == filtering | {"ForgetFunction"}


@pytest.mark.parametrize("name", ["SearchFunction", "McpFunction"])
def test_search_calls_no_language_model(
    stack: sam.Template, name: str
) -> None:
    assert "VARVE_LLM" not in _variables(stack, name)


def test_only_signed_requests_reach_mcp(stack: sam.Template) -> None:
    (url,) = sam.of_type(stack, "AWS::Lambda::Url").values()
    assert url["TargetFunctionArn"] == {"Ref": "McpFunction"}
    assert url["AuthType"] == "AWS_IAM"
    assert "Cors" not in url
    permissions = sam.of_type(stack, "AWS::Lambda::Permission").values()
    assert {"Ref": "McpFunction"} not in [
        it["FunctionName"] for it in permissions
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_writes_to_a_log_group_with_retention(
    stack: sam.Template, name: str
) -> None:
    group = _function(stack, name)["LoggingConfig"]["LogGroup"]["Ref"]
    assert sam.of_type(stack, "AWS::Logs::LogGroup")[group][
        "RetentionInDays"
    ] == {"Ref": "LogRetentionDays"}


# ---- queues


def test_every_queue_of_the_pipeline_is_fifo_in_high_throughput_mode(
    stack: sam.Template,
) -> None:
    queues = _queues(stack)
    assert queues.keys() == {*QUEUES, *QUEUES.values(), UNDELIVERED}
    for queue in (queues[name] for name in (*QUEUES, *QUEUES.values())):
        assert queue["FifoQueue"] is True
        assert queue["QueueName"]["Fn::Sub"].endswith(".fifo")
        assert (queue["DeduplicationScope"], queue["FifoThroughputLimit"]) == (
            "messageGroup",
            "perMessageGroupId",
        )


def test_deduplication_ids_come_from_the_code_not_from_sqs(
    stack: sam.Template,
) -> None:
    fifo = [queue for queue in _queues(stack).values() if "FifoQueue" in queue]
    assert {queue["ContentBasedDeduplication"] for queue in fifo} == {False}


def test_queues_are_encrypted(stack: sam.Template) -> None:
    assert {
        queue["SqsManagedSseEnabled"] for queue in _queues(stack).values()
    } == {True}


@pytest.mark.parametrize(
    ("queue", "receives"),
    [("IngestQueue", 5), ("WriteQueue", 10), ("WorkQueue", 5)],
)
def test_a_message_that_keeps_failing_goes_to_its_queues_dead_letters(
    stack: sam.Template, queue: str, receives: int
) -> None:
    redrive = _queues(stack)[queue]["RedrivePolicy"]
    assert redrive == {
        "deadLetterTargetArn": _arn_of(QUEUES[queue]),
        "maxReceiveCount": receives,
    }


@pytest.mark.parametrize("queue", QUEUES)
def test_a_dead_letter_queue_keeps_its_queues_messages_14_days(
    stack: sam.Template, queue: str
) -> None:
    dead_letters = _queues(stack)[QUEUES[queue]]
    (source,) = dead_letters["RedriveAllowPolicy"]["sourceQueueArns"]
    assert dead_letters["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert dead_letters["RedriveAllowPolicy"]["redrivePermission"] == "byQueue"
    assert source["Fn::Sub"].endswith(
        ":" + _queues(stack)[queue]["QueueName"]["Fn::Sub"]
    )


def test_a_payload_outlives_every_message_that_may_refer_to_it(
    stack: sam.Template,
) -> None:
    # A FIFO queue starts a message's retention anew when it becomes a dead letter, so both count.
    days = max(
        (
            _queues(stack)[queue]["MessageRetentionPeriod"]
            + _queues(stack)[dead]["MessageRetentionPeriod"]
        )
        // 86400
        for queue, dead in QUEUES.items()
    )
    rules = _bucket(stack)["LifecycleConfiguration"]["Rules"]
    (kept,) = [
        rule["ExpirationInDays"]
        for rule in rules
        if rule.get("Prefix") == "memory/payloads/"
    ]
    assert kept > days


def test_only_payloads_expire_by_a_bucket_rule(stack: sam.Template) -> None:
    rules = _bucket(stack)["LifecycleConfiguration"]["Rules"]
    assert {
        rule.get("Prefix") for rule in rules if "ExpirationInDays" in rule
    } == {"memory/payloads/"}


def test_visibility_is_at_least_six_times_the_functions_timeout(
    stack: sam.Template,
) -> None:
    for mapping in _mappings(stack):
        queue = _queues(stack)[mapping["EventSourceArn"]["Fn::GetAtt"][0]]
        timeout = _function(stack, mapping["FunctionName"]["Ref"])["Timeout"]
        assert queue["VisibilityTimeout"] >= 6 * timeout


@pytest.mark.parametrize(
    ("queue", "function", "size"),
    [
        ("IngestQueue", "ExtractFunction", 1),
        ("WriteQueue", "WriteFunction", 10),
        ("WorkQueue", "SummarizeFunction", 1),
    ],
)
def test_a_batch_reports_its_failures_one_by_one(
    stack: sam.Template, queue: str, function: str, size: int
) -> None:
    (mapping,) = [
        it for it in _mappings(stack) if it["EventSourceArn"] == _arn_of(queue)
    ]
    assert mapping["FunctionName"] == {"Ref": function}
    assert mapping["BatchSize"] == size
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"]["MaximumConcurrency"]["Ref"].startswith(
        "Max"
    )


def test_no_event_source_waits_for_a_batch_to_fill(
    stack: sam.Template,
) -> None:
    # FIFO queues do not support a batching window, and neither SAM nor cfn-lint says so.
    assert len(_mappings(stack)) == len(QUEUES)
    assert not [
        it for it in _mappings(stack) if "MaximumBatchingWindowInSeconds" in it
    ]


# ---- schedules


def test_there_is_a_schedule_for_each_grain_and_one_each_for_cleanup_and_lessons(
    stack: sam.Template,
) -> None:
    found = {
        name: (
            it["Target"]["Arn"]["Fn::GetAtt"][0],
            _passed(it),
            it["ScheduleExpression"],
        )
        for name, it in _schedules(stack).items()
    }
    assert found == SCHEDULES
    grains = [
        passed["grain"]
        for _, passed, _ in SCHEDULES.values()
        if "grain" in passed
    ]
    assert grains == [str(grain) for grain in SUMMARY_GRAINS]


def test_a_schedule_passes_the_scheduled_time_to_its_function(
    stack: sam.Template,
) -> None:
    for schedule in _schedules(stack).values():
        assert (
            json.loads(schedule["Target"]["Input"])["scheduledTime"]
            == SCHEDULED_TIME
        )


def test_schedules_run_at_an_exact_minute_in_utc(stack: sam.Template) -> None:
    for schedule in _schedules(stack).values():
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert schedule["ScheduleExpressionTimezone"] == "UTC"
        assert "State" not in schedule


def test_two_stacks_in_an_account_have_different_schedule_names(
    stack: sam.Template,
) -> None:
    assert not [name for name, it in _schedules(stack).items() if "Name" in it]


def test_an_invocation_that_fails_is_retried_then_dead_lettered(
    stack: sam.Template,
) -> None:
    for schedule in _schedules(stack).values():
        assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] > 0
        assert schedule["Target"]["DeadLetterConfig"] == {
            "Arn": _arn_of(UNDELIVERED)
        }
    # EventBridge Scheduler refuses a FIFO queue, and neither SAM nor cfn-lint says so.
    undelivered = _queues(stack)[UNDELIVERED]
    assert "FifoQueue" not in undelivered
    assert undelivered["MessageRetentionPeriod"] == 14 * 24 * 3600


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedules_role_invokes_its_own_function_and_nothing_else(
    stack: sam.Template, name: str
) -> None:
    target = _schedules(stack)[name]["Target"]
    role = sam.of_type(stack, "AWS::IAM::Role")[
        target["RoleArn"]["Fn::GetAtt"][0]
    ]
    (trusted,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trusted["Condition"] == {
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    }
    (policy,) = role["Policies"]
    granted = [
        (it["Action"], it["Resource"])
        for it in policy["PolicyDocument"]["Statement"]
    ]
    assert granted == [
        ("lambda:InvokeFunction", target["Arn"]),
        ("sqs:SendMessage", _arn_of(UNDELIVERED)),
    ]


@pytest.mark.parametrize("name", SCHEDULES)
def test_there_is_a_sample_event_for_each_schedule(
    stack: sam.Template, name: str
) -> None:
    schedule = _schedules(stack)[name]
    function, passed, _ = SCHEDULES[name]
    case = passed.get("grain", passed.get("task", "nightly"))
    file = (
        ROOT
        / "events"
        / f"{function.removesuffix('Function').lower()}.{case}.json"
    )
    sample = json.loads(file.read_text())
    at = parse_instant(sample["scheduledTime"])
    assert {**sample, "scheduledTime": SCHEDULED_TIME} == json.loads(
        schedule["Target"]["Input"]
    )
    assert schedule["ScheduleExpression"].startswith(
        (f"cron({at.minute} * ", f"cron({at.minute} {at.hour} ")
    )


# ---- permissions


def test_no_permission_covers_every_action_or_every_resource(
    stack: sam.Template,
) -> None:
    for name in FUNCTIONS:
        for statement in _allowed(stack, name):
            actions, resources = (
                _listed(statement["Action"]),
                _listed(statement["Resource"]),
            )
            assert not [action for action in actions if "*" in action], (
                name,
                actions,
            )
            assert "*" not in resources, (name, statement)


def test_every_function_has_its_own_role_and_no_managed_policy(
    stack: sam.Template,
) -> None:
    roles = sam.of_type(stack, "AWS::IAM::Role")
    own = {
        _function(stack, name)["Role"]["Fn::GetAtt"][0] for name in FUNCTIONS
    }
    assert len(own) == len(FUNCTIONS)
    assert roles.keys() - own == {
        *("SummarizeScheduleRole", "CleanupScheduleRole"),
        *("AgentReaderRole", "AgentCallerRole", "AgentWorkerRole"),
    }
    assert not [
        name for name, role in roles.items() if "ManagedPolicyArns" in role
    ]


def test_only_the_serving_functions_may_open_an_agents_session_with_both_tags(
    stack: sam.Template,
) -> None:
    roles, policies = (
        sam.of_type(stack, "AWS::IAM::Role"),
        sam.of_type(stack, "AWS::IAM::Policy"),
    )
    for name, policy, functions in (
        ("AgentReaderRole", "AssumeReaderPolicy", ["SearchFunction"]),
        ("AgentCallerRole", "AssumeCallerPolicy", ["McpFunction"]),
        (
            "AgentWorkerRole",
            "AssumeWorkerPolicy",
            ["ExtractFunction", "SummarizeFunction"],
        ),
    ):
        (trust,) = roles[name]["AssumeRolePolicyDocument"]["Statement"]
        own = [
            _function(stack, function)["Role"]["Fn::GetAtt"][0]
            for function in functions
        ]
        assert trust["Principal"]["AWS"] == [_arn_of(role) for role in own]
        tags = {"aws:RequestTag/workspace": "?*", "aws:RequestTag/agent": "?*"}
        assert trust["Condition"] == {"StringLike": tags}
        assert policies[policy]["Roles"] == [{"Ref": role} for role in own]
        assert all(
            "VARVE_SCOPED_ROLE" in _variables(stack, function)
            for function in functions
        )


def test_only_the_writer_changes_or_deletes_a_store(
    stack: sam.Template,
) -> None:
    stores = ("memory/vectordb/", "memory/graphs/", "memory/profiles/")
    for name in FUNCTIONS:
        changing = _reached(stack, name, "s3:PutObject") | _reached(
            stack, name, "s3:DeleteObject"
        )
        assert any(it.startswith(stores) for it in changing) == (
            name == "WriteFunction"
        )


def test_cached_stores_fit_on_the_functions_disks_during_a_compaction(
    stack: sam.Template,
) -> None:
    cache = Caching(Path(), DEFAULT_CACHE_MEGABYTES * 10**6)
    for name in (
        "WriteFunction",
        "SummarizeFunction",
        "SearchFunction",
        "McpFunction",
    ):
        properties = _function(stack, name)
        assert not [
            it
            for it in properties["Environment"]["Variables"]
            if it.startswith("VARVE_CACHE")
        ]
        disk = (
            properties.get("EphemeralStorage", {"Size": 512})["Size"] * 2**20
        )
        assert cache.bytes + cache.store_bytes < disk


_COSTS = {"memory/costs/*", "memory/costs/-/*"}
_NOTED = ("/memory/costs/", "/memory/searches/")


def test_search_reads_memory_and_writes_costs_and_questions_alone(
    stack: sam.Template,
) -> None:
    actions = {
        action
        for it in _allowed(stack, "SearchFunction")
        for action in _listed(it["Action"])
    }
    reading = {
        "s3:GetObject",
        "s3:ListBucket",
        "secretsmanager:GetSecretValue",
    }
    (reader,) = sam.of_type(stack, "AWS::IAM::Role")["AgentReaderRole"][
        "Policies"
    ]
    statements = reader["PolicyDocument"]["Statement"]
    writing = [it for it in statements if {*_listed(it["Action"])} - reading]
    assert [it["Sid"] for it in writing] == ["CountForOneAgent"]
    for arn in writing[0]["Resource"]:
        assert any(area in arn["Fn::Sub"] for area in _NOTED)
    reached = _reached(stack, "SearchFunction", "s3:PutObject")
    assert reached <= {*_COSTS, "memory/searches/*"}
    logging = {"logs:CreateLogStream", "logs:PutLogEvents"}
    assert actions <= reading | logging | {"s3:PutObject"}


@pytest.mark.parametrize(
    ("name", "action", "folders"),
    [
        (
            "SummarizeFunction",
            "s3:GetObject",
            "vectordb graphs profiles notes workspaces ledger payloads timeline audit"
            " costs costs/-",
        ),
        (
            "SummarizeFunction",
            "s3:PutObject",
            "ledger payloads audit/*/proposals costs costs/-",
        ),
        (
            "SummarizeFunction",
            "s3:DeleteObject",
            "ledger timeline payloads costs searches",
        ),
        ("CleanupFunction", "s3:GetObject", "costs/-"),
        ("CleanupFunction", "s3:PutObject", "costs/-"),
        ("CleanupFunction", "s3:DeleteObject", ""),
        (
            "WriteFunction",
            "s3:PutObject",
            "vectordb graphs profiles ledger probe payloads costs",
        ),
        (
            "WriteFunction",
            "s3:DeleteObject",
            "vectordb graphs profiles ledger payloads",
        ),
        (
            "ExtractFunction",
            "s3:GetObject",
            "payloads timeline ledger vectordb graphs profiles workspaces audit"
            " costs costs/-",
        ),
        ("ExtractFunction", "s3:DeleteObject", "payloads timeline"),
        (
            "ForgetFunction",
            "s3:PutObject",
            "payloads timeline notes ledger audit costs grants searches",
        ),
        (
            "ForgetFunction",
            "s3:DeleteObject",
            "payloads timeline ledger notes",
        ),
        (
            "SearchFunction",
            "s3:GetObject",
            "vectordb graphs profiles timeline ledger workspaces grants costs costs/-"
            " searches audit/*/tombstones",
        ),
        (
            "McpFunction",
            "s3:PutObject",
            "payloads audit/*/proposals costs costs/- searches",
        ),
        ("McpFunction", "s3:DeleteObject", ""),
    ],
)
def test_a_function_reaches_only_its_folders_of_the_store(
    stack: sam.Template, name: str, action: str, folders: str
) -> None:
    assert _reached(stack, name, action) == {
        f"memory/{folder}/*" for folder in folders.split()
    }


@pytest.mark.parametrize(
    ("name", "action", "folders"),
    [
        ("ExtractFunction", "s3:GetObject", "payloads costs/-"),
        ("ExtractFunction", "s3:PutObject", "costs/-"),
        ("ExtractFunction", "s3:DeleteObject", ""),
        ("SummarizeFunction", "s3:GetObject", "ledger workspaces costs/-"),
        ("SummarizeFunction", "s3:PutObject", "costs/-"),
        ("SummarizeFunction", "s3:DeleteObject", ""),
        ("SearchFunction", "s3:GetObject", "costs/-"),
        ("McpFunction", "s3:GetObject", "costs/-"),
        ("McpFunction", "s3:PutObject", "costs/-"),
    ],
)
def test_with_scoped_credentials_the_functions_own_roles_reach_little(
    stack: sam.Template, name: str, action: str, folders: str
) -> None:
    reached = _reached(stack, name, action, scoped=True)
    assert reached == {f"memory/{folder}/*" for folder in folders.split()}


@pytest.mark.parametrize("key", sorted(_OF_AN_AGENT))
def test_a_worker_session_reaches_only_its_own_agents_ledger(
    key: str,
) -> None:
    own, others = (
        session_statements(scope, "AgentWorkerRole")
        for scope in (_ACME, Scope("acme", "sales"))
    )
    for kind in ("GET", "PUT", "DELETE"):
        assert allows(own, kind, "bucket", f"memory/{key}")
        assert not allows(others, kind, "bucket", f"memory/{key}")


@pytest.mark.parametrize(
    ("name", "queues"),
    [
        ("ExtractFunction", {"WriteQueue", "IngestDeadLetterQueue"}),
        (
            "SummarizeFunction",
            {"WorkQueue", "WriteQueue", "WorkDeadLetterQueue"},
        ),
        ("CleanupFunction", {"WorkQueue"}),
        ("ForgetFunction", {"WriteQueue", "IngestQueue"}),
        ("McpFunction", {"WriteQueue", "IngestQueue"}),
    ],
)
def test_a_function_sends_to_the_next_queue_only(
    stack: sam.Template, name: str, queues: set[str]
) -> None:
    sending = [
        it
        for it in _allowed(stack, name)
        if "sqs:SendMessage" in _listed(it["Action"])
    ]
    assert {
        arn["Fn::GetAtt"][0]
        for it in sending
        for arn in _listed(it["Resource"])
    } == queues


@pytest.mark.parametrize("scoped", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_list_every_prefix_that_it_reads_or_deletes(
    stack: sam.Template, name: str, scoped: bool
) -> None:
    # Without s3:ListBucket on its prefix, a key that is not there reads as 403 instead of 404.
    listings = [
        it
        for it in _allowed(stack, name, scoped=scoped)
        if it["Action"] == "s3:ListBucket"
    ]
    assert all(it["Resource"] == _arn_of("Bucket") for it in listings)
    reached = {
        key
        for action in ("s3:GetObject", "s3:DeleteObject")
        for key in _reached(stack, name, action, scoped=scoped)
    }
    reached |= (
        {"memory/ledger/*"} if name == "CleanupFunction" else set()
    )  # its planning reads names alone
    assert {
        key
        for it in listings
        for key in it["Condition"]["StringLike"]["s3:prefix"]
    } == reached


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        ("ExtractFunction", "IngestQueue"),
        ("WriteFunction", "WriteQueue"),
        ("SummarizeFunction", "WorkQueue"),
    ],
)
def test_a_consumer_may_dead_letter_a_hopeless_message(
    stack: sam.Template, name: str, queue: str
) -> None:
    (statement,) = [
        it
        for it in _allowed(stack, name)
        if it["Resource"] == _arn_of(QUEUES[queue])
    ]
    assert set(statement["Action"]) == {"sqs:SendMessage", "sqs:GetQueueUrl"}


def test_only_bedrock_agents_of_this_account_may_call_search(
    stack: sam.Template,
) -> None:
    (permission,) = sam.of_type(stack, "AWS::Lambda::Permission").values()
    assert permission["FunctionName"] == {"Ref": "SearchFunction"}
    assert permission["Principal"] == "bedrock.amazonaws.com"
    assert permission["SourceAccount"] == {"Ref": "AWS::AccountId"}


# ---- the bucket


def test_the_bucket_is_private_encrypted_and_outlives_the_stack(
    stack: sam.Template,
) -> None:
    bucket = _bucket(stack)
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    (encryption,) = bucket["BucketEncryption"][
        "ServerSideEncryptionConfiguration"
    ]
    assert (
        encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    )
    assert bucket["OwnershipControls"]["Rules"] == [
        {"ObjectOwnership": "BucketOwnerEnforced"}
    ]
    assert stack["Resources"]["Bucket"]["DeletionPolicy"] == "Retain"
    assert stack["Resources"]["Bucket"]["UpdateReplacePolicy"] == "Retain"


def test_the_bucket_keeps_no_old_versions(
    stack: sam.Template,
) -> None:
    assert "VersioningConfiguration" not in _bucket(stack)
    assert "ObjectLockEnabled" not in _bucket(stack)


def test_bucket_and_queues_refuse_plain_http(stack: sam.Template) -> None:
    policies = {
        **sam.of_type(stack, "AWS::S3::BucketPolicy"),
        **sam.of_type(stack, "AWS::SQS::QueuePolicy"),
    }
    guarded = [
        it["Ref"]
        for policy in policies.values()
        for it in _listed(policy.get("Queues", policy.get("Bucket")))
    ]
    assert sorted(guarded) == sorted(
        ["Bucket", *QUEUES, *QUEUES.values(), UNDELIVERED]
    )
    for policy in policies.values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {
            "Bool": {"aws:SecureTransport": "false"}
        }


# ---- alarms, outputs


def test_alarms_watch_dead_letters_old_messages_crashes_and_throttling(
    stack: sam.Template,
) -> None:
    watched = {
        (it["MetricName"], _watched(it))
        for it in _alarms(stack)
        if it["Namespace"] != "Varve"
    }
    assert watched == {
        *(
            ("ApproximateNumberOfMessagesVisible", dead)
            for dead in (*QUEUES.values(), UNDELIVERED)
        ),
        *(("ApproximateAgeOfOldestMessage", queue) for queue in QUEUES),
        *(("Errors", name) for name in FUNCTIONS),
        # What a queue or a schedule calls is called again; only who calls by itself must be told.
        *(
            ("Throttles", name)
            for name in ("IngestFunction", "SearchFunction")
        ),
    }


def _metrics(stack: sam.Template) -> list[tuple[str, ...]]:
    """Every metric of the dashboard: namespace, name, dimension, value."""
    text = stack["Resources"]["Dashboard"]["Properties"]["DashboardBody"][
        "Fn::Sub"
    ]
    rows = [
        row
        for widget in json.loads(text)["widgets"]
        for row in widget["properties"]["metrics"]
    ]
    return [
        tuple(each for each in row if isinstance(each, str)) for row in rows
    ]


def test_the_dashboard_shows_existing_resources_and_emitted_metrics(
    stack: sam.Template,
) -> None:
    resources = stack["Resources"]
    for namespace, name, dimension, value in _metrics(stack):
        if namespace == "Varve":
            # `counts.count_all` adds the counts that a use case's outcome names.
            sources = [
                ROOT / "functions" / value / "app.py",
                ROOT / "functions" / "counts.py",
                ROOT / "functions" / "costs.py",
                *(ROOT / "shared/varve/usecases").rglob(f"{value}.py"),
            ]
            emitted = re.compile(
                rf'add_metric\(\s*"{name}"|"{name}": self\.|"{name}": of'
            )
            assert any(
                emitted.search(each.read_text("utf-8"))
                for each in sources
                if each.exists()
            ), name
            assert dimension == "service"
        else:
            resource, _, attribute = (
                value.removeprefix("${").removesuffix("}").partition(".")
            )
            assert resource in resources, value
            assert (dimension, attribute) in {
                ("FunctionName", ""),
                ("QueueName", "QueueName"),
            }


def test_the_dashboard_has_every_dead_letter_queue_and_every_functions_errors(
    stack: sam.Template,
) -> None:
    shown = {(name, value) for _, name, _, value in _metrics(stack)}
    assert {("Errors", f"${{{name}}}") for name in FUNCTIONS} <= shown
    dead = (*QUEUES.values(), UNDELIVERED)
    assert {
        ("ApproximateNumberOfMessagesVisible", f"${{{name}.QueueName}}")
        for name in dead
    } <= shown
    names = {name for name, _ in shown}
    assert {
        "ExtractedFacts",
        "WrittenRecords",
        "Duration",
        "PyramidLag",
        "ModelTokens",
    } <= names


@pytest.mark.parametrize(
    ("metric", "name", "days"),
    [
        ("GivenUpPeriods", "SummarizeFunction", None),
        ("LeftPeriods", "SummarizeFunction", 2),
        ("LeftAgents", "CleanupFunction", 2),
    ],
)
def test_alarms_watch_given_up_periods_and_backlogs(
    stack: sam.Template, metric: str, name: str, days: int | None
) -> None:
    (alarm,) = [it for it in _alarms(stack) if it["MetricName"] == metric]
    variables = _variables(stack, name)
    folder = variables["POWERTOOLS_SERVICE_NAME"]
    sources = [
        ROOT / "functions" / folder / "app.py",
        *(ROOT / "shared" / "varve").rglob("*.py"),
    ]
    assert alarm["Namespace"] == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert alarm["Dimensions"] == [{"Name": "service", "Value": folder}]
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 0)
    assert (
        (alarm["Period"] * alarm["EvaluationPeriods"] == 86_400 * days)
        if days
        else True
    )
    assert any(f'"{metric}"' in source.read_text() for source in sources)


def test_a_single_dead_letter_raises_an_alarm(stack: sam.Template) -> None:
    dead = [
        it
        for it in _alarms(stack)
        if it["MetricName"] == "ApproximateNumberOfMessagesVisible"
    ]
    assert {(it["Threshold"], it["ComparisonOperator"]) for it in dead} == {
        (0, "GreaterThanThreshold")
    }


def test_outputs_name_the_bucket_the_queues_and_the_functions(
    stack: sam.Template,
) -> None:
    queues = {
        f"{queue}{what}" for queue in _queues(stack) for what in ("Url", "Arn")
    }
    functions = {
        f"{name}{what}" for name in FUNCTIONS for what in ("Name", "Arn")
    }
    assert (
        stack["Outputs"].keys()
        == {"BucketName", "StoreUri", "McpUrl", "TryIngest", "TrySearch"}
        | queues
        | functions
    )


def test_the_manual_names_every_parameter(stack: sam.Template) -> None:
    manual = (ROOT / "docs" / "deploy.md").read_text()
    assert set(
        re.findall(r"^\| `([A-Z]\w+)` \|", manual, re.MULTILINE)
    ) == set(stack["Parameters"])


# ---- the translator itself


def test_the_expanded_template_has_no_sam_resource_left(
    source: sam.Template,
) -> None:
    stack = sam.translate(source)
    assert [
        it["Type"]
        for it in stack["Resources"].values()
        if it["Type"].startswith("AWS::Serverless::")
    ] == []
    assert "Transform" not in stack
    assert all(
        it["Properties"]["Code"]["ImageUri"] == sam.PLACEHOLDER_IMAGE
        for it in sam.functions(stack).values()
    )
    assert "Metadata" in source["Resources"]["IngestFunction"], (
        "translate() left its argument alone"
    )


def _function(stack: sam.Template, name: str) -> Properties:
    properties: Properties = sam.functions(stack)[name]["Properties"]
    return properties


def _variables(stack: sam.Template, name: str) -> Properties:
    variables: Properties = _function(stack, name)["Environment"]["Variables"]
    return variables


def _queues(stack: sam.Template) -> dict[str, Properties]:
    return sam.of_type(stack, "AWS::SQS::Queue")


def _bucket(stack: sam.Template) -> Properties:
    return sam.of_type(stack, "AWS::S3::Bucket")["Bucket"]


def _mappings(stack: sam.Template) -> list[Properties]:
    return list(sam.of_type(stack, "AWS::Lambda::EventSourceMapping").values())


def _schedules(stack: sam.Template) -> dict[str, Properties]:
    return sam.of_type(stack, "AWS::Scheduler::Schedule")


def _passed(schedule: Properties) -> Properties:
    """What a schedule tells its function beside the time."""
    return {
        key: value
        for key, value in json.loads(schedule["Target"]["Input"]).items()
        if key != "scheduledTime"
    }


def _alarms(stack: sam.Template) -> list[Properties]:
    return list(sam.of_type(stack, "AWS::CloudWatch::Alarm").values())


def _watched(alarm: Properties) -> str:
    """The logical id of the queue or function that an alarm is about."""
    (dimension,) = alarm["Dimensions"]
    value = dimension["Value"]
    watched: str = value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0]
    return watched


def _role(stack: sam.Template, name: str) -> Properties:
    return sam.of_type(stack, "AWS::IAM::Role")[
        _function(stack, name)["Role"]["Fn::GetAtt"][0]
    ]


def _allowed(
    stack: sam.Template, name: str, *, scoped: bool = False
) -> Iterator[Properties]:
    """Every statement of the function's role; those under a condition too, but where agents have sessions."""
    for policy in _role(stack, name)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            if scoped and statement.get("Fn::If", [""])[0] == "IsUnscoped":
                continue
            statement = (
                statement["Fn::If"][1] if "Fn::If" in statement else statement
            )
            assert statement["Effect"] == "Allow"
            yield statement


def _reached(
    stack: sam.Template, name: str, action: str, *, scoped: bool = False
) -> set[str]:
    """The keys of the bucket, as patterns, that the function may do this to."""
    granted = [
        it
        for it in _allowed(stack, name, scoped=scoped)
        if action in _listed(it["Action"])
    ]
    return {
        it["Fn::Sub"].removeprefix("${Bucket.Arn}/")
        for grant in granted
        for it in _listed(grant["Resource"])
    }


def _arn_of(name: str) -> Json:
    return {"Fn::GetAtt": [name, "Arn"]}


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
