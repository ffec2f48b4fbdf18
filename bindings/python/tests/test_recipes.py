"""The recipes of docs/recipes.md, each run unchanged."""

import asyncio
import gzip
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import combinations
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import polars
import pytest
from conftest import AT, DAY, OTHER, TEXT, mixed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import simkeep

RUSSIAN = "Вы можете пользоваться этим сайтом, пока ведёте себя хорошо и платите за это вовремя"
Response = tuple[int, dict[str, str], bytes]
PAGE = Path(__file__).parents[1] / "docs" / "recipes.md"


def recipes() -> dict[str, str]:
    """Returns the program under each heading."""
    sections = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.M)
    found = {}
    for heading, section in zip(sections[1::2], sections[2::2], strict=True):
        (found[heading],) = re.findall(r"^```python\n(.*?)^```$", section, re.S | re.M)
    return found


def recipe(heading: str, changes: dict[str, str] | None = None) -> str:
    """Returns a program, with the changes that a reader would make."""
    program = recipes()[heading]
    for old, new in (changes or {}).items():
        assert old in program
        program = program.replace(old, new)
    return program


def run(program: str) -> dict[str, Any]:
    """Runs a program here, and returns its variables."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, PAGE.name, "exec"), names)
    return names


def run_alone(program: str) -> str:
    """Runs a program in another process, and returns its output."""
    Path("recipe.py").write_text(program)
    done = subprocess.run([sys.executable, "recipe.py"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory where recipes run and find the store."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verdicts_of(store: simkeep.View) -> dict[str, list[str]]:
    """Returns the verdicts on each page's visits."""
    return {
        url: [entry.verdict for entry in entries if isinstance(entry, simkeep.VisitEntry)]
        for url, entries in store.histories()
    }


def test_recipes_have_tests_and_links_resolve() -> None:
    headings = ["asyncio", "Crawlee", "WARC archives", "Clean a corpus with polars", "Add a shard with polars"]
    headings += ["polars", "pandas", "DuckDB", "multiprocessing"]
    page = PAGE.read_text()
    assert list(recipes()) == headings
    listed = re.findall(r"^- \[(.*)\]\(#(.*)\)$", page, re.M)
    assert listed == [(heading, heading.lower().replace(" ", "-")) for heading in headings]
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) == {anchor for _, anchor in listed}
    for link in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (PAGE.parent / link).exists(), link


def test_asyncio() -> None:
    # Commits wait 0.2 seconds for others: separate commits of the 100 pages would take 20 seconds.
    begun = monotonic()
    names = run(recipe("asyncio", {'"crawl.simkeep")': '"crawl.simkeep", durability=0.2)'}))
    took = monotonic() - begun
    assert len(names["outcomes"]) == 100
    assert Counter(outcome.verdict for outcome in names["outcomes"].values()) == {"new": 100}
    assert took < 7

    visited: dict[int, Response] = {
        1: (404, {}, b""),
        2: (503, {}, b""),
        4: (304, {}, b""),
        5: (200, {"content-type": "text/html"}, f"<p>{OTHER}".encode()),
        6: (301, {"location": "/there"}, b"<p>moved"),
        7: (301, {}, b""),
        8: (206, {"content-range": "bytes 0-3/4", "content-type": "application/pdf"}, b"%PDF"),
        9: (206, {"content-range": "bytes 0-3/9"}, b"%PDF"),
    }

    async def fetch(url: str) -> Response:
        number = int(url.rpartition("/")[2])
        if number == 3:
            raise ConnectionResetError
        return visited.get(number) or await fetched(url)

    fetched: Callable[[str], Awaitable[Response]] = names["fetch"]
    names["fetch"] = fetch
    with simkeep.Store.open("crawl.simkeep") as store:
        outcomes = asyncio.run(names["crawl"](store, names["urls"]))
        assert verdicts_of(store)["https://example.com/5"] == ["new", "changed"]
        seen = [page.last.seen for url in names["urls"][6:9] if (page := store.latest(url))]
        assert seen == ["redirect", "failed", "content"]
    verdicts = [outcomes[url].verdict for url in names["urls"][:11]]
    assert verdicts[:6] == ["same", "gone", "failed", "failed", "same", "changed"]
    assert verdicts[6:] == ["changed", "failed", "changed", "failed", "same"]
    assert [outcomes[url].by for url in names["urls"][:5:4]] == ["digest", "not-modified"]


