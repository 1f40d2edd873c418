"""The stand-in for the image: a bare interpreter and the Dockerfile's environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.install import base_interpreter, image_environment, install


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return base_interpreter(tmp_path_factory.mktemp("build"))


def runs(python: Path, code: str) -> bool:
    return (
        subprocess.run([python, "-c", code], capture_output=True).returncode
        == 0
    )


def test_the_interpreter_has_the_runtime_client_and_nothing_of_the_developers(
    python: Path,
) -> None:
    assert runs(python, "import awslambdaric.bootstrap")
    assert not runs(python, "import pytest")
    assert not runs(python, "import pip")


def test_the_dockerfiles_environment_is_read(tmp_path: Path) -> None:
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text(
        'FROM base\nENV HOME=/tmp \\\n    NAME="two words"\nRUN true\nENV LAST=1\n'
    )
    assert image_environment(dockerfile) == {
        "HOME": "/tmp",
        "NAME": "two words",
        "LAST": "1",
    }


def test_without_a_lock_file_nothing_is_installed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is missing"):
        install(tmp_path / "requirements.lock", tmp_path / "build", {})
