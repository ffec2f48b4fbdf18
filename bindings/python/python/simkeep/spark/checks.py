"""What is checked before tasks start."""

import math
import warnings
from typing import Any
from weakref import WeakSet

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

import simkeep
from simkeep.limits import DISTANCE_MAX

from .places import Batches

_TASKS = 8
"""How many tasks run at a time, where nobody says it."""

_STRANGERS_MAX = 0.01
"""How many neighbours a fingerprint may have by chance."""

_SOUND: WeakSet[SparkSession] = WeakSet()
"""The sessions whose workers are known to have this package."""


def check_k(k: int) -> None:
    """That it is a distance."""
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(f"k must be an int, not {type(k).__name__}")
    if not 0 <= k <= DISTANCE_MAX:
        raise ValueError(f"k must be from 0 to {DISTANCE_MAX}, not {k}")


def check_count(name: str, value: Any) -> None:
    """That it is a number from 1 on that Spark can count to."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not 1 <= value < 1 << 31:
        raise ValueError(f"{name} must be at least 1, and below 2**31, not {value}")


def strangers(count: int, k: int) -> float:
    """How many of so many fingerprints are within `k` bits of one by chance: n * V(k) / 2^64.

    V(k) is the number of words of 64 bits within `k` of one, the sum of the binomials of 64 over 0 to `k`.
    """
    return count * sum(math.comb(64, bits) for bits in range(k + 1)) / (1 << 64)


def warn_of_chance(count: int, k: int) -> None:
    """Warns if many of so many fingerprints have others within `k` bits that mean nothing."""
    neighbours = strangers(count, k)
    if neighbours > _STRANGERS_MAX:
        what = f"by chance alone, each of {count:,} fingerprints has {neighbours:.2g} others within {k} bits"
        warnings.warn(f"{what}: ask for a smaller distance", stacklevel=4)


def parallel(spark: SparkSession) -> int:
    """How many tasks run at a time, as far as that is known."""
    if not is_remote():
        return max(spark.sparkContext.defaultParallelism, 1)
    # A client of Spark Connect is told what was set, and not what came of it.
    told = spark.conf.get("spark.default.parallelism", None)
    return int(told) if told is not None and told.isdigit() and int(told) else _TASKS


def check_workers(spark: SparkSession) -> None:
    """That a worker has this package, in this version. A session is asked once."""
    if spark in _SOUND:
        return
    try:
        (row,) = spark.range(0, 1, 1, 1).mapInArrow(_version, "version string").collect()
    except Exception as error:
        # Errors of Spark are of many classes; what Python lacks there is in their texts alone.
        if not any(word in str(error) for word in ("ModuleNotFoundError", "ImportError", "PYTHON_VERSION_MISMATCH")):
            raise
        what = "a worker of Spark cannot run simkeep: it needs the packages simkeep and pyarrow, in the Python"
        raise RuntimeError(f"{what} that PYSPARK_PYTHON names ({_last(error)})") from error
    if row.version != simkeep.__version__:
        what = f"simkeep is {simkeep.__version__} here, and {row.version} where workers of Spark run"
        raise RuntimeError(f"{what}: they must be the same")
    _SOUND.add(spark)


def _last(error: Exception) -> str:
    """What an error of Spark says was wrong in Python."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if "Error:" in line]
    return told[-1] if told else lines[0] if lines else type(error).__name__


def _version(_: Batches) -> Batches:
    yield pa.record_batch({"version": [simkeep.__version__]})
