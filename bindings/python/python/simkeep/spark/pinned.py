"""One generation of a published store: what a task needs to know to open it, wherever it runs."""

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
"""How many stores a worker holds open."""
_LOOKING_MAX = 16
"""At how many stores it is looked at a time."""
_RESERVED_SHIFT = 24
"""Where in the number of an epoch it stands how many leading bits are no part of a fingerprint."""


class Pinned(NamedTuple):
    """A generation of a published store, and the epoch by which it is asked."""

    name: str
    """The last part of its path, or the path where that is not enough to tell it from others."""
    path: str
    """The published directory, or its URI."""
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
    cache: Cache | None = None
    """Where its files are fetched to, if its path is a URI."""

    def __repr__(self) -> str:
        # Not what says how its URI is reached.
        return f"Pinned({self.where!r}, generation={self.generation}, epoch={self.epoch})"

    @property
    def where(self) -> str:
        """Its path, or its URI as it may be told: without what says how it is reached, and by whom."""
        return self.path if self.cache is None else shown(self.path)

    def packed(self) -> str:
        """It as text, for a row."""
        return json.dumps(self)

    @staticmethod
    def unpacked(packed: str) -> "Pinned":
        """What `packed` made a text of."""
        pinned = Pinned(*json.loads(packed))
        return pinned if pinned.cache is None else pinned._replace(cache=Cache(*pinned.cache))

    def reader(self) -> Reader:
        """It opened. A process holds up to 16 of them open, for the next task."""
        if self in _open:
            _open.move_to_end(self)
        else:
            _open[self] = _opened(self)
            _close_idle(_OPEN_MAX, but=self)
        return _open[self].reader

    @contextmanager
    def asked(self) -> Iterator[Reader]:
        """It opened; an error of what is asked then says which store and generation it is of."""
        _asked[self] += 1
        try:
            yield self.reader()
        except (simkeep.Error, pa.ArrowException) as error:
            # What reads columns has errors of its own, which say what the store said.
            error.add_note(f"This is of the published store {self.where}, generation {self.generation}.")
            _doubt(self, error)
            raise
        finally:
            _asked[self] -= 1
            _give_room(self)

    def check(self) -> None:
        """Reads all of its files, and raises the error of the first that is damaged or not there."""
        with self.asked():
            hold = _open[self].hold
            simkeep.check_generation(self.path if hold is None else hold.folder, self.generation)


class _Opened(NamedTuple):
    reader: Reader
    hold: Hold | None
    """Of one in the cache."""

    def close(self) -> None:
        self.reader.close()
        if self.hold is not None:
            self.hold.close()


_open: OrderedDict[Pinned, _Opened] = OrderedDict()
_asked: Counter[Pinned] = Counter()
"""How many are asking each of them now."""


def _close_idle(most: int, but: Pinned | None = None) -> None:
    """Closes those that nobody asks now, the one that was asked longest ago first, until so many are open."""
    for pinned in list(_open):
        if len(_open) <= most:
            break
        if pinned != but and not _asked[pinned]:
            _open.pop(pinned).close()


