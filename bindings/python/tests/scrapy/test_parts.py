"""Parts of the add-on, without a crawl."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from twisted.internet.defer import Deferred

import simkeep
from simkeep.scrapy._observer import Answer, Make, Observer, _Job
from simkeep.scrapy._visit import BODY_MAX, Visit, _Arrivals, page_of

PAGE = "https://example.com/"


@pytest.fixture
def observer(tmp_path: Path) -> Iterator[Observer]:
    """Returns an observer without a thread."""
    observer = Observer.__new__(Observer)
    with simkeep.Store.create(tmp_path / "crawl.simkeep") as store:
        observer._store, observer._broken = store, None
        yield observer


def answers(observer: Observer, *made: Make) -> list[Answer]:
    return observer._answers([_Job(make, Deferred()) for make in made])


def seen(*urls: str) -> Make:
    text = "What stands on {} is not much at all."
    return lambda: [simkeep.Observation(url, 1, text=text.format(url)) for url in urls]


def fails() -> list[simkeep.Observation]:
    raise ValueError("nothing can be made of it")


def test_refused_observations_do_not_fail_others_in_the_batch(observer: Observer) -> None:
    bad = "b\x1bad"
    found = answers(observer, seen("a"), fails, seen(bad), seen("b", "c"), seen(bad, "d"), seen("a"))
    kinds = [type(answer).__name__ for answer in found]
    assert kinds == ["list", "ValueError", "UrlError", "list", "list", "list"]
    assert [len(answer) for answer in found if isinstance(answer, list)] == [1, 2, 1, 1]
    assert [page.url for page in observer._store.scan()] == ["a", "b", "c", "d"]
    assert isinstance(found[-1], list) and found[-1][0].verdict == "known"


def test_batched_observations_are_stored_in_order(observer: Observer) -> None:
    sequence = observer._store.sequence
    first, second = answers(observer, seen("a", "b"), lambda: [simkeep.Observation.gone("b", 2)])
    assert isinstance(first, list) and isinstance(second, list)
    assert [outcome.verdict.value for outcome in (*first, *second)] == ["new", "new", "gone"]
    assert observer._store.sequence > sequence


def test_observations_on_a_closed_store_fail(observer: Observer) -> None:
    observer._store.close()
    found = answers(observer, seen("a"), fails, seen("b"))
    assert [type(answer).__name__ for answer in found] == ["ClosedError", "ValueError", "ClosedError"]


def visit(status: int = 200, body: bytes = b"", headers: dict[str, str] | None = None, **meta: object) -> Visit:
    request = Request(PAGE, meta=meta)
    return Visit.of_response(request, Response(PAGE, status, headers, body), PAGE)


def test_responses_are_observed_by_status() -> None:
    statuses = (200, 304, 404, 410, 403, 503, 302)
    shown = {status: repr(visit(status, b"body").observation()) for status in statuses}
    for status, kind in ((304, "not_modified"), (404, "gone"), (410, "gone"), (403, "failed"), (302, "failed")):
        assert shown[status].startswith(f"simkeep.Observation.{kind}(")
        assert f"status={status}" in shown[status]
    assert "digest=" in shown[200]
    for status in (301, 302, 303, 307, 308):
        leads = repr(visit(status, headers={"Location": "/elsewhere"}).observation())
        assert leads.startswith("simkeep.Observation.redirect(") and "to='/elsewhere'" in leads


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (202, {}, "failed"),
        (204, {}, "failed"),
        (205, {}, "failed"),
        (206, {}, "failed"),
        (206, {"Content-Range": "bytes 0-3/9"}, "failed"),
        (206, {"Content-Range": "bytes 0-3/4"}, "content"),
        (300, {"Location": "/a"}, "failed"),
        (301, {"Location": " "}, "failed"),
        (451, {}, "failed"),
    ],
)
def test_only_complete_responses_are_content(status: int, headers: dict[str, str], kind: str) -> None:
    observed = repr(visit(status, b"body", headers).observation())
    assert observed.startswith("simkeep.Observation(" if kind == "content" else "simkeep.Observation.failed(")


@pytest.mark.parametrize("flag", ["dataloss", "download_stopped"])
def test_truncated_responses_are_failed_visits(flag: str) -> None:
    cut = Response(PAGE, body=b"<p>cut", flags=[flag])
    observed = Visit.of_response(Request(PAGE), cut, PAGE).observation()
    assert repr(observed).startswith("simkeep.Observation.failed(")


def test_unreadable_dates_are_ignored() -> None:
    for date in ("", "yesterday", "Mon, 99 Foo 2024 00:00:00 GMT", "\x00"):
        assert "modified" not in repr(visit(headers={"Last-Modified": date}).observation())
    for date in ("Wed, 01 May 2024 00:00:00 GMT", "Wed, 01 May 2024 00:00:00 -0000", "1 May 2024 02:00 +0200"):
        observed = visit(headers={"Last-Modified": date}).observation()
        assert "modified=datetime.datetime(2024, 5, 1, 0, 0," in repr(observed)


def test_entity_tags_and_lengths_are_observed() -> None:
    observed = repr(visit(headers={"ETag": 'W/"1"', "Content-Length": "300"}).observation())
    assert "etag=b'W/\"1\"'" in observed and "bytes=300" in observed and "conditional" not in observed
    unmodified = repr(visit(304, headers={"ETag": '"2"'}).observation())
    assert "etag=b'\"2\"'" in unmodified and "bytes" not in unmodified
    for headers in ({}, {"ETag": "", "Content-Length": "many"}, {"ETag": '"1"\r\nA: b', "Content-Length": "-1"}):
        observed = repr(visit(headers=headers).observation())
        assert "etag" not in observed and "bytes=" not in observed


def test_canonical_urls_of_headers_are_observed() -> None:
    link = '</a>; rel=next, <b#top>; rel="x Canonical"'
    observed = visit(headers={"Link": link}).observation()
    assert f"canonical={PAGE + 'b'!r}" in repr(observed)
    for link in ("</a>; rel=next", "<mailto:a@b>; rel=canonical", "<>; rel=canonical"):
        assert "canonical" not in repr(visit(headers={"Link": link}).observation())


def test_implausible_last_modified_dates_are_ignored() -> None:
    def modified(date: str, sent: str | None = None) -> bool:
        headers = {"Last-Modified": date} | ({} if sent is None else {"Date": sent})
        return "modified=" in repr(visit(headers=headers).observation())

    past, day = "Wed, 01 May 2024 00:00:00 GMT", "Thu, 02 May 2024 00:00:00 GMT"
    assert modified(past) and modified(past, past) and modified(past, day)
    # Later than the response (RFC 9110, section 8.8.2.1), or older than the web.
    for date, sent in (
        (day, past),
        ("Fri, 01 Jan 2098 00:00:00 GMT", None),
        ("Fri, 01 Jan 2098 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("Sun, 31 Dec 1989 23:59:59 GMT", past),
    ):
        assert not modified(date, sent)


def test_empty_pages_differ_and_huge_pages_are_compared_by_digest() -> None:
    digests = set()
    for url in (PAGE, f"{PAGE}b"):
        empty = Visit.of_response(Request(url), HtmlResponse(url), url)
        digests.add(repr(empty.observation()).partition("digest=")[2].partition(",")[0])
    assert len(digests) == 2
    huge = HtmlResponse(PAGE, body=b"<p>" + b"word " * (BODY_MAX // 5))
    assert "html=" not in repr(Visit.of_response(Request(PAGE), huge, PAGE).observation())


def test_each_url_of_a_redirect_chain_is_observed_once() -> None:
    urls = [f"{PAGE}a", f"{PAGE}b#part", PAGE, f"{PAGE}a"]
    observations = visit(body=b"x", redirect_urls=urls, redirect_reasons=[301, "meta refresh"]).observations()
    assert [one.url for one in observations] == [f"{PAGE}a", f"{PAGE}b", PAGE]
    assert "status=301" in repr(observations[0]) and "status" not in repr(observations[1])
    browser = Visit.of_response(Request(f"{PAGE}from"), Response(f"{PAGE}to", body=b"x"), f"{PAGE}from")
    assert [one.url for one in browser.observations()] == [f"{PAGE}from", f"{PAGE}to"]
    keyed = visit(body=b"x", redirect_urls=urls, simkeep_key="key")
    assert keyed.redirects() == []


def test_pages_are_keyed_by_url_without_fragment() -> None:
    assert page_of(Request(f"{PAGE}a?b#c")) == f"{PAGE}a?b"
    assert page_of(Request(PAGE, method="PUT")) is None
    assert page_of(Request(PAGE, meta={"simkeep_key": "k"}, method="PUT")) == "k"
    assert page_of(Request(PAGE, meta={"simkeep_enabled": 0})) is None


def test_responses_in_one_millisecond_keep_their_order() -> None:
    arrivals = _Arrivals()
    clock = [1000, 1000, 1000, 1001, 1010, 1009, 5000, 3999, 4000]
    assert [arrivals.next(at) for at in clock] == [1000, 1001, 1002, 1003, 1010, 1011, 5000, 3999, 4000]
