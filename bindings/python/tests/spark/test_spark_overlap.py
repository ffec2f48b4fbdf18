"""Pages that are in several stores, and stores that are left out."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from published import Crawl, loaded

import simkeep

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")

MASK = (1 << 64) - 1


def visited(folder: Path, name: str, rows: list[tuple[str, int, int]]) -> Path:
    """Publishes a store with these visits: URL, time and fingerprint."""
    urls, at, prints = zip(*rows, strict=True)
    times = pa.array(at, pa.timestamp("ms", "UTC"))
    loaded(folder / f"store-{name}", pa.table({"url": urls, "at": times, "fingerprint": pa.array(prints, pa.uint64())}))
    simkeep.publish(folder / f"store-{name}", folder / name)
    return folder / name


def printed(page: simkeep.Page) -> int:
    """Returns the fingerprint of a page that has one."""
    assert page.content is not None and page.content.fingerprint is not None
    return page.content.fingerprint


@pytest.fixture
def moved(tmp_path: Path) -> tuple[list[Path], Path]:
    """Stores that have some pages in common, and one that has only the last visit of each page."""
    random = np.random.default_rng(17)
    first = [(f"https://host-{n % 7}.example/{n}", 1000, int(random.integers(0, 1 << 20))) for n in range(300)]
    # A third moved to the second store, and some of these to the third; some moved back to the first.
    second = [(url, 2000 + n, print ^ 1 << n % 40) for n, (url, _, print) in enumerate(first) if n % 3 == 0]
    third = [(url, 3000 + n, print ^ 3 << n % 40) for n, (url, _, print) in enumerate(first) if n % 12 == 0]
    first = [(url, 9000 if n % 24 == 0 else at, print) for n, (url, at, print) in enumerate(first)]
    last: dict[str, tuple[str, int, int]] = {}
    for row in first + second + third:
        if row[1] > last.get(row[0], ("", 0, 0))[1]:
            last[row[0]] = row
    paths = [visited(tmp_path, name, rows) for name, rows in [("a", first), ("b", second), ("c", third)]]
    loaded(
        tmp_path / "last",
        pa.table(
            {
                "url": [row[0] for row in last.values()],
                "at": pa.array([row[1] for row in last.values()], pa.timestamp("ms", "UTC")),
                "fingerprint": pa.array([row[2] for row in last.values()], pa.uint64()),
            }
        ),
    )
    return paths, tmp_path / "last"


def test_newest_overlap_option_keeps_the_last_visit(
    spark: "SparkSession", moved: tuple[list[Path], Path]
) -> None:
    from simkeep.spark import Stores

    paths, last = moved
    stores = Stores(spark, paths, overlapping="newest")
    both = Stores(spark, paths)
    assert stores.overlaps().count() == both.overlaps().count() == 100
    with simkeep.Reader(last) as whole:
        pages = {page.url: printed(page) for page in whole.scan()}
        rows = stores.pages().collect()
        assert len(rows) == len(pages) == 300 < both.pages().count()
        assert all(row.fingerprint & MASK == pages[row.url] for row in rows)
        assert sorted(row.url for row in stores.pages(columns=["url"]).collect()) == sorted(pages)
        assert stores.visits(columns=["store"]).columns == ["store"]
        pairs = {(pair.left, pair.right) for pair in whole.all_pairs(3)}
        found = stores.pairs(3).collect()
        assert {(row.left & MASK, row.right & MASK) for row in found} == pairs
        assert len(found) == len(pairs) < both.pairs(3).count()
        cut = stores.pairs(3, limit=2).collect()
        assert all({row.left & MASK, row.right & MASK} <= set(pages.values()) for row in cut)
        queries = sorted(set(pages.values()))[::3]
        for limit in (1, None):
            found_of: dict[int, list[Any]] = {}
            for row in stores.near(queries, 3, limit).collect():
                found_of.setdefault(row.query & MASK, []).append(row)
            for query in queries:
                matches = whole.near(query, 3, limit=limit)
                hits = found_of[query]
                assert [near.distance for near in matches] == sorted(hit.distance for hit in hits)
                # A complete answer may be reported as incomplete, because nothing beyond the limit is
                # looked up.
                assert all(matches.complete or not hit.complete for hit in hits)
                if matches.complete:
                    assert {near.url for near in matches} == {hit.url for hit in hits}
        clustered = {row.url: row.leader for row in stores.clusters(2).collect()}
        assert clustered == {page.url: page.leader for page in whole.clusters(2).by_page()}


def test_newest_overlap_option_rejects_pairs_with_new_fingerprints(
    spark: "SparkSession", moved: tuple[list[Path], Path]
) -> None:
    from simkeep.spark import Stores

    with pytest.raises(ValueError, match="new cannot be used with overlapping"):
        Stores(spark, moved[0], overlapping="newest").pairs(new=[1])
    with pytest.raises(ValueError, match='overlapping must be "all" or "newest"'):
        Stores(spark, moved[0], overlapping="last")  # type: ignore[arg-type]


def test_damaged_or_missing_stores_can_be_skipped(
    spark: "SparkSession", crawl: Crawl, tmp_path: Path
) -> None:
    from simkeep.spark import Stores

    paths = [tmp_path / path.name for path in crawl.paths]
    for path, to in zip(crawl.paths, paths, strict=True):
        shutil.copytree(path, to)
    (segment,) = (paths[1] / "files").iterdir()
    bytes_of = bytearray(segment.read_bytes())
    bytes_of[len(bytes_of) // 2] ^= 1
    segment.chmod(0o600)
    segment.write_bytes(bytes_of)
    (generation,) = (paths[2] / "generations").iterdir()
    torn = generation.read_bytes()[:100]
    generation.chmod(0o600)
    generation.write_bytes(torn)
    named = [*paths, tmp_path / "nowhere"]
    with pytest.raises((simkeep.Error, OSError)):
        Stores(spark, named)
    stores = Stores(spark, named, on_error="skip")
    assert [store.name for store in stores.pinned] == ["w0", "w3"]
    assert sorted(stores.missing) == ["nowhere", "w1", "w2"]
    assert segment.name in stores.missing["w1"] and generation.name in stores.missing["w2"]
    whole = Stores(spark, [paths[0], paths[3]])
    rows = stores.pairs(3).collect()
    assert {tuple(row.missing) for row in rows} == {("nowhere", "w1", "w2")}
    assert sorted(row[:3] for row in rows) == sorted(tuple(row) for row in whole.pairs(3).collect())
    near = stores.near(crawl.fingerprints[:20], 3)
    assert near.columns[-1] == "missing" and {row.store for row in near.collect()} <= {"w0", "w3"}
    assert stores.pages(columns=["url"]).columns == ["url", "missing"]
    assert "missing" not in whole.pairs(3).columns
    shutil.rmtree(paths[0] / "generations")
    shutil.rmtree(paths[3] / "generations")
    with pytest.raises(simkeep.NotAStoreError, match="no store is complete and undamaged"):
        Stores(spark, named, on_error="skip")
