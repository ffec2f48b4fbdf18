"""Leaders of pages with nearly the same content, and their followers."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANKED = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("store", pa.string(), nullable=False),
        pa.field("fingerprint", pa.int64(), nullable=False),
        pa.field("rank", pa.binary(), nullable=False),
    ]
)
"""The columns of pages that are clustered."""

PAGES = pa.schema([RANKED.field("url"), RANKED.field("store"), RANKED.field("fingerprint")])
"""The columns of pages whose leaders are looked up."""

NODES = pa.schema([RANKED.field("fingerprint"), RANKED.field("rank"), RANKED.field("url")])
"""The columns of fingerprints, each with its first-ranked page."""

RANKS = NODES.remove(2)
"""The columns of fingerprints with the rank of their first page."""

NAMES = NODES.remove(1)
"""The columns of fingerprints with the URL of their first page."""

HALVES = pa.schema(
    [
        pa.field("left", pa.int64(), nullable=False),
        pa.field("right", pa.int64(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
        pa.field("rank", pa.binary(), nullable=False),
    ]
)
"""The columns of pairs with the rank of the left fingerprint."""

EDGES = pa.schema(
    [
        pa.field("first", pa.int64(), nullable=False),
        pa.field("second", pa.int64(), nullable=False),
        pa.field("rank", pa.binary(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
    ]
)
"""The columns of pairs in which `first` ranks before `second`."""

FOLLOWERS = pa.schema(
    [
        pa.field("fingerprint", pa.int64(), nullable=False),
        pa.field("leads", pa.int64(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
    ]
)
"""The columns of fingerprints that follow a leader."""

LED = pa.schema(
    [
        pa.field("fingerprint", pa.int64(), nullable=False),
        pa.field("leader", pa.string(), nullable=False),
        pa.field("distance", pa.int32(), nullable=False),
    ]
)
"""The columns of fingerprints that follow a leader, with the URL of the leader's first page."""

CLUSTERED = pa.schema([*PAGES, *list(LED)[1:]])
"""The columns of pages with their leaders."""

_HELD_BYTES = 64 << 20
"""The number of bytes of pages to buffer, in addition to twice the bytes of the reduced pages."""


def ranked(name: str, view: View, rule: str = "first-seen", *, epoch: int | None = None) -> Iterator[pa.RecordBatch]:
    """The pages of one store with a current fingerprint, and their ranks: batches of `RANKED`.

    A page with a smaller `rank`, compared byte by byte, ranks before other pages, also across stores. Costs a scan of
    all pages.
    """
    with view.ranked(rule=rule, epoch=epoch) as pages:
        for batch in pa.RecordBatchReader.from_stream(pages.batches(signed=True)):
            columns = [batch["url"], pa.repeat(name, batch.num_rows), batch["fingerprint"], batch["rank"]]
            yield pa.record_batch(columns, schema=RANKED)


def following(pairs: Iterable[pa.RecordBatch]) -> pa.Table:
    """The fingerprints that follow a leader: a column `second`, in no particular order.

    `pairs` are all pairs of near fingerprints: `first`, which ranks before `second`. A fingerprint leads if no leader
    near it ranks before it; all other fingerprints follow. Costs about a microsecond for each pair, and some 250 bytes
    of memory. Raises `ValueError` if the ranks of fingerprints form a circle.
    """
    none, held = np.empty(0, np.int64), list(pairs)
    first, second = (np.concatenate([none, *(of[side].to_numpy() for of in held)]) for side in ("first", "second"))
    nodes, at = np.unique(np.concatenate([first, second]), return_inverse=True)
    ahead, behind = at[: len(first)], at[len(first) :]
    order = np.argsort(ahead, kind="stable")
    starts = np.searchsorted(ahead[order], np.arange(len(nodes) + 1)).tolist()
    after = behind[order].tolist()
    # The number of undecided fingerprints that are near each fingerprint and rank before it.
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
        raise ValueError("pairs: the ranks of some fingerprints form a cycle")
    return pa.table({"second": pa.array(nodes[np.frombuffer(follows, np.uint8) == 1])})


def firsts(pages: Iterable[pa.Table]) -> pa.Table:
    """The fingerprints of some pages, each with its first-ranked page: a table of `NODES`, in order.

    `pages` are tables of `RANKED` or of `NODES`. Results for parts of the pages may be combined: `firsts` of these
    results is `firsts` of all pages. Takes memory for the result, and for some more pages.
    """
    held, size, left = [NODES.empty_table()], 0, 0
    for table in pages:
        held.append(table.select(NODES.names))
        size += held[-1].nbytes
        if size > 2 * left + _HELD_BYTES:
            held = [_first(held)]
            size = left = held[0].nbytes
    return _first(held)


