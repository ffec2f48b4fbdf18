"""What goes from tasks to others: as blobs of rows, so that Spark moves few rows and not millions."""

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
"""The columns of blobs on their way."""

BLOB_BYTES = 4 << 20
"""How many bytes of rows go in one blob, at most, about."""
_BLOB_BYTES_MIN = 64 << 10
"""How many bytes are to go in one at least, as far as a task may hold so many for all parts."""
_SENT_BYTES = 16 << 20
"""How many bytes of rows a task takes apart at a time; up to eight times as many for very many parts."""

Meeting = Callable[[list[pa.Table], Iterator[pa.Table]], Batches]
"""What a task does with what it needs all of, and with what comes after that, some rows at a time."""


class Sent(NamedTuple):
    """Rows on their way."""

    blobs: DataFrame
    """The columns are those of `SENT`."""
    schema: pa.Schema
    """That of the rows."""


def met(kinds: Sequence[Sent], parts: int, work: Meeting, schema: str) -> DataFrame:
    """What comes of some work where rows of several kinds meet that were `sent` to so many parts.

    A task has all rows of a part. It holds those of all kinds but the last, of which it has some at a time.
    """
    labelled = [of.blobs.withColumn("kind", F.lit(kind)) for kind, of in enumerate(kinds)]
    all_blobs = labelled[0]
    for blobs in labelled[1:]:
        all_blobs = all_blobs.unionByName(blobs)
    placed = all_blobs.repartition(parts, "key")
    if len(kinds) > 1:
        placed = placed.sortWithinPartitions("kind")
    return placed.mapInArrow(_met([of.schema for of in kinds], work), schema)


# What follows runs in tasks.


def of_rows(rows: Batches, schema: pa.Schema) -> Iterator[pa.Table]:
    """What Spark has as rows, in this schema: its own types may be wider, and all its columns take nulls."""
    return (pa.Table.from_batches([batch]).cast(schema) for batch in rows)


def sent(tables: Iterable[pa.Table | pa.RecordBatch], by: str, parts: int) -> Batches:
    """Rows in blobs, those of a fingerprint in the column `by` to the same part, whatever else they have."""
    places = keys(parts)
    # So many at once that blobs are not tiny, however many parts there are.
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
        # Nothing is held here any more, so that the work can free what it puts in order.
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
