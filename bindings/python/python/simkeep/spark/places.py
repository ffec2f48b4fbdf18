"""Where stores are, and what asks them: what each question to several stores begins with."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from simkeep import Reader

from .pinned import Pinned

Batches = Iterator[pa.RecordBatch]
"""What tasks take and give."""

Piece = TypeVar("Piece")
"""What a task works with."""

FINGERPRINTS_MIN = 1 << 21
"""How many fingerprints of small stores a task has: they are read in some tenths of a second."""


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
        return self.spread(self.pinned, [1] * len(self.pinned), work, schema)

    def read(self, work: Callable[[Pinned], Batches], schema: str) -> DataFrame:
        """What comes of some work with each store's fingerprints: in a task for each, or for several small ones."""
        sizes = [store.fingerprints for store in self.pinned]
        return self.spread(self.pinned, together(sizes, FINGERPRINTS_MIN, self.tasks), work, schema)

    def spread(
        self, pieces: Sequence[Piece], counts: Sequence[int], work: Callable[[Piece], Batches], schema: str
    ) -> DataFrame:
        """What comes of some work with each of these pieces, of which each task has so many.

        They go along with the function that tasks run, and so nothing is exchanged for that.
        """
        ends = list(accumulate(counts))
        tasks = [pieces[end - count : end] for count, end in zip(counts, ends, strict=True)]
        return self.numbers(len(tasks)).mapInArrow(_pieces(tasks, work), schema)

    def numbers(self, count: int) -> DataFrame:
        """The numbers from 0 on, `id`, each in a partition of its own."""
        return self.spark.range(0, count, 1, count)


def together(sizes: Sequence[int], least: int, tasks: int) -> list[int]:
    """How many pieces of such sizes, one after another, each task has.

    A task costs a tenth of a second, whatever it does, and so it has about `least` in all where there is as much for as
    many tasks as run at a time.
    """
    least = min(least, sum(sizes) // tasks)
    counts, count, size = [], 0, 0
    for mine in sizes:
        # It ends where it is nearer to what it is to have than with the next piece.
        if count and size + mine - least > least - size:
            counts.append(count)
            count, size = 0, 0
        count, size = count + 1, size + mine
    return [*counts, count] if count else counts


# What follows runs in tasks.


def _pieces(tasks: Sequence[Sequence[Piece]], work: Callable[[Piece], Batches]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch["id"].to_pylist():
                for piece in tasks[number]:
                    yield from work(piece)

    return run
