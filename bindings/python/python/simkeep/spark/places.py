"""Where stores are, and what asks them: what each question to several stores begins with."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from simkeep import Reader

from .keys import keys
from .pinned import Pinned

Batches = Iterator[pa.RecordBatch]
"""What tasks take and give."""


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

    def rows(self) -> DataFrame:
        """A row for each store, each for a task."""
        return self.spread([(store.packed(),) for store in self.pinned], "store string")

    def spread(self, rows: list[tuple[Any, ...]], schema: str) -> DataFrame:
        """These rows, each in a partition of its own."""
        count = len(rows)
        keyed = [(key, *row) for key, row in zip(keys(count), rows, strict=True)]
        return self.spark.createDataFrame(keyed, f"key int, {schema}").repartition(count, "key")


def stores_of(batches: Batches) -> Iterator[tuple[Pinned, dict[str, Any]]]:
    """Each store of a partition, with the row that it stands in. For tasks."""
    for batch in batches:
        for row in batch.to_pylist():
            yield Pinned.unpacked(row["store"]), row
