"""The tables of stores: their columns, and functions to read a range of a table."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from simkeep import Reader, Stream

from .filters import Filter
from .hosts import hosts
from .ranges import Range

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
    host=pa.string(),
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
    etag=pa.binary(),
    target=pa.string(),
)
"""The columns of pages: `store`, `host` and those of `View.scan`, with epochs by name."""

VISITS = _schema(
    store=pa.string(),
    url=pa.string(),
    host=pa.string(),
    at=_TIME,
    seen=pa.string(),
    fingerprint=pa.int64(),
    epoch=pa.string(),
    digest=pa.binary(),
    status=pa.int32(),
    modified=_TIME,
    bytes=pa.int64(),
    conditional=pa.bool_(),
    weight=pa.float64(),
    class_=pa.int64(),
    etag=pa.binary(),
    target=pa.string(),
)
"""The columns of visits: `store`, `host` and those of `View.observations`."""


TABLES = {"pages": PAGES, "visits": VISITS}
"""The columns of each table."""


def spark_schema(schema: pa.Schema) -> str:
    """The columns as a schema string of Spark."""
    return ", ".join(f"{field.name} {_NAMES[field.type]}" for field in schema)


def rows(
    table: str,
    name: str,
    reader: Reader,
    columns: list[str],
    filters: list[Filter],
    under: str | None,
    of: Range,
) -> Iterator[pa.RecordBatch]:
    """Reads rows of a table of a store, in a range of URLs and under a prefix."""
    schema = TABLES[table]
    wanted = pa.schema([schema.field(column) for column in columns])
    known = {info.epoch: info.name for info in reader.epochs()}
    epochs = pa.array(known.keys(), pa.int64()), pa.array(known.values(), pa.string())

    def column(named: str, batch: pa.RecordBatch) -> pa.Array:
        if named == "store":
            return pa.repeat(name, batch.num_rows)
        if named == "host":
            return hosts(batch["url"])
        if named == "epoch":
            return epochs[1].take(pc.index_in(batch["epoch"], epochs[0]))
        return batch[named].cast(schema.field(named).type)

    read: Callable[..., Stream[Any]] = reader.scan if table == "pages" else reader.observations
    with read(under, start=of.start, end=of.end) as stream:
        for batch in pa.RecordBatchReader.from_stream(stream.batches(signed=True)):
            for one in filters:
                batch = batch.filter(one.rows(column(one.column, batch)))
            if batch.num_rows:
                yield pa.record_batch([column(named, batch) for named in columns], schema=wanted)
