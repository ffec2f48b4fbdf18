"""Pairs of near fingerprints in several stores."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from simkeep import JoinPlan, partition

from .exchange import SENT, sent
from .keys import keys
from .near import Queries, Work, asked
from .pinned import Pinned
from .places import Batches, Places
from .tables import spark_schema

SHARE_BYTES = 64 << 20
"""The target size of a join task, in bytes of fingerprints."""
_TASK_BYTES_MAX = 256 << 20
"""The number of bytes of fingerprints beyond which a task is split into pieces."""
_FEW = 1 << 20
"""The maximum number of fingerprints that a few tasks join within 3 bits, in some tenths of a second, even if more
tasks could run.
"""
_BUCKETS = (1 << 12, 1 << 16)
"""The number of buckets of the histogram, for fewer than `_MANY` fingerprints and for more fingerprints."""
_MANY = 4_000_000_000
"""The number of fingerprints from which the histogram uses more buckets."""

Then = Callable[[Batches], Batches]
"""The work of a task on the pairs that it finds."""

_SCHEMA = spark_schema(partition.PAIRS)


def few(count: int, k: int, tasks: int) -> JoinPlan | None:
    """Plans a join of few fingerprints without counting them first; `None` if there are more."""
    # With more tasks than parts, most tasks would be idle, and the remaining tasks have more work at wider distances.
    most = SHARE_BYTES // 8 if tasks <= k + 1 else _FEW >> max(k - 3, 0)
    return JoinPlan.uncounted(k, tasks) if count <= most else None


def ranges_of(count: int, k: int, tasks: int) -> int:
    """The approximate number of tasks for a join of `count` fingerprints, if `tasks` tasks run concurrently."""
    return max(-(-8 * (k + 1) * count // SHARE_BYTES), tasks)


def joined(places: Places, k: int, ranges: int | None, limit: int | None) -> DataFrame:
    """The pairs of all fingerprints from a join; with a `limit`, only the pairs that `cut` needs."""
    return _from_shares(places, k, ranges, iter if limit is None else _capped(limit), _SCHEMA)


def sent_by_left(places: Places, k: int, parts: int) -> DataFrame:
    """The pairs of all fingerprints, sent to the parts of their left fingerprints."""
    return _from_shares(places, k, None, _sent_by_left(parts), SENT)


def _from_shares(places: Places, k: int, ranges: int | None, then: Then, schema: str) -> DataFrame:
    """Partitions fingerprints among tasks. Each task joins its part, and applies `then` to the pairs."""
    plan = few(places.fingerprints, k, places.tasks) if ranges is None else None
    if plan is None:
        plan = _counted(places, k, ranges)
    chunks = places.read(_chunks(plan), "key int, task int, second boolean, chunk binary")
    return chunks.repartition(len(plan), "key").mapInArrow(_joined(plan, then), schema)


def _counted(places: Places, k: int, ranges: int | None) -> JoinPlan:
    """Plans a join from histograms, which a separate job makes."""
    count = places.fingerprints
    buckets = _BUCKETS[count >= _MANY]
    histograms = places.read(_histogram(k, buckets), "histogram binary").collect()
    ranges = ranges or ranges_of(count, k, places.tasks)
    return JoinPlan([bytes(row.histogram) for row in histograms], ranges, _TASK_BYTES_MAX // 8)


def searched(places: Places, new: Any, k: int) -> DataFrame:
    """The pairs of the `new` fingerprints with the fingerprints of all stores, by a search for each new fingerprint."""
    # A pair may come twice: from several stores, or because both fingerprints are new.
    return asked(places, new, _pairs_with(k), _SCHEMA).distinct()


def cut(pairs: DataFrame, limit: int) -> DataFrame:
    """The pairs among the first `limit` pairs of both fingerprints; `complete` if neither fingerprint has other
    pairs.
    """
    sides = F.array(
        F.struct(F.col("left").alias("of"), F.col("right").alias("other")),
        F.struct(F.col("right").alias("of"), F.col("left").alias("other")),
    )
    each = pairs.select("left", "right", "distance", F.inline(sides))
    # Flipping the sign bit gives the order of unsigned numbers.
    of = Window.partitionBy("of")
    nearest = of.orderBy("distance", F.col("other").bitwiseXOR(F.lit(-(1 << 63))))
    ranked = each.select(
        "left",
        "right",
        "distance",
        F.row_number().over(nearest).alias("rank"),
        F.count("*").over(of).alias("pairs"),
    )
    first = ranked.where(F.col("rank") <= limit).groupBy("left", "right", "distance")
    both = first.agg(F.count("*").alias("sides"), (F.max("pairs") <= limit).alias("complete"))
    return both.where("sides = 2").select("left", "right", "distance", "complete")


# The functions below run in tasks.


def _histogram(k: int, buckets: int) -> Callable[[Pinned], Batches]:
    def run(store: Pinned) -> Batches:
        with store.asked() as reader:
            histogram = reader.histogram(k, buckets=buckets, epoch=store.epoch, threads=1)
        yield pa.record_batch({"histogram": pa.array([histogram], pa.binary())})

    return run


def _chunks(plan: JoinPlan) -> Callable[[Pinned], Batches]:
    def run(store: Pinned) -> Batches:
        places = pa.array(keys(len(plan)), pa.int32())
        with store.asked() as reader:
            for chunks in partition.chunks(reader, plan, epoch=store.epoch, threads=1):
                columns = [places.take(chunks["task"]), *chunks.columns]
                yield pa.record_batch(columns, names=["key", *chunks.schema.names])

    return run


def _joined(plan: JoinPlan, then: Then) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        # A partition has a single task, or a few tasks.
        by_task: dict[int, list[pa.RecordBatch]] = {}
        for batch in batches:
            for at, task in enumerate(batch["task"].to_pylist()):
                by_task.setdefault(task, []).append(batch.slice(at, 1))
        for task in sorted(by_task):
            yield from then(partition.joined(plan, task, by_task.pop(task), threads=1))

    return run


def _capped(limit: int) -> Then:
    def run(pairs: Batches) -> Batches:
        yield from partition.capped(pairs, limit).to_batches()

    return run


def _sent_by_left(parts: int) -> Then:
    def run(pairs: Batches) -> Batches:
        return sent(pairs, "left", parts)

    return run


def _pairs_with(k: int) -> Work:
    def run(store: Pinned, queries: Queries) -> Batches:
        with store.asked() as reader:
            yield from partition.pairs_with(reader, queries, k=k, epoch=store.epoch, threads=1)

    return run
