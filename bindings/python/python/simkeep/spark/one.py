"""One generation of a published directory, regardless of its other generations."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import simkeep
from simkeep import GenerationInfo

_NUMBER = re.compile(r"[0-9]{10,20}")


def numbers(folder: str | Path) -> list[int]:
    """The numbers of the generations in order, including incomplete ones."""
    return sorted(int(name) for name in os.listdir(os.path.join(folder, "generations")) if _NUMBER.fullmatch(name))


def one(folder: str | Path, number: int) -> GenerationInfo:
    """Describes a generation. Other generations may be damaged or incomplete."""
    name = os.path.join("generations", f"{number:010}")
    with tempfile.TemporaryDirectory(prefix="simkeep-") as alone:
        os.mkdir(os.path.join(alone, "generations"))
        try:
            shutil.copyfile(os.path.join(folder, name), os.path.join(alone, name))
        except OSError as error:
            what = f"{os.path.join(folder, name)} cannot be read: {error.strerror}"
            raise simkeep.IoError(error.errno, what, name) from None
        (info,) = simkeep.generations(alone)
        return info
