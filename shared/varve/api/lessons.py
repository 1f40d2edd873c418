"""One agent's lessons, as a person uses them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from varve.domain.calendar import iso
from varve.domain.damage import intact
from varve.domain.errors import Misconfigured, Rejected
from varve.domain.experience import curation
from varve.domain.experience.lessons import Lesson, derive_lessons, explain_vagueness
from varve.domain.experience.rows import GENERALIZED, LessonVersion, lesson_id
from varve.domain.identity import Scope
from varve.domain.ledger import curation_key
from varve.usecases.experience.judging import worded
from varve.verbs.experience import ExperienceVerbs

MOST_REWORDED = 20
"""Lessons that a model is asked about at once."""


class LessonBook:
    """One agent's lessons."""

    def __init__(self, verbs: ExperienceVerbs, scope: Scope) -> None:
        self._verbs, self.scope = verbs, scope

    def all(self) -> list[Lesson]:
        """Every lesson, retired and quarantined ones too, those most to be trusted first."""
        return derive_lessons(self._verbs.history(self.scope))

    def find(self, id_: str) -> Lesson:
        """One of them. Raises Rejected: there is no such lesson."""
        found = next((lesson for lesson in self.all() if lesson.id == id_), None)
        if found is None:
            raise Rejected("lesson", f"there is no lesson {id_[:60]!r} in {self.scope}")
        return found

    def add(
        self,
        claim: str,
        *,
        when: str,
        then: str,
        evidence: Sequence[str],
        state: str | None = None,
        tags: Sequence[str] = (),
        now: datetime | None = None,
    ) -> str:
        """Write a lesson by hand, or revise the one that says to do the same in the same state; its id.

        Raises Rejected: it is vague, or names no episode that stands for it.
        """
        claim, when, then = (
            self._verbs.private(self.scope, text) for text in (claim, when, then)
        )
        if reason := explain_vagueness(when, then):
            raise Rejected("lesson", reason)
        known = self._verbs.history(self.scope).by_id
        missing = [id_ for id_ in evidence if id_ not in known]
        if missing or not evidence:
            named = (
                f"there is no episode {missing[0][:60]!r}"
                if missing
                else "names no episode"
            )
            raise Rejected("evidence", named)
        at = self._verbs.parts.at(now)
        cited = [known[id_].episode for id_ in evidence]
        version = LessonVersion(
            lesson_id=lesson_id(state, then),
            claim=claim,
            condition=when,
            action=then,
            at=at,
            created_at=at,
            state=state,
            tags=tuple(sorted(tags)),
            supporting=tuple(sorted(evidence)),
            conversation_ids=tuple(sorted({one.conversation_id for one in cited})),
            user_ids=tuple(sorted({one.user_id for one in cited if one.user_id})),
        )
        self._verbs.write_version(self.scope, version)
        return version.lesson_id

    def retire(
        self, id_: str, *, reason: str = "", now: datetime | None = None
    ) -> None:
        """Stop offering a lesson; all its versions stay. Raises Rejected: there is no such lesson."""
        lesson, at = self.find(id_), self._verbs.parts.at(now)
        version = replace(
            lesson.versions[-1],
            at=at,
            created_at=at,
            origin="retirement",
            active=False,
            reason=reason,
        )
        self._verbs.write_version(self.scope, version)

    def curate(
        self, *, apply: bool = False, now: datetime | None = None
    ) -> dict[str, Any]:
        """Conflicts, duplicates and stale lessons, and the merges they call for; `apply` confirms those.

        It also writes down what has been generalized so far, so that it outlives its episodes' retention.
        """
        at, known = self._verbs.parts.at(now), self.all()
        report = curation.curate(known, at)
        written = {
            version.id for version in self._verbs.history(self.scope).lesson_versions
        }
        kept = curation.unwritten_versions(known, written)
        versions = [
            *kept,
            *(curation.merge_duplicates(report, known, at) if apply else []),
        ]
        for version in versions:
            self._verbs.write_version(self.scope, version)
        found = {"at": iso(at), **report.to_dict(), "kept": len(kept), "applied": apply}
        self._verbs.parts.objects.put(
            curation_key(self.scope), json.dumps(found).encode()
        )
        return found

    def reword(
        self, *, apply: bool = False, now: datetime | None = None
    ) -> dict[str, Any]:
        """A model's words for derived lessons that nobody has worded yet; `apply` confirms them.

        Refused are words that are of no use. Raises Misconfigured: there is no model; Retryable.
        """
        config, at = (
            self._verbs.parts.config(self.scope.workspace),
            self._verbs.parts.at(now),
        )
        llm = self._verbs.parts.llm(
            config, self._verbs.parts.privacy(config, self.scope.workspace)
        )
        if llm is None:
            raise Misconfigured(
                "VARVE_LLM: names the model that words lessons, and is not set"
            )
        history = self._verbs.history(self.scope)
        plain = [
            one
            for one in derive_lessons(history)
            if one.active and one.versions[-1].origin == GENERALIZED
        ]
        proposed, refused = [], []
        for lesson in plain[:MOST_REWORDED]:
            evidence = [
                history.by_id[id_] for id_ in lesson.supporting if id_ in history.by_id
            ]
            try:
                proposed.append(worded(lesson, evidence, at, llm))
            except Rejected as error:
                refused.append({"lesson": lesson.id, "reason": error.reason})
        for version in proposed if apply else []:
            self._verbs.write_version(self.scope, version)
        shown = [
            {"lesson": v.lesson_id, "condition": v.condition, "claim": v.claim}
            for v in proposed
        ]
        return {"proposed": shown, "refused": refused, "applied": apply}

    def last_curation(self) -> dict[str, Any] | None:
        """What the last `curate` found, by schedule or by hand; None where there was none."""
        stored = self._verbs.parts.objects.get(curation_key(self.scope))
        if stored is None:
            return None
        with intact(curation_key(self.scope)):
            return dict(json.loads(stored.data))

    def render(self) -> str:
        """All lessons as Markdown, for review."""
        return curation.markdown(self.all())

    def block(self, situation: str | None = None, *, tags: Sequence[str] = ()) -> str:
        """The `<learned_patterns>` block for a prompt; empty where there is nothing to say."""
        config = self._verbs.parts.config(self.scope.workspace)
        embed = self._verbs.parts.embedder(config).embed
        most = config.experience.block_lessons
        return curation.block(
            curation.select_lessons(
                self.all(), most, embed, situation=situation, tags=tags
            )
        )


def lesson_shown(lesson: Lesson) -> dict[str, Any]:
    """A lesson as JSON values, its versions the oldest first."""
    return {
        "id": lesson.id,
        "claim": lesson.claim,
        "condition": lesson.condition,
        "action": lesson.action,
        "state": lesson.state,
        "tags": list(lesson.tags),
        "confidence": round(lesson.confidence, 4),
        "supporting": list(lesson.supporting),
        "contradicting": list(lesson.contradicting),
        "version": lesson.version,
        "active": lesson.active,
        "standing": lesson.standing,
        "reason": lesson.reason,
        "versions": [
            {"at": iso(v.at), "origin": v.origin, "claim": v.claim}
            for v in lesson.versions
        ],
    }
