"""`varve doctor`: examine a deployment."""

import argparse
from collections.abc import Iterator

from varve.api.memory import Memory
from varve.cli.output import format_count, print_result
from varve.domain.diagnosis import Diagnosis
from varve.domain.errors import VarveError


def add_doctor(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve doctor`."""
    command.add_argument(
        "--no-check",
        action="store_false",
        dest="check",
        help="do not ask the models",
    )


def doctor(options: argparse.Namespace, memory: Memory) -> None:
    """Print a line for each part. Raises VarveError: a part failed."""
    diagnosis = memory.diagnose(asks_models=options.check)
    print_result(options, diagnosis.to_dict(), _format_findings(diagnosis))
    if diagnosis.failed:
        raise VarveError(f"{format_count(diagnosis.failed, 'part')} failed")


def _format_findings(diagnosis: Diagnosis) -> Iterator[str]:
    for one in diagnosis.findings:
        line = f"{one.health:<9}{one.part:<15}{one.told}"
        yield f"{line}: {one.remedy}" if one.remedy else line
