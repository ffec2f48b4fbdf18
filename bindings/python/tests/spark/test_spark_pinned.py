"""Which generations are queried, and errors in paths."""

import os
import shutil
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from published import Crawl

import simkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")


def store(path: Path, to: Path, *fingerprints: int, epoch: str | None = None) -> Path:
    """Stores pages with these fingerprints, and publishes them."""
    with simkeep.Store.open_or_create(path, epoch=epoch) as made:
        for number, fingerprint in enumerate(fingerprints):
            made.observe(f"https://{path.name}.example/{number}", datetime.now(UTC), fingerprint=fingerprint)
        made.publish(to)
    return to


def test_later_generations_are_not_read(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    to = store(tmp_path / "s", tmp_path / "w", 0xFF)
    before = Stores(spark, to)
    store(tmp_path / "s", to, 0xFF, 0xFE)
    after = Stores(spark, str(to))
    assert [len(stores.near([0xFF]).collect()) for stores in (before, after)] == [1, 2]
    assert (before.pinned[0].generation, after.pinned[0].generation) == (1, 2)
    assert len(Stores(spark, to, generation=1).near([0xFF]).collect()) == 1
    with pytest.raises(ValueError, match="there is no generation 7; the generations are 1, 2"):
        Stores(spark, to, generation=7)
    with pytest.raises(TypeError, match="generation must be"):
        Stores(spark, to, generation=True)


def test_paths_without_a_published_store_are_rejected(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    to = store(tmp_path / "s", tmp_path / "w", 0xFF)
    with pytest.raises(FileNotFoundError, match="none: there is no such directory"):
        Stores(spark, tmp_path / "none")
    with pytest.raises(ValueError, match="paths must not be empty"):
        Stores(spark, [])
    with pytest.raises(FileNotFoundError, match="no such directory"):
        Stores(spark, [to, f"{tmp_path}/x*"])
    with pytest.raises(simkeep.NotAStoreError, match="not a published store: publish a store there with simkeep publish"):
        Stores(spark, tmp_path / "s")
    (tmp_path / "empty" / "generations").mkdir(parents=True)
    with pytest.raises(simkeep.NotAStoreError, match="it contains no published generation"):
        Stores(spark, tmp_path / "empty")
    shutil.copytree(to, tmp_path / "copy")
    with pytest.raises(ValueError, match="is the same store as .*/w: name each store once"):
        Stores(spark, [to, tmp_path / "copy"])
    with pytest.raises(ValueError, match="tasks must be at least 1"):
        Stores(spark, to, tasks=0)


def test_overlaps_list_pages_in_two_stores(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    paths = []
    for name, urls in [("a", "xy"), ("b", "yz")]:
        with simkeep.Store.create(tmp_path / name) as made:
            for url in urls:
                digest = {"x": b"1", "y": b"2", "z": b"1"}[url] * 16
                made.observe(f"https://example.com/{url}", 1, fingerprint=0xFF, digest=digest)
            made.publish(tmp_path / f"w{name}")
        paths.append(tmp_path / f"w{name}")
    stores = Stores(spark, paths)
    (row,) = stores.overlaps().collect()
    assert (row.url, row.stores) == ("https://example.com/y", ["wa", "wb"])
    # A page is not listed as its own copy.
    copies = stores.copies().collect()
    assert sorted((row.url, row.store, row.pages) for row in copies) == [
        ("https://example.com/x", "wa", 2),
        ("https://example.com/z", "wb", 2),
    ]
    # Each path counts.
    assert sorted(row.store for row in stores.near([0xFF]).collect()) == ["wa", "wa", "wb", "wb"]


def test_epochs_are_selected_by_name(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    one = store(tmp_path / "one", tmp_path / "w1", 0xFF, epoch="mine/1")
    other = store(tmp_path / "other", tmp_path / "w2", 0xFF)
    with pytest.raises(ValueError, match="different epochs.*mine/1: .*/w1"):
        Stores(spark, [one, other])
    with pytest.raises(ValueError, match="w1: there is no epoch other/1; the epochs are mine/1"):
        Stores(spark, [one, other], epoch="other/1")
    assert Stores(spark, one, epoch="mine/1").near([0xFF]).count() == 1


def test_replaced_store_at_the_same_path_is_detected(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    to = store(tmp_path / "s", tmp_path / "w", 0xFF)
    before = Stores(spark, to)
    assert before.near([0xFF]).count() == 1
    shutil.rmtree(to)
    store(tmp_path / "t", to, 0xF0)
    after = Stores(spark, to)
    assert (after.near([0xFF]).count(), after.near([0xF0], k=0).count()) == (0, 1)
    workers = before.pinned[0]
    with pytest.raises(simkeep.InvalidArgumentError, match="now belongs to another store or has other content"):
        workers.reader()


def test_generation_without_its_files_is_skipped(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    to = store(tmp_path / "s", tmp_path / "w", 0xFF)
    there = set((to / "files").iterdir())
    store(tmp_path / "s", to, 0xFF, 0xFE)
    for late in set((to / "files").iterdir()) - there:
        late.unlink()
    stores = Stores(spark, to)
    assert (stores.pinned[0].generation, stores.near([0xFF]).count()) == (1, 1)


def test_invalid_arguments_are_rejected_before_anything_runs(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, store(tmp_path / "s", tmp_path / "w", 0xFF))
    with pytest.raises(ValueError, match="oldest"):
        stores.clusters(rule="oldest")
    with pytest.raises(ValueError, match="k must be"):
        stores.clusters(k=65)
    for wrong, error in [(0, ValueError), (True, TypeError), (2.5, TypeError), (1 << 70, ValueError)]:
        with pytest.raises(error, match="limit must be"):
            stores.near([1], limit=wrong)  # type: ignore[arg-type]
        with pytest.raises(error, match="ranges must be"):
            stores.pairs(ranges=wrong)  # type: ignore[arg-type]


def test_a_damaged_file_is_named_with_its_store_and_generation(spark: "SparkSession", tmp_path: Path) -> None:
    from simkeep.spark import Stores

    to = store(tmp_path / "s", tmp_path / "w", *range(1000))
    (segment,) = (to / "files").glob("*.seg")
    stores = Stores(spark, to)
    content = bytearray(segment.read_bytes())
    os.chmod(segment, 0o600)
    for at in range(4096, len(content), 64):
        content[at] ^= 0x10
    # The store has a link to the same file, so replace it.
    segment.unlink()
    segment.write_bytes(content)
    for asked in (lambda: stores.pages().collect(), lambda: stores.pairs(0).count(), lambda: stores.clusters(3)):
        with pytest.raises(Exception, match=segment.name) as raised:
            asked()
        printed = "".join(traceback.format_exception(raised.value))
        assert f"The error is in the published store {to}, generation 1." in printed
    segment.unlink()
    with pytest.raises(simkeep.Error, match=segment.name):
        Stores(spark, to)


def test_each_key_is_put_into_its_own_partition(spark: "SparkSession", crawl: Crawl) -> None:
    from pyspark.sql import functions as F

    from simkeep.spark.keys import keys

    for count in (1, 2, 7, 64):
        found = keys(count)
        frame = spark.createDataFrame([(key,) for key in found], "key int").repartition(count, "key")
        rows = frame.select("key", F.spark_partition_id().alias("partition")).collect()
        assert {row.partition: row.key for row in rows} == dict(enumerate(found))
