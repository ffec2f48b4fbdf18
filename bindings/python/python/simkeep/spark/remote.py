"""A published directory that is elsewhere, such as in an object store: whatever `pyarrow.fs` opens by a URI."""

import errno
import fnmatch
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa

import simkeep

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MAGIC = re.compile(r"[*\[]")
"""What makes a pattern of a part of a path. A question mark begins the query."""
_GENERATION = re.compile(r"[0-9]{10,20}")
_ALIASES = {"s3a": "s3", "s3n": "s3"}
_IN_PATHS = "%!$&'()*+,;=:@~"
"""What may stand in a URI's path as it is, besides letters and digits."""
_CHUNK = 8 << 20
_SHOWN_MAX = 300
"""How many characters of what a file system says are told."""


def is_uri(path: str) -> bool:
    """Whether it is a URI, and no path of this machine."""
    return _URI.match(path) is not None


def shown(uri: str) -> str:
    """A URI as it may be told: without its query, and without the name and password of who asks."""
    scheme, authority, path, _ = _parts(uri)
    if authority.endswith(":") or ":" in authority and "@" in path:
        # A password that begins with a slash, or has one in it.
        return f"{scheme}://"
    user, _, host = authority.rpartition("@")
    # A password with a slash in it ends the authority early, and its beginning stands where a port should.
    if not re.fullmatch(r"[^:]*(:[0-9]*)?|\[[^\]]*\](:[0-9]*)?", host):
        return f"{scheme}://"
    if scheme in ("abfs", "abfss") and user:
        # There it is the container.
        host = f"{user.partition(':')[0]}@{host}"
    return f"{scheme}://{host}/{path}" if path else f"{scheme}://{host}"


def found(pattern: str) -> list[str]:
    """The URIs of the folders that a pattern names, in order; of one that is no pattern its own."""
    scheme, authority, path, query = _parts(pattern)
    if not authority and scheme not in ("file", "hdfs") or _MAGIC.search(authority):
        raise ValueError(f"{shown(pattern)}: a URI begins with the name of a bucket or host, which is no pattern")
    uris = [f"{scheme}://{authority}"]
    for part in filter(None, path.split("/")):
        if not _MAGIC.search(part):
            uris = [f"{uri}/{quote(part, safe=_IN_PATHS)}" for uri in uris]
            continue
        folders = ((uri, Remote(uri + query).folders()) for uri in uris)
        # As in a shell, a pattern finds no names with a dot before them.
        uris = [
            f"{uri}/{quote(name, safe='')}"
            for uri, names in folders
            for name in names
            if fnmatch.fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))
        ]
    return [uri + query for uri in uris]


def _parts(uri: str) -> tuple[str, str, str, str]:
    """Scheme, authority and path of a URI, and its query with the question mark."""
    scheme, _, rest = uri.partition("://")
    rest, mark, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    scheme = scheme.lower()
    return _ALIASES.get(scheme, scheme), authority, path.rstrip("/"), mark + query


def _secrets(uri: str) -> list[str]:
    """What is told to nobody: the query and its values, names and passwords, as they stand there and as they are."""
    _, _, rest = uri.partition("://")
    rest, _, query = rest.partition("?")
    user = rest.rpartition("@")[0]
    values = [part.partition("=")[2] for part in query.split("&")]
    found = {query, user, *values, *user.split(":")}
    # Some letters may stand anywhere.
    return sorted((of for of in found | set(map(unquote, found)) if len(of) > 3), key=len, reverse=True)


class Remote:
    """A folder at a URI. It is for one process, and not for those that are forked from it."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self.where = shown(uri)

    def folders(self) -> list[str]:
        """The names of the folders in it, in order."""
        return sorted(info.base_name for info in self._infos("") if info.type == _fs().FileType.Directory)

    def files(self, folder: str) -> dict[str, int]:
        """The bytes of each file in one of its folders, by their paths in this one; of none if that is not there."""
        infos = (info for info in self._infos(folder) if info.type == _fs().FileType.File)
        return {f"{folder}/{info.base_name}": info.size for info in infos}

    def generations(self) -> list[int]:
        """The numbers of the generations that are there, in order."""
        names = (path.rpartition("/")[2] for path in self.files("generations"))
        return sorted(int(name) for name in names if _GENERATION.fullmatch(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """One of its files, from its beginning."""
        with self._told(name):
            files, path = self._opened
            with files.open_input_stream(f"{path}/{name}", compression=None) as source:
                while chunk := source.read(_CHUNK):
                    yield chunk

    def ends(self, name: str, first: int, last: int) -> tuple[int, bytes, bytes]:
        """How many bytes one of its files has, and its first and last ones."""
        with self._told(name):
            files, path = self._opened
            with files.open_input_file(f"{path}/{name}") as source:
                count = source.size()
                last = min(last, count)
                return count, source.read_at(min(first, count), 0), source.read_at(last, count - last)

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        files, path = _fs().FileSystem.from_uri(self._uri)
        return files, path.rstrip("/")

    def _infos(self, folder: str) -> list[Any]:
        with self._told(folder):
            files, path = self._opened
            selector = _fs().FileSelector(f"{path}/{folder}" if folder else path, allow_not_found=True)
            return list(files.get_file_info(selector))

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Errors say what was to be read, and nothing of how it is reached."""
        what = f"{self.where}/{name}" if name else self.where
        try:
            yield
        except simkeep.Error:
            raise
        except FileNotFoundError:
            raise simkeep.IoError(errno.ENOENT, f"{what} is not there", what) from None
        except (OSError, pa.ArrowException) as error:
            said = str(error).replace(self._uri, self.where)
            for secret in _secrets(self._uri):
                said = said.replace(secret, "…")
            said = said.splitlines()[0][:_SHOWN_MAX] if said else type(error).__name__
            number = error.errno if isinstance(error, OSError) else None
            raise simkeep.IoError(number, f"{what} cannot be read: {said}", what) from None


def _fs() -> Any:
    # It brings clients of object stores, so it is not for a process that others are forked from.
    import pyarrow.fs

    return pyarrow.fs
