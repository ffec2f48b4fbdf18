"""The pinned stores, and the tasks that query them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from simkeep import Reader

from .pinned import Pinned

Batches = Iterator[pa.RecordBatch]
"""The input and output of tasks."""

Piece = TypeVar("Piece")
"""A piece of work of a task."""

FINGERPRINTS_MIN = 1 << 21
"""The number of fingerprints for which small stores share a task: some tenths of a second of reading."""


class Places(NamedTuple):
    """Stores that Spark queries."""

    spark: SparkSession
    pinned: tuple[Pinned, ...]
    """The stores, each with its generation and the epoch to query."""
    tasks: int
    """The number of concurrent tasks."""

    @property
    def fingerprints(self) -> int:
        """The number of fingerprints. A fingerprint in several stores or segments counts several times."""
        return sum(store.fingerprints for store in self.pinned)

    def check(self, ask: Callable[[Reader], None]) -> None:
        """Queries the first store, so that an invalid prefix or rule fails before tasks start.

        A remote store is not fetched for this check; an invalid query to it fails in the task.
        """
        first = self.pinned[0]
        if first.cache is None:
            with first.asked() as reader:
                ask(reader)

    def run(self, work: Callable[[Pinned], Batches], schema: str) -> DataFrame:
        """Runs `work` on each store, in a separate task for each."""
        return self.spread(self.pinned, [1] * len(self.pinned), work, schema)

    def read(self, work: Callable[[Pinned], Batches], schema: str) -> DataFrame:
        """Runs `work` on the fingerprints of each store. Small stores share a task."""
        sizes = [store.fingerprints for store in self.pinned]
        return self.spread(self.pinned, together(sizes, FINGERPRINTS_MIN, self.tasks), work, schema)

    def spread(
        self, pieces: Sequence[Piece], counts: Sequence[int], work: Callable[[Piece], Batches], schema: str
    ) -> DataFrame:
        """Runs `work` on each piece. `counts` has the number of pieces of each task.

        The pieces are part of the function that tasks run, so Spark exchanges no rows for them.
        """
        ends = list(accumulate(counts))
        tasks = [pieces[end - count : end] for count, end in zip(counts, ends, strict=True)]
        return self.numbers(len(tasks)).mapInArrow(_pieces(tasks, work), schema)

    def numbers(self, count: int) -> DataFrame:
        """The numbers from 0 on in the column `id`, each in a separate partition."""
        return self.spark.range(0, count, 1, count)


def together(sizes: Sequence[int], least: int, tasks: int) -> list[int]:
    """Groups consecutive pieces of these sizes into tasks, and returns the number of pieces of each task.

    A task costs a tenth of a second regardless of its work, so a task gets pieces of about `least` in total. It gets
    less if some of the `tasks` concurrent tasks would otherwise be idle.
    """
    least = min(least, sum(sizes) // tasks)
    counts, count, size = [], 0, 0
    for mine in sizes:
        # The task ends before the next piece if its size is then nearer to `least`.
        if count and size + mine - least > least - size:
            counts.append(count)
            count, size = 0, 0
        count, size = count + 1, size + mine
    return [*counts, count] if count else counts


# The functions below run in tasks.


def _pieces(tasks: Sequence[Sequence[Piece]], work: Callable[[Piece], Batches]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch["id"].to_pylist():
                for piece in tasks[number]:
                    yield from work(piece)

    return run
