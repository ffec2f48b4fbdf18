"""Start requests made from due pages, other reactors, and the default path of a store."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import scrapy
from loopback import Site, served
from running import crawl

import simkeep

VERSION = tuple(map(int, scrapy.__version__.split(".")[:2]))


def visited(store: simkeep.Store, url: str, *contents: int) -> None:
    """Observes these contents of a page, one every ten days and the last one ten days ago."""
    now = datetime.now(UTC)
    for n, content in enumerate(contents):
        at = now - timedelta(days=10 * (len(contents) - n))
        store.observe(url, at, text=f"content {content} " * 10 + url, digest=bytes([content]) * 16)


def test_spider_starts_with_the_most_valuable_pages(tmp_path: Path) -> None:
    with served(Site(20)) as site:
        with simkeep.Store.create(tmp_path / "crawl.simkeep") as store:
            for n in (1, 2):
                visited(store, f"{site.url}/page/{n}", 1, 2, 3, 4, 5)  # changes often
            visited(store, f"{site.url}/page/3", 1, 1, 1, 1, 1)
            visited(store, "https://elsewhere.example/", 1, 2, 3, 4, 5)
            visited(store, "product:4", 1, 2, 3, 4, 5)
        settings = {"SIMKEEP_STORE": "crawl.simkeep", "SIMKEEP_DUE": "2"}
        arguments = {"allowed_domains": ["127.0.0.1", "product", "not a domain"]}
        report = crawl(tmp_path, f"{site.url}/", settings=settings, plain=True, arguments=arguments)
        assert set(site.asked) == {"/page/1", "/page/2"}
        assert report.stat("due") == 2 and report.stat("changed") == 2 and report.reason == "finished"
        site.asked.clear()
        # The page was visited too recently to be worth a visit; with these settings it is not due at all.
        settings |= {"SIMKEEP_DUE": "20", "SIMKEEP_REVISIT_AFTER": "86400"}
        crawl(tmp_path, f"{site.url}/", settings=settings, plain=True, arguments=arguments)
        assert set(site.asked) == {"/page/3"}


def test_spider_with_an_empty_store_uses_start_urls(tmp_path: Path) -> None:
    with served(Site(8)) as site:
        report = crawl(tmp_path, f"{site.url}/", settings={"SIMKEEP_DUE": 5}, name="../my spider")
        assert len(site.asked) == 10 and report.stat("new") == 9
    assert os.listdir(tmp_path) == [".scrapy"]
    assert os.listdir(tmp_path / ".scrapy/simkeep") == ["..%2Fmy%20spider.simkeep"]


@pytest.mark.parametrize("loop", ["select", "none"])
def test_works_with_any_reactor(loop: str, tmp_path: Path) -> None:
    if loop == "none" and VERSION < (2, 15):
        pytest.skip("this Scrapy needs a reactor")
    settings: dict[str, object] = {"SIMKEEP_STORE": "crawl.simkeep", "SIMKEEP_REVISIT_AFTER": 60}
    if loop == "select":
        settings["TWISTED_REACTOR"] = "twisted.internet.selectreactor.SelectReactor"
    else:
        settings["TWISTED_REACTOR_ENABLED"] = False
    with served(Site(8)) as site:
        for expected in ({"new": 9}, {"same": 1, "not_requested": 8}):
            report = crawl(tmp_path, f"{site.url}/", settings=settings)
            assert {stat: report.stat(stat) for stat in expected} == expected, report.log
            assert report.reason == "finished"
