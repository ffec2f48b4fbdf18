"""The tables of stores."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from published import PAGES, STORES, Crawl

import simkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")


def test_visits_round_trip_through_parquet(spark: "SparkSession", crawl: Crawl, tmp_path: Path) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    visits = stores.visits()
    visits.select("url", "at", "seen", "fingerprint", "digest", "status").write.parquet(str(tmp_path / "visits"))
    rows = spark.read.parquet(str(tmp_path / "visits")).toArrow()
    assert rows.num_rows == STORES * PAGES
    with simkeep.Store.create(tmp_path / "again") as again:
        again.load(rows)
    with simkeep.Reader(crawl.whole) as whole, simkeep.Reader(tmp_path / "again") as again:
        for number in range(0, STORES * PAGES, 97):
            url = f"https://host-{number % 97}.example/{number}"
            one, other = whole.latest(url), again.latest(url)
            assert one is not None and other is not None
            assert (one.first, one.last.fingerprint) == (other.first, other.last.fingerprint)


def test_pages_cover_all_stores(spark: "SparkSession", crawl: Crawl) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    pages = stores.pages()
    assert pages.count() == STORES * PAGES
    assert pages.select("url").distinct().count() == STORES * PAGES
    under = stores.pages("host-3.example").toArrow()
    assert set(under["store"].to_pylist()) == {f"w{simkeep.route('https://host-3.example/', STORES)}"}
    assert all("://host-3.example/" in url for url in under["url"].to_pylist())
    assert under.num_rows == len(range(3, STORES * PAGES, 97))
    with simkeep.Reader(crawl.whole) as whole:
        name = whole.epochs()[0].name
    assert set(under["epoch"].to_pylist()) == {name}
    assert stores.copies().count() == 0
