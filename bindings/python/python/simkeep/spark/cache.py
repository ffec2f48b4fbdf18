"""A machine's cache of files from remote published stores. Each file is fetched once, for all tasks of the machine.

Each store has a folder with the layout of a published directory: `files` and `generations`. A process locks `LOCK` of
the folder while it reads the folder or fetches files into it. A reader holds a shared lock on the file of its
generation, until the process ends at the latest. Generations without a reader may be removed, the least recently used
first.
"""

import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import simkeep
from simkeep import PublishedFile

from .one import one
from .remote import Remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER, BYTES = "simkeep.cache.dir", "simkeep.cache.bytes"
"""The settings of the cache: an absolute path, and a number of bytes or a size with a unit, for example `64g`."""

_BYTES = 64 << 30
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_GENERATION_MAX = 16 << 20
"""The maximum number of bytes of a generation file."""
_FILE = re.compile(r"files/[0-9a-f]{16}-[0-9]{10,20}-[0-9a-f]{8,16}\.(seg|df)")
_KEY = re.compile(r"[0-9a-f]{32}-[0-9a-f]{16}")
"""The pattern of the name of a store's folder."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Cache(NamedTuple):
    """The settings of the cache: the folder for fetched files, and its maximum number of bytes."""

    folder: str | None = None
    """An absolute path; by default a private folder of the user among temporary files."""
    bytes: int = _BYTES
    """The maximum number of bytes of files without a reader."""

    @staticmethod
    def of_session(spark: "SparkSession") -> "Cache":
        """Reads `simkeep.cache.dir` and `simkeep.cache.bytes` of a session, also with the prefix `spark.`."""
        return Cache.of(*(spark.conf.get(f"spark.{name}", spark.conf.get(name, None)) for name in (FOLDER, BYTES)))

    @staticmethod
    def of(folder: str | None, most: str | None) -> "Cache":
        """A cache in `folder` with at most `most` bytes, for example `64g`; `None` for the defaults."""
        if folder is not None and not os.path.isabs(folder):
            raise ValueError(f"{FOLDER} must be an absolute path, not {folder!r}: tasks run in other folders")
        return Cache(folder, _BYTES if most is None else _count(most))

    def opened(self) -> "LocalCache":
        """Opens the cache on this machine, and creates its folder if needed."""
        return LocalCache(self)

    def fetched(self) -> int:
        """The bytes that this machine has ever fetched, from the log of the cache."""
        log = _folder(self) / "fetched.log"
        return sum(int(line.split(" ", 1)[0]) for line in log.read_text().splitlines()) if log.exists() else 0


class Hold:
    """A generation in the cache. The generation stays there until this object is closed, or the process ends."""

    def __init__(self, cache: "LocalCache", folder: Path, generation: Path) -> None:
        self.cache, self.folder = cache, folder
        self._generation = generation
        self._file = os.open(generation, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._file, fcntl.LOCK_SH)
        self.use()

    def use(self) -> None:
        """Sets the time of last use to now."""
        # The file system's own timestamp for the current time is coarser.
        now = time.time_ns()
        os.utime(self._file, ns=(now, now))

    def close(self) -> None:
        """Releases the generation."""
        # Unlocking would also release the lock of a forked child.
        os.close(self._file)

    def doubt(self, file: str | None) -> None:
        """Removes a damaged file, so that the next use fetches it again."""
        if file is not None and _FILE.fullmatch(file):
            (self.folder / file).unlink(missing_ok=True)
        else:
            self._generation.unlink(missing_ok=True)


class LocalCache:
    """The cache on this machine."""

    def __init__(self, cache: Cache) -> None:
        self._root = _folder(cache)
        self._most = cache.bytes
        _check_own(self._root)

    def hold(self, uri: str, generation: int, store: int, sequence: int, give_up: Callable[[], None]) -> Hold:
        """Returns a generation of a store, after fetching its missing files.

        Waits while another process fetches from the same store. If other files must be removed to make room, first
        calls `give_up`, which closes the idle generations of this process.
        """
        remote = Remote(uri)
        folder = self._root / _key(uri, store)
        name = _generation(generation)
        with self._named_errors(remote.where):
            (folder / "files").mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / "generations").mkdir(mode=0o700, exist_ok=True)
            with _locked(folder / "LOCK"):
                if not _is_there(folder, generation, sequence):
                    self._fetch(folder, remote, (generation, store, sequence), give_up)
                hold = Hold(self, folder, folder / name)
            if sum(map(_bytes, self._folders())) > self._most:
                # The limit may be lower now than when the last file was fetched.
                (self._root / "crowded").touch()
            return hold

    def is_crowded(self) -> bool:
        """Whether the files in use exceeded the limit at the last check."""
        return (self._root / "crowded").exists()

    def shrink(self) -> None:
        """Removes unused files until the cache is within its limit."""
        with self._named_errors(), _locked(self._root / "LOCK"):
            self._shrink(self._most)

    def _folders(self) -> list[Path]:
        return [Path(entry) for entry in os.scandir(self._root) if _KEY.fullmatch(entry.name)]

    def _fetch(
        self, folder: Path, remote: Remote, wanted: tuple[int, int, int], give_up: Callable[[], None]
    ) -> None:
        generation, store, sequence = wanted
        name, new = _generation(generation), folder / "new"
        # Leftovers of a killed process.
        shutil.rmtree(new, ignore_errors=True)
        (new / "files").mkdir(mode=0o700, parents=True)
        (new / "generations").mkdir(mode=0o700)
        try:
            self._copy(remote, name, new / name, None)
            (info,) = simkeep.generations(new)
            if (info.number, info.store, info.sequence) != wanted:
                what = f"{remote.where}: generation {generation} now belongs to another store or has other content"
                raise simkeep.InvalidArgumentError(f"{what}: make a new Stores object")
            named = _named(new, generation)
            lacking = [file for file in named if not _has(folder, file)]
            self._reserve(folder, remote, lacking, {file.name for file in named}, give_up)
            for file in lacking:
                self._copy(remote, file.name, new / file.name, file.bytes)
                _check(remote, new, generation, file)
                os.rename(new / file.name, folder / file.name)
            _sync(folder / "files")
            # An existing generation file has the same content, and readers hold locks on it, so it is kept.
            if not (folder / name).exists():
                os.rename(new / name, folder / name)
                _sync(folder / "generations")
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _copy(self, remote: Remote, name: str, to: Path, expected: int | None) -> None:
        """Fetches a file of `expected` bytes into its reserved space, or a generation file of unknown size."""
        most = _GENERATION_MAX if expected is None else expected
        count = 0
        with open(to, "r+b" if expected else "wb") as file:
            for chunk in remote.chunks(name):
                count += len(chunk)
                if count > most:
                    break
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        with open(self._root / "fetched.log", "a") as log:
            log.write(f"{count} {remote.where}/{name}\n")
        if count > most or expected is not None and count != expected:
            found = f"more than {most}" if count > most else str(count)
            raise _damaged(f"{remote.where}/{name} is damaged: expected {most} bytes, found {found}", name, most)

    def _reserve(
        self,
        folder: Path,
        remote: Remote,
        files: Sequence[PublishedFile],
        named: set[str],
        give_up: Callable[[], None],
    ) -> None:
        """Allocates the files to fetch, so that other processes count their bytes."""
        need = sum(file.bytes for file in files)
        with _locked(self._root / "LOCK"):
            if not self._shrink(self._most - need, folder, named):
                give_up()
                self._shrink(self._most - need, folder, named)
            for attempt in range(2):
                try:
                    for file in files:
                        _allocate(folder / "new" / file.name, file.bytes)
                    return
                except OSError as error:
                    if error.errno not in _NO_ROOM:
                        raise
                    if attempt:
                        what = f"the cache {self._root} has no space for {need} bytes of {remote.where}"
                        what = f"{what}: {error.strerror}; free some space, or name another folder with {FOLDER}"
                        raise simkeep.IoError(error.errno, what, str(self._root)) from None
                    # The disk is full before the cache reaches its limit.
                    give_up()
                    self._shrink(0, folder, named)

    def _shrink(self, most: int, own: Path | None = None, needed: set[str] | None = None) -> bool:
        """Removes files until the cache has at most `most` bytes, and returns whether it does.

        Files that no generation names are removed first, then unused generations, the least recently used first. The
        caller holds the locks of the cache and of its `own` store. The `needed` files of this store stay.
        """
        folders = self._folders()
        used = sum(map(_bytes, folders))
        generations: list[Path] = []
        for folder in folders if used > most else ():
            before = _bytes(folder)
            if folder == own:
                _sweep(folder, needed)
            else:
                with _locked(folder / "LOCK", wait=False) as is_ours:
                    if is_ours:
                        _sweep(folder, None)
            used += _bytes(folder) - before
            generations += _listed(folder / "generations")
        for path in sorted(generations, key=_used_at):
            if used <= most:
                break
            folder = path.parent.parent
            before = _bytes(folder)
            if folder == own:
                _remove_unused(path, needed)
            else:
                with _locked(folder / "LOCK", wait=False) as is_ours:
                    if is_ours:
                        _remove_unused(path, None)
            used += _bytes(folder) - before
        crowded = self._root / "crowded"
        if used > most:
            crowded.touch()
        else:
            crowded.unlink(missing_ok=True)
        return used <= most

    @contextmanager
    def _named_errors(self, where: str | None = None) -> Iterator[None]:
        """Turns errors of the operating system into `IoError`s that name the cache."""
        try:
            yield
        except simkeep.Error:
            raise
        except OSError as error:
            of = f", for {where}" if where else ""
            what = f"the cache {self._root} cannot be used{of}: {error.strerror or error}"
            if error.errno in _NO_ROOM:
                what += f"; free some space, or name another folder with {FOLDER}"
            raise simkeep.IoError(error.errno, what, error.filename or str(self._root)) from error


def _count(given: str) -> int:
    match = re.fullmatch(r"\s*([0-9]+)\s*([a-z]?)(i?b)?\s*", given.lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError(f"{BYTES} must be a number of bytes, such as 68719476736 or 64g, not {given!r}")
    return int(match[1]) * _UNITS[match[2]]


def _folder(cache: Cache) -> Path:
    default = os.path.join(tempfile.gettempdir(), f"simkeep-cache-{os.geteuid()}")
    return Path(cache.folder if cache.folder is not None else default)


def _check_own(root: Path) -> None:
    """Creates the folder if needed. Only the current user may write to the folder, because its files are trusted."""
    other = f"name another folder with {FOLDER}"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        states = root.lstat(), root.stat()
    except OSError as error:
        what = f"the cache {root} cannot be created: {error.strerror}; {other}"
        raise simkeep.IoError(error.errno, what, str(root)) from None
    for state in states:
        if state.st_uid != os.geteuid():
            what = f"the cache {root} belongs to the user {state.st_uid}: {other}, such as a folder in this one"
            raise simkeep.IoError(errno.EPERM, what, str(root))
    if stat.S_IMODE(states[1].st_mode) & 0o022:
        what = f"other users can write to the cache {root}: run chmod 700 on it, or {other}"
        raise simkeep.IoError(errno.EPERM, what, str(root))


def _key(uri: str, store: int) -> str:
    """The name of a store's folder. It does not depend on credentials or options in the URI."""
    scheme, _, rest = uri.partition("://")
    authority, slash, path = rest.partition("/")
    where = f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
    return f"{hashlib.sha256(where.encode()).hexdigest()[:32]}-{store:016x}"


