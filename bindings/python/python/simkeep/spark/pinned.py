"""One generation of a published store: what a task needs to know to open it, wherever it runs."""

import glob
import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

import pyarrow as pa

import simkeep
from simkeep import Reader

_OPEN_MAX = 16
"""How many stores a worker holds open."""

_RESERVED_SHIFT = 24
"""Where in the number of an epoch it stands how many leading bits are no part of a fingerprint."""

_open: "OrderedDict[Pinned, Reader]" = OrderedDict()


class Pinned(NamedTuple):
    """A generation of a published store, and the epoch by which it is asked."""

    name: str
    """The last part of its path, or the path where that is not enough to tell it from others."""
    path: str
    """The published directory."""
    generation: int
    """The number of the generation."""
    store: int
    """The number of the store that was published."""
    sequence: int
    """The last operation that the generation has."""
    epoch: int
    """The number in this store of the epoch by which it is asked."""
    fingerprints: int
    """How many different fingerprints its segments hold of that epoch, those out of force included."""

    def packed(self) -> str:
        """It as text, for a row."""
        return json.dumps(self)

    @staticmethod
    def unpacked(packed: str) -> "Pinned":
        """What `packed` made a text of."""
        return Pinned(*json.loads(packed))

    def reader(self) -> Reader:
        """It opened. A process holds up to 16 of them open, for the next task."""
        if self in _open:
            _open.move_to_end(self)
        else:
            _open[self] = _checked(self)
            if len(_open) > _OPEN_MAX:
                _open.popitem(last=False)[1].close()
        return _open[self]

    @contextmanager
    def asked(self) -> Iterator[Reader]:
        """It opened; an error of what is asked then says which store and generation it is of."""
        try:
            yield self.reader()
        except (simkeep.Error, pa.ArrowException) as error:
            # What reads columns has errors of its own, which say what the store said.
            error.add_note(f"This is of the published store {self.path}, generation {self.generation}.")
            raise


def _checked(pinned: Pinned) -> Reader:
    """It opened, if it still is what was pinned."""
    there = [of for of in simkeep.generations(pinned.path) if of.number == pinned.generation]
    if there and (there[0].store, there[0].sequence) != (pinned.store, pinned.sequence):
        what = f"{pinned.path}: generation {pinned.generation} is of another store or another state by now"
        raise simkeep.MisuseError(f"{what}: make Stores anew")
    return Reader.published(pinned.path, pinned.generation)


def _folders(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    for path in given:
        pattern = os.fspath(path)
        if not isinstance(pattern, str):
            raise TypeError(f"paths must be text, not {type(pattern).__name__}")
        matches = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
        folders = [os.path.abspath(match) for match in matches if os.path.isdir(match)]
        if not folders:
            raise FileNotFoundError(f"{pattern}: no such directory; simkeep publish makes one of a store")
        found += folders
    if not found:
        raise ValueError("paths: there are none")
    return found


def _names(folders: list[str]) -> list[str]:
    short = [os.path.basename(folder) for folder in folders]
    return short if len(set(short)) == len(short) else folders


def _epoch(reader: Reader, name: str | None) -> tuple[str, int] | None:
    """The name and number of the epoch to ask by."""
    near = reader.near_epoch
    for info in reader.epochs():
        if not info.ended and (info.name == name or name is None and info.epoch == near):
            return info.name, info.epoch
    return None


def pinned(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    generation: int | Literal["latest"],
    epoch: str | None,
) -> list[Pinned]:
    """Resolves published directories, once: each with one generation, all with one epoch."""
    if generation != "latest" and (isinstance(generation, bool) or not isinstance(generation, int)):
        raise TypeError('generation must be a number, or "latest"')
    folders = _folders(paths)
    found: list[Pinned] = []
    epochs: dict[str, list[str]] = {}
    stores: dict[int, str] = {}
    for name, folder in zip(_names(folders), folders, strict=True):
        if not os.path.isdir(os.path.join(folder, "generations")):
            raise simkeep.NotAStoreError(
                f"{folder}: not a published store: simkeep publish STORE --to {folder} makes it one"
            )
        number = None if generation == "latest" else generation
        if number is not None and number not in (numbers := [of.number for of in simkeep.generations(folder)]):
            raise ValueError(f"{folder}: there is no generation {number}; there are {', '.join(map(str, numbers))}")
        with Reader.published(folder, number) as reader:
            # The newest of which all files are there.
            (info,) = (of for of in simkeep.generations(folder) if of.number == reader.generation)
            if info.store in stores:
                raise ValueError(f"{folder}: this is the store of {stores[info.store]}, which is to be named once")
            stores[info.store] = folder
            of = _epoch(reader, epoch)
            if of is None:
                names = ", ".join(info.name for info in reader.epochs() if not info.ended)
                raise ValueError(f"{folder}: there is no epoch {epoch}; there are {names}")
            count = reader.fingerprints(of[1])
            found.append(Pinned(name, folder, info.number, info.store, reader.sequence, of[1], count))
            reserved = of[1] >> _RESERVED_SHIFT
            told = f"{of[0]} with {reserved} reserved bits" if reserved else of[0]
            epochs.setdefault(told, []).append(folder)
    if len(epochs) > 1:
        listed = "; ".join(f"{of}: {', '.join(folders)}" for of, folders in sorted(epochs.items()))
        raise ValueError(f"the stores have several epochs to ask by, so name one with epoch=: {listed}")
    return found
