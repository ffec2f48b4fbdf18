"""Observing visits, and the outcomes."""

import datetime as datetimes
import pickle
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from conftest import AT, DAY, OTHER, TEXT, URL

import simkeep
from simkeep import Observation, Verdict


def test_page_is_new_then_same_changed_and_reverted(store: simkeep.Store) -> None:
    first = store.observe(URL, AT, text=TEXT)
    assert (first.verdict, first.novel, first.priority) == (Verdict.NEW, True, 1.0)
    same = store.observe(URL, AT + DAY, html=f"<p>{TEXT}")
    assert (same.verdict, same.by) == ("same", "fingerprint")
    changed = store.observe(URL, AT + 2 * DAY, text=OTHER)
    assert changed.verdict is Verdict.CHANGED
    assert changed.distance == simkeep.distance(*map(simkeep.Fingerprinter().of_text, (TEXT, OTHER)))
    assert changed.distance_epoch == store.change_epoch
    assert changed.meaning is not None and changed.meaning.band == "major"
    assert str(changed).startswith(f"changed by {changed.distance} bits: much")
    back = store.observe(URL, AT + 3 * DAY, text=TEXT)
    assert (back.verdict, back.to) == ("reverted", AT)
    late = store.observe(URL, AT + timedelta(hours=1), text=TEXT)
    assert late.verdict == "out-of-order"
    assert store.observe(URL, AT, text=TEXT).verdict == "known"


def test_copies_and_near_duplicates_are_named(store: simkeep.Store) -> None:
    digest = bytes(range(16))
    store.observe(URL, AT, text=TEXT, digest=digest)
    out = store.observe("https://example.org/", AT + DAY, text=TEXT, digest=digest)
    assert out.copies == (simkeep.ExactCopy(URL, AT),)
    assert out.near == () and out.complete
    assert out.original == simkeep.Original(URL, 0, simkeep.OriginalBy.DIGEST)
    out = store.observe("https://example.net/", AT + DAY, text=TEXT)
    fingerprint = simkeep.Fingerprinter().of_text(TEXT)
    assert out.near[0] == simkeep.NearDuplicate(URL, 0, fingerprint, AT)
    assert [near.url for near in out.near] == [URL, "https://example.org/"]


def test_outcomes_refer_to_the_first_capture(path: Path) -> None:
    digest = bytes(range(16))
    with pytest.raises(TypeError, match="refers_to must be True or False"):
        simkeep.Store.create(path, refers_to="yes")  # type: ignore[arg-type]
    with simkeep.Store.create(path, refers_to=True) as store:
        assert store.observe(URL, AT + DAY, digest=digest).refers_to is None
        found = store.observe("https://example.org/b.pdf", AT + 2 * DAY, digest=digest).refers_to
        assert found == simkeep.Capture(URL, AT + DAY) and found.time == AT + DAY
        # The first capture by time, and not by arrival.
        store.observe("https://example.net/", AT, digest=digest)
        again = store.observe(URL, AT + 3 * DAY, digest=digest)
        assert again.refers_to == simkeep.Capture("https://example.net/", AT)
        assert again.verdict == "same" and store.gone(URL, AT + 4 * DAY).refers_to is None
    with simkeep.Store.open(path) as store:
        assert store.observe(URL, AT + 5 * DAY, digest=digest).refers_to is None


def test_visits_without_content_have_their_own_methods(store: simkeep.Store) -> None:
    assert store.not_modified(URL, AT).verdict == "unseen"
    store.observe(URL, AT + DAY, text=TEXT)
    same = store.not_modified(URL, AT + 2 * DAY, status=304, modified=AT)
    assert (same.verdict, same.by) == ("same", simkeep.SameBy.NOT_MODIFIED)
    assert store.failed(URL, AT + 3 * DAY, status=503).verdict == "failed"
    assert store.gone(URL, AT + 4 * DAY, status=410).verdict == "gone"
    page = store.latest(URL)
    assert page is not None and page.gone and page.content is None
    assert page.visits == 5 and page.last.status == 410