def _generation(number: int) -> str:
    return f"generations/{number:010}"


def _named(folder: Path, generation: int) -> list[PublishedFile]:
    """The files of a generation. A name outside of `files` is damage."""
    files = list(simkeep.generation_files(folder, generation))
    for file in files:
        if not _FILE.fullmatch(file.name):
            raise _damaged(f"generation {generation} names an invalid file: {file.name!r}", _generation(generation), 0)
    return files


def _has(folder: Path, file: PublishedFile) -> bool:
    try:
        return (folder / file.name).lstat().st_size == file.bytes
    except FileNotFoundError:
        return False


def _is_there(folder: Path, generation: int, sequence: int) -> bool:
    """Whether a generation is cached with all its files, in this state. Removes a damaged generation."""
    path = folder / _generation(generation)
    if not path.exists():
        return False
    try:
        if one(folder, generation).sequence == sequence:
            return all(_has(folder, file) for file in _named(folder, generation))
    except simkeep.Error:
        pass
    # The cached generation has another state, or is damaged. Other generations stay, because they may have readers.
    path.unlink()
    return False


def _check(remote: Remote, new: Path, generation: int, file: PublishedFile) -> None:
    try:
        simkeep.check_generation(new, generation, file=file.name)
    except simkeep.CorruptError as error:
        what = f"{remote.where}/{file.name} is damaged: {error}"
        raise _damaged(what, error.file, error.offset) from None


