"""Estimates the cost of queries to several stores, by formulas with measured figures.

The figures are for a core of a server of some years ago. On real stores from 10^6 to 10^7 pages each, they are accurate
within a factor of two (`bench/spark_plan.py`); for larger stores they are extrapolated. The figures do not include the
time to the first task, and the time for which a machine waits for other machines.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from .checks import check_count, check_k, strangers
from .clusters import parts_of
from .near import SLICE, counts_of, slice_of
from .pairs import few, ranges_of
from .places import FINGERPRINTS_MIN, together

_JOB, _TASK = 0.4, 0.06
"""Seconds of a core for a query and for a task of any size: the overhead of Spark and Python."""

_ROW = 2.5e-6
"""Seconds of a core for a row of a task's output."""

_TABLE_BYTES, _COLUMN_BYTES, _URL_BYTES = 46, 17, 54
"""The bytes that searches read for a fingerprint, the bytes that a join reads for a fingerprint, and the bytes of
the URL of a page.
"""

_FILE_BYTES = 100
"""Bytes of a store's files for each fingerprint, with a visit and a URL of usual length."""

_LINE_BYTES = 128 << 10
"""Bytes that a machine reads from a disk for each lookup in a table that is not in memory."""

_FOUND = 1.0
"""The number of pages that a query is assumed to find."""

_PAIRS = 0.2
"""The number of pairs for each fingerprint, each pair counted once, on real pages within few bits."""

_FOUND_BYTES = 36
"""Bytes of a found page in an exchange."""

_FOUND_SECONDS = 4e-6
"""Seconds of a core for a found page."""

_COUNTED, _MOVED = 270e-9, 80e-9
"""Seconds of a core to count and partition a fingerprint, and to move it for each of its k + 1 parts."""

_JOINED = (80e-9, 160e-9, 250e-9, 400e-9, 850e-9, 1.5e-6, 2.4e-6, 4.5e-6, 9e-6)
"""Seconds of a core to join a fingerprint with all other fingerprints within 0, 1, ... bits; a third more for each
further bit.
"""

_WIDER = (1, 1, 1, 1, 4, 7, 11, 17, 32, 64, 128)
"""The cost of a search relative to a search within 3 bits; twice as much for each further bit."""

_SENT_ON = 3e-6
"""Seconds of a core to scan a page, and to send it to the part of its fingerprint."""

_RANKED_BYTES, _RANKED_SECONDS = 250, 10e-6
"""Bytes exchanged and core-seconds for a page of clusters, in addition to its pairs, with a URL of 35 characters."""

_BLOB = 130e-6
"""Seconds of a core to pack and unpack a blob of any size."""


class TaskCost(NamedTuple):
    """The cost of one task of a query."""

    core_seconds: float
    read_bytes: int
    file_bytes: int


class Plan(NamedTuple):
    """The estimated cost of a query."""

    question: str
    """The query, in words."""
    how: str
    """The method: a search for each fingerprint in all stores, or a join of all fingerprints."""
    why: str
    """The reason for the method."""
    tasks: int
    """The number of tasks in all stages."""
    read_bytes: int
    """Bytes read from the stores. They come from a disk if they are not in memory."""
    file_bytes: int
    """Approximate bytes of the stores' files, which remote stores fetch once."""
    exchanged_bytes: int
    """Bytes that tasks send to other tasks, or the driver to all machines."""
    longest: TaskCost
    """The cost of the longest task, which does not run faster on more cores."""
    core_seconds: float
    """Seconds of a core with the files in memory, including Spark's own work."""
    chance: float
    """The number of neighbours that a fingerprint has by chance."""
    chance_pairs: float
    """The number of all pairs by chance."""

    def seconds(self, cores: int, *, disk: float = math.inf, network: float = math.inf) -> float:
        """The seconds on this number of cores, without the start of Spark, which takes about half a second.

        A core reads data that is not in memory at `disk` bytes a second, and fetches data of remote stores that is not
        in the cache at `network` bytes a second. One task counts, partitions and fetches a store, so more cores than
        stores shorten only the rest of the work.
        """
        shared = (self.core_seconds + self.read_bytes / disk) / cores
        alone = self.longest.core_seconds + self.longest.read_bytes / disk
        return max(shared, alone) + max(self.file_bytes / cores, self.longest.file_bytes) / network

    def __str__(self) -> str:
        lines = [
            f"{self.question}: {self.how}, {self.why}",
            f"  {self.tasks:,} tasks, {_count(self.core_seconds)} core-seconds",
            f"  {_bytes(self.read_bytes)} read, {_bytes(self.exchanged_bytes)} exchanged",
            f"  by chance: {_count(self.chance)} neighbours for each fingerprint, {_count(self.chance_pairs)} pairs",
        ]
        return "\n".join(lines)


