"""Queries of a store, a reader and a snapshot."""

import ctypes
from array import array
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy
import pyarrow as pa
import pytest
from conftest import AT, DAY, OTHER, TEXT, URL, filled, mixed

import simkeep


def test_keywords_restrict_near_results(store: simkeep.Store) -> None:
    for n in range(8):
        at = AT + n * DAY
        store.observe(f"https://{'a' if n < 4 else 'b'}.example/{n}", at, fingerprint=2**n - 1, class_=n % 2)
    store.observe("https://a.example/0", AT + 9 * DAY, fingerprint=2**40 - 1)

    def found(**like: object) -> list[str]:
        return [near.url[8] + near.url[-1] for near in store.near(0, k=3, **like)]  # type: ignore[arg-type]

    assert found() == ["a1", "a2", "a3"]
    assert found(limit=2) == ["a1", "a2"]
    assert found(under="b.example") == []
    assert found(exclude="https://a.example/2") == ["a1", "a3"]
    assert found(classes=[0]) == ["a2"]
    assert found(classes=[None]) == []
    assert found(at=AT + 2 * DAY) == ["a0", "a1", "a2"]
    assert found(seen=(AT, AT + DAY)) == ["a0", "a1"]
    assert found(ever=True) == ["a0", "a1", "a2", "a3"]
    assert found(budget=timedelta(seconds=1), fingerprints=10) == ["a1", "a2", "a3"]
    assert found(limit=None) == ["a1", "a2", "a3"]
    assert not store.near(0, k=3, limit=2).complete
    # Without `k`, the distance of the store.
    assert store.near_distance() == 3 and len(store.near(0)) == 3


def test_nearest_finds_pages_at_any_distance(store: simkeep.Store) -> None:
    for n in range(5):
        store.observe(f"https://example.com/{n}", AT, fingerprint=2 ** (10 * n) - 1)
    nearest = store.nearest(0, 2)
    assert [near.distance for near in nearest] == [0, 10]
    assert [near.distance for near in store.nearest(0, 1, exclude="https://example.com/0")] == [10]


def test_explain_describes_a_search(store: simkeep.Store) -> None:
    filled(store, 2000)
    explained = store.explain(mixed(7), k=3)
    assert explained.matches.near[0].url == "https://7.example/7"
    assert explained.instruction_set in ("avx512", "avx2", "popcnt", "portable")
    segment = explained.components[0]
    assert segment.fingerprints == 2000 and segment.hits == 1 and segment.access_path in ("rotations", "scan")
    assert explained.took > timedelta(0)


def test_exact_copies_are_found_by_digest(store: simkeep.Store) -> None:
    digest = bytes(range(16))
    for n in range(3):
        store.observe(f"https://example.com/{n}.pdf", AT - n * DAY, digest=digest)
    fingerprint = simkeep.Fingerprinter().of_text(TEXT)
    store.observe(URL, AT, text=TEXT, digest=digest)
    copies = store.by_digest(digest)
    assert [copy.url for copy in copies.pages] == [f"https://example.com/{n}.pdf" for n in (2, 1, 0)]
    assert copies.complete and copies.pages[0] == simkeep.ExactCopy("https://example.com/2.pdf", AT - 2 * DAY)
    few = store.snapshot().by_digest(digest, limit=2)
    assert few == simkeep.Copies(copies.pages[:2], False)
    assert store.by_digest(digest, limit=None) == copies
    # Content with a fingerprint is found through it.
    for epoch in (None, 0):
        [copy] = store.by_digest(digest, fingerprint, epoch=epoch).pages
        assert copy.url == URL
    assert store.by_digest(bytes(16)) == simkeep.Copies((), True)
    with pytest.raises(simkeep.EpochError):
        store.by_digest(digest, fingerprint, epoch=9)
    for wrong in ("ab", b"ab"):
        with pytest.raises((TypeError, ValueError), match="digest must be 16 bytes"):
            store.by_digest(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["list", "range", "numpy", "signed", "strided", "array", "memory", "ctypes"])
def test_near_batch_accepts_any_fingerprint_container(store: simkeep.Store, kind: str) -> None:
    filled(store, 5000)
    prints = [mixed(n) for n in range(0, 10000, 7)]
    unsigned = numpy.array(prints, dtype="u8")
    given: dict[str, Any] = {
        "list": prints,
        "range": range(len(prints)),
        "numpy": unsigned,
        "signed": unsigned.view("i8"),
        "strided": numpy.repeat(unsigned, 3)[::3],
        "array": array("Q", prints),
        "memory": memoryview(bytes_of(unsigned)),
        "ctypes": (ctypes.c_uint64 * len(prints))(*prints),
    }
    answers = store.near_batch(given[kind], k=3)
    expected = range(len(prints)) if kind == "range" else prints
    assert list(answers) == [store.near(fingerprint, k=3) for fingerprint in expected]
    assert len(store.near_batch([])) == 0


