"""Leaders over all stores."""

from typing import TYPE_CHECKING

import pytest
from published import Crawl

import simkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(("rule", "part"), [("first-seen", 1 << 19), ("shortest-url", 8000)])
def test_clusters_match_a_single_store(
    spark: "SparkSession",
    crawl: Crawl,
    rule: str,
    part: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from simkeep.spark import Stores, clusters

    # As many parts as tasks, or many more.
    monkeypatch.setattr(clusters, "PART", part)
    answer = Stores(spark, crawl.paths).clusters(3, rule)
    answer.explain()
    assert "Broadcast" not in capsys.readouterr().out
    found = answer.toArrow()
    with simkeep.Reader(crawl.whole) as whole:
        wanted = {page.url: (page.leader, page.distance) for page in whole.clusters(3, rule=rule).by_page()}
    assert found.num_rows == len(wanted)
    columns = (found[name].to_pylist() for name in ("url", "leader", "distance"))
    assert {url: (leader, distance) for url, leader, distance in zip(*columns, strict=True)} == wanted


def test_chain_of_leaders_is_resolved_in_rounds(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    from simkeep.spark import leaders
    from simkeep.spark.leaders import led

    # Each is near the next one and ranks before it; 6 is also near 1.
    chain = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 6)]
    edges = spark.createDataFrame(chain, "first long, second long")
    wanted = [(1, 2), (1, 6), (3, 4), (5, 6)]
    # One task decides the last of them, all of them, or none.
    for at_once, expected in [(2, 2), (1 << 20, 1), (0, 2)]:
        monkeypatch.setattr(leaders, "AT_ONCE", at_once)
        found, rounds = led(edges)
        assert sorted((row.first, row.second) for row in found.collect()) == wanted
        assert rounds == expected
    with pytest.raises(simkeep.LimitError, match="leaders: 2 pairs are undecided after 1 rounds"):
        led(edges, rounds_max=1)
    none, rounds = led(edges.where("first > 9"))
    assert (none.count(), rounds) == (0, 0)


def test_task_results_are_not_broadcast_as_small_tables(
    spark: "SparkSession", crawl: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    from simkeep.spark import Stores
    from simkeep.spark.joins import matched
    from simkeep.spark.leaders import kept

    # Spark assumes that the result is as small as the input of its tasks, a few numbers.
    found = kept(Stores(spark, crawl.paths).near(crawl.fingerprints[:10], limit=None))
    other = spark.range(10).withColumnRenamed("id", "query")
    found.join(other, "query").explain()
    assert "Broadcast" in capsys.readouterr().out
    for how in ("inner", "left", "left_anti", "left_semi"):
        matched(found, other, "query", how).explain()
        matched(other, found.select("query"), "query", how).explain()
        printed = capsys.readouterr().out
        assert "SortMergeJoin" in printed and "Broadcast" not in printed