def test_redirects_are_compared_by_target(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT)
    leads = store.redirect(URL, AT + DAY, "/elsewhere", status=301)
    assert (leads.verdict, leads.copies, leads.near) == ("changed", (), ())
    page = store.latest(URL)
    assert page is not None and page.last.seen is simkeep.Seen.REDIRECT
    absolute = Observation.redirect(URL, AT + 2 * DAY, "https://example.com/elsewhere#part", weight=2.0)
    other_target: list[Any] = [{"url": URL, "at": AT + 3 * DAY, "seen": "redirect", "to": "/other"}]
    same, other = store.observe_batch([absolute, *other_target])
    assert (same.verdict, other.verdict) == ("same", "changed")
    assert eval(repr(absolute), {"simkeep": simkeep, "datetime": datetimes}) == absolute
    assert pickle.loads(pickle.dumps(absolute)) == absolute
    with pytest.raises(ValueError, match="to is empty"):
        Observation.redirect(URL, AT, " ")
    with pytest.raises(TypeError, match="to in row 0 is missing"):
        store.observe_batch([{"url": URL, "at": AT, "seen": "redirect"}])
    with pytest.raises(TypeError, match="to in row 0 is only for redirects"):
        store.observe_batch([{"url": URL, "at": AT, "text": TEXT, "to": "/x"}])


def test_response_meaning_follows_status_and_headers() -> None:
    means = simkeep.response_meaning
    assert [means(status) for status in (200, 204, 206, 301, 304, 404, 503)] == [
        "content", "failed", "failed", "failed", "not-modified", "gone", "failed",
    ]  # fmt: skip
    assert means(103) is None
    assert means(308, location="/x") is simkeep.Seen.REDIRECT
    assert means(206, content_range="bytes 0-3/4") == "content"
    assert means(200, length=4, received=3) == "failed"
    assert means(200, length=4, received=3, is_encoded=True) == "content"
    assert means(200, is_cut=True) == "failed"


def test_html_is_reduced_to_visible_text(store: simkeep.Store) -> None:
    html = f"<title>x</title><script>1</script><p>{TEXT}"
    store.observe(URL, AT, html=html)
    same = store.observe(URL, AT + DAY, html=html.encode())
    assert same.verdict == "same"
    russian = "Вы можете пользоваться этим сайтом, пока ведёте себя хорошо и платите за это вовремя"
    store.observe("https://a.example/", AT, text=russian)
    page = f"<p>{russian}".encode("windows-1251")
    out = store.observe("https://b.example/", AT, html=page, encoding="windows-1251")
    assert [near.distance for near in out.near] == [0]
    page = f"<meta charset=windows-1251><p>{russian}".encode("windows-1251")
    assert len(store.observe("https://c.example/", AT, html=bytearray(page)).near) == 2


def test_html_requires_an_epoch_with_its_extractor(path: Path) -> None:
    with simkeep.Store.create(path, epoch="mine/1 words2-sqrt/2") as store:
        store.observe(URL, AT, text=TEXT)
        with pytest.raises(simkeep.InvalidArgumentError, match=r"mine/1 words2-sqrt/2.*html/3 words2-sqrt/2.*begin"):
            store.text_epochs()
        with pytest.raises(simkeep.InvalidArgumentError, match="html/3"):
            store.observe(URL, AT + DAY, html=TEXT)
        new = store.begin_epoch(simkeep.Origin())
        assert store.text_epochs() == (new,)
        store.observe(URL, AT + DAY, html=TEXT)


