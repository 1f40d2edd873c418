"""What template.yaml promises: order, nothing lost in silence, least privilege, a bucket that forgets."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support import sam
from tests.support.policies import allows, session_statements
from varve.adapters.records.replicas import Caching
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
from varve.wiring.settings import DEFAULT_CACHE_MEGABYTES

ROOT = Path(__file__).parents[2]
FUNCTIONS = (
    "IngestFunction",
    "ExtractFunction",
    "WriteFunction",
    "SummarizeFunction",
    "CleanupFunction",
    "SearchFunction",
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
    "SummarizeFunctionDaily": ("SummarizeFunction", {"grain": "daily"}, HOURLY),
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
}

# DESIGN 7.5, and what a function needs beside it: the name of the key's secret (never the key), the
# plan of a workspace that names none, who may search what, and Powertools' own.
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
}
"""An object of each sort that the ledger has of an agent, but for the conversations."""

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
    """What cfn-lint says of the expanded template; on the SAM source it checks nothing that SAM expands."""
    path = tmp_path_factory.mktemp("template") / "template.json"
    path.write_text(json.dumps(stack))
    lint = shutil.which("cfn-lint", path=str(Path(sys.executable).parent)) or "cfn-lint"
    command = [lint, "--format", "json", "--regions", "us-east-1", "--", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: list[Properties] = json.loads(done.stdout)
    return found


# ---- the template as a whole


def test_cloudformation_finds_no_fault_with_the_expanded_template(
    findings: list[Properties],
) -> None:
    assert [f"{it['Rule']['Id']} {it['Message']}" for it in findings] == []


def test_one_image_with_a_command_for_each_function(
    source: sam.Template, stack: sam.Template
) -> None:
    built = sam.functions(source)
    assert tuple(built) == FUNCTIONS
    assert len({json.dumps(function["Metadata"]) for function in built.values()}) == 1
    assert {
        it["Properties"]["PackageType"] for it in sam.functions(stack).values()
    } == {"Image"}
    assert not [
        name
        for name, it in sam.functions(stack).items()
        if "Layers" in it["Properties"]
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_command_names_a_handler_that_is_there(
    stack: sam.Template, name: str
) -> None:
    (command,) = _function(stack, name)["ImageConfig"]["Command"]
    module, handler = command.rsplit(".", 1)
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    assert file.is_file()
    assert f"def {handler}(" in file.read_text() or f"{handler} = " in file.read_text()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gets_only_variables_that_are_documented(
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
            " OPENAI_BASE_URL VARVE_API_KEY_SECRET VARVE_DEFAULT_PLAN VARVE_SCOPED_ROLE",
        ),
        ("CleanupFunction", "VARVE_STORE VARVE_SUMMARY_QUEUE_URL"),
    ],
)
def test_the_nights_functions_know_what_they_need_and_no_more(
    stack: sam.Template, name: str, given: str
) -> None:
    own = {
        name for name in _variables(stack, name) if not name.startswith("POWERTOOLS_")
    }
    assert own == set(given.split())


def test_the_image_is_not_built_where_a_handler_does_not_import(
    stack: sam.Template,
) -> None:
    steps = (ROOT / "Dockerfile").read_text()
    for name in FUNCTIONS:
        module, _, _ = _function(stack, name)["ImageConfig"]["Command"][0].rpartition(
            "."
        )
        assert f'python3 -c "import {module}"' in steps


def test_only_who_asks_a_model_is_given_its_key(stack: sam.Template) -> None:
    for name in ("IngestFunction", "CleanupFunction"):
        assert "VARVE_API_KEY_SECRET" not in _variables(stack, name)
        assert "ApiKeySecretArn" not in json.dumps(_role(stack, name))


def test_only_who_filters_or_embeds_texts_may_read_workspaces_keys(
    stack: sam.Template,
) -> None:
    reading = {
        name for name in FUNCTIONS if "secret:varve/*" in json.dumps(_role(stack, name))
    }
    filtering = {
        "IngestFunction",
        "ExtractFunction",
        "SummarizeFunction",
        "SearchFunction",
    }
    assert reading == filtering | {"ForgetFunction"}


def test_searching_asks_no_language_model(stack: sam.Template) -> None:
    assert "VARVE_LLM" not in _variables(stack, "SearchFunction")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_writes_to_a_log_group_that_forgets(
    stack: sam.Template, name: str
) -> None:
    group = _function(stack, name)["LoggingConfig"]["LogGroup"]["Ref"]
    assert sam.of_type(stack, "AWS::Logs::LogGroup")[group]["RetentionInDays"] == {
        "Ref": "LogRetentionDays"
    }


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


def test_deduplication_ids_come_from_the_code_and_not_from_sqs(
    stack: sam.Template,
) -> None:
    fifo = [queue for queue in _queues(stack).values() if "FifoQueue" in queue]
    assert {queue["ContentBasedDeduplication"] for queue in fifo} == {False}


def test_queues_are_encrypted(stack: sam.Template) -> None:
    assert {queue["SqsManagedSseEnabled"] for queue in _queues(stack).values()} == {
        True
    }


@pytest.mark.parametrize(
    ("queue", "receives"), [("IngestQueue", 5), ("WriteQueue", 10), ("WorkQueue", 5)]
)
def test_what_fails_again_and_again_ends_in_the_queues_own_dead_letters(
    stack: sam.Template, queue: str, receives: int
) -> None:
    redrive = _queues(stack)[queue]["RedrivePolicy"]
    assert redrive == {
        "deadLetterTargetArn": _arn_of(QUEUES[queue]),
        "maxReceiveCount": receives,
    }


@pytest.mark.parametrize("queue", QUEUES)
def test_dead_letters_are_kept_14_days_and_only_for_their_queue(
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


def test_nothing_but_payloads_expires_by_itself(stack: sam.Template) -> None:
    rules = _bucket(stack)["LifecycleConfiguration"]["Rules"]
    assert {rule.get("Prefix") for rule in rules if "ExpirationInDays" in rule} == {
        "memory/payloads/"
    }


def test_an_invisible_message_stays_invisible_for_six_times_the_functions_timeout(
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
    assert mapping["ScalingConfig"]["MaximumConcurrency"]["Ref"].startswith("Max")


def test_no_mapping_waits_for_a_batch_to_fill(stack: sam.Template) -> None:
    # FIFO queues do not support a batching window, and neither SAM nor cfn-lint says so.
    assert len(_mappings(stack)) == len(QUEUES)
    assert not [it for it in _mappings(stack) if "MaximumBatchingWindowInSeconds" in it]


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
        passed["grain"] for _, passed, _ in SCHEDULES.values() if "grain" in passed
    ]
    assert grains == [str(grain) for grain in SUMMARY_GRAINS]


def test_a_schedule_tells_its_function_the_scheduled_time(stack: sam.Template) -> None:
    for schedule in _schedules(stack).values():
        assert (
            json.loads(schedule["Target"]["Input"])["scheduledTime"] == SCHEDULED_TIME
        )


def test_schedules_run_at_their_minute_of_universal_time(stack: sam.Template) -> None:
    for schedule in _schedules(stack).values():
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert schedule["ScheduleExpressionTimezone"] == "UTC"
        assert "State" not in schedule


def test_two_stacks_of_an_account_have_schedules_of_different_names(
    stack: sam.Template,
) -> None:
    assert not [name for name, it in _schedules(stack).items() if "Name" in it]


def test_an_invocation_that_could_not_be_made_is_retried_then_kept(
    stack: sam.Template,
) -> None:
    for schedule in _schedules(stack).values():
        assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] > 0
        assert schedule["Target"]["DeadLetterConfig"] == {"Arn": _arn_of(UNDELIVERED)}
    # EventBridge Scheduler refuses a FIFO queue, and neither SAM nor cfn-lint says so.
    undelivered = _queues(stack)[UNDELIVERED]
    assert "FifoQueue" not in undelivered
    assert undelivered["MessageRetentionPeriod"] == 14 * 24 * 3600


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedules_role_invokes_its_own_function_and_nothing_else(
    stack: sam.Template, name: str
) -> None:
    target = _schedules(stack)[name]["Target"]
    role = sam.of_type(stack, "AWS::IAM::Role")[target["RoleArn"]["Fn::GetAtt"][0]]
    (trusted,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trusted["Condition"] == {
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    }
    (policy,) = role["Policies"]
    granted = [
        (it["Action"], it["Resource"]) for it in policy["PolicyDocument"]["Statement"]
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
    file = ROOT / "events" / f"{function.removesuffix('Function').lower()}.{case}.json"
    sample = json.loads(file.read_text())
    at = parse_instant(sample["scheduledTime"])
    assert {**sample, "scheduledTime": SCHEDULED_TIME} == json.loads(
        schedule["Target"]["Input"]
    )
    assert schedule["ScheduleExpression"].startswith(
        (f"cron({at.minute} * ", f"cron({at.minute} {at.hour} ")
    )


# ---- permissions


def test_no_permission_is_for_every_action_or_every_resource(
    stack: sam.Template,
) -> None:
    for name in FUNCTIONS:
        for statement in _allowed(stack, name):
            actions, resources = (
                _listed(statement["Action"]),
                _listed(statement["Resource"]),
            )
            assert not [action for action in actions if "*" in action], (name, actions)
            assert "*" not in resources, (name, statement)


def test_every_function_has_a_role_of_its_own_and_no_managed_policy(
    stack: sam.Template,
) -> None:
    roles = sam.of_type(stack, "AWS::IAM::Role")
    own = {_function(stack, name)["Role"]["Fn::GetAtt"][0] for name in FUNCTIONS}
    assert len(own) == len(FUNCTIONS)
    assert roles.keys() - own == {
        *("SummarizeScheduleRole", "CleanupScheduleRole"),
        *("AgentReaderRole", "AgentWorkerRole"),
    }
    assert not [name for name, role in roles.items() if "ManagedPolicyArns" in role]


def test_an_agents_session_is_for_the_functions_that_serve_it_and_for_both_of_its_tags(
    stack: sam.Template,
) -> None:
    roles, policies = (
        sam.of_type(stack, "AWS::IAM::Role"),
        sam.of_type(stack, "AWS::IAM::Policy"),
    )
    for name, policy, functions in (
        ("AgentReaderRole", "AssumeReaderPolicy", ["SearchFunction"]),
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
            "VARVE_SCOPED_ROLE" in _variables(stack, function) for function in functions
        )


def test_only_write_changes_or_deletes_a_store(stack: sam.Template) -> None:
    stores = ("memory/vectordb/", "memory/graphs/", "memory/profiles/")
    for name in FUNCTIONS:
        changing = _reached(stack, name, "s3:PutObject") | _reached(
            stack, name, "s3:DeleteObject"
        )
        assert any(it.startswith(stores) for it in changing) == (
            name == "WriteFunction"
        )


def test_copies_of_stores_fit_on_the_functions_disks_while_one_is_compacted(
    stack: sam.Template,
) -> None:
    cache = Caching(Path(), DEFAULT_CACHE_MEGABYTES * 10**6)
    for name in ("WriteFunction", "SummarizeFunction", "SearchFunction"):
        properties = _function(stack, name)
        assert not [
            it
            for it in properties["Environment"]["Variables"]
            if it.startswith("VARVE_CACHE")
        ]
        disk = properties.get("EphemeralStorage", {"Size": 512})["Size"] * 2**20
        assert cache.bytes + cache.store_bytes < disk


def test_search_reads_and_changes_nothing(stack: sam.Template) -> None:
    actions = {
        action
        for it in _allowed(stack, "SearchFunction")
        for action in _listed(it["Action"])
    }
    reading = {"s3:GetObject", "s3:ListBucket", "secretsmanager:GetSecretValue"}
    (reader,) = sam.of_type(stack, "AWS::IAM::Role")["AgentReaderRole"]["Policies"]
    statements = reader["PolicyDocument"]["Statement"]
    assert {action for it in statements for action in _listed(it["Action"])} <= reading
    assert actions <= reading | {"logs:CreateLogStream", "logs:PutLogEvents"}


@pytest.mark.parametrize(
    ("name", "action", "folders"),
    [
        (
            "SummarizeFunction",
            "s3:GetObject",
            "vectordb workspaces ledger payloads audit",
        ),
        ("SummarizeFunction", "s3:PutObject", "ledger payloads"),
        ("SummarizeFunction", "s3:DeleteObject", "ledger timeline payloads"),
        ("CleanupFunction", "s3:GetObject", ""),
        ("CleanupFunction", "s3:PutObject", ""),
        ("CleanupFunction", "s3:DeleteObject", ""),
        (
            "WriteFunction",
            "s3:PutObject",
            "vectordb graphs profiles ledger probe payloads",
        ),
        (
            "WriteFunction",
            "s3:DeleteObject",
            "vectordb graphs profiles ledger payloads",
        ),
        ("ExtractFunction", "s3:DeleteObject", "payloads timeline"),
        ("ForgetFunction", "s3:PutObject", "payloads timeline ledger audit"),
        ("ForgetFunction", "s3:DeleteObject", "payloads timeline ledger"),
        (
            "SearchFunction",
            "s3:GetObject",
            "vectordb graphs timeline ledger workspaces",
        ),
    ],
)
def test_a_function_reaches_its_folders_of_the_store_and_no_others(
    stack: sam.Template, name: str, action: str, folders: str
) -> None:
    assert _reached(stack, name, action) == {
        f"memory/{folder}/*" for folder in folders.split()
    }


@pytest.mark.parametrize(
    ("name", "action", "folders"),
    [
        ("ExtractFunction", "s3:GetObject", "payloads"),
        ("ExtractFunction", "s3:PutObject", ""),
        ("ExtractFunction", "s3:DeleteObject", ""),
        ("SummarizeFunction", "s3:GetObject", "ledger workspaces"),
        ("SummarizeFunction", "s3:PutObject", ""),
        ("SummarizeFunction", "s3:DeleteObject", ""),
        ("SearchFunction", "s3:GetObject", ""),
    ],
)
def test_where_agents_have_sessions_the_functions_own_roles_reach_next_to_nothing(
    stack: sam.Template, name: str, action: str, folders: str
) -> None:
    reached = _reached(stack, name, action, scoped=True)
    assert reached == {f"memory/{folder}/*" for folder in folders.split()}


@pytest.mark.parametrize("key", sorted(_OF_AN_AGENT))
def test_a_workers_session_reaches_all_of_its_agents_ledger_and_of_no_others(
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
        ("SummarizeFunction", {"WorkQueue", "WriteQueue", "WorkDeadLetterQueue"}),
        ("CleanupFunction", {"WorkQueue"}),
        ("ForgetFunction", {"WriteQueue", "IngestQueue"}),
    ],
)
def test_a_function_sends_to_the_next_queue_only(
    stack: sam.Template, name: str, queues: set[str]
) -> None:
    sending = [
        it for it in _allowed(stack, name) if "sqs:SendMessage" in _listed(it["Action"])
    ]
    assert {
        arn["Fn::GetAtt"][0] for it in sending for arn in _listed(it["Resource"])
    } == queues


@pytest.mark.parametrize("scoped", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_may_read_or_delete_it_may_also_find_missing(
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
        key for it in listings for key in it["Condition"]["StringLike"]["s3:prefix"]
    } == reached


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        ("ExtractFunction", "IngestQueue"),
        ("WriteFunction", "WriteQueue"),
        ("SummarizeFunction", "WorkQueue"),
    ],
)
def test_a_consumer_may_dead_letter_what_can_never_succeed(
    stack: sam.Template, name: str, queue: str
) -> None:
    (statement,) = [
        it for it in _allowed(stack, name) if it["Resource"] == _arn_of(QUEUES[queue])
    ]
    assert set(statement["Action"]) == {"sqs:SendMessage", "sqs:GetQueueUrl"}


def test_bedrock_agents_of_this_account_only_may_call_search(
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
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert bucket["OwnershipControls"]["Rules"] == [
        {"ObjectOwnership": "BucketOwnerEnforced"}
    ]
    assert stack["Resources"]["Bucket"]["DeletionPolicy"] == "Retain"
    assert stack["Resources"]["Bucket"]["UpdateReplacePolicy"] == "Retain"


def test_the_bucket_keeps_no_old_versions_that_erasure_would_miss(
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
    assert sorted(guarded) == sorted(["Bucket", *QUEUES, *QUEUES.values(), UNDELIVERED])
    for policy in policies.values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


# ---- alarms, outputs


def test_someone_is_told_of_dead_letters_of_old_messages_and_of_crashes(
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
        *(("Throttles", name) for name in ("IngestFunction", "SearchFunction")),
    }


def _metrics(stack: sam.Template) -> list[tuple[str, ...]]:
    """Every metric of the dashboard: namespace, name, dimension, value."""
    text = stack["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    rows = [
        row
        for widget in json.loads(text)["widgets"]
        for row in widget["properties"]["metrics"]
    ]
    return [tuple(each for each in row if isinstance(each, str)) for row in rows]


def test_the_dashboard_shows_what_is_there_and_what_the_functions_emit(
    stack: sam.Template,
) -> None:
    resources = stack["Resources"]
    for namespace, name, dimension, value in _metrics(stack):
        if namespace == "Varve":
            sources = [
                ROOT / "functions" / value / "app.py",
                ROOT / "functions" / "telemetry.py",
            ]
            assert any(
                f'add_metric("{name}"' in source.read_text("utf-8")
                for source in sources
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
def test_someone_is_told_of_a_period_that_was_given_up_and_of_a_backlog(
    stack: sam.Template, metric: str, name: str, days: int | None
) -> None:
    (alarm,) = [it for it in _alarms(stack) if it["MetricName"] == metric]
    variables = _variables(stack, name)
    folder = variables["POWERTOOLS_SERVICE_NAME"]
    sources = [
        ROOT / "functions" / folder / "app.py",
        ROOT / "shared" / "varve" / "usecases" / "work.py",
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


def test_a_single_dead_letter_is_an_alarm(stack: sam.Template) -> None:
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
    queues = {f"{queue}{what}" for queue in _queues(stack) for what in ("Url", "Arn")}
    functions = {f"{name}{what}" for name in FUNCTIONS for what in ("Name", "Arn")}
    assert (
        stack["Outputs"].keys()
        == {"BucketName", "StoreUri", "TryIngest", "TrySearch"} | queues | functions
    )


def test_every_parameter_is_in_the_manual(stack: sam.Template) -> None:
    manual = (ROOT / "docs" / "deploy.md").read_text()
    assert set(re.findall(r"^\| `([A-Z]\w+)` \|", manual, re.MULTILINE)) == set(
        stack["Parameters"]
    )


# ---- the translator itself


def test_the_lint_would_notice_what_only_the_expansion_shows(
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
            statement = statement["Fn::If"][1] if "Fn::If" in statement else statement
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
