"""The work on a part of many stores, from Arrow to Arrow: for Spark, Ray, Daft, DuckDB or a loop.

A crawl that has outgrown one machine has several stores. A query to all stores runs on each store separately, on any
machine, and the results are then combined. Each function of this package is one of these steps. The result of a
function depends only on its arguments, so a step can be run again, and does not depend on the engine that runs it.

Pages near fingerprints:

    hits = [table for name, reader in stores for table in near(name, reader, queries, k=3, limit=16)]
    answer = merged(hits, limit=16)

Pairs of fingerprints, each once, also across stores:

    plan = simkeep.JoinPlan([reader.histogram(3) for _, reader in stores], ranges=8, most=8_000_000)
    sent = [chunk for _, reader in stores for chunk in chunks(reader, plan)]
    for task in range(len(plan)):
        mine = [chunk for chunk in sent if chunk["task"][0].as_py() == task]
        for pairs in joined(plan, task, mine): ...

Clusters, from a table `pages` of `RANKED` and a table of all `pairs`, if both fit on one machine. If they do not fit,
`spread` partitions each table by the fingerprints that a step looks up:

    nodes = firsts([pages])
    between = edges(nodes, halves(nodes, pairs))                       # first ranks before second
    follow = following(between.to_batches())["second"]                 # the other fingerprints lead
    followers = ...                                                    # for each, the nearest leader: FOLLOWERS
    answer = belonging(nodes, in_order(named(nodes, followers)), pages)

Fingerprints are `int64`, bit for bit, since few engines have unsigned numbers. Needs pyarrow and numpy.
"""

from .blobs import gathered, packed, spread, unpacked
from .clusters import (
    CLUSTERED,
    EDGES,
    FOLLOWERS,
    HALVES,
    LED,
    NAMES,
    NODES,
    PAGES,
    RANKED,
    RANKS,
    belonging,
    edges,
    firsts,
    following,
    halves,
    in_order,
    named,
    ranked,
)
from .hits import HITS, fingerprints, merged, near
from .pairs import CHUNKS, PAIRS, capped, chunks, joined, pairs_with

__all__ = [
    "CHUNKS",
    "CLUSTERED",
    "EDGES",
    "FOLLOWERS",
    "HALVES",
    "HITS",
    "LED",
    "NAMES",
    "NODES",
    "PAGES",
    "PAIRS",
    "RANKED",
    "RANKS",
    "belonging",
    "capped",
    "chunks",
    "edges",
    "fingerprints",
    "firsts",
    "following",
    "gathered",
    "halves",
    "in_order",
    "joined",
    "merged",
    "named",
    "near",
    "packed",
    "pairs_with",
    "ranked",
    "spread",
    "unpacked",
]
