"""All pairs, over all stores."""

import os
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


def joined(fingerprints: Any, k: int) -> Any:
    """Returns the pairs of different fingerprints by a join that knows no stores."""
    different = np.unique(fingerprints)
    pairs = pa.RecordBatchReader.from_stream(simkeep.join(different, k).batches(signed=True)).read_all()
    found = np.stack([pairs["left_fingerprint"], pairs["right_fingerprint"], pairs["distance"]], axis=1)
    found[:, :2].view(np.uint64).sort(axis=1)
    return found[np.lexsort(found.T)]


def sorted_pairs(frame: Any) -> Any:
    table = frame.toArrow()
    found = np.stack([table["left"], table["right"], table["distance"]], axis=1).reshape(-1, 3)
    return found[np.lexsort(found.T)]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 7])
def test_pairs_match_a_join_of_all_fingerprints(spark: "SparkSession", crawl: Crawl, k: int) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    wanted = joined(crawl.fingerprints, k)
    deep = float(os.environ.get("SIMKEEP_DEPTH", "0.1")) >= 1
    for ranges in (None, 4, 16, 64) if deep or k == 3 else (None, 16):
        assert np.array_equal(sorted_pairs(stores.pairs(k, ranges=ranges)), wanted)


def test_pairs_are_exact_for_biased_and_repeated_fingerprints(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import simkeep.spark.pairs as module
    from simkeep.spark import Stores

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
    stores = Stores(spark, paths)
    wanted = joined(biased, 3)
    for ranges in (None, 1, 64):
        assert np.array_equal(sorted_pairs(stores.pairs(3, ranges=ranges)), wanted)
    # One value of one part exceeds what a task may have.
    monkeypatch.setattr(module, "_TASK_BYTES_MAX", 8 * 1500)
    assert np.array_equal(sorted_pairs(stores.pairs(3, ranges=2)), wanted)


def test_distance_with_many_chance_pairs_raises_a_warning(
    spark: "SparkSession", crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    with pytest.warns(UserWarning, match="by chance alone, each of .* fingerprints has .* neighbours within 13 bits"):
        stores.pairs(13)


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_pairs_are_limited_per_fingerprint(spark: "SparkSession", tmp_path: Path, limit: int) -> None:
    from simkeep.spark import Stores

    random = np.random.default_rng(13)
    # A star, a dense group, and pairs: some have more neighbours than others.
    star = np.uint64(0xABCD << 48) ^ np.append(np.uint64(0), np.uint64(1) << np.arange(40, dtype=np.uint64))
    crowd = np.uint64(0xFF00FF << 40) ^ random.integers(0, 64, 40, dtype=np.uint64)
    lone = random.integers(0, 1 << 64, 500, dtype=np.uint64)
    mine = np.concatenate([star, crowd, lone, lone ^ np.uint64(1 << 63)])
    paths = []
    for number in range(2):
        some = mine[number::2]
        urls = [f"https://{number}.example/{n}" for n in range(len(some))]
        loaded(tmp_path / f"s{number}", pa.table({"url": urls, "at": [1000] * len(urls), "fingerprint": some}))
        paths.append(tmp_path / f"w{number}")
        simkeep.publish(tmp_path / f"s{number}", paths[-1])
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for left, right, distance in joined(mine, 3).tolist():
        left, right = left & (1 << 64) - 1, right & (1 << 64) - 1
        neighbours.setdefault(left, []).append((distance, right))
        neighbours.setdefault(right, []).append((distance, left))
    first = {of: {other for _, other in sorted(others)[:limit]} for of, others in neighbours.items()}
    wanted = {
        (of, other, distance, max(len(neighbours[of]), len(neighbours[other])) <= limit)
        for of, others in neighbours.items()
        for distance, other in others
        if of < other and other in first[of] and of in first[other]
    }
    rows = Stores(spark, paths).pairs(3, limit=limit, ranges=16).collect()
    mask = (1 << 64) - 1
    assert len(rows) == len(wanted)
    assert {(row.left & mask, row.right & mask, row.distance, row.complete) for row in rows} == wanted
    assert {row.complete for row in rows} == ({True} if limit == 1000 else {True, False})


def test_pairs_with_new_fingerprints_match_the_join(spark: "SparkSession", crawl: Crawl) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    # Some fingerprints of pages, and some that no page has.
    new = np.concatenate([crawl.fingerprints[::200], crawl.fingerprints[1::400] ^ np.uint64(1 << 40)])
    all_of = joined(np.concatenate([crawl.fingerprints, new]), 3)
    have = np.isin(all_of[:, :2], np.unique(crawl.fingerprints).view(np.int64))
    asked = np.isin(all_of[:, :2], new.view(np.int64))
    wanted = all_of[(asked[:, 0] & have[:, 1]) | (asked[:, 1] & have[:, 0])]
    assert len(wanted) > 200
    assert np.array_equal(sorted_pairs(stores.pairs(3, new=new)), wanted)
    frame = spark.createDataFrame([(value,) for value in new.view(np.int64).tolist()], "f long")
    assert np.array_equal(sorted_pairs(stores.pairs(3, new=frame)), wanted)
    with pytest.raises(ValueError, match="ranges and new exclude each other"):
        stores.pairs(3, new=new, ranges=4)
