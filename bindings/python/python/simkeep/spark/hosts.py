"""The hosts of URLs."""

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
"""ASCII letters only, since the case mapping of other letters depends on the version of Unicode."""

# The pattern of nearly all URLs: the text between the scheme and the first slash is the host.
_PLAIN = r"^https?://[a-z0-9._-]*[a-z0-9_-](/|\z)"


class Parts(NamedTuple):
    """The parts of a URL for its SURT key."""

    scheme: str
    """The scheme as written; empty without a scheme."""
    authority: str | None
    """The part between `//` and the path, if the URL has a host."""
    path: str
    """The rest of the URL."""


def parts(url: str) -> Parts:
    """Splits a URL."""
    scheme, colon, rest = url.partition(":")
    if not colon or not scheme or not scheme[0].isalpha() or not _SCHEME.issuperset(scheme):
        return Parts("", None, url)
    if rest.startswith("//") and scheme.lower() != "file":
        end = min((at for at in map(rest[2:].find, "/?#") if at >= 0), default=len(rest) - 2)
        if end:
            return Parts(scheme, rest[2 : 2 + end], rest[2 + end :])
    return Parts(scheme, None, rest)


def host(url: str) -> str | None:
    """The host of a URL, with its ASCII letters in lower case, without port, user and final dot.

    URLs with the same host are neighbours in SURT order, and belong to the same store by `simkeep.route`.
    """
    authority = parts(url).authority
    if authority is None:
        return None
    found = authority.rpartition("@")[2]
    before, colon, port = found.rpartition(":")
    digits = not port or port.isascii() and port.isdigit()
    if colon and digits and (not before.startswith("[") or before.endswith("]")):
        found = before
    return found.removesuffix(".").translate(_LOWER)


def hosts(urls: pa.Array) -> pa.Array:
    """The `host` of each URL of a column."""
    plain = pc.match_substring_regex(urls, _PLAIN)
    # After splitting at slashes, the host is the third part: the first part is the scheme, and the second is empty.
    found = pc.list_element(pc.split_pattern(urls.filter(plain), "/", max_splits=3), 2)
    if len(found) == len(urls):
        return found
    other = pc.invert(plain)
    unusual = pa.array([host(url) for url in urls.filter(other).to_pylist()], pa.string())
    of_each = pc.replace_with_mask(pa.nulls(len(urls), pa.string()), plain, found)
    return pc.replace_with_mask(of_each, other, unusual)
