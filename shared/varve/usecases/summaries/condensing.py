"""Two summarizers: one uses a chat model, one selects sentences of the sources."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.extractive import candidates, chosen, lines_of, shortened
from varve.domain.identity import digest
from varve.domain.language.names import NAME
from varve.domain.lasting import (
    leave_out_passing,
    leave_out_remarks,
    name_recurring,
    recurring_words,
)
from varve.domain.record import Vector
from varve.domain.series import keep_ends
from varve.domain.source_lines import SourceLine, rendered
from varve.domain.speakers import NO_PERSON
from varve.domain.statements.pairs.drawn import tell_once
from varve.domain.succeeding_lines import find_successions
from varve.domain.summary import (
    LITTLE_TOKENS,
    MAX_INPUT_TOKENS,
    RECURRING_HEADING,
    Summary,
    SummaryTask,
    is_little,
)
from varve.domain.text import estimated_tokens
from varve.domain.topics import choose_topics
from varve.ports.models import LLM, Embedder
from varve.ports.objects import Objects
from varve.prompts import summarize as prompt
from varve.prompts.summarize import PromptEntry, SummaryReply
from varve.usecases.ingest.checkpoints import once

SELECTED_SHARE = 0.6
"""The length of a summary of summaries with its lists, of their sentences, without a model."""
LEAST_TEXT = 0.5
"""The least share of that length for the sentences, however many key facts there are."""
MAX_LISTED = 12
MAX_QUESTIONS = 3
MAX_ITEM_CHARACTERS = 200

PART_BUDGET = 700
"""Tokens of a part's summary."""
PART_TOKENS = 900
"""Tokens of it with its lists. Two fit one call even if each byte is escaped to six."""


class ModelSummarizer:
    """The Summarizer port over a chat model; `instructions` replace the prompt's, by grain.

    Sources of up to `MAX_INPUT_TOKENS` take one call. Larger ones are summarized in
    parts, in order of time, and so are the parts' summaries until they fit one call.
    That is one call a part and one for about every twelve summaries: about 10 calls for
    100,000 tokens, 92 for 1,000,000. Parts' summaries are kept under the agent's
    `payloads/`, so a retry calls the model only for the missing ones.
    """

    def __init__(
        self,
        llm: LLM,
        objects: Objects,
        *,
        instructions: Mapping[Grain, str] | None = None,
    ) -> None:
        self._llm = llm
        self._objects = objects
        self._instructions = instructions

    @property
    def name(self) -> str:
        """The model, with a hash of all grains' prompts and the reply's shape."""
        return f"{self._llm.model}/{prompt.fingerprint(self._instructions)}"

    def summarize(self, task: SummaryTask) -> Summary:
        """Return the model's summary, cut to the budget; without words no call and no text.

        Sources under `LITTLE_TOKENS` are the summary word for word, without a call.
        Raises Retryable, Rejected (no valid answer, or a blank one), Misconfigured.
        """
        if is_little(task.sources):
            return word_for_word(task)
        chunks = _split(prompt.entries_of(task))
        while len(chunks) > 1:
            chunks = _split(self._summarize_parts(task, chunks))
        if not chunks:
            return Summary("")
        system, user = self._prompt(task, chunks[0], task.budget)
        return self._ask(system, user, task.budget)

    def _summarize_parts(
        self, task: SummaryTask, chunks: Sequence[Sequence[PromptEntry]]
    ) -> list[PromptEntry]:
        """Return each chunk's summary as an entry of the next round."""
        entries: list[PromptEntry] = []
        for number, chunk in enumerate(chunks, start=1):
            part = f"part {number} of {len(chunks)}"
            system, user = self._prompt(task, chunk, PART_BUDGET, part)
            summary = self._summarize_part(task, system, user)
            text = shortened(_with_lists(summary), PART_TOKENS)
            first = min(entry.first for entry in chunk)
            last = max(entry.last for entry in chunk)
            entries.append(PromptEntry(first, last, text, part))
        return entries

    def _summarize_part(
        self, task: SummaryTask, system: str, user: str
    ) -> Summary:
        """Return the kept summary of the same prompt by this model, or a new one."""
        name = digest(self.name, system, user, length=40)
        return once(
            f"payloads/{task.scope}/summaries/{name}.json",
            lambda: self._ask(system, user, PART_BUDGET),
            encode=lambda summary: _part_as_json(task, summary),
            decode=_part_from_json,
            objects=self._objects,
        )

    def _prompt(
        self,
        task: SummaryTask,
        entries: Sequence[PromptEntry],
        budget: int,
        part: str | None = None,
    ) -> tuple[str, str]:
        system = prompt.system_text(task.period.grain, self._instructions)
        return system, prompt.user_text(task, entries, budget, part)

    def _ask(self, system: str, user: str, budget: int) -> Summary:
        return _summary(self._llm.complete(system, user, SummaryReply), budget)


