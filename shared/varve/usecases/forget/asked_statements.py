"""The statements, at every grain, that a request to forget names."""

from varve.domain.calendar import iso
from varve.domain.record import turn_id
from varve.domain.statements.forgetting.forgetting import AnyForgotten
from varve.domain.statements.forgetting.forgotten_words import ForgottenWords
from varve.domain.statements.pairs.sameness import names_value
from varve.domain.statements.texts.persons import is_person
from varve.usecases.forget.proposals import Proposal


def is_asked(one: Proposal, value: AnyForgotten) -> bool:
    """Return whether a statement of the user who asked states what is forgotten."""
    users = frozenset() if value.user is None else frozenset([value.user])
    if not one.erases or one.users != users:
        return False
    if isinstance(value, ForgottenWords):
        return _is_asked_by_words(one, value)
    talks = {conversation for conversation, _ in value.messages}
    if one.speaker and not is_person(one.speaker):
        talks.add(value.request[0])
    is_same_talk = any(talk in talks for talk, _ in one.messages)
    return is_same_talk and names_value(one.content, value.value)


def _is_asked_by_words(one: Proposal, value: ForgottenWords) -> bool:
    # What has expired was told before what working memory has.
    if value.is_of_user and one.date < iso(value.at)[:10]:
        return True
    is_told = value.is_told_by(one.id, one.content, one.messages)
    return is_told or is_asked_of_expired(one, value)


def is_asked_of_expired(one: Proposal, value: AnyForgotten) -> bool:
    """Return whether a request names a statement that working memory has no more.

    It is judged as a summary's sentences are.
    """
    if not isinstance(value, ForgottenWords) or value.user is None:
        return False
    if one.users != {value.user} or one.date > iso(value.at)[:10]:
        return False
    turns = {turn_id(*message) for message in one.messages}
    return turns.isdisjoint(value.held) and value.is_named_in(one.content)
