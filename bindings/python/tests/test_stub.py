"""The type stub, which is generated from the sources."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from simkeep import _simkeep

PACKAGE = Path(__file__).parents[1]
# The exit code of `simkeep-stub` if an extension has no signatures.
NO_SIGNATURES = 3


def test_stub_is_up_to_date() -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        missing("there is no cargo")
    command = [cargo, "run", "--quiet", "--release", "--package", "simkeep-stub", "--", _simkeep.__file__]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True)
    if done.returncode == NO_SIGNATURES:
        missing("the extension was built without the feature `stub`")
    assert done.returncode == 0, done.stderr
    stub = (PACKAGE / "python/simkeep/_simkeep.pyi").read_text()
    assert stub == done.stdout, "docs/testing.md says how to print the stub anew"


def missing(what: str) -> NoReturn:
    if "STUB_NEEDED" in os.environ:
        pytest.fail(what)
    pytest.skip(what)