def bytes_of(numbers: Any) -> Any:
    """Returns the argument as `Any`: the type stubs of numpy do not declare its buffer."""
    return numbers


def test_histories_and_as_of_return_past_states(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT, status=200)
    store.observe(URL, AT + DAY, text=OTHER, status=200)
    store.gone(URL, AT + 2 * DAY, status=404)
    history = store.history(URL)
    assert [entry.verdict for entry in history if isinstance(entry, simkeep.VisitEntry)] == [
        "new",
        "changed",
        "gone",
    ]
    assert store.history("https://example.org/") == []
    assert store.as_of(URL, AT - DAY) is None
    first = store.as_of(URL, AT + timedelta(hours=23))
    assert first is not None
    assert (first.time, first.seen, first.fingerprint) == (AT, "content", simkeep.fingerprint(TEXT))
    assert store.as_of(URL, AT + 3 * DAY) is None
    page = store.latest(URL)
    assert page is not None and page.changes.comparisons == 2 and page.changes.changes == 2
    assert store.latest("https://example.org/") is None


def test_scans_are_lazy_ordered_and_can_be_closed(store: simkeep.Store) -> None:
    for host in ("b.example", "a.example", "x.a.example"):
        for n in range(100):
            store.observe(f"https://{host}/{n:03}", AT, fingerprint=n)
    urls = [page.url for page in store.scan()]
    assert urls == sorted(urls, key=lambda url: (url[8:].split("/")[0].split(".")[::-1], url))
    assert [page.url for page in store.scan("x.a.example")] == urls[100:200]
    assert len(list(store.scan("a.example"))) == 200
    with store.scan() as scan:
        first = next(scan)
        store.forget(under="example")
        # The scan keeps its snapshot.
        assert first.url == urls[0] and next(scan).url == urls[1]
    assert list(scan) == []
    scan.close()
    assert list(store.scan()) == []


def test_all_observations_are_returned(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT, weight=2)
    store.observe(URL, AT + DAY, text=OTHER)
    store.failed(URL, AT + 2 * DAY)
    entries = list(store.observations())
    assert [url for url, _ in entries] == [URL] * 4
    assert [type(entry) for _, entry in entries] == [
        simkeep.Visit,
        simkeep.PropertyEntry,
        simkeep.Visit,
        simkeep.Visit,
    ]
    in_force = list(store.observations("example.com", in_force=True))
    assert [entry.time for _, entry in in_force] == [AT, AT + DAY]
    assert list(store.observations("example.org")) == []
    assert list(store.histories()) == [(URL, store.history(URL))]


def test_all_pairs_are_found_and_streams_can_be_closed(store: simkeep.Store) -> None:
    prints = [(n << 40) | bits for n in range(300) for bits in (0, 1, 3)]
    store.load([simkeep.Observation(f"https://a.example/{p}", AT, fingerprint=p) for p in prints])
    expected = {
        (a, b, (a ^ b).bit_count()) for a in prints for b in prints if a < b and (a ^ b).bit_count() <= 2
    }
    with store.all_pairs(2) as pairs:
        found = [(pair.left, pair.right, pair.distance) for pair in pairs]
    assert set(found) == expected and len(found) == len(expected)
    assert {(p.left.fingerprint, p.right.fingerprint, p.distance) for p in store.page_pairs(2)} == expected
    pairs = store.all_pairs(64)
    assert next(pairs).distance > 0
    pairs.close()
    assert list(pairs) == []
    # Dropping an unread stream ends its search.
    unread = store.all_pairs(64)
    del unread


def test_reader_sees_acknowledged_observations(store: simkeep.Store, path: Path) -> None:
    store.observe(URL, AT, text=TEXT)
    with simkeep.Reader(path) as reader:
        assert reader.stats().pages == 1 and reader.written is not None and not reader.fell_back
        before = reader.snapshot()
        store.observe("https://example.org/", AT, text=TEXT)
        assert reader.behind() == 1 and reader.latest("https://example.org/") is None
        assert reader.refresh() and not reader.refresh()
        assert reader.latest("https://example.org/") is not None
        assert len(before.near(simkeep.Fingerprinter().of_text(TEXT))) == 1
        assert len(reader.near(simkeep.Fingerprinter().of_text(TEXT))) == 2
        assert reader.sequence == before.sequence + 1 == store.sequence
        assert reader.path == path and repr(reader) == f"simkeep.Reader('{path}')"
    reader.close()
    with pytest.raises(simkeep.ClosedError):
        reader.stats()
    with pytest.raises(simkeep.ClosedError):
        reader.refresh()
    # A snapshot outlives its reader.
    assert before.latest(URL) is not None
    plain = simkeep.Reader(path, plain_reads=True)
    plain.warm_up()
    assert plain.latest(URL) == store.latest(URL)


def test_refresh_raises_when_the_directory_is_gone(path: Path) -> None:
    simkeep.Store.create(path).close()
    reader = simkeep.Reader(path)
    path.rename(path.with_suffix(".moved"))
    with pytest.raises(simkeep.NotAStoreError):
        reader.refresh()
    # The reader keeps its view.
    assert list(reader.scan()) == []