@contextmanager
def served(pages: dict[str, tuple[int, str, bytes]], asked: list[str]) -> Iterator[str]:
    """Serves pages: by path a status, a type or a target, and a body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            status, kind, body = pages.get(self.path, (404, "text/plain", b"There is nothing here."))
            self.send_response_only(status)
            self.send_header("Location" if status == 302 else "Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def html(text: str, *links: str) -> tuple[int, str, bytes]:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return 200, "text/html; charset=utf-8", f"<title>A page</title><p>{text}</p>{anchors}".encode()


def test_crawlee(folder: Path) -> None:
    asked: list[str] = []
    links = ["/terms#top", "/terms", "/list", "/moved", "/paper.pdf", "/left", "/broken#top", "/secret"]
    pages = {
        "/robots.txt": (200, "text/plain", b"User-agent: *\nDisallow: /secret\n"),
        "/": html("What is new on this site, and what is not so new any more.", *links),
        "/terms": html(TEXT),
        "/list": html("All prices that we ever had, and some that we shall have one day.", "/prices"),
        "/prices": html(OTHER),
        "/moved": (302, "/there", b""),
        "/there": (200, "text/html; charset=windows-1251", f"<p>{RUSSIAN}".encode("windows-1251")),
        "/paper.pdf": (200, "application/pdf", b"%PDF-1.7"),
        "/left": html("This page will be gone soon, and so will all who have ever read it."),
        "/broken": (500, "text/plain", b""),
    }
    with served(pages, asked) as site:
        program = recipe("Crawlee", {"https://example.com/": f"{site}/"})
        run_alone(program)
        assert set(asked) == pages.keys()
        with simkeep.Store.open("crawl.simkeep") as store:
            verdicts = {url.removeprefix(site): of for url, of in verdicts_of(store).items()}
            broken = verdicts.pop("/broken")
            assert broken == ["failed"] and asked.count("/broken") > 1
            kept = pages.keys() - {"/robots.txt", "/broken"}
            assert verdicts == dict.fromkeys(kept, ["new"])
            page = store.latest(f"{site}/moved")
            assert page and page.last.seen == "redirect"
            # The charset comes from the header.
            page = store.latest(f"{site}/there")
            assert page and page.content and page.content.fingerprint == simkeep.fingerprint(RUSSIAN)
            page = store.latest(f"{site}/paper.pdf")
            assert page and page.content and page.content.fingerprint is None and page.content.digest

        asked.clear()
        links.append("/news")
        pages["/"] = html("Something is new on this site, and it is the first time this year.", *links)
        pages["/terms"] = html(OTHER)
        pages["/prices"] = html(TEXT)
        pages["/news"] = html("We are proud that nothing has happened here for a whole year.")
        del pages["/left"]
        run_alone(program)
    # Links of an unchanged page are not followed.
    assert set(asked) == pages.keys() - {"/prices"} | {"/left"}
    with simkeep.Reader("crawl.simkeep") as reader:
        after = {url.removeprefix(site): of[-1] for url, of in verdicts_of(reader).items() if len(of) > 1}
    same = dict.fromkeys(["/list", "/moved", "/there", "/paper.pdf"], "same")
    assert after == same | {"/": "changed", "/terms": "changed", "/left": "gone", "/broken": "failed"}
    changed = Path("changed.json").read_text()
    assert sorted(re.findall(r'"url": ?"http://[^/]*([^"]*)"', changed)) == ["/", "/news", "/terms"]
    assert '"A page"' in changed
    assert {path.name for path in folder.iterdir()} == {"crawl.simkeep", "changed.json", "recipe.py"}


class Archive:
    """A WARC file, as crawlers write them."""

    def __init__(self, path: Path) -> None:
        self._out = BytesIO()
        self._writer = WARCWriter(self._out, gzip=True, warc_version="1.1")
        self._path = path
        self._digests: dict[tuple[str, datetime], str] = {}

    def _write(self, record: Any) -> Any:
        self._writer.write_record(record)
        self._path.write_bytes(self._out.getvalue())
        return record

    def response(
        self,
        url: str,
        at: datetime,
        status: str,
        body: bytes,
        kind: str = "text/html",
        digest: str | None = None,
        truncated: str | None = None,
        **more: str,
    ) -> None:
        record = self._writer.create_warc_record(
            url,
            "response",
            payload=BytesIO(body),
            http_headers=head(status, {"Content-Type": kind} | more),
            warc_headers_dict=dated(at) | ({"WARC-Truncated": truncated} if truncated else {}),
        )
        if digest is not None:
            # A record whose length is set is written unchanged.
            record.length = record.payload_length = len(body)
            record.rec_headers.replace_header("WARC-Payload-Digest", digest)
        self._digests[url, at] = self._write(record).rec_headers.get_header("WARC-Payload-Digest")

    def revisit(
        self, url: str, at: datetime, of: tuple[str, datetime], status: str | None = "200 OK"
    ) -> None:
        """Adds a revisit of another record, or of one that is not in this archive."""
        record = self._writer.create_revisit_record(
            url,
            self._digests.get(of, "sha1:" + "A" * 32),
            of[0],
            written(of[1]),
            http_headers=head(status, {"Content-Type": "text/html"}),
            warc_headers_dict=dated(at),
        )
        self._write(record)

    def unmodified(self, url: str, at: datetime, status: str | None = None) -> None:
        profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
        record = self._writer.create_warc_record(
            url,
            "revisit",
            http_headers=head(status, {}),
            warc_headers_dict=dated(at) | {"WARC-Profile": profile},
        )
        self._write(record)

    def other(self, url: str, at: datetime, kind: str, content_type: str, payload: bytes) -> None:
        """Adds a record that is not a visit."""
        record = self._writer.create_warc_record(
            url,
            kind,
            payload=BytesIO(payload),
            warc_content_type=content_type,
            warc_headers_dict=dated(at),
        )
        self._write(record)


def head(status: str | None, headers: dict[str, str]) -> Any:
    return StatusAndHeaders(status, [*headers.items()], protocol="HTTP/1.1") if status else None


def written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def dated(at: datetime) -> dict[str, str]:
    return {"WARC-Date": written(at)}


# The writer leaves closing its buffers to the garbage collector.
@pytest.mark.filterwarnings("ignore:Unclosed file <tempfile:ResourceWarning")
def test_warc_archives(folder: Path) -> None:
    terms, rules, prices = (f"https://example.com/{name}" for name in ("terms", "rules", "prices"))
    other, logo = "https://example.ru/", "https://example.com/logo"
    old, lost = "https://example.com/old", "https://example.com/lost"
    archive = Archive(folder / "crawl.warc.gz")
    archive.other("dns:example.com", AT, "response", "text/dns", b"192.0.2.1")
    first = f"<title>Terms</title><p>{TEXT}".encode()
    archive.response(terms, AT, "200 OK", first, "text/html; charset=UTF-8")
    archive.other(terms, AT, "request", "application/http;msgtype=request", b"GET / HTTP/1.1\r\n\r\n")
    packed = gzip.compress(f"<p>{OTHER}".encode())
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    coded = {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}
    archive.response(prices, AT, "200 OK", chunks, **coded)
    body = f"<p>{RUSSIAN}".encode("cp1251")
    digest = f"sha1:{sha1(body).hexdigest()}"
    archive.response(other, AT, "200 OK", body, "text/html; charset=cp1251", digest)
    archive.response(logo, AT, "200 OK", b"\x89PNG", "image/png")
    archive.response(old, AT, "301 Moved Permanently", b"", Location=terms)
    archive.revisit(terms, AT + DAY, (terms, AT))
    archive.revisit(rules, AT + DAY, (terms, AT))
    archive.response(terms, AT + 2 * DAY, "200 OK", f"<p>{OTHER}".encode())
    archive.unmodified(terms, AT + 3 * DAY)
    archive.unmodified(terms, AT + 4 * DAY, "304 Not Modified")
    archive.revisit(terms, AT + 5 * DAY, (terms, AT), status=None)
    archive.response(rules, AT + 5 * DAY, "404 Not FoundRows", b"<p>gone")
    archive.response(old, AT + 5 * DAY, "301 Moved Permanently", b"", Location="/terms")
    archive.response(logo, AT + 5 * DAY, "200 OK", b"\x89PNG", "image/png", truncated="time")
    archive.response(logo, AT + 6 * DAY, "200 OK", b"\x89PNG", "image/png", truncated="length")
    whole = {"Content-Range": "bytes 0-3/4"}
    archive.response(logo, AT + 7 * DAY, "206 Partial Content", b"\x89PNG", "image/png", **whole)
    archive.response(prices, AT + 5 * DAY, "503 Service Unavailable", b"<p>sorry")
    # Their originals are missing, or have other content.
    archive.revisit(lost, AT + 6 * DAY, (lost, AT))
    archive.revisit(lost, AT + 7 * DAY, (prices, AT + DAY))

    names = run(recipe("WARC archives"))
    assert names["outcome"].verdict == "unseen"
    with simkeep.Reader("crawl.simkeep") as reader:
        assert verdicts_of(reader) == {
            terms: ["new", "same", "changed", "same", "same", "reverted"],
            rules: ["new", "gone"],
            prices: ["new", "failed"],
            other: ["new"],
            logo: ["new", "failed", "same", "same"],
            old: ["new", "same"],
            lost: ["unseen", "unseen"],
        }
        revisit, *_ = [entry for entry in reader.history(rules) if isinstance(entry, simkeep.VisitEntry)]
        fingerprint = simkeep.Fingerprinter().of_text(simkeep.visible_text(first))
        assert revisit.visit.fingerprint == fingerprint and revisit.visit.status == 200
        russians = reader.near(simkeep.Fingerprinter().of_text(RUSSIAN), k=0)
        assert [near.url for near in russians] == [other]
        kept = list(reader.observations())

    # The tool reads the same from it, and also the lengths of bodies, and which requests were conditional.
    def without_facts(observations: Iterable[object]) -> list[str]:
        return [re.sub(r"bytes=\w+, conditional=\w+", "", repr(observation)) for observation in observations]

    tool = [sys.executable, "-m", "simkeep", "ingest", "crawl.warc.gz", "--store", "tool.simkeep"]
    subprocess.run(tool, check=True, capture_output=True)
    with simkeep.Reader("tool.simkeep") as reader:
        assert without_facts(reader.observations()) == without_facts(kept)

    # Once more: all of it is known.
    with simkeep.Store.open("crawl.simkeep") as store:
        again = list(names["read"](store, "crawl.warc.gz"))
        visits = [entry for _, entry in kept if isinstance(entry, simkeep.Visit)]
        assert {outcome.verdict for _, outcome in again} == {"known"} and len(again) == len(visits)


class FoundRows:
    """Pages of some hosts in a store, and their near pages, found by comparing each with each."""

    def __init__(self) -> None:
        self.pages: dict[str, int] = {}
        for n in range(500):
            self._page(n % 7, mixed(n))
        for n in range(60):
            # The last bits are lost if a fingerprint becomes a float.
            self._page(n % 5, mixed(n) ^ 1)
            self._page(n % 3, mixed(n) ^ (1 << n % 64) ^ 2)
            self._page(n % 2, mixed(n + n % 2 * 100))
        with simkeep.Store.create("crawl.simkeep") as store:
            rows = [{"url": url, "at": AT, "fingerprint": given} for url, given in self.pages.items()]
            store.load(rows)  # type: ignore[arg-type]
            # Pages without fingerprints.
            store.observe("https://0.example/short", AT, text="Not much.")
            store.gone("https://0.example/gone", AT)
        self.pairs = [
            (one, other, distance)
            for (one, left), (other, right) in combinations(self.pages.items(), 2)
            if (distance := (left ^ right).bit_count()) <= 3
        ]
        assert len(self.pairs) > 200

    def _page(self, host: int, fingerprint: int) -> None:
        self.pages[f"https://{host}.example/{len(self.pages)}"] = fingerprint


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def unordered(pairs: Any) -> Counter[tuple[frozenset[str], int]]:
    return Counter((frozenset([one, other]), distance) for one, other, distance in pairs)


def text_of(number: int, change: int = 0) -> str:
    """Returns a text; texts with equal numbers and some changes are near each other."""
    words = [f"word{mixed(number * 1000 + n) % 5000}" for n in range(200 + number % 5)]
    return " ".join(words[: len(words) - change % 3] + [f"end{change}"] * (change > 0))


def documents(name: str, numbers: range) -> polars.DataFrame:
    """Returns documents, some near each other, one too short for a fingerprint, and one null text."""
    rows = [(number, change) for number in numbers for change in range(1 + number % 4)]
    texts = [*(text_of(number, change) for number, change in rows), "too short", None]
    return polars.DataFrame(
        {
            "id": [f"{name}-{n}" for n in range(len(texts))],
            "source": [["forum", "encyclopedia", "news"][n % 3] for n in range(len(texts))],
            "date": [AT.date()] * len(texts),
            "text": texts,
        }
    )


def near_any(fingerprint: int | None, others: list[int]) -> bool:
    return fingerprint is not None and any((fingerprint ^ other).bit_count() <= 3 for other in others)


def test_corpus_and_shard() -> None:
    documents("corpus", range(40)).write_parquet("corpus.parquet")
    corpus = run(recipe("Clean a corpus with polars"))["corpus"]
    leaders: list[int] = []
    kept = []
    for name, fingerprint in corpus.select("id", "fingerprint").rows():
        if not near_any(fingerprint, leaders):
            kept.append(name)
            leaders += [fingerprint] if fingerprint is not None else []
    clean = polars.read_parquet("clean.parquet")
    assert sorted(clean["id"]) == sorted(kept) and 40 < len(kept) < len(corpus)
    assert clean.columns == ["id", "source", "date", "text"] and "too short" in clean["text"]
    # Of two near documents, the one from the better source is kept, then the longer one.
    ranks = {"encyclopedia": 3, "news": 2, "forum": 1}
    order = [(ranks[source], len(text)) for source, text in corpus.select("source", "text").rows()]
    assert order == sorted(order, reverse=True)

    documents("shard", range(30, 60)).write_parquet("shard.parquet")
    names = run(recipe("Add a shard with polars"))
    earlier = [fingerprint for fingerprint in corpus["fingerprint"] if fingerprint is not None]
    expected = []
    for name, fingerprint in names["rows"].select("id", "fingerprint").rows():
        if not near_any(fingerprint, earlier):
            expected.append(name)
        earlier += [fingerprint] if fingerprint is not None else []
    assert polars.read_parquet("new.parquet")["id"].to_list() == expected
    assert 20 <= len(expected) < len(names["shard"])


def test_polars() -> None:
    found = FoundRows()
    names = run(recipe("polars"))
    named = names["named"].select("url", "url_right", "distance").rows()
    assert unordered(named) == unordered(pair for pair in found.pairs if pair[2] > 0)
    pages = Counter(host_of(url) for url in found.pages)
    near = Counter(host_of(url) for url in {url for pair in found.pairs for url in pair[:2]})
    hosts = sorted(pages, key=lambda host: (-near[host], host))
    assert names["hosts"].rows() == [(host, pages[host], near[host]) for host in hosts]
    assert len(set(near.values())) > 3


def test_pandas() -> None:
    found = FoundRows()
    elsewhere = run(recipe("pandas"))["elsewhere"]
    named = list(zip(elsewhere["left_url"], elsewhere["right_url"], elsewhere["distance"], strict=True))
    expected = [pair for pair in found.pairs if pair[2] > 0 and host_of(pair[0]) != host_of(pair[1])]
    assert unordered(named) == unordered(expected)
    assert list(elsewhere["distance"]) == sorted(elsewhere["distance"])
    assert set(elsewhere["left_first"]) == {AT}


def test_duckdb() -> None:
    found = FoundRows()
    hosts = run(recipe("DuckDB"))["hosts"]
    both = (sorted([host_of(one), host_of(other)]) for one, other, _ in found.pairs)
    shared = Counter((one, other) for one, other in both if one != other)
    order = sorted(shared, key=lambda both: (-shared[both], both))
    assert hosts == [(*both, shared[both]) for both in order]
    assert len(hosts) > 10


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_multiprocessing(method: str) -> None:
    found = FoundRows()
    expected: dict[str, set[str]] = {}
    for one, other, _ in found.pairs:
        if host_of(one) != host_of(other):
            expected.setdefault(one, set()).add(other)
            expected.setdefault(other, set()).add(one)
    printed = run_alone(recipe("multiprocessing", {'"spawn"': f'"{method}"', "1000": "100"}))
    lines = [line.split(" ") for line in printed.splitlines()]
    assert {url: set(others) for url, *others in lines} == expected
    assert len(lines) == len(expected)
