"""Every parser that faces the outside, as a function of bytes, each with inputs that it takes.

A parser answers with a value or with an error of ours; anything else it raises is a fault of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import duckdb

from tests.support.builders import (
    ACME,
    DIMENSIONS,
    MORNING,
    RecordingQueue,
    a_conversation,
    a_record,
    an_operation,
    embedded,
    raw_conversation,
    raw_message,
)
from tests.support.usecase_drivers import run_configure
from varve.adapters.graph import query_process as graph_query_process
from varve.adapters.graph.parquet import ParquetGraph, change
from varve.adapters.graph.table import GraphTable
from varve.adapters.in_memory import InMemoryGraph, InMemoryObjects
from varve.adapters.json_profiles import JsonProfiles, profile_path
from varve.adapters.lance_cache.files import UnknownFormat, needs_of
from varve.adapters.lance_cache.records import LanceRecords
from varve.adapters.models.openai_llm import OpenAILLM
from varve.adapters.objects.store import local_objects
from varve.domain.calendar import Grain, Period, iso
from varve.domain.context import parse_context_request
from varve.domain.conversation import parse_conversation
from varve.domain.current_profile import select_current_entries
from varve.domain.errors import Rejected, Retryable, VarveError
from varve.domain.extraction import Batch, Utterance
from varve.domain.identity import Identity, path_id, reference
from varve.domain.ledger import LedgerChanges, due_key, expiry_key, failed_key
from varve.domain.profile import ProfileEntry, profile_key, profile_value
from varve.domain.record import MemoryType
from varve.domain.retention import Limit
from varve.domain.search.query import parse_search_request
from varve.domain.summary import Source, SummaryTask
from varve.domain.workspace import parse_workspace_config
from varve.importers.files import open_source
from varve.importers.formats import find_format
from varve.importers.items import ImportOptions
from varve.messages.ingest import IngestMessage, read_ingest, send_ingest
from varve.messages.tool_calls import answer_tool_call
from varve.messages.work import (
    CleanAgent,
    SummarizePeriod,
    read_work,
    send_cleaning,
    send_work,
)
from varve.messages.write import (
    ExpirePeriods,
    WriteProfile,
    WriteRecords,
    WriteTriples,
    read_write,
    send_expiry,
    send_profile,
    send_records,
    send_triples,
)
from varve.ports.queues import Delivery, Letter
from varve.usecases.ingest.reading import ModelExtractor
from varve.usecases.ingest.taken_in import Said, TakenIn
from varve.usecases.ledger import Ledger
from varve.usecases.operate.dead_letters import describe_letter
from varve.usecases.summaries.condensing import ModelSummarizer
from varve.usecases.timeline import keep, messages_of_day

UTC_ZONE = ZoneInfo("UTC")
DAY = Period(Grain.DAILY, "2026-03-02")


@dataclass(frozen=True)
class Parser:
    """One of them; `inputs` are valid, and what the fuzzers change."""

    name: str
    read: Callable[[bytes], Any]
    inputs: tuple[bytes, ...]

    def try_out(self, data: bytes) -> bool:
        """Whether the bytes are taken. Raises whatever is not an error of ours."""
        try:
            self.read(data)
        except VarveError:
            return False
        return True


def _of_json(name: str, read: Callable[[Any], Any], *inputs: Any) -> Parser:
    """A parser of decoded JSON; bytes that are none are refused by whoever decodes it."""

    def decoded(data: bytes) -> Any:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Rejected("json", "is none") from error
        return read(value)

    return Parser(
        name, decoded, tuple(json.dumps(each).encode() for each in inputs)
    )


def _of_text(name: str, read: Callable[[str], Any], *inputs: str) -> Parser:
    """A parser of a text, in which bytes that are no UTF-8 become lone surrogates."""
    encoded = tuple(each.encode() for each in inputs)
    return Parser(
        name,
        lambda data: read(data.decode("utf-8", "surrogateescape")),
        encoded,
    )


def _stored(
    name: str, key: str, read: Callable[[InMemoryObjects], Any], *inputs: bytes
) -> Parser:
    """A reader of the object at a key."""

    def reading(data: bytes) -> Any:
        objects = InMemoryObjects()
        objects.put(key, data)
        return read(objects)

    return Parser(name, reading, inputs)


def _on_queue(
    name: str,
    read: Callable[..., Any],
    *send: Callable[[RecordingQueue], None],
) -> Parser:
    """A reader of deliveries, with what the senders send."""
    queue = RecordingQueue()
    for each in send:
        each(queue)

    def reading(data: bytes) -> Any:
        return read(
            Delivery("1", data.decode("utf-8", "surrogateescape"), "g")
        )

    return Parser(
        name, reading, tuple(delivery.body.encode() for delivery in queue.sent)
    )


CONVERSATION = raw_conversation(
    raw_message(
        "I moved to Lisbon.",
        id="m1",
        name="Dana",
        timestamp="2026-03-02T09:15:00Z",
    ),
    raw_message(
        [
            {"type": "text", "text": "olá"},
            {"type": "image_url", "image_url": {"url": "x"}},
        ]
    ),
    raw_message(
        None,
        "assistant",
        tool_calls=[{"id": "t", "function": {"name": "f", "arguments": "{}"}}],
    ),
    startedAt="2026-03-02T09:00:00+01:00",
)
ARGUMENTS = {
    "queryText": "where does Dana live?",
    "grain": "auto",
    "minimumDaysAgo": 0,
    "maximumDaysAgo": "30",
    "since": "2026-01-01",
    "until": "2026-12-31T00:00:00Z",
    "asOf": "2026-11-21",
    "maxResults": 5,
    "maxTokens": 100,
    "userId": "u-42",
    "conversationId": "c-1",
    "explain": True,
}
CONFIG = {
    "plan": "pro",
    "timezone": "Europe/Lisbon",
    "retention": {"working": "72 hours", "timeline": "1 year"},
    "prompts": {"extract": "Be brief.", "summarize": {"daily": "Short."}},
    "agents": {"support": {"extract": "x"}},
    "models": {
        "llm": "openai:m",
        "embedder": "openai:e:64",
        "reranker": "off",
        "entities": "offline",
        "baseUrl": "https://example.invalid/v1",
        "key": {"environment": "MY_API_KEY"},
    },
    "privacy": {"mode": "redact", "phone": "off", "regions": "PT,US"},
}
ENTRY = ProfileEntry(
    "u-42", "location", "São Tomé", MORNING, MORNING, "c-1", ("m1",), "Dana"
)
GATEWAY = {
    "bedrockAgentCoreToolName": "memory___search_memory",
    "bedrockAgentCoreTargetId": "T1",
}
BEDROCK = {
    "messageVersion": "1.0",
    "agent": {"id": "A1", "name": "support", "alias": "x", "version": "1"},
    "actionGroup": "memory",
    "function": "search_memory",
    "parameters": [{"name": "queryText", "type": "string", "value": "Dana"}],
    "sessionAttributes": {
        "workspaceId": "acme",
        "agentId": "support",
        "userId": "u-42",
    },
    "promptSessionAttributes": {},
}
OPENAPI = {
    **{
        name: value
        for name, value in BEDROCK.items()
        if name not in ("function", "parameters")
    },
    "apiPath": "/search",
    "httpMethod": "POST",
    "requestBody": {
        "content": {
            "application/json": {
                "properties": [
                    {"name": "maxResults", "type": "int", "value": "3"}
                ]
            }
        }
    },
}


CONTEXT = {
    "prompt": "Plan Dana's trip",
    "maxTokens": 100,
    "userId": "u-42",
    "documents": ["a", "b"],
}
DIRECT = {
    "workspaceId": "acme",
    "agentId": "support",
    "userId": "u-42",
    "arguments": ARGUMENTS,
}
LABELS = [
    (Grain.DAILY, "2026-11-21"),
    (Grain.WEEKLY, "2026-W47"),
    (Grain.QUARTERLY, "2026-Q4"),
]
CLAIM = json.dumps(
    {"type": "ingest", "payload": "payloads/acme/support/x.json"}
)
SETTINGS = (
    "plan=pro",
    "retention.daily=30 days",
    "models.key.environment=MY_API_KEY",
    "agents.a.extract=x",
)
QUERIES = (
    "select * from facts",
    "with a as (select id from facts) select count(*) from a where id like 'x%' group by all",
    "select * from read_parquet('/etc/passwd')",
    "select * from (values (1), (2)) as t(x) order by x limit 1; select 2",
)


def _object(value: Any) -> Mapping[str, Any]:
    """Arguments are an object, as each of the faces sees to."""
    if not isinstance(value, dict):
        raise Rejected("arguments", "must be an object")
    return value


def _tool(event: Any, custom: dict[str, Any] | None = None) -> Any:
    bound = {"T1": Identity(ACME)} if custom else {}
    return answer_tool_call(
        event,
        custom or {},
        bound,
        lambda call: {"of": str(parse_search_request(call.arguments))},
    )


def _headers(headers: Any) -> Any:
    return _tool(
        {},
        {
            **GATEWAY,
            "bedrockAgentCoreTargetId": "?",
            "bedrockAgentCorePropagatedHeaders": headers,
        },
    )


class Answering(OpenAILLM):
    """The model's client, whose model has but one answer."""

    def __init__(self, answer: str) -> None:
        super().__init__("test", api_key="none", base_url="http://127.0.0.1:9")
        self._answer = answer

    def _ask(self, messages: Any, shape: Any) -> str:
        return self._answer


