"""Joins of tables whose sizes Spark misjudges."""

from pyspark.sql import DataFrame


def matched(left: DataFrame, right: DataFrame, on: str, how: str = "inner") -> DataFrame:
    """Joins two tables with a sort-merge join.

    Spark assumes that the output of tasks is as small as their input, a few numbers, and would broadcast the output.
    """
    return left.hint("merge").join(right, on, how)