def _part_as_json(task: SummaryTask, summary: Summary) -> dict[str, object]:
    """Return a part's summary with the period's users, by which an erasure finds it."""
    users = {source.user_id for source in task.sources if source.user_id}
    return {
        "grain": str(task.period.grain),
        "period": task.period.label,
        "userIds": sorted(users),
        "text": summary.text,
        "people": list(summary.people),
        "topics": list(summary.topics),
        "openQuestions": list(summary.open_questions),
    }


def _part_from_json(value: Any) -> Summary:
    return Summary(
        str(value["text"]),
        tuple(value["people"]),
        tuple(value["topics"]),
        tuple(value["openQuestions"]),
    )


def _split(entries: Iterable[PromptEntry]) -> list[list[PromptEntry]]:
    """Return the entries in chunks, each for one call.

    Two parts' summaries always fit one chunk, so each round at least halves their number,
    rounded up.
    """
    chunks: list[list[PromptEntry]] = []
    room = 0
    for entry in entries:
        cost = estimated_tokens(prompt.line(entry) + "\n")
        if cost > room:
            chunks.append([])
            room = MAX_INPUT_TOKENS
        chunks[-1].append(entry)
        room -= cost
    return chunks


def _summary(reply: SummaryReply, budget: int) -> Summary:
    """Return the reply within its limits. Raises Rejected: its summary is empty."""
    text = shortened(reply.summary.strip(), budget)
    if not text:
        raise Rejected("model reply", "holds no summary")
    return Summary(
        text,
        _listed(reply.people),
        _listed(reply.topics),
        _listed(reply.open_questions),
    )


def _listed(items: Iterable[str]) -> tuple[str, ...]:
    """Return the items in their order, each once in any case, at most `MAX_LISTED`."""
    by_word: dict[str, str] = {}
    for item in items:
        plain = " ".join(item.split())[:MAX_ITEM_CHARACTERS].rstrip()
        if plain:
            by_word.setdefault(plain.casefold(), plain)
    return tuple(by_word.values())[:MAX_LISTED]


def _with_lists(summary: Summary) -> str:
    """Return a part's summary with its lists, for the call that merges the parts."""
    lists = {
        "Open": summary.open_questions,
        "People": summary.people,
        "Topics": summary.topics,
    }
    lines = [summary.text]
    for name, items in lists.items():
        if items:
            lines.append(f"{name}: {'; '.join(items)}")
    return "\n".join(lines)


class ExtractiveSummarizer:
    """The Summarizer port without a chat model: sentences by centrality and diversity.

    A summary of summaries is at most `SELECTED_SHARE` as long as they are, with room for its
    key facts, has the first and the last line of a series of measures, and ends with the
    names and topics that recur.
    Sources under `LITTLE_TOKENS` are kept word for word.
    It embeds at most 8,000 sentences.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The version of the rules, and the embedding model."""
        return f"extractive-3/{self._embedder.model}"

    def summarize(self, task: SummaryTask) -> Summary:
        """Return the sources' most central sentences as dated lines; empty without words.

        Raises Retryable, Misconfigured as the embedder does.
        """
        if is_little(task.sources):
            return word_for_word(task)
        lines = lines_of(task)
        weighed = _tell_once(task)
        people = _people(lines)
        topics = choose_topics(weighed, people)
        if task.period.grain is Grain.DAILY:
            text = chosen(weighed, self._embed(weighed), task.budget)
        else:
            ending = _recurring_line(weighed, [*people, *topics])
            budget = _selected_budget(task) - estimated_tokens(ending)
            recurring = recurring_words(weighed)
            left = leave_out_passing(keep_ends(weighed))
            vectors = self._embed(left)
            text = chosen(
                left,
                vectors,
                budget,
                recurring,
                find_successions(left, vectors),
            )
            text += ending
        return Summary(text, people, topics, _open_questions(lines))

    def _embed(self, lines: Sequence[SourceLine]) -> Sequence[Vector]:
        return self._embedder.embed([line.said for line in lines])


