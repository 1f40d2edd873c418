"""Store one file of any format, with a bar on a terminal.

Commands load this module when they run, because the readers are many.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from varve.cli.progress import show_progress
from varve.domain.errors import Rejected
from varve.importers.files import open_source, show_name
from varve.importers.formats import Format, find_format
from varve.importers.items import ImportOptions, Source
from varve.importers.report import ImportReport
from varve.importers.run import OpenAgent, count_messages, import_file
from varve.importers.workers import count_workers
from varve.usecases.progress import StepCounter, no_progress


def import_one(
    name: str,
    format_name: str,
    options: ImportOptions,
    open_agent: OpenAgent,
    *,
    dry_run: bool = False,
    workers: int | None = None,
) -> ImportReport:
    """Store one file, with a process for each processor unless `workers` says how many.

    Raises Rejected: names the file and why it cannot be read.
    """
    with open_source(name) as source:
        try:
            format_ = find_format(format_name, source)
            with _show_messages(source, format_, options) as step:
                return import_file(
                    source,
                    format_,
                    options,
                    open_agent,
                    dry_run=dry_run,
                    step=step,
                    workers=workers or count_workers(),
                )
        except Rejected as error:
            if error.field.startswith("--"):
                raise
            raise Rejected(show_name(name), error.reason) from error


@contextmanager
def _show_messages(
    source: Source, format_: Format, options: ImportOptions
) -> Iterator[StepCounter]:
    """Yield the step that counts a file's messages; a bar shows it on a terminal.

    For the bar the file is read once more.
    """
    with show_progress() as progress:
        total = 0
        if progress is not no_progress:
            total = count_messages(source, format_, options)
        yield StepCounter("messages", total, progress)
