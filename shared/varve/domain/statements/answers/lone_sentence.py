"""A sentence of a summary that no fact or turn in memory says."""

from dataclasses import dataclass

from varve.domain.record import span_of
from varve.domain.search.ranking import Ranked
from varve.domain.statements.answers.summary_sentences import SummarySentence
from varve.domain.statements.pairs.drawn import has_own_time


@dataclass(frozen=True, slots=True)
class LoneSentence:
    """A sentence of a summary that no fact or turn in memory says.

    `is_asked_for`: it is judged whatever place a ranking gives it.
    """

    id: str
    summary: Ranked
    sentence: SummarySentence
    is_asked_for: bool

    @property
    def is_dated_fact(self) -> bool:
        """Whether it is a fact with the day of an event, on which nobody need have said it."""
        sentence = self.sentence
        return sentence.speaker is None and has_own_time(sentence.said)

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last local day on which it may have been said."""
        if self.sentence.day and not self.is_dated_fact:
            return self.sentence.day, self.sentence.day
        row = self.summary.row
        return span_of(row.about, row.period)

    def may_be_of(self, days: tuple[str, str]) -> bool:
        """Return whether words of these days may be those that it repeats."""
        if self.is_dated_fact:
            return self.days[0] <= days[0] and days[1] <= self.days[1]
        return self.days == days

    @property
    def key(self) -> tuple[str | None, str | None, str, str]:
        """Equal for the copies of a sentence in several summaries."""
        user = self.summary.row.user
        sentence = self.sentence
        return user, sentence.speaker, self.days[1], sentence.wording
