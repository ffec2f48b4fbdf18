"""Several stores, asked as one."""

import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

import simkeep
from simkeep import Shares, partition
from simkeep.limits import DISTANCE_MAX

from .keys import keys
from .leaders import ROUNDS_MAX, kept, led
from .pinned import Pinned, pinned
from .tables import TABLES, spark_schema

_SLICE, _SLICE_MIN = 4_000_000, 1 << 16
"""How many queries go to a task: at most, and at least if there are as many."""
_SHARE_BYTES = 64 << 20
"""How many bytes of fingerprints a task of a join is meant to have."""
_SHARE_BYTES_MAX = 256 << 20
"""Of how many bytes on a task's fingerprints are cut into pieces."""
_BUCKETS = (1 << 12, 1 << 16)
"""In how many buckets fingerprints are counted: some, and very many."""
_MANY = 4_000_000_000
"""From how many fingerprints on there are very many."""

_TASKS = 8
"""How many tasks run at a time, where nobody says it."""
_NEIGHBOURS_MAX = 0.01
"""How many neighbours a fingerprint may have by chance."""

_Batches = Iterator[pa.RecordBatch]


class Stores:
    """Published stores of one crawl, asked all at once.

    `paths` are directories that `simkeep publish` made, or patterns of them, which all workers see under the same
    names. They are resolved here and now: each question is asked of the same `generation`, whatever is published
    later. Fingerprints are those of the epoch by which near-duplicates are sought, or of the one named `epoch`.

    Answers are `DataFrame`s of Spark, and are computed when their rows are asked for. Fingerprints in them are
    `long`, bit for bit. A task that is run again answers the same.
    """

    def __init__(
        self,
        spark: SparkSession,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        generation: int | Literal["latest"] = "latest",
        *,
        epoch: str | None = None,
        tasks: int | None = None,
    ) -> None:
        if tasks is not None:
            _check_count("tasks", tasks)
        self._spark = spark
        self._pinned = pinned(paths, generation, epoch)
        self._tasks = tasks or _parallel(spark)
        _check_workers(spark)

    @property
    def pinned(self) -> tuple[Pinned, ...]:
        """The stores, each with the generation and the epoch by which it is asked."""
        return tuple(self._pinned)

    def near(self, queries: Any, k: int = 3, limit: int | None = 16) -> DataFrame:
        """The pages near each of many fingerprints, over all stores.

        `queries` are fingerprints: an array, a column of Arrow, an iterable of `int`s, or the only column of a
        `DataFrame`. Equal ones are asked once. The columns are `query`, `store`, `url`, `distance`, `fingerprint`
        and `complete`. Of each query there are up to `limit` pages (`None`: all), the nearest first, then in
        SURT order; `complete` says whether these are all. Rows come in no particular order, and there are none
        of a query that nothing is near.

        A task asks one store for up to 4 million queries, in some tenths of a microsecond for each; of a
        `DataFrame`, for all of them. Queries are sent to all machines, 8 bytes each, so that a hundred million are
        a good number at a time. What is found is exchanged once more, packed, if there is a limit.

        If an answer is not complete, and many pages are equally far, which of those are named is not determined.
        """
        _check_k(k)
        if limit is not None:
            _check_count("limit", limit)
        asked = self._asked(queries)
        if limit is None or len(self._pinned) == 1:
            return asked.mapInArrow(_near(k, limit), spark_schema(partition.HITS))
        parts = self._tasks
        placed = asked.mapInArrow(_near_packed(k, limit, parts), "key int, hits binary")
        return placed.repartition(parts, "key").mapInArrow(_merged(limit), spark_schema(partition.HITS))

    def pairs(self, k: int = 3, *, ranges: int | None = None) -> DataFrame:
        """All pairs of different fingerprints of pages within `k` bits of each other, over all stores.

        The columns are `left`, `right` and `distance`; each pair comes once, the smaller fingerprint first, as
        unsigned numbers. The pages that have a fingerprint are `near` it within 0.

        A first job, which runs at once, counts the fingerprints of all stores, so that they can be shared out
        evenly: into about `ranges` tasks, by default of 64 MiB and as many as run at a time. Then each is moved
        `k + 1` times, 8 bytes each, packed, and joined.

        Warns where so many fingerprints are near each other by chance that more than one in a hundred has such a
        neighbour: a smaller `k` says more then.
        """
        _check_k(k)
        if ranges is not None:
            _check_count("ranges", ranges)
        count = sum(store.fingerprints for store in self._pinned)
        _warn_of_chance(count, k)
        buckets = _BUCKETS[count >= _MANY]
        tallies = self._rows().mapInArrow(_tally(k, buckets), "tally binary").collect()
        dealt = 8 * (k + 1) * count
        ranges = ranges or max(-(-dealt // _SHARE_BYTES), self._tasks)
        shares = Shares([bytes(row.tally) for row in tallies], ranges, _SHARE_BYTES_MAX // 8)
        placed = self._rows().mapInArrow(_dealt(shares), "key int, share int, second boolean, hand binary")
        return placed.repartition(len(shares), "key").mapInArrow(_joined(shares), spark_schema(partition.PAIRS))

    def clusters(self, k: int = 3, rule: str = "first-seen", *, rounds_max: int = ROUNDS_MAX) -> DataFrame:
        """All pages with nearly the same content as another one, and all others, each with its leader.

        It is what `simkeep cluster` says of one store that has all pages: no two leaders are within `k` bits of
        each other, and each other page belongs to the nearest of the leaders that rank before it, by a `rule`
        such as `"https,shortest-url"`. The columns are `url`, `store`, `fingerprint`, `leader` (its URL) and
        `distance`.

        Finds all pairs, and goes through them in rounds, which run at once and are checkpointed;
        `simkeep.LimitError` if pairs are undecided after `rounds_max`. Of each fingerprint it moves the first
        page and all pairs, and at the end each page once.
        """
        _check_k(k)
        _check_count("rounds_max", rounds_max)
        with self._pinned[0].asked() as reader:
            # What is no rule is said at once.
            reader.ranked(rule=rule, epoch=self._pinned[0].epoch).close()
        pages = kept(self._rows().mapInArrow(_ranked(rule), "url string, store string, fingerprint long, rank binary"))
        first = F.min_by(F.struct("rank", "url"), "rank").alias("of")
        nodes = kept(pages.groupBy("fingerprint").agg(first).select("fingerprint", "of.rank", "of.url"))
        left = nodes.select(F.col("fingerprint").alias("left"), F.col("rank").alias("left_rank"))
        right = nodes.select(F.col("fingerprint").alias("right"), F.col("rank").alias("right_rank"))
        ranked = self.pairs(k).join(left, "left").join(right, "right")
        ahead = F.col("left_rank") < F.col("right_rank")
        edges = ranked.select(
            F.when(ahead, F.col("left")).otherwise(F.col("right")).alias("first"),
            F.when(ahead, F.col("right")).otherwise(F.col("left")).alias("second"),
            F.least("left_rank", "right_rank").alias("rank"),
            "distance",
        )
        found, _ = led(edges, rounds_max)
        nearest = F.min(F.struct("distance", "rank", "first")).alias("of")
        follows = found.groupBy(F.col("second").alias("fingerprint")).agg(nearest)
        belongs = nodes.join(follows, "fingerprint", "left").select(
            "fingerprint",
            F.coalesce("of.first", "fingerprint").alias("leads"),
            F.coalesce("of.distance", F.lit(0)).alias("distance"),
        )
        leaders = nodes.select(F.col("fingerprint").alias("leads"), F.col("url").alias("leader"))
        return (
            pages.join(belongs.join(leaders, "leads"), "fingerprint")
            .select("url", "store", "fingerprint", "leader", "distance")
        )

    def pages(self, under: str | None = None) -> DataFrame:
        """All pages of all stores, or those under a prefix, as they are now.

        The columns are `store` and those of `View.scan`. A task reads a range of a store's pages, about as many
        in each.
        """
        return self._table("pages", under)

    def visits(self, under: str | None = None) -> DataFrame:
        """All visits of all pages, or of those under a prefix; what was restated and given stands among them.

        The columns are `store` and those of `View.observations`. A task reads a range of a store's pages, about
        as many in each.
        """
        return self._table("visits", under)

    def copies(self, under: str | None = None) -> DataFrame:
        """The pages whose content another page has as well, byte for byte: `digest`, `url`, `store` and `pages`.

        Pages that are gone do not count; `pages` is how many there are with this content.
        """
        there = self.pages(under).where("digest is not null and not gone").select("digest", "url", "store")
        several = there.groupBy("digest").agg(F.countDistinct("url").alias("pages")).where("pages > 1")
        return there.join(several, "digest")

    def overlaps(self) -> DataFrame:
        """The pages that are in several stores, and so count several times: `url`, and `stores`, their names."""
        each = self.pages().select("url", "store")
        return each.groupBy("url").agg(F.sort_array(F.collect_list("store")).alias("stores")).where("size(stores) > 1")

    def _table(self, table: str, under: str | None) -> DataFrame:
        schema = TABLES[table].schema
        each = max(-(-2 * self._tasks // len(self._pinned)), 1)
        ranges = []
        for store in self._pinned:
            with store.asked() as reader:
                borders = [None, *reader.splits(each, under=under), None]
            ranges += [(store.packed(), start, end) for start, end in zip(borders, borders[1:], strict=False)]
        count = len(ranges)
        rows = [(key, *of) for key, of in zip(keys(count), ranges, strict=True)]
        placed = self._spark.createDataFrame(rows, "key int, store string, start string, end string")
        return placed.repartition(count, "key").mapInArrow(_read(table, under), spark_schema(schema))

    def _rows(self) -> DataFrame:
        """A row for each store, each in a partition of its own."""
        count = len(self._pinned)
        rows = [(key, store.packed()) for key, store in zip(keys(count), self._pinned, strict=True)]
        return self._spark.createDataFrame(rows, "key int, store string").repartition(count, "key")

    def _asked(self, queries: Any) -> DataFrame:
        """Rows of a store and different queries, packed, of which each is for a task."""
        if isinstance(queries, DataFrame):
            if len(queries.columns) != 1:
                named = ", ".join(queries.columns) or "none"
                raise ValueError(f"queries must have one column, of fingerprints; there are {named}")
            name = queries.columns[0]
            kind = dict(queries.dtypes)[name]
            if kind not in ("bigint", "int", "smallint", "tinyint"):
                raise TypeError(f"queries: the column {name} must be of fingerprints as long, not {kind}")
            one = queries.select(F.col(name).cast("long").alias("query")).distinct()
            return self._rows().crossJoin(F.broadcast(one.mapInArrow(_packed, "queries binary")))
        array = partition.fingerprints(queries)
        if not len(array):
            raise ValueError("queries: there are none")
        count = len(self._pinned)
        each = min(max(-(-len(array) * count // (2 * self._tasks)), _SLICE_MIN), _SLICE)
        slices = [(at, array[at : at + each].tobytes()) for at in range(0, len(array), each)]
        tasks = [(at, store.packed()) for at, _ in slices for store in self._pinned]
        rows = [(key, *task) for key, task in zip(keys(len(tasks)), tasks, strict=True)]
        placed = self._spark.createDataFrame(rows, "key int, slice long, store string")
        sliced = self._spark.createDataFrame(slices, "slice long, queries binary")
        return placed.repartition(len(tasks), "key").join(F.broadcast(sliced), "slice")


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(f"k must be an int, not {type(k).__name__}")
    if not 0 <= k <= DISTANCE_MAX:
        raise ValueError(f"k must be from 0 to {DISTANCE_MAX}, not {k}")


def _check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not 1 <= value < 1 << 31:
        raise ValueError(f"{name} must be at least 1, and below 2**31, not {value}")


def _warn_of_chance(count: int, k: int) -> None:
    """Warns if many of so many fingerprints have others within `k` bits that mean nothing."""
    volume = sum(math.comb(64, bits) for bits in range(k + 1))
    neighbours = count * volume / (1 << 64)
    if neighbours > _NEIGHBOURS_MAX:
        what = f"by chance alone, each of {count:,} fingerprints has {neighbours:.2g} others within {k} bits"
        warnings.warn(f"{what}: ask for a smaller distance", stacklevel=3)


def _parallel(spark: SparkSession) -> int:
    """How many tasks run at a time, as far as that is known."""
    return _TASKS if is_remote() else max(spark.sparkContext.defaultParallelism, 1)


def _check_workers(spark: SparkSession) -> None:
    """That a worker has this package, in this version."""
    try:
        (row,) = spark.range(0, 1, 1, 1).mapInArrow(_version, "version string").collect()
    except Exception as error:
        # Errors of Spark are of many classes; what Python lacks there is in their texts alone.
        if not any(word in str(error) for word in ("ModuleNotFoundError", "ImportError", "PYTHON_VERSION_MISMATCH")):
            raise
        what = "a worker of Spark cannot run simkeep: it needs the packages simkeep and pyarrow, in the Python"
        raise RuntimeError(f"{what} that PYSPARK_PYTHON names ({_last(error)})") from error
    if row.version != simkeep.__version__:
        what = f"simkeep is {simkeep.__version__} here, and {row.version} where workers of Spark run"
        raise RuntimeError(f"{what}: they must be the same")


def _last(error: Exception) -> str:
    """What an error of Spark says was wrong in Python."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if "Error:" in line]
    return told[-1] if told else lines[0] if lines else type(error).__name__


# What follows runs in tasks.


def _version(_: _Batches) -> _Batches:
    yield pa.record_batch({"version": [simkeep.__version__]})


def _packed(batches: _Batches) -> _Batches:
    """Queries packed, a slice to a row."""
    held: list[np.ndarray[Any, np.dtype[np.int64]]] = []
    size = 0
    for batch in batches:
        column = batch.column(0)
        if column.null_count:
            raise ValueError("queries: some are null")
        held.append(column.to_numpy(zero_copy_only=False))
        size += len(column)
        if size >= _SLICE:
            yield _slice(held)
            held, size = [], 0
    if size:
        yield _slice(held)


def _slice(held: list[np.ndarray[Any, np.dtype[np.int64]]]) -> pa.RecordBatch:
    return pa.record_batch({"queries": pa.array([np.concatenate(held).tobytes()], pa.binary())})


def _stores(batches: _Batches) -> Iterator[tuple[Pinned, dict[str, Any]]]:
    """Each store of a partition, with the row that it stands in."""
    for batch in batches:
        for row in batch.to_pylist():
            yield Pinned.unpacked(row["store"]), row


def _hits(batches: _Batches, k: int, limit: int | None) -> Iterator[pa.Table]:
    for store, row in _stores(batches):
        queries = np.frombuffer(row["queries"], np.int64)
        with store.asked() as reader:
            yield from partition.near(store.name, reader, queries, k=k, limit=limit, epoch=store.epoch)


def _near(k: int, limit: int | None) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        for hits in _hits(batches, k, limit):
            yield from hits.to_batches()

    return run


def _near_packed(k: int, limit: int, parts: int) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        places = keys(parts)
        for hits in _hits(batches, k, limit):
            for part, some in partition.spread(hits, parts):
                columns = [pa.array([places[part]], pa.int32()), pa.array([partition.packed(some)], pa.binary())]
                yield pa.record_batch(columns, names=["key", "hits"])

    return run


def _merged(limit: int) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        packed = (hits for batch in batches for hits in batch["hits"])
        tables = (partition.unpacked(hits.as_buffer()) for hits in packed)
        yield from partition.merged(tables, limit).to_batches()

    return run


def _tally(k: int, buckets: int) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        for store, _ in _stores(batches):
            with store.asked() as reader:
                tally = reader.tally(k, buckets=buckets, epoch=store.epoch)
            yield pa.record_batch({"tally": pa.array([tally], pa.binary())})

    return run


def _dealt(shares: Shares) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        places = pa.array(keys(len(shares)), pa.int32())
        for store, _ in _stores(batches):
            with store.asked() as reader:
                for hands in partition.dealt(reader, shares, epoch=store.epoch):
                    columns = [places.take(hands["share"]), *hands.columns]
                    yield pa.record_batch(columns, names=["key", *hands.schema.names])

    return run


def _joined(shares: Shares) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        # There is one task in a partition, or few.
        by_share: dict[int, list[pa.RecordBatch]] = {}
        for batch in batches:
            for at, share in enumerate(batch["share"].to_pylist()):
                by_share.setdefault(share, []).append(batch.slice(at, 1))
        for share in sorted(by_share):
            yield from partition.joined(shares, share, by_share.pop(share), threads=1)

    return run


def _ranked(rule: str) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        for store, _ in _stores(batches):
            with store.asked() as reader:
                yield from partition.ranked(store.name, reader, rule, epoch=store.epoch)

    return run


def _read(table: str, under: str | None) -> Callable[[_Batches], _Batches]:
    def run(batches: _Batches) -> _Batches:
        for store, row in _stores(batches):
            with store.asked() as reader:
                yield from TABLES[table].read(store.name, reader, under, row["start"], row["end"])

    return run
