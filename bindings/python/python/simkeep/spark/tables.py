"""What stores hold, as tables: which columns, and how a range of them is read."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from simkeep import Reader, Stream

_TIME = pa.timestamp("us", "UTC")
_NAMES = {
    pa.int64(): "long",
    pa.int32(): "int",
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.binary(): "binary",
    pa.float64(): "double",
    _TIME: "timestamp",
}


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


PAGES = _schema(
    store=pa.string(),
    url=pa.string(),
    visits=pa.int64(),
    first=_TIME,
    last=_TIME,
    status=pa.int32(),
    gone=pa.bool_(),
    fingerprint=pa.int64(),
    epoch=pa.string(),
    digest=pa.binary(),
    content_seen=_TIME,
    modified=_TIME,
    weight=pa.float64(),
    class_=pa.int64(),
)
"""The columns of pages. An epoch is told by its name, since each store numbers its own."""

VISITS = _schema(
    store=pa.string(),
    url=pa.string(),
    at=_TIME,
    seen=pa.string(),
    fingerprint=pa.int64(),
    epoch=pa.string(),
    digest=pa.binary(),
    status=pa.int32(),
    modified=_TIME,
    weight=pa.float64(),
    class_=pa.int64(),
)
"""The columns of visits."""


class Table(NamedTuple):
    """One of the tables."""

    schema: pa.Schema
    """Its columns."""
    read: Callable[[str, Reader, str | None, str | None, str | None], Iterator[pa.RecordBatch]]
    """The rows of a store of this name, under a prefix, from one URL on and before another one."""


def spark_schema(schema: pa.Schema) -> str:
    """The columns as Spark names their types."""
    return ", ".join(f"{field.name} {_NAMES[field.type]}" for field in schema)


def _pages(
    name: str, reader: Reader, under: str | None, start: str | None, end: str | None
) -> Iterator[pa.RecordBatch]:
    with reader.scan(under, start=start, end=end) as pages:
        yield from _named(name, reader, pages, PAGES)


def _visits(
    name: str, reader: Reader, under: str | None, start: str | None, end: str | None
) -> Iterator[pa.RecordBatch]:
    with reader.observations(under, start=start, end=end) as visits:
        yield from _named(name, reader, visits, VISITS)


def _named(name: str, reader: Reader, rows: Stream[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows with the names of the store and of epochs, in the types that Spark knows."""
    known = {info.epoch: info.name for info in reader.epochs()}
    numbers, names = pa.array(known.keys(), pa.int64()), pa.array(known.values(), pa.string())
    for batch in pa.RecordBatchReader.from_stream(rows.batches(signed=True)):
        columns = [pa.repeat(name, batch.num_rows)]
        for field in schema:
            if field.name == "epoch":
                columns.append(names.take(pc.index_in(batch["epoch"], numbers)))
            elif field.name != "store":
                columns.append(batch[field.name].cast(field.type))
        yield pa.record_batch(columns, schema=schema)


TABLES = {"pages": Table(PAGES, _pages), "visits": Table(VISITS, _visits)}
"""The tables by their names."""
