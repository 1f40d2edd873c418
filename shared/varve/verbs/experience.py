"""Experience over one set of parts: what Lambdas, the command line and the Python API all call."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from varve.domain.errors import Rejected
from varve.domain.experience import links
from varve.domain.experience.history import History, PastEpisode
from varve.domain.experience.lessons import derive_lessons
from varve.domain.experience.recall import Recollection, recollect
from varve.domain.experience.rows import LessonVersion, Report, lesson_record
from varve.domain.experience.runs import links_of_runs
from varve.domain.identity import Scope
from varve.domain.record import Record, Store
from varve.domain.search.query import SearchRequest
from varve.domain.triple import Triple, fold
from varve.domain.validation import valid_text
from varve.domain.workspace import WorkspaceConfig
from varve.messages.write import DeleteRecords, send_deletion
from varve.ports.queues import Queue
from varve.ports.search import word_embedding
from varve.usecases.experience.learnt import of_user
from varve.usecases.experience.rows import read_history, send_report, send_rows, year_of
from varve.verbs.views import Views
from varve.wiring.parts import Parts


class ExperienceVerbs:
    """Experience over one set of parts; what changes goes to the write queue."""

    def __init__(self, parts: Parts, write_queue: Queue, views: Views) -> None:
        self.parts = parts
        self.write_queue = write_queue
        self._views = views

    def take_in(self, scope: Scope, report: Report) -> None:
        """Write what was reported of an episode. Raises Retryable, Misconfigured."""
        config = self.parts.config(scope.workspace)
        send_report(
            # Filtered again, for whoever put it on the queue may not have gone through ingest.
            self.private_report(scope, report),
            scope,
            config.zone,
            embedder=self.parts.embedder(config),
            queue=self.write_queue,
            objects=self.parts.objects,
        )

    def private(self, scope: Scope, text: str) -> str:
        """The text without secrets, and without the personal data that the workspace keeps out."""
        return self.parts.privacy(self.parts.config(scope.workspace), scope.workspace)(
            text
        )

    def private_report(self, scope: Scope, report: Report) -> Report:
        """The report with its words as they may be kept."""
        said = (report.correction, report.decision, report.resolution)
        correction, decision, resolution = (
            text and self.private(scope, text) for text in said
        )
        return replace(
            report, correction=correction, decision=decision, resolution=resolution
        )

    def history(self, scope: Scope) -> History:
        """The agent's past as it stands."""
        return read_history(
            scope, reader=self.parts.records.at(scope, [Store.EXPERIENCE])
        )

    def recall(
        self,
        scope: Scope,
        situation: str,
        *,
        state: str | None,
        user_id: str | None,
        limit: int,
    ) -> tuple[Recollection, dict[str, list[str]]]:
        """What of the past bears on a situation, and of each episode the links beside it, in sentences.

        Raises Rejected: it has no words.
        """
        if not valid_text(situation, "situation").strip():
            raise Rejected("situation", "must not be empty")
        if limit < 1:
            raise Rejected("limit", "must be 1 or more")
        view = self._views.of(
            scope, SearchRequest(), self.parts.clock(), (Store.EXPERIENCE,)
        )
        embedder, history = (
            self.parts.embedder(view.config),
            read_history(scope, reader=view.reader),
        )
        situation = self.parts.privacy(view.config, scope.workspace)(situation)
        (vector,) = embedder.embed([situation])
        found = recollect(
            situation,
            vector,
            history,
            derive_lessons(of_user(history, user_id)),
            embedder.embed,
            words=word_embedding(embedder),
            state=state,
            user_id=user_id,
            limit=limit,
        )
        shown = [item.id for item in found.items if item.kind == "episode"]
        triples = self._triples(view.triples(), history, view.config) if shown else []
        return found, {
            id_: links.tell_story(links.follow_links(id_, triples, depth=1), history)
            for id_ in shown
        }

    def why(
        self, scope: Scope, episode: PastEpisode, depth: int
    ) -> tuple[list[links.Step], list[str]]:
        """The links around an episode, and the story they tell."""
        history = self.history(scope)
        config = self.parts.config(scope.workspace)
        triples = self._triples(self.parts.graph.triples(scope), history, config)
        steps = links.follow_links(episode.episode.id, triples, depth=depth)
        return steps, links.tell_story(steps, history)

    def _triples(
        self, triples: Iterable[Triple], history: History, config: WorkspaceConfig
    ) -> list[Triple]:
        """The agent's triples, and the links that only its episodes together tell."""
        runs = links_of_runs(
            history, config.experience.thresholds, self.parts.embedder(config).embed
        )
        unnamed = [
            link
            for report in history.reports
            if not report.names_episode
            for link in links.links_of_report(
                report, history.target_at(report.target, report.at)
            )
        ]
        return [*triples, *fold([*runs, *unnamed])]

    def write(self, scope: Scope, records: Sequence[Record]) -> None:
        """Send rows to the writer."""
        embedder = self.parts.embedder(self.parts.config(scope.workspace))
        send_rows(
            records,
            scope,
            embedder=embedder,
            queue=self.write_queue,
            objects=self.parts.objects,
        )

    def write_version(self, scope: Scope, version: LessonVersion) -> None:
        """Send one version of a lesson to the writer."""
        zone = self.parts.config(scope.workspace).zone
        self.write(scope, [lesson_record(version, year_of(version.at, zone))])

    def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Have the writer delete rows."""
        if ids:
            message = DeleteRecords(scope, Store.EXPERIENCE, tuple(sorted(ids)))
            send_deletion(message, queue=self.write_queue, objects=self.parts.objects)