def _damaged(what: str, file: str, offset: int) -> simkeep.CorruptError:
    error = simkeep.CorruptError(what)
    error.file, error.offset = file, offset
    return error


def _allocate(path: Path, count: int) -> None:
    with open(path, "wb") as file:
        if not count:
            return
        try:
            os.posix_fallocate(file.fileno(), 0, count)
        except (AttributeError, OSError) as error:
            # Not every file system supports this call. Without it, a full disk shows only when the bytes are written.
            if isinstance(error, OSError) and error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
            os.truncate(file.fileno(), count)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(Path(entry) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except FileNotFoundError:
        return []


def _bytes(folder: Path) -> int:
    """The bytes of a store's files. A file that is renamed meanwhile counts once."""
    sizes: dict[str, int] = {}
    for part in ("new/files", "new/generations", "files", "generations"):
        for path in _listed(folder / part):
            try:
                sizes[path.name] = path.stat().st_size
            except FileNotFoundError:
                pass
    return sum(sizes.values())


def _sweep(folder: Path, needed: set[str] | None) -> None:
    """Removes files that no generation names. While this process fetches files, the `needed` files stay, too."""
    if needed is None:
        # No process is fetching, so `new` is a leftover of a killed process.
        shutil.rmtree(folder / "new", ignore_errors=True)
    names = set(needed or ())
    for path in _listed(folder / "generations"):
        try:
            names |= {file.name for file in _named(folder, int(path.name))}
        except (simkeep.Error, ValueError):
            path.unlink()
    for path in _listed(folder / "files"):
        if (name := f"files/{path.name}") not in names and _FILE.fullmatch(name):
            path.unlink()


def _used_at(generation: Path) -> int:
    """The time of last use."""
    try:
        return generation.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _remove_unused(generation: Path, needed: set[str] | None) -> None:
    """Removes a generation and its files, unless it has a reader."""
    try:
        file = os.open(generation, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        generation.unlink()
    except BlockingIOError:
        return
    finally:
        os.close(file)
    _sweep(generation.parent.parent, needed)


@contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Takes the exclusive lock of a file, and yields whether the lock was taken. With `wait=False`, it may not be
    taken.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        is_ours = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            is_ours = False
        yield is_ours
    finally:
        os.close(file)


def _sync(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
