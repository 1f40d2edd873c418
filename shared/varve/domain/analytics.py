"""The tables of analytics: what `varve sql` reads and `varve publish` writes.

A row belongs to one agent. Rows are derived from what the agent's stores hold, so a row
goes when its source does. No table has vectors.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SCHEMA_VERSION = 2
"""Changes with the tables' columns or their meaning, so that all is published again."""
OWNER_COLUMNS = ("workspace", "agent", "month")
"""The columns that every table has, and that a published file's folders tell."""

Row = tuple[Any, ...]
"""The values of a table's own columns, in their order; times are aware, in UTC."""


class ColumnType(StrEnum):
    """The type of a column's values; any of them may be null."""

    TEXT = "text"
    TEXTS = "list of texts"
    TIME = "time"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column, and what its values mean in a sentence."""

    name: str
    type: ColumnType
    meaning: str


@dataclass(frozen=True, slots=True)
class AnalyticsTable:
    """A table's name, its own columns, and the column whose month its rows belong to.

    `time` names a time, whose month is taken in UTC, or a text that begins with a month.
    `areas` are the areas of the store that the rows are read from.
    """

    name: str
    meaning: str
    time: str
    columns: tuple[TableColumn, ...]
    areas: tuple[str, ...] = ("vectordb",)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the table's own columns."""
        return tuple(column.name for column in self.columns)


_TEXT = ColumnType.TEXT
_TEXTS = ColumnType.TEXTS
_TIME = ColumnType.TIME
_INTEGER = ColumnType.INTEGER
_NUMBER = ColumnType.NUMBER
_FLAG = ColumnType.FLAG

_ID = TableColumn("id", _TEXT, "Id, unique within the agent.")
_CONVERSATION = TableColumn(
    "conversation_id", _TEXT, "Conversation it comes from."
)
_USER = TableColumn(
    "user_id", _TEXT, "User it is from or about; null: none is named."
)
_PERIOD = TableColumn(
    "period", _TEXT, "Period it is stored in, such as `2026-03-02`."
)
_GRAIN = TableColumn(
    "grain", _TEXT, "Grain of the store: `working`, `daily` …"
)
_EVENT = TableColumn("event_time", _TIME, "When it happened.")
_CREATED = TableColumn("created_at", _TIME, "When memory learnt it.")
_CURRENT = TableColumn(
    "current",
    _FLAG,
    "False: a correction or a model's link ended it, or all triples it states have ended.",
)
_IMPORTANCE = TableColumn("importance", _NUMBER, "Importance, 0 to 1.")
_CONFIDENCE = TableColumn("confidence", _NUMBER, "Confidence, 0 to 1.")
_MESSAGES = TableColumn("message_ids", _TEXTS, "Messages that state it.")
_TOLD = (
    _ID,
    _CONVERSATION,
    _USER,
    _PERIOD,
    _GRAIN,
    _EVENT,
    _CREATED,
)
"""The columns that the tables of turns and facts begin with."""