BATCH = Batch(
    ACME,
    "c-1",
    (
        Utterance("m1", "user", "Dana", "I moved to Lisbon.", MORNING, "u-42"),
        Utterance(
            "m2",
            "user",
            "Dana",
            "My sister is Hannah.",
            MORNING + timedelta(minutes=1),
            "u-42",
        ),
    ),
    (),
    UTC_ZONE,
    MORNING,
)
REPLY = {
    "facts": [
        {
            "content": "Dana lives in Lisbon.",
            "about": "Dana",
            "event_time": "2026-03-02",
            "importance": 0.7,
            "confidence": 1,
            "message_ids": ["m1"],
        }
    ],
    "triples": [
        {
            "op": "UPDATE",
            "subject": "Dana",
            "predicate": "lives in",
            "object": "Lisbon",
            "event_time": "2026-03",
            "confidence": 0.9,
            "message_ids": ["m1"],
            "replaces": None,
        }
    ],
}
SUMMARY = {
    "summary": "Dana moved.",
    "people": ["Dana"],
    "topics": ["home"],
    "open_questions": [],
}
SOURCE = Source(
    "fact-1", MemoryType.FACT, "f", "Dana lives in Lisbon.", MORNING, 0.5
)
TASK = SummaryTask(ACME, DAY, UTC_ZONE, (SOURCE,), 200)


