"""Relate new turns to what their speakers said before, with the workspace's model.

A call compares the new statements of a user's speakers, each with the nearest current ones
of that speaker. What it says is checked against the words. The links that are left go
into the records of the new turns (domain.statements.links), and nothing is deleted.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from varve.domain.calendar import Grain, iso, microseconds
from varve.domain.errors import Rejected
from varve.domain.identity import digest
from varve.domain.record import MemoryType, Record, Vector
from varve.domain.search.columns import Columns
from varve.domain.search.lexical import Bools
from varve.domain.search.outline import LINK_SEPARATOR, NO_CODE, Codes
from varve.domain.search.query import Filter
from varve.domain.statements.pairs.comparison import (
    Comparison,
    Judgement,
    ToldTurn,
    choose_earlier,
    is_believed,
)
from varve.domain.statements.pairs.links import (
    Relation,
    build_link,
    parse_links,
)
from varve.domain.statements.standings.standings import Standings
from varve.domain.statements.texts.cues import read_cues
from varve.domain.statements.texts.persons import is_person
from varve.domain.statements.texts.statement import Statement
from varve.domain.statements.texts.telling import name_corrected
from varve.domain.text import estimated_tokens
from varve.domain.workspace import ChangesFinder
from varve.messages.ingest import IngestMessage
from varve.ports.models import LLM
from varve.prompts import compare as prompt
from varve.prompts.compare import CompareReply, ReplyJudgement
from varve.usecases.corrections.ending import (
    Ending,
    end_values,
    take_told_parts,
)
from varve.usecases.ingest.checkpoints import once
from varve.usecases.ingest.learning import send_facts_and_turns
from varve.usecases.search.find import Stock
from varve.usecases.session import Session

NEAREST = 30
"""Earlier turns, the nearest by vector, among which those to compare are chosen."""
MAX_NEW = 20
"""New statements in one call."""
MAX_CALL_TOKENS = 4_000
"""The estimated tokens of one call's statements."""

Links = Mapping[str, tuple[str, ...]]
"""By the id of a turn, its links."""


def relate(
    session: Session, turns: Sequence[Record], message: IngestMessage
) -> None:
    """Link new turns to the earlier ones that they supersede or confirm.

    Does nothing without a model, or if the workspace leaves that to the rules. A reply
    that is not valid links nothing. Raises Retryable, Misconfigured.
    """
    llm = session.llm
    if llm is None:
        return
    if session.config.statements.changes is ChangesFinder.RULES:
        return
    for own in _group_by_user(turns):
        links = _find_links_once(session, own, llm)
        linked = [
            replace(turn, source_fingerprints=links[turn.id])
            for turn in own
            if links.get(turn.id)
        ]
        if linked:
            send_facts_and_turns(session, linked, message)
            _end_superseded(session, linked)


def _end_superseded(session: Session, turns: Sequence[Record]) -> None:
    """End the triples and attributes of the turns that these turns supersede."""
    reader = session.records.at(session.scope, (Grain.WORKING,))
    for turn in turns:
        ids = [
            id_
            for relation, id_ in parse_links(LINK_SEPARATOR.join(turn.links))
            if relation is Relation.SUPERSEDES
        ]
        for earlier in reader.get(session.scope, Grain.WORKING, ids):
            end_values(session, _build_ending(earlier, turn))


def _build_ending(earlier: Record, turn: Record) -> Ending:
    """Return what ends the values of an earlier turn, but for those the turn leaves.

    The ends go when either turn is erased: they cite both.
    """

    return Ending(
        earlier,
        turn.words,
        at=turn.event_time,
        learnt_at=turn.created_at,
        conversation_id=turn.conversation_id or "",
        message_ids=(*turn.source_ids, name_corrected(earlier.id)),
        takes=take_told_parts(earlier, turn.words),
    )


def _group_by_user(turns: Sequence[Record]) -> Iterator[list[Record]]:
    """Yield the turns that state something, together those of one user.

    A prompt never holds two users' words.
    """

    def get_user(turn: Record) -> str:
        return turn.user_id or ""

    counts = Counter(turn.source_ids for turn in turns)
    telling = [
        turn
        for turn in turns
        if counts[turn.source_ids] == 1 and _states(turn)
    ]
    for _, own in groupby(sorted(telling, key=get_user), get_user):
        yield sorted(own, key=lambda turn: (turn.event_time, turn.position))


