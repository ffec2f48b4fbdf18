"""The order of pages, and what a prefix covers: format/surt.md."""

import re


def lower(text: str) -> str:
    """ASCII letters in lower case, and nothing else."""
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), text)


def mapped(path: str, of_rest: bool) -> bytes:
    path = path.replace("/", "\x04").replace("?", "\x03").replace("#", "\x02")
    return (path.replace(":", "\x05") if of_rest and path[:1] != "\x04" else path).encode()


def label(text: str, host: str) -> bytes:
    if text.isascii():
        return text.lower().encode()
    if len(text) > 63 or len(host.encode()) > 1012:
        return lower(text).encode()
    return b"xn--" + text.encode("punycode").lower()


def key(url: str) -> bytes:
    """What pages are ordered by."""
    scheme, colon, rest = url.partition(":")
    if not colon or not re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme):
        scheme, rest = "", url
    scheme = scheme.lower()
    parts = re.fullmatch("//([^/?#]+)(.*)", rest, re.S)
    if scheme in ("", "file") or not parts:
        return b"\xff" + scheme.encode() + b"\x01" + mapped(rest, True)
    authority, path = parts.groups()
    user, at, host = authority.rpartition("@")
    port = ""
    before, colon, digits = host.rpartition(":")
    if colon and re.fullmatch("[0-9]*", digits) and (before[:1] != "[" or before[-1:] == "]"):
        host = before
        port = (digits.lstrip("0") or "0") if digits else ""
        port = "" if port == {"http": "80", "https": "443"}.get(scheme) else port
    host = host.removesuffix(".")
    numbers = re.fullmatch(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})", host, re.A)
    if host[:1] == "[" and host[-1:] == "]" or numbers and all(int(n) < 256 for n in numbers.groups()):
        labels = lower(host).encode()
    else:
        labels = b"\x02".join(label(part, host) for part in reversed(host.split(".")))
    path = path if path[:1] == "/" else "/" + path
    login = at.encode() + user.encode()
    return b"\x01".join([labels, port.encode() + login, mapped(path, False), scheme.encode()])


def end(prefix: bytes) -> bytes:
    """What follows all keys under a prefix."""
    without_host = prefix[0] == 0xFF
    if not without_host and prefix.count(1) == 1:
        return prefix[:-1] + b"\x03"
    colon = without_host and prefix.partition(b"\x01")[2][:1] != b"\x04"
    boundary = 5 if colon else 4
    if prefix[-1] <= boundary:
        return prefix[:-1] + bytes([prefix[-1] + 1])
    return prefix + bytes([boundary + 1])


def covers(prefix: bytes, of: bytes) -> bool:
    return prefix <= of < end(prefix)
