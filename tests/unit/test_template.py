"""What template.yaml promises: order, nothing lost in silence, least privilege, a bucket that forgets."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import sam

ROOT = Path(__file__).parents[2]
FUNCTIONS = ("IngestFunction", "ExtractFunction", "WriteFunction", "SearchFunction")
QUEUES = {"IngestQueue": "IngestDeadLetterQueue", "WriteQueue": "WriteDeadLetterQueue"}

# DESIGN 7.5, and what a function needs beside it: the name of the key's secret (never the key), the
# plan of a workspace that names none, who may search what, and Powertools' own.
VARIABLES = {
    "VARVE_STORE",
    "VARVE_INGEST_QUEUE_URL",
    "VARVE_WRITE_QUEUE_URL",
    "VARVE_LLM",
    "VARVE_EMBEDDER",
    "OPENAI_BASE_URL",
    "VARVE_API_KEY_SECRET",
    "VARVE_DEFAULT_PLAN",
    "VARVE_IDENTITIES",
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_LOG_LEVEL",
}

Json = Any
Properties = dict[str, Any]


@pytest.fixture(scope="module")
def source() -> sam.Template:
    return sam.load_template(ROOT / "template.yaml")


@pytest.fixture(scope="module")
def stack(source: sam.Template) -> sam.Template:
    return sam.translate(source)


@pytest.fixture(scope="module")
def findings(stack: sam.Template, tmp_path_factory: pytest.TempPathFactory) -> list[Properties]:
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


def test_cloudformation_finds_no_fault_with_the_expanded_template(findings: list[Properties]) -> None:
    assert [f"{it['Rule']['Id']} {it['Message']}" for it in findings] == []


def test_one_image_with_a_command_for_each_function(source: sam.Template, stack: sam.Template) -> None:
    built = sam.functions(source)
    assert tuple(built) == FUNCTIONS
    assert len({json.dumps(function["Metadata"]) for function in built.values()}) == 1
    assert {it["Properties"]["PackageType"] for it in sam.functions(stack).values()} == {"Image"}
    assert not [name for name, it in sam.functions(stack).items() if "Layers" in it["Properties"]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_command_names_a_handler_that_is_there(stack: sam.Template, name: str) -> None:
    (command,) = _function(stack, name)["ImageConfig"]["Command"]
    module, handler = command.rsplit(".", 1)
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    assert file.is_file()
    assert f"def {handler}(" in file.read_text() or f"{handler} = " in file.read_text()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gets_only_variables_that_are_documented(stack: sam.Template, name: str) -> None:
    variables = _variables(stack, name)
    assert variables.keys() <= VARIABLES
    assert "OPENAI_API_KEY" not in variables


def test_ingest_and_write_are_given_no_model_key(stack: sam.Template) -> None:
    for name in ("IngestFunction", "WriteFunction"):
        assert "VARVE_API_KEY_SECRET" not in _variables(stack, name)
        assert "secretsmanager" not in json.dumps(_role(stack, name))


def test_searching_asks_no_language_model(stack: sam.Template) -> None:
    assert "VARVE_LLM" not in _variables(stack, "SearchFunction")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_writes_to_a_log_group_that_forgets(stack: sam.Template, name: str) -> None:
    group = _function(stack, name)["LoggingConfig"]["LogGroup"]["Ref"]
    assert sam.of_type(stack, "AWS::Logs::LogGroup")[group]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


# ---- queues


def test_every_queue_is_fifo_in_high_throughput_mode(stack: sam.Template) -> None:
    queues = _queues(stack)
    assert queues.keys() == {*QUEUES, *QUEUES.values()}
    for queue in queues.values():
        assert queue["FifoQueue"] is True
        assert queue["QueueName"]["Fn::Sub"].endswith(".fifo")
        assert (queue["DeduplicationScope"], queue["FifoThroughputLimit"]) == (
            "messageGroup",
            "perMessageGroupId",
        )


def test_deduplication_ids_come_from_the_code_and_not_from_sqs(stack: sam.Template) -> None:
    assert {queue["ContentBasedDeduplication"] for queue in _queues(stack).values()} == {False}


def test_queues_are_encrypted(stack: sam.Template) -> None:
    assert {queue["SqsManagedSseEnabled"] for queue in _queues(stack).values()} == {True}


@pytest.mark.parametrize(("queue", "receives"), [("IngestQueue", 5), ("WriteQueue", 10)])
def test_what_fails_again_and_again_ends_in_the_queues_own_dead_letters(
    stack: sam.Template, queue: str, receives: int
) -> None:
    redrive = _queues(stack)[queue]["RedrivePolicy"]
    assert redrive == {"deadLetterTargetArn": _arn_of(QUEUES[queue]), "maxReceiveCount": receives}


@pytest.mark.parametrize("queue", QUEUES)
def test_dead_letters_are_kept_14_days_and_only_for_their_queue(stack: sam.Template, queue: str) -> None:
    dead_letters = _queues(stack)[QUEUES[queue]]
    (source,) = dead_letters["RedriveAllowPolicy"]["sourceQueueArns"]
    assert dead_letters["MessageRetentionPeriod"] == 14 * 24 * 3600
    assert dead_letters["RedriveAllowPolicy"]["redrivePermission"] == "byQueue"
    assert source["Fn::Sub"].endswith(":" + _queues(stack)[queue]["QueueName"]["Fn::Sub"])


def test_a_payload_outlives_every_message_that_may_refer_to_it(stack: sam.Template) -> None:
    # A FIFO queue starts a message's retention anew when it becomes a dead letter, so both count.
    days = max(
        (_queues(stack)[queue]["MessageRetentionPeriod"] + _queues(stack)[dead]["MessageRetentionPeriod"])
        // 86400
        for queue, dead in QUEUES.items()
    )
    rules = _bucket(stack)["LifecycleConfiguration"]["Rules"]
    (kept,) = [rule["ExpirationInDays"] for rule in rules if rule.get("Prefix") == "memory/payloads/"]
    assert kept > days


def test_nothing_but_payloads_expires_by_itself(stack: sam.Template) -> None:
    rules = _bucket(stack)["LifecycleConfiguration"]["Rules"]
    assert {rule.get("Prefix") for rule in rules if "ExpirationInDays" in rule} == {"memory/payloads/"}


def test_an_invisible_message_stays_invisible_for_six_times_the_functions_timeout(
    stack: sam.Template,
) -> None:
    for mapping in _mappings(stack):
        queue = _queues(stack)[mapping["EventSourceArn"]["Fn::GetAtt"][0]]
        timeout = _function(stack, mapping["FunctionName"]["Ref"])["Timeout"]
        assert queue["VisibilityTimeout"] >= 6 * timeout


@pytest.mark.parametrize(
    ("queue", "function", "size"),
    [("IngestQueue", "ExtractFunction", 1), ("WriteQueue", "WriteFunction", 10)],
)
def test_a_batch_reports_its_failures_one_by_one(
    stack: sam.Template, queue: str, function: str, size: int
) -> None:
    (mapping,) = [it for it in _mappings(stack) if it["EventSourceArn"] == _arn_of(queue)]
    assert mapping["FunctionName"] == {"Ref": function}
    assert mapping["BatchSize"] == size
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"]["MaximumConcurrency"]["Ref"].startswith("Max")


def test_no_mapping_waits_for_a_batch_to_fill(stack: sam.Template) -> None:
    # FIFO queues do not support a batching window, and neither SAM nor cfn-lint says so.
    assert len(_mappings(stack)) == len(QUEUES)
    assert not [it for it in _mappings(stack) if "MaximumBatchingWindowInSeconds" in it]


# ---- permissions


def test_no_permission_is_for_every_action_or_every_resource(stack: sam.Template) -> None:
    for name in FUNCTIONS:
        for statement in _allowed(stack, name):
            actions, resources = _listed(statement["Action"]), _listed(statement["Resource"])
            assert not [action for action in actions if "*" in action], (name, actions)
            assert "*" not in resources, (name, statement)


def test_every_function_has_a_role_of_its_own_and_no_managed_policy(stack: sam.Template) -> None:
    roles = sam.of_type(stack, "AWS::IAM::Role")
    assert (
        len({_function(stack, name)["Role"]["Fn::GetAtt"][0] for name in FUNCTIONS})
        == len(FUNCTIONS)
        == len(roles)
    )
    assert not [name for name, role in roles.items() if "ManagedPolicyArns" in role]


def test_only_write_changes_or_deletes_a_store(stack: sam.Template) -> None:
    stores = ("memory/vectordb/", "memory/graphs/")
    for name in FUNCTIONS:
        changing = _reached(stack, name, "s3:PutObject") | _reached(stack, name, "s3:DeleteObject")
        assert any(it.startswith(stores) for it in changing) == (name == "WriteFunction")


def test_search_reads_and_changes_nothing(stack: sam.Template) -> None:
    actions = {action for it in _allowed(stack, "SearchFunction") for action in _listed(it["Action"])}
    reading = {"s3:GetObject", "s3:ListBucket", "secretsmanager:GetSecretValue"}
    assert actions <= reading | {"logs:CreateLogStream", "logs:PutLogEvents"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_may_read_it_may_also_find_missing(stack: sam.Template, name: str) -> None:
    # Without s3:ListBucket on its prefix, a key that is not there reads as 403 instead of 404.
    (listing,) = [it for it in _allowed(stack, name) if it["Action"] == "s3:ListBucket"]
    assert listing["Resource"] == _arn_of("Bucket")
    assert set(listing["Condition"]["StringLike"]["s3:prefix"]) == _reached(stack, name, "s3:GetObject")


@pytest.mark.parametrize(
    ("name", "queue"), [("ExtractFunction", "IngestQueue"), ("WriteFunction", "WriteQueue")]
)
def test_a_consumer_may_dead_letter_what_can_never_succeed(
    stack: sam.Template, name: str, queue: str
) -> None:
    (statement,) = [it for it in _allowed(stack, name) if it["Resource"] == _arn_of(QUEUES[queue])]
    assert set(statement["Action"]) == {"sqs:SendMessage", "sqs:GetQueueUrl"}


def test_bedrock_agents_of_this_account_only_may_call_search(stack: sam.Template) -> None:
    (permission,) = sam.of_type(stack, "AWS::Lambda::Permission").values()
    assert permission["FunctionName"] == {"Ref": "SearchFunction"}
    assert permission["Principal"] == "bedrock.amazonaws.com"
    assert permission["SourceAccount"] == {"Ref": "AWS::AccountId"}


# ---- the bucket


def test_the_bucket_is_private_encrypted_and_outlives_the_stack(stack: sam.Template) -> None:
    bucket = _bucket(stack)
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert stack["Resources"]["Bucket"]["DeletionPolicy"] == "Retain"
    assert stack["Resources"]["Bucket"]["UpdateReplacePolicy"] == "Retain"


def test_the_bucket_keeps_no_old_versions_that_erasure_would_miss(stack: sam.Template) -> None:
    assert "VersioningConfiguration" not in _bucket(stack)
    assert "ObjectLockEnabled" not in _bucket(stack)


def test_bucket_and_queues_refuse_plain_http(stack: sam.Template) -> None:
    policies = {**sam.of_type(stack, "AWS::S3::BucketPolicy"), **sam.of_type(stack, "AWS::SQS::QueuePolicy")}
    guarded = [
        it["Ref"]
        for policy in policies.values()
        for it in _listed(policy.get("Queues", policy.get("Bucket")))
    ]
    assert sorted(guarded) == sorted(["Bucket", *QUEUES, *QUEUES.values()])
    for policy in policies.values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


# ---- alarms, outputs


def test_someone_is_told_of_dead_letters_of_old_messages_and_of_crashes(stack: sam.Template) -> None:
    watched = {
        (alarm["MetricName"], json.dumps(alarm["Dimensions"][0]["Value"]).split('"')[3])
        for alarm in sam.of_type(stack, "AWS::CloudWatch::Alarm").values()
    }
    assert watched == {
        *(("ApproximateNumberOfMessagesVisible", dead) for dead in QUEUES.values()),
        *(("ApproximateAgeOfOldestMessage", queue) for queue in QUEUES),
        *(("Errors", function) for function in FUNCTIONS),
    }


def test_a_single_dead_letter_is_an_alarm(stack: sam.Template) -> None:
    alarms = sam.of_type(stack, "AWS::CloudWatch::Alarm").values()
    dead = [it for it in alarms if it["MetricName"] == "ApproximateNumberOfMessagesVisible"]
    assert {(it["Threshold"], it["ComparisonOperator"]) for it in dead} == {(0, "GreaterThanThreshold")}


def test_outputs_name_the_bucket_the_queues_and_the_functions(stack: sam.Template) -> None:
    queues = {f"{queue}{what}" for queue in _queues(stack) for what in ("Url", "Arn")}
    functions = {f"{name}{what}" for name in FUNCTIONS for what in ("Name", "Arn")}
    assert (
        stack["Outputs"].keys() == {"BucketName", "StoreUri", "TryIngest", "TrySearch"} | queues | functions
    )


# ---- the translator itself


def test_the_lint_would_notice_what_only_the_expansion_shows(source: sam.Template) -> None:
    stack = sam.translate(source)
    assert [
        it["Type"] for it in stack["Resources"].values() if it["Type"].startswith("AWS::Serverless::")
    ] == []
    assert "Transform" not in stack
    assert all(
        it["Properties"]["Code"]["ImageUri"] == sam.PLACEHOLDER_IMAGE for it in sam.functions(stack).values()
    )
    assert "Metadata" in source["Resources"]["IngestFunction"], "translate() left its argument alone"


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


def _role(stack: sam.Template, name: str) -> Properties:
    return sam.of_type(stack, "AWS::IAM::Role")[_function(stack, name)["Role"]["Fn::GetAtt"][0]]


def _allowed(stack: sam.Template, name: str) -> Iterator[Properties]:
    """Every statement of the function's role, those under a condition included."""
    for policy in _role(stack, name)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            statement = statement["Fn::If"][1] if "Fn::If" in statement else statement
            assert statement["Effect"] == "Allow"
            yield statement


def _reached(stack: sam.Template, name: str, action: str) -> set[str]:
    """The keys of the bucket, as patterns, that the function may do this to."""
    granted = [it for it in _allowed(stack, name) if action in _listed(it["Action"])]
    return {
        it["Fn::Sub"].removeprefix("${Bucket.Arn}/") for grant in granted for it in _listed(grant["Resource"])
    }


def _arn_of(name: str) -> Json:
    return {"Fn::GetAtt": [name, "Arn"]}


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
