"""Runs a crawl in a separate process: `crawl.py JSON`. The last line of its output is a report in JSON."""

import json
import logging
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

import simkeep
from simkeep.scrapy import _session

ASKED: dict[str, Any] = json.loads(sys.argv[1])
REPORT: dict[str, Any] = {
    "verdicts": {},
    "items": [],
    "errbacks": {},
    "stats": [],
    "lags": [],
    "near": {},
}
LAG_SECONDS = 0.005


class Spider(scrapy.Spider):
    name = ASKED.get("name", "test")

    async def start(self) -> AsyncIterator[Any]:
        for url in ASKED["start"]:
            yield scrapy.Request(url, **self.how(), dont_filter=ASKED.get("dont_filter", True))
        for asked in ASKED.get("requests", ()):
            yield scrapy.Request(**asked, **self.how())

    def how(self) -> dict[str, Any]:
        return {"callback": self.parse, "errback": self.failed}

    def parse(self, response: Response) -> Iterator[Any]:
        self.note(response)
        yield {"url": response.url}
        if isinstance(response, TextResponse) and response.selector.type == "html":
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, **self.how())

    def failed(self, failure: Any) -> None:
        REPORT["errbacks"][failure.request.url] = type(failure.value).__name__
        self.note(getattr(failure.value, "response", None), failure.request)

    def note(self, response: Response | None, request: scrapy.Request | None = None) -> None:
        meta = response.meta if response is not None else request.meta if request is not None else {}
        outcome = meta.get("simkeep")
        url = response.url if response is not None else request.url if request is not None else ""
        if outcome is not None:
            REPORT["verdicts"][url] = str(outcome.verdict)
            if ASKED.get("acknowledge"):
                print(url, outcome.verdict, flush=True)
            if outcome.original is not None:
                REPORT["near"][url] = outcome.original.url


class Plain(scrapy.Spider):
    """A spider with the default `start` of Scrapy."""

    name = ASKED.get("name", "test")
    start_urls = ASKED["start"]

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}


class Items:
    def process_item(self, item: Any, spider: Any = None) -> Any:
        REPORT["items"].append(dict(item))
        return item


def measure_lag(crawler: Any) -> None:
    """Records the delay of the reactor every few milliseconds."""
    from twisted.internet import reactor as running

    reactor: Any = running
    due = time.monotonic() + LAG_SECONDS

    def tick() -> None:
        nonlocal due
        now = time.monotonic()
        REPORT["lags"].append(now - due)
        due = now + LAG_SECONDS
        if crawler.crawling:
            reactor.callLater(LAG_SECONDS, tick)

    reactor.callLater(LAG_SECONDS, tick)


class Lag:
    @classmethod
    def from_crawler(cls, crawler: Any) -> "Lag":
        from scrapy import signals

        made = cls()
        made.begin = lambda: measure_lag(crawler)  # type: ignore[attr-defined]
        crawler.signals.connect(made.begin, signals.spider_opened, weak=False)  # type: ignore[attr-defined]
        return made


class Panic(BaseException):
    """Stands for a panic of the extension, which is no `Exception`."""


class Poisoned:
    """A store that fails after some commits."""

    def __init__(self, store: simkeep.Store, commits: int, error: BaseException) -> None:
        self.store, self.commits, self.error = store, commits, error

    def observe_batch(self, rows: Any) -> Any:
        self.commits -= 1
        if self.commits < 0:
            raise self.error
        return self.store.observe_batch(rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def poison(commits: int, error: BaseException) -> None:
    opened = _session._open
    _session._open = lambda settings: Poisoned(opened(settings), commits, error)  # type: ignore[assignment, return-value]


def main() -> None:
    if "poison" in ASKED:
        poison(ASKED["poison"], simkeep.PoisonedError("the disk is \x1b[31mgone"))
    if "panic" in ASKED:
        poison(ASKED["panic"], Panic("index out of bounds"))
    settings = {
        "ADDONS": {"simkeep.scrapy.Addon": 500},
        "LOG_LEVEL": "INFO",
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_TIMES": 1,
        "ITEM_PIPELINES": {Items: 1},
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        **({"EXTENSIONS": {Lag: 1}} if ASKED.get("lag") else {}),
        **ASKED.get("settings", {}),
    }
    process: Any
    if settings.get("TWISTED_REACTOR_ENABLED", True):
        process = CrawlerProcess(settings)
    else:
        process = scrapy.crawler.AsyncCrawlerProcess(settings)
    spider = Plain if ASKED.get("plain") else Spider
    crawlers = [process.create_crawler(spider) for _ in range(ASKED.get("spiders", 1))]
    failures: list[str] = []

    def failed(failure: Failure) -> None:
        failures.append(f"{type(failure.value).__name__}: {failure.value}")

    for crawler in crawlers:
        crawling = process.crawl(crawler, **ASKED.get("arguments", {}))
        if isinstance(crawling, Deferred):
            crawling.addErrback(failed)
    began, worked = time.monotonic(), time.process_time()
    process.start()
    REPORT["seconds"], REPORT["cpu"] = time.monotonic() - began, time.process_time() - worked
    REPORT["failures"] = failures
    for crawler in crawlers:
        if crawler.stats is not None:
            REPORT["stats"].append(crawler.stats.get_stats())
    logging.shutdown()
    print(json.dumps(REPORT, default=str), flush=True)


if __name__ == "__main__":
    main()