def test_a_snapshot_does_not_change(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT)
    snapshot = store.snapshot()
    store.observe(URL, AT + DAY, text=OTHER)
    store.close()
    assert len(snapshot.history(URL)) == 1
    assert repr(snapshot).startswith("<simkeep.Snapshot(1 of ")


def test_pages_are_read_in_ranges(store: simkeep.Store) -> None:
    urls = [f"https://{host}.example/{page}" for host in ("a", "b") for page in range(100, 180)]
    store.load({"url": url, "at": AT, "fingerprint": n // 2} for n, url in enumerate(urls))
    for under in (None, "b.example"):
        wanted = [page.url for page in store.scan(under)]
        splits = store.split(4, under=under)
        assert len(splits) == 3
        found, visited = [], []
        for start, end in zip([None, *splits], [*splits, None], strict=True):
            part = [page.url for page in store.scan(under, start=start, end=end)]
            assert len(wanted) / 5 < len(part) < len(wanted) / 3
            found += part
            visited += [url for url, _ in store.observations(under, start=start, end=end)]
        assert found == visited == wanted
    assert store.split(1) == []
    assert [page.url for page in store.scan(start=urls[3], end=urls[5])] == urls[3:5]
    with pytest.raises(TypeError, match="start must be str"):
        store.scan(start=b"https://a.example/")  # type: ignore[arg-type]


def test_all_fingerprints_are_distinct(store: simkeep.Store) -> None:
    prints = [mixed(n % 70) for n in range(100)]
    store.load({"url": f"https://a.example/{n}", "at": AT, "fingerprint": p} for n, p in enumerate(prints))
    found = list(store.all_fingerprints())
    assert sorted(found) == sorted(set(prints))
    table = pa.table(store.all_fingerprints(under="a.example"))
    assert sorted(table["fingerprint"].to_pylist()) == sorted(found)
    assert list(store.all_fingerprints(under="b.example")) == []
    store.gone("https://a.example/69", AT + DAY)
    assert set(found) - set(store.all_fingerprints()) == {prints[69]}


def test_routing_is_stable_when_stores_are_added() -> None:
    urls = [f"https://h{n}.example/" for n in range(1000)]
    for stores in range(1, 9):
        assert {simkeep.route(url, stores) for url in urls} == set(range(stores))
        assert all(simkeep.route(url, stores + 1) in (simkeep.route(url, stores), stores) for url in urls)
    assert simkeep.route("http://h7.example:81/x?y", 1000) == simkeep.route("https://H7.EXAMPLE", 1000)
    with pytest.raises(ValueError, match="stores must be at least 1, not 0"):
        simkeep.route("https://a.example/", 0)


def test_search_accepts_text_html_and_url(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT)
    store.observe("https://example.org/", AT, text=TEXT)
    both = [URL, "https://example.org/"]
    for view in (store, store.snapshot()):
        assert [near.url for near in view.near(text=TEXT)] == both
        assert [near.url for near in view.near(html=f"<p>{TEXT}")] == both
        assert [near.url for near in view.near(html=f"<p>{TEXT}".encode())] == both
        assert [near.url for near in view.near(url=URL)] == both[1:]
        assert [near.url for near in view.nearest(url=URL, count=1)] == both[1:]
        assert [near.url for near in view.near(url=URL, exclude="https://example.org/")] == [URL]
        assert len(view.explain(text=TEXT).matches) == 2
        nothing = view.near(text="too short", k=5)
        assert (len(nothing), nothing.complete, nothing.within) == (0, True, 5)
    prints = simkeep.fingerprint_batch(["too short", TEXT])
    assert [len(found) for found in store.near_batch(prints)] == [0, 2]
    rows = pa.table({"url": both, "at": [AT + DAY, AT + DAY], "fingerprint": pa.chunked_array(prints)})
    store.observe_batch(rows.append_column("status", [[200, 201]]))
    seen = {page.url: page.content and page.content.fingerprint for page in store.scan()}
    assert seen == {URL: None, "https://example.org/": prints[1]}


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda s: s.near(), TypeError, "give a fingerprint, or text=, html= or url="),
        (lambda s: s.near(5, text=TEXT), TypeError, "exclude each other"),
        (lambda s: s.near(url="https://example.net/"), ValueError, "url is not a page of this store"),
        (lambda s: s.near(text=7), TypeError, "text must be str, not int"),
        (lambda s: s.explain(text="short"), ValueError, "the text is too short"),
        (lambda s: s.near(text=TEXT, epoch=s.register_epoch("mine/1")), simkeep.InvalidArgumentError, "give a fingerprint"),
    ],
)
def test_invalid_searches_are_rejected(
    ask: Callable[[simkeep.Store], object], error: type[Exception], message: str, store: simkeep.Store
) -> None:
    with pytest.raises(error, match=message):
        ask(store)
