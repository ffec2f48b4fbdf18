"""Leaders of pages with nearly the same content, and who follows them."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from .. import View

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
