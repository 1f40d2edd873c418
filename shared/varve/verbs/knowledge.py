"""What memory knows, put to use: the context for a prompt, and users' profiles."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from varve.domain.calendar import iso
from varve.domain.context import ContextBlock, ContextRequest
from varve.domain.errors import Rejected
from varve.domain.identity import Scope, reference
from varve.domain.profile import (
    DEFAULT_USER,
    ProfileEntry,
    profile_key,
    profile_value,
    select_current_entries,
    sort_entries,
)
from varve.domain.record import STORES
from varve.domain.search.query import SearchRequest
from varve.messages.write import WriteProfile, send_profile
from varve.ports.queues import Queue
from varve.usecases.context import context
from varve.usecases.gathering import Sources
from varve.verbs.views import View, Views
from varve.wiring.parts import Parts

Profile = Callable[[], list[ProfileEntry]]

MAX_KEYS = 100
"""Attributes that a profile may have when one more is set by hand."""


class Knowledge:
    """The verbs over one set of parts; `queue` hands out the write queue once something is written."""

    def __init__(self, parts: Parts, views: Views, queue: Callable[[], Queue]) -> None:
        self._parts = parts
        self._views = views
        self._queue = queue

    def context(
        self, scope: Scope, request: ContextRequest, now: datetime | None = None
    ) -> ContextBlock:
        """The block to put before a prompt. Raises Rejected, Misconfigured, Retryable."""
        at, user = self._parts.at(now), request.user_id or DEFAULT_USER
        profile = self._views.beside(partial(self._parts.profiles.entries, scope, user))
        answer = partial(self._context, scope, request, at, profile)
        return self._views.answer(scope, SearchRequest(), at, answer, STORES)

    def _context(
        self,
        scope: Scope,
        request: ContextRequest,
        at: datetime,
        profile: Profile,
        view: View,
    ) -> ContextBlock:
        parts, config = self._parts, view.config
        sources = Sources(
            reader=view.reader,
            ledger=view.ledger,
            triples=view.triples,
            profile=profile,
            embedder=parts.embedder(config),
            finder=parts.entity_finder(config),
            reranker=parts.reranker(config),
            most_lessons=config.experience.block_lessons,
        )
        private = parts.privacy(config, scope.workspace)
        # As memory has the words, and before any model is asked.
        asked = request.model_copy(
            update={
                "prompt": private(request.prompt),
                "documents": tuple(map(private, request.documents)),
            }
        )
        return context(scope, asked, at, config.zone, sources=sources)

    def profile(
        self, scope: Scope, user_id: str | None = None, now: datetime | None = None
    ) -> dict[str, Any]:
        """A user's attributes that hold at the time, and every statement there was, as JSON values.

        Raises Rejected: not a valid user id.
        """
        user = _user(user_id)
        entries = self._parts.profiles.entries(scope, user)
        held = select_current_entries(entries, self._parts.at(now))
        return {
            "workspaceId": scope.workspace,
            "agentId": scope.agent,
            "userId": user,
            "attributes": [_as_json(entry) for entry in held],
            "history": [_as_json(entry) for entry in sort_entries(entries)],
        }

    def set_attribute(
        self,
        scope: Scope,
        key: str,
        value: str,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> None:
        """Have the writer set an attribute from now on; an empty value ends all that it has.

        A list (allergies, languages, preferences) gets one value more. What the workspace does not want kept
        is taken out of the value as it is of messages.
        Raises Rejected: names what is wrong; Retryable.
        """
        at, user = self._parts.at(now), _user(user_id)
        private = self._parts.privacy(
            self._parts.config(scope.workspace), scope.workspace
        )
        line = profile_value(private(profile_value(value)))
        entry = ProfileEntry(user, profile_key(key), line, at, at, ends=not line)
        known = {entry.key for entry in self._parts.profiles.entries(scope, user)}
        if len(known | {key}) > MAX_KEYS:
            raise Rejected(
                "key", f"is one more than the {MAX_KEYS} that a profile may have"
            )
        message = WriteProfile(scope, user, (entry,))
        send_profile(message, queue=self._queue(), objects=self._parts.objects)


def _user(user_id: str | None) -> str:
    return reference(user_id, "userId") if user_id is not None else DEFAULT_USER


def _as_json(entry: ProfileEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "key": entry.key,
        "value": entry.value,
        "ends": entry.ends,
        "since": iso(entry.event_time),
        "learntAt": iso(entry.created_at),
        "conversationId": entry.conversation_id,
        "messageIds": list(entry.message_ids),
    }
