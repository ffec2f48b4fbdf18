"""Hosts of URLs, and the ranges of SURT order that filters need."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simkeep

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
if TYPE_CHECKING:
    from simkeep.spark.filters import Filter

LABELS = ["example", "EXAMPLE", "com", "a-b", "bücher", "BÜCHER", "xn--bcher-kva", "", "exam", "e", "127", "1"]
HOSTS = [
    "127.0.0.1", "127.0.0.10", "1270", "127.0.0.256", "[::1]", "[2001:DB8::1]", "[::1", "[::1]]", "h" * 300, "é" * 64
]
PATHS = [
    "", "/", "/a", "/a-old", "/a/b", "/a?b", "/a#b", "?q", "#f", "//", "/A", "/a b", "/~", "/é", "/\uffff", "?", "#",
    "/a:b", "/\U0010ffff", "/\U0010ffff\U0010ffff", "/\U0010fffe", "/\ud7ff", "/a>", "/a?", "/a@", "/a.", "/a0", "/\"",
]


def joined(*parts: "st.SearchStrategy[str]") -> "st.SearchStrategy[str]":
    return st.tuples(*parts).map("".join)


URLS = st.one_of(
    joined(
        st.sampled_from(["http", "https", "HTTP", "hTTps", "a", "A", "file", "urn", "x+y", "1a", "", "é"]),
        st.sampled_from(["://", "://", "://", ":", "//", ":///", ":/", ""]),
        st.sampled_from(["", "", "", "u@", "u:p@x@", "@", "U@"]),
        st.one_of(st.lists(st.sampled_from(LABELS), min_size=1, max_size=3).map(".".join), st.sampled_from(HOSTS)),
        st.sampled_from(["", "", "."]),
        st.sampled_from(["", "", ":", ":80", ":443", ":0080", ":0443", ":8080", ":x", ":0"]),
        st.sampled_from(PATHS),
        st.sampled_from(["", *PATHS]),
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6),
)


def within(url: str, ranges: Any) -> int:
    """Returns how many of the ranges contain a URL."""
    place = simkeep.surt_key(url), url.encode()
    found = 0
    for start, end in ranges:
        low = start is None or (simkeep.surt_key(start), start.encode()) <= place
        found += low and (end is None or place < (simkeep.surt_key(end), end.encode()))
    return found


def filters(*of: tuple[str, str, Any]) -> "list[Filter]":
    from simkeep.spark.filters import checked
    from simkeep.spark.tables import PAGES

    return checked(of, PAGES)


def ranges(*of: tuple[str, str, Any]) -> Any:
    from simkeep.spark.ranges import narrowed

    return narrowed(filters(*of))


@settings(max_examples=300, deadline=None)
@given(url=URLS, cut=st.integers(0, 40), more=st.sampled_from(["", "", *PATHS, "x", "com", ".", ":", "0"]))
def test_urls_with_a_prefix_are_inside_its_range(url: str, cut: int, more: str) -> None:
    prefix = url[: cut or len(url)]
    for whole in (url, prefix + more, prefix):
        assert within(whole, ranges(("url", "starts with", prefix))) == 1


@settings(max_examples=300, deadline=None)
@given(url=URLS, others=st.lists(URLS, max_size=3))
def test_urls_are_inside_their_own_and_their_hosts_range(url: str, others: list[str]) -> None:
    from simkeep.spark.hosts import host

    assert within(url, ranges(("url", "=", url))) == 1
    assert within(url, ranges(("url", "in", [*others, url, *others]))) == 1
    name = host(url)
    if name is not None:
        assert within(url, ranges(("host", "=", name))) == 1
        names = [of for of in map(host, [*others, url]) if of is not None]
        assert within(url, ranges(("host", "in", names))) == 1
        assert within(url, ranges(("host", "=", name), ("url", "starts with", url[:12]), ("url", "=", url))) == 1


@settings(max_examples=300, deadline=None)
@given(urls=st.lists(URLS, max_size=8))
def test_host_column_agrees_with_surt_order(urls: list[str]) -> None:
    from simkeep.spark.hosts import host, hosts

    found = hosts(pa.array(urls, pa.string()))
    assert found.type == pa.string()
    for url, name in zip(urls, found.to_pylist(), strict=True):
        assert name == host(url)
        begins = simkeep.surt_key(url).partition(b"\x01")[0]
        if name is None:
            assert begins[0] == 0xFF
        else:
            # With a user and a port, since a host may be empty or have colons. `[::1].` takes no port.
            other = f"x://u@{name}./" if name.startswith("[") else f"x://u@{name}.:1/"
            assert simkeep.surt_key(other).partition(b"\x01")[0] == begins
            assert simkeep.route(other, 97) == simkeep.route(url, 97)
            assert not any("A" <= letter <= "Z" for letter in name)
            assert name in "".join(of.lower() if of.isascii() else of for of in url)


def test_hosts_are_extracted_from_urls() -> None:
    from simkeep.spark.hosts import host, hosts

    wanted = {
        "https://www.example.com/a/b?q=1#f": "www.example.com",
        "http://a.example": "a.example",
        "https://a_b.example?q": "a_b.example",
        "HTTP://Example.COM.:8080/": "example.com",
        "http://u:p@x@h:8080/A": "h",
        "http://127.0.0.1:80/": "127.0.0.1",
        "http://[2001:DB8::1]:81/": "[2001:db8::1]",
        "http://Bücher.example/": "bücher.example",
        "http://BÜCHER.example/": "bÜcher.example",
        "http://h:x/": "h:x",
        "http://@/": "",
        "file://server/share": None,
        "urn:isbn:0451450523": None,
        "http:///x": None,
        "no scheme": None,
        "//h/": None,
    }
    assert hosts(pa.array(wanted)).to_pylist() == list(wanted.values())
    assert [host(url) for url in wanted] == list(wanted.values())
    assert hosts(pa.array(list(wanted)[:2])).to_pylist() == list(wanted.values())[:2]
    assert hosts(pa.array([], pa.string())).to_pylist() == []


def test_ranges_exclude_other_urls() -> None:
    for wanted, outside in [
        (("url", "starts with", "https://example.com/a"), ["https://example.com/b", "https://example.com/", "urn:a"]),
        (("url", "starts with", "https://example.com/a/"), ["https://example.com/a", "https://example.com/a-b"]),
        (("url", "starts with", "https://example.com/"), ["https://a.example.com/", "https://example.con/"]),
        (("url", "starts with", "https://example.com/"), ["https://example.com:8080/"]),
        (("url", "starts with", "https://example.com:8080/"), ["https://example.com/", "https://a.example.com/"]),
        (("url", "starts with", "https://u@example.com/"), ["https://example.com/", "https://a.example.com/"]),
        (("url", "starts with", "https://example.com?"), ["https://example.com/", "https://a.example.com/"]),
        (("url", "starts with", "https://127.0.0.1/"), ["https://127.0.0.2/", "https://1270/"]),
        (("url", "starts with", "https://[::1]/"), ["https://[::2]/"]),
        (("url", "starts with", "urn:isbn:1"), ["urn:isbn:2", "urn:isbm:1", "https://a/"]),
        (("url", "=", "https://example.com/a"), ["https://example.com/a#", "https://example.com/a/"]),
        (("host", "=", "example.com"), ["https://a.example.com/", "https://example.co/", "https://example.con/"]),
        (("host", "=", "127.0.0.1"), ["https://1270/", "https://127.0.0.0/"]),
        (("host", "=", "127.0.0.99"), ["https://1270/", "https://127.0.0.98/"]),
        (("host", "=", "[::1]"), ["https://[::2]/", "https://[::0]/"]),
        (("host", "=", "bücher.example"), ["https://a.bücher.example/", "https://b.example/"]),
        (("host", "in", ["b.example", "d.example"]), ["https://a.example/", "https://c.example/", "https://e.e/"]),
    ]:
        found = ranges(wanted)
        assert found[0].start is not None and found[-1].end is not None, wanted
        for url in outside:
            assert within(url, found) == 0, (wanted, url, found)
    for first in ("A://EXAMPLE.COM", "A://EXAMPLE.COM.", "a://example.com:", "b://u@example.com:9/"):
        assert within(first, ranges(("host", "=", "example.com"))) == 1
    assert ranges(("host", "=", "a.example"), ("host", "=", "b.example")) == []
    assert ranges(("url", "in", [])) == []
    many = ranges(("url", "in", [f"https://e.example/{n}" for n in range(2000)]))
    assert len(many) == 1 and within("https://f.example/", many) == 0


def test_uncertain_filters_do_not_narrow() -> None:
    for wanted in [
        *(("url", "starts with", of) for of in ("", "h", "https", "https:", "https:/", "https://", "https://exam")),
        *(("url", "starts with", of) for of in ("https://example.com", "https://u@", "https://e:80", "file:", "\n")),
        ("url", "=", ""),
        ("url", "=", "https://a/\x00"),
        ("host", "=", "example.com."),
        ("host", "=", "example.com:80"),
        ("host", "=", "a/b"),
        ("host", "=", "Example.com"),
        ("host", "!=", "example.com"),
        ("url", "not in", ["https://a/"]),
        ("status", "=", 200),
    ]:
        assert ranges(wanted) == [(None, None)], wanted


@settings(max_examples=40, deadline=None)
@given(urls=st.sets(URLS, min_size=1, max_size=40), data=st.data())
def test_scanned_ranges_match_a_full_filter(
    tmp_path_factory: pytest.TempPathFactory, urls: set[str], data: st.DataObject
) -> None:
    from simkeep.spark.hosts import host
    from simkeep.spark.ranges import cut
    from simkeep.spark.tables import rows

    some = sorted(urls)
    one = data.draw(st.sampled_from(some))
    name = host(one)
    wanted: list[tuple[str, str, Any]] = [
        ("url", "starts with", one[: data.draw(st.integers(0, len(one)))]),
        ("url", "in", data.draw(st.lists(st.sampled_from(some)))),
        *([("host", "=", name)] if name is not None else []),
    ]
    path: Path = tmp_path_factory.mktemp("nasty")
    with simkeep.Store.create(path / "s") as store:
        store.load({"url": url, "at": datetime(2024, 5, 1, tzinfo=UTC), "fingerprint": 1} for url in some)
    holds: dict[str, Callable[[Any, Any], bool]] = {
        "starts with": str.startswith,
        "in": lambda value, given: value in given,
        "=": lambda value, given: value == given,
    }
    with simkeep.Reader(path / "s") as reader:
        borders = reader.split(7)
        for of in wanted:
            found = []
            for part in cut(ranges(of), borders):
                for batch in rows("pages", "s", reader, ["url"], filters(of), None, part):
                    found += batch["url"].to_pylist()
            assert len(found) == len(set(found))
            values = [(url, url if of[0] == "url" else host(url)) for url in some]
            assert set(found) == {url for url, value in values if value is not None and holds[of[1]](value, of[2])}


def test_invalid_filters_are_rejected() -> None:
    at = datetime(2024, 5, 1, tzinfo=UTC)
    for wrong, error, message in [
        (("u", "=", 1), ValueError, "there is no column u; the columns are store, url"),
        (("url", "like", "a%"), ValueError, "url can be compared by =, !=, in, not in, starts with, not by like"),
        (("url", "<", "a"), ValueError, "not by <"),
        (("weight", "=", 1.0), ValueError, "cannot compare weight, which has fractions"),
        (("url", "=", 1), TypeError, "url must be compared with str, not with 1"),
        (("url", "in", "a"), TypeError, "url in takes a list, not str"),
        (("url", "in", ["a", None]), TypeError, "not with None"),
        (("status", "=", 1 << 31), TypeError, "a signed int of 32 bits"),
        (("status", "=", True), TypeError, "a signed int of 32 bits"),
        (("fingerprint", "=", 1 << 63), TypeError, "a signed int of 64 bits"),
        (("gone", "=", 1), TypeError, "gone must be compared with bool"),
        (("gone", "<", True), ValueError, "not by <"),
        (("digest", "=", "00"), TypeError, "digest must be compared with bytes"),
        (("last", ">", "2024-05-01"), TypeError, "a datetime that has a time zone"),
        (("last", ">", at.replace(tzinfo=None)), TypeError, "a datetime that has a time zone"),
        (("last", ">"), TypeError, "item 0 must be"),
        ("last", TypeError, "item 0 must be"),
    ]:
        with pytest.raises(error, match=message):
            filters(wrong)  # type: ignore[arg-type]


def test_filters_round_trip_through_text() -> None:
    from simkeep.spark.filters import packed, unpacked
    from simkeep.spark.tables import PAGES, VISITS

    given = filters(
        ("url", "in", ["https://a/", "é\"'"]),
        ("last", ">=", datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=ZoneInfo("America/St_Johns"))),
        ("first", "not in", [datetime(1969, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=45)))]),
        ("digest", "=", bytes(range(16))),
        ("digest", "in", [b"\x00" * 16]),
        ("gone", "=", False),
        ("fingerprint", "!=", -1 << 63),
    )
    assert unpacked(packed(given), PAGES) == given
    assert packed([]) == "[]"
    for text, error, message in [
        ("url = 1", ValueError, "filters must be JSON, such as"),
        ("{}", TypeError, "filters must be a list"),
        ('[["at", ">", "yesterday"]]', ValueError, "filters: at > 'yesterday'"),
        ('[["at", ">", "2024-05-01T00:00:00"]]', TypeError, "time zone"),
        ('[["digest", "=", "0g"]]', ValueError, "filters: digest = '0g'"),
        ('[["digest", "=", 1]]', ValueError, "filters: digest = 1"),
        ('["url"]', TypeError, "item 0"),
    ]:
        with pytest.raises(error, match=message):
            unpacked(text, VISITS)


def test_filters_follow_sql_semantics() -> None:
    times = [datetime(2024, 5, 1, tzinfo=UTC), None, datetime(2024, 5, 2, tzinfo=UTC)]
    columns = {
        "status": pa.array([200, None, 404], pa.int32()),
        "last": pa.array(times, pa.timestamp("us", "UTC")),
        "url": pa.array(["a", None, "ab"]),
        "gone": pa.array([True, None, False]),
        "digest": pa.array([b"a", None, b"b"]),
    }
    half = datetime(2024, 5, 1, 20, tzinfo=timezone(timedelta(hours=-4)))
    for of, wanted in [
        (("status", "=", 200), [0]),
        (("status", "!=", 200), [2]),
        (("status", "<", 404), [0]),
        (("status", "<=", 404), [0, 2]),
        (("status", ">", 200), [2]),
        (("status", ">=", 200), [0, 2]),
        (("status", "in", [200, 500]), [0]),
        (("status", "not in", [200, 500]), [2]),
        (("status", "in", []), []),
        (("status", "not in", []), [0, 2]),
        (("last", "<", half), [0]),
        (("last", "=", half), [2]),
        (("last", "in", [half]), [2]),
        (("url", "=", "a"), [0]),
        (("url", "starts with", "a"), [0, 2]),
        (("url", "starts with", ""), [0, 2]),
        (("gone", "=", True), [0]),
        (("gone", "!=", True), [2]),
        (("digest", "not in", [b"a"]), [2]),
    ]:
        (one,) = filters(of)
        held = one.rows(columns[of[0]])
        assert pa.array(range(3)).filter(held).to_pylist() == wanted, of