def _read_reply(answer: str) -> Any:
    return ModelExtractor(Answering(answer)).extract(BATCH)


def _read_summary(answer: str) -> Any:
    return ModelSummarizer(Answering(answer), InMemoryObjects()).summarize(
        TASK
    )


def _triples() -> bytes:
    table = GraphTable()
    change(table, [an_operation(), an_operation("Porto", op="UPDATE", day=3)])
    return table.encode()


def _timeline() -> tuple[str, bytes]:
    objects = InMemoryObjects()
    messages = a_conversation("I moved.", "Why?").messages
    said = [
        Said(message, MORNING + timedelta(minutes=n), n)
        for n, message in enumerate(messages)
    ]
    keep(said, ACME, "c-1", UTC_ZONE, objects=objects)
    (info,) = objects.list("timeline")
    stored = objects.get(info.key)
    assert stored
    return info.key, stored.data


def _taken_in() -> tuple[str, bytes]:
    objects = InMemoryObjects()
    (message,) = a_conversation("I moved.").messages
    TakenIn(ACME, "c-1", objects).add([Said(message, MORNING, 0)])
    (info,) = objects.list("ledger")
    stored = objects.get(info.key)
    assert stored
    return info.key, stored.data


def _profile() -> bytes:
    objects = InMemoryObjects()
    JsonProfiles(objects).apply(ACME, "u-42", [ENTRY])
    stored = objects.get(profile_path(ACME, "u-42"))
    assert stored
    return stored.data


def _failure() -> bytes:
    objects = InMemoryObjects()
    Ledger(objects).fail(ACME, DAY, "no answer", MORNING)
    stored = objects.get(failed_key(ACME, DAY))
    assert stored
    return stored.data


