"""Two summarizers: one over a chat model, one that chooses from the sources' own sentences."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

from varve.domain.calendar import Grain
from varve.domain.errors import Rejected
from varve.domain.extractive import SourceLine, candidates, chosen, lines_of, shortened
from varve.domain.identity import digest
from varve.domain.language.names import NAME
from varve.domain.language.stopwords import NO_TOPICS
from varve.domain.language.tokens import fold
from varve.domain.summary import MAX_INPUT_TOKENS, Summary, SummaryTask
from varve.domain.text import estimated_tokens
from varve.ports.models import LLM, Embedder
from varve.ports.objects import Objects
from varve.prompts import summarize as prompt
from varve.prompts.summarize import PromptEntry, SummaryReply
from varve.usecases.checkpoints import once

MAX_LISTED = 12
MAX_TOPICS, MAX_QUESTIONS = 8, 3
MAX_ITEM_CHARACTERS = 200

PART_BUDGET = 700
PART_TOKENS = 900
"""A part's summary, and that with its lists: two fit one call even if every byte is escaped to six."""


class ModelSummarizer:
    """The Summarizer port over a chat model; `instructions` replace the prompt's own, by grain.

    Sources of up to `MAX_INPUT_TOKENS` take one call. Larger ones are summarized in parts, in order of
    time, and the parts' summaries again until they fit: n parts take n calls, their summaries one for every
    twelve or so of them, and the last is one. 100,000 tokens are about 10 calls, 1,000,000 about 92.
    What was made of a part is kept under the agent's `payloads/`: where a call fails, the next try asks
    for what is missing.
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
        """The model and a hash of all grains' prompts and the reply's shape."""
        return f"{self._llm.model}/{prompt.fingerprint(self._instructions)}"

    def summarize(self, task: SummaryTask) -> Summary:
        """The model's summary, cut to the task's budget; empty, without a call, if no source has words.

        Raises Retryable, Rejected (no valid answer, or a blank one), Misconfigured.
        """
        chunks = _chunks(prompt.entries_of(task))
        while len(chunks) > 1:
            chunks = _chunks(
                [
                    self._part(task, chunk, f"part {number} of {len(chunks)}")
                    for number, chunk in enumerate(chunks, 1)
                ]
            )
        if not chunks:
            return Summary("")
        return self._ask(*self._prompt(task, chunks[0], task.budget), task.budget)

    def _part(
        self, task: SummaryTask, chunk: Sequence[PromptEntry], part: str
    ) -> PromptEntry:
        summary = self._part_summary(
            task, *self._prompt(task, chunk, PART_BUDGET, part)
        )
        first, last = (
            min(entry.first for entry in chunk),
            max(entry.last for entry in chunk),
        )
        return PromptEntry(
            first, last, shortened(_with_lists(summary), PART_TOKENS), part
        )

    def _part_summary(self, task: SummaryTask, system: str, user: str) -> Summary:
        """The kept summary of these very words by this model, or a new one."""
        return once(
            f"payloads/{task.scope}/summaries/{digest(self.name, system, user, length=40)}.json",
            lambda: self._ask(system, user, PART_BUDGET),
            encode=lambda summary: _checkpoint(task, summary),
            decode=_kept,
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


def _checkpoint(task: SummaryTask, summary: Summary) -> dict[str, object]:
    """A part's summary as JSON values, with what an erasure needs to find it by: all users of the period."""
    return {
        "grain": str(task.period.grain),
        "period": task.period.label,
        "userIds": sorted(
            {source.user_id for source in task.sources if source.user_id}
        ),
        "text": summary.text,
        "people": list(summary.people),
        "topics": list(summary.topics),
        "openQuestions": list(summary.open_questions),
    }


def _kept(value: Any) -> Summary:
    lists = (tuple(value[name]) for name in ("people", "topics", "openQuestions"))
    return Summary(str(value["text"]), *lists)


