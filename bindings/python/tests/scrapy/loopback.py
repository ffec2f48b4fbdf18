"""A site on the loopback that changes between crawls, and the expected verdicts on its pages."""

import gzip
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

ALPHABETS = {
    "utf-8": "abcdefghijklmnopqrstuvwxyz",
    "windows-1251": "абвгдежзийклмнопрстуфхцчшщыэюя",
    "gb18030": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生",
    "shift_jis": "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろ",
}
CHARSETS = list(ALPHABETS)
KINDS = ("moved", "missing", "broken", "copy", "near", "image", "data", "away", "refresh", "etag")


@cache
def text(seed: object, charset: str = "utf-8", words: int = 120) -> list[str]:
    """Returns words that no other seed gives."""
    rng = random.Random(repr(seed))
    letters = ALPHABETS[charset]
    return ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(words)]


@dataclass
class Page:
    """The response of a server."""

    status: int = 200
    body: bytes = b""
    type: str = "text/html"
    headers: dict[str, str] = field(default_factory=dict)
    gzip: bool = False


class Site:
    """Pages by their paths. `version` is the current version of the pages in `changing`.

    From the sixth page on, one in ten is of another kind.
    """

    def __init__(self, pages: int, changing: int = 1, kinds: tuple[str, ...] = KINDS) -> None:
        assert changing > 0
        self.pages = pages
        self.kinds = kinds
        self.version = 0
        self.changing = set(range(7, pages, max(10, pages // changing // 10 * 10))[:changing])
        self.asked: Counter[str] = Counter()
        self.url = ""

    def paths(self) -> list[str]:
        """Returns the paths that the start page links to."""
        kinds = [self._kind(n) for n in range(self.pages)]
        return [f"/{kind}/{n}" for n, kind in enumerate(kinds)]

    def _kind(self, n: int) -> str:
        return self.kinds[n // 10 % len(self.kinds)] if n % 10 == 5 else "page"

    def changed(self) -> set[str]:
        """Returns the paths of pages that changed with this version."""
        return {path for path in self.paths() if self._version(path) and path.startswith("/page/")}

    def _version(self, path: str) -> int:
        return self.version if int(path.rpartition("/")[2]) in self.changing else 0

    def page(self, path: str, if_none_match: str | None = None) -> Page:
        """Returns the current response for a path."""
        if path == "/":
            links = "".join(f'<a href="{link}">{n}</a> ' for n, link in enumerate(self.paths()))
            return Page(body=f"<title>Start</title>{links}".encode())
        if path == "/robots.txt":
            return Page(body=b"User-agent: *\nDisallow: /private\n", type="text/plain")
        kind, n = path[1:].split("/")
        number = int(n)
        match kind:
            case "page" | "final":
                return self._html(path, number)
            case "copy":
                return self.page("/page/0")
            case "near":
                words = [*text(("page", 0))]
                words[60] = f"other{n}"
                return Page(body=html(words, "utf-8"))
            case "moved":
                return Page(302, headers={"Location": f"/final/{n}"})
            case "refresh":
                refresh = f'<meta http-equiv="refresh" content="0; url=/final/{n}">'
                return Page(body=f"<html><head>{refresh}</head></html>".encode())
            case "missing":
                return Page(404, b"<p>There is no such page here, and there never was one of this name.")
            case "away":
                return Page(410, b"<p>This page went away, and it will not come back to anybody who asks.")
            case "broken":
                return Page(500, b"<p>Something went wrong here, and nobody knows what it is or why.")
            case "image":
                return Page(body=b"\x89PNG\r\n" + random.Random(number).randbytes(3000), type="image/png")
            case "data":
                return Page(body=b'{"words": "%s"}' % " ".join(text(path)).encode(), type="application/json")
            case "etag":
                tag = f'"{n}"'
                if if_none_match == tag:
                    return Page(304, headers={"ETag": tag})
                headers = {"ETag": tag, "Cache-Control": "no-cache"}
                return Page(body=html(text(path), "utf-8"), headers=headers)
        return Page(404)

    def _html(self, path: str, number: int) -> Page:
        charset = CHARSETS[number % 4] if number else "utf-8"
        words = text(("page", number) if number == 0 else (path, self._version(path)), charset)
        # Half of the servers declare the charset; for the other half the pages do.
        named = number % 8 < 4
        kind = f"text/html; charset={charset}" if named else "text/html"
        return Page(body=html(words, "" if named else charset, charset), type=kind, gzip=number % 3 == 1)


def html(words: list[str], meta: str, charset: str = "utf-8") -> bytes:
    declared = f'<meta charset="{meta}">' if meta else ""
    title, text = words[0], " ".join(words)
    return f"<html><head>{declared}<title>{title}</title></head><body><p>{text}</p></body></html>".encode(charset)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def served(site: Site, port: int = 0) -> Iterator[Site]:
    """Serves a site in threads."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # a response in one packet

        def do_GET(self) -> None:
            site.asked[self.path] += 1
            page = site.page(self.path, self.headers.get("If-None-Match"))
            body = page.body
            self.send_response_only(page.status)
            page.headers.setdefault("Date", formatdate(usegmt=True))
            if page.gzip and "gzip" in self.headers.get("Accept-Encoding", ""):
                body = gzip.compress(body, 1)
                self.send_header("Content-Encoding", "gzip")
            for name, value in page.headers.items():
                self.send_header(name, value)
            if page.status != 304:
                self.send_header("Content-Type", page.type)
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if page.status != 304 and self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_POST = do_GET

        def log_message(self, *args: object) -> None:
            pass

    with Server(("127.0.0.1", port), Handler) as server:
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


if __name__ == "__main__":
    with served(Site(int(sys.argv[1]), int(sys.argv[2]))) as site:
        print(site.url, flush=True)
        for line in sys.stdin:
            site.version = int(line)
            print(site.version, flush=True)
