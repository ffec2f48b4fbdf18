"""Clusters of pages with nearly the same content, over several stores."""

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from simkeep import partition

from .joins import matched
from .leaders import kept, led
from .pinned import Pinned
from .places import Batches, Places
from .tables import spark_schema


def ranked(places: Places, rule: str, hidden: DataFrame | None) -> DataFrame:
    """The pages that have a fingerprint in force, but for those that do not count, each with where it ranks."""
    places.check(lambda reader: reader.ranked(rule=rule, epoch=places.pinned[0].epoch).close())
    pages = places.run(_ranked(rule), spark_schema(partition.RANKED))
    return pages if hidden is None else pages.join(hidden, ["url", "store"], "left_anti")


def clusters(pages: DataFrame, pairs: DataFrame, rounds_max: int) -> DataFrame:
    """The leader of each of some ranked pages, from all pairs of their fingerprints."""
    first = F.min(F.struct("rank", "url")).alias("of")
    nodes = kept(pages.groupBy("fingerprint").agg(first).select("fingerprint", "of.rank", "of.url"))
    left = nodes.select(F.col("fingerprint").alias("left"), F.col("rank").alias("left_rank"))
    right = nodes.select(F.col("fingerprint").alias("right"), F.col("rank").alias("right_rank"))
    # A fingerprint of no page that counts is in no pair from here on.
    both = matched(matched(pairs, left, "left"), right, "right")
    ahead = F.col("left_rank") < F.col("right_rank")
    edges = both.select(
        F.when(ahead, F.col("left")).otherwise(F.col("right")).alias("first"),
        F.when(ahead, F.col("right")).otherwise(F.col("left")).alias("second"),
        F.least("left_rank", "right_rank").alias("rank"),
        "distance",
    )
    found, _ = led(edges, rounds_max)
    nearest = F.min(F.struct("distance", "rank", "first")).alias("of")
    follows = found.groupBy(F.col("second").alias("fingerprint")).agg(nearest)
    leaders = nodes.select(F.col("fingerprint").alias("leads"), F.col("url").alias("leader"))
    follows = follows.select("fingerprint", F.col("of.first").alias("leads"), "of.distance")
    belongs = matched(nodes, matched(follows, leaders, "leads"), "fingerprint", "left").select(
        "fingerprint", F.coalesce("leader", "url").alias("leader"), F.coalesce("distance", F.lit(0)).alias("distance")
    )
    return matched(pages, belongs, "fingerprint").select("url", "store", "fingerprint", "leader", "distance")


# What follows runs in tasks.


def _ranked(rule: str) -> Callable[[Pinned], Batches]:
    def run(store: Pinned) -> Batches:
        with store.asked() as reader:
            yield from partition.ranked(store.name, reader, rule, epoch=store.epoch)

    return run