def _opened(pinned: Pinned) -> _Opened:
    """It opened, if it still is what was pinned."""
    if pinned.cache is not None:
        room = pinned.cache.opened()
        hold = room.hold(
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
        what = f"{pinned.path}: generation {pinned.generation} is of another store or another state by now"
        raise simkeep.InvalidArgumentError(f"{what}: make Stores anew")
    return _Opened(Reader.published(pinned.path, pinned.generation), None)


def _give_room(pinned: Pinned) -> None:
    """Leaves the cache as it is to be, if that had to wait for what was asked."""
    hold = _open[pinned].hold if pinned in _open else None
    if hold is None:
        return
    hold.use()
    if hold.room.is_crowded():
        _close_idle(0)
        hold.room.shrink()


def _doubt(pinned: Pinned, error: Exception) -> None:
    """Removes what is damaged of a copy in the cache, if that is what is wrong, and closes that."""
    hold = _open[pinned].hold if pinned in _open else None
    if hold is not None:
        if isinstance(error, pa.ArrowException):
            # It came by a stream, which tells the text of an error alone.
            try:
                simkeep.check_generation(hold.folder, pinned.generation)
            except simkeep.CorruptError as damage:
                error.add_note(str(damage))
                error = damage
        if not isinstance(error, simkeep.CorruptError):
            return
        hold.doubt(error.file)
        error.add_note("This copy of it was removed from the cache: whoever asks next fetches it anew.")
        if _asked[pinned] == 1:
            _open.pop(pinned).close()


def pinned(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    generation: int | Literal["latest"],
    epoch: str | None,
    missing: dict[str, str] | None = None,
    cache: Cache = Cache(),
) -> list[Pinned]:
    """Resolves published directories, once: each with one generation, all with one epoch.

    Of those at URIs it reads which files there are, and the ends of segments. If there is a dict for what is
    `missing`, stores that are damaged or not there go into it by their names, each with what is wrong with it.
    """
    if generation != "latest" and (isinstance(generation, bool) or not isinstance(generation, int)):
        raise TypeError('generation must be a number, or "latest"')
    number = None if generation == "latest" else generation
    places = _places(paths, may_lack=missing is not None)
    told = [shown(place) if is_uri(place) else place for place in places]
    short = [where.rstrip("/").rpartition("/")[2] for where in told]
    names = short if len(set(short)) == len(short) else told
    if len(set(names)) < len(names):
        clash = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"paths: several are {clash}, which is not enough to tell them from each other")
    found: list[Pinned] = []
    epochs: dict[str, list[str]] = {}
    stores: dict[int, str] = {}
    for name, place, where, of in zip(names, places, told, _looked(places, number, epoch), strict=True):
        if isinstance(of, Exception):
            if missing is None or not is_of_store(of):
                raise of
            missing[name] = str(of)
            continue
        info = of.generation
        if info.store in stores:
            raise ValueError(f"{where}: this is the store of {stores[info.store]}, which is to be named once")
        stores[info.store] = where
        kept = cache if is_uri(place) else None
        one = Pinned(name, place, info.number, info.store, info.sequence, of.epoch.epoch, of.fingerprints, kept)
        found.append(one)
        reserved = one.epoch >> _RESERVED_SHIFT
        kind = f"{of.epoch.name} with {reserved} reserved bits" if reserved else of.epoch.name
        epochs.setdefault(kind, []).append(where)
    if not found:
        listed = "; ".join(f"{name}: {what}" for name, what in (missing or {}).items())
        raise simkeep.NotAStoreError(f"no store is left: {listed}")
    if len(epochs) > 1:
        listed = "; ".join(f"{of}: {', '.join(folders)}" for of, folders in sorted(epochs.items()))
        raise ValueError(f"the stores have several epochs to ask by, so name one with epoch=: {listed}")
    return found


def is_of_store(error: Exception) -> bool:
    """Whether an error says that a store is damaged, not there, or newer than this package."""
    of_store = (simkeep.CorruptError, simkeep.NotAStoreError, simkeep.VersionError)
    return isinstance(error, of_store) or isinstance(error, simkeep.IoError) and error.errno == errno.ENOENT


def _looked(places: list[str], number: int | None, epoch: str | None) -> list[Seen | Exception]:
    """What there is at each place, or what is wrong with it."""

    def look(place: str) -> Seen | Exception:
        try:
            return seen(place, number, epoch)
        except Exception as error:
            return error

    with ThreadPoolExecutor(_LOOKING_MAX) as threads:
        # It is mostly waiting for answers.
        return list(threads.map(look, places))


def _places(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], may_lack: bool) -> list[str]:
    """The folders and URIs of what was given. Folders that are named and no pattern may lack, if that is allowed."""
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
            told = shown(pattern) if is_uri(pattern) else pattern
            raise FileNotFoundError(f"{told}: no such directory; simkeep publish makes one of a store")
        places += matches
    if not places:
        raise ValueError("paths: there are none")
    return places
