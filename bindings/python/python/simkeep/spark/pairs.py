"""Pairs of fingerprints near each other, over several stores."""

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
"""How many bytes of fingerprints a task of a join is meant to have."""
_TASK_BYTES_MAX = 256 << 20
"""Of how many bytes on a task's fingerprints are cut into pieces."""
_FEW = 1 << 20
"""How many fingerprints a few tasks join within 3 bits, however many could run: in some tenths of a second."""
_BUCKETS = (1 << 12, 1 << 16)
"""In how many buckets fingerprints are counted: some, and very many."""
_MANY = 4_000_000_000
"""From how many fingerprints on there are very many."""

Then = Callable[[Batches], Batches]
"""What a task does with the pairs that it finds."""

_SCHEMA = spark_schema(partition.PAIRS)


def few(count: int, k: int, tasks: int) -> JoinPlan | None:
    """How a join of so few fingerprints is shared out that they need not be counted, where so many tasks run."""
    # With more tasks than parts, most would have nothing to do, and the others the more, the wider the distance.
    most = SHARE_BYTES // 8 if tasks <= k + 1 else _FEW >> max(k - 3, 0)
    return JoinPlan.uncounted(k, tasks) if count <= most else None


def ranges_of(count: int, k: int, tasks: int) -> int:
    """Into about how many tasks a join of so many fingerprints is shared out, where so many run at a time."""
    return max(-(-8 * (k + 1) * count // SHARE_BYTES), tasks)


def joined(places: Places, k: int, ranges: int | None, limit: int | None) -> DataFrame:
    """The pairs of all fingerprints, or what is needed of them for some of each, from the tasks of a join."""
    return _from_shares(places, k, ranges, iter if limit is None else _capped(limit), _SCHEMA)


def sent_by_left(places: Places, k: int, parts: int) -> DataFrame:
    """The pairs of all fingerprints, on their way to the parts of the left ones."""
    return _from_shares(places, k, None, _sent_by_left(parts), SENT)


def _from_shares(places: Places, k: int, ranges: int | None, then: Then, schema: str) -> DataFrame:
    """What comes of all pairs: fingerprints are partitioned among tasks, each of which joins what it receives."""
    plan = few(places.fingerprints, k, places.tasks) if ranges is None else None
    if plan is None:
        plan = _counted(places, k, ranges)
    chunks = places.read(_chunks(plan), "key int, task int, second boolean, chunk binary")
    return chunks.repartition(len(plan), "key").mapInArrow(_joined(plan, then), schema)


def _counted(places: Places, k: int, ranges: int | None) -> JoinPlan:
    """How a join is shared out, from counts that a job of its own makes."""
    count = places.fingerprints
    buckets = _BUCKETS[count >= _MANY]
    histograms = places.read(_histogram(k, buckets), "histogram binary").collect()
    ranges = ranges or ranges_of(count, k, places.tasks)
    return JoinPlan([bytes(row.histogram) for row in histograms], ranges, _TASK_BYTES_MAX // 8)


def searched(places: Places, new: Any, k: int) -> DataFrame:
    """The pairs of some fingerprints with those of all stores, each of which is searched for."""
    # Several stores may have the other one, and both may be among those given.
    return asked(places, new, _pairs_with(k), _SCHEMA).distinct()


def cut(pairs: DataFrame, limit: int) -> DataFrame:
    """The pairs that are among the first `limit` of both fingerprints, and whether these are all of both."""
    sides = F.array(
        F.struct(F.col("left").alias("of"), F.col("right").alias("other")),
        F.struct(F.col("right").alias("of"), F.col("left").alias("other")),
    )
    each = pairs.select("left", "right", "distance", F.inline(sides))
    # In the order of unsigned numbers.
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


# What follows runs in tasks.


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
        # There is one task in a partition, or few.
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
