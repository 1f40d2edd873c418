"""What the words of a request to forget name.

"Forget my salary" names a thing of its speaker's own, "forget where I live" a clause, "forget
that I was fired" a statement, and "forget what I told you about Ana" whatever is told of Ana.
"Forget me" and "delete everything you know about me" name all that is told of the speaker.
"Forget the therapist thing" means whatever is told of the therapist. "Forget it" and "forget
pizza" name nothing that memory hides.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from varve.domain.language.languages import installed_languages
from varve.domain.statements.forgetting.named_topics import Topic
from varve.domain.statements.forgetting.patterns import RequestPatterns
from varve.domain.statements.forgetting.reported_requests import (
    list_tails,
    list_told,
)
from varve.domain.statements.forgetting.requests import Naming, may_ask
from varve.domain.statements.forgetting.wholes import is_whole

MAX_TOPICS = 100
"""So many topics of one message are read."""
_WITHOUT_WORDS = (Naming.SELF, Naming.TOLD)


@cache
def _list_requests() -> tuple[RequestPatterns, ...]:
    return tuple(
        RequestPatterns(language)
        for language in installed_languages()
        if language.forgetting.asks
    )


def read_topics(text: str) -> tuple[Topic, ...]:
    """Return what a message asks to forget, each once; empty if it asks nothing of the kind.

    Of more than `MAX_TOPICS` the first ones are read.
    """
    if not may_ask(text):
        return ()
    topics = (
        topic
        for sentence in list_told(text)
        for topic in _list_asked(sentence, text)
        if topic.words or topic.kind in _WITHOUT_WORDS
    )
    return tuple(dict.fromkeys(islice(topics, MAX_TOPICS)))


def _list_asked(sentence: str, text: str) -> Iterator[Topic]:
    """Yield what a sentence of a text asks to forget."""
    if is_whole(sentence, text):
        for language in _list_requests():
            whole = list(language.read_whole(sentence))
            if whole:
                yield from whole
                return
    beginnings = (sentence, *list_tails(sentence))
    for language in _list_requests():
        yield from _read_first(language, beginnings)


def read_own_topics(text: str) -> tuple[Topic, ...]:
    """Return what a text names of its speaker's own: "my dog", "where I live"."""
    return tuple(
        topic
        for language in _list_requests()
        for topic in language.read_own(text)
        if topic.words
    )


def _read_first(
    language: RequestPatterns, beginnings: Iterable[str]
) -> list[Topic]:
    """Return what the first text that asks to forget something asks."""
    for text in beginnings:
        topics = list(language.read(text))
        if topics:
            return topics
    return []
