"""Shared fixtures and helpers of the tests."""

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simkeep

if TYPE_CHECKING:
    from published import Crawl
    from pyspark.sql import SparkSession

AT = datetime(2024, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
URL = "https://example.com/terms"
TEXT = "Terms of service. You may use this site as long as you behave well towards all others."
TOOL = str(Path(sys.executable).with_name("simkeep"))
"""The path of the tool, which comes with the package."""
OTHER = "Our prices went up again, and anyone who wants to know why has to read all of this page."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a new store."""
    return tmp_path / "crawl.simkeep"


@pytest.fixture
def store(path: Path) -> Iterator[simkeep.Store]:
    """A new store with default options."""
    with simkeep.Store.create(path) as store:
        yield store


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """One Spark session for all tests. Skips them if Spark is not available."""
    from published import lacks, session

    what = lacks()
    if what is not None:
        if os.environ.get("SPARK_NEEDED"):
            pytest.fail(what)
        pytest.skip(what)
    spark = session()
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory, spark: "SparkSession") -> "Crawl":
    """Published stores of one crawl."""
    from published import made

    return made(tmp_path_factory.mktemp("crawl"))


def filled(store: simkeep.Store, pages: int, *, start: int = 0) -> None:
    """Loads `pages` pages with pseudo-random fingerprints."""
    rows = (
        {"url": f"https://{n % 97}.example/{n}", "at": AT, "fingerprint": mixed(n)}
        for n in range(start, start + pages)
    )
    store.load(rows)  # type: ignore[arg-type]


def mixed(number: int) -> int:
    """Returns 64 pseudo-random bits: the finalizer of SplitMix64."""
    number = (number + 0x9E3779B97F4A7C15) & (2**64 - 1)
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return number ^ (number >> 31)


def threads(*names: str) -> int:
    """Returns the number of threads of this process with one of these names."""
    found = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            found += (task / "comm").read_text().strip() in names
        except FileNotFoundError:
            pass
    return found
