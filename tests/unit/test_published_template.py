"""The template's Glue table and Athena workgroup over what `varve publish` writes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import sam
from tests.support.moto_process import PROJECT
from varve.domain.analytics import TABLES, ColumnType
from varve.domain.identity import Scope
from varve.domain.publishing import partition_folder

TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.TEXTS: "array<string>",
    ColumnType.TIME: "timestamp",
    ColumnType.INTEGER: "bigint",
    ColumnType.NUMBER: "double",
    ColumnType.FLAG: "boolean",
}
ADDED = ("PublishedDatabase", "PublishedTable", "PublishedWorkGroup", "ForgetPublishedPolicy")  # fmt: skip


@pytest.fixture(scope="module")
def stack() -> Any:
    return sam.translate(sam.load_template(PROJECT / "template.yaml"))


@pytest.fixture(scope="module")
def table(stack: Any) -> Any:
    return stack["Resources"]["PublishedTable"]["Properties"]["TableInput"]


def test_the_glue_table_has_the_columns_of_all_tables(table: Any) -> None:
    expected: dict[str, str] = {}
    for one in TABLES.values():
        for column in one.columns:
            known = expected.setdefault(column.name, TYPES[column.type])
            assert known == TYPES[column.type], column.name
    columns = table["StorageDescriptor"]["Columns"]
    assert {one["Name"]: one["Type"] for one in columns} == expected


def test_its_partitions_are_the_folders_of_published_files(table: Any) -> None:
    folder = partition_folder(Scope("acme", "support"), "turns", "2026-03")
    names = [part.partition("=")[0] for part in folder.split("/")]
    assert [one["Name"] for one in table["PartitionKeys"]] == names


@pytest.mark.parametrize("name", ADDED)
def test_analytics_of_the_stack_are_off_without_a_bucket(
    stack: Any, name: str
) -> None:
    assert stack["Parameters"]["PublishedBucket"]["Default"] == ""
    assert stack["Resources"][name]["Condition"] == "HasPublished"