def _states(turn: Record) -> bool:
    """Return whether a turn is a person's and does not ask."""
    return is_person(turn.about or "") and not read_cues(turn.words).asks


def _find_links_once(
    session: Session, turns: Sequence[Record], llm: LLM
) -> Links:
    """Return the links of the turns; a redelivery gets those of the first delivery.

    The checkpoint holds ids alone, among them those by which an erasure finds it.
    """
    first = turns[0]
    told = [[turn.id, turn.content, iso(turn.event_time)] for turn in turns]
    name = digest(
        f"{llm.model}/{prompt.fingerprint()}",
        json.dumps([first.user_id, told], ensure_ascii=False),
        length=40,
    )

    def encode(links: Links) -> dict[str, object]:
        return {
            "conversationId": first.conversation_id,
            "messageIds": [turn.source_ids[0] for turn in turns],
            "userIds": [first.user_id] if first.user_id else [],
            "links": {id_: list(of) for id_, of in links.items()},
        }

    return once(
        f"payloads/{session.scope}/extractions/{name}.json",
        lambda: _find_links(session, turns, llm),
        encode=encode,
        decode=_decode_links,
        objects=session.objects,
    )


def _decode_links(value: Any) -> Links:
    return {id_: tuple(links) for id_, links in value["links"].items()}


def _find_links(session: Session, turns: Sequence[Record], llm: LLM) -> Links:
    """Ask the model, in as few calls as `MAX_NEW` and `MAX_CALL_TOKENS` allow."""
    links: dict[str, tuple[str, ...]] = {}
    for batch in _cut_into_calls(_Earlier(session, turns).compare()):
        call = _Call(batch)
        try:
            reply = llm.complete(
                prompt.SYSTEM, call.write_prompt(session), CompareReply
            )
        except Rejected:
            continue  # no valid reply: the rules alone decide
        links |= call.read_links(reply)
    return links


class _Earlier:
    """Finds the earlier statements with which a user's new turns are compared."""

    def __init__(self, session: Session, turns: Sequence[Record]) -> None:
        if not session.queues.delivers_writes:
            # The conversations before this one may still wait for their commit.
            session.queues.flush()
        self._session = session
        self._turns = turns
        self._reader = session.records.at(session.scope, (Grain.WORKING,))
        self._stock = Stock(session.scope, self._reader, session.embedder)
        self._new = frozenset(turn.id for turn in turns)

    def compare(self) -> Iterator[Comparison]:
        """Yield the comparisons of the new turns that resemble an earlier one."""
        embedder = self._stock.embedder(Grain.WORKING)
        contents = [turn.content for turn in self._turns]
        vectors = embedder.embed(contents)
        told: defaultdict[str, list[ToldTurn]] = defaultdict(list)
        for turn, vector in zip(self._turns, vectors, strict=True):
            speaker = turn.about or ""
            new = ToldTurn(turn.id, _build_statement(turn, vector), speaker)
            stored = self._list_stored(turn, new.statement, embedder.model)
            earlier = choose_earlier(new.statement, (*told[speaker], *stored))
            if earlier:
                yield Comparison(new, earlier)
            told[speaker].append(new)

    def _list_stored(
        self, turn: Record, statement: Statement, model: str
    ) -> list[ToldTurn]:
        """Return the nearest stored turns of the speaker that hold."""
        columns = self._read_columns(turn, statement, model)
        is_known = columns.event_times <= statement.time
        own = np.flatnonzero(_is_of_person(columns, turn) & is_known)
        # A new turn of this person is no stored one, even if it was written before.
        is_new = [columns.ids[row] in self._new for row in own.tolist()]
        is_known[own[is_new]] = False
        rows = own[is_known[own]]
        if not rows.size:  # an empty store has no vectors of the model's size
            return []
        cosines = columns.vectors[rows] @ statement.vector
        nearest = rows[np.argsort(-cosines, kind="stable")[:NEAREST]].tolist()
        standings = Standings(columns, admitted=is_known)
        ended = standings.find_successors(nearest)
        speaker = turn.about or ""
        told: list[ToldTurn] = []
        for row in nearest:
            if row not in ended:
                held = standings.store.read(row)
                told.append(ToldTurn(columns.ids[row], held, speaker))
        return told

    def _read_columns(
        self, turn: Record, statement: Statement, model: str
    ) -> Columns:
        """Return the store, or of a large one the candidates for a turn."""
        columns = self._stock.columns(Grain.WORKING)
        if isinstance(columns, Columns):
            return columns
        return self._reader.candidates(
            self._session.scope,
            Grain.WORKING,
            text=statement.text,
            vector=statement.vector,
            model=model,
            where=Filter(
                user_id=turn.user_id, memory_types=(MemoryType.TURN,)
            ),
            limit=NEAREST,
            reach=0,
        )


