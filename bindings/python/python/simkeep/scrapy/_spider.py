"""The spider middleware: handles responses by their outcomes, and starts with due pages."""

import logging
from collections.abc import AsyncIterator
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

import simkeep

from ._due import due
from ._errors import Skipped, shown
from ._session import META, Session
from ._settings import Policy

__all__ = ["SpiderMiddleware"]

_STRICT = [*Policy]

logger = logging.getLogger("simkeep.scrapy")


class _Start:
    """Starts with due pages, and leaves responses unchanged."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._session = Session.of(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        session = self._session
        if session.failed:
            return
        if session.settings.due:
            assert self._crawler.spider is not None
            requests = 0
            async for request in due(session, self._crawler.spider):
                requests += 1
                yield request
            if requests or await session.ask(_knows_pages):
                if hasattr(start, "aclose"):
                    await start.aclose()
                return
        async for one in start:
            yield one


class SpiderMiddleware(_Start):
    """Tags items, drops them, or skips callbacks."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._without_field: set[type] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> _Start:
        """Returns the cheapest middleware for the settings, since each response that passes through a middleware
        costs time.
        """
        settings = Session.of(crawler).settings
        is_idle = settings.field is None and settings.same == settings.near == Policy.TAG
        return _Start(crawler) if is_idle else cls(crawler)

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        outcome = _outcome(response)
        if outcome is not None and self._policy(outcome) == Policy.SKIP:
            self._session.count("skipped")
            raise Skipped(f"the verdict about the page is {outcome.verdict.value}")

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> list[Any] | None:
        return [] if isinstance(exception, Skipped) else None

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        outcome = _outcome(response)
        drops = outcome is not None and self._policy(outcome) != Policy.TAG
        async for one in result:
            if one is None or isinstance(one, Request) or outcome is None:
                yield one
            elif drops:
                self._session.count("dropped")
            else:
                self._tag(one, outcome)
                yield one

    def _policy(self, outcome: simkeep.Outcome) -> Policy:
        """The policy for a response: the stricter of the policies that apply."""
        settings = self._session.settings
        same = settings.same if outcome.verdict == simkeep.Verdict.SAME else Policy.TAG
        # The first of several near pages has no original, so it is not treated as a near-duplicate.
        near = settings.near if outcome.original is not None else Policy.TAG
        return max(same, near, key=_STRICT.index)

    def _tag(self, item: Any, outcome: simkeep.Outcome) -> None:
        field = self._session.settings.field
        if field is None or not ItemAdapter.is_item(item):
            return
        try:
            ItemAdapter(item)[field] = outcome.verdict.value
        except Exception as e:
            if type(item) not in self._without_field:
                self._without_field.add(type(item))
                logger.warning(
                    "SIMKEEP_FIELD names the field %s, which items of the class %s cannot have: %s",
                    shown(field),
                    type(item).__qualname__,
                    shown(e),
                    extra={"spider": self._crawler.spider},
                )


def _outcome(response: Response) -> simkeep.Outcome | None:
    request = response.request
    outcome = request.meta.get(META) if request is not None else None
    return outcome if isinstance(outcome, simkeep.Outcome) else None


def _knows_pages(store: simkeep.Store) -> bool:
    return store.stats().pages > 0
