"""This memory on trial: rows, fold and recall as ever, without a store between."""

from datetime import UTC, datetime, timedelta

from varve.domain.experience.alike import EmbedWords
from varve.domain.experience.history import History
from varve.domain.experience.lessons import lessons
from varve.domain.experience.outcomes import Outcome
from varve.domain.experience.reading import read_segment
from varve.domain.experience.recall import Embed, Recalled, recollect
from varve.domain.experience.rows import Report, episode_record, report_record
from varve.domain.experience.segments import Heard, segments
from varve.domain.experience.trial import Asked, Played, Returned, Shown, precedent_text
from varve.domain.record import Record

BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)
BETWEEN = timedelta(hours=24)
PERIOD = "2026"


class ExperienceMemory:
    """Episodes and lessons; each round is a conversation of one message, a day after the last."""

    def __init__(
        self, embed: Embed, words: EmbedWords | None = None, limit: int = 5
    ) -> None:
        self._embed, self._words, self._limit = embed, words, limit
        self.rows: list[Record] = []

    def recall(self, asked: Asked) -> Returned:
        """What recall_experience returns."""
        history = History(self.rows)
        (vector,) = self._embed([asked.situation])
        recalled = recollect(
            asked.situation,
            vector,
            history,
            lessons(history),
            self._embed,
            words=self._words,
            state=asked.state,
            limit=self._limit,
        )
        return Returned([shown(item) for item in recalled.items], recalled.familiarity)

    def learn(self, played: Played) -> None:
        """The round's episode, and a report of how it ended."""
        number, round_, picked = played.number, played.round, played.picked
        at = BEGINNING + number * BETWEEN
        heard = Heard(
            f"round-{number}",
            f"m{number}",
            "user",
            round_.situation,
            at,
            state=round_.state,
        )
        (segment,) = segments([heard])
        episode = read_segment(segment, at)
        report = Report(
            target=episode.id,
            outcome=Outcome.SUCCESS if picked == round_.truth else Outcome.FAILURE,
            at=at,
            created_at=at,
            correction=round_.correction or None,
            decision=picked,
            resolution=round_.truth,
            used=tuple(sorted(played.used)),
            conversation_id=episode.conversation_id,
        )
        self.rows += [episode_record(episode, PERIOD), report_record(report, PERIOD)]


def shown(item: Recalled) -> Shown:
    """A recalled item as the trial's agent reads it: the same text as flat memory's, and its outcome."""
    answer = item.answer or ""
    whole = precedent_text(item.content, item.correction or "", answer)
    text = item.content if item.kind == "lesson" else whole
    return Shown(item.id, text, item.score, item.explicit, item.kind == "lesson")
