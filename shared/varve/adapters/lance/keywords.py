"""The keyword index of a table."""

from lancedb.index import FTS
from lancedb.table import Table

_KEYWORDS = FTS(
    base_tokenizer="simple",
    stem=True,
    remove_stop_words=True,
    ascii_folding=True,
)


def require_index(table: Table) -> None:
    """Create the keyword index if it is missing.

    It is missing if the process that created the table died before creating the index.
    """
    if not any(index.columns == ["content"] for index in table.list_indices()):
        table.create_index("content", config=_KEYWORDS)


def remake_index(table: Table) -> None:
    """Build the keyword index of all rows: a merged one keeps the words of deleted rows."""
    table.create_index("content", config=_KEYWORDS, replace=True)