def word_for_word(task: SummaryTask) -> Summary:
    """Return all the sources' sentences, each once, as dated lines.

    Above the day an agent's short remarks are left out.
    """
    lines = lines_of(task)
    telling = _tell_once(task)
    if task.period.grain is not Grain.DAILY:
        telling = leave_out_remarks(telling)
    people = _people(lines)
    return Summary(
        shortened(rendered(telling), task.budget),
        people,
        choose_topics(telling, people),
        _open_questions(lines),
    )


def _tell_once(task: SummaryTask) -> list[SourceLine]:
    """Return the lines to choose from, each statement in one."""
    told = tell_once(task.sources)
    return candidates(lines_of(replace(task, sources=tuple(told))))


def _selected_budget(task: SummaryTask) -> int:
    """Return the tokens for a selection from summaries, which is shorter than they are.

    With its key facts it has no less room than what is kept word for word.
    """
    words = sum(estimated_tokens(source.text) for source in task.sources)
    share = max(LITTLE_TOKENS, int(SELECTED_SHARE * words))
    left = max(int(LEAST_TEXT * share), share - task.key_fact_tokens)
    return min(task.budget, left)


def _recurring_line(lines: Sequence[SourceLine], terms: Sequence[str]) -> str:
    speakers = {line.speaker for line in lines}
    others = [term for term in terms if term not in speakers]
    named = name_recurring(lines, others)
    return RECURRING_HEADING + ", ".join(named) if named else ""


# People, topics and open questions of an extractive summary

_KIN = (
    r"husband|wife|partner|girlfriend|boyfriend|friend|mother|mum|mom|father|dad|sister|brother|son|daughter"
    r"|cousin|aunt|uncle|boss|manager|colleague|neighbou?r|doctor|dentist|marido|mujer|esposa|esposo|pareja"
    r"|novi[oa]|amig[oa]|madre|padre|herman[oa]|hij[oa]|prim[oa]|tí[oa]|jef[ea]|compañer[oa]|vecin[oa]"
)
_VERBS = (
    r"lives|moved|works|worked|likes|loves|prefers|wants|plans|speaks|said|asked|told|owns|bought|married"
    r"|vive|trabaja|prefiere|quiere|habla|tiene"
)
_NAMED = re.compile(
    rf"\b(?i:{_KIN})(?:,| is| was| es|(?: is)? called| named| se llama)? (?P<kin>{NAME})"
    rf"|\b(?:Dr|Dra|Mr|Mrs|Ms|Prof|Sr|Sra)\.? (?P<titled>{NAME})|^(?P<subject>{NAME}) (?:{_VERBS})\b"
)


def _people(lines: Sequence[SourceLine]) -> tuple[str, ...]:
    """Return speakers with names and persons in the text, the most frequent first."""
    found: Counter[str] = Counter()
    for line in lines:
        found.update(
            name for name in _names(line) if name.casefold() not in NO_PERSON
        )
    return _listed(name for name, _ in found.most_common())


def _names(line: SourceLine) -> Iterator[str]:
    initial = line.speaker[:1]
    if initial.isalpha() and not initial.islower():
        yield line.speaker
    for found in _NAMED.finditer(line.sentence):
        yield found[str(found.lastgroup)]


def _open_questions(lines: Sequence[SourceLine]) -> tuple[str, ...]:
    """Return the questions at the end of the last message, if a person sent it."""
    heard = [line for line in lines if line.heard]
    last = [line for line in heard if line.at == heard[-1].at]
    # Messages without a timestamp share one, so which of them is the last is unknown.
    if len({line.speaker for line in last}) != 1:
        return ()
    speaker = last[0].speaker.casefold()
    if not speaker or speaker in NO_PERSON:
        return ()
    asked = [line.said for line in takewhile(_asks, reversed(last))]
    return tuple(reversed(asked[:MAX_QUESTIONS]))


def _asks(line: SourceLine) -> bool:
    is_question = line.sentence.endswith(("?", "？"))
    return is_question and len(line.sentence.split()) > 3