def _chunks(entries: Iterable[PromptEntry]) -> list[list[PromptEntry]]:
    """The entries in runs that one call reads each.

    Any two parts' summaries fit one run, so that each round leaves at most half as many, rounded up.
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
    """What of the reply can be kept. Raises Rejected: it says nothing."""
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
    """The items in their order, each once whatever its case, and not too many."""
    once: dict[str, str] = {}
    for item in items:
        plain = " ".join(item.split())[:MAX_ITEM_CHARACTERS].rstrip()
        if plain:
            once.setdefault(plain.casefold(), plain)
    return tuple(once.values())[:MAX_LISTED]


def _with_lists(summary: Summary) -> str:
    """A part's summary with what else is known of it, for the call that puts the parts together."""
    lists = {
        "Open": summary.open_questions,
        "People": summary.people,
        "Topics": summary.topics,
    }
    return "\n".join(
        (
            summary.text,
            *(f"{name}: {'; '.join(items)}" for name, items in lists.items() if items),
        )
    )


class ExtractiveSummarizer:
    """The Summarizer port without a model: sentences chosen by centrality and diversity.

    One pass of the embedder over at most 8,000 sentences.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The rules and the embedding model."""
        return f"extractive-1/{self._embedder.model}"

    def summarize(self, task: SummaryTask) -> Summary:
        """The sources' most telling sentences, a dated line each; empty if no source has words.

        Raises Retryable, Misconfigured, as the embedder does.
        """
        lines = lines_of(task)
        weighed = candidates(lines)
        vectors = self._embedder.embed([line.said for line in weighed])
        people = _people(lines)
        return Summary(
            chosen(weighed, vectors, task.budget),
            people,
            _topics(weighed, people),
            _open_questions(lines),
        )


# What the extractive summary can be filtered by


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NO_PERSON = _words(
    """assistant user system tool agent bot human unknown note notes nota address email phone password
    reminder update question answer summary subject error warning nobody everybody everyone
    someone somebody"""
)
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
_TERM = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")


def _people(lines: Sequence[SourceLine]) -> tuple[str, ...]:
    """Speakers by their names and those whom the words call persons, the most frequent first."""
    found = Counter(
        name
        for line in lines
        for name in _names(line)
        if name.casefold() not in _NO_PERSON
    )
    return _listed(name for name, _ in found.most_common())


def _names(line: SourceLine) -> Iterator[str]:
    if line.speaker[:1].isalpha() and not line.speaker[0].islower():
        yield line.speaker
    for found in _NAMED.finditer(line.sentence):
        yield found[str(found.lastgroup)]


def _topics(lines: Sequence[SourceLine], people: Iterable[str]) -> tuple[str, ...]:
    """The words and pairs of words that the weightiest lines share; no word is in two of them."""
    names = {word for name in people for word in _TERM.findall(name.lower())}
    weights: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for line in lines:
        for term in dict.fromkeys(_terms(line.sentence, names)):
            weights[term] += 0.5 + line.importance
            counts[term] += 1

    def telling(term: str) -> float:
        of_two = 1.0 if " " not in term else 1.5 if counts[term] > 1 else 0.5
        return round(
            of_two * weights[term] * math.log(1 + len(lines) / counts[term]), 6
        )

    return _apart(sorted(weights, key=telling, reverse=True))


def _terms(sentence: str, names: Container[str]) -> Iterator[str]:
    words = [
        word if _is_term(word) and word not in names else ""
        for word in _TERM.findall(sentence.lower())
    ]
    yield from filter(None, words)
    yield from (
        f"{first} {second}" for first, second in pairwise(words) if first and second
    )


def _is_term(word: str) -> bool:
    return 2 < len(word) < 30 and fold(word) not in NO_TOPICS and not word[0].isdigit()


def _apart(terms: Iterable[str]) -> tuple[str, ...]:
    used: set[str] = set()
    topics: list[str] = []
    for term in terms:
        if len(topics) < MAX_TOPICS and used.isdisjoint(term.split()):
            used.update(term.split())
            topics.append(term)
    return tuple(topics)


def _open_questions(lines: Sequence[SourceLine]) -> tuple[str, ...]:
    """The questions with which a person had the last word; nothing that anybody spoke after counts."""
    heard = [line for line in lines if line.heard]
    last = [line for line in heard if line.at == heard[-1].at]
    # Messages without times of their own share one, and nobody knows which of them came last.
    if len({line.speaker for line in last}) != 1 or last[0].speaker.casefold() in {
        "",
        *_NO_PERSON,
    }:
        return ()
    asked = [line.said for line in takewhile(_asks, reversed(last))]
    return tuple(reversed(asked[:MAX_QUESTIONS]))


def _asks(line: SourceLine) -> bool:
    return line.sentence.endswith(("?", "？")) and len(line.sentence.split()) > 3
