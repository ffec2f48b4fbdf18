"""The work on a part of many stores, from Arrow to Arrow: for Spark, Ray, Daft, DuckDB or a loop.

A crawl that has outgrown one machine has several stores. What is asked of all of them is asked of each by
itself, wherever it lies, and what they answer is put together. Each function here is one of these steps. It
is a function of its arguments, so it can be run again, and it knows nothing of what runs it.

Pages near fingerprints:

    hits = [table for name, reader in stores for table in near(name, reader, queries, k=3, limit=16)]
    answer = merged(hits, limit=16)

Pairs of fingerprints, each once, wherever the two are:

    shares = simkeep.Shares([reader.tally(3) for _, reader in stores], ranges=8, most=8_000_000)
    hands = [hand for _, reader in stores for hand in dealt(reader, shares)]
    for share in range(len(shares)):
        mine = [hand for hand in hands if hand["share"][0].as_py() == share]
        for pairs in joined(shares, share, mine): ...

Fingerprints are `int64`, bit for bit: few engines have unsigned numbers. Needs pyarrow and numpy.
"""

import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import Answers, Shares, View, surt_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

HITS = pa.schema(
    [
        pa.field("query", pa.int64(), nullable=False),
        pa.field("store", pa.string(), nullable=False),
        pa.field("url", pa.string(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
        pa.field("fingerprint", pa.int64(), nullable=False),
        pa.field("complete", pa.bool_(), nullable=False),
    ]
)
"""The columns of pages near queries."""

HANDS = pa.schema(
    [
        pa.field("share", pa.int32(), nullable=False),
        pa.field("second", pa.bool_(), nullable=False),
        pa.field("hand", pa.binary(), nullable=False),
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

_QUERIES = 1 << 16
"""How many queries are searched for at a time."""

_QUERIES_MIN = 1 << 10
"""How many are searched for at first, if nothing is known of how much they find."""

_ROWS = 1 << 20
"""How many hits are held: of some searches, and beyond twice what is left of all."""


def near(
    name: str,
    view: View,
    queries: "NDArray[np.int64]",
    *,
    k: int,
    limit: int | None = 16,
    epoch: int | None = None,
    hidden: Iterable[str] = (),
    threads: int | None = None,
) -> Iterator[pa.Table]:
    """The pages of one store near each of many fingerprints: tables of `HITS`.

    `name` is that of the store in the column `store`. Of each query there are up to `limit` pages, the nearest
    first, then in SURT order. `complete` says whether there are no more in this store; if there are, and many are
    equally far, which of those are named is as `Matches` says of one search. Pages that are `hidden`, by their
    URLs, do not count: they are other ones by now, in another store. Costs some tenths of a microsecond for
    each query, on as many `threads` (as there are cores), and some microseconds for each page that is found.
    """
    gone = pa.array(hidden, pa.string())

    def search(some: "NDArray[np.int64]", limit: int | None) -> _Found:
        found, complete = _found(view.near_batch(some, k, limit=limit, epoch=epoch, threads=threads))
        named = np.bincount(found["query"].to_numpy(), minlength=len(some))
        # Which of them are sure to be the nearest: a crowd may hide any, if there are fewer than were asked for.
        sure = complete if limit is None else complete | (named >= limit)
        if len(gone):
            found = found.filter(pc.invert(pc.is_in(found["url"], gone)))
        return _Found(found, complete, sure, np.bincount(found["query"].to_numpy(), minlength=len(some)))

    start, count = 0, _QUERIES_MIN if limit is None else min(max(_ROWS // limit, 1), _QUERIES)
    while start < len(queries):
        some = queries[start : start + count]
        start += len(some)
        of = search(some, limit)
        found, complete = of.pages, of.complete
        # As many as find about so many pages, if the next ones are like these.
        count = min(max(_ROWS * len(some) // max(found.num_rows, 1), 1), 2 * count, _QUERIES)
        if limit is not None:
            # Cut short, with fewer than were asked for: what was left out is looked for among more.
            short = np.flatnonzero(~(complete | of.sure & (of.left >= limit)))
            tables = [found.filter(pa.array(~np.isin(found["query"], short)))] if len(short) else [found]
            wider: int | None = limit
            while len(short):
                wider = 8 * wider if wider is not None and wider < _ROWS // 64 else None
                again = []
                for at in range(0, len(short), each := max(_ROWS // (wider or _ROWS), 1)):
                    these = short[at : at + each]
                    of = search(some[these], wider)
                    done = of.complete | of.sure & (of.left >= limit)
                    complete[these] = of.complete & (of.left <= limit)
                    which = of.pages["query"].to_numpy()
                    best = of.pages.filter(pa.array(done[which] & (_rank(which) < limit)))
                    tables.append(best.set_column(0, found.schema.field("query"), pa.array(these).take(best["query"])))
                    again.append(these[~done])
                short = np.concatenate(again)
            found = pa.concat_tables(tables)
        if found.num_rows:
            at = found["query"]
            columns = [
                pa.array(some).take(at),
                pa.repeat(name, found.num_rows),
                found["url"],
                found["distance"],
                found["fingerprint"],
                pa.array(complete).take(at),
            ]
            yield pa.table(columns, schema=HITS)


class _Found(NamedTuple):
    """What was found of some queries."""

    pages: pa.Table
    complete: "NDArray[np.bool_]"
    """Whether there are no more, of each query."""
    sure: "NDArray[np.bool_]"
    """Whether these are the nearest, of each query."""
    left: "NDArray[np.int64]"
    """How many there are that count, of each query."""


def _found(answers: Answers) -> tuple[pa.Table, "NDArray[np.bool_]"]:
    """The pages that were found, and whether they are all of each query."""
    found = pa.RecordBatchReader.from_stream(answers.batches(signed=True)).read_all()
    complete = pa.RecordBatchReader.from_stream(answers.queries()).read_all()["complete"]
    return found, np.array(complete)


def _rank(groups: "NDArray[Any]") -> "NDArray[np.int64]":
    """The place of each among neighbours that are equal, counted from 0."""
    if not len(groups):
        return np.empty(0, np.int64)
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    lengths = np.diff(np.r_[begins, len(groups)])
    return np.arange(len(groups)) - np.repeat(begins, lengths)


def merged(hits: Iterable[pa.Table], limit: int | None) -> pa.Table:
    """The pages of several stores near each of many fingerprints, from those of each of them.

    They are tables of `HITS` that `near` made with the same limit, of any of its queries and of all stores. Of each
    query up to `limit` pages are left: the nearest, then the first in SURT order. `complete` says whether these are
    all. Takes memory for what is left, and for some more.
    """
    held, rows, left = [HITS.empty_table()], 0, 0
    for table in hits:
        held.append(table)
        rows += table.num_rows
        if rows > 2 * left + _ROWS:
            held = [_best(pa.concat_tables(held), limit)]
            rows = left = held[0].num_rows
    return _best(pa.concat_tables(held), limit)


def _best(hits: pa.Table, limit: int | None) -> pa.Table:
    table = hits.combine_chunks()
    if limit is None or not table.num_rows:
        return table
    queries = table["query"].to_numpy()
    _, which, count = np.unique(queries, return_inverse=True, return_counts=True)
    cut = ~table["complete"].to_numpy()
    # A store that has more of them has as many as the limit.
    incomplete = np.bincount(which, weights=cut).astype(bool) | (count > limit)
    table = table.set_column(5, HITS.field("complete"), pa.array(~incomplete[which]))
    many = (count > limit)[which]
    if not many.any():
        return table
    crowded = table.filter(pa.array(many))
    order = crowded.append_column(
        "surt", pa.array([surt_key(url) for url in crowded["url"].to_pylist()], pa.binary())
    ).append_column("at", pa.array(np.arange(crowded.num_rows)))
    keys = [("query", "ascending"), ("distance", "ascending"), ("surt", "ascending"), ("url", "ascending")]
    keys.append(("store", "ascending"))
    order = order.sort_by(keys)
    first = order["at"].to_numpy()[_rank(order["query"].to_numpy()) < limit]
    return pa.concat_tables([table.filter(pa.array(~many)), crowded.take(pa.array(first))])


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


def dealt(
    view: View,
    shares: Shares,
    *,
    hand_bytes: int = 4 << 20,
    memory_bytes: int = 256 << 20,
    epoch: int | None = None,
    threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The fingerprints of one store, dealt out to the tasks of a join: batches of `HANDS`, one row each.

    `epoch` is to be what `View.tally` was asked with. A hand has up to `hand_bytes`, and less where hands for
    all tasks together would take more than `memory_bytes`. Costs a read of all fingerprints, and some
    nanoseconds for each of them and each of `k + 1` parts, on as many `threads` (as there are cores).
    """
    each = min(hand_bytes, max(memory_bytes // max(len(shares), 1), 8 << 10))
    with view.deal(shares, hand_bytes=each, epoch=epoch, threads=threads) as hands:
        for share, second, hand in hands:
            columns = [pa.array([share], pa.int32()), pa.array([second]), pa.array([hand], pa.binary())]
            yield pa.record_batch(columns, schema=HANDS)


def joined(
    shares: Shares,
    share: int,
    hands: Iterable[pa.RecordBatch | pa.Table],
    *,
    memory_bytes: int = 256 << 20,
    threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The pairs of one task of a join among what all stores dealt to it: batches of `PAIRS`.

    Each pair of different fingerprints comes once from all tasks together, the smaller one first, as unsigned
    numbers. Takes 24 bytes of memory for each fingerprint at most, and `memory_bytes` beside.
    """
    pieces: tuple[list[Any], list[Any]] = ([], [])
    for batch in hands:
        columns = zip(batch["share"], batch["second"], batch["hand"], strict=True)
        for of, second, hand in columns:
            if of.as_py() != share:
                raise ValueError(f"hands: one is for task {of}, not {share}")
            pieces[second.as_py()].append(memoryview(hand.as_buffer()).cast("B"))
    first, second = pieces
    with shares.join(share, first, second, memory_bytes=memory_bytes, threads=threads) as pairs:
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
    first[order] = _rank(mine[order]) <= limit
    needed = first[: len(left)] | first[len(left) :]
    return table.filter(pa.array(needed))


RANKED = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("store", pa.string(), nullable=False),
        pa.field("fingerprint", pa.int64(), nullable=False),
        pa.field("rank", pa.binary(), nullable=False),
    ]
)
"""The columns of pages that are clustered."""


def ranked(name: str, view: View, rule: str = "first-seen", *, epoch: int | None = None) -> Iterator[pa.RecordBatch]:
    """The pages of one store that have a fingerprint in force, each with where it ranks: batches of `RANKED`.

    A `rank` that is less, byte by byte, ranks before others, in whichever store. Costs a scan of all pages.
    """
    with view.ranked(rule=rule, epoch=epoch) as pages:
        for batch in pa.RecordBatchReader.from_stream(pages.batches(signed=True)):
            columns = [batch["url"], pa.repeat(name, batch.num_rows), batch["fingerprint"], batch["rank"]]
            yield pa.record_batch(columns, schema=RANKED)


def following(pairs: Iterable[pa.RecordBatch]) -> pa.Table:
    """The fingerprints that follow a leader: a column `second`, in no particular order.

    `pairs` are all pairs of fingerprints that are near each other: `first`, which ranks before `second`. One leads if
    none that leads and ranks before it is near it, and follows otherwise. Costs about a microsecond for each pair, and
    some 250 bytes of memory. `ValueError` if fingerprints rank before each other in a circle.
    """
    none, held = np.empty(0, np.int64), list(pairs)
    first, second = (np.concatenate([none, *(of[side].to_numpy() for of in held)]) for side in ("first", "second"))
    nodes, at = np.unique(np.concatenate([first, second]), return_inverse=True)
    ahead, behind = at[: len(first)], at[len(first) :]
    order = np.argsort(ahead, kind="stable")
    starts = np.searchsorted(ahead[order], np.arange(len(nodes) + 1)).tolist()
    after = behind[order].tolist()
    # How many undecided ones are near each of them and rank before it.
    undecided = np.bincount(behind, minlength=len(nodes)).tolist()
    follows = bytearray(len(nodes))
    decided = [node for node, count in enumerate(undecided) if not count]
    for node in decided:
        for other in after[starts[node] : starts[node + 1]]:
            if follows[other]:
                continue
            undecided[other] -= 1
            if not follows[node]:
                follows[other] = 1
                decided.append(other)
            elif not undecided[other]:
                decided.append(other)
    if len(decided) < len(nodes):
        raise ValueError("pairs: some fingerprints rank before each other in a circle")
    return pa.table({"second": pa.array(nodes[np.frombuffer(follows, np.uint8) == 1])})


def fingerprints(given: Any) -> "NDArray[np.int64]":
    """Different fingerprints from an array, a column of Arrow or an iterable of `int`s, in order.

    Numbers may be signed or unsigned: fingerprints are taken bit for bit. `TypeError` or `ValueError` says which
    one is none.
    """
    if isinstance(given, pa.ChunkedArray | pa.Array):
        if given.null_count:
            at = pc.index(given.is_null(), pa.scalar(True)).as_py()
            raise ValueError(f"queries: number {at} is null")
        given = given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given
        given = given.to_numpy(zero_copy_only=False)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu" and given.ndim == 1:
        kind = np.int64 if given.dtype.kind == "i" else np.uint64
        return np.unique(given.astype(kind).view(np.int64))
    if isinstance(given, np.ndarray | str | bytes) or not isinstance(given, Iterable):
        raise TypeError("queries must be fingerprints: a one-dimensional array of 64-bit integers")
    found = []
    for number, one in enumerate(given):
        if not isinstance(one, SupportsIndex) or isinstance(one, bool):
            raise TypeError(f"queries: number {number} must be an int, not {type(one).__name__}")
        if not -(1 << 63) <= (value := operator.index(one)) < 1 << 64:
            raise ValueError(f"queries: number {number} has more than 64 bits: {value}")
        found.append(value & (1 << 64) - 1)
    return np.unique(np.array(found, np.uint64).view(np.int64))
