"""Rows on their way from tasks to others, taken apart and packed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa


def spread(hits: pa.Table, parts: int) -> Iterator[tuple[int, pa.Table]]:
    """Takes hits apart by their queries, so that all of a query can be merged in one place.

    The part of a query, below `parts`, depends on nothing else.
    """
    if not hits.num_rows:
        return
    queries = hits["query"].to_numpy().view(np.uint64)
    part = ((queries * np.uint64(0x9E37_79B9_7F4A_7C15)) >> np.uint64(33)) % np.uint64(parts)
    order = np.argsort(part, kind="stable")
    ordered = hits.take(pa.array(order))
    present, begins = np.unique(part[order], return_index=True)
    ends = np.r_[begins[1:], len(part)]
    for number, begin, end in zip(present.tolist(), begins.tolist(), ends.tolist(), strict=True):
        yield number, ordered.slice(begin, end - begin)


def packed(table: pa.Table) -> bytes:
    """A table as bytes, in the format of Arrow's streams."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpacked(packed: Any) -> pa.Table:
    """A table of bytes that `packed` made."""
    return pa.ipc.open_stream(packed).read_all()
