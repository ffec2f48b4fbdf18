"""Estimates of the cost of queries."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from published import Crawl
from test_spark_documentation import PAGE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("numpy")
pytest.importorskip("pyspark")

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")


def test_plan_states_method_reason_and_cost(spark: "SparkSession", crawl: Crawl) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, crawl.paths, tasks=8)
    count = sum(store.fingerprints for store in stores.pinned)
    pairs = stores.plan("pairs", 3)
    # A few fingerprints are not counted first; many are, so they are read twice.
    assert pairs.exchanged_bytes == 32 * count and pairs.tasks == 4 + 4 and "to every task" in pairs.why
    assert stores.plan("pairs", 3, ranges=64).tasks == 2 * 4 + 64
    assert "a task for each" in stores.plan("pairs", 3, ranges=64).why
    summary = str(pairs)
    begun = f"pairs within 3 of 4 stores with {count:,} fingerprints: a join, which splits each fingerprint into 4 parts"
    assert summary.startswith(begun)
    assert "8 tasks" in summary and "exchanged" in summary and "by chance" in summary
    near = stores.plan("near", queries=1000)
    assert near.exchanged_bytes > 8000 and near.tasks == 4 + 8
    assert stores.plan("clusters").core_seconds > pairs.core_seconds


def test_plan_says_when_new_fingerprints_cost_more_than_a_join() -> None:
    from simkeep.spark import plan

    stores = [100_000_000] * 80
    assert "costs less than a join" in plan("pairs", stores, new=10_000_000).why
    assert "ask for all pairs" in plan("pairs", stores, new=4_000_000_000).why


def test_small_work_uses_few_tasks(spark: "SparkSession", crawl: Crawl) -> None:
    from simkeep.spark import Stores, plan
    from simkeep.spark.places import together

    assert together([5, 5, 5, 5], 100, 2) == [2, 2]
    assert together([5, 5, 5, 5], 4, 2) == [1, 1, 1, 1]
    assert together([1, 1, 1, 9, 1, 1], 3, 2) == [3, 1, 2]
    assert together([0, 0], 100, 8) == [2]
    assert together([], 100, 8) == []
    # As many groups as tasks, and none much larger than the others.
    assert together([9, 11, 10, 9, 11], 100, 5) == [1, 1, 1, 1, 1]
    assert together([10, 11, 9, 10], 100, 2) == [2, 2]
    few = Stores(spark, crawl.paths, tasks=2)
    pairs = few.plan("pairs")
    assert (pairs.tasks, pairs.exchanged_bytes) == (2 + 2, 16 * sum(store.fingerprints for store in few.pinned))
    assert few.plan("near", queries=1000).tasks == 2 + 2
    # Beyond 4 million queries, each 4 million are a job.
    assert plan("near", [100] * 4, queries=6_000_000, tasks=8).tasks == 20 + 8
    # A wide distance takes longer than counting would suggest.
    assert plan("pairs", [25_000] * 4, 3, tasks=200).tasks == 4 + 4
    assert plan("pairs", [25_000] * 4, 10, tasks=200).tasks == 4 + 4 + 200
    # Large stores have a task for each store and each part.
    assert plan("pairs", [10_000_000] * 4, tasks=2).tasks == 2 * 4 + 20


def test_estimated_costs_match_hand_computed_values() -> None:
    from simkeep.spark import plan

    stores = [100_000_000] * 80
    near = plan("near", stores, queries=1_000_000, tasks=80)
    # 0.42 microseconds for each query and store.
    assert 33 < near.core_seconds < 80
    pairs = plan("pairs", stores, tasks=200)
    assert pairs.exchanged_bytes == 256_000_000_000
    assert 76_000 * 0.9 < pairs.chance_pairs < 76_000 * 1.1
    assert 76_000 * 0.9 < plan("pairs", [8_000_000_000]).chance_pairs < 76_000 * 1.1
    assert plan("pairs", stores, 7).chance_pairs == pytest.approx(1.2e9, rel=0.1)
    # With stores in an object store, fetching takes most of the time.
    assert near.seconds(80, network=100e6) > 10 * near.seconds(80, disk=1e9) > 10 * near.seconds(80)


def duration(seconds: float) -> str:
    """Formats a duration as the page does."""
    for most, unit, one in [(10, "s", 1), (120, "s", 1), (7200, "min", 60), (36 * 3600, "h", 3600)]:
        if seconds < most:
            return f"{seconds / one:.2g} {unit}" if seconds < 10 or unit == "h" else f"{seconds / one:.0f} {unit}"
    return f"{seconds / 86400:.1f} d"


def test_the_page_shows_the_computed_costs() -> None:
    from simkeep.spark import plan

    lines = ["| pages | | 20 cores | 200 cores | 2,000 cores |", "|---|---|---|---|---|"]
    for name, stores in [("10^9", 10), ("8·10^9", 80), ("10^11", 1000)]:
        for what, question, queries in [("a million queries", "near", 1_000_000), ("all pairs", "pairs", None)]:
            cells = []
            for cores in (20, 200, 2000):
                of = plan(question, [100_000_000] * stores, 3, queries=queries, tasks=cores)  # type: ignore[arg-type]
                times = of.seconds(cores), of.seconds(cores, disk=1e9), of.seconds(cores, network=1e8)
                cells.append(", ".join(map(duration, times)))
            lines.append(f"| {name} | {what} | {' | '.join(cells)} |")
    page = PAGE.read_text()
    assert "\n".join(lines) in page, "\n".join(lines)
    shown = str(plan("pairs", [100_000_000] * 80, k=3, tasks=200))
    assert shown in page, shown


def test_invalid_plans_are_rejected() -> None:
    from simkeep.spark import plan

    wrongs: list[tuple[Callable[[], object], str]] = [
        (lambda: plan("near", [1]), "queries is missing"),
        (lambda: plan("near", [1], queries=0), "queries must be at least 1"),
        (lambda: plan("pairs", [1], new=-1), "new must be at least 1"),
        (lambda: plan("pairs", [1], queries=1), 'queries is only for "near"'),
        (lambda: plan("clusters", [1], new=1), 'new is only for "pairs"'),
        (lambda: plan("pairs", []), "fingerprints must not be empty"),
        (lambda: plan("copies", [1]), '"near", "pairs" or "clusters"'),  # type: ignore[arg-type]
        (lambda: plan("pairs", [1], 65), "k must be from 0 to 64"),
    ]
    for wrong, message in wrongs:
        with pytest.raises(ValueError, match=message):
            wrong()


def test_cluster_part_count_grows_until_blobs_become_tiny() -> None:
    from simkeep.spark.clusters import parts_of

    assert [parts_of(count, 4) for count in (1, 4 << 20, 1 << 30, 1 << 34, 1 << 38)] == [4, 8, 2048, 8192, 32768]
