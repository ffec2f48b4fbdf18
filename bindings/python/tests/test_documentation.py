"""The programs in the README, and the types and docs of all public names."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simkeep
from simkeep import _simkeep

PACKAGE = Path(__file__).parents[1]


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (PACKAGE / "README.md").read_text(), re.S | re.M)


def test_examples_in_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = blocks()
    assert shown
    names: dict[str, object] = {}
    for block in shown:
        exec(compile(block, "README.md", "exec"), names)


def test_everything_public_is_documented() -> None:
    for name in simkeep.__all__:
        if name in ("__version__", "EXTRACTOR", "RECIPE"):
            continue
        thing = getattr(simkeep, name)
        assert inspect.getdoc(thing), name
        if not inspect.isclass(thing) or not thing.__module__ == "simkeep":
            continue
        for part, value in vars(thing).items():
            if not part.startswith("_") and thing in vars(_simkeep).values():
                assert inspect.getdoc(value), f"{name}.{part}"


def test_version_matches_the_crate() -> None:
    manifest = (PACKAGE.parents[1] / "Cargo.toml").read_text()
    found = re.search(r'^version = "(.*)"$', manifest, re.M)
    assert found and simkeep.__version__ == found.group(1)
    assert "version.workspace = true" in (PACKAGE / "Cargo.toml").read_text()


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict", "-p", "simkeep"],
        ["mypy", "--strict", "tests"],
        ["mypy.stubtest", "simkeep", "--mypy-config-file", "pyproject.toml"],
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_type_checks_pass(command: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=PACKAGE,
        env={"MYPY_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_examples_pass_mypy(tmp_path: Path) -> None:
    file = tmp_path / "readme.py"
    file.write_text("\n".join(blocks()))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(file)],
        cwd=PACKAGE,
        env={"MYPY_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
