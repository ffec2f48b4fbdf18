"""The patterns of a URL: format/README.md."""

import re

ESCAPE = re.compile("%[0-9A-Fa-f]{2}")


def of(url: str) -> tuple[str, str]:
    """The pattern of a URL, and its similar pattern."""
    path, _, query = path_of(url).partition("#")[0].partition("?")
    segments = path.removeprefix("/").split("/")
    kinds = ["/" + kind(segment) for segment in segments]
    if len(segments) > 8:
        kinds = [*kinds[:4], "/..", *kinds[-2:]]
    names = names_of(query)
    return "".join(kinds) + names, f"/{kind(segments[0])} {len(segments)}{names}"


def path_of(url: str) -> str:
    """What a URL has after its scheme and its authority."""
    scheme, colon, rest = url.partition(":")
    if not colon or not re.fullmatch("[A-Za-z][A-Za-z0-9+.-]*", scheme):
        scheme, rest = "", url
    authority = re.fullmatch("//([^/?#]+)(.*)", rest, re.S)
    if scheme.lower() not in ("", "file") and authority:
        return authority[2]
    return rest.removeprefix("//") if scheme else url


def names_of(query: str) -> str:
    names = {part.partition("=")[0] for part in query.split("&")} - {""}
    if len(names) > 2:
        return "?*"
    is_kept = re.compile("(?!.*[0-9]{3})[A-Za-z0-9_.\\[\\]-]{1,32}", re.S)
    kinds = sorted(name if is_kept.fullmatch(name) else kind(name) for name in names)
    return "?" + "&".join(kinds) if kinds else ""


def kind(segment: str) -> str:
    """What a segment of a path, or the name of a parameter, becomes."""
    stem, extension = segment, ""
    named = re.fullmatch(r"(.+)\.([A-Za-z]{2,4})", segment, re.S)
    if named:
        stem, extension = named[1], "." + named[2].lower()
    return kind_of_stem(stem) + extension


def kind_of_stem(stem: str) -> str:
    is_word = re.fullmatch("[A-Za-z0-9]*", stem)
    if re.search("[0-9]", ESCAPE.sub("", stem)):
        if re.fullmatch("[0-9]+", stem):
            return "#" * len(stem) if len(stem) <= 4 else "{number}"
        if re.fullmatch("[0-9A-Fa-f]{8,}", stem):
            return "{hex}"
        return "{word+digits}" if is_word else "{words+digits}"
    return stem if is_word and len(stem) <= 32 else "{words}"
