"""Stores of every shape, which the tool makes of small inputs."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tool

DAY = timedelta(days=1)
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TEXTS = [
    "The red house stands by the sea, and nobody has lived there for as long as we can tell.",
    "the green house stands by the sea, and somebody has lived there for as long as we know!",
    "A boat and a blue car, a boat and a red car: what else would one want by the sea in summer?",
]


def at(day: float) -> str:
    return (BEGIN + day * DAY).isoformat().replace("+00:00", "Z")


def ingest(store: Path, lines: list[dict[str, Any]], *options: object, verb: str = "ingest") -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    # Some visits are later than today.
    tool.run(verb, "-", "-s", store, "--clock-tolerance", "none", *options, input=text)


def seen(url: str, day: float, fingerprint: int | None = None, **more: Any) -> dict[str, Any]:
    """A line of input: ready-made content, or whatever else is said."""
    line: dict[str, Any] = {"url": url, "t": at(day)} | more
    if fingerprint is not None:
        line |= {"fingerprint": f"{fingerprint:016x}"}
    return line


def kinds() -> list[dict[str, Any]]:
    """Every kind of entry, and pages whose names are strange."""
    page, digest = "https://site.example/a", {"digest": "00112233445566778899aabbccddeeff"}
    strange = ["http://127.0.0.1:8080/x", "https://[2001:db8::1]/", "urn:isbn:0451450523", "no scheme"]
    strange += ["http://Bücher.example/ä", "https://u:p@host.example:444/q?a=1#b", "file:///home/a:b"]
    strange += ["https://site.example/\u202egnp.exe", "https://site.example/<svg>'\"=1"]
    return [
        seen(page, 0, 0x0123456789ABCDEF, status=200, modified=at(-10), weight=0.3, **digest),
        seen(page, 1, 0x0123456789ABCDEF, status=200, modified=at(-10), **digest),
        seen(page, 2.0000001, seen="not-modified", status=304, modified=at(-10)),
        seen(page, 3, 0x0123456789ABCDEE, status=200, modified=at(2.5)),
        seen(page, 4, 0xFEDCBA9876543210, status=200, modified=at(3.5), weight=7, **{"class": 300}),
        seen(page, 5, seen="failed", status=503),
        seen(page, 6, seen="gone", status=410),
        seen(page, 7, seen="gone"),
        seen(page, 8, 0x0123456789ABCDEF, status=200, **digest),
        seen("https://site.example/fails", 1, seen="failed", status=500),
        seen("https://site.example/fails", 400, seen="failed", status=500),
        seen("https://site.example/gone", 1, seen="gone", status=404),
        seen("https://site.example/words", 1, seen="not-modified", status=304),
        seen("https://site.example/dated", 1, 0x1111, status=200),
        seen("https://site.example/dated", 5, 0xEEEE00000000, status=200, modified=at(3)),
        seen("https://under.example/gone", 1, 77),
        seen("https://under.example/gone", 2, seen="gone"),
        seen("https://under.example/fails", 2, seen="failed"),
        seen("https://under.example/there", 2, 78),
        seen("https://site.example/text", 1, text=TEXTS[0], status=200),
        seen("https://site.example/text", 2, text=TEXTS[1], status=200),
        seen("https://site.example/text", 3, text=TEXTS[0], status=200),
        seen("https://site.example/short", 3, text="too short", status=200),
        seen("https://site.example/short", 4, text="too short, too", status=200),
        *(seen(url, 5, 1 << number, status=200) for number, url in enumerate(strange)),
    ]


def spread(count: int, seed: int) -> list[dict[str, Any]]:
    """Pages of some hosts, a few visits each, with fingerprints that are near, far and the same."""
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        url = f"https://host{number % 7}.example/page/{number}"
        fingerprint = draw.getrandbits(64) if number % 5 else 0xABCDEF0123456789
        for visit in range(1 + number % 3):
            fingerprint ^= 1 << draw.randrange(64) if draw.random() < 0.4 else 0
            digest = {"digest": f"{draw.getrandbits(number % 4):032x}"} if number % 2 else {}
            lines.append(seen(url, 20 * visit + draw.random(), fingerprint, status=200, **digest))
    return lines


def fresh(store: Path) -> None:
    ingest(store, [])


def journal(store: Path) -> None:
    ingest(store, kinds())
    ingest(store, [seen("https://site.example/a", 20, seen="not-modified")])
    tool.run("forget", "https://site.example/gone", "-s", store)
    tool.run("forget", "https://site.example/words", "-s", store)
    tool.run("forget", "--under", "xn--bcher-kva.example", "--yes", "-s", store)
    tool.run("forget", "--under", "under.example", "--yes", "-s", store)


def sealed(store: Path) -> None:
    ingest(store, kinds())
    tool.run("compact", "-s", store)
    # Long ago, and so that a segment ends before 1970.
    ingest(store, [seen(f"https://old.example/{n}", n - 30_000, n) for n in range(3)], verb="load")


def parts(store: Path) -> None:
    """A frame of several parts."""
    ingest(store, [seen(f"https://long.example/{'ä' * 4000}{n}", n, n, status=200) for n in range(25)])


def deletions(store: Path) -> None:
    """Tombstones and resets in segments, and pages that come again."""
    ingest(store, kinds() + spread(60, 1))
    ingest(store, spread(80, 2)[:90], verb="load")
    for prefix in ("host1.example", "host2.example/page", "host3.example/page/1"):
        tool.run("forget", "--under", prefix, "--yes", "-s", store)
    ingest(store, [seen("https://site.example/dated", 9, seen="not-modified")])
    tool.run("forget", "https://site.example/a", "-s", store)
    tool.run("forget", "https://site.example/text", "-s", store)
    ingest(store, kinds()[:6] + spread(20, 3))
    ingest(store, spread(40, 4), verb="load")
    tool.run("forget", "--under", "host4.example", "--yes", "-s", store)
    ingest(store, [seen("https://host4.example/page/4", 70, 5), *spread(12, 5)])


def epochs(store: Path) -> None:
    """Four epochs: one ended, one with a table, one for each role. Fingerprints are restated."""
    texts = [seen(f"https://texts.example/{n}", n, text=text) for n, text in enumerate(TEXTS)]
    ingest(store, texts + kinds())
    counted, table = store.parent / "counted.df", store.parent / "words.df"
    inputs = store.parent / "texts.jsonl"
    inputs.write_text("".join(json.dumps(line) + "\n" for line in texts))
    tool.run("df", "build", inputs, "--recipe", "words-idf", "--output", counted)
    tool.run("df", "freeze", counted, "--min-documents", 2, "--output", table)
    begin = ("epoch", "begin", "-s", store, "--recipe")
    tool.run(*begin, "words-idf", "--df", table, "--role", "change")
    tool.run(*begin, "near", "--role", "near", "--minor", 4, "--moderate", 11)
    ingest(store, texts, "--restate")
    ingest(store, spread(40, 6), verb="load")
    tool.run("epoch", "end", "external", "--left", 100, "-s", store)
    more = [seen(f"https://texts.example/{n}", n + 9, text=text[3:]) for n, text in enumerate(TEXTS)]
    ingest(store, more)


def long(store: Path) -> None:
    """Histories of one, two and three chunks, with more comparisons than are kept."""
    draw = random.Random(7)
    for upto in (1, 2):
        lines = []
        for page, count in enumerate((64, 65, 128, 150, 300)):
            day, fingerprint = 0.0, draw.getrandbits(64)
            for visit in range(count * upto):
                day += draw.choice((0.01, 0.3, 2, 40))
                fingerprint ^= draw.getrandbits(64) if draw.random() < 0.3 else draw.randrange(8)
                modified = {"modified": at(day - draw.random())} if draw.random() < 0.3 else {}
                if visit >= count * (upto - 1):
                    lines.append(seen(f"https://long.example/{page}", day, fingerprint, **modified))
        ingest(store, lines, verb="load")
    ingest(store, [seen("https://long.example/3", 9_000, 1)])


def rotations(store: Path) -> None:
    """Enough fingerprints for a segment to have tables."""
    ingest(store, spread(1_500, 8), verb="load")
    ingest(store, spread(100, 9))


# The smallest first: what is wrong is found soonest there.
SCENES: list[Callable[[Path], None]] = [
    fresh, journal, sealed, parts, epochs, deletions, long, rotations,
]  # fmt: skip