def plan(
    question: Literal["near", "pairs", "clusters"],
    fingerprints: Sequence[int],
    k: int = 3,
    *,
    queries: int | None = None,
    new: int | None = None,
    tasks: int = 8,
    ranges: int | None = None,
) -> Plan:
    """Estimates the cost of a query to stores, whose numbers of fingerprints are `fingerprints`.

    `queries` is the number of fingerprints for `near`, `new` is the number of fingerprints for `pairs(new=…)`, and
    `tasks` is the number of concurrent tasks. The estimate assumes that a query finds one page, and that five
    fingerprints have one pair. Page templates have many more pairs. For these, add 2.5 microseconds of a core for each
    row of the result.
    """
    check_k(k)
    check_count("tasks", tasks)
    if not fingerprints:
        raise ValueError("fingerprints must not be empty: give the number of fingerprints of each store")
    if question == "near":
        if queries is None:
            raise ValueError("queries is missing: give the number of queries")
        _check_some("queries", queries)
        return _near(fingerprints, k, queries, tasks)
    if queries is not None:
        raise ValueError(f'queries is only for "near", not for "{question}"')
    if question == "pairs" and new is not None:
        _check_some("new", new)
        return _new(fingerprints, k, new, tasks)
    if new is not None:
        raise ValueError(f'new is only for "pairs", not for "{question}"')
    if question == "pairs":
        return _pairs(fingerprints, k, tasks, ranges)
    if question == "clusters":
        return _clusters(fingerprints, k, tasks)
    raise ValueError(f'question must be "near", "pairs" or "clusters", not {question!r}')


