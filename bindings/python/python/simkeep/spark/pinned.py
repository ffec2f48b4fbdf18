"""A pinned generation of a published store, with all data that a task on any machine needs to open it."""

import errno
import glob
import json
import os
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Literal, NamedTuple

import pyarrow as pa

import simkeep
from simkeep import Reader

from .cache import Cache, Hold
from .one import one
from .remote import found as uris
from .remote import is_uri, shown
from .seen import Seen, seen

_OPEN_MAX = 16
"""The maximum number of stores that a worker keeps open."""
_LOOKING_MAX = 16
"""The number of stores that are resolved concurrently."""
_RESERVED_SHIFT = 24
"""The position, in the number of an epoch, of the number of reserved leading bits of its fingerprints."""


class Pinned(NamedTuple):
    """A generation of a published store, and the epoch to query."""

    name: str
    """The last part of the store's path, or the whole path if the last part is ambiguous."""
    path: str
    """The published directory, or its URI."""
    generation: int
    """The number of the generation."""
    store: int
    """The number of the store that was published."""
    sequence: int
    """The last operation in the generation."""
    epoch: int
    """The number of the queried epoch in this store."""
    fingerprints: int
    """The number of distinct fingerprints of the epoch in the segments of the generation, including outdated
    fingerprints.
    """
    cache: Cache | None = None
    """The cache for the files of the generation, if the path is a URI."""

    def __repr__(self) -> str:
        # The text omits the credentials and options of the URI.
        return f"Pinned({self.where!r}, generation={self.generation}, epoch={self.epoch})"

    @property
    def where(self) -> str:
        """The path, or the URI without credentials and options, for messages."""
        return self.path if self.cache is None else shown(self.path)

    def packed(self) -> str:
        """Serializes the pinned generation as text for a row."""
        return json.dumps(self)

    @staticmethod
    def unpacked(packed: str) -> "Pinned":
        """Deserializes a text of `packed`."""
        pinned = Pinned(*json.loads(packed))
        return pinned if pinned.cache is None else pinned._replace(cache=Cache(*pinned.cache))

    def reader(self) -> Reader:
        """Opens the generation. A process keeps up to 16 generations open for later tasks."""
        if self in _open:
            _open.move_to_end(self)
        else:
            _open[self] = _opened(self)
            _close_idle(_OPEN_MAX, but=self)
        return _open[self].reader

    @contextmanager
    def asked(self) -> Iterator[Reader]:
        """Opens the generation for a query. An error of the query gets a note with the store and the generation."""
        _asked[self] += 1
        try:
            yield self.reader()
        except (simkeep.Error, pa.ArrowException) as error:
            # Readers of Arrow streams wrap the store's error in their own error.
            error.add_note(f"The error is in the published store {self.where}, generation {self.generation}.")
            _doubt(self, error)
            raise
        finally:
            _asked[self] -= 1
            _shrink_cache(self)

    def check(self) -> None:
        """Reads all files, and raises an error for the first damaged or missing file."""
        with self.asked():
            hold = _open[self].hold
            simkeep.check_generation(self.path if hold is None else hold.folder, self.generation)


class _Opened(NamedTuple):
    reader: Reader
    hold: Hold | None
    """The hold on the files in the cache, if the store is remote."""

    def close(self) -> None:
        self.reader.close()
        if self.hold is not None:
            self.hold.close()


_open: OrderedDict[Pinned, _Opened] = OrderedDict()
_asked: Counter[Pinned] = Counter()
"""The number of running queries of each open store."""


def _close_idle(most: int, but: Pinned | None = None) -> None:
    """Closes stores without a running query, the least recently used first, until at most `most` are open."""
    for pinned in list(_open):
        if len(_open) <= most:
            break
        if pinned != but and not _asked[pinned]:
            _open.pop(pinned).close()


def _opened(pinned: Pinned) -> _Opened:
    """Opens a store, and checks that it still has the pinned state."""
    if pinned.cache is not None:
        local = pinned.cache.opened()
        hold = local.hold(
            pinned.path, pinned.generation, pinned.store, pinned.sequence, give_up=lambda: _close_idle(0)
        )
        try:
            return _Opened(Reader.published(hold.folder, pinned.generation), hold)
        except simkeep.CorruptError as error:
            hold.doubt(error.file)
            hold.close()
            raise
        except BaseException:
            hold.close()
            raise
    there = one(pinned.path, pinned.generation)
    if (there.store, there.sequence) != (pinned.store, pinned.sequence):
        what = f"{pinned.path}: generation {pinned.generation} now belongs to another store or has other content"
        raise simkeep.InvalidArgumentError(f"{what}: make a new Stores object")
    return _Opened(Reader.published(pinned.path, pinned.generation), None)


def _shrink_cache(pinned: Pinned) -> None:
    """Shrinks the cache to its limit, if running queries prevented that before."""
    hold = _open[pinned].hold if pinned in _open else None
    if hold is None:
        return
    hold.use()
    if hold.cache.is_crowded():
        _close_idle(0)
        hold.cache.shrink()


