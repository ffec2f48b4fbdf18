"""A published directory at any URI that `pyarrow.fs` opens, for example in an object store."""

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
"""Characters that make a part of a path a pattern. A question mark begins the query."""
_GENERATION = re.compile(r"[0-9]{10,20}")
_ALIASES = {"s3a": "s3", "s3n": "s3"}
_IN_PATHS = "%!$&'()*+,;=:@~"
"""Characters of a URI's path that need no quoting, besides letters and digits."""
_CHUNK = 8 << 20
_SHOWN_MAX = 300
"""The maximum number of characters of a file system's message in an error."""


def is_uri(path: str) -> bool:
    """Whether a path is a URI and not a local path."""
    return _URI.match(path) is not None


def shown(uri: str) -> str:
    """A URI for messages: without its query, user name and password."""
    scheme, authority, path, _ = _parts(uri)
    if authority.endswith(":") or ":" in authority and "@" in path:
        # The password may contain a slash.
        return f"{scheme}://"
    user, _, host = authority.rpartition("@")
    # A slash in the password ends the authority early, so that part of the password looks like a port.
    if not re.fullmatch(r"[^:]*(:[0-9]*)?|\[[^\]]*\](:[0-9]*)?", host):
        return f"{scheme}://"
    if scheme in ("abfs", "abfss") and user:
        # In this scheme, the user part of the URI names the container.
        host = f"{user.partition(':')[0]}@{host}"
    return f"{scheme}://{host}/{path}" if path else f"{scheme}://{host}"


def found(pattern: str) -> list[str]:
    """Expands a pattern to the URIs of its folders, in order. A URI without a pattern expands to itself."""
    scheme, authority, path, query = _parts(pattern)
    if not authority and scheme not in ("file", "hdfs") or _MAGIC.search(authority):
        what = "a URI must begin with the name of a bucket or host, which cannot be a pattern"
        raise ValueError(f"{shown(pattern)}: {what}")
    uris = [f"{scheme}://{authority}"]
    for part in filter(None, path.split("/")):
        if not _MAGIC.search(part):
            uris = [f"{uri}/{quote(part, safe=_IN_PATHS)}" for uri in uris]
            continue
        folders = ((uri, Remote(uri + query).folders()) for uri in uris)
        # As in a shell, a pattern does not match names that begin with a dot.
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
    """The parts of a URI to hide: its query, the values in the query, user and password, each quoted and unquoted."""
    _, _, rest = uri.partition("://")
    rest, _, query = rest.partition("?")
    user = rest.rpartition("@")[0]
    values = [part.partition("=")[2] for part in query.split("&")]
    found = {query, user, *values, *user.split(":")}
    # Hiding a string of up to three characters would garble the message.
    return sorted((of for of in found | set(map(unquote, found)) if len(of) > 3), key=len, reverse=True)


class Remote:
    """A folder at a URI. Do not use the object in a forked process."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self.where = shown(uri)

    def folders(self) -> list[str]:
        """The names of the folders in this folder, in order."""
        return sorted(info.base_name for info in self._infos("") if info.type == _fs().FileType.Directory)

    def files(self, folder: str) -> dict[str, int]:
        """The sizes of the files in a folder within this folder, by path; empty if there is no such folder."""
        infos = (info for info in self._infos(folder) if info.type == _fs().FileType.File)
        return {f"{folder}/{info.base_name}": info.size for info in infos}

    def generations(self) -> list[int]:
        """The numbers of the generations, in order."""
        names = (path.rpartition("/")[2] for path in self.files("generations"))
        return sorted(int(name) for name in names if _GENERATION.fullmatch(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """Reads a file in chunks."""
        with self._masked_errors(name):
            files, path = self._opened
            with files.open_input_stream(f"{path}/{name}", compression=None) as source:
                while chunk := source.read(_CHUNK):
                    yield chunk

    def ends(self, name: str, first: int, last: int) -> tuple[int, bytes, bytes]:
        """The size of a file, its first bytes, and its last bytes."""
        with self._masked_errors(name):
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
        with self._masked_errors(folder):
            files, path = self._opened
            selector = _fs().FileSelector(f"{path}/{folder}" if folder else path, allow_not_found=True)
            return list(files.get_file_info(selector))

    @contextmanager
    def _masked_errors(self, name: str) -> Iterator[None]:
        """Turns errors into `IoError`s that name the file, without the secrets of the URI."""
        what = f"{self.where}/{name}" if name else self.where
        try:
            yield
        except simkeep.Error:
            raise
        except FileNotFoundError:
            raise simkeep.IoError(errno.ENOENT, f"{what} does not exist", what) from None
        except (OSError, pa.ArrowException) as error:
            said = str(error).replace(self._uri, self.where)
            for secret in _secrets(self._uri):
                said = said.replace(secret, "…")
            said = said.splitlines()[0][:_SHOWN_MAX] if said else type(error).__name__
            number = error.errno if isinstance(error, OSError) else None
            raise simkeep.IoError(number, f"{what} cannot be read: {said}", what) from None


def _fs() -> Any:
    # This import starts clients of object stores, so avoid it in a process that forks others.
    import pyarrow.fs

    return pyarrow.fs
