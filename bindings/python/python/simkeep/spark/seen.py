"""Resolves a published place without fetching it: its generation, its epoch, its number of fingerprints."""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import simkeep
from simkeep import EpochInfo, GenerationInfo, PublishedFile, Reader

from .one import numbers, one
from .remote import Remote, is_uri

_HEAD, _TAIL, _MORE = 64, 64 << 10, 64
"""The number of bytes to read at both ends of a segment, and the factor for a second read if the first is too short."""


class Seen(NamedTuple):
    """A generation, and an epoch of the generation."""

    generation: GenerationInfo
    epoch: EpochInfo
    fingerprints: int
    """The number of fingerprints of the epoch."""


def seen(place: str, number: int | None, epoch: str | None) -> Seen:
    """Returns the generation with this number, or the newest complete generation, and an epoch of the generation.

    The epoch is the epoch with the name `epoch`, or by default the epoch for near-duplicates. For a local directory,
    opens all files. For a URI, lists the files, and reads the ends of segments.
    """
    return _elsewhere(Remote(place), number, epoch) if is_uri(place) else _here(place, number, epoch)


def _here(folder: str, number: int | None, epoch: str | None) -> Seen:
    if not os.path.isdir(os.path.join(folder, "generations")):
        raise simkeep.NotAStoreError(
            f"{folder} is not a published store: publish a store there with simkeep publish STORE --to {folder}"
        )
    if number is not None:
        _check_number(folder, number, numbers(folder))
    with Reader.published(folder, number) as reader:
        # The reader opens the newest complete generation.
        assert reader.generation is not None, "it is published"
        return _asked(folder, one(folder, reader.generation), epoch, reader.fingerprints)


def _elsewhere(remote: Remote, number: int | None, epoch: str | None) -> Seen:
    there = remote.generations()
    if not there:
        what = "it contains no published generation: publish a store with simkeep publish, and copy it there"
        raise simkeep.NotAStoreError(f"{remote.where}: {what}")
    if number is not None:
        _check_number(remote.where, number, there)
    sizes = remote.files("files")
    missing: simkeep.IoError | None = None
    for candidate in reversed(there) if number is None else [number]:
        with tempfile.TemporaryDirectory(prefix="simkeep-") as made:
            folder = Path(made)
            (folder / "generations").mkdir()
            (folder / "files").mkdir()
            try:
                _read(remote, folder, candidate)
                (info,) = simkeep.generations(folder)
                files = simkeep.generation_files(folder, candidate)
                _check_files(remote, candidate, files, sizes)
            except simkeep.CorruptError as error:
                error.add_note(f"The error is in the published store {remote.where}, generation {candidate}.")
                raise
            except simkeep.IoError as error:
                # The generation is still being copied, or was removed meanwhile.
                if error.errno != errno.ENOENT or number is not None:
                    raise
                missing = missing or error
                continue
            segments = [file for file in files if file.name.endswith(".seg")]
            return _asked(remote.where, info, epoch, lambda of: _counted(remote, folder, candidate, segments, of))
    assert missing is not None
    raise missing


def _check_number(where: str, number: int, there: list[int]) -> None:
    if number not in there:
        raise ValueError(f"{where}: there is no generation {number}; the generations are {', '.join(map(str, there))}")


def _asked(where: str, info: GenerationInfo, name: str | None, count: Callable[[int], int]) -> Seen:
    live = [of for of in info.epochs if not of.ended]
    for of in live:
        if of.name == name or name is None and of.epoch == info.near_epoch:
            return Seen(info, of, count(of.epoch))
    raise ValueError(f"{where}: there is no epoch {name}; the epochs are {', '.join(of.name for of in live)}")


def _read(remote: Remote, folder: Path, generation: int) -> None:
    name = f"generations/{generation:010}"
    with open(folder / name, "wb") as file:
        for chunk in remote.chunks(name):
            file.write(chunk)


def _check_files(
    remote: Remote, generation: int, files: tuple[PublishedFile, ...], sizes: dict[str, int]
) -> None:
    for file in files:
        what = f"{remote.where}/{file.name}"
        if file.name not in sizes:
            raise simkeep.IoError(errno.ENOENT, f"{what} is missing, but generation {generation} needs it", what)
    for file in files:
        if (found := sizes[file.name]) != file.bytes:
            what = f"{remote.where}/{file.name} is damaged: expected {file.bytes} bytes, found {found}"
            error = simkeep.CorruptError(what)
            error.file, error.offset = file.name, min(found, file.bytes)
            raise error


def _counted(remote: Remote, folder: Path, generation: int, segments: list[PublishedFile], epoch: int) -> int:
    """Counts the fingerprints of an epoch in sparse files that have only their ends."""
    tail = _TAIL
    while True:
        for file in segments:
            count, first, last = remote.ends(file.name, _HEAD, tail)
            with open(folder / file.name, "wb") as holes:
                holes.write(first)
                holes.seek(count - len(last))
                holes.write(last)
        try:
            return simkeep.generation_fingerprints(folder, generation, epoch)
        except simkeep.CorruptError as error:
            # The table may begin before the first byte read so far.
            if all(file.bytes <= tail for file in segments):
                error.add_note(f"The error is in the published store {remote.where}, generation {generation}.")
                raise
            tail *= _MORE