def _check_some(name: str, count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{name} must be an int, not {type(count).__name__}")
    if count < 1:
        raise ValueError(f"{name} must be at least 1, not {count}")


def _search(count: int, k: int) -> float:
    """Seconds of a core for a search among `count` fingerprints in memory."""
    wider = _WIDER[k] if k < len(_WIDER) else _WIDER[-1] * 2 ** (k - len(_WIDER) + 1)
    # A larger table has a smaller share in processor caches.
    each = 70e-9 + 175e-9 * max(math.log10(max(count, 1)) - 6, -0.3)
    return min(each * wider, 1e-6 + count * 0.6e-9)


def _asked(fingerprints: Sequence[int], k: int, queries: int, tasks: int) -> tuple[int, int, float, TaskCost]:
    """The number of tasks that search stores, the bytes that they read, their seconds, and the longest task."""
    each = slice_of(queries, len(fingerprints), tasks)
    whole, rest = divmod(queries, SLICE)
    asking = len(counts_of(rest, each, len(fingerprints), tasks))
    if whole:
        asking += whole * len(counts_of(SLICE, each, len(fingerprints), tasks))
    found = queries * _FOUND / len(fingerprints)
    read, seconds, longest = 0, 0.0, TaskCost(0, 0, 0)
    for count in fingerprints:
        looked = min(_TABLE_BYTES * count, queries * (k + 1) * _LINE_BYTES)
        mine = int(looked + min(found * _LINE_BYTES, _URL_BYTES * count))
        taken = queries * _search(count, k) + found * _FOUND_SECONDS
        read += mine
        seconds += taken
        # Several tasks may share a store, or one task may have several; a machine reads and fetches a store once.
        share = len(fingerprints) / asking
        longest = max(longest, TaskCost(taken * share, int(mine * share), int(_FILE_BYTES * count * max(share, 1))))
    return asking, read, seconds, longest


def _near(fingerprints: Sequence[int], k: int, queries: int, tasks: int) -> Plan:
    asking, read, seconds, longest = _asked(fingerprints, k, queries, tasks)
    found = queries * _FOUND
    merging = tasks if len(fingerprints) > 1 else 0
    return _made(
        f"{queries:,} queries within {k} of {_of(fingerprints)}",
        "a search for each query in each store",
        "because only a search finds the URLs of pages",
        fingerprints,
        k,
        tasks=asking + merging,
        read=read,
        exchanged=8 * queries + int(_FOUND_BYTES * found),
        seconds=seconds + found * _ROW,
        longest=longest,
    )


def _new(fingerprints: Sequence[int], k: int, new: int, tasks: int) -> Plan:
    asking, read, seconds, longest = _asked(fingerprints, k, new, tasks)
    joined = _pairs(fingerprints, k, tasks, None)
    cost = _count(joined.core_seconds)
    is_less = seconds < joined.core_seconds
    why = f"which costs less than a join of all fingerprints ({cost} core-seconds)"
    if not is_less:
        advice = "publish the new fingerprints, and ask for all pairs"
        why = f"although a join of all fingerprints costs less ({cost} core-seconds): {advice}"
    found = int(new * _FOUND)
    return _made(
        f"pairs within {k} of {new:,} new fingerprints in {_of(fingerprints)}",
        "a search for each new fingerprint in each store",
        why,
        fingerprints,
        k,
        tasks=asking + tasks,
        read=read,
        exchanged=8 * new + 20 * found,
        seconds=seconds + found * 2 * _ROW,
        longest=longest,
    )


def _pairs(fingerprints: Sequence[int], k: int, tasks: int, ranges: int | None) -> Plan:
    count, parts = sum(fingerprints), k + 1
    reading, most = _groups(fingerprints, tasks)
    joining, moved, counting = ranges or ranges_of(count, k, tasks), parts, reading
    if ranges is None and (plan := few(count, k, tasks)) is not None:
        joining = moved = len(plan)
        counting = 0
    more = max(k + 1 - len(_JOINED), 0)
    dealing = (_COUNTED if counting else _COUNTED / 2) + moved * _MOVED
    join = _JOINED[k - more] * (4 / 3) ** more
    seconds = count * (dealing + join) + (_PAIRS * count + _chance_pairs(count, k)) * _ROW
    return _made(
        f"pairs within {k} of {_of(fingerprints)}",
        "a join",
        f"which splits each fingerprint into {parts} parts, and sends the fingerprint to "
        + ("a task for each part" if counting else "every task"),
        fingerprints,
        k,
        tasks=counting + reading + joining,
        read=_COLUMN_BYTES * count,
        exchanged=8 * moved * count,
        seconds=seconds,
        longest=TaskCost(max(dealing * most, join * count / joining), _COLUMN_BYTES * most, _FILE_BYTES * most),
    )


def _clusters(fingerprints: Sequence[int], k: int, tasks: int) -> Plan:
    pairs, count = _pairs(fingerprints, k, tasks, None), sum(fingerprints)
    groups, most = _groups(fingerprints, tasks)
    longest = pairs.longest
    # Two scans read all pages: for the first page of each fingerprint, and for the result. The parts are exchanged some
    # twelve times, and the rounds are some joins of Spark.
    parts = parts_of(count, tasks)
    more = 2 * groups + 12 * parts + 6 * tasks
    # Pairs go from each part to each other part, and so do followers.
    blobs = 2 * parts * parts
    return pairs._replace(
        question=f"clusters within {k} of {_of(fingerprints)}",
        how="a join, and rounds over its pairs",
        tasks=pairs.tasks + more,
        read_bytes=pairs.read_bytes + 2 * _URL_BYTES * count,
        exchanged_bytes=pairs.exchanged_bytes + _RANKED_BYTES * count,
        longest=TaskCost(
            longest.core_seconds + 2 * _SENT_ON * most, longest.read_bytes + 2 * _URL_BYTES * most, longest.file_bytes
        ),
        core_seconds=pairs.core_seconds + _RANKED_SECONDS * count + more * _TASK + blobs * _BLOB,
    )


def _groups(fingerprints: Sequence[int], tasks: int) -> tuple[int, int]:
    """The number of tasks that read stores of these sizes, and the maximum number of fingerprints of a task.

    Small stores share a task.
    """
    groups = together(fingerprints, FINGERPRINTS_MIN, tasks)
    ends = accumulate(groups)
    return len(groups), max(sum(fingerprints[end - of : end]) for of, end in zip(groups, ends, strict=True))


def _made(
    question: str,
    how: str,
    why: str,
    fingerprints: Sequence[int],
    k: int,
    *,
    tasks: int,
    read: int,
    exchanged: int,
    seconds: float,
    longest: TaskCost,
) -> Plan:
    count = sum(fingerprints)
    seconds += _JOB + tasks * _TASK
    files, chance = _FILE_BYTES * count, _chance_pairs(count, k)
    return Plan(question, how, why, tasks, read, files, exchanged, longest, seconds, strangers(count, k), chance)


def _chance_pairs(count: int, k: int) -> float:
    """The number of pairs of different fingerprints by chance: n^2 * V(k) / 2^65."""
    return strangers(count, k) * count / 2


def _of(fingerprints: Sequence[int]) -> str:
    many = "stores" if len(fingerprints) > 1 else "store"
    return f"{len(fingerprints):,} {many} with {sum(fingerprints):,} fingerprints"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _bytes(value: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            return f"{value:,.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"
        value /= 1000
    raise AssertionError("the last unit takes any number")
