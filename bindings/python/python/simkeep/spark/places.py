"""Where stores are, and what asks them: what each question to several stores begins with."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from simkeep import Reader

from .pinned import Pinned

Batches = Iterator[pa.RecordBatch]
"""What tasks take and give."""

Piece = TypeVar("Piece")
"""What a task works with."""


class Places(NamedTuple):
    """Stores that are asked by Spark."""

    spark: SparkSession
    pinned: tuple[Pinned, ...]
    """The stores, each with the generation and the epoch by which it is asked."""
    tasks: int
    """How many tasks run at a time."""

    @property
    def fingerprints(self) -> int:
        """How many there are, those that are in several stores or segments as often."""
        return sum(store.fingerprints for store in self.pinned)

    def check(self, ask: Callable[[Reader], None]) -> None:
        """Asks the first store, so that what is no prefix or no rule is said before tasks start.

        Not one that is elsewhere, which is not fetched for that: there a task says it.
        """
        first = self.pinned[0]
        if first.cache is None:
            with first.asked() as reader:
                ask(reader)

    def run(self, work: Callable[[Pinned], Batches], schema: str) -> DataFrame:
        """What comes of some work with each store, in a task for each."""
        return self.spread(self.pinned, work, schema)

    def spread(self, pieces: Sequence[Piece], work: Callable[[Piece], Batches], schema: str) -> DataFrame:
        """What comes of some work with each of these pieces, in a task for each.

        They go along with the function that tasks run, and so nothing is exchanged for that.
        """
        return self.numbers(len(pieces)).mapInArrow(_piece(pieces, work), schema)

    def numbers(self, count: int) -> DataFrame:
        """The numbers from 0 on, `id`, each in a partition of its own."""
        return self.spark.range(0, count, 1, count)


# What follows runs in tasks.


def _piece(pieces: Sequence[Piece], work: Callable[[Piece], Batches]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield from work(pieces[number])

    return run