def _first(held: list[pa.Table]) -> pa.Table:
    nodes = pa.concat_tables(held).combine_chunks()
    # At most two copies of each table are in memory.
    held.clear()
    fingerprints = nodes["fingerprint"].to_numpy()
    order = np.argsort(fingerprints, kind="stable")
    if not len(order):
        return nodes
    begins = np.flatnonzero(np.r_[True, np.diff(fingerprints[order]) != 0])
    lengths = np.diff(np.r_[begins, len(order)])
    chosen = order[begins]
    # Few fingerprints have several pages, and ranks are long.
    crowded = np.repeat(lengths > 1, lengths)
    if crowded.any():
        some = nodes.take(pa.array(order[crowded])).append_column("at", pa.array(order[crowded]))
        some = some.sort_by([(name, "ascending") for name in NODES.names])
        begin = np.flatnonzero(np.r_[True, np.diff(some["fingerprint"].to_numpy()) != 0])
        chosen[lengths > 1] = some["at"].to_numpy()[begin]
    return nodes.take(pa.array(chosen))


def halves(ranks: pa.Table, pairs: pa.Table) -> pa.Table:
    """Pairs with the rank of the left fingerprint: a table of `HALVES`. Pairs whose left fingerprint has no rank are
    left out.

    `ranks` are in order, with the columns of `RANKS`. `pairs` may be a part of all pairs, if `ranks` has their left
    fingerprints.
    """
    at, there = _places(ranks, pairs["left"])
    pairs = pairs.filter(pa.array(there))
    return pa.table([*pairs.columns, ranks["rank"].take(pa.array(at[there]))], schema=HALVES)


def edges(ranks: pa.Table, halves: pa.Table) -> pa.Table:
    """Pairs in the order of their ranks: a table of `EDGES`. Pairs whose right fingerprint has no rank are left out.

    `ranks` are in order, with the columns of `RANKS`. `halves` may be a part of all pairs, if `ranks` has their right
    fingerprints.
    """
    at, there = _places(ranks, halves["right"])
    halves = halves.filter(pa.array(there)).combine_chunks()
    rank = ranks["rank"].take(pa.array(at[there]))
    ahead = pc.less(halves["rank"], rank)
    columns = [
        pc.if_else(ahead, halves["left"], halves["right"]),
        pc.if_else(ahead, halves["right"], halves["left"]),
        pc.if_else(ahead, halves["rank"], rank),
        halves["distance"],
    ]
    return pa.table(columns, schema=EDGES)


def named(names: pa.Table, followers: pa.Table) -> pa.Table:
    """Fingerprints that follow a leader, with the URL of the leader's first page: a table of `LED`, from `FOLLOWERS`.

    `names` are in order, with the columns of `NAMES`, and include all leaders. Raises `ValueError` if a leader is
    missing.
    """
    at, there = _places(names, followers["leads"])
    if not there.all():
        raise ValueError("followers: the leader of some fingerprints is missing in names")
    columns = [followers["fingerprint"], names["url"].take(pa.array(at)), followers["distance"]]
    return pa.table(columns, schema=LED)


def belonging(names: pa.Table, led: pa.Table, pages: pa.Table) -> pa.Table:
    """Pages with their leaders: a table of `CLUSTERED`, from `PAGES`. A page whose fingerprint has no leader belongs to
    the first page of its fingerprint.

    `names` and `led` are in order, with the columns of `NAMES` and `LED`. Raises `ValueError` if a page's fingerprint
    has no name.
    """
    (at, there), (by, follows) = _places(names, pages["fingerprint"]), _places(led, pages["fingerprint"])
    if not there.all():
        raise ValueError("pages: the fingerprint of some pages is missing in names")
    leader, distance = (led[column].take(pa.array(by, mask=~follows)) for column in ("leader", "distance"))
    columns = [pc.coalesce(leader, names["url"].take(pa.array(at))), pc.coalesce(distance, pa.scalar(0, pa.int32()))]
    return pa.table([*pages.select(PAGES.names).columns, *columns], schema=CLUSTERED)


def _places(known: pa.Table, fingerprints: pa.ChunkedArray) -> "tuple[NDArray[np.int64], NDArray[np.bool_]]":
    """The position of each fingerprint among `known` fingerprints, which are in order, and whether each is known."""
    among, wanted = known["fingerprint"].to_numpy(), fingerprints.to_numpy()
    if not len(among):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(among, wanted), len(among) - 1)
    return at, among[at] == wanted


def in_order(table: pa.Table) -> pa.Table:
    """Rows in order of their fingerprints, as the steps of clustering require. Ordered rows in a single chunk are
    not copied.
    """
    fingerprints = table["fingerprint"].to_numpy()
    if (fingerprints[1:] >= fingerprints[:-1]).all():
        return table.combine_chunks()
    return table.take(pa.array(np.argsort(fingerprints, kind="stable"))).combine_chunks()