def _build_statement(turn: Record, vector: Vector) -> Statement:
    return Statement(
        text=turn.words,
        vector=vector,
        time=microseconds(turn.event_time),
        conversation=turn.conversation_id,
        position=turn.position,
        speaker=turn.about or "",
    )


def _is_of_person(columns: Columns, turn: Record) -> Bools:
    """Mark the turns of a turn's user and speaker."""
    masks = (
        columns.is_turn,
        _has_value(columns.users, turn.user_id),
        _has_value(columns.speakers, turn.about),
    )
    is_own: Bools = np.logical_and.reduce(masks)
    return is_own


def _has_value(codes: Codes, name: str | None) -> Bools:
    """Mark the rows with a value, or those without any."""
    return codes.of == NO_CODE if name is None else codes.has(name)


def _cut_into_calls(
    comparisons: Iterable[Comparison],
) -> Iterator[list[Comparison]]:
    call: list[Comparison] = []
    size = 0
    for one in comparisons:
        texts = [told.statement.text for told in (one.new, *one.earlier)]
        cost = sum(map(estimated_tokens, texts))
        is_full = len(call) >= MAX_NEW or size + cost > MAX_CALL_TOKENS
        if call and is_full:
            yield call
            call = []
            size = 0
        call.append(one)
        size += cost
    if call:
        yield call


class _Call:
    """One call's comparisons; the model knows their turns by short labels."""

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        self._comparisons = comparisons
        new = [one.new for one in comparisons]
        own = {turn.id: f"n{at}" for at, turn in enumerate(new, 1)}
        self._old: dict[str, ToldTurn] = {}
        for one in comparisons:
            for turn in one.earlier:
                if turn.id not in own:
                    own[turn.id] = f"o{len(self._old) + 1}"
                    self._old[own[turn.id]] = turn
        self._labels = own

    def write_prompt(self, session: Session) -> str:
        """Return the user message, filtered: older words may precede the filter."""
        filtered = session.privacy
        old: dict[str, ToldTurn] = {}
        for label, turn in self._old.items():
            text = filtered(turn.statement.text)
            statement = replace(turn.statement, text=text)
            speaker = filtered(turn.speaker)
            old[label] = replace(turn, statement=statement, speaker=speaker)
        new: dict[str, tuple[ToldTurn, list[str]]] = {}
        for one in self._comparisons:
            earlier = [self._labels[turn.id] for turn in one.earlier]
            new[self._labels[one.new.id]] = (one.new, earlier)
        return prompt.user_text(old, new, session.zone)

    def read_links(self, reply: CompareReply) -> Links:
        """Return the links of the judgements that are about the pairs and are believed.

        Two different judgements of one pair link nothing.
        """
        offered: dict[tuple[str, str], tuple[ToldTurn, ToldTurn]] = {}
        for one in self._comparisons:
            for turn in one.earlier:
                pair = (self._labels[one.new.id], self._labels[turn.id])
                offered[pair] = (one.new, turn)
        links: dict[str, tuple[str, ...]] = {}
        for pair, judgements in _group_by_pair(reply.verdicts).items():
            if pair not in offered or len(judgements) > 1:
                continue
            new, old = offered[pair]
            (judgement,) = judgements
            if is_believed(judgement, old.statement, new.statement):
                link = build_link(judgement.relation, old.id)
                links[new.id] = (*links.get(new.id, ()), link)
        return links


def _group_by_pair(
    verdicts: Iterable[ReplyJudgement],
) -> dict[tuple[str, str], set[Judgement]]:
    found: dict[tuple[str, str], set[Judgement]] = {}
    for one in verdicts:
        judgement = Judgement(one.verdict, one.quote, one.ended)
        found.setdefault((one.new, one.old), set()).add(judgement)
    return found
