"""The treatment of responses by their outcomes, and the selection of observed requests."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import scrapy
from loopback import Page, Site, served
from running import crawl

import simkeep
from simkeep.scrapy._visit import drop_validators, make_conditional

STORE = {"SIMKEEP_STORE": "crawl.simkeep"}


def test_same_responses_are_tagged_dropped_or_skipped(tmp_path: Path) -> None:
    with served(Site(8, kinds=("near",))) as site:
        start = f"{site.url}/"
        first = crawl(tmp_path, start, settings=STORE | {"SIMKEEP_SAME": "skip", "SIMKEEP_NEAR": "skip"})
        assert len(first.items) == 8 and first.stat("dropped") == 0
        assert first.stat("skipped") == 1 and first.stat("near") == 1  # /near/5 after /page/0, or the reverse
        [(skipped, original)] = first.near.items()
        assert first.errbacks == {skipped: "Skipped"} and original.endswith(("/near/5", "/page/0"))
        site.version = 1
        second = crawl(tmp_path, start, settings=STORE | {"SIMKEEP_SAME": "drop-items"})
        assert [item["url"] for item in second.items] == [f"{site.url}/page/7"]
        assert second.stat("same") == 8 and second.stat("dropped") == 8  # links were followed
        third = crawl(tmp_path, start, settings=STORE | {"SIMKEEP_SAME": "skip"})
        assert third.items == [] and third.errbacks == {start: "Skipped"} and third.stat("skipped") == 1


def test_requests_are_observed_under_their_keys(tmp_path: Path) -> None:
    (tmp_path / "a file.html").write_text("<p>Some words stand in this file, and some more that nobody reads.")
    file = (tmp_path / "a file.html").as_uri()
    with served(Site(20)) as site:
        page = f"{site.url}/page/"
        requests = [
            {"url": f"{page}1#part"},
            {"url": f"{page}2", "meta": {"simkeep_enabled": False}},
            {"url": f"{page}3", "meta": {"simkeep_key": "product:3", "simkeep": "stale"}},
            {"url": f"{page}4", "method": "POST"},
            {"url": f"{page}6", "method": "POST", "meta": {"simkeep_key": "posted"}},
            {"url": f"{page}8", "method": "HEAD"},
            {"url": f"{page}9", "meta": {"simkeep_key": "bad\x1b[31mkey"}},
            {"url": f"{page}10", "meta": {"simkeep_key": ["no", "key"]}},
            {"url": f"{page}11", "meta": {"simkeep_key": "long" * 4000}},
            {"url": f"{site.url}/moved/5", "meta": {"simkeep_key": "moved"}},
            {"url": f"{site.url}/final/105"},
            {"url": f"{site.url}/moved/105"},  # to what was asked for already
            {"url": "data:text/html,<p>Its%20content%20is%20its%20name"},
            {"url": "gopher://nobody/"},
            {"url": file},
            {"url": "http://127.0.0.1:9/refused"},
            {"url": f"{site.url}/private"},
        ]
        settings = STORE | {"ROBOTSTXT_OBEY": True, "URLLENGTH_LIMIT": 0}
        report = crawl(tmp_path, settings=settings, requests=requests)
    assert report.reason == "finished"
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        known = {page.url: page.last.seen.value for page in reader.scan()}
    assert known == {
        f"{page}1": "content",
        f"{site.url}/final/105": "content",
        f"{site.url}/moved/105": "redirect",
        "product:3": "content",
        "posted": "content",
        "moved": "content",
        file: "content",
        "http://127.0.0.1:9/refused": "failed",
    }
    counted = {"errors": 3, "new": 6, "redirected": 1, "failed": 1}
    assert {stat: report.stat(stat) for stat in counted} == counted
    assert report.verdicts["http://127.0.0.1:9/refused"] == "failed"
    assert r"bad\x1b[31mkey is not observed: the URL has a control character" in report.log
    assert "simkeep_key must be str, not list" in report.log
    assert report.errbacks[f"{site.url}/private"] == "IgnoreRequest" and f"{page}2" not in report.verdicts


def test_conditional_requests_have_the_known_validators(tmp_path: Path) -> None:
    with served(Site(100)) as site:
        tag = f"{site.url}/etag/95"
        allowed = {"url": tag, "meta": {"handle_httpstatus_list": [304]}}
        own = {"url": tag, "headers": {"If-None-Match": '"other"'}, "meta": {"handle_httpstatus_list": [304]}}
        settings = STORE | {"SIMKEEP_CONDITIONAL": True}
        for request in (allowed, allowed, own):
            crawl(tmp_path, settings=settings, requests=[request])
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        visits = [entry.visit for entry in reader.history(tag) if isinstance(entry, simkeep.VisitEntry)]
        page = reader.latest(tag)
    assert [visit.status for visit in visits] == [200, 304, 200]
    assert [visit.conditional for visit in visits] == [False, True, True]
    assert page is not None and page.etag is not None and page.etag.startswith(b'"')


def test_redirected_request_has_no_validators_of_the_first_page(tmp_path: Path) -> None:
    first, other = "https://example.com/a", "https://example.com/b"
    with simkeep.Store.create(tmp_path / "s") as store:
        store.observe(first, 1_000_000_000_000, text="some words of a page", etag=b'"a"')
        known = store.latest(first)
    assert known is not None
    request = scrapy.Request(first)
    make_conditional(request, first, known)
    drop_validators(request, first)
    assert request.headers["If-None-Match"] == b'"a"'
    # The middleware for redirects copies headers and meta.
    redirected = request.replace(url=other)
    drop_validators(redirected, other)
    assert "If-None-Match" not in redirected.headers
    own = scrapy.Request(first, headers={"If-None-Match": '"own"'})
    make_conditional(own, first, known)
    drop_validators(own, other)
    assert own.headers["If-None-Match"] == b'"own"'


def test_saved_bodies_are_counted(tmp_path: Path) -> None:
    names = ("not_modified", "not_modified_bytes", "unchanged", "unchanged_bytes", "copies", "copies_bytes")
    with served(Site(100)) as site:
        tag, page, copy = (f"{site.url}/{path}" for path in ("etag/95", "page/0", "copy/5"))
        asked = {"url": tag, "meta": {"handle_httpstatus_list": [304]}}
        conditional = STORE | {"SIMKEEP_CONDITIONAL": True}
        reports = [
            crawl(tmp_path, tag, settings=STORE),
            crawl(tmp_path, tag, settings=STORE),
            crawl(tmp_path, settings=conditional, requests=[asked]),
            crawl(tmp_path, page, settings=STORE),
            crawl(tmp_path, copy, settings=STORE),
        ]
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        history = reader.history(tag)[0], reader.history(copy)[0]
        lengths = [entry.visit.bytes for entry in history if isinstance(entry, simkeep.VisitEntry)]
    of_tag, of_copy = lengths
    assert of_tag and of_copy
    assert [[report.stat(name) for name in names] for report in reports] == [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 1, of_tag, 0, 0],
        [1, of_tag, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, of_copy],
    ]


def test_not_modified_responses_count_as_same(tmp_path: Path) -> None:
    with served(Site(100)) as site:
        tag = f"{site.url}/etag/95"
        conditional = {"If-None-Match": '"95"'}
        first = crawl(tmp_path, tag, settings=STORE)
        asked = {"url": tag, "headers": conditional, "meta": {"handle_httpstatus_list": [304]}}
        second = crawl(tmp_path, settings=STORE, requests=[asked])
    assert (first.stat("new"), second.stat("same")) == (1, 1)
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        _, same = (entry for entry in reader.history(tag) if isinstance(entry, simkeep.VisitEntry))
        assert same.by == "not-modified" and same.visit.status == 304


def test_cached_responses_are_visits_at_their_date_header(tmp_path: Path) -> None:
    cached = STORE | {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    validated = cached | {"HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy"}
    sent = datetime.now(UTC).replace(microsecond=0) - timedelta(days=9)

    class Old(Site):
        def page(self, path: str, if_none_match: str | None = None) -> Page:
            page = super().page(path, if_none_match)
            if path.startswith("/page/"):
                page.headers["Date"] = format_datetime(sent, usegmt=True)
            return page

    with served(Old(100)) as site:
        old, tag = f"{site.url}/page/1", f"{site.url}/etag/95"
        first = crawl(tmp_path, old, tag, settings=cached)
        asked = site.asked.copy()
        second = crawl(tmp_path, tag, settings=validated)
        assert site.asked["/etag/95"] == asked["/etag/95"] + 1
        third = crawl(tmp_path, old, settings=cached)
    assert first.verdicts == {old: "new", tag: "new"} and second.verdicts == {tag: "same"}
    assert third.verdicts[old] in ("known", "out-of-order")
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        page = reader.latest(old)
        assert page is not None and page.first == sent and page.last.time > sent + timedelta(days=8)
