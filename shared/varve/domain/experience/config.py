"""The settings of experience in a workspace's configuration; this module loads no library."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from varve.domain.experience.forgetting import Decay
from varve.domain.experience.limits import MAX_ENTRIES, AnswerLimits
from varve.domain.experience.segments import Thresholds
from varve.domain.validation import StrictCamelModel


class RecapSource(StrEnum):
    """Who words the recap of the last conversation at the start of the next."""

    RULES = "rules"
    MODEL = "model"


class ExperienceConfig(StrictCamelModel):
    """How conversations are cut into episodes, and when experience is forgotten.

    `likeness` is the cosine below which a message begins a new episode. A message without
    any label begins one after `subject_gap_minutes` if its cosine is below
    `subject_likeness`.
    `material_signals` lists, separated by commas, the names whose presence calls for a
    new answer. `time_to_live_days` is the age at which rows are deleted. With `decay`, a
    row that is never read loses importance until it is deleted. With `evict`, answers and
    research entries beyond their limits are deleted. All three are off by default, and run
    with the nightly cleanup.
    """

    gap_minutes: Annotated[int, Field(ge=1)] = 120
    subject_gap_minutes: Annotated[int, Field(ge=1)] = 360
    subject_likeness: Annotated[float, Field(ge=-1, le=1)] = 0.2
    recap: RecapSource = RecapSource.RULES
    likeness: Annotated[float, Field(ge=-1, le=1)] = 0.1
    window: Annotated[int, Field(ge=1, le=50)] = 4
    block_lessons: Annotated[int, Field(ge=0, le=100)] = 20
    material_signals: str | None = None
    time_to_live_days: Annotated[int | None, Field(ge=1)] = None
    decay: bool = False
    decay_after_days: Annotated[int, Field(ge=0)] = 7
    decay_per_day: Annotated[float, Field(gt=0, le=1)] = 0.05
    evict: bool = False
    answer_days: Annotated[int, Field(ge=1)] = 180
    answers_per_subject: Annotated[int, Field(ge=1)] = 20
    unread_days: Annotated[int, Field(ge=1)] = 30
    research_entries: Annotated[int, Field(ge=1)] = MAX_ENTRIES

    @property
    def forgets(self) -> bool:
        """Whether the nightly cleanup deletes experience beside retention."""
        return self.decay or self.evict or self.time_to_live_days is not None

    @property
    def decay_limits(self) -> Decay | None:
        """How unread rows lose importance; None: they do not."""
        if not self.decay:
            return None
        return Decay(timedelta(days=self.decay_after_days), self.decay_per_day)

    @property
    def answer_limits(self) -> AnswerLimits:
        """When prior answers are evicted."""
        return AnswerLimits(
            timedelta(days=self.answer_days),
            self.answers_per_subject,
            timedelta(days=self.unread_days),
        )

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds at which conversations are cut into episodes."""
        return Thresholds(
            timedelta(minutes=self.gap_minutes),
            self.likeness,
            self.window,
            timedelta(minutes=self.subject_gap_minutes),
            self.subject_likeness,
        )
