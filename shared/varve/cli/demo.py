"""`varve demo`: watch an agent remember."""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from varve.api.memory import Memory
from varve.cli.inputs import AT_ONCE, read_conversations
from varve.cli.output import as_json, say, search_lines, status_lines
from varve.domain.conversation import Conversation
from varve.domain.errors import Rejected
from varve.domain.identity import Scope

Open = Callable[[argparse.Namespace, Scope], Memory]
_PACKAGED = Path(__file__).parents[1] / "corpus"
_IN_REPOSITORY = Path(__file__).parents[3] / "tests" / "corpus"


def run(options: argparse.Namespace, open_memory: Open) -> None:
    """Ingest the corpus, print what lies in memory, answer ten questions, say what to try next."""
    corpus = _corpus(options.corpus)
    questions = json.loads((corpus / "questions.json").read_text("utf-8"))
    by_scope: defaultdict[Scope, list[Conversation]] = defaultdict(list)
    for conversation in read_conversations(_conversation_files(corpus)):
        by_scope[conversation.scope].append(conversation)
    memories = {scope: open_memory(options, scope) for scope in by_scope}
    for scope, memory in memories.items():
        _ingest(scope, memory, by_scope[scope])
    statuses = [memory.status() for memory in memories.values()]
    answers = [(q, _ask(q, memories)) for q in questions if q.get("demo")]
    if options.json:
        print(
            as_json(
                {
                    "status": statuses,
                    "answers": [_answer_json(*pair) for pair in answers],
                }
            )
        )
        return
    _print(statuses, answers)
    _print_next(options, next(q for q, _ in answers))


def _print(
    statuses: list[dict[str, Any]], answers: list[tuple[dict[str, Any], Any]]
) -> None:
    print("\nWhat memory holds")
    for status in statuses:
        print("\n".join(status_lines(status)))
    print("\nTen questions, asked through search_memory")
    for question, response in answers:
        print(
            f"\n? {question['question']}   ({question['workspaceId']}/{question['agentId']})"
        )
        print("\n".join(search_lines(response, ids=False)[:-1]))


def _print_next(options: argparse.Namespace, question: dict[str, Any]) -> None:
    store = options.store or "./memory"
    varve = sys.argv[0] if Path(sys.argv[0]).name == "varve" else "varve"
    where = f"--store {store} --workspace {question['workspaceId']} --agent {question['agentId']}"
    print(
        f"\nThe store is {Path(store).resolve() if '://' not in store else store}. Try next:"
    )
    print(f'  {varve} search "{question["question"]}" {where}')
    print(f"  {varve} search --since 2026-10-01 {where}")
    print(f"  {varve} summarize {where}")


def _ingest(scope: Scope, memory: Memory, conversations: list[Conversation]) -> None:
    for start in range(0, len(conversations), AT_ONCE):
        taken = conversations[start : start + AT_ONCE]
        memory.ingest(taken)
        say(
            f"{scope}: remembered {start + len(taken)} of {len(conversations)} conversations"
        )


def _ask(question: dict[str, Any], memories: dict[Scope, Memory]) -> Any:
    memory = memories[Scope(question["workspaceId"], question["agentId"])]
    return memory.search(question["question"], max_results=3)


def _answer_json(question: dict[str, Any], response: Any) -> dict[str, Any]:
    return {"question": question["question"], "response": response.to_dict()}


def _corpus(given: str | None) -> Path:
    """The directory asked for, or the project's own: packaged, or in the repository's tests."""
    places = [Path(given)] if given else [_PACKAGED, _IN_REPOSITORY]
    for place in places:
        with suppress(OSError):  # of a name that no file can have
            if (place / "questions.json").is_file():
                return place
    raise Rejected(
        "--corpus", f"{places[0]} holds no corpus (questions.json and conversations)"
    )


def _conversation_files(corpus: Path) -> list[str]:
    return [
        str(path)
        for path in sorted(corpus.glob("*.json"))
        if path.name != "questions.json"
    ]