def test_text_is_rejected_when_fingerprints_are_external(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        own = store.register_epoch("mine/1")
        store.observe(URL, AT, fingerprint=7, epoch=own)
        for content in ({"text": TEXT}, {"html": TEXT}):
            with pytest.raises(simkeep.InvalidArgumentError, match="mine/1.*another program makes these"):
                store.observe(URL, AT + DAY, **content)  # type: ignore[arg-type]
        assert len(store.history(URL)) == 1


def test_text_store_without_extractor_accepts_html(path: Path) -> None:
    with simkeep.Store.create(path, epoch="words2-sqrt/2") as store:
        store.observe(URL, AT, text=TEXT)
        assert store.observe(URL, AT + DAY, html=f"<p>{TEXT}").verdict == "same"
        assert len(store.epochs()) == 1


def test_short_texts_have_no_fingerprint(store: simkeep.Store) -> None:
    store.observe(URL, AT, text="Not found", digest=b"1" * 16)
    page = store.latest(URL)
    assert page is not None and page.content is not None
    assert page.content.fingerprint is None and page.content.digest == b"1" * 16
    assert store.observe(URL, AT + DAY, text="Not found", digest=b"1" * 16).by == "digest"


def test_external_fingerprints_are_accepted(path: Path) -> None:
    with simkeep.Store.create(path, epoch="mine/1") as store:
        epoch = store.change_epoch
        assert store.observe(URL, AT, fingerprint=2**64 - 1).verdict == "new"
        out = store.observe(URL, AT + DAY, fingerprint=2**64 - 2, epoch=epoch)
        assert (out.verdict, out.distance) == ("changed", 1)
        other = store.register_epoch("mine/2")
        out = store.observe(URL, AT + 2 * DAY, fingerprint=7, epoch=other, also=(2**64 - 8, epoch))
        assert (out.distance, out.distance_epoch) == (2, epoch)
        store.observe(URL, AT + 3 * DAY, fingerprint=None, epoch=other)
        page = store.latest(URL)
        assert page is not None and page.content is not None and page.content.fingerprint is None


def test_page_keeps_fingerprints_of_both_epochs_during_a_changeover(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT)
    old = store.change_epoch
    new = store.begin_epoch(simkeep.Origin("strict", extractor=simkeep.EXTRACTOR))
    out = store.observe(URL, AT + DAY, text=OTHER)
    assert (out.verdict, out.distance_epoch) == ("changed", old) and out.also
    page = store.latest(URL)
    assert page is not None and [content.epoch for content in page.contents] == [new, old]


def test_times_in_any_zone_are_returned_in_utc(store: simkeep.Store) -> None:
    zone = timezone(timedelta(hours=-5, minutes=-30))
    store.observe(URL, AT.astimezone(zone) + timedelta(microseconds=999), text=TEXT)
    store.observe(URL, 1_714_651_200_000, text=TEXT, modified=0)
    first, second = store.history(URL)
    assert (first.time, second.time) == (AT, AT + DAY)
    assert first.time.utcoffset() == timedelta(0)
    assert isinstance(second, simkeep.VisitEntry)
    assert second.visit.modified == AT.replace(1970, 1, 1, 0)
    for year in (1, 9999):
        at = AT.replace(year=year)
        store.observe("https://example.org/", at, text=TEXT)
        assert store.as_of("https://example.org/", at) is not None


def test_weights_and_classes_hold_until_replaced(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT, weight=0.1, class_=7)
    page = store.latest(URL)
    assert page is not None and (page.weight, page.class_) == (0.1, 7)
    assert store.set_property(URL, AT + DAY, weight=2) == "stored"
    assert store.set_property(URL, AT + DAY, class_=0) is simkeep.PropertyOutcome.STORED
    assert store.set_property("https://example.org/", AT, weight=2) == "missing"
    page = store.latest(URL)
    assert page is not None and (page.weight, page.class_, page.visits) == (2.0, 0, 1)
    kinds = [type(entry) for entry in store.history(URL)]
    assert kinds == [simkeep.VisitEntry, simkeep.PropertyEntry, simkeep.PropertyEntry, simkeep.PropertyEntry, simkeep.PropertyEntry]


def test_facts_of_responses_are_returned(store: simkeep.Store) -> None:
    etag = b'W/"\xff"'
    store.observe(URL, AT, text=TEXT, etag=etag, canonical="shoes#top", bytes=14_300, conditional=True)
    page = store.latest(URL)
    assert page is not None and (page.etag, page.target) == (etag, "https://example.com/shoes")
    assert (page.last.bytes, page.last.conditional) == (14_300, True)
    assert list(store.scan()) == [page]
    _, *properties = store.history(URL)
    assert properties == [
        simkeep.PropertyEntry(page.first, None, None, etag, None),
        simkeep.PropertyEntry(page.first, None, None, None, "https://example.com/shoes"),
    ]
    store.not_modified(URL, AT + DAY, etag=b'"2"', conditional=True)
    page = store.latest(URL)
    assert page is not None and (page.etag, page.target) == (b'"2"', "https://example.com/shoes")
    store.redirect(URL, AT + 2 * DAY, "/new", conditional=False)
    page = store.latest(URL)
    assert page is not None and (page.etag, page.target) == (None, "https://example.com/new")


def test_page_has_the_headers_of_a_conditional_request(store: simkeep.Store) -> None:
    def headers() -> dict[str, bytes]:
        page = store.latest(URL)
        assert page is not None
        [due] = store.due(AT + 400 * DAY, 1)
        assert due.page.conditional_headers() == page.conditional_headers()
        return page.conditional_headers()

    modified = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)
    store.observe(URL, AT, text=TEXT, etag=b'W/"\xff"', modified=modified)
    expected = {"If-None-Match": b'W/"\xff"', "If-Modified-Since": b"Sun, 06 Nov 1994 08:49:37 GMT"}
    assert headers() == expected
    store.observe(URL, AT + DAY, text=TEXT, modified=modified)
    assert headers() == {"If-Modified-Since": expected["If-Modified-Since"]}
    store.observe(URL, AT + 2 * DAY, text=TEXT, etag=b"x")
    assert headers() == {"If-None-Match": b"x"}
    store.gone(URL, AT + 3 * DAY)
    assert headers() == {}


