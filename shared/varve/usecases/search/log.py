"""The log of searches: kept in process, and written behind, so that no question waits."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from varve.domain.calendar import day_of
from varve.domain.errors import VarveError
from varve.domain.identity import Scope
from varve.domain.searches import AskedSearch, SearchRow, build_search_row
from varve.domain.workspace import LoggedQuestion
from varve.ports.clock import Clock
from varve.usecases.behind import Behind
from varve.usecases.erasure import tombstones
from varve.usecases.search.objects import drop_rows, put_rows, read_key
from varve.usecases.session import OpenSession, Session

if TYPE_CHECKING:  # a function loads what ranks on its first question
    from varve.domain.search.answer import SearchResponse
    from varve.domain.search.query import SearchRequest

FLUSH_AT = 50
"""Questions that are kept in process before they are written in the background."""
FLUSH_AFTER = timedelta(minutes=5)
MAX_WAITING = 1_000
"""Questions that a store which cannot be written to keeps waiting; older ones go."""


class SearchLog:
    """The questions of one process that are not in the store yet; a failure keeps them."""

    def __init__(self, open_session: OpenSession, clock: Clock) -> None:
        self._open = open_session
        self._clock = clock
        self._lock = Lock()
        self._writing = Lock()
        self._waiting: list[tuple[Scope, AskedSearch]] = []
        self._since: datetime | None = None
        self._behind = Behind("varve-searches")

    def note(
        self,
        session: Session,
        request: "SearchRequest",
        found: "SearchResponse",
    ) -> None:
        """Keep a question with words in process, if the workspace logs any."""
        mode = session.config.analytics.searches
        if mode is LoggedQuestion.OFF or not request.text:
            return
        best = found.results[0].score if found.results else None
        asked = AskedSearch(
            id=uuid4().hex,
            at=session.now,
            user_id=request.user_id,
            text=request.text,
            results=len(found.results),
            best_score=best,
            fallback=found.searched.fallback,
        )
        with self._lock:
            self._since = self._since or self._clock()
            self._waiting.append((session.scope, asked))
            del self._waiting[:-MAX_WAITING]

    def flush_behind(self) -> None:
        """Write in the background if many questions wait, or one waits for long."""
        if self._is_due():
            self._behind.start(self._flush)

    def finish(self) -> None:
        """Wait for the writing in the background, if there is any."""
        self._behind.finish()

    def flush(self) -> None:
        """Write what waits. Raises Retryable, Misconfigured, Rejected: it waits on."""
        self.finish()
        self._flush()

    def _is_due(self) -> bool:
        with self._lock:
            if self._since is None:
                return False
            is_old = self._clock() - self._since >= FLUSH_AFTER
            return is_old or len(self._waiting) >= FLUSH_AT

    def _flush(self) -> None:
        with self._writing:
            with self._lock:
                taken = self._waiting
                self._waiting = []
                self._since = None
            by_scope: defaultdict[Scope, list[AskedSearch]] = defaultdict(list)
            for scope, asked in taken:
                by_scope[scope].append(asked)
            for scope in list(by_scope):
                try:
                    self._write(scope, by_scope[scope])
                except VarveError:
                    self._put_back(by_scope)
                    raise
                del by_scope[scope]

    def _put_back(self, left: dict[Scope, list[AskedSearch]]) -> None:
        kept: list[tuple[Scope, AskedSearch]] = []
        for scope, asked in left.items():
            kept += [(scope, one) for one in asked]
        with self._lock:
            self._waiting = [*kept, *self._waiting]
            self._since = self._since or self._clock()

    def _write(self, scope: Scope, asked: Sequence[AskedSearch]) -> None:
        session = self._open(scope)
        mode = session.config.analytics.searches
        if mode is LoggedQuestion.OFF:
            return
        objects = session.objects
        key = read_key(scope, objects=objects)
        barred = tombstones.load(scope, objects=objects)
        keep_words = mode is LoggedQuestion.WORDS
        by_day: defaultdict[str, list[SearchRow]] = defaultdict(list)
        for one in asked:
            row = build_search_row(one, key, keep_words=keep_words)
            if not row.is_barred_by(barred):
                by_day[day_of(one.at, session.zone)].append(row)
        for day, rows in by_day.items():
            put_rows(scope, day, rows, objects=objects)
        later = tombstones.load(scope, objects=objects)
        if later != barred:
            # An erasure may have looked before these rows were written.
            drop_rows(
                scope, lambda row: row.is_barred_by(later), objects=objects
            )
