"""Splits and packs rows that tasks send to other tasks."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa


def spread(table: pa.Table, parts: int, by: str = "query") -> Iterator[tuple[int, pa.Table]]:
    """Partitions rows by a column of fingerprints, so that all rows of a fingerprint meet in one part.

    The part is a number below `parts`, and a function of the fingerprint alone. Rows of a part stay in order.
    """
    if not table.num_rows:
        return
    numbers = table[by].to_numpy().view(np.uint64)
    part = ((numbers * np.uint64(0x9E37_79B9_7F4A_7C15)) >> np.uint64(33)) % np.uint64(parts)
    if (part == part[0]).all():
        yield int(part[0]), table
        return
    order = np.argsort(part, kind="stable")
    ordered = table.take(pa.array(order))
    present, begins = np.unique(part[order], return_index=True)
    ends = np.r_[begins[1:], len(part)]
    for number, begin, end in zip(present.tolist(), begins.tolist(), ends.tolist(), strict=True):
        yield number, ordered.slice(begin, end - begin)


def packed(table: pa.Table) -> bytes:
    """Serializes a table in the Arrow stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpacked(packed: Any) -> pa.Table:
    """Deserializes a table that `packed` made."""
    return pa.ipc.open_stream(packed).read_all()


def gathered(tables: Iterable[pa.Table | pa.RecordBatch], memory_bytes: int = 64 << 20) -> Iterator[pa.Table]:
    """Concatenates small tables to tables of about `memory_bytes`, so that their parts are not tiny."""
    held: list[pa.Table] = []
    size = 0
    for table in tables:
        held.append(table if isinstance(table, pa.Table) else pa.Table.from_batches([table]))
        size += table.nbytes
        if size >= memory_bytes:
            yield pa.concat_tables(held)
            held, size = [], 0
    if held:
        yield pa.concat_tables(held)
