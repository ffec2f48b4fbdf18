"""Checks before tasks start."""

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
"""The number of concurrent tasks if the session does not report it."""

_STRANGERS_MAX = 0.01
"""The maximum number of neighbours that a fingerprint may have by chance without a warning."""

_SOUND: WeakSet[SparkSession] = WeakSet()
"""The sessions that were checked: their workers have this package."""


def check_k(k: int) -> None:
    """Raises an error unless `k` is a valid distance."""
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(f"k must be an int, not {type(k).__name__}")
    if not 0 <= k <= DISTANCE_MAX:
        raise ValueError(f"k must be from 0 to {DISTANCE_MAX}, not {k}")


def check_count(name: str, value: Any) -> None:
    """Raises an error unless `value` is an `int` from 1 to 2**31 - 1."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not 1 <= value < 1 << 31:
        raise ValueError(f"{name} must be at least 1, and below 2**31, not {value}")


def strangers(count: int, k: int) -> float:
    """The expected number of `count` random fingerprints within `k` bits of a given fingerprint: n * V(k) / 2^64.

    V(k) is the number of 64-bit words within `k` bits of a word: the sum of the binomials of 64 over 0 to `k`.
    """
    return count * sum(math.comb(64, bits) for bits in range(k + 1)) / (1 << 64)


def warn_of_chance(count: int, k: int) -> None:
    """Warns if fingerprints of a store with `count` fingerprints often have neighbours within `k` bits by chance."""
    neighbours = strangers(count, k)
    if neighbours > _STRANGERS_MAX:
        what = f"by chance alone, each of {count:,} fingerprints has {neighbours:.2g} neighbours within {k} bits"
        warnings.warn(f"{what}: ask for a smaller distance", stacklevel=4)


def parallel(spark: SparkSession) -> int:
    """The number of tasks that run concurrently, as far as the number is known."""
    if not is_remote():
        return max(spark.sparkContext.defaultParallelism, 1)
    # A client of Spark Connect sees the setting, but not the value that Spark derives without a setting.
    setting = spark.conf.get("spark.default.parallelism", None)
    return int(setting) if setting is not None and setting.isdigit() and int(setting) else _TASKS


def check_workers(spark: SparkSession) -> None:
    """Raises an error unless the workers have this version of the package. Checks each session once."""
    if spark in _SOUND:
        return
    try:
        (row,) = spark.range(0, 1, 1, 1).mapInArrow(_version, "version string").collect()
    except Exception as error:
        # Spark raises many classes of errors, and only their texts name a missing Python module.
        if not any(word in str(error) for word in ("ModuleNotFoundError", "ImportError", "PYTHON_VERSION_MISMATCH")):
            raise
        what = "a Spark worker cannot run simkeep: install the packages simkeep and pyarrow in the Python"
        raise RuntimeError(f"{what} that PYSPARK_PYTHON names ({_last(error)})") from error
    if row.version != simkeep.__version__:
        what = f"the driver has simkeep {simkeep.__version__}, but the Spark workers have simkeep {row.version}"
        raise RuntimeError(f"{what}: install the same version")
    _SOUND.add(spark)


def _last(error: Exception) -> str:
    """The Python error in the text of a Spark error."""
    lines = [line.strip() for line in str(error).splitlines()]
    errors = [line for line in lines if "Error:" in line]
    return errors[-1] if errors else lines[0] if lines else type(error).__name__


def _version(_: Batches) -> Batches:
    yield pa.record_batch({"version": [simkeep.__version__]})
