"""The import of LanceDB without its REST client."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.moto_process import PROJECT
from varve import Memory

PROBE = """
import sys
import varve.adapters.lance_cache.records
loaded = [name for name in sys.modules if name.startswith("lance_namespace_urllib3_client.")]
assert loaded == [], loaded
from lance_namespace import CountTableRowsRequest as late
assert not isinstance("text", late)
assert late.from_dict({"version": 3}).version == late(version=3).version == 3
assert isinstance(late(version=3), late)
import lance_namespace_urllib3_client as client
made = client.TableApi()
assert type(made).__module__ == "lance_namespace_urllib3_client.api.table_api", type(made)
print("lean")
"""


def test_the_rest_client_is_loaded_only_on_its_first_call() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout.strip(), run.stderr) == ("lean", "")


def test_a_loaded_client_is_not_replaced() -> None:
    script = (
        "import lancedb, varve.adapters.lance_cache.records; "
        "lancedb.connect('memory://x').list_tables(); print('ok')"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "ok", run.stderr


HEAVY = (
    "lancedb", "pyarrow", "numpy", "Stemmer", "obstore", "boto3", "wordllama", "tokenizers", "duckdb",
    "openai", "detect_secrets", "phonenumbers", "dateparser",
)  # fmt: skip


@pytest.mark.parametrize("function", ["ingest", "search", "cleanup"])
def test_a_function_loads_no_heavy_library_before_it_calls_one(
    function: str,
) -> None:
    script = f"import sys, functions.{function}.app; print([name for name in {HEAVY} if name in sys.modules])"
    here = {"PYTHONPATH": f"{PROJECT}:{PROJECT / 'shared'}"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=here,
    )
    assert run.stdout.strip() == "[]"


def test_a_writer_of_stores_loads_nothing_that_ranks() -> None:
    ranking = (
        "Stemmer",
        "varve.domain.search.columns",
        "varve.domain.search.lexical",
        "varve.domain.search.ranking",
    )
    loaded = f"[name for name in {ranking} if name in sys.modules]"
    script = f"import sys, varve.adapters.lance_cache.records; print({loaded})"
    here = {"PYTHONPATH": f"{PROJECT}:{PROJECT / 'shared'}"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=here,
    )
    assert run.stdout.strip() == "[]"


UNUSED_BY_SEARCH = (
    "adk", "agents", "anyio", "dateparser", "detect_secrets", "duckdb", "google", "httpx",
    "jinja2", "langchain_core", "mcp", "openai", "phonenumbers", "pydantic_ai", "shtab", "starlette",
    "strands", "uvicorn", "varve.domain.rules", "varve.importers.formats", "varve.importers.run",
    "varve.integrations", "varve.look",
)  # fmt: skip


@pytest.mark.parametrize("options", [["--version"], ["search", "Lisbon"]])
def test_the_command_line_loads_nothing_that_a_search_does_not_need(
    options: list[str], tmp_path: Path
) -> None:
    script = (
        "import sys\nfrom varve.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {UNUSED_BY_SEARCH} if name in sys.modules])"
    )
    Memory.open(tmp_path).remember("Dana moved to Lisbon.")
    here = {
        "PYTHONPATH": str(PROJECT / "shared"),
        "VARVE_STORE": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-c", script, *options],
        capture_output=True,
        text=True,
        check=True,
        env=here,
    )
    assert run.stdout.splitlines()[-1] == "[]"
