"""Who leads, by rounds over pairs: the greedy rule of `simkeep cluster`, where no machine has all pairs.

A fingerprint leads if none that leads and ranks before it is within k bits of it. In a round every one leads
that no undecided neighbour ranks before; its neighbours then follow. What is left goes into the next round. The
first in rank of what is left is decided in each, so it ends; on real pages after some few. As soon as one task can
have all that is left, it decides the rest by itself.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

import simkeep
from simkeep import partition

from .joins import matched
from .places import Batches

ROUNDS_MAX = 64
"""After so many rounds it gives up: then the data are not what this is for."""

AT_ONCE = 1 << 20
"""How many pairs one task decides by itself: in a second or two."""


def led(edges: DataFrame, rounds_max: int = ROUNDS_MAX) -> tuple[DataFrame, int]:
    """The pairs of a leader and what follows it, and after how many rounds.

    `edges` are pairs of fingerprints near each other: `first`, which ranks before `second`, and whatever else
    stands in a row. A row is left if `first` leads, and `second` does not. What is in no row leads.

    `simkeep.LimitError` if undecided ones are left after the most rounds.
    """
    edges = kept(edges)
    left = edges.select("first", "second")
    led: DataFrame | None = None
    rounds = 0
    while count := left.count():
        if rounds == rounds_max:
            what = f"leaders: {count} pairs are undecided after {rounds_max} rounds"
            raise simkeep.LimitError(f"{what}: ask for a smaller distance, or for more rounds")
        rounds += 1
        if count <= AT_ONCE:
            rest = left.repartition(1).mapInArrow(_decided, "second long")
            led = rest if led is None else led.unionByName(rest)
            break
        behind = left.select(F.col("second").alias("first")).distinct()
        leads = matched(left, behind, "first", "left_anti")
        follows = kept(leads.select("second").distinct())
        left = matched(left, follows, "second", "left_anti")
        left = kept(matched(left, follows.withColumnRenamed("second", "first"), "first", "left_anti"))
        led = follows if led is None else led.unionByName(follows)
    if led is None:
        return edges, rounds
    led = kept(led)
    # What follows does not lead, so whoever is in no such row does.
    found = matched(edges, led.withColumnRenamed("second", "first"), "first", "left_anti")
    return matched(found, led, "second", "left_semi"), rounds


def kept(table: DataFrame) -> DataFrame:
    """The table as it is now: what comes next does not compute it again.

    It is kept in the checkpoint directory, if there is one (`spark.checkpoint.dir`, or
    `SparkContext.setCheckpointDir`), and otherwise by the executors.
    """
    spark = table.sparkSession
    durable = spark.conf.get("spark.checkpoint.dir", None) is not None
    if not durable and not is_remote():
        durable = spark.sparkContext.getCheckpointDir() is not None
    return table.checkpoint() if durable else table.localCheckpoint()


# What follows runs in tasks.


def _decided(batches: Batches) -> Batches:
    yield from partition.following(batches).to_batches()
