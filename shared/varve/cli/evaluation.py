"""`varve eval`."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.output import format_count, print_result, say
from varve.domain.errors import Misconfigured, Rejected, prefix_field
from varve.domain.evaluation import parse_questions
from varve.domain.experience.alike import Embed, EmbedWords
from varve.domain.trial.baselines import (
    FlatMemory,
    KeywordMemory,
    MajorityMemory,
    NearestSituation,
    NoMemory,
)
from varve.domain.trial.memory import ExperienceMemory
from varve.domain.trial.report import GROUPS, compare, shuffle_rounds
from varve.domain.trial.rounds import (
    Decide,
    Scenario,
    Score,
    TrialMemory,
    decide_by_rule,
    parse_scenarios,
    run,
)
from varve.ports.search import word_embedding
from varve.usecases.experience.reasoning import ModelReasoner
from varve.usecases.session import Session

MAX_NAMED = 20
"""The most unknown message ids that a warning names."""


def add_eval(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve eval`."""
    command.add_argument(
        "what",
        choices=["experience", "retrieval"],
        help="part of memory to test",
    )
    command.add_argument(
        "--scenarios",
        metavar="FILE",
        action="append",
        default=[],
        help="experience: JSON file with a scenario or an array of them; give the option "
        "once for each file",
    )
    command.add_argument(
        "--reasoner",
        choices=["rule", "model"],
        default="rule",
        help="experience: who decides over what each memory returns; model is the one of "
        "VARVE_LLM and is called once for each memory and round; default: rule",
    )
    command.add_argument(
        "--questions",
        metavar="FILE",
        help="retrieval: JSON array of questions, each with messageIds or words that "
        "answer it",
    )
    command.add_argument(
        "--tune",
        action="store_true",
        help="retrieval: fit half-life and weights on the questions, at least 50, and "
        "propose the commands that set them",
    )
    command.add_argument(
        "--shuffles",
        metavar="N",
        type=int,
        default=5,
        help="orders in which the rounds are played, the first as written; default: 5",
    )


def evaluate(options: argparse.Namespace, memory: Memory) -> None:
    """Measure a part of memory on the caller's own file. Raises Rejected."""
    if options.what == "retrieval":
        _evaluate_retrieval(options, memory)
    else:
        _evaluate_experience(options, memory)


def _evaluate_retrieval(options: argparse.Namespace, memory: Memory) -> None:
    """Ask the questions and print the figures by memory type.

    Raises Rejected: names file and field.
    """
    if options.questions is None:
        raise Rejected("--questions", "is required by eval retrieval")
    value = _read_json(options.questions)
    with prefix_field(f"{options.questions}: "):
        questions = parse_questions(value)
    unknown = memory.find_unknown_messages(questions)
    if unknown:
        say(f"varve: warning: {_name_unknown(unknown)}")
    if options.tune:
        tuning = memory.tune_retrieval(questions).to_dict()
        print_result(options, tuning, _format_tuning(tuning))
        return
    figures = memory.evaluate_retrieval(questions)
    shown = {name: one.to_dict() for name, one in figures.items()}
    value = {
        "questions": len(questions),
        "unknownMessageIds": unknown,
        **shown,
    }
    print_result(options, value, _format_figures(shown))


def _name_unknown(ids: Sequence[str]) -> str:
    """Return a line that names message ids which no answer can come from."""
    names = ", ".join(ids[:MAX_NAMED])
    more = ", …" if len(ids) > MAX_NAMED else ""
    return (
        f"messageIds of no record here, which no search finds: {names}{more}"
    )


def _format_tuning(tuning: dict[str, Any]) -> Iterator[str]:
    """Yield the scores of questions that a fit did not see, and what to set."""
    yield (
        f"{tuning['questions']} questions, mean of recall@10 and MRR: "
        f"{tuning['before']:.3f} now, {tuning['after']:.3f} fitted on the other "
        f"four fifths (standard error of the gain {tuning['standardError']:.3f})"
    )
    if not tuning["commands"]:
        yield "keep the settings: a fit gains no more than chance"
    yield from tuning["commands"]


def _format_figures(shown: dict[str, dict[str, Any]]) -> Iterator[str]:
    names = list(shown["all"])
    heading = "".join(f"{name:>14}" for name in names)
    yield f"{'':<18}{heading}"
    for variant, figures in shown.items():
        cells = "".join(f"{figures[name]:>14}" for name in names)
        yield f"{variant:<18}{cells}"


