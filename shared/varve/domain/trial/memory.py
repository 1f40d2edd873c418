"""Experience memory on trial: the real rows, fold and recall, without a store."""

from datetime import UTC, datetime, timedelta

from varve.domain.experience.alike import Embed, EmbedWords
from varve.domain.experience.history import History
from varve.domain.experience.lessons import derive_lessons
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.reading import read_segment
from varve.domain.experience.recall import Recalled, recollect
from varve.domain.experience.rows import Report, episode_record, report_record
from varve.domain.experience.segments import SegmentMessage, cut_segments
from varve.domain.record import Record
from varve.domain.trial.rounds import (
    Asked,
    Played,
    Returned,
    Shown,
    precedent_text,
)

BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)
BETWEEN = timedelta(hours=24)
PERIOD = "2026"


class ExperienceMemory:
    """Episodes and lessons; each round is a conversation of one message, one day apart."""

    def __init__(
        self, embed: Embed, words: EmbedWords | None = None, limit: int = 5
    ) -> None:
        self._embed = embed
        self._words = words
        self._limit = limit
        self.rows: list[Record] = []

    def recall(self, asked: Asked) -> Returned:
        """Return the same items as `recall_experience`."""
        history = History(self.rows)
        (vector,) = self._embed([asked.situation])
        recalled = recollect(
            asked.situation,
            vector,
            history,
            derive_lessons(history, self._embed),
            self._embed,
            words=self._words,
            state=asked.state,
            limit=self._limit,
        )
        shown = [_show(item) for item in recalled.items]
        return Returned(shown, recalled.familiarity)

    def learn(self, played: Played) -> None:
        """Store the round's episode and a report of its outcome."""
        round_ = played.round
        at = BEGINNING + played.number * BETWEEN
        message = SegmentMessage(
            conversation_id=f"round-{played.number}",
            message_id=f"m{played.number}",
            role="user",
            text=round_.situation,
            at=at,
            state=round_.state,
        )
        (segment,) = cut_segments([message])
        episode = read_segment(segment, at)
        self.rows.append(episode_record(episode, PERIOD))
        outcome = Outcome.FAILURE
        if played.picked == round_.truth:
            outcome = Outcome.SUCCESS
        report = Report(
            target=episode.id,
            outcome=outcome,
            at=at,
            created_at=at,
            correction=round_.correction or None,
            decision=played.picked,
            resolution=round_.truth,
            used=tuple(sorted(played.used)),
            conversation_id=episode.conversation_id,
        )
        self.rows.append(report_record(report, PERIOD))


def _show(item: Recalled) -> Shown:
    """Return a recalled item as the agent reads it: the text flat memory has, and its outcome."""
    lesson = item.kind == "lesson"
    text = item.content
    if not lesson:
        text = precedent_text(text, item.correction or "", item.answer or "")
    return Shown(item.id, text, item.score, item.explicit, lesson)
