"""Crawls of a site: the verdicts match the changes of its pages."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Site, served
from running import CrawlReport, crawl

import simkeep

PAGES = 100
STORE = {"SIMKEEP_STORE": "crawl.simkeep", "SIMKEEP_FIELD": "verdict"}
GONE, FAILED = ("missing", "away"), ("broken",)


class Crawls:
    """Three crawls of a site: some pages have changed before the second, and the third comes too early."""

    def __init__(self, directory: Path, site: Site) -> None:
        self.site, self.store, self.url = site, directory / "crawl.simkeep", site.url
        self.first = crawl(directory, f"{site.url}/", settings=STORE)
        site.version = 1
        self.second = crawl(directory, f"{site.url}/", settings=STORE)
        site.asked.clear()
        arguments = {"simkeep_revisit_after": "3600"}
        self.third = crawl(directory, f"{site.url}/", settings=STORE, arguments=arguments)
        self.asked = Counter(site.asked)

    def model(self, seen: str, changed: str) -> dict[str, str]:
        """Returns the expected verdicts."""
        verdicts = {f"{self.url}/": seen}
        for path in self.site.paths():
            kind, number = path[1:].split("/")
            final = f"/final/{number}" if kind in ("moved", "refresh") else path
            verdict = "gone" if kind in GONE else "failed" if kind in FAILED else seen
            verdicts[self.url + final] = changed if path in self.site.changed() else verdict
        return verdicts


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    with served(Site(PAGES, 10)) as site:
        yield Crawls(tmp_path_factory.mktemp("site"), site)


def counted(report: CrawlReport, model: dict[str, str]) -> None:
    for verdict, number in Counter(model.values()).items():
        assert report.stat(verdict) == number, verdict
    assert report.reason == "finished" and report.stat("errors") == 0
    assert report.stat("redirected") == 2 and 0 < report.stat("observe_seconds_max") < 30


def test_the_first_crawl_finds_everything_new(crawls: Crawls) -> None:
    model = crawls.model("new", "new")
    assert crawls.first.verdicts == model
    counted(crawls.first, model)


def test_the_second_crawl_finds_changed_pages(crawls: Crawls) -> None:
    model = crawls.model("same", "changed")
    assert crawls.second.verdicts == model
    counted(crawls.second, model)
    assert crawls.second.stat("changed") == 10


def test_items_carry_the_verdict(crawls: Crawls) -> None:
    for report in (crawls.first, crawls.second):
        assert {item["url"]: item["verdict"] for item in report.items} == {
            url: verdict for url, verdict in report.verdicts.items() if verdict not in ("gone", "failed")
        }


def test_copies_and_near_duplicates_name_an_original(crawls: Crawls) -> None:
    alike = [path for path in crawls.site.paths() if path.split("/")[1] in ("copy", "near")] + ["/page/0"]
    originals = set(crawls.second.near.values())
    assert len(originals) == 1  # whichever came first
    assert {*crawls.second.near, *originals} == {crawls.url + path for path in alike}
    assert crawls.second.stat("copies") == 2 and crawls.second.stat("near") == 3


def test_recently_visited_pages_are_not_requested(crawls: Crawls) -> None:
    broken = {path for path in crawls.site.paths() if path.startswith("/broken/")}
    # Scrapy does not filter the start page, and retries failed pages.
    assert set(crawls.asked) == {"/", *broken}
    assert crawls.third.stat("not_requested") == PAGES - len(broken)
    assert Counter(crawls.third.errbacks.values())["NotRequested"] == PAGES - len(broken)


def test_redirect_source_and_target_are_both_stored(crawls: Crawls) -> None:
    with simkeep.Reader(crawls.store) as reader:
        for path in crawls.site.paths():
            kind, number = path[1:].split("/")
            if kind not in ("moved", "refresh"):
                continue
            history = reader.history(crawls.url + path)
            assert [entry.verdict for entry in history if isinstance(entry, simkeep.VisitEntry)] == ["new", "same"]
            page = reader.latest(crawls.url + path)
            assert page is not None and page.content is not None and page.content.fingerprint is None
            assert page.last.status == (302 if kind == "moved" else None)
            final = reader.latest(f"{crawls.url}/final/{number}")
            assert final is not None and final.last.status == 200


def test_pages_in_every_charset_get_distinct_fingerprints(crawls: Crawls) -> None:
    with simkeep.Reader(crawls.store) as reader:
        fingerprints = Counter(
            page.content.fingerprint for page in reader.scan() if page.content and "/page/" in page.url
        )
    assert None not in fingerprints and max(fingerprints.values()) == 1
