"""Ranges of SURT order that contain all pages for which filters hold.

A range may include other pages, but contains all pages for which the filters hold: in doubtful cases, the range is the
whole table.
"""

from collections.abc import Iterable
from typing import NamedTuple

from simkeep import surt_key

from .filters import Filter
from .hosts import host, parts

_MANY = 1000
"""The number of ranges above which a single range that spans them is read."""
_URL_BYTES_MAX = 8192

_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_Place = tuple[bytes, bytes]


class Range(NamedTuple):
    """The URLs from a first URL to before an end."""

    start: str | None
    """The first URL; `None` for the first of all URLs."""
    end: str | None
    """The end of the range, which is not included; `None` for the end of all URLs."""


ALL = [Range(None, None)]
"""All URLs."""


def narrowed(filters: Iterable[Filter]) -> list[Range]:
    """Returns disjoint ranges, in order, with all pages for which the filters hold."""
    found = ALL
    for one in filters:
        found = _both(found, _of(one))
    return found


def cut(ranges: list[Range], borders: list[str]) -> list[Range]:
    """Cuts ranges at the URLs of `borders`, which are sorted."""
    ends = [None, *borders, None]
    return _both(ranges, [Range(start, end) for start, end in zip(ends, ends[1:], strict=False)])


def _low(one: Range) -> _Place:
    return (b"", b"") if one.start is None else _place(one.start)


def _high(one: Range) -> _Place:
    # No key begins with two bytes FF.
    return (b"\xff\xff", b"") if one.end is None else _place(one.end)


def _place(url: str) -> _Place:
    return surt_key(url), url.encode()


def _both(left: list[Range], right: list[Range]) -> list[Range]:
    """The intersection of two lists of ranges."""
    found = []
    one, other = iter(left), iter(right)
    of_left, of_right = next(one, None), next(other, None)
    while of_left and of_right:
        start = max(of_left, of_right, key=_low).start
        first = of_left if _high(of_left) <= _high(of_right) else of_right
        part = Range(start, first.end)
        if _low(part) < _high(part):
            found.append(part)
        if first is of_left:
            of_left = next(one, None)
        else:
            of_right = next(other, None)
    return found


def _of(one: Filter) -> list[Range]:
    ranges = {"url": _at_url, "host": _of_host}.get(one.column)
    if ranges and one.operator in ("=", "in"):
        values = one.value if one.operator == "in" else [one.value]
        return _together([ranges(value) for value in dict.fromkeys(values)])
    return [_from(one.value)] if one.column == "url" and one.operator == "starts with" else ALL


def _together(ranges: list[Range]) -> list[Range]:
    """The union of ranges; a single range that spans them if there are too many."""
    found: list[Range] = []
    for one in sorted(ranges, key=_low):
        if found and _low(one) <= _high(found[-1]):
            found[-1] = Range(found[-1].start, max(found[-1], one, key=_high).end)
        else:
            found.append(one)
    return found if len(found) <= _MANY else [Range(found[0].start, found[-1].end)]


def _is_url(text: str) -> bool:
    """Whether the URL of a page can equal this text or begin with it."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return False
    return 0 < size <= _URL_BYTES_MAX and all(" " <= one < "\x7f" or one >= "\xa0" for one in text)


def _at_url(url: str) -> Range:
    if not _is_url(url):
        return ALL[0]
    # The first URLs after a URL are the URL with a fragment.
    return Range(url, f"{url}#") if surt_key(url) < surt_key(f"{url}#") else Range(url, None)


def _of_host(name: str) -> Range:
    # The first of all URLs of a host: no scheme, no port and no path comes before these.
    first = f"A://{name.translate(_UPPER)}"
    if not _is_url(first) or host(first) != name:
        return ALL[0]
    return Range(first, _next(_after_host(name), surt_key(first).partition(b"\x01")[0] + b"\x01"))


def _after_host(name: str) -> list[str]:
    """URLs that may come after all URLs of a host: its subdomains, a longer address, other addresses."""
    return [f"a://.{name}", f"a://{name}]", f"a://{name}0", f"a://{name.partition('.')[0]}0"]


def _after_authority(authority: str) -> list[str]:
    """URLs that may come after all URLs of a host, a port and a user: a longer port, another port, a longer user."""
    user, _, rest = authority.rpartition("@")
    return [f"a://{authority}0", f"a://{authority}:0", f"a://{user}!@{rest}"]


def _next(urls: Iterable[str], keys: bytes) -> str | None:
    """The first of `urls` that comes after all URLs whose keys begin with these bytes."""
    behind = (url for url in urls if _is_url(url) and surt_key(url) > keys and not surt_key(url).startswith(keys))
    return min(behind, key=_place, default=None)


def _from(prefix: str) -> Range:
    """A range that contains all URLs that begin with this text."""
    if not _is_url(prefix) or ":" not in prefix:
        return ALL[0]
    of = parts(prefix)
    if of.authority is not None:
        if not of.path:
            # The host may continue.
            return ALL[0]
        keys = surt_key(prefix).rpartition(b"\x01")[0]
        others = [*_after_authority(of.authority), *_after_host(host(prefix) or "")]
    elif of.scheme and of.scheme.lower() != "file" and of.path in ("", "/", "//") or not of.path:
        # A host may follow.
        return ALL[0]
    else:
        keys, others = surt_key(prefix), []
    return Range(prefix, _next([*_continued(prefix), *others], keys))


def _continued(prefix: str) -> list[str]:
    """URLs that may come after all URLs that begin with this text: the text with a different last character."""
    # No character comes after the last character of Unicode, so the character before it is changed instead.
    text = prefix.rstrip("\U0010ffff")
    before, last = text[:-1], text[-1:]
    # In keys, some characters have special positions, and for some other characters there is no text after them.
    others = ["#", "?", "/", ":", " ", "\xa0", "\ue000"]
    others += [chr(ord(of) + more) for of in last for more in (1, 2) if ord(of) + more <= 0x10FFFF]
    return [f"{before}{other}" for other in others]
