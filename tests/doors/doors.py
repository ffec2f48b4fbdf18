"""Tests one store that the program of docs/crawl.md, `ingest`, Python, Scrapy and C write in turn.

usage: doors.py CRAWL TOOL C, three programs: tests/doors/run builds them, and describes the test.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import simkeep

CRAWL, TOOL, C = (str(Path(program).resolve()) for program in sys.argv[1:4])
SPIDER = str(Path(__file__).resolve().with_name("spider.py"))

EPOCH = "html/3 words2-sqrt/2"
# The page and the text of the program of docs/crawl.md.
TERMS = "https://example.com/terms"
TEXT = "Terms of service. You may use this site as long as you behave well towards others."
OFFER = "https://example.com/offer"
OFFERS = [
    "This week we offer nine kinds of tea from the hills, and a pot of clay to drink it from.",
    "Anyone who orders three chairs by Sunday gets a table of oak, or half of its price back.",
]
RULES = " ".join(f"rule{n} forbids what section{n * 7 % 41} allows" for n in range(60))

Visits = list[tuple[str, str]]


class Answer(NamedTuple):
    """The answer to a visit."""

    url: str
    verdict: str
    others: set[str]  # pages with the same content, or near it


def run(*words: str, given: str | None = None, folder: Path | None = None) -> str:
    done = subprocess.run(words, input=given, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def answers(printed: str) -> list[Answer]:
    """Parses lines of a URL, a verdict and URLs of other pages."""
    parts = [line.split("\t") for line in printed.splitlines()]
    return [Answer(url, verdict, set(others)) for url, verdict, *others in parts]


def by_ingest(store: Path, visits: Visits) -> list[Answer]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    lines = "".join(json.dumps({"url": url, "t": now, "text": text}) + "\n" for url, text in visits)
    # One after the other, as in the other programs: each visit sees the one before it.
    printed = run(TOOL, "ingest", "-", "--outcomes", "--group-size", "1", "--store", str(store), given=lines)
    said = []
    for line in printed.splitlines():
        out = json.loads(line)
        others = {other["url"] for other in out["copies"] + out["near"]}
        said.append(Answer(out["url"], out["verdict"], others))
    return said


def by_python(store: Path, visits: Visits) -> list[Answer]:
    said = []
    with simkeep.Store.open_or_create(store) as opened:
        for url, text in visits:
            out = opened.observe(url, datetime.now(UTC), text=text)
            others = {other.url for other in (*out.copies, *out.near)}
            said.append(Answer(url, str(out.verdict), others))
    return said


def by_scrapy(store: Path, visits: Visits) -> list[Answer]:
    return answers(run(sys.executable, SPIDER, str(store), json.dumps(dict(visits))))


def by_c(store: Path, visits: Visits) -> list[Answer]:
    now = time.time_ns() // 1_000_000
    lines = "".join(f"{now}\t{url}\t{text}\n" for url, text in visits)
    return answers(run(C, str(store), given=lines))


DOORS: dict[str, Callable[[Path, Visits], list[Answer]]] = {
    "ingest": by_ingest,
    "python": by_python,
    "scrapy": by_scrapy,
    "c": by_c,
}


def own(door: str, page: str) -> str:
    """Returns a page that only this program visits."""
    return f"https://{door}.example/{page}"


class Trial:
    """A store, and the visits in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The name in the program of docs/crawl.md.
        self.store = folder / "crawl.simkeep"
        self.terms = 0
        self.doors: list[str] = []

    def own(self, page: str) -> set[str]:
        """Returns the pages of this name that programs have visited."""
        return {own(door, page) for door in self.doors}

    def crawl(self) -> None:
        """Runs the program of docs/crawl.md, which visits its one page."""
        said = run(CRAWL, folder=self.folder).splitlines()
        verdict, *others, visits, current = said
        assert verdict == ("unchanged" if self.terms else "never seen before"), said
        # Whichever program observed them.
        assert set(others) == {f"0 bits away from {page}" for page in self.own("terms")}, said
        self.terms += 1
        assert visits == f"visits so far: {self.terms}" and "was current then" in current, said

    def visit(self, door: str) -> None:
        """Lets a program visit pages that others visit too, and pages of its own that are near theirs."""
        before, copies = len(self.doors), self.own("terms")
        visits = [
            (TERMS, TEXT),
            # Another spelling of the same words.
            (own(door, "terms"), TEXT.upper().replace(".", "!")),
            # All words but one are those of the other programs.
            (own(door, "rules"), RULES.replace("rule31 ", f"rule31{door} ")),
            (OFFER, OFFERS[before % 2]),
        ]
        expected = [
            Answer(TERMS, "same" if self.terms else "new", copies),
            Answer(own(door, "terms"), "new", copies | {TERMS}),
            Answer(own(door, "rules"), "new", self.own("rules")),
            Answer(OFFER, ["new", "changed", "reverted"][min(before, 2)], set()),
        ]
        said = DOORS[door](self.store, visits)
        assert said == expected, f"{door}, after {self.doors}:\n{said}\nand not\n{expected}"
        self.doors.append(door)
        self.terms += 1

    def asked(self, *words: str) -> list[dict[str, Any]]:
        printed = run(TOOL, *words, "--json", "--store", str(self.store))
        return [json.loads(line) for line in printed.splitlines()]

    def check(self) -> None:
        """Checks what the tool says about the visits of all programs."""
        epochs = self.asked("epoch", "list")
        assert [epoch["epoch"] for epoch in epochs] == [EPOCH], epochs
        (summary, *dropped, _) = self.asked("dedup")
        assert (summary["pages"], summary["without_fingerprint"]) == (2 * len(self.doors) + 2, 0), summary
        # Which page of the terms is kept depends on the program that visited them last, by its digest.
        pairs = {page["url"]: page["kept"] for page in dropped}
        terms, rules = self.own("terms") | {TERMS}, self.own("rules")
        (stays,), first = terms - set(pairs), own(self.doors[0], "rules")
        leads = dict.fromkeys(terms - {stays}, stays) | dict.fromkeys(rules - {first}, first)
        assert pairs == leads, pairs
        for url, pages in [(TERMS, terms), (first, rules)]:
            (found,) = self.asked("near", "--url", url)
            others = {page["url"] for page in found["near"]}
            assert found["complete"] and others == pages - {url}, found
        history = [visit["verdict"] for visit in self.asked("history", TERMS)]
        assert history == ["new"] + ["same"] * (self.terms - 1), history
        history = [visit["verdict"] for visit in self.asked("history", OFFER)]
        assert history == ["new", "changed", "reverted", "reverted"], history
        run(TOOL, "verify", "--store", str(self.store))


def main() -> None:
    turn = ["crawl", *DOORS]
    for begins in range(len(turn)):
        order = turn[begins:] + turn[:begins]
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(Path(folder))
            for door in order:
                if door == "crawl":
                    trial.crawl()
                else:
                    trial.visit(door)
            # Run the first program once more, after all others.
            trial.crawl()
            trial.check()
        print(" -> ".join(order), flush=True)


main()
