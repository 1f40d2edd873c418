"""`varve ingest`."""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator

from varve.api.ingested import Ingested
from varve.api.memory import Memory
from varve.cli.inputs import read_conversations
from varve.cli.opening import choose_scope, open_memory
from varve.cli.output import format_count, print_result, say
from varve.domain.conversation import Conversation
from varve.domain.identity import Scope

BATCH_SIZE = 20
"""Conversations of one call of `Memory.ingest`, which can share commits."""

Counts = dict[str, int]
Totals = dict[str, Counts | None]


def add_ingest(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve ingest`."""
    command.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="file with a JSON object, a JSON array or JSON Lines; - is standard input",
    )


def ingest(options: argparse.Namespace) -> None:
    """Validate every file, then store the conversations agent by agent.

    Raises Rejected: names option, or file and field; nothing was stored.
    """

    def put_in_scope(conversation: Conversation) -> Conversation:
        return conversation.in_scope(choose_scope(options, conversation))

    choose_scope(options)  # an invalid option is not the fault of a file
    conversations = read_conversations(options.files, put_in_scope)
    totals: Totals = {}
    for scope, group in group_by_scope(conversations).items():
        for ingested in ingest_in_batches(open_memory(options, scope), group):
            _add_counts(totals, ingested.to_dict())
    print_result(options, totals, [_format_totals(totals)])


def group_by_scope(
    conversations: Iterable[Conversation],
) -> dict[Scope, list[Conversation]]:
    """Return the conversations of each agent, in the order given."""
    by_scope: defaultdict[Scope, list[Conversation]] = defaultdict(list)
    for conversation in conversations:
        by_scope[conversation.scope].append(conversation)
    return by_scope


def ingest_in_batches(
    memory: Memory, conversations: list[Conversation]
) -> Iterator[Ingested]:
    """Store the conversations batch by batch; print progress after each batch."""
    total = format_count(len(conversations), "conversation")
    for start in range(0, len(conversations), BATCH_SIZE):
        batch = conversations[start : start + BATCH_SIZE]
        yield memory.ingest(batch)
        say(f"{memory.scope}: stored {start + len(batch)} of {total}")


def _add_counts(totals: Totals, ingested: Totals) -> None:
    for part, counts in ingested.items():
        if counts is None:
            totals.setdefault(part, None)
            continue
        sums = totals.setdefault(part, {})
        if sums is None:
            continue
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count


def _format_totals(totals: Totals) -> str:
    accepted = totals["accepted"] or {}
    stored = totals["stored"]
    conversations = format_count(accepted["conversations"], "conversation")
    messages = format_count(accepted["messages"], "message")
    line = f"accepted {conversations}, {messages}"
    if stored is None:
        return f"{line}; sent to the ingest queue"
    new = [
        format_count(stored["messages"], "message"),
        format_count(stored["turns"], "turn"),
        format_count(stored["facts"], "fact"),
        format_count(stored["tripleOperations"], "triple operation"),
    ]
    line += f"; new: {', '.join(new)}"
    if stored["ignored"]:
        ignored = format_count(stored["ignored"], "message")
        line += f"; ignored {ignored} stored earlier with different text"
    return line
