"""Measures reading tables with Spark, and a scan of the same stores in one process.

    python bindings/python/bench/spark_tables.py [--pages 1000000] [--stores 4] [--json]

Creates and publishes `--stores` stores of `--pages` pages each, on some thousand hosts. All times are the least of
five, in seconds, with a task for each processor. Rates are rows a second relative to the one process. The bytes read
for the pages of one host are the bytes in the page cache after a query that began with none there, as a share of all
bytes. They include read-ahead of some MiB around each access, because files are mapped with huge pages. So the share
falls as stores grow. At the end, Spark writes all visits to Parquet, a new store loads them, and both must give the
same answers.
"""

import argparse
import ctypes
import json
import mmap
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from spark import least, session

import simkeep
from simkeep.spark import Stores

HOSTS = 997
QUESTIONS = 10_000


def prints(count: int) -> Any:
    """Fingerprints like those of a crawl: three in ten are near another one."""
    random = np.random.default_rng(1)
    found = random.integers(0, 1 << 64, count, dtype=np.uint64)
    near = count * 3 // 10
    bits = random.integers(0, 64, (3, near)).astype(np.uint64)
    found[:near] = found[random.integers(0, count, near)] ^ (np.uint64(1) << bits[0] | np.uint64(1) << bits[1])
    random.shuffle(found)
    return found


def url(number: int, store: int) -> str:
    return f"https://host-{number % HOSTS}.s{store}.example/{number}"


def published(folder: Path, store: int, mine: Any) -> Path:
    """Publishes a store of pages with these fingerprints."""
    to = folder / f"w{store}"
    urls = pa.array([url(number, store) for number in range(len(mine))])
    at = np.random.default_rng(store).integers(1_700_000_000_000, 1_710_000_000_000, len(mine))
    rows = pa.table({"url": urls, "at": pa.array(at, pa.timestamp("ms", "UTC")), "fingerprint": mine})
    with simkeep.Store.create(folder / f"s{store}") as made:
        made.load(rows)
        made.publish(to)
    return to


def files(paths: list[Path]) -> list[Path]:
    return [file for path in paths for file in sorted((path / "files").iterdir()) if file.stat().st_size]


def fresh(paths: list[Path], to: Path) -> list[Path]:
    """Copies stores, and drops the copies from the page cache."""
    copies = [Path(shutil.copytree(path, to / path.name)) for path in paths]
    for file in files(copies):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if (left := held(copies)) > 0:
        raise SystemExit(f"{left} bytes of the files are still in the page cache after posix_fadvise")
    return copies


def held(paths: list[Path]) -> int:
    """The number of bytes of the files in the page cache."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    found = 0
    for file in files(paths):
        size = file.stat().st_size
        with file.open("rb") as opened:
            at = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, opened.fileno(), 0)
        if at in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), f"{file}: cannot be mapped")
        pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        if libc.mincore(at, size, pages):
            raise OSError(ctypes.get_errno(), f"{file}: mincore failed")
        libc.munmap(at, size)
        found += sum(byte & 1 for byte in pages.raw) * mmap.PAGESIZE
    return found


def alike(paths: list[Path], again: Path, pages: int, all_prints: Any) -> int:
    """The number of random queries that two sets of stores answer differently."""
    random = np.random.default_rng(5)
    readers = [simkeep.Reader.published(path) for path in paths]
    wrong = 0
    with simkeep.Reader(again) as other:
        for _ in range(QUESTIONS // 2):
            store, number = int(random.integers(len(readers))), int(random.integers(pages))
            asked = url(number, store)
            one, two = readers[store], other
            latest = [of.latest(asked) for of in (one, two)]
            histories = [[str(entry.visit) for entry in of.history(asked)] for of in (one, two)]
            same = latest[0] and latest[1] and (latest[0].first, str(latest[0].last)) == (
                latest[1].first, str(latest[1].last))
            wrong += not same or histories[0] != histories[1]
        queries = random.choice(all_prints, QUESTIONS // 2)
        per_store = [of.near_batch(queries, 3, limit=None) for of in readers]
        for matches in zip(other.near_batch(queries, 3, limit=None), *per_store, strict=True):
            ours, *theirs = [{(near.url, near.distance) for near in of} for of in matches]
            wrong += ours != set().union(*theirs)
    return wrong


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=int, default=1_000_000, help="pages of each store")
    ask.add_argument("--stores", type=int, default=4)
    ask.add_argument("--json", action="store_true", help="print a line of JSON")
    args = ask.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    figures: dict[str, Any] = vars(args).copy()
    every = args.pages * args.stores
    with tempfile.TemporaryDirectory() as folder:
        all_prints = prints(every)
        shared = np.split(all_prints, args.stores)
        paths = [published(Path(folder), number, mine) for number, mine in enumerate(shared)]
        # The default type, INT96, is for Hive, and has no time zone.
        spark = session(spark_sql_parquet_outputTimestampType="TIMESTAMP_MICROS")
        stores = Stores(spark, paths)

        def alone() -> int:
            rows = 0
            for path in paths:
                with simkeep.Reader.published(path) as reader:
                    batches = pa.RecordBatchReader.from_stream(reader.scan().batches(signed=True))
                    rows += sum(batch.num_rows for batch in batches)
            return rows

        def written(**some: Any) -> Callable[[], None]:
            return lambda: stores.pages(**some).write.format("noop").mode("overwrite").save()

        figures["one_process"], rows = least(alone)
        figures["noop"], _ = least(written())
        figures["noop_two_columns"], _ = least(written(columns=["url", "fingerprint"]))
        figures["count"], counted = least(lambda: stores.pages().count())
        figures["floor"], _ = least(lambda: stores.pages(filters=[("store", "=", "none")]).count())
        if not rows == counted == every:
            raise SystemExit(f"{rows} rows in one process and {counted} by Spark, of {every}")
        for name in ("noop", "noop_two_columns", "count"):
            figures[f"{name}_rate"] = figures["one_process"] / figures[name]

        prefix = f"https://host-3.s{args.stores - 1}.example/"
        total = sum(file.stat().st_size for file in files(paths))
        narrow = [("url", "starts with", prefix)]
        for name, filters in (("prefix", narrow), ("all", None)):
            copies = fresh(paths, Path(folder) / name)
            # This includes the bytes read to pin, open and split the stores.
            figures[f"{name}_rows"] = Stores(spark, copies).pages(filters=filters).count()
            figures[f"{name}_bytes_share"] = held(copies) / total
            for copy in copies:
                shutil.rmtree(copy)
        begun = time.perf_counter()
        stores.pages(filters=narrow).count()
        figures["prefix"] = time.perf_counter() - begun
        figures["bytes"] = total

        visits = stores.visits(columns=["url", "at", "seen", "fingerprint", "digest", "status"])
        visits.write.parquet(f"{folder}/visits")
        with simkeep.Store.create(Path(folder) / "again") as again:
            again.load(ds.dataset(f"{folder}/visits", format="parquet").scanner().to_reader())
            again.seal()
        figures["answers_that_differ"] = alike(paths, Path(folder) / "again", args.pages, all_prints)
        figures["questions"] = QUESTIONS
        spark.stop()
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:24}{value:.4f}" if isinstance(value, float) else f"{name:24}{value}")


if __name__ == "__main__":
    main()
