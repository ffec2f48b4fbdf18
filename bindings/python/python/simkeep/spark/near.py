"""Pages near fingerprints, over several stores."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import simkeep
from simkeep import partition

from .keys import keys
from .pinned import Pinned
from .places import Batches, Places, stores_of
from .tables import spark_schema

Queries = NDArray[np.int64]
"""Fingerprints that are asked for."""

Work = Callable[[Pinned, Queries, list[str]], Iterator[pa.RecordBatch]]
"""What a task does with a store, queries, and the pages of the store that do not count."""

SLICE = 4_000_000
"""How many queries go to all machines at a time, and to a task at most."""
HIDDEN_MAX = 1_000_000
"""How many pages that do not count are sent to all machines."""
_SLICE_MIN = 1 << 16
"""How many queries go to a task, if there are as many."""


def near(places: Places, queries: Any, k: int, limit: int | None, hidden: DataFrame | None) -> DataFrame:
    """The pages near each query. `hidden` are pages of a store that do not count: `store` and `url`."""
    schema = spark_schema(partition.HITS)
    if limit is None or len(places.pinned) == 1:
        return asked(places, queries, _near(k, limit), schema, hidden)
    parts = places.tasks
    placed = asked(places, queries, _near_packed(k, limit, parts), "key int, hits binary", hidden)
    return placed.repartition(parts, "key").mapInArrow(_merged(limit), schema)


def asked(places: Places, queries: Any, work: Work, schema: str, hidden: DataFrame | None = None) -> DataFrame:
    """What comes of some work with each store and slice of queries: different fingerprints, in order."""
    if isinstance(queries, DataFrame):
        return _of_rows(places, _packed_of(queries), hidden).mapInArrow(_asking(work, None), schema)
    array = partition.fingerprints(queries)
    if not len(array):
        raise ValueError("queries: there are none")
    each = min(max(-(-len(array) * len(places.pinned) // (2 * places.tasks)), _SLICE_MIN), SLICE)
    answer: DataFrame | None = None
    for begin in range(0, len(array), SLICE):
        # They go along with the function that is run: no row and no join is needed to bring them.
        some = array[begin : begin + SLICE]
        starts = range(0, len(some), each)
        rows = [(store.packed(), start, min(start + each, len(some))) for start in starts for store in places.pinned]
        tasks = _with_hidden(places.spread(rows, "store string, start int, end int"), hidden)
        found = tasks.mapInArrow(_asking(work, some), schema)
        answer = found if answer is None else answer.unionByName(found)
    assert answer is not None, "there are queries, so there is a slice"
    return answer


def _packed_of(queries: DataFrame) -> DataFrame:
    """The different fingerprints of a table of one column, packed, some millions to a row."""
    if len(queries.columns) != 1:
        named = ", ".join(queries.columns) or "none"
        raise ValueError(f"queries must have one column, of fingerprints; there are {named}")
    name = queries.columns[0]
    kind = dict(queries.dtypes)[name]
    if kind not in ("bigint", "int", "smallint", "tinyint"):
        raise TypeError(f"queries: the column {name} must be of fingerprints as long, not {kind}")
    one = queries.select(F.col(name).cast("long").alias("query")).distinct()
    return one.mapInArrow(_packed, "queries binary")


def _of_rows(places: Places, queries: DataFrame, hidden: DataFrame | None) -> DataFrame:
    """A row for each store and row of queries."""
    tasks = _with_hidden(places.rows(), hidden).crossJoin(F.broadcast(queries))
    if len(places.pinned) >= places.tasks:
        # A task for each store asks it for all of them, and no row of queries moves once more.
        return tasks
    return tasks.repartition(2 * places.tasks)


def _with_hidden(tasks: DataFrame, hidden: DataFrame | None) -> DataFrame:
    """Each row with the pages of its store that do not count."""
    if hidden is None:
        return tasks
    if (count := hidden.count()) > HIDDEN_MAX:
        what = f"{count:,} pages are in several stores, and near takes up to {HIDDEN_MAX:,} that do not count"
        raise simkeep.LimitError(f'{what}: ask with overlapping="all", and drop what overlaps() names')
    of_store = hidden.groupBy(F.col("store").alias("name")).agg(F.collect_list("url").alias("hidden"))
    name = F.get_json_object("store", "$[0]")
    return tasks.join(F.broadcast(of_store), name == F.col("name"), "left").drop("name")


# What follows runs in tasks.


def _asking(work: Work, queries: Queries | None) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for store, row in stores_of(batches):
            if queries is None:
                some = np.frombuffer(row["queries"], np.int64)
            else:
                some = queries[row["start"] : row["end"]]
            yield from work(store, some, row.get("hidden") or [])

    return run


def _packed(batches: Batches) -> Batches:
    """Queries packed, a slice to a row."""
    held: list[Queries] = []
    size = 0
    for batch in batches:
        column = batch.column(0)
        if column.null_count:
            raise ValueError("queries: some are null")
        held.append(column.to_numpy(zero_copy_only=False))
        size += len(column)
        if size >= SLICE:
            yield _slice(held)
            held, size = [], 0
    if size:
        yield _slice(held)


def _slice(held: list[Queries]) -> pa.RecordBatch:
    return pa.record_batch({"queries": pa.array([np.concatenate(held).tobytes()], pa.binary())})


def _hits(store: Pinned, queries: Queries, hidden: list[str], k: int, limit: int | None) -> Iterator[pa.Table]:
    with store.asked() as reader:
        yield from partition.near(
            store.name, reader, queries, k=k, limit=limit, epoch=store.epoch, hidden=hidden, threads=1
        )


def _near(k: int, limit: int | None) -> Work:
    def run(store: Pinned, queries: Queries, hidden: list[str]) -> Iterator[pa.RecordBatch]:
        for hits in _hits(store, queries, hidden, k, limit):
            yield from hits.to_batches()

    return run


def _near_packed(k: int, limit: int, parts: int) -> Work:
    def run(store: Pinned, queries: Queries, hidden: list[str]) -> Iterator[pa.RecordBatch]:
        places = keys(parts)
        for hits in _hits(store, queries, hidden, k, limit):
            for part, some in partition.spread(hits, parts):
                columns = [pa.array([places[part]], pa.int32()), pa.array([partition.packed(some)], pa.binary())]
                yield pa.record_batch(columns, names=["key", "hits"])

    return run


def _merged(limit: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        packed = (hits for batch in batches for hits in batch["hits"])
        tables = (partition.unpacked(hits.as_buffer()) for hits in packed)
        yield from partition.merged(tables, limit).to_batches()

    return run
