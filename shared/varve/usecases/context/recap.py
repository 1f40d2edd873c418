"""The last conversation: its last words, and a recap of its decisions, dates and outcomes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from varve.domain.block import RECAP_TAG, as_data
from varve.domain.calendar import SUMMARY_GRAINS, Grain, day_of
from varve.domain.context import ContextBlock
from varve.domain.errors import Misconfigured, Rejected, Retryable
from varve.domain.experience.config import RecapSource
from varve.domain.experience.running import (
    MAX_TOKENS,
    SENTENCE,
    RunningSummary,
)
from varve.domain.record import MemoryType, Record
from varve.domain.search.query import Filter
from varve.domain.statements.texts.particulars import read_particulars
from varve.domain.text import estimated_tokens
from varve.prompts.experience import RECAP, RecapReply, recap_text
from varve.usecases.forget.asked_to_forget import hide_forgotten
from varve.usecases.operate.budget import is_spent
from varve.usecases.session import Session

LAST_TURNS = 6
"""How many turns tell what a conversation was about when it ended."""
MAX_TURNS = 200
"""How many of a conversation's last turns the recap reads."""
MAX_BLOCK_SHARE = 0.5
"""The largest share of the block's budget that the recap may take."""
_ENTRY = re.compile(r"- \[\S+ (?P<id>\S+)\] (?:[^:]{1,80}: )?(?P<words>.*)")


@dataclass(frozen=True, slots=True)
class LastConversation:
    """Its last words to ask memory about, and its recap; both may be empty."""

    words: str = ""
    recap: str = ""


def read_last_conversation(
    session: Session, user_id: str | None, conversation_id: str | None
) -> LastConversation:
    """Return the last conversation, of a user or of that id if one is given.

    Once its words have expired, they are those of the newest summary of a finer grain, and
    there is no recap. Raises Retryable.
    """
    where = Filter(user_id=user_id, conversation_id=conversation_id)
    found = session.records.browse(
        session.scope,
        Grain.WORKING,
        where=replace(where, memory_types=(MemoryType.TURN.value,)),
        limit=MAX_TURNS,
    )
    if found:
        last = found[0].conversation_id
        told = hide_forgotten(session, found)
        turns = [one for one in told if one.conversation_id == last]
        turns.reverse()
        words = [turn.content for turn in reversed(told[:LAST_TURNS])]
        return LastConversation("\n".join(words), _recap(session, turns))
    for grain in SUMMARY_GRAINS:
        newest = session.records.browse(
            session.scope, grain, where=where, limit=1
        )
        if newest:
            told = hide_forgotten(session, newest)
            return LastConversation("".join(one.content for one in told))
    return LastConversation()


def with_recap(block: ContextBlock, recap: str) -> ContextBlock:
    """Return the block with the recap behind it, without entries that the recap has."""
    if not recap:
        return block
    told = _find_told(block, recap)
    lines = [
        line
        for line in block.text.splitlines()
        if _read_entry(line)[0] not in told
    ]
    ids = [id_ for id_ in block.ids if id_ not in told]
    shown = [*lines, recap] if ids else [recap]
    text = "\n".join(shown)
    also_in = {id_: block.also_in[id_] for id_ in ids if id_ in block.also_in}
    return block.model_copy(
        update={
            "text": text,
            "ids": ids,
            "also_in": also_in,
            "tokens": estimated_tokens(text),
            "empty": False,
            "reason": None,
        }
    )


def _find_told(block: ContextBlock, recap: str) -> set[str]:
    """Return the ids of the entries all of whose sentences the recap has."""
    told: set[str] = set()
    for line in block.text.splitlines():
        id_, words = _read_entry(line)
        sentences = SENTENCE.split(words)
        has_all = all(one in recap for one in sentences)
        if has_all and id_ in block.ids:
            told.add(id_)
    return told


def _read_entry(line: str) -> tuple[str, str]:
    """Return the id of a block's line and its words without the speaker; "" for no entry."""
    found = _ENTRY.fullmatch(line)
    return (found["id"], found["words"]) if found else ("", "")


def fit_recap(recap: str, budget: int) -> str:
    """Return a recap as a block of a prompt; empty if it takes too much of the budget."""
    if not recap:
        return ""
    lines = [as_data(line) for line in recap.splitlines()]
    block = "\n".join([f"<{RECAP_TAG}>", *lines, f"</{RECAP_TAG}>"])
    fits = estimated_tokens(block) <= MAX_BLOCK_SHARE * budget
    return block if fits else ""


def _recap(session: Session, turns: Sequence[Record]) -> str:
    """Return the turns in at most 200 tokens, by a model if the workspace wants one."""
    summary = RunningSummary()
    for turn in turns:
        day = day_of(turn.event_time, session.zone)
        speaker = turn.about or "user"
        is_agent = speaker.casefold() == "assistant"
        role = "assistant" if is_agent else "user"
        summary = summary.told(role, turn.words, f"{day} {speaker}")
    wanted = session.config.experience.recap
    if wanted is not RecapSource.MODEL or is_spent(session):
        return summary.text
    return _ask_model(session, turns, summary)


def _ask_model(
    session: Session, turns: Sequence[Record], summary: RunningSummary
) -> str:
    """Return a model's recap; the rules' if it is too long or lacks a figure or a date.

    A conversation's start does not wait for a model that fails.
    """
    llm = session.llm
    if llm is None:
        return summary.text
    said = [turn.content for turn in turns]
    asked = recap_text(summary.text, said)
    try:
        reply = llm.complete(RECAP, asked, RecapReply)
    except (Retryable, Rejected, Misconfigured):
        return summary.text
    recap = reply.recap.strip()
    is_short = 0 < estimated_tokens(recap) <= MAX_TOKENS
    if is_short and _keeps(recap, summary):
        return recap
    return summary.text


def _keeps(recap: str, summary: RunningSummary) -> bool:
    """Return whether a recap has the figures, dates and names of all that was decided."""
    told = read_particulars(recap)
    told_names = {word.stems for word in told.telling}
    for line in summary.decided:
        said = read_particulars(line)
        names = {word.stems for word in said.telling if word.named}
        figures = {*said.numbers, *said.dates}
        told_figures = {*told.numbers, *told.dates}
        if not names <= told_names or not figures <= told_figures:
            return False
    return True
