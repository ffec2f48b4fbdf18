"""The state that the middlewares of a crawler share: its settings and its store."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro

import simkeep
from simkeep import Outcome

from ._errors import NotRequested, shown
from ._observer import FATAL, Answer, Observer
from ._settings import Settings
from ._threads import Reactor, Side
from ._visit import Visit, drop_validators, length_of, make_conditional, now, page_of

__all__ = ["META", "Session"]

_T = TypeVar("_T")

META = "simkeep"
"""The key of the outcome in `meta`."""
STOPPED = "simkeep_error"
"""The finish reason of a spider whose store cannot be used."""

logger = logging.getLogger("simkeep.scrapy")


class Session:
    """The state of the add-on for one crawler. Use the session only in the reactor thread."""

    @classmethod
    def of(cls, crawler: Crawler) -> "Session":
        """Returns the session of a crawler, and creates the session if needed."""
        session = getattr(crawler, "_simkeep_session", None)
        if not isinstance(session, cls):
            session = cls(crawler)
            setattr(crawler, "_simkeep_session", session)
        return session

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.spider is not None
        self.settings = Settings.read(crawler.settings, crawler.spider)
        self._crawler = crawler
        self._store: simkeep.Store | None = None
        self._observer: Observer | None = None
        self._side = Side()
        self._failed = False
        self._slowest = 0.0
        self._leading: dict[str, Visit] = {}
        crawler.signals.connect(self._scheduled, signals.request_scheduled)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @property
    def failed(self) -> bool:
        """Whether the store cannot be used, so that the spider must end."""
        return self._failed

    def count(self, stat: str, number: int = 1) -> None:
        """Adds to one of the add-on's stats."""
        if number:
            assert self._crawler.stats is not None
            self._crawler.stats.inc_value(f"simkeep/{stat}", number)

    async def ask(self, function: Callable[..., _T], *args: Any) -> _T:
        """Calls a function with the store in another thread, and returns its result."""
        assert self._store is not None
        return await self._side.run(function, self._store, *args)

    async def observe(self, request: Request, response: Response | None) -> None:
        """Observes the response to a request, and stores the outcome in its `meta`."""
        page = self._page(request)
        if page is None:
            return
        if response is None:
            visit = Visit(request, page, now(), None)
        else:
            visit = Visit.of_response(request, response, page)
        outcomes = await self._observe(page, visit.observations)
        if not outcomes:
            return
        self._leading.pop(visit.first, None)
        outcome = outcomes.pop()
        self.count("redirected", len(outcomes))
        self.count(outcome.verdict.value.replace("-", "_"))
        self.count("copies", bool(outcome.copies))
        self.count("near", bool(outcome.near))
        if response is not None:
            self._count_saved(page, response, outcome)
        request.meta[META] = outcome
        if response is not None and response.request is not None:
            response.request.meta[META] = outcome

    def check(self, request: Request) -> None:
        """Raises `NotRequested` for a page with a recent visit that did not fail; makes other requests conditional.

        The lookup runs in this thread. A lookup takes some 5 microseconds for any size of the store, and 30
        microseconds in one of a hundred cases. Another thread would take a hundred times as long while the reactor is
        busy.
        """
        if self._failed:
            raise IgnoreRequest("the store cannot be used")
        may_skip = bool(self.settings.revisit_after) and not request.dont_filter
        if self._store is None or not (may_skip or self.settings.conditional):
            return
        page = self._page(request) if request.callback is not NO_CALLBACK else None
        if page is None:
            return
        drop_validators(request, page)
        try:
            known = self._store.latest(page)
        except Exception as e:
            self._wrong(page, e)
            return
        if known is None:
            return
        if may_skip and known.last.seen != simkeep.Seen.FAILED:
            ago = now() / 1000 - known.last.time.timestamp()
            if 0 <= ago < self.settings.revisit_after:
                self.count("not_requested")
                raise NotRequested(f"the page was visited {ago:.0f} seconds ago")
        if self.settings.conditional:
            make_conditional(request, page, known)

    def _count_saved(self, page: str, response: Response, outcome: Outcome) -> None:
        """Counts a body that was not transferred, or that is not worth storing."""
        if response.status == 304:
            self.count("not_modified")
            self.count("not_modified_bytes", self._length_before(page))
        elif not 200 <= response.status < 300:
            return  # A redirect has no content.
        elif outcome.by == simkeep.SameBy.DIGEST:
            self.count("unchanged")
            self.count("unchanged_bytes", length_of(response) or 0)
        elif outcome.copies:
            self.count("copies_bytes", length_of(response) or 0)

    def _length_before(self, page: str) -> int:
        """The length of the content that a page had; 0 if it is unknown."""
        assert self._store is not None
        try:
            history = self._store.history(page)
        except simkeep.Error:
            return 0
        entries = (entry for entry in reversed(history) if isinstance(entry, simkeep.VisitEntry))
        contents = (entry.visit for entry in entries if entry.visit.seen == simkeep.Seen.CONTENT)
        newest = next(contents, None)
        return newest.bytes or 0 if newest is not None else 0

    def _page(self, request: Request) -> str | None:
        try:
            return page_of(request)
        except TypeError as e:
            self._wrong(request.url, e)
            return None

    async def _observe(
        self, page: str, make: Callable[[], list[simkeep.Observation]]
    ) -> list[Outcome]:
        """Observes visits and returns their outcomes; no outcomes after an error."""
        if self._observer is None or self._failed:
            return []
        since = time.monotonic()
        answer = await self._observer.submit(make)
        seconds = round(time.monotonic() - since, 6)
        if seconds > self._slowest:
            self._slowest = seconds
            assert self._crawler.stats is not None
            self._crawler.stats.set_value("simkeep/observe_seconds_max", seconds)
        return self._sound(page, answer)

    def _sound(self, page: str, answer: Answer) -> list[Outcome]:
        """Returns the outcomes. Reports an error, and then returns no outcomes."""
        if isinstance(answer, list):
            return answer
        self._wrong(page, answer)
        return []

    def _wrong(self, page: str, error: Exception) -> None:
        """Counts and logs an error about a page; stops the spider if the error is fatal."""
        self.count("errors")
        if isinstance(error, FATAL):
            self._stop(error)
            return
        extra = {"spider": self._crawler.spider}
        logger.warning("%s is not observed: %s", shown(page), shown(error), extra=extra)

    async def _opened(self, spider: Spider) -> None:
        try:
            self._store = await self._side.run(_open, self.settings)
        except Exception as e:
            self._stop(e)
            return
        self._observer = Observer(self._store)
        logger.info("Observing into %s", shown(self.settings.store), extra={"spider": spider})

    def _scheduled(self, request: Request, spider: Spider) -> None:
        """Remembers the target of redirects until its response arrives."""
        page = self._page(request) if request.meta.get("redirect_urls") else None
        if page is not None:
            visit = Visit(request, page, now(), None)
            self._leading[visit.first] = visit

    async def _closed(self, spider: Spider) -> None:
        if self._observer is not None:
            # The targets of these redirects were not requested, because they were visited before or are on other sites.
            leading = [] if self._failed else [*self._leading.values()]
            observed = [(visit, self._observer.submit(visit.redirects)) for visit in leading]
            for visit, done in observed:
                outcomes = self._sound(visit.page, await done)
                self.count("redirected", len(outcomes))
            error = await self._observer.close()
            if error is not None:
                logger.error("closing the store failed: %s", shown(error), extra={"spider": spider})
        self._side.end()

    def _stop(self, error: Exception) -> None:
        """Stops the spider because its store cannot be used."""
        if self._failed:
            return
        self._failed = True
        reason = f"{type(error).__name__}: {error}"
        logger.error(
            "The spider stops, because its store %s cannot be used: %s",
            shown(self.settings.store),
            shown(reason),
            extra={"spider": self._crawler.spider},
        )
        assert self._crawler.stats is not None
        self._crawler.stats.set_value("simkeep/error", shown(reason))
        engine = self._crawler.engine
        assert engine is not None
        # Pausing keeps queued requests for the next run of the job. A shell must not hang.
        if not self._crawler.settings.getbool("KEEP_ALIVE"):
            engine.pause()
        self._end(Reactor())

    def _end(self, reactor: Reactor) -> None:
        """Closes the spider as soon as the engine runs."""
        engine: Any = self._crawler.engine
        if not engine.running:
            if self._crawler.crawling:
                reactor.later(0.05, lambda: self._end(reactor))
            return
        if engine.spider is None:
            return
        if hasattr(engine, "close_spider_async"):
            closing = deferred_from_coro(engine.close_spider_async(reason=STOPPED))
        else:
            closing = engine.close_spider(engine.spider, STOPPED)
        closing.addErrback(lambda _: None)  # It is already closing for another reason.


def _check_clock(store: simkeep.Store, settings: Settings) -> None:
    """Warns if the store has visits later than this machine's clock."""
    last, clock = store.overview().last, datetime.now(UTC)
    if last is None or (last - clock).total_seconds() <= settings.clock_tolerance:
        return
    logger.warning(
        "The clock of this machine shows %s, but the last visit in %s is from %s. Check the clock. "
        "Visits are stored regardless of their time.",
        clock.isoformat(timespec="seconds"),
        shown(settings.store),
        last.isoformat(timespec="seconds"),
    )


def _open(settings: Settings) -> simkeep.Store:
    """Opens or creates the store, and checks that it has an epoch for extracted texts."""
    if settings.is_default:
        settings.store.parent.mkdir(parents=True, exist_ok=True)
    store = simkeep.Store.open_or_create(
        settings.store, near_distance=settings.near_distance, clock_tolerance=settings.clock_tolerance
    )
    try:
        _check_clock(store, settings)
        store.text_epochs()
    except BaseException:
        store.close()
        raise
    return store
