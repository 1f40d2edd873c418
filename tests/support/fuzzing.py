"""`make fuzz`: the parsers of `tests.support.parsers` under atheris, guided by coverage.

Each gets its share of the minutes, in a process of its own; whatever is not an error of ours ends the
run, with the input in a file that atheris names.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SLOW_SECONDS = 20


def fuzz(name: str, seconds: int, folder: Path) -> None:
    """Try one parser for so long. Does not return."""
    import atheris

    with atheris.instrument_imports(include=["varve", "json", "zipfile"]):
        from tests.support.parsers import parsers

    (parser,) = (parser for parser in parsers() if parser.name == name)
    for number, data in enumerate(parser.inputs):
        (folder / str(number)).write_bytes(data)
    given = [
        f"-max_total_time={seconds}",
        f"-timeout={SLOW_SECONDS}",
        "-rss_limit_mb=2048",
    ]
    atheris.Setup(
        [sys.argv[0], *given, "-print_final_stats=1", str(folder)],
        parser.try_out,
    )
    atheris.Fuzz()


def main(minutes: float, only: str) -> int:
    """Try all, or the one of this name; 1 where one of them failed."""
    from tests.support.parsers import parsers

    names = [parser.name for parser in parsers() if only in ("", parser.name)]
    share = max(5, int(minutes * 60 / max(1, len(names))))
    failed = []
    for name in names:
        with TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "tests.support.fuzzing",
                "--one",
                name,
                str(share),
                folder,
            ]
            done = subprocess.run(command, capture_output=True, text=True)
        runs = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
        print(
            f"{name}: {share} s, {runs[1] if runs else 'unknown'} executions",
            flush=True,
        )
        if done.returncode:
            failed.append(name)
            print(done.stdout[-4_000:], done.stderr[-4_000:])
    print(f"{len(names)} parsers, failed: {', '.join(failed) or 'none'}")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        fuzz(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    sys.exit(main(float(sys.argv[1]), sys.argv[2]))
