"""The composition root's directories of exports."""

from contextlib import AbstractContextManager
from pathlib import Path

from varve.ports.transfer import ExportReader, ExportWriter


def create_export(
    directory: Path, *, force: bool
) -> AbstractContextManager[ExportWriter]:
    """The directory to be filled. Raises Rejected: it is not empty."""
    from varve.adapters.exports.export_folder import create_export

    return create_export(directory, force=force)


def open_export(directory: Path) -> ExportReader:
    """An export's directory."""
    from varve.adapters.exports.export_folder import FolderReader

    return FolderReader(directory)
