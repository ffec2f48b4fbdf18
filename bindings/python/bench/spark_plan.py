"""Compares the estimates of `Stores.plan` with measurements: exchanged bytes, tasks and core-seconds.

    python bindings/python/bench/spark_plan.py [--pages 1000000] [--queries 100000] [--stores 4] [--k 3] [--json]

Core-seconds are those of the driver, Java and the workers in the last of three runs, when Java has compiled its code.
Bytes read are the bytes of the stores' files in the page cache after a run that began with none there. Also prints
the most memory that a worker had.
"""

import argparse
import ctypes
import json
import mmap
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession
from spark import prints, published, session

from simkeep.spark import Plan, Stores

RUNS = 3
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = mmap.PAGESIZE


def processes() -> list[int]:
    """This process and its descendants."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = path.parent.name, path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(rest[1]), []).append(int(pid))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found


def processor_seconds() -> float:
    """The CPU seconds of all these processes, including ended ones."""
    total = 0
    for pid in processes():
        try:
            total += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
        except OSError:
            continue
    return total / TICKS


def workers() -> Iterable[tuple[int, int]]:
    """The workers of Spark, each with the bytes of its private memory."""
    for pid in processes():
        try:
            is_worker = b"pyspark" in Path(f"/proc/{pid}/cmdline").read_bytes()
            rest = Path(f"/proc/{pid}/statm").read_text().split()
        except OSError:
            continue
        if is_worker and b"java" not in Path(f"/proc/{pid}/cmdline").read_bytes()[:100]:
            yield pid, (int(rest[1]) - int(rest[2])) * PAGE


class Watch:
    """Records the most memory that a worker has."""

    def __init__(self) -> None:
        self.most, self.ended = 0, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.ended.wait(0.05):
            self.most = max([self.most, *(of for _, of in workers())])

    def end(self) -> int:
        self.ended.set()
        self.thread.join()
        return self.most


def shuffled(spark: SparkSession) -> tuple[int, int]:
    """The shuffle bytes written, and the number of completed tasks."""
    # Spark updates these shortly after a job ends.
    time.sleep(0.5)
    (all_of,) = [spark.sparkContext._jsc.sc().statusStore().executorList(False).apply(0)]
    return all_of.totalShuffleWrite(), all_of.completedTasks()


def files(paths: list[Path]) -> list[Path]:
    return [file for path in paths for file in (path / "files").iterdir()]


def forget(paths: list[Path]) -> None:
    """Drops the files from the page cache, except parts that a process maps."""
    for file in files(paths):
        handle = os.open(file, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def in_memory(paths: list[Path]) -> int:
    """The number of bytes of the files in the page cache."""
    system, found = ctypes.CDLL(None), 0
    for file in files(paths):
        with open(file, "rb") as of, mmap.mmap(of.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            view = np.frombuffer(mapped, np.uint8)
            there = np.zeros(-(-len(view) // PAGE), np.uint8)
            size, to = ctypes.c_size_t(len(view)), ctypes.c_void_p(there.ctypes.data)
            if system.mincore(ctypes.c_void_p(view.ctypes.data), size, to):
                raise OSError(f"{file}: mincore failed")
            found += int((there & 1).sum()) * PAGE
            del view
    return found


def begun(paths: list[Path]) -> Stores:
    """Opens the stores in a new session."""
    return Stores(session(), paths)


def measured(paths: list[Path], plan: Callable[[Stores], Plan], work: Callable[[Stores], Any]) -> dict[str, Any]:
    """Runs a query some times, and returns its figures and those of its plan."""
    stores = begun(paths)
    spark = SparkSession.active()
    figures: dict[str, Any] = {"found": work(stores)}
    for _ in range(RUNS - 1):
        watch = Watch()
        (bytes_before, tasks_before), seconds, at = shuffled(spark), processor_seconds(), time.perf_counter()
        work(stores)
        figures["seconds"] = time.perf_counter() - at
        figures["core_seconds"] = processor_seconds() - seconds
        bytes_after, tasks_after = shuffled(spark)
        figures["worker_bytes_max"] = watch.end()
        figures["exchanged_bytes"], figures["tasks"] = bytes_after - bytes_before, tasks_after - tasks_before
    planned = plan(stores)
    # Stop the workers, whose mappings keep files in memory.
    spark.stop()
    time.sleep(1)
    stores = begun(paths)
    forget(paths)
    before = in_memory(paths)
    work(stores)
    figures["read_bytes"] = in_memory(paths) - before
    SparkSession.active().stop()
    for name in ("core_seconds", "exchanged_bytes", "read_bytes", "tasks"):
        figures[f"planned_{name}"] = getattr(planned, name)
        figures[f"{name}_of_planned"] = figures[name] / max(getattr(planned, name), 1e-9)
    return figures


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=int, default=1_000_000, help="pages of each store")
    ask.add_argument("--stores", type=int, default=4)
    ask.add_argument("--queries", type=int, default=100_000)
    ask.add_argument("--k", type=int, default=3)
    ask.add_argument("--clusters", action="store_true", help="also measure clusters")
    ask.add_argument("--json", action="store_true", help="print a line of JSON")
    args = ask.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        all_prints = prints(args.pages * args.stores, 1)
        shared = np.split(all_prints, args.stores)
        paths = [published(Path(folder), number, mine) for number, mine in enumerate(shared)]
        queries = np.random.default_rng(2).choice(all_prints, args.queries)
        different, k = len(np.unique(queries)), args.k
        near = lambda of: of.plan("near", k, queries=different)  # noqa: E731
        figures["near"] = measured(paths, near, lambda of: of.near(queries, k).count())
        figures["pairs"] = measured(paths, lambda of: of.plan("pairs", k), lambda of: of.pairs(k).count())
        if args.clusters:
            figures["clusters"] = measured(paths, lambda of: of.plan("clusters", k), lambda of: of.clusters(k).count())
    if args.json:
        print(json.dumps(vars(args) | figures))
        return
    for question, of in figures.items():
        most = of["worker_bytes_max"]
        print(f"{question}: {of['found']:,} found in {of['seconds']:.2f} s, at most {most:,} bytes a worker")
        for name in ("core_seconds", "exchanged_bytes", "read_bytes", "tasks"):
            planned, share = of[f"planned_{name}"], of[f"{name}_of_planned"]
            print(f"  {name:16}{of[name]:>18,.2f}, planned {planned:>18,.2f}: {share:.2f}")


if __name__ == "__main__":
    main()
