"""Joins of tables of whose size Spark knows nothing."""

from pyspark.sql import DataFrame


def matched(left: DataFrame, right: DataFrame, on: str, how: str = "inner") -> DataFrame:
    """Two tables joined, by sorting both.

    Spark takes for as much to come out of tasks as went in, some numbers, and would send all of it to all machines.
    """
    return left.hint("merge").join(right, on, how)
