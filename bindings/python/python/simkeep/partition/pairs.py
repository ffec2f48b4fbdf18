"""Pairs of near fingerprints, from a distributed join or from searches."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import JoinPlan, View
from .order import place_among_equals

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = pa.schema(
    [
        pa.field("task", pa.int32(), nullable=False),
        pa.field("second", pa.bool_(), nullable=False),
        pa.field("chunk", pa.binary(), nullable=False),
    ]
)
"""The columns of chunks of fingerprints for the tasks of a join."""

PAIRS = pa.schema(
    [
        pa.field("left", pa.int64(), nullable=False),
        pa.field("right", pa.int64(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
    ]
)
"""The columns of pairs of fingerprints."""

_ROWS = 1 << 20
"""The number of pairs to buffer, in addition to twice the reduced pairs."""


def chunks(
    view: View,
    plan: JoinPlan,
    *,
    chunk_bytes: int = 4 << 20,
    memory_bytes: int = 256 << 20,
    epoch: int | None = None,
    threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The fingerprints of one store, partitioned among the tasks of a join: batches of `CHUNKS`, one row each.

    `epoch` must equal the argument of `View.histogram`. A chunk has up to `chunk_bytes`; chunks are smaller if the
    chunks for all tasks would take more than `memory_bytes`. Costs a read of all fingerprints, and some nanoseconds for
    each fingerprint and each of `k + 1` parts, on `threads` threads (one for each core).
    """
    each = min(chunk_bytes, max(memory_bytes // max(len(plan), 1), 8 << 10))
    with view.partition(plan, chunk_bytes=each, epoch=epoch, threads=threads) as chunks:
        for task, second, chunk in chunks:
            columns = [pa.array([task], pa.int32()), pa.array([second]), pa.array([chunk], pa.binary())]
            yield pa.record_batch(columns, schema=CHUNKS)


def joined(
    plan: JoinPlan,
    task: int,
    chunks: Iterable[pa.RecordBatch | pa.Table],
    *,
    memory_bytes: int = 256 << 20,
    threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The pairs of one task of a join, among the fingerprints that all stores sent to it: batches of `PAIRS`.

    All tasks together return each pair of different fingerprints once. The smaller fingerprint, as an unsigned number,
    comes first. Takes at most 24 bytes of memory for each fingerprint, plus `memory_bytes`.
    """
    pieces: tuple[list[Any], list[Any]] = ([], [])
    for batch in chunks:
        columns = zip(batch["task"], batch["second"], batch["chunk"], strict=True)
        for of, second, chunk in columns:
            if of.as_py() != task:
                raise ValueError(f"chunks: a chunk is for task {of}, not for task {task}")
            pieces[second.as_py()].append(memoryview(chunk.as_buffer()).cast("B"))
    first, second = pieces
    with plan.join(task, first, second, memory_bytes=memory_bytes, threads=threads) as pairs:
        yield from pa.RecordBatchReader.from_stream(pairs.batches(signed=True)).cast(PAIRS)


def pairs_with(
    view: View,
    fingerprints: "NDArray[np.int64]",
    *,
    k: int,
    epoch: int | None = None,
    threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The pairs of a given fingerprint and a different fingerprint of a page of one store: batches of `PAIRS`.

    A pair is returned once for each of its fingerprints that is in `fingerprints`. The smaller fingerprint, as an
    unsigned number, comes first. Costs a search for each fingerprint, on `threads` threads (one for each core).
    """
    with view.pairs_with(fingerprints, k, epoch=epoch, threads=threads) as pairs:
        yield from pa.RecordBatchReader.from_stream(pairs.batches(signed=True)).cast(PAIRS)


def capped(pairs: Iterable[pa.RecordBatch], limit: int) -> pa.Table:
    """The pairs that determine the first `limit` pairs of each fingerprint: a table of `PAIRS`.

    The pairs of a fingerprint are in order of their distances, then of the other fingerprint as an unsigned number. The
    result has the first `limit` pairs of each fingerprint, one more pair, which shows that there are more, and the
    pairs that the other fingerprint needs. Results for parts of the pairs may be combined: `capped` of these results is
    `capped` of all pairs. Each pair must occur once. Takes memory for the result, and for some more pairs.
    """
    held, rows, left = [PAIRS.empty_table()], 0, 0
    for batch in pairs:
        held.append(pa.Table.from_batches([batch]))
        rows += batch.num_rows
        if rows > 2 * left + _ROWS:
            held = [_first(pa.concat_tables(held), limit)]
            rows = left = held[0].num_rows
    return _first(pa.concat_tables(held), limit)


def _first(pairs: pa.Table, limit: int) -> pa.Table:
    table = pairs.combine_chunks()
    left, right = (table[side].to_numpy().view(np.uint64) for side in ("left", "right"))
    distance = table["distance"].to_numpy()
    # Each pair counts for both of its fingerprints.
    mine, other = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.lexsort((other, np.concatenate([distance, distance]), mine))
    first = np.empty(len(mine), bool)
    first[order] = place_among_equals(mine[order]) <= limit
    needed = first[: len(left)] | first[len(left) :]
    return table.filter(pa.array(needed))
