"""Converts requests and responses to visits."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from hashlib import sha1
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.http.request import NO_CALLBACK

import simkeep

__all__ = ["Visit", "drop_validators", "length_of", "make_conditional", "now", "page_of"]

BODY_MAX = 32 << 20
"""The largest body, in bytes, whose text is extracted. A larger body would delay all queued visits."""


CUT = ("dataloss", "download_stopped")
"""Flags of an incomplete response."""

BODY_SMALL = 64 << 10
"""The largest body, in bytes, that is hashed in the reactor thread. Hashing takes some 0.1 ms.

Another thread takes longer: hashing releases the GIL, and the reactor then usually keeps it for 5 ms.
"""


DAY = 86_400_000
"""A day in milliseconds."""

WEB_BEGAN = 631_152_000_000
"""1990-01-01: there were no web servers before."""


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class _Arrivals:
    """Arrival times of responses, strictly increasing: the first of two near pages is the original.

    Several responses may arrive in one millisecond, and the clock may be set back a little.
    """

    STEP_MAX = 1000
    """The maximum time, in milliseconds, by which the clock may be set back. If the clock is set back further, its
    time is used.
    """

    def __init__(self) -> None:
        self._last = 0

    def next(self, at: int) -> int:
        """Returns this time, or the first free time after the last arrival."""
        behind = self._last - at
        self._last = at if behind < 0 or behind > self.STEP_MAX else self._last + 1
        return self._last


_arrivals = _Arrivals()


_VALIDATORS = "simkeep_validators"
"""The key in `Request.meta` of the page whose validators were added, and of the names of these headers."""


def drop_validators(request: Request, page: str) -> None:
    """Removes the validators that were added for another page. Scrapy copies the headers of a request that is
    redirected, and the validators of one page say nothing about another.
    """
    of, names = request.meta.get(_VALIDATORS, (page, ()))
    if of != page:
        del request.meta[_VALIDATORS]
        for name in names:
            request.headers.pop(name, None)


def make_conditional(request: Request, page: str, known: simkeep.Page) -> None:
    """Adds the validators of a page to a GET request, unless the request has any itself."""
    names = ("If-None-Match", "If-Modified-Since", "Range")
    if request.method == "GET" and not any(name in request.headers for name in names):
        headers = known.conditional_headers()
        request.headers.update(headers)
        request.meta[_VALIDATORS] = (page, tuple(headers))


def page_of(request: Request) -> str | None:
    """The key of a request's page in the store: its URL, or `simkeep_key`.

    `None` if the page is not observed: if `simkeep_enabled` is false, for methods other than GET without a key, for
    HEAD, for URLs that contain their own content, and for the `robots.txt` that Scrapy itself requests.
    """
    if not request.meta.get("simkeep_enabled", True) or request.method == "HEAD":
        return None
    key = request.meta.get("simkeep_key")
    if key is not None:
        if not isinstance(key, str):
            raise TypeError(f"simkeep_key must be str, not {type(key).__name__}")
        return key
    if request.method != "GET" or request.url.startswith("data:"):
        return None
    if request.callback is NO_CALLBACK and urlsplit(request.url).path == "/robots.txt":
        return None
    return _whole(request.url)


def _whole(url: str) -> str:
    """A URL without its fragment, which denotes a part of the page."""
    return url.partition("#")[0]


@dataclass(frozen=True)
class Visit:
    """A visit: the response to a request, and its time. Another thread makes the observations from the visit."""

    request: Request
    page: str
    at: int
    response: Response | None
    """The response; `None` if the request failed, or if only its redirects are observed."""
    digest: bytes | None = None
    """The digest of the body, if it has already been computed."""

    @classmethod
    def of_response(cls, request: Request, response: Response, page: str) -> "Visit":
        if request.meta.get("simkeep_key") is None:
            # If other software followed redirects, `response.url` is their target.
            page = _whole(response.url)
        small = len(response.body) <= BODY_SMALL
        digest = _digest(response.body, page) if small else None
        return cls(request, page, _came(request, response), response, digest)

    @property
    def first(self) -> str:
        """The URL of the first request."""
        urls = self.request.meta.get("redirect_urls")
        return str(urls[0]) if urls else self.request.url

    def observations(self) -> list[simkeep.Observation]:
        """Returns the observations: the redirects that led to the page, then the page."""
        return [*self.redirects(), self.observation()]

    def observation(self) -> simkeep.Observation:
        """Returns the observation of the page itself."""
        response = self.response
        if response is None:
            return simkeep.Observation.failed(self.page, self.at)
        status = response.status
        location = _text(response, "Location")
        meaning = simkeep.response_meaning(
            status,
            location=location,
            content_range=_text(response, "Content-Range"),
            # Scrapy itself compares the length, before it decodes the body.
            is_cut=any(flag in response.flags for flag in CUT),
        )
        if meaning == "content":
            return self._content(response)
        if meaning == "redirect" and location is not None:
            return simkeep.Observation.redirect(self.page, self.at, location, status=status)
        if meaning == "not-modified":
            conditional = _is_conditional(self.request)
            return simkeep.Observation.not_modified(
                self.page, self.at, status=status, etag=_etag(response), conditional=conditional
            )
        if meaning == "gone":
            return simkeep.Observation.gone(self.page, self.at, status=status)
        return simkeep.Observation.failed(self.page, self.at, status=status)

    def _content(self, response: Response) -> simkeep.Observation:
        body, status, modified = response.body, response.status, _modified(response, self.at)
        etag, length = _etag(response), length_of(response)
        # The cache of Scrapy answers with content when the server confirmed the content with 304.
        conditional = _is_conditional(self.request) and "cached" not in response.flags
        digest = self.digest or _digest(body, self.page)
        canonical = _canonical(response, self.page)
        observation = partial(
            simkeep.Observation,
            self.page,
            self.at,
            digest=digest,
            status=status,
            modified=modified,
            etag=etag,
            canonical=canonical,
            bytes=length,
            conditional=conditional,
        )
        if isinstance(response, HtmlResponse) and len(body) <= BODY_MAX:
            return observation(html=body, encoding=_content_type(response))
        if isinstance(response, TextResponse) and len(body) <= BODY_MAX:
            return observation(text=simkeep.decode(body, _content_type(response) or "text/plain"))
        return observation()

    def redirects(self) -> list[simkeep.Observation]:
        """Returns observations of the URLs that redirected to the page.

        Each URL is a separate page. Such a page is unchanged while its target is unchanged, and is never a copy.
        """
        meta = self.request.meta
        if meta.get("simkeep_key") is not None:
            return []
        urls = [url for url in meta.get("redirect_urls") or () if isinstance(url, str)]
        reasons = [*(meta.get("redirect_reasons") or ())]
        reasons += [None] * (len(urls) + 1 - len(reasons))
        chain = [_whole(url) for url in (*urls, self.request.url, self.page)]
        observations: dict[str, simkeep.Observation] = {}
        for url, to, reason in zip(chain, chain[1:], reasons, strict=False):
            if url != self.page and url not in observations:
                status = reason if isinstance(reason, int) and 300 <= reason < 400 else None
                observations[url] = simkeep.Observation.redirect(url, self.at, to, status=status)
        return list(observations.values())


def _content_type(response: Response) -> str | None:
    """The `Content-Type` headers, joined. The last valid header applies."""
    return b", ".join(response.headers.getlist("Content-Type")).decode("latin1") or None


def _digest(body: bytes, page: str) -> bytes:
    """The digest of a body: the first half of its SHA-1, as in the tool. For an empty body, the digest of the URL, so
    that empty pages are not copies."""
    return sha1(body or page.encode(errors="replace")).digest()[:16]


def _came(request: Request, response: Response) -> int:
    """The arrival time of a response: the current time, or for a cached response the time when it was sent.

    For a cached response that the server confirmed as not modified, the arrival time is the current time.
    """
    confirmed = _is_conditional(request) and "download_latency" in request.meta
    if "cached" in response.flags and not confirmed:
        sent = _date(response, "Date")
        if sent is not None:
            return min(sent, now())
    return _arrivals.next(now())


def _is_conditional(request: Request) -> bool:
    return "If-None-Match" in request.headers or "If-Modified-Since" in request.headers


def _etag(response: Response) -> bytes | None:
    """The entity tag from the server; `None` if it is missing, empty, or could not be sent back in a header."""
    value: bytes = (response.headers.get("ETag") or b"").strip()
    return value if value and not any(byte in value for byte in b"\r\n\0") else None


def _canonical(response: Response, page: str) -> str | None:
    """The canonical URL in the `Link` headers. Without a valid one, the store reads the HTML."""
    links = b", ".join(response.headers.getlist("Link"))
    return simkeep.canonical_in_link(page, links.decode(errors="replace")) if links else None


def length_of(response: Response) -> int | None:
    """The number of bytes of the body as transferred, from `Content-Length`.

    `None` without this header: Scrapy has decoded the body, and its length may differ.
    """
    value: bytes = (response.headers.get("Content-Length") or b"").strip()
    return int(value) if value.isdigit() and len(value) < 19 else None


def _text(response: Response, header: str) -> str | None:
    """The first value of a header; `None` if it is missing or empty."""
    value = (response.headers.get(header) or b"").strip()
    try:
        return value.decode() or None
    except UnicodeDecodeError:
        return value.decode("latin1")


def _modified(response: Response, at: int) -> int | None:
    """The modification time from the server, unless it is later than the response.

    A later date is invalid (RFC 9110, section 8.8.2.1). The time of the response is its `Date`, if that is plausible.
    """
    modified, sent = _date(response, "Last-Modified"), _date(response, "Date")
    answered = at if sent is None or sent > at + DAY else sent
    return None if modified is None or modified > answered else modified


def _date(response: Response, header: str) -> int | None:
    """A date header in milliseconds since 1970, if it is valid and not before 1990."""
    value = response.headers.get(header)
    if not value:
        return None
    try:
        date = parsedate_to_datetime(value.decode("latin1"))
        # A date without a time zone is in UTC, as HTTP requires.
        since = (date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.fromtimestamp(0, UTC)
    except (ValueError, OverflowError, TypeError):
        return None
    milliseconds = since // timedelta(milliseconds=1)
    return milliseconds if milliseconds >= WEB_BEGAN else None
