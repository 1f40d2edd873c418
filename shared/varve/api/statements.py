"""What a person states by hand: single statements, corrections, the profile."""

from datetime import datetime
from typing import Any

from varve.api.arguments import checks_arguments
from varve.api.evaluation import EvaluationVerbs
from varve.api.ingested import Ingested, settle, tell_requests


@checks_arguments
class StatementVerbs(EvaluationVerbs):
    """Statements and profile values of one agent, as its owner gives them."""

    def profile(
        self, *, user_id: str | None = None, now: datetime | None = None
    ) -> dict[str, Any]:
        """Return a user's attributes and their history, as JSON values.

        Without an id: those of messages without a user.
        """
        from varve.usecases.profile import read_profile

        with self.sessions.open(self.scope, now) as session:
            return read_profile(session, user_id)

    def set_profile(
        self,
        key: str,
        value: str,
        *,
        user_id: str | None = None,
        now: datetime | None = None,
    ) -> None:
        """Set an attribute or add to a list; an empty value ends its values.

        Raises Rejected: names the field.
        """
        from varve.usecases.local import catch_up
        from varve.usecases.profile import set_attribute

        with self.sessions.open(self.scope, now) as session:
            set_attribute(session, key, value, user_id)
            catch_up(session)

    def remember(
        self,
        text: str,
        *,
        user_id: str | None = None,
        at: datetime | None = None,
        now: datetime | None = None,
    ) -> Ingested:
        """Take in one statement as a separate message, said `at` or now.

        The same statement on the same day is one. Raises Rejected: names the field.
        """
        from varve.usecases.corrections.tell import remember

        with self.sessions.open(self.scope, now) as session:
            accepted = remember(session, text, user_id=user_id, at=at)
            return tell_requests(session, settle(session, accepted))

    def correct(
        self, record_id: str, text: str, *, now: datetime | None = None
    ) -> Ingested:
        """Say what holds instead of a fact or turn; history keeps both.

        Search and context answer with the correction from then on. Correcting again in
        the same words changes nothing. Raises Rejected: there is no such fact or turn.
        """
        from varve.usecases.corrections.tell import correct

        with self.sessions.open(self.scope, now) as session:
            accepted = correct(session, record_id, text)
            return tell_requests(session, settle(session, accepted))
