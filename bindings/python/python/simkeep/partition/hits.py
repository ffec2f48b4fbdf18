"""Pages near many fingerprints."""

import operator
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import Answers, View, surt_key
from .order import place_among_equals

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

_QUERIES = 1 << 16
"""The maximum number of queries in a batch."""

_QUERIES_MIN = 1 << 10
"""The number of queries in the first batch, when the number of hits per query is unknown."""

_ROWS = 1 << 20
"""The number of hits to buffer: of a batch, and in addition to twice the reduced hits."""


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

    `name` is the name of the store in the column `store`. Each query has up to `limit` pages, the nearest first, then
    in SURT order. `complete` is true if there are no more near pages in this store. If there are more, the choice among
    equally far pages follows the rule of `Matches` for a single search. Pages with `hidden` URLs are ignored: another
    store has a newer version of them. Costs some tenths of a microsecond for each query, on `threads` threads (one for
    each core), and some microseconds for each page found.
    """
    gone = pa.array(hidden, pa.string())

    def search(some: "NDArray[np.int64]", limit: int | None) -> _Found:
        found, complete = _found(view.near_batch(some, k, limit=limit, epoch=epoch, threads=threads))
        named = np.bincount(found["query"].to_numpy(), minlength=len(some))
        # Whether the found pages are certainly the nearest: with fewer than `limit` pages, a dense bucket may hide
        # nearer pages.
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
        # The next batch should find about `_ROWS` pages, so its size depends on the hits per query of the last batch.
        count = min(max(_ROWS * len(some) // max(found.num_rows, 1), 1), 2 * count, _QUERIES)
        if limit is not None:
            # Queries with an incomplete result of fewer than `limit` pages are searched again with a larger limit.
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
                    best = of.pages.filter(pa.array(done[which] & (place_among_equals(which) < limit)))
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
    """The pages found for a batch of queries."""

    pages: pa.Table
    complete: "NDArray[np.bool_]"
    """For each query, whether there are no more pages."""
    sure: "NDArray[np.bool_]"
    """For each query, whether the found pages are the nearest."""
    left: "NDArray[np.int64]"
    """For each query, the number of found pages that are not hidden."""


def _found(answers: Answers) -> tuple[pa.Table, "NDArray[np.bool_]"]:
    """The pages found, and for each query whether all its pages were found."""
    found = pa.RecordBatchReader.from_stream(answers.batches(signed=True)).read_all()
    complete = pa.RecordBatchReader.from_stream(answers.queries()).read_all()["complete"]
    return found, np.array(complete)


def merged(hits: Iterable[pa.Table], limit: int | None) -> pa.Table:
    """The pages of several stores near each of many fingerprints, from the pages of each store.

    `hits` are tables of `HITS` that `near` made with the same limit, for some of the queries and for all stores. The
    result has up to `limit` pages for each query: the nearest, then the first in SURT order. `complete` is true if the
    result has all near pages. Takes memory for the result, and for some more hits.
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
    # A store with more pages than the limit has as many hits as the limit.
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
    first = order["at"].to_numpy()[place_among_equals(order["query"].to_numpy()) < limit]
    return pa.concat_tables([table.filter(pa.array(~many)), crowded.take(pa.array(first))])


def fingerprints(given: Any) -> "NDArray[np.int64]":
    """Distinct fingerprints from an array, a column of Arrow or an iterable of `int`s, in order.

    Numbers may be signed or unsigned, and are converted bit for bit. Raises `TypeError` or `ValueError` with the first
    item that is not a fingerprint.
    """
    if isinstance(given, pa.ChunkedArray | pa.Array):
        if given.null_count:
            at = pc.index(given.is_null(), pa.scalar(True)).as_py()
            raise ValueError(f"queries: item {at} is null")
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
            raise TypeError(f"queries: item {number} must be an int, not {type(one).__name__}")
        if not -(1 << 63) <= (value := operator.index(one)) < 1 << 64:
            raise ValueError(f"queries: item {number} has more than 64 bits: {value}")
        found.append(value & (1 << 64) - 1)
    return np.unique(np.array(found, np.uint64).view(np.int64))
