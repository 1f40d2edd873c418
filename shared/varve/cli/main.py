"""`varve COMMAND …`: parse the arguments, run the command, return the exit code.

0: done. 1: failed. 2: bad usage or input. 130: interrupted.
"""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import varve
from varve.api.memory import Memory
from varve.cli import (
    analytics,
    experience,
    maintenance,
    prompt,
    reading,
    standing,
    telling,
    transfer,
)
from varve.cli.arguments import build_parser
from varve.cli.completion import print_completion
from varve.cli.costs import costs, folding
from varve.cli.demo import demo
from varve.cli.doctor import doctor
from varve.cli.evaluation import evaluate
from varve.cli.forgetting import forget
from varve.cli.graph import graph
from varve.cli.ingestion import ingest
from varve.cli.interrupted import INTERRUPTED, say_interrupted
from varve.cli.lessons import lessons
from varve.cli.look import look
from varve.cli.mcp import serve
from varve.cli.notes import note
from varve.cli.opening import fill_in_user, open_memory, require_places
from varve.cli.operations import dlq
from varve.cli.output import say
from varve.cli.report import report
from varve.cli.review import review
from varve.cli.sharing import share
from varve.cli.tool_schema import tool_schema
from varve.domain.errors import Misconfigured, Rejected, VarveError

FAILED = 1
BAD_INPUT = 2

Run = Callable[[argparse.Namespace], None]
RunOnMemory = Callable[[argparse.Namespace, Memory], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; by default that of `sys.argv`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Memories hold any character, and file names can hold invalid UTF-8.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = build_parser().parse_args(arguments)
    fill_in_user(options)
    warn_of_namesake(Path(varve.__file__).parents[1])
    try:
        require_places(options)
        COMMANDS[options.command](options)
    except (Rejected, Misconfigured) as error:
        say(f"varve: {error}")
        return BAD_INPUT
    except VarveError as error:
        say(f"varve: {error}")
        return FAILED
    except KeyboardInterrupt:
        say_interrupted()
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe: discard the output that is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0


def warn_of_namesake(packages: Path) -> None:
    """Say so if the registry's unrelated `varve` is installed over this package."""
    if any(packages.glob("varve-*.dist-info")):
        say(
            "varve: the unrelated package 'varve' shares this one's files; run "
            "pip uninstall varve, then pip install --force-reinstall varve-memory"
        )


def _complete(options: argparse.Namespace) -> None:
    print_completion(build_parser(), options)


def _on_memory(run: RunOnMemory) -> Run:
    """Return a command that opens the memory which its options name."""

    def run_on_memory(options: argparse.Namespace) -> None:
        memory = open_memory(options)
        with folding(lambda: [memory]):
            run(options, memory)

    return run_on_memory


COMMANDS: dict[str, Run] = {
    "agents": _on_memory(standing.agents),
    "answers": _on_memory(experience.answers),
    "cleanup": _on_memory(maintenance.cleanup),
    "completion": _complete,
    "config": _on_memory(maintenance.config),
    "context": _on_memory(prompt.context),
    "costs": _on_memory(costs),
    "correct": _on_memory(telling.correct),
    "demo": demo,
    "dlq": dlq,
    "doctor": _on_memory(doctor),
    "episode": _on_memory(experience.episode),
    "eval": _on_memory(evaluate),
    "export": _on_memory(transfer.export),
    "forget": _on_memory(forget),
    "graph": _on_memory(graph),
    "import": _on_memory(transfer.import_),
    "ingest": ingest,
    "lessons": _on_memory(lessons),
    "look": _on_memory(look),
    "mcp": _on_memory(serve),
    "note": _on_memory(note),
    "profile": _on_memory(prompt.profile),
    "publish": _on_memory(analytics.publish),
    "recall": _on_memory(experience.recall),
    "remember": _on_memory(telling.remember),
    "report": _on_memory(report),
    "reembed": _on_memory(transfer.reembed),
    "review": _on_memory(review),
    "search": _on_memory(reading.search),
    "share": _on_memory(share),
    "show": _on_memory(reading.show),
    "sql": _on_memory(analytics.sql),
    "status": _on_memory(standing.status),
    "summarize": _on_memory(maintenance.summarize),
    "tool-schema": tool_schema,
}
"""What runs each command of the parser."""
