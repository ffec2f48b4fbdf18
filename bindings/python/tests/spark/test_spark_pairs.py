"""All pairs, over all stores."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from published import Crawl, loaded

import simkeep

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of versions to come.
pytestmark = pytest.mark.filterwarnings("default")


def joined(fingerprints: Any, k: int) -> Any:
    """The pairs of different fingerprints, by the join that knows of no store."""
    different = np.unique(fingerprints)
    pairs = pa.RecordBatchReader.from_stream(simkeep.join(different, k).batches(signed=True)).read_all()
    found = np.stack([pairs["left_fingerprint"], pairs["right_fingerprint"], pairs["distance"]], axis=1)
    found[:, :2].view(np.uint64).sort(axis=1)
    return found[np.lexsort(found.T)]


def told(frame: Any) -> Any:
    table = frame.toArrow()
    found = np.stack([table["left"], table["right"], table["distance"]], axis=1).reshape(-1, 3)
    return found[np.lexsort(found.T)]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 7])
def test_pairs_are_those_of_one_store_of_all_pages(spark: "SparkSession", crawl: Crawl, k: int) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    wanted = joined(crawl.fingerprints, k)
    for ranges in (4, 16):
        assert np.array_equal(told(stores.pairs(k, ranges=ranges)), wanted)


def test_pairs_of_bits_that_are_biased_and_of_a_value_that_is_everywhere(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import simkeep.spark.stores as module

    random = np.random.default_rng(11)
    biased = random.integers(0, 1 << 64, 6000, dtype=np.uint64)
    biased = biased & ~np.uint64(0xFFFF << 32) | np.uint64(0x1234 << 32)
    biased[:3000] = biased[3000:] ^ np.uint64(5)
    paths = []
    for number in range(3):
        mine = biased[number * 1800 : number * 1800 + 2400]
        urls = [f"https://{number}.example/{n}" for n in range(len(mine))]
        loaded(tmp_path / f"s{number}", pa.table({"url": urls, "at": [1000] * len(urls), "fingerprint": mine}))
        paths.append(tmp_path / f"w{number}")
        simkeep.publish(tmp_path / f"s{number}", paths[-1])
    stores = module.Stores(spark, paths)
    wanted = joined(biased, 3)
    for ranges in (1, 64):
        assert np.array_equal(told(stores.pairs(3, ranges=ranges)), wanted)
    # One value of one part is more than a task may have.
    monkeypatch.setattr(module, "_SHARE_BYTES_MAX", 8 * 1500)
    assert np.array_equal(told(stores.pairs(3)), wanted)


def test_pairs_that_mean_nothing_are_warned_of(
    spark: "SparkSession", crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    with pytest.warns(UserWarning, match="by chance alone, each of .* fingerprints has .* others within 13 bits"):
        stores.pairs(13)
