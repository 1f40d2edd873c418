"""Words that show a time, without a model and without computing which time it is."""

import re
from dataclasses import asdict, dataclass
from functools import cache

from varve.domain.language.languages import gathered, installed_languages
from varve.domain.language.phrases import any_of

_NUMERIC_MARKS = (r"(?:19|20)\d\d",)


@dataclass(frozen=True, slots=True)
class _Patterns:
    mark: re.Pattern[str]
    relative: re.Pattern[str]


@cache
def _build_patterns() -> _Patterns:
    languages = installed_languages()
    tables = [asdict(language.questions) for language in languages]
    words = gathered(tables)
    unit = any_of(words["time_units"])
    marks = [mark.replace("{unit}", unit) for mark in words["time_marks"]]
    mark = any_of([*_NUMERIC_MARKS, *marks])
    relative = any_of(words["relative_times"])
    return _Patterns(
        mark=re.compile(rf"\b{mark}\b"),
        relative=re.compile(rf"(?i)\b{relative}\b"),
    )


def tells_time(text: str) -> bool:
    """Return whether words of the text say when something happened or will happen."""
    return _build_patterns().mark.search(text.lower()) is not None


def leave_out_times(text: str) -> str:
    """Return a text in lower case without its words of time."""
    return _build_patterns().mark.sub(" ", text.lower())


def is_relative_time(phrase: str) -> bool:
    """Return whether a phrase, such as "last week", means a time relative to now."""
    return _build_patterns().relative.search(phrase) is not None
