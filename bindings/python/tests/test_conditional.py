"""A crawl of a local site over HTTP with conditional requests, and the same crawl without.

A third of the hosts are honest: they answer a condition correctly. A third send no validators. A third lie: they ignore
conditions, and send a new entity tag or the current date with content that has not changed.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha1
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import simkeep

DEPTH = float(os.environ.get("SIMKEEP_DEPTH", "0.1"))
"""How many pages are crawled: 2,000 at depth 1."""

START = datetime(2024, 5, 1, 12, tzinfo=UTC)
DAYS = 60
HOSTS = 12
KINDS = ("honest", "none", "new tags", "honest", "none", "new dates")


class Site:
    """The pages of all hosts. The content of a page changes every few days, or never."""

    def __init__(self, pages: int) -> None:
        self.today = 0
        self.urls = [f"http://host-{number % HOSTS:02}.example/{number}" for number in range(pages)]

    def respond(self, url: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        host, number = url.split("/")[2], int(url.rpartition("/")[2])
        every = number % 20
        changed = self.today // every * every if every else 0
        words = " ".join(f"w{(number + changed) * n % 9973}" for n in range(1, 60 + number % 97))
        body = f"<title>{number}</title><p>{words}".encode()
        sent = {}
        kind = KINDS[int(host[5:7]) % len(KINDS)]
        if kind == "honest":
            sent = {"ETag": f'"{number}-{changed}"', "Last-Modified": http_date(changed)}
            since = headers.get("If-Modified-Since")
            # RFC 9110, 13.2.2: the date counts only without an entity tag.
            if headers.get("If-None-Match", None if since is None else sent["ETag"]) == sent["ETag"] and (
                since is None or parsedate_to_datetime(since) >= START + timedelta(days=changed)
            ):
                return 304, sent, b""
        elif kind == "new tags":
            sent = {"ETag": f'"{number}-{self.today}"'}
        elif kind == "new dates":
            sent = {"Last-Modified": http_date(self.today)}
        return 200, sent, body


def http_date(day: int) -> str:
    return format_datetime(START + timedelta(days=day), usegmt=True)


@contextmanager
def served(site: Site) -> Iterator[int]:
    """Serves the site, and returns the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise the header and the body are two packets, and the second waits for an answer to the first.
        wbufsize = -1

        def do_GET(self) -> None:
            url = f"http://{self.headers['Host']}{self.path}"
            status, headers, body = site.respond(url, dict(self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def visit(
    store: simkeep.Store, connection: HTTPConnection, url: str, at: datetime, conditional: bool
) -> tuple[bool, int]:
    """Fetches and reports a page. Returns whether its content is another one, and the bytes of the body."""
    known = store.latest(url) if conditional else None
    headers = known.conditional_headers() if known is not None else {}
    where = urlsplit(url)
    connection.request("GET", where.path, headers={"Host": where.netloc.encode(), **headers})
    response = connection.getresponse()
    body = response.read()
    etag, date = response.getheader("ETag"), response.getheader("Last-Modified")
    tag = etag.encode("latin-1") if etag is not None else None
    modified = parsedate_to_datetime(date) if date is not None else None
    sent = bool(headers)
    if response.status == 304:
        outcome = store.not_modified(url, at, status=304, etag=tag, modified=modified, conditional=sent)
    else:
        digest, size = sha1(body).digest()[:16], len(body)
        outcome = store.observe(
            url,
            at,
            html=body,
            digest=digest,
            status=200,
            bytes=size,
            etag=tag,
            modified=modified,
            conditional=sent,
        )
    return outcome.verdict != "same", len(body)


def crawl(store: simkeep.Store, site: Site, port: int, conditional: bool) -> tuple[list[bool], int]:
    """Crawls the site for 60 days. Returns whether each visit saw another content, and the bytes of all bodies."""
    changes, size = [], 0
    connection = HTTPConnection("127.0.0.1", port)
    for site.today in range(DAYS):
        for url in site.urls:
            at = START + timedelta(days=site.today, hours=1)
            changed, length = visit(store, connection, url, at, conditional)
            changes.append(changed)
            size += length
    connection.close()
    return changes, size


def test_conditional_crawl_over_http_learns_which_hosts_honor_conditions(tmp_path: Path) -> None:
    site = Site(max(48, round(2000 * DEPTH)))
    results = []
    with served(site) as port:
        for conditional in (True, False):
            # The crawl does not wait for the disk.
            with simkeep.Store.create(tmp_path / f"{conditional}.simkeep", durability="flush") as store:
                changes, size = crawl(store, site, port, conditional)
                results.append((changes, size, store.requests(), list(store.requests_by_host())))
    (changes, size, counts, hosts), (plain_changes, plain_size, plain, _) = results
    print(f"{counts.requests} requests each: {counts.not_modified.count} not modified; {size} and {plain_size} bytes")
    assert changes == plain_changes
    assert counts.requests == plain.requests == len(site.urls) * DAYS
    assert (counts.transferred.bytes, plain.transferred.bytes) == (size, plain_size)
    assert size + counts.not_modified.bytes == plain_size and plain.not_modified.count == 0
    assert len(hosts) == HOSTS
    for of in hosts:
        host, number = of.counts, int(of.host[5:7])
        print(
            f"{of.host}: {host.conditional} conditional, {host.not_modified.count} not modified, "
            f"{host.conditional_unchanged} sent again, {host.unchanged_redated} of {host.unchanged_dated} dates newer"
        )
        expected = {
            "honest": (1.0, False, False),
            "none": (None, False, False),
            "new tags": (0.0, False, False),
            "new dates": (0.0, True, True),
        }[KINDS[number % len(KINDS)]]
        newer = host.unchanged_redated == host.unchanged_dated
        assert (host.honored, host.unchanged_dated > 0, newer and host.unchanged_dated > 0) == expected, of
