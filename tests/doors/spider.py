"""Observes texts through the add-on of Scrapy: `spider.py STORE VISITS`, the visits as JSON.

Prints of each its URL, its verdict, and which pages are copies of it or near it. The texts are served as HTML by
a middleware, so that URLs may be those of any site.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from itertools import islice

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

STORE, VISITS = sys.argv[1], json.loads(sys.argv[2])


class Site:
    """Answers in place of the network."""

    async def process_request(self, request: scrapy.Request) -> Response:
        body = f"<html><body><p>{VISITS[request.url]}</p></body></html>".encode()
        return HtmlResponse(request.url, body=body, request=request)


class Visits(scrapy.Spider):
    name = "visits"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        self.urls = iter(VISITS)
        yield scrapy.Request(next(self.urls))

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        outcome = response.meta["simkeep"]
        others = [other.url for other in (*outcome.copies, *outcome.near)]
        print(response.url, outcome.verdict, *others, sep="\t", flush=True)
        # One after the other, as in the other programs: each visit sees the one before it.
        yield from (scrapy.Request(url) for url in islice(self.urls, 1))


process = CrawlerProcess(
    {
        "ADDONS": {"simkeep.scrapy.Addon": 500},
        "SIMKEEP_STORE": STORE,
        "DOWNLOADER_MIDDLEWARES": {Site: 900},
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Visits)
process.start()