def _doubt(pinned: Pinned, error: Exception) -> None:
    """If the error is damage to a copy in the cache, removes the damaged file, and closes the store."""
    hold = _open[pinned].hold if pinned in _open else None
    if hold is not None:
        if isinstance(error, pa.ArrowException):
            # Arrow streams pass on only the text of an error, so look for the damage again.
            try:
                simkeep.check_generation(hold.folder, pinned.generation)
            except simkeep.CorruptError as damage:
                error.add_note(str(damage))
                error = damage
        if not isinstance(error, simkeep.CorruptError):
            return
        hold.doubt(error.file)
        error.add_note("The damaged copy was removed from the cache. The next query fetches the file again.")
        if _asked[pinned] == 1:
            _open.pop(pinned).close()


def pinned(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    generation: int | Literal["latest"],
    epoch: str | None,
    missing: dict[str, str] | None = None,
    cache: Cache = Cache(),
) -> list[Pinned]:
    """Resolves published directories once: each to a generation, all to the same epoch.

    For a URI, lists the files and reads the ends of segments. Stores that are damaged or absent are added to the dict
    `missing`, by name, with the error. Without the dict, raises the error.
    """
    if generation != "latest" and (isinstance(generation, bool) or not isinstance(generation, int)):
        raise TypeError('generation must be a number, or "latest"')
    number = None if generation == "latest" else generation
    places = _places(paths, may_lack=missing is not None)
    shown_places = [shown(place) if is_uri(place) else place for place in places]
    short = [where.rstrip("/").rpartition("/")[2] for where in shown_places]
    names = short if len(set(short)) == len(short) else shown_places
    if len(set(names)) < len(names):
        clash = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"paths: several stores are shown as {clash}, so that they cannot be distinguished")
    found: list[Pinned] = []
    epochs: dict[str, list[str]] = {}
    stores: dict[int, str] = {}
    resolved = _looked(places, number, epoch)
    for name, place, where, of in zip(names, places, shown_places, resolved, strict=True):
        if isinstance(of, Exception):
            if missing is None or not is_of_store(of):
                raise of
            missing[name] = str(of)
            continue
        info = of.generation
        if info.store in stores:
            raise ValueError(f"{where} is the same store as {stores[info.store]}: name each store once")
        stores[info.store] = where
        kept = cache if is_uri(place) else None
        one = Pinned(name, place, info.number, info.store, info.sequence, of.epoch.epoch, of.fingerprints, kept)
        found.append(one)
        reserved = one.epoch >> _RESERVED_SHIFT
        kind = f"{of.epoch.name} with {reserved} reserved bits" if reserved else of.epoch.name
        epochs.setdefault(kind, []).append(where)
    if not found:
        listed = "; ".join(f"{name}: {what}" for name, what in (missing or {}).items())
        raise simkeep.NotAStoreError(f"no store can be used: {listed}")
    if len(epochs) > 1:
        listed = "; ".join(f"{of}: {', '.join(folders)}" for of, folders in sorted(epochs.items()))
        raise ValueError(f"the stores have different epochs: name the epoch to search with epoch=: {listed}")
    return found


def is_of_store(error: Exception) -> bool:
    """Whether an error means that a store is damaged, missing, or newer than this package."""
    of_store = (simkeep.CorruptError, simkeep.NotAStoreError, simkeep.VersionError)
    return isinstance(error, of_store) or isinstance(error, simkeep.IoError) and error.errno == errno.ENOENT


def _looked(places: list[str], number: int | None, epoch: str | None) -> list[Seen | Exception]:
    """Resolves each place to its generation, or to an error."""

    def look(place: str) -> Seen | Exception:
        try:
            return seen(place, number, epoch)
        except Exception as error:
            return error

    with ThreadPoolExecutor(_LOOKING_MAX) as threads:
        # Threads are used, because resolving mostly waits for I/O.
        return list(threads.map(look, places))


def _places(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], may_lack: bool) -> list[str]:
    """Expands paths, patterns and URIs. With `may_lack`, a folder that is not a pattern may be missing."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    places: list[str] = []
    for path in given:
        pattern = os.fspath(path)
        if not isinstance(pattern, str):
            raise TypeError(f"paths must be text, not {type(pattern).__name__}")
        if is_uri(pattern):
            matches = uris(pattern)
        elif glob.has_magic(pattern):
            matches = [os.path.abspath(match) for match in sorted(glob.glob(pattern)) if os.path.isdir(match)]
        else:
            matches = [os.path.abspath(pattern)] if may_lack or os.path.isdir(pattern) else []
        if not matches:
            where = shown(pattern) if is_uri(pattern) else pattern
            raise FileNotFoundError(f"{where}: there is no such directory; make it with simkeep publish")
        places += matches
    if not places:
        raise ValueError("paths must not be empty")
    return places
