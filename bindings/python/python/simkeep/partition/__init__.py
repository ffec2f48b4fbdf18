"""The work on a part of many stores, from Arrow to Arrow: for Spark, Ray, Daft, DuckDB or a loop.

A crawl that has outgrown one machine has several stores. What is asked of all of them is asked of each by
itself, wherever it lies, and what they answer is put together. Each function here is one of these steps. It
is a function of its arguments, so it can be run again, and it knows nothing of what runs it.

Pages near fingerprints:

    hits = [table for name, reader in stores for table in near(name, reader, queries, k=3, limit=16)]
    answer = merged(hits, limit=16)

Pairs of fingerprints, each once, wherever the two are:

    plan = simkeep.JoinPlan([reader.histogram(3) for _, reader in stores], ranges=8, most=8_000_000)
    sent = [chunk for _, reader in stores for chunk in chunks(reader, plan)]
    for task in range(len(plan)):
        mine = [chunk for chunk in sent if chunk["task"][0].as_py() == task]
        for pairs in joined(plan, task, mine): ...

Clusters, of a table `pages` of `RANKED` and one of all `pairs`, where they fit one place; if not, `spread` takes each
table apart by the fingerprints that a step looks for:

    nodes = firsts([pages])
    between = edges(nodes, halves(nodes, pairs))                       # first ranks before second
    follow = following(between.to_batches())["second"]                 # the others lead
    followers = ...                                                    # of each, the nearest that leads: FOLLOWERS
    answer = belonging(nodes, in_order(named(nodes, followers)), pages)

Fingerprints are `int64`, bit for bit: few engines have unsigned numbers. Needs pyarrow and numpy.
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