_TABLES = (
    AnalyticsTable(
        "turns",
        "The words as said, a passage a row.",
        "event_time",
        (
            *_TOLD,
            TableColumn("speaker", _TEXT, "Name of the speaker."),
            TableColumn(
                "content", _TEXT, "The words, without the speaker's name."
            ),
            _CURRENT,
            TableColumn(
                "position", _INTEGER, "Place in the conversation, from 0."
            ),
            _MESSAGES,
        ),
        areas=("vectordb", "graphs"),
    ),
    AnalyticsTable(
        "facts",
        "Statements drawn from the words.",
        "event_time",
        (
            *_TOLD,
            TableColumn("about", _TEXT, "Person or thing that it is about."),
            TableColumn("content", _TEXT, "The statement."),
            _CURRENT,
            _IMPORTANCE,
            _CONFIDENCE,
            _MESSAGES,
        ),
        areas=("vectordb", "graphs"),
    ),
    AnalyticsTable(
        "summaries",
        "Summaries of periods, of one user each.",
        "event_time",
        (
            _ID,
            _USER,
            _PERIOD,
            _GRAIN,
            _EVENT,
            _CREATED,
            TableColumn("first_day", _TEXT, "First local day of its sources."),
            TableColumn("last_day", _TEXT, "Last local day of its sources."),
            TableColumn("content", _TEXT, "The summary."),
            TableColumn("people", _TEXTS, "People it names."),
            TableColumn("topics", _TEXTS, "Topics it names."),
            TableColumn(
                "open_questions", _TEXTS, "Questions that were left open."
            ),
            TableColumn("source_ids", _TEXTS, "Records that it is made of."),
            _IMPORTANCE,
        ),
    ),
    AnalyticsTable(
        "triples",
        "The graph: what held about whom, and when.",
        "valid_at",
        (
            _ID,
            TableColumn("subject", _TEXT, "Entity that the triple is about."),
            TableColumn("predicate", _TEXT, "Predicate, such as `lives_in`."),
            TableColumn("object", _TEXT, "Value."),
            TableColumn("valid_at", _TIME, "When it began to hold."),
            TableColumn(
                "invalid_at", _TIME, "When it ceased to hold; null: it holds."
            ),
            _CREATED,
            TableColumn("expired_at", _TIME, "When memory learnt of its end."),
            TableColumn(
                "current",
                _FLAG,
                "False: it has an end, or its user asked to forget it.",
            ),
            _CONFIDENCE,
            TableColumn(
                "conversation_id", _TEXT, "Conversation that states it last."
            ),
            TableColumn(
                "user_id", _TEXT, "User of that conversation's statement."
            ),
            TableColumn("message_ids", _TEXTS, "Messages of that statement."),
        ),
        areas=("graphs",),
    ),
    AnalyticsTable(
        "episodes",
        "Spans of conversations with their outcomes.",
        "event_time",
        (
            _ID,
            _CONVERSATION,
            _USER,
            _EVENT,
            TableColumn("ended_at", _TIME, "When its last message was said."),
            _CREATED,
            TableColumn("content", _TEXT, "The situation."),
            TableColumn("state", _TEXT, "State that the conversation named."),
            TableColumn("subject", _TEXT, "Subject, if known."),
            TableColumn("task_type", _TEXT, "Type of the task, if known."),
            TableColumn("outcome", _TEXT, "Last outcome, such as `SUCCESS`."),
            TableColumn(
                "reports", _INTEGER, "How many outcomes were reported."
            ),
            TableColumn("decision", _TEXT, "Action that was taken."),
            TableColumn("correction", _TEXT, "Last correction."),
            TableColumn("tags", _TEXTS, "Tags."),
            _IMPORTANCE,
            TableColumn("message_ids", _TEXTS, "Messages of the span."),
        ),
    ),
    AnalyticsTable(
        "lessons",
        "Rules drawn from episodes, or written by a person.",
        "created_at",
        (
            _ID,
            TableColumn("content", _TEXT, "The claim."),
            TableColumn("condition", _TEXT, "When it applies."),
            TableColumn("action", _TEXT, "Action to take."),
            TableColumn("state", _TEXT, "State that it applies in."),
            TableColumn(
                "standing", _TEXT, "`active`, `retired` or `quarantined`."
            ),
            TableColumn("current", _FLAG, "Whether it is active."),
            _CONFIDENCE,
            TableColumn("supporting", _INTEGER, "Evidence for it, in rows."),
            TableColumn(
                "contradicting", _INTEGER, "Evidence against it, in rows."
            ),
            TableColumn("version", _INTEGER, "Number of the version, from 1."),
            TableColumn("tags", _TEXTS, "Tags."),
            TableColumn(
                "created_at", _TIME, "When memory learnt its first version."
            ),
            TableColumn("changed_at", _TIME, "Time of its last version."),
        ),
    ),
    AnalyticsTable(
        "notes",
        "Notes at paths, a kept version a row.",
        "event_time",
        (
            TableColumn(
                "id", _TEXT, "Id of the note, which its versions share."
            ),
            TableColumn("path", _TEXT, "Path, such as `projects/lisbon.md`."),
            TableColumn(
                "user_id", _TEXT, "User whose note it is; null: the agent's."
            ),
            TableColumn("event_time", _TIME, "When the version was written."),
            TableColumn("created_at", _TIME, "When the note was created."),
            TableColumn("content", _TEXT, "The version's text."),
            TableColumn("version_name", _TEXT, "Name of the version."),
            TableColumn("version", _INTEGER, "Number of the version, from 1."),
            TableColumn("current", _FLAG, "Whether it is the last version."),
        ),
        areas=("notes",),
    ),
    AnalyticsTable(
        "costs",
        "What each verb used on each day, as `varve costs` tells it.",
        "day",
        (
            TableColumn("day", _TEXT, "Day in the workspace's time zone."),
            TableColumn("verb", _TEXT, "Verb that used it, such as `search`."),
            TableColumn("gets", _INTEGER, "Requests that read an object."),
            TableColumn("puts", _INTEGER, "Requests that wrote an object."),
            TableColumn("lists", _INTEGER, "Requests that listed objects."),
            TableColumn("deletes", _INTEGER, "Requests that deleted objects."),
            TableColumn("bytes_read", _INTEGER, "Bytes read from the store."),
            TableColumn(
                "bytes_written", _INTEGER, "Bytes written to the store."
            ),
            TableColumn("model_calls", _INTEGER, "Calls of models."),
            TableColumn("tokens_in", _INTEGER, "Tokens that models read."),
            TableColumn("tokens_out", _INTEGER, "Tokens that models wrote."),
            TableColumn(
                "embedding_tokens", _INTEGER, "Tokens that were embedded."
            ),
            TableColumn(
                "dollars", _NUMBER, "Estimated dollars at list prices."
            ),
            TableColumn(
                "unpriced", _TEXTS, "Models whose price is not known."
            ),
        ),
        areas=("costs",),
    ),
    AnalyticsTable(
        "searches",
        "What was asked, if `analytics.searches` is `hash` or `words`.",
        "event_time",
        (
            _ID,
            TableColumn(
                "user_id", _TEXT, "User whom the search was pinned to."
            ),
            TableColumn("event_time", _TIME, "When it was asked."),
            TableColumn(
                "question",
                _TEXT,
                "Hash: alike questions of an agent share it.",
            ),
            TableColumn(
                "words", _TEXT, "The question; null: only hashes are kept."
            ),
            TableColumn(
                "results", _INTEGER, "How many results the answer has."
            ),
            TableColumn(
                "best_score", _NUMBER, "Score of the first; null: none."
            ),
            TableColumn("empty", _FLAG, "Whether nothing was found."),
            TableColumn(
                "fallback", _FLAG, "Whether finer grains had to answer."
            ),
        ),
        areas=("searches",),
    ),
)

TABLES: Mapping[str, AnalyticsTable] = {table.name: table for table in _TABLES}
"""The tables by name."""


def find_named_tables(sql: str) -> list[AnalyticsTable]:
    """Return the tables whose names stand anywhere in a query.

    A name in a text or a comment counts too: such a table is loaded for nothing.
    """
    words = set(re.findall(r"\w+", sql.casefold()))
    return [table for name, table in TABLES.items() if name in words]