def test_store_without_validators_keeps_no_entity_tags(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="validators must be True or False"):
        simkeep.Store.create(tmp_path / "s", validators=1)  # type: ignore[arg-type]
    with simkeep.Store.create(tmp_path / "s", validators=False) as store:
        store.observe(URL, AT, text=TEXT, etag=b"x", modified=AT - DAY)
        page = store.latest(URL)
        assert page is not None and (page.etag, page.modified) == (None, AT - DAY)
        assert list(page.conditional_headers()) == ["If-Modified-Since"]
        assert len(store.history(URL)) == 1


def test_canonical_url_of_html_is_kept(store: simkeep.Store) -> None:
    html = f"<base href=/b/><link rel=canonical href='mailto:a@b'><link rel=Canonical href=c><p>{TEXT}"
    for canonical, target in [
        (None, "https://example.com/b/c"),
        ("/d", "https://example.com/d"),
        ("mailto:me@example.com", "https://example.com/b/c"),
    ]:
        for given in (html, html.encode()):
            store.observe(URL, AT, html=given, canonical=canonical)
            page = store.latest(URL)
            assert page is not None and page.target == target
            store.forget(URL)


def test_canonical_url_of_a_header_is_resolved() -> None:
    link = '</a>; rel=next, <mailto:a@b>; rel=canonical, <c#top>; rel="nofollow Canonical"'
    assert simkeep.canonical_in_link(URL, link) == "https://example.com/c"
    assert simkeep.canonical_in_link(URL, "</a>; rel=next") is None


def test_facts_that_cannot_be_kept_are_dropped(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT, etag=b"e" * 128, canonical="mailto:me@example.com")
    page = store.latest(URL)
    assert page is not None and (page.etag, page.target) == (b"e" * 128, None)
    store.observe(URL, AT + DAY, text=TEXT, etag=b"e" * 129, canonical=URL)
    page = store.latest(URL)
    assert page is not None and (page.etag, page.target, page.last.bytes) == (None, None, None)
    store.observe_batch([{"url": URL, "at": AT + 2 * DAY, "seen": "gone", "etag": b"e", "bytes": 7, "canonical": "/a"}])
    page = store.latest(URL)
    assert page is not None and (page.etag, page.target, page.last.bytes) == (None, None, None)


def test_observe_batch_accepts_dicts_and_objects(store: simkeep.Store) -> None:
    outs = store.observe_batch(
        [
            {"url": URL, "at": AT, "text": TEXT, "status": 200, "class_": 3},
            Observation(URL, AT + DAY, text=OTHER),
            Observation.not_modified(URL, AT + 2 * DAY, status=304),
            {"url": URL, "at": AT + 3 * DAY, "seen": "failed", "status": 500},
            {"url": URL, "at": AT + 4 * DAY, "seen": "gone"},
        ]
    )
    assert [out.verdict for out in outs] == ["new", "changed", "same", "failed", "gone"]
    assert len(store.observe_batch(iter([]))) == 0


def test_threads_share_a_store(store: simkeep.Store) -> None:
    def visit(number: int) -> None:
        for n in range(20):
            store.observe(f"https://example.com/{number}/{n}", AT, fingerprint=n)

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.stats().pages == 160


def test_visit_beyond_the_clock_tolerance_is_rejected(tmp_path: Path) -> None:
    late = datetime.now(UTC) + timedelta(hours=2)
    with simkeep.Store.create(tmp_path / "store", clock_tolerance=timedelta(hours=1)) as store:
        with pytest.raises(simkeep.TimeError, match="clock of this machine allows"):
            store.observe(URL, late, text=TEXT)
        assert store.stats().visits == 0
    with simkeep.Store.open(tmp_path / "store", clock_tolerance=None) as store:
        store.observe(URL, late, text=TEXT)
    # The clock is behind the store.
    with simkeep.Store.open(tmp_path / "store", clock_tolerance=3600) as store:
        store.observe(URL, late + timedelta(days=1), text=OTHER)
