"""Moves rows between tasks as packed blobs, so that Spark moves a few rows instead of millions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from simkeep import partition

from .keys import keys
from .places import Batches

SENT = "key int, rows binary"
"""The columns of blobs in an exchange."""

BLOB_BYTES = 4 << 20
"""The approximate maximum number of bytes of rows in a blob."""
_BLOB_BYTES_MIN = 64 << 10
"""The minimum number of bytes of a blob, if a task can buffer that many bytes for every part."""
_SENT_BYTES = 16 << 20
"""The number of bytes of rows that a task splits at a time; up to eight times as many for very many parts."""

Meeting = Callable[[list[pa.Table], Iterator[pa.Table]], Batches]
"""The work of a task: it gets some tables in full, and one table as a stream of parts."""


class Sent(NamedTuple):
    """Rows in an exchange."""

    blobs: DataFrame
    """A table with the columns of `SENT`."""
    schema: pa.Schema
    """The schema of the rows."""


def met(kinds: Sequence[Sent], parts: int, work: Meeting, schema: str) -> DataFrame:
    """Runs `work` on each part, where rows of several kinds that were `sent` to `parts` parts meet.

    A task gets all rows of a part. The rows of the last kind arrive as a stream; the rows of the other kinds are in
    memory.
    """
    labelled = [of.blobs.withColumn("kind", F.lit(kind)) for kind, of in enumerate(kinds)]
    all_blobs = labelled[0]
    for blobs in labelled[1:]:
        all_blobs = all_blobs.unionByName(blobs)
    placed = all_blobs.repartition(parts, "key")
    if len(kinds) > 1:
        placed = placed.sortWithinPartitions("kind")
    return placed.mapInArrow(_met([of.schema for of in kinds], work), schema)


# The functions below run in tasks.


def of_rows(rows: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    """Casts batches of Spark to a schema, since Spark's types may be wider, and all columns of Spark are nullable."""
    return (pa.Table.from_batches([batch]).cast(schema) for batch in rows)


def sent(tables: Iterable[pa.Table | pa.RecordBatch], by: str, parts: int) -> Batches:
    """Packs rows into blobs. Rows with the same fingerprint in the column `by` go to the same part."""
    places = keys(parts)
    # For more parts, more rows are split at once, so that blobs are not tiny.
    at_once = min(max(parts * _BLOB_BYTES_MIN, _SENT_BYTES), 8 * _SENT_BYTES)
    for table in partition.gathered(tables, at_once):
        for part, rows in partition.spread(table, parts, by):
            each = max(rows.num_rows * BLOB_BYTES // max(rows.nbytes, 1), 1)
            for start in range(0, rows.num_rows, each):
                blob = partition.packed(rows.slice(start, each))
                columns = [pa.array([places[part]], pa.int32()), pa.array([blob], pa.binary())]
                yield pa.record_batch(columns, names=["key", "rows"])


def _met(schemas: Sequence[pa.Schema], work: Meeting) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        *first, _ = schemas
        held = [[schema.empty_table()] for schema in first]
        blobs, begun = _blobs(batches), []
        for kind, rows in blobs:
            if kind == len(first):
                begun.append(rows)
                break
            held[kind].append(rows)
        # This statement empties `held`, so that `work` can free tables that it has sorted.
        whole = [pa.concat_tables(held.pop(0)) for _ in first]
        return work(whole, chain(begun, _of(blobs, len(first))))

    return run


def _blobs(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    for batch in batches:
        for kind, rows in zip(batch["kind"].to_pylist(), batch["rows"], strict=True):
            yield kind, partition.unpacked(rows.as_buffer())


def _of(blobs: Iterator[tuple[int, pa.Table]], last: int) -> Iterator[pa.Table]:
    for kind, rows in blobs:
        if kind != last:
            raise AssertionError(f"rows of kind {kind} came after some of kind {last}")
        yield rows
