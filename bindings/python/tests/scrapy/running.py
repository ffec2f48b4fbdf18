"""Runs crawls in separate processes, since a reactor runs only once."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CRAWL = Path(__file__).parent / "crawl.py"


@dataclass
class CrawlReport:
    """The report of a crawl."""

    verdicts: dict[str, str]
    items: list[dict[str, Any]]
    errbacks: dict[str, str]
    near: dict[str, str]
    stats: list[dict[str, Any]]
    failures: list[str]
    log: str

    def stat(self, name: str) -> Any:
        """Returns a stat of the add-on, or 0 if there is none."""
        return self.stats[0].get(f"simkeep/{name}", 0)

    @property
    def reason(self) -> str:
        return str(self.stats[0]["finish_reason"])


def command(asked: dict[str, Any]) -> list[str]:
    return [sys.executable, str(CRAWL), json.dumps(asked)]


def crawl(directory: Path, *start: str, **asked: Any) -> CrawlReport:
    """Runs a crawl, and returns its report. `settings` go to Scrapy."""
    asked["start"] = start
    done = subprocess.run(command(asked), cwd=directory, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    parts = {part: report[part] for part in ("verdicts", "items", "errbacks", "near", "stats", "failures")}
    # The log has no control characters that a terminal would interpret.
    assert not any(char < " " and char not in "\n\t" for char in done.stderr), done.stderr
    return CrawlReport(**parts, log=done.stderr)


def acknowledged(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yields the URLs and verdicts that a crawl with `acknowledge` prints."""
    for line in lines:
        if line.startswith("http") and line.endswith("\n"):
            url, verdict = line.split()
            yield url, verdict
