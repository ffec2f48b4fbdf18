"""Pairs of fingerprints near each other: of a join that is shared out, or by searches."""

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
"""The columns of fingerprints on their way to the tasks of a join."""

PAIRS = pa.schema(
    [
        pa.field("left", pa.int64(), nullable=False),
        pa.field("right", pa.int64(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
    ]
)
"""The columns of pairs of fingerprints."""

_ROWS = 1 << 20
"""How many pairs are held, beyond twice what is left of all."""


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

    `epoch` is to be what `View.histogram` was asked with. A chunk has up to `chunk_bytes`, and less where chunks for
    all tasks together would take more than `memory_bytes`. Costs a read of all fingerprints, and some
    nanoseconds for each of them and each of `k + 1` parts, on as many `threads` (as there are cores).
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
    """The pairs of one task of a join among what all stores sent to it: batches of `PAIRS`.

    Each pair of different fingerprints comes once from all tasks together, the smaller one first, as unsigned
    numbers. Takes at most 24 bytes of memory for each fingerprint, plus `memory_bytes`.
    """
    pieces: tuple[list[Any], list[Any]] = ([], [])
    for batch in chunks:
        columns = zip(batch["task"], batch["second"], batch["chunk"], strict=True)
        for of, second, chunk in columns:
            if of.as_py() != task:
                raise ValueError(f"chunks: one is for task {of}, not {task}")
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
    """The pairs of some fingerprints with different ones that pages of one store have: batches of `PAIRS`.

    Each comes once for each of the given that is in it, the smaller one first, as unsigned numbers. Costs a search
    for each, on as many `threads` (as there are cores).
    """
    with view.pairs_with(fingerprints, k, epoch=epoch, threads=threads) as pairs:
        yield from pa.RecordBatchReader.from_stream(pairs.batches(signed=True)).cast(PAIRS)


def capped(pairs: Iterable[pa.RecordBatch], limit: int) -> pa.Table:
    """What is needed of some pairs to know the first `limit` of each fingerprint among all: a table of `PAIRS`.

    The pairs of a fingerprint are in order of their distances, then of the other fingerprint as an unsigned number.
    Of each there are the first `limit` and one more, which says that there are more, and with them what others
    need. So what is left of several parts of all pairs comes to what is left of all. Each pair is to be there once.
    Takes memory for what is left, and for some more.
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
    # Each pair is one of both of its fingerprints.
    mine, other = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.lexsort((other, np.concatenate([distance, distance]), mine))
    first = np.empty(len(mine), bool)
    first[order] = place_among_equals(mine[order]) <= limit
    needed = first[: len(left)] | first[len(left) :]
    return table.filter(pa.array(needed))
