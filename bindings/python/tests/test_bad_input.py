"""Invalid arguments: errors name them, and nothing is stored."""

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy
import pytest
from conftest import AT, TEXT, URL

import simkeep

# Invalid calls are errors for type checkers, too.
Call = Callable[[Any], object]

BAD: list[tuple[Call, type[Exception], str]] = [
    # Times.
    (lambda s: s.observe(URL, datetime(2024, 5, 1), text=TEXT), ValueError, "at is .* no time zone"),
    (lambda s: s.observe(URL, 1.5, text=TEXT), TypeError, "at must be an aware datetime.*not float"),
    (lambda s: s.observe(URL, "now", text=TEXT), TypeError, "at must be .*not str"),
    (lambda s: s.observe(URL, True, text=TEXT), TypeError, "at must be .*not bool"),
    (lambda s: s.observe(URL, 2**70, text=TEXT), simkeep.TimeError, "at is outside the years 1 to 9999"),
    (lambda s: s.observe(URL, 253402300800000, text=TEXT), simkeep.TimeError, "at is outside"),
    (lambda s: s.observe(URL, 1_700_000_000, text=TEXT), simkeep.TimeError, "at is .*, which looks like seconds"),
    (lambda s: s.observe(URL, AT, text=TEXT, modified=1_700_000_000), simkeep.TimeError, "modified is 1700000000, which looks like"),
    (lambda s: s.as_of(URL, 1_700_000_000), simkeep.TimeError, "at is 1700000000, which looks like seconds"),
    (lambda s: s.observe(URL, AT, text=TEXT, modified=datetime(2024, 5, 1)), ValueError, "modified is"),
    # Facts of responses.
    (lambda s: s.observe(URL, AT, text=TEXT, etag='"1"'), TypeError, "etag must be bytes, not str"),
    (lambda s: s.observe(URL, AT, text=TEXT, etag=b'"1"\r\nA: b'), ValueError, "etag has a line end or a NUL"),
    (lambda s: s.observe(URL, AT, text=TEXT, canonical=b"/"), TypeError, "canonical must be str, not bytes"),
    (lambda s: s.observe(URL, AT, text=TEXT, bytes=-1), ValueError, "bytes must be an int from 0"),
    (lambda s: s.gone(URL, AT, conditional=1), TypeError, "conditional must be True or False, not int"),
    (lambda s: s.gone(URL, AT, etag=b"1"), TypeError, "etag"),
    # URLs and texts.
    (lambda s: s.end_epoch(0, left=-1), ValueError, "left must be"),
    (lambda s: s.end_epoch(0, left=True), TypeError, "left must be"),
    (lambda s: s.page_pairs(3, pages_per_fingerprint=0), ValueError, "pages_per_fingerprint must be at least 1"),
    (lambda s: simkeep.Mirrors.recall(7.0), ValueError, "share must be a number from 0 to 1"),
    (lambda s: simkeep.df.merge([], "x", -1), ValueError, "least must be"),
    (lambda s: s.observe("", AT, text=TEXT), simkeep.UrlError, "the URL is empty"),
    (lambda s: s.observe("http://a/\0", AT, text=TEXT), simkeep.UrlError, "control character.*byte 9"),
    (lambda s: s.observe("http://a/\ud800", AT, text=TEXT), simkeep.UrlError, "url has lone surrogates"),
    (lambda s: s.observe("x" * 8193, AT, text=TEXT), simkeep.UrlError, "8193 bytes"),
    (lambda s: s.observe(b"http://a/", AT, text=TEXT), TypeError, "url must be str, not bytes"),
    (lambda s: s.observe(URL, AT, text=TEXT.encode()), TypeError, "text must be str, not bytes; .*html="),
    (lambda s: s.observe(URL, AT, html=7), TypeError, "html must be bytes or str, not int"),
    (lambda s: s.observe(URL, AT, html="<p>", encoding="utf-8"), TypeError, "encoding is only for html that is bytes"),
    (lambda s: s.observe(URL, AT, text=TEXT, encoding="utf-8"), TypeError, "encoding is only for html that is bytes"),
    (lambda s: s.observe(URL, AT, text=TEXT, html=TEXT), TypeError, "text excludes html"),
    (lambda s: s.observe(URL, AT, text=TEXT, fingerprint=1), TypeError, "text excludes html and fingerprint"),
    (lambda s: s.observe(URL, AT, text=TEXT, epoch=0), TypeError, "epoch is for fingerprints"),
    (lambda s: s.observe(URL, AT), TypeError, "text is missing"),
    # Fingerprints and digests.
    (lambda s: s.observe(URL, AT, fingerprint=-1), ValueError, r"fingerprint must be an int from 0 .*not -1"),
    (lambda s: s.observe(URL, AT, fingerprint=2**64), ValueError, "fingerprint must be .*18446744073709551616"),
    (lambda s: s.observe(URL, AT, fingerprint=True), TypeError, "fingerprint must be .*not bool"),
    (lambda s: s.observe(URL, AT, fingerprint=numpy.bool_(True)), TypeError, "fingerprint must be .*not bool"),
    (lambda s: s.observe(URL, AT, fingerprint=1.0), TypeError, "fingerprint must be .*not float"),
    (lambda s: s.observe(URL, AT, fingerprint="1"), TypeError, "fingerprint must be .*not str"),
    (lambda s: s.observe(URL, AT, fingerprint=1, epoch=-1), ValueError, "epoch must be the number"),
    (lambda s: s.observe(URL, AT, fingerprint=1, epoch=9), simkeep.EpochError, "epoch 9 is not registered"),
    (lambda s: s.observe(URL, AT, fingerprint=1, also=3), TypeError, "also must be a pair"),
    (lambda s: s.observe(URL, AT, fingerprint=1, also=(2, 0)), simkeep.InvalidArgumentError, "same epoch"),
    (lambda s: s.observe(URL, AT, text=TEXT, digest=b"short"), ValueError, "digest must be 16 bytes, not 5"),
    (lambda s: s.observe(URL, AT, text=TEXT, digest="0" * 32), TypeError, "digest must be 16 bytes, not str"),
    # Numbers.
    (lambda s: s.observe(URL, AT, text=TEXT, status=65536), ValueError, "status must be .*not 65536"),
    (lambda s: s.observe(URL, AT, text=TEXT, status="200"), TypeError, "status must be .*not str"),
    (lambda s: s.observe(URL, AT, text=TEXT, weight=0), ValueError, "weight must be finite"),
    (lambda s: s.observe(URL, AT, text=TEXT, weight=math.nan), ValueError, "weight must be finite"),
    (lambda s: s.observe(URL, AT, text=TEXT, class_=2**32), ValueError, "class_ must be"),
    # Batches and loads name the row.
    (lambda s: s.observe_batch([row(), row(status="x")]), TypeError, "status in row 1 must be"),
    (lambda s: s.observe_batch([row(), row(digset=b"")]), ValueError, "a key in row 1 is unknown: 'digset'"),
    (lambda s: s.observe_batch([{"url": URL, "text": TEXT}]), TypeError, "at in row 0 is missing"),
    (lambda s: s.observe_batch([row(), 7]), TypeError, "the observation in row 1 must be an Observation or a dict"),
    (lambda s: s.observe_batch([row(), row(url="")]), simkeep.UrlError, "row 1: the URL is empty"),
    (lambda s: s.observe_batch(row()), TypeError, "observations must be an iterable"),
    (lambda s: s.observe_batch("abc"), TypeError, "observations must be an iterable"),
    (lambda s: s.observe_batch(7), TypeError, "observations must be an iterable"),
    (lambda s: s.observe_batch([row(seen="gone")]), TypeError, "seen in row 0 means that there is no content"),
    (lambda s: s.observe_batch([row(seen="lost")]), ValueError, "seen in row 0 must be one of content"),
    (lambda s: s.load([row(), row(fingerprint=1)]), TypeError, "text in row 1 excludes"),
    (lambda s: s.load([row(), row(url="a\tb")]), simkeep.LoadRejectedError, "observation 2 of the load"),
    # Queries.
    (lambda s: s.near(1, k=65), ValueError, "k must be an int from 0 to 64, not 65"),
    (lambda s: s.near(1, k=-1), ValueError, "k must be"),
    (lambda s: s.near(1, k=3, limt=5), TypeError, "unexpected keyword argument .limt."),
    (lambda s: s.near_batch([1], k=3, limt=5), TypeError, "there is no keyword limt"),
    (lambda s: s.near(1, k=3, limit=-5), ValueError, "limit must be"),
    (lambda s: s.near(1, k=3, under="http://"), simkeep.PrefixError, "prefix"),
    (lambda s: s.near(1, k=3, at=AT, ever=True), TypeError, "at, seen and ever exclude each other"),
    (lambda s: s.near(1, k=3, seen=AT), TypeError, "seen must be a pair of times"),
    (lambda s: s.near(1, k=3, classes=[-1]), ValueError, "classes must be"),
    (lambda s: s.near(1, k=3, classes="abc"), TypeError, "classes must be an iterable"),
    (lambda s: s.near(1, k=3, budget=-1), ValueError, "budget must be a timedelta"),
    (lambda s: s.near_batch([1, 2, -3]), ValueError, "fingerprints in row 2 must be"),
    (lambda s: s.near_batch(b"12345678"), TypeError, "fingerprints must be a one-dimensional buffer"),
    (lambda s: s.near_batch(numpy.zeros(3)), TypeError, "fingerprints must be .*format of this buffer is d"),
    (lambda s: s.near_batch(numpy.zeros(3, ">u8")), TypeError, "byte order of the machine"),
    (lambda s: s.near_batch(numpy.zeros((2, 2), "u8")), TypeError, "this buffer has 2 dimensions"),
    (lambda s: s.near_batch(numpy.zeros(3, "u4")), TypeError, "fingerprints must be"),
    (lambda s: s.history(b"a"), TypeError, "url must be str"),
    (lambda s: s.as_of(URL, datetime(2024, 5, 1)), ValueError, "at is .* no time zone"),
    (lambda s: s.forget(), TypeError, "forget takes exactly one of url and under"),
    (lambda s: s.forget(URL, under="a.example"), TypeError, "forget takes exactly one of"),
    (lambda s: s.set_property(URL, AT), TypeError, "set_property takes exactly one of weight and class_"),
    (lambda s: s.register_epoch("x", role="some"), ValueError, "role must be one of change, near, both"),
    (lambda s: s.register_epoch(""), simkeep.InvalidArgumentError, "epoch"),
    (lambda s: s.restate(URL, AT, 1, 77), simkeep.EpochError, "epoch 77"),
]