def _evaluate_experience(options: argparse.Namespace, memory: Memory) -> None:
    """Run the scenarios with this memory and with simpler ones, and print all scores.

    Raises Rejected: names file and field.
    """
    if not options.scenarios:
        raise Rejected("--scenarios", "is required by eval experience")
    if options.shuffles < 1:
        raise Rejected("--shuffles", "must be 1 or more")
    scenarios = _read_scenarios(options.scenarios)
    session = memory.sessions.open(memory.scope)
    embedder = session.embedder
    decide = _choose_reasoner(options.reasoner, session)
    arms = build_arms(embedder.embed, word_embedding(embedder))
    scores: dict[str, Score] = {name: Score() for name in arms}
    for seed in range(options.shuffles):
        for scenario in scenarios:
            shuffled = shuffle_rounds(scenario, seed)
            for name, build_memory in arms.items():
                run(shuffled, build_memory(), decide, scores[name])
    told = {name: score.to_dict() for name, score in scores.items()}
    differences = _compare_all(scores)
    value = {
        "scenarios": len(scenarios),
        "shuffles": options.shuffles,
        "reasoner": options.reasoner,
        **told,
        "differences": differences,
    }
    lines = [*_format_scores(told), *_format_differences(differences)]
    print_result(options, value, lines)


def _choose_reasoner(name: str, session: Session) -> Decide:
    """Return who decides the rounds. Raises Misconfigured: no model is configured."""
    if name == "rule":
        return partial(decide_by_rule, session.embedder.embed)
    if session.llm is None:
        raise Misconfigured(
            "VARVE_LLM: names the model that decides, and is not set"
        )
    return ModelReasoner(session.llm)


def build_arms(
    embed: Embed, words: EmbedWords | None
) -> dict[str, Callable[[], TrialMemory]]:
    """Return a constructor for each memory on trial, by name."""
    return {
        "none": NoMemory,
        "majority": MajorityMemory,
        "nearest": lambda: NearestSituation(embed),
        "bm25": KeywordMemory,
        "flat": lambda: FlatMemory(embed),
        "memory": lambda: ExperienceMemory(embed, words),
    }


def _compare_all(
    scores: Mapping[str, Score],
) -> dict[str, dict[str, dict[str, float]]]:
    """Return by arm and group how much better memory is, with the interval."""
    ours = scores["memory"].judged
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, score in scores.items():
        if name == "memory":
            continue
        found[name] = {}
        for group in GROUPS:
            difference = compare(ours, score.judged, group)
            if difference is not None:
                found[name][group] = difference.to_dict()
    return found


def _format_differences(
    differences: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> Iterator[str]:
    yield "memory's share of right rounds less each other's [95 % interval]:"
    for name, groups in differences.items():
        parts = [
            f"{group} {one['difference']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]"
            for group, one in groups.items()
        ]
        yield f"    {name}: {'; '.join(parts)}"


def _read_scenarios(names: list[str]) -> list[Scenario]:
    scenarios: list[Scenario] = []
    for name in names:
        value = _read_json(name)
        with prefix_field(f"{name}: "):
            scenarios += parse_scenarios(value)
    return scenarios


def _read_json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text("utf-8"))
    except FileNotFoundError as error:
        raise Rejected(name, "does not exist") from error
    except (OSError, ValueError) as error:
        reason = f"cannot be read as JSON ({type(error).__name__})"
        raise Rejected(name, reason) from error


def _format_scores(scores: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, score in scores.items():
        shares = score["accuracyByType"].items()
        types = ", ".join(f"{type_} {share:.2f}" for type_, share in shares)
        causes = score["accuracyByCause"].items()
        seen = ", ".join(f"{cause} {share:.2f}" for cause, share in causes)
        rounds = format_count(score["rounds"], "round")
        yield f"{name}: {score['right']} of {rounds} right ({types})"
        yield f"    by cause, seen before or new: {seen}"
        explicit = "-"
        if score["explicitOutcomeShare"] is not None:
            explicit = f"{score['explicitOutcomeShare']:.2f}"
        yield (
            f"    share of retrieved texts with an explicit outcome: {explicit}; "
            f"applications: {score['rightApplications']} right, "
            f"{score['falseApplications']} wrong"
        )
