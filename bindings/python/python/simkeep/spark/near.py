"""Pages near fingerprints, in several stores."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import simkeep
from simkeep import partition

from .exchange import SENT, Meeting, Sent, met, sent
from .pinned import Pinned
from .places import Batches, Places, together
from .tables import spark_schema

Queries = NDArray[np.int64]
"""Fingerprints to search for."""

Work = Callable[[Pinned, Queries], Batches]
"""The work of a task on a store and queries."""

Hidden = dict[str, list[str]]
"""The hidden pages, by store name."""

SLICE = 4_000_000
"""The maximum number of queries that go to all machines together, and to a task."""
HIDDEN_MAX = 200_000
"""The maximum number of hidden pages that go to all machines."""
_SLICE_MIN = 1 << 16
"""The minimum number of queries in a slice, if there are enough queries."""
_SEARCHES_MIN = 1 << 18
"""The number of searches for which small pieces share a task: some tenths of a second."""


def near(places: Places, queries: Any, k: int, limit: int | None, hidden: DataFrame | None) -> DataFrame:
    """The pages near each query. `hidden` has pages to ignore, by `store` and `url`."""
    schema = spark_schema(partition.HITS)
    of_store = {} if hidden is None else _by_store(hidden)
    if limit is None or len(places.pinned) == 1:
        return asked(places, queries, _near(k, limit, of_store), schema)
    parts = places.tasks
    hits = asked(places, queries, _near_sent(k, limit, of_store, parts), SENT)
    return met([Sent(hits, partition.HITS)], parts, _merged(limit), schema)


def asked(places: Places, queries: Any, work: Work, schema: str) -> DataFrame:
    """Runs `work` on each store and slice of queries. Queries are distinct and sorted."""
    if isinstance(queries, DataFrame):
        packed = F.broadcast(_packed_of(queries))
        tasks = places.numbers(len(places.pinned)).crossJoin(packed)
        if len(places.pinned) < places.tasks:
            # With enough stores, there is a task for each store with all queries, and no row of queries moves again.
            tasks = tasks.repartition(2 * places.tasks)
        return tasks.mapInArrow(_of_rows(places.pinned, work), schema)
    array = partition.fingerprints(queries)
    if not len(array):
        raise ValueError("queries must not be empty")
    each = slice_of(len(array), len(places.pinned), places.tasks)
    answer: DataFrame | None = None
    for begin in range(0, len(array), SLICE):
        some = array[begin : begin + SLICE]
        pieces = [(store, start) for start in range(0, len(some), each) for store in places.pinned]
        counts = counts_of(len(some), each, len(places.pinned), places.tasks)
        found = places.spread(pieces, counts, _of_slice(some, each, work), schema)
        answer = found if answer is None else answer.unionByName(found)
    assert answer is not None, "there are queries, so there is a slice"
    return answer


def slice_of(queries: int, stores: int, tasks: int) -> int:
    """The number of queries in a slice, chosen so that each concurrent task has two pieces."""
    return min(max(-(-queries * stores // (2 * tasks)), _SLICE_MIN), SLICE)


def counts_of(queries: int, each: int, stores: int, tasks: int) -> list[int]:
    """The number of pieces of each task, if each store gets `queries` queries in slices of `each`."""
    sizes = [min(each, queries - start) for start in range(0, queries, each) for _ in range(stores)]
    return together(sizes, _SEARCHES_MIN, tasks)


def _by_store(hidden: DataFrame) -> Hidden:
    """The hidden pages of each store."""
    found: Hidden = {}
    for row in hidden.limit(HIDDEN_MAX + 1).collect():
        found.setdefault(row.store, []).append(row.url)
    if sum(map(len, found.values())) > HIDDEN_MAX:
        what = f"more than {HIDDEN_MAX:,} pages are in several stores, which is too many for near"
        raise simkeep.LimitError(f'{what}: use overlapping="all", and drop the pages that overlaps() returns')
    return found


def _packed_of(queries: DataFrame) -> DataFrame:
    """The distinct fingerprints of a table with one column, packed, some millions in a row."""
    if len(queries.columns) != 1:
        named = ", ".join(queries.columns) or "none"
        raise ValueError(f"queries must have one column, with fingerprints; its columns are {named}")
    name = queries.columns[0]
    kind = dict(queries.dtypes)[name]
    if kind not in ("bigint", "int", "smallint", "tinyint"):
        raise TypeError(f"queries: the column {name} must have fingerprints of type long, not {kind}")
    one = queries.select(F.col(name).cast("long").alias("query")).distinct()
    return one.mapInArrow(_packed, "queries binary")


# The functions below run in tasks.


def _of_slice(queries: Queries, each: int, work: Work) -> Callable[[tuple[Pinned, int]], Batches]:
    def run(piece: tuple[Pinned, int]) -> Batches:
        store, start = piece
        yield from work(store, queries[start : start + each])

    return run


def _of_rows(stores: tuple[Pinned, ...], work: Work) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for batch in batches:
            for row in batch.to_pylist():
                yield from work(stores[row["id"]], np.frombuffer(row["queries"], np.int64))

    return run


def _packed(batches: Batches) -> Batches:
    """Packs queries, one slice in a row."""
    held: list[Queries] = []
    size = 0
    for batch in batches:
        column = batch.column(0)
        if column.null_count:
            raise ValueError("queries: some fingerprints are null")
        held.append(column.to_numpy(zero_copy_only=False))
        size += len(column)
        if size >= SLICE:
            yield _slice(held)
            held, size = [], 0
    if size:
        yield _slice(held)


def _slice(held: list[Queries]) -> pa.RecordBatch:
    return pa.record_batch({"queries": pa.array([np.concatenate(held).tobytes()], pa.binary())})


def _hits(store: Pinned, queries: Queries, k: int, limit: int | None, hidden: Hidden) -> Iterator[pa.Table]:
    with store.asked() as reader:
        yield from partition.near(
            store.name,
            reader,
            queries,
            k=k,
            limit=limit,
            epoch=store.epoch,
            hidden=hidden.get(store.name, ()),
            threads=1,
        )


def _near(k: int, limit: int | None, hidden: Hidden) -> Work:
    def run(store: Pinned, queries: Queries) -> Batches:
        for hits in _hits(store, queries, k, limit, hidden):
            yield from hits.to_batches()

    return run


def _near_sent(k: int, limit: int, hidden: Hidden, parts: int) -> Work:
    def run(store: Pinned, queries: Queries) -> Batches:
        return sent(_hits(store, queries, k, limit, hidden), "query", parts)

    return run


def _merged(limit: int) -> Meeting:
    def run(_: list[pa.Table], hits: Iterator[pa.Table]) -> Batches:
        yield from partition.merged(hits, limit).to_batches()

    return run