def row(**more: Any) -> dict[str, Any]:
    return {"url": URL, "at": AT, "text": TEXT, **more}


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input_is_rejected_and_nothing_is_stored(store: simkeep.Store, number: int) -> None:
    call, error, message = BAD[number]
    with pytest.raises(error, match=message):
        call(store)
    assert store.stats().sequence == 0
    # The store still works.
    assert store.observe(URL, AT, text=TEXT).verdict == "new"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"near_distance": 65}, ValueError, "near_distance must be"),
        ({"near_distanc": 3}, TypeError, "there is no keyword near_distanc"),
        ({"durability": "never"}, ValueError, 'durability must be "each"'),
        ({"seal_after": -1}, ValueError, "seal_after must be"),
        ({"merge_fanout": 1}, simkeep.InvalidOptionError, "merge_fanout must be at least 2"),
        ({"background": 1}, TypeError, "background must be True or False"),
        ({"rule": "oldest"}, ValueError, "rule is not a rule"),
        ({"epoch_bands": (3, 1)}, simkeep.InvalidArgumentError, "bands"),
    ],
)
def test_invalid_options_create_no_store(
    path: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        simkeep.Store.create(path, **options)
    assert not path.exists() or not any(path.iterdir())


def test_control_characters_are_escaped(store: simkeep.Store) -> None:
    with pytest.raises(ValueError) as raised:
        store.observe(URL, AT, fingerprint=7, digest=b"", status=200, class_=-1)
    assert "\x1b" not in str(raised.value)
    with pytest.raises(ValueError, match=r"unknown: '\\x1b\[31m'"):
        store.observe_batch([{"url": URL, "at": AT, "\x1b[31m": 1}])  # type: ignore[list-item]