def _sql(sql: str) -> None:
    """The guard within the query's process, which gets nothing but Unicode; it runs nothing."""
    if not sql.isascii() and sql.encode(errors="replace").decode() != sql:
        raise Rejected("sql", "is not valid Unicode")
    with closing(
        duckdb.connect(config=graph_query_process.DUCKDB_CONFIG)
    ) as connection:
        connection.execute("create table facts (id varchar, label varchar)")
        graph_query_process.lock(connection)
        try:
            graph_query_process.check(connection, sql, False)
        except (graph_query_process.QueryRefused, duckdb.Error) as error:
            raise Rejected("sql", "may not run") from error


def _configure(text: str) -> None:
    name, _, value = text.partition("=")
    objects = InMemoryObjects()
    run_configure("acme", name, value, MORNING, objects=objects)


def _file(data: bytes) -> Any:
    """A file of conversations, as the command line reads it."""
    with NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        with open_source(file.name) as source:
            found = find_format("auto", source)
            return list(found.read(source, ImportOptions("file")))


def _manifest(data: bytes) -> Any:
    try:
        return needs_of(data)
    except UnknownFormat as error:
        raise Retryable("store: a manifest of another form") from error


def _shown_letter(data: bytes) -> Any:
    body = data.decode("utf-8", "replace")
    return describe_letter(
        "write", Letter("1", body, "g", {}, 1, MORNING), str
    )


def parsers() -> list[Parser]:
    """All of them."""
    return [*_inputs(), *_queues(), *_replies(), *_objects()]


def _inputs() -> list[Parser]:
    """What callers write."""
    conversation = json.dumps(CONVERSATION).encode()
    return [
        _of_json("conversation", parse_conversation, CONVERSATION),
        Parser(
            "file of conversations",
            _file,
            (conversation, b"[" + conversation + b"]", conversation * 2),
        ),
        _of_json(
            "search arguments",
            lambda v: parse_search_request(_object(v)),
            ARGUMENTS,
        ),
        _of_json(
            "context arguments",
            lambda v: parse_context_request(_object(v)),
            CONTEXT,
        ),
        _of_json(
            "direct call",
            _tool,
            {"workspaceId": "acme", "agentId": "support", **ARGUMENTS},
            DIRECT,
        ),
        _of_json(
            "gateway call", lambda event: _tool(event, GATEWAY), ARGUMENTS
        ),
        _of_json(
            "gateway headers",
            _headers,
            {"x-varve-workspace": "acme", "x-varve-agent": "support"},
        ),
        _of_json("Bedrock call", _tool, BEDROCK, OPENAPI),
        _of_text(
            "path id", lambda text: path_id(text, "id"), "acme", "a.b_c-1"
        ),
        _of_text(
            "reference",
            lambda text: reference(text, "id"),
            "auth0|42",
            "dana@example.org",
        ),
        _of_text(
            "period",
            lambda t: Period.parse(t).days,
            "2026",
            "2026-W47",
            "2026-Q4",
            "2026-11-21",
        ),
        *(
            _of_text(
                f"{g} period", lambda t, g=g: Period.parse(t, g).days, label
            )
            for g, label in LABELS
        ),
        _of_text("retention", Limit.parse, "30 days", "1 year"),
        _of_text("profile key", profile_key, "location"),
        _of_text("profile value", profile_value, "São Tomé"),
        _of_text("SQL", _sql, *QUERIES),
        _of_text("setting", _configure, *SETTINGS),
    ]


