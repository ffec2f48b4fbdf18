"""Pages near fingerprints, over all stores."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from published import Crawl

import simkeep

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")


def asked(stores: Any, queries: Any, k: int, limit: int | None) -> dict[int, tuple[list[tuple[int, str]], set[bool]]]:
    """Returns the hits of each query by distance and URL, and whether they are complete."""
    found: dict[int, tuple[list[tuple[int, str]], set[bool]]] = defaultdict(lambda: ([], set()))
    for row in stores.near(queries, k=k, limit=limit).collect():
        assert ((row.query ^ row.fingerprint) & (1 << 64) - 1).bit_count() == row.distance
        found[row.query & (1 << 64) - 1][0].append((row.distance, row.url))
        found[row.query & (1 << 64) - 1][1].add(row.complete)
    return found


@pytest.mark.parametrize(("k", "limit"), [(3, 16), (3, None), (0, 1), (7, 2)])
def test_near_matches_a_single_store(
    spark: "SparkSession", crawl: Crawl, k: int, limit: int | None
) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    queries = np.random.default_rng(3).choice(crawl.fingerprints, 300)
    if limit is not None:
        queries[-1] = np.unique(crawl.fingerprints, return_counts=True)[0][0]
    found = asked(stores, queries, k, limit)
    with simkeep.Reader(crawl.whole) as whole:
        for query, matches in zip(queries.tolist(), whole.near_batch(queries, k, limit=limit), strict=True):
            hits, complete = found[query]
            assert sorted(distance for distance, _ in hits) == [near.distance for near in matches]
            assert {url for _, url in hits} == {near.url for near in matches}
            assert complete == {matches.complete}
    assert len(found) == len(set(queries.tolist()))


def test_queries_are_accepted_in_many_types(spark: "SparkSession", crawl: Crawl) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, f"{crawl.paths[0].parent}/w*")
    queries = crawl.fingerprints[:50]
    wanted = sorted(stores.near(queries).collect())
    signed = queries.view(np.int64)
    frame = spark.createDataFrame([(value,) for value in signed.tolist()], "f long")
    for given in (signed, queries.tolist(), signed.tolist(), pa.array(queries), pa.chunked_array([signed]), frame):
        assert sorted(stores.near(given).collect()) == wanted
    assert stores.near([0x0F0F]).collect() == []


def test_answers_for_a_crowded_fingerprint_are_marked_incomplete(
    spark: "SparkSession", crawl: Crawl
) -> None:
    from simkeep.spark import Stores

    values, counts = np.unique(crawl.fingerprints, return_counts=True)
    query = int(values[counts.argmax()])
    rows = Stores(spark, crawl.paths).near([query], k=0).collect()
    assert len(rows) == 16 and not any(row.complete for row in rows)
    with simkeep.Reader(crawl.whole) as whole:
        assert {row.url for row in rows} == {near.url for near in whole.near(query, 0)}


def test_invalid_queries_are_rejected_before_anything_runs(spark: "SparkSession", crawl: Crawl) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths)
    for wrong, error, message in [
        ([], ValueError, "queries must not be empty"),
        ([1.5], TypeError, "item 0 must be an int, not float"),
        ([1, True], TypeError, "item 1 must be an int, not bool"),
        ([1, 1 << 64], ValueError, "item 1 has more than 64 bits"),
        ("ff", TypeError, "must be fingerprints"),
        (np.zeros((2, 2), np.uint64), TypeError, "one-dimensional"),
        (np.zeros(2), TypeError, "64-bit integers"),
        (pa.array([1, None], pa.int64()), ValueError, "item 1 is null"),
        (spark.createDataFrame([(1, 2)], "a long, b long"), ValueError, "one column"),
        (spark.createDataFrame([("1",)], "a string"), TypeError, "not string"),
    ]:
        with pytest.raises(error, match=message):
            stores.near(wrong)
    for k, error in [(65, ValueError), (-1, ValueError), (True, TypeError), (3.0, TypeError)]:
        with pytest.raises(error, match="k must be"):
            stores.near([1], k=k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="limit"):
        stores.near([1], limit=0)
