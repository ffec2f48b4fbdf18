"""Clusters of pages with nearly the same content, in several stores.

Fingerprints are partitioned by a hash. Each part has the first-ranked page of each of its fingerprints. A pair goes to
the part of its left fingerprint, and then to the part of its right fingerprint. A follower goes to the part of its
leader, and then to its own part. Data that grows with the number of pages is sent in blobs; the pairs that rounds
decide are rows.
"""

from collections.abc import Callable, Iterable, Iterator
from math import isqrt

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from simkeep import partition

from . import pairs
from .exchange import SENT, Meeting, Sent, met, of_rows, sent
from .leaders import kept, led
from .pinned import Pinned
from .places import Batches, Places
from .tables import spark_schema

Pages = Iterable[pa.Table | pa.RecordBatch]
"""Batches of pages, from a store or from Spark."""

Sending = Callable[[Pages], Batches]
"""The work of a task on pages."""

PART = 1 << 19
"""The approximate number of fingerprints in a part. A task keeps their ranks, or the URLs of their first pages."""

PARTS = 1 << 11
"""The number of parts above which parts grow. Each part sends blobs to every other part, and the blobs must not
become tiny.
"""

_NODES = f"{SENT}, is_names boolean"
"""The columns of blobs of ranks and of names."""


def clusters(places: Places, k: int, rule: str, hidden: DataFrame | None, rounds_max: int) -> DataFrame:
    """The leader of each page, except the `hidden` pages, which are named by `store` and `url`."""
    parts = parts_of(places.fingerprints, places.tasks)
    first_pages = Sent(_pages(places, rule, hidden, partition.RANKED, _first_pages(parts)), partition.NODES)
    nodes = kept(met([first_pages], parts, _nodes(parts), _NODES))
    ranks = Sent(nodes.where("not is_names").drop("is_names"), partition.RANKS)
    names = Sent(nodes.where("is_names").drop("is_names"), partition.NAMES)
    # Joining with the ranks drops pairs with a fingerprint that only hidden pages have.
    all_pairs = Sent(pairs.sent_by_left(places, k, parts), partition.PAIRS)
    halves = Sent(met([ranks, all_pairs], parts, _halves(parts), SENT), partition.HALVES)
    edges = met([ranks, halves], parts, _edges, spark_schema(partition.EDGES))
    found, _ = led(edges, rounds_max)
    nearest = F.min(F.struct("distance", "rank", "first")).alias("of")
    each = found.groupBy(F.col("second").alias("fingerprint")).agg(nearest)
    each = each.select("fingerprint", F.col("of.first").alias("leads"), "of.distance")
    followers = Sent(each.mapInArrow(_followers(parts), SENT), partition.FOLLOWERS)
    by_leader = Sent(met([names, followers], parts, _named(parts), SENT), partition.LED)
    pages = Sent(_pages(places, rule, hidden, partition.PAGES, _all_pages(parts)), partition.PAGES)
    return met([names, by_leader, pages], parts, _belonging, spark_schema(partition.CLUSTERED))


def parts_of(count: int, tasks: int) -> int:
    """The number of parts for `count` fingerprints, if `tasks` tasks run concurrently."""
    parts = -(-count // PART)
    return max(parts if parts <= PARTS else isqrt(parts * PARTS), tasks)


def ranked(places: Places, rule: str, hidden: DataFrame | None, schema: pa.Schema = partition.RANKED) -> DataFrame:
    """The pages with a current fingerprint and their ranks, without hidden pages.

    `schema` selects the columns. It must include `url` and `store`.
    """
    pages = _from_stores(places, rule, iter, spark_schema(partition.RANKED)).select(*schema.names)
    return pages if hidden is None else pages.join(hidden, ["url", "store"], "left_anti")


def _pages(
    places: Places, rule: str, hidden: DataFrame | None, schema: pa.Schema, sending: Callable[[Pages], Batches]
) -> DataFrame:
    """Sends the pages of `ranked` to their parts."""
    if hidden is None:
        return _from_stores(places, rule, sending, SENT)
    pages = ranked(places, rule, hidden, schema).select(*schema.names)
    return pages.mapInArrow(lambda rows: sending(of_rows(rows, schema)), SENT)


def _from_stores(places: Places, rule: str, then: Sending, schema: str) -> DataFrame:
    places.check(lambda reader: reader.ranked(rule=rule, epoch=places.pinned[0].epoch).close())
    return places.read(_ranked(rule, then), schema)


# The functions below run in tasks.


def _ranked(rule: str, then: Sending) -> Callable[[Pinned], Batches]:
    def run(store: Pinned) -> Batches:
        with store.asked() as reader:
            yield from then(partition.ranked(store.name, reader, rule, epoch=store.epoch))

    return run


def _first_pages(parts: int) -> Sending:
    def run(pages: Pages) -> Batches:
        # Reduce each batch to one page of each fingerprint, so that a frequent fingerprint sends few rows.
        firsts = (partition.firsts([some]) for some in partition.gathered(pages, 8 << 20))
        return sent(firsts, "fingerprint", parts)

    return run


def _all_pages(parts: int) -> Sending:
    def run(pages: Pages) -> Batches:
        return sent((some.select(partition.PAGES.names) for some in pages), "fingerprint", parts)

    return run


def _nodes(parts: int) -> Meeting:
    def run(_: list[pa.Table], pages: Iterator[pa.Table]) -> Batches:
        nodes = partition.firsts(pages)
        for schema in (partition.RANKS, partition.NAMES):
            is_names = pa.array([schema == partition.NAMES])
            for blob in sent([nodes.select(schema.names)], "fingerprint", parts):
                yield pa.record_batch([*blob.columns, is_names], names=[*blob.schema.names, "is_names"])

    return run


def _halves(parts: int) -> Meeting:
    def run(held: list[pa.Table], all_pairs: Iterator[pa.Table]) -> Batches:
        ranks = partition.in_order(held.pop())
        return sent((partition.halves(ranks, some) for some in all_pairs), "right", parts)

    return run


def _edges(held: list[pa.Table], halves: Iterator[pa.Table]) -> Batches:
    ranks = partition.in_order(held.pop())
    for some in halves:
        yield from partition.edges(ranks, some).to_batches()


def _followers(parts: int) -> Callable[[Batches], Batches]:
    def run(rows: Batches) -> Batches:
        return sent(of_rows(rows, partition.FOLLOWERS), "leads", parts)

    return run


def _named(parts: int) -> Meeting:
    def run(held: list[pa.Table], followers: Iterator[pa.Table]) -> Batches:
        names = partition.in_order(held.pop())
        return sent((partition.named(names, some) for some in followers), "fingerprint", parts)

    return run


def _belonging(held: list[pa.Table], pages: Iterator[pa.Table]) -> Batches:
    by_leader, names = partition.in_order(held.pop()), partition.in_order(held.pop())
    for some in pages:
        yield from partition.belonging(names, by_leader, some).to_batches()