def _queues() -> list[Parser]:
    """What travels between the functions."""
    objects, scope = InMemoryObjects(), ACME
    settles = LedgerChanges(
        (due_key(scope, DAY, "t"),), (expiry_key(MORNING, scope, Grain.DAILY),)
    )
    records = WriteRecords(
        scope,
        Grain.WORKING,
        f"words:{DIMENSIONS}",
        tuple(embedded(a_record())),
        settles,
    )
    operations = (
        an_operation(),
        an_operation("Porto", op="UPDATE", replaces="Lisbon"),
    )
    writes = [
        lambda queue: send_records(records, queue=queue, objects=objects),
        lambda queue: send_triples(
            WriteTriples(scope, operations), queue=queue, objects=objects
        ),
        lambda queue: send_profile(
            WriteProfile(scope, "u-42", (ENTRY,)), queue=queue, objects=objects
        ),
        lambda queue: send_expiry(
            ExpirePeriods(scope, Grain.DAILY, ("2026-03-02",), settles),
            queue=queue,
            objects=objects,
        ),
    ]
    told = IngestMessage(
        parse_conversation(CONVERSATION),
        tuple(a_conversation("hi").messages),
        MORNING,
    )
    work = SummarizePeriod(scope, DAY, MORNING)
    clean = CleanAgent(
        scope, (expiry_key(MORNING, scope, Grain.DAILY),), MORNING
    )
    return [
        _on_queue(
            "write message",
            lambda d: _apply(read_write(d, objects=objects)),
            *writes,
        ),
        _on_queue(
            "ingest message",
            lambda d: read_ingest(d, objects=objects),
            lambda queue: send_ingest(told, queue=queue, objects=objects),
        ),
        _on_queue(
            "work message",
            read_work,
            lambda queue: send_work(work, ["m"], queue=queue),
            lambda queue: send_cleaning(clean, queue=queue),
        ),
        _stored(
            "payload",
            "payloads/acme/support/x.json",
            lambda o: read_ingest(Delivery("1", CLAIM, "g"), objects=o),
            json.dumps(
                {
                    "type": "ingest",
                    "conversation": CONVERSATION,
                    "context": [],
                    "receivedAt": iso(MORNING),
                }
            ).encode(),
        ),
        Parser(
            "dead letter",
            _shown_letter,
            (b'{"type": "records", "records": []}',),
        ),
    ]


def _apply(message: Any) -> Any:
    """What the writer does with a message that could be read, over plain memory."""
    if isinstance(message, WriteTriples):
        InMemoryGraph().apply(message.scope, message.operations)
    if isinstance(message, WriteProfile):
        JsonProfiles(InMemoryObjects()).apply(
            message.scope, message.user_id, message.entries
        )
    if isinstance(message, WriteRecords):
        with TemporaryDirectory() as root:
            records = LanceRecords(root, local_objects(Path(root)))
            records.upsert(
                message.scope, message.grain, message.records, message.model
            )
    return message


def _replies() -> list[Parser]:
    """What models answer."""
    return [
        _of_text(
            "extraction",
            _read_reply,
            json.dumps(REPLY),
            f"Sure!\n```json\n{json.dumps(REPLY)}\n```",
        ),
        _of_text("summary", _read_summary, json.dumps(SUMMARY)),
    ]


def _manifest_of_a_table() -> bytes:
    with TemporaryDirectory() as root:
        records = LanceRecords(root, local_objects(Path(root)))
        records.upsert(
            ACME, Grain.WORKING, embedded(a_record()), f"words:{DIMENSIONS}"
        )
        return max(
            Path(root).rglob("*.manifest"),
            key=lambda path: path.stat().st_size,
        ).read_bytes()


def _objects() -> list[Parser]:
    """What lies in the store."""
    line_key, line = _timeline()
    day, taken_key = line_key.split("/")[3], _taken_in()[0]
    (message,) = a_conversation("I moved.").messages
    facts = f"graphs/{ACME}/facts.parquet"
    return [
        Parser(
            "config.json",
            parse_workspace_config,
            (json.dumps(CONFIG).encode(), b"{}"),
        ),
        _stored(
            "timeline",
            line_key,
            lambda o: list(messages_of_day(day, ACME, objects=o)),
            line,
        ),
        _stored(
            "taken in",
            taken_key,
            lambda o: TakenIn(ACME, "c-1", o).differs(message),
            _taken_in()[1],
        ),
        _stored(
            "failure",
            failed_key(ACME, DAY),
            lambda o: Ledger(o).failure(ACME, DAY),
            _failure(),
        ),
        _stored(
            "failures",
            failed_key(ACME, DAY),
            lambda o: Ledger(o).failures(DAY),
            _failure(),
        ),
        _stored(
            "profile",
            profile_path(ACME, "u-42"),
            lambda o: select_current_entries(
                JsonProfiles(o).entries(ACME, "u-42"), MORNING
            ),
            _profile(),
        ),
        _stored(
            "facts.parquet",
            facts,
            lambda o: ParquetGraph(o).triples(ACME),
            _triples(),
        ),
        Parser("manifest", _manifest, (_manifest_of_a_table(),)),
    ]
