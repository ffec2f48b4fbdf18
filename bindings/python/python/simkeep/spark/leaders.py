"""Finds cluster leaders in rounds over pairs: the greedy rule of `simkeep cluster`, for pairs on many machines.

A fingerprint leads if no leader that ranks before it is within k bits. In a round, a fingerprint becomes a leader if no
undecided neighbour ranks before it, and its neighbours become followers. The undecided rest goes into the next round.
Each round decides at least the first in rank, so the rounds end; real pages need a few. As soon as the rest fits into
one task, a single task decides the rest.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

import simkeep
from simkeep import partition

from .joins import matched
from .places import Batches

ROUNDS_MAX = 64
"""The default for the maximum number of rounds. This method does not suit data that need more rounds."""

AT_ONCE = 1 << 20
"""The maximum number of pairs that one task decides alone, in a second or two."""


def led(edges: DataFrame, rounds_max: int = ROUNDS_MAX) -> tuple[DataFrame, int]:
    """Returns the pairs of a leader and a follower, and the number of rounds.

    `edges` are pairs of near fingerprints: `first`, which ranks before `second`, and any other columns. The result has
    the rows where `first` leads and `second` does not. A fingerprint in no row leads.

    Raises `simkeep.LimitError` if fingerprints are undecided after `rounds_max` rounds.
    """
    edges = kept(edges)
    left = edges.select("first", "second")
    led: DataFrame | None = None
    rounds = 0
    while count := left.count():
        if rounds == rounds_max:
            what = f"leaders: {count} pairs are undecided after {rounds_max} rounds"
            raise simkeep.LimitError(f"{what}: ask for a smaller distance or more rounds")
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
    # Every fingerprint that is not a follower leads.
    found = matched(edges, led.withColumnRenamed("second", "first"), "first", "left_anti")
    return matched(found, led, "second", "left_semi"), rounds


def kept(table: DataFrame) -> DataFrame:
    """Checkpoints a table, so that later steps do not compute it again.

    The checkpoint goes to the checkpoint directory, if it is set (`spark.checkpoint.dir`, or
    `SparkContext.setCheckpointDir`), and otherwise to the executors.
    """
    spark = table.sparkSession
    durable = spark.conf.get("spark.checkpoint.dir", None) is not None
    if not durable and not is_remote():
        durable = spark.sparkContext.getCheckpointDir() is not None
    return table.checkpoint() if durable else table.localCheckpoint()


# The functions below run in tasks.


def _decided(batches: Batches) -> Batches:
    yield from partition.following(batches).to_batches()
