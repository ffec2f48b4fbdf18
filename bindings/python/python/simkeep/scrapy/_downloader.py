"""The downloader middleware: observes every final response."""

import asyncio

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotSupported
from scrapy.http import Response
from twisted.internet.defer import CancelledError

from ._session import META, Session

__all__ = ["DownloaderMiddleware"]

_NO_VISIT = (IgnoreRequest, NotSupported, CancelledError, asyncio.CancelledError)
"""Exceptions without a request to the server."""


class DownloaderMiddleware:
    """Observes the final responses.

    At position 545, responses are decompressed, and Scrapy has followed redirects and retried failures.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "DownloaderMiddleware":
        return cls(Session.of(crawler))

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        # `meta` may be copied from a response.
        request.meta.pop(META, None)
        self._session.check(request)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        await self._session.observe(request, response)
        return response

    async def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> None:
        if not isinstance(exception, _NO_VISIT):
            await self._session.observe(request, None)
