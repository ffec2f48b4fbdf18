"""Measures queries to several stores on Spark, and the same queries in one process.

    python bindings/python/bench/spark.py [--pages 1000000] [--queries 100000] [--stores 4] [--k 3] [--json]

Creates and publishes `--stores` stores of `--pages` pages each. Three pages in ten are near another, and one in fifty
has the same, most frequent fingerprint. All times are the least of five, in seconds, with a task for each processor.
`--connect` starts a Spark Connect server and queries it. `--s3` starts an object store and puts the stores there.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from object_store import carried
from pyspark.sql import SparkSession

import simkeep
from simkeep import partition
from simkeep.spark import Stores
from simkeep.spark.cache import Cache

ROUNDS = 5
CHECKED = 1000
HOT = np.uint64(0x0123_4567_89AB_CDEF)
"""The most frequent fingerprint."""


def prints(count: int, seed: int) -> Any:
    """Fingerprints with the near-duplicates of a crawl."""
    random = np.random.default_rng(seed)
    found = random.integers(0, 1 << 64, count, dtype=np.uint64)
    near = count * 3 // 10
    bits = random.integers(0, 64, (3, near)).astype(np.uint64)
    moved = np.uint64(1) << bits[0] | np.uint64(1) << bits[1] | np.uint64(1) << bits[2]
    found[:near] = found[random.integers(0, count, near)] ^ moved
    found[near : near + count // 50] = found[-1]
    random.shuffle(found)
    return found


def published(folder: Path, number: int, mine: Any) -> Path:
    """Publishes a store of pages with these fingerprints."""
    to = folder / f"w{number}"
    with simkeep.Store.create(folder / f"s{number}") as store:
        urls = pa.array([f"https://host-{n % 997}.s{number}.example/{n}" for n in range(len(mine))])
        at = pa.array(np.full(len(mine), 1_700_000_000_000), pa.timestamp("ms", "UTC"))
        store.load(pa.table({"url": urls, "at": at, "fingerprint": mine}))
        store.publish(to)
    return to


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    """Returns the least time of some runs, and the result of the last."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        done = work()
        times.append(time.perf_counter() - begun)
    return min(times), done


def session(connect: bool = False, **settings: str) -> SparkSession:
    """Spark on all processors of this machine; an underscore in a setting stands for a dot."""
    if connect:
        return SparkSession.builder.remote("local[*]").getOrCreate()
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.driver.memory", "4g")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def by_rows(spark: SparkSession, stores: Stores, k: int) -> int:
    """Counts all pairs with plain Spark rows, one for each fingerprint and part, instead of packed ones."""
    parts = simkeep.join_parts(k)

    def dealt(batches: Any) -> Any:
        from simkeep.spark import Pinned

        for batch in batches:
            for packed in batch["store"].to_pylist():
                store = Pinned.unpacked(packed)
                with store.asked() as reader:
                    stream = reader.all_fingerprints(epoch=store.epoch).batches(signed=True)
                    for some in pa.RecordBatchReader.from_stream(stream):
                        values = some["fingerprint"].to_numpy().view(np.uint64)
                        for part, (lowest, bits) in enumerate(parts):
                            value = (values >> np.uint64(lowest)) & np.uint64((1 << bits) - 1)
                            group = pa.array((value % np.uint64(16)).astype(np.int32) * len(parts) + part)
                            yield pa.record_batch([group, some["fingerprint"]], names=["task", "fingerprint"])

    def joined(table: Any) -> Any:
        part = table["task"][0].as_py() % len(parts)
        values = np.unique(table["fingerprint"].to_numpy())
        found = pa.RecordBatchReader.from_stream(simkeep.join(values, k, part=part, threads=1).batches(signed=True))
        pairs = found.read_all()
        return pa.table({"left": pairs["left_fingerprint"], "right": pairs["right_fingerprint"]})

    rows = spark.createDataFrame([(store.packed(),) for store in stores.pinned], "store string")
    rows = rows.repartition(len(stores.pinned)).mapInArrow(dealt, "task int, fingerprint long")
    return rows.groupBy("task").applyInArrow(joined, "left long, right long").count()


def floor(spark: SparkSession) -> float:
    """The time of a minimal job: four rows through Python."""
    return least(lambda: spark.range(0, 4, 1, 4).mapInArrow(lambda of: of, "id long").count())[0]


def near(figures: dict[str, Any], stores: Stores, paths: list[Path], shared: list[Any], skew: bool) -> None:
    """Times `near`, and counts results that differ from brute force."""
    all_prints, k = np.concatenate(shared), figures["k"]
    queries = np.random.default_rng(2).choice(all_prints, figures["queries"])
    figures["near"], hits = least(lambda: stores.near(queries, k).toArrow())
    readers = {path.name: simkeep.Reader.published(path) for path in paths}
    asked = partition.fingerprints(queries)

    def alone() -> Any:
        found = [hit for name, of in readers.items() for hit in partition.near(name, of, asked, k=k, limit=16)]
        return partition.merged(found, 16)

    figures["near_in_one_process"], _ = least(alone)
    figures["hits"] = hits.num_rows
    wrong = 0
    checked = np.random.default_rng(3).choice(asked, min(CHECKED, len(asked)), replace=False)
    which = hits.filter(pc.is_in(hits["query"], pa.array(checked)))
    found_of = which.group_by("query").aggregate([("distance", "list")]).to_pydict()
    found = dict(zip(found_of["query"], found_of["distance_list"], strict=True))
    for query in checked:
        distances = np.bitwise_count(all_prints ^ query.view(np.uint64))
        wrong += np.sort(distances[distances <= k])[:16].tolist() != sorted(found.get(int(query), []))
    figures["near_unlike_brute_force"] = wrong
    if skew:
        with_hot = np.append(queries, HOT)
        figures["near_with_the_frequent_one"], hits = least(lambda: stores.near(with_hot, k).toArrow())
        of_hot = hits.filter(pc.equal(hits["query"], pa.scalar(int(HOT.view(np.int64)), pa.int64())))
        figures["pages_of_the_frequent_one"] = of_hot.num_rows
        figures["complete_of_the_frequent_one"] = of_hot["complete"].unique().to_pylist()
        of_pair = f"left = {HOT.view(np.int64)} or right = {HOT.view(np.int64)}"
        figures["pairs_of_the_frequent_one"] = stores.pairs(k).where(of_pair).count()


def pairs(figures: dict[str, Any], spark: SparkSession, stores: Stores, shared: list[Any]) -> None:
    """Times `pairs`, and counts pairs that differ from those of one process."""
    k, different = figures["k"], np.unique(np.concatenate(shared))
    figures["pairs"], count = least(lambda: stores.pairs(k).count())

    def join() -> int:
        return sum(len(of) for of in pa.RecordBatchReader.from_stream(simkeep.join(different, k).batches()))

    figures["pairs_in_one_process"], native = least(join)
    figures["pairs_by_rows"], rows = least(lambda: by_rows(spark, stores, k))
    figures["pairs_found"] = {"spark": count, "one process": native, "by rows": rows}
    wanted = pa.RecordBatchReader.from_stream(simkeep.join(different, k).batches(signed=True)).read_all()
    wanted = np.stack([wanted["left_fingerprint"], wanted["right_fingerprint"]], axis=1).view(np.uint64)
    table = stores.pairs(k).toArrow()
    found = np.stack([table["left"], table["right"]], axis=1).view(np.uint64)
    _, times = np.unique(np.concatenate([np.sort(wanted, axis=1), found]), axis=0, return_counts=True)
    figures["pairs_unlike_one_process"] = int((times != 2).sum())


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=int, default=1_000_000, help="pages of each store")
    ask.add_argument("--stores", type=int, default=4)
    ask.add_argument("--queries", type=int, default=100_000)
    ask.add_argument("--k", type=int, default=3)
    ask.add_argument("--skew", type=int, default=0, help="further pages with one fingerprint, spread over all stores")
    ask.add_argument("--connect", action="store_true", help="query through Spark Connect")
    ask.add_argument("--s3", action="store_true", help="put the stores into an object store")
    ask.add_argument("--json", action="store_true", help="print a line of JSON")
    args = ask.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    figures: dict[str, Any] = vars(args).copy()
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        hot = np.full(args.skew // args.stores, HOT, np.uint64)
        shared = [np.concatenate([mine, hot]) for mine in np.split(prints(args.pages * args.stores, 1), args.stores)]
        if args.skew:
            # A neighbour, so that the frequent fingerprint has a pair.
            shared[0] = np.append(shared[0], HOT ^ np.uint64(1))
        paths = [published(folder, number, mine) for number, mine in enumerate(shared)]
        spark = session(args.connect)
        ends.callback(spark.stop)
        cache, where = Cache(str(folder / "cache")), paths
        if args.s3:
            where = ends.enter_context(carried(paths, folder / "server.log"))
            spark.conf.set("simkeep.cache.dir", cache.folder)
            figures["bytes"] = sum(file.stat().st_size for path in paths for file in path.glob("*s/*"))
        stores = Stores(spark, where)
        if args.s3:
            stores.near([1], args.k).count()
            figures["fetched_cold"] = cache.fetched()
        figures["floor"] = floor(spark)
        near(figures, stores, paths, shared, bool(args.skew))
        pairs(figures, spark, stores, shared)
        # Measure again, because a warm JVM is faster.
        again = dict(figures, floor=floor(spark))
        near(again, stores, paths, shared, False)
        for name in ("floor", "near", "near_in_one_process"):
            figures[name] = min(figures[name], again[name])
        if args.s3:
            figures["fetched_warm"] = cache.fetched() - figures["fetched_cold"]
            spark.conf.set("simkeep.cache.bytes", str(figures["bytes"] // 3))
            small = Stores(spark, where)
            figures["alike_by_a_small_cache"] = small.pairs(args.k).count() == figures["pairs_found"]["spark"]
            again = dict(figures)
            near(again, small, paths, shared, False)
            figures["near_unlike_brute_force_by_a_small_cache"] = again["near_unlike_brute_force"]
            figures["fetched_by_a_small_cache"] = cache.fetched() - figures["fetched_cold"] - figures["fetched_warm"]
    above = {name: figures[name] - figures["floor"] for name in ("near", "pairs")}
    figures["near_above_the_floor"] = above["near"] / figures["near_in_one_process"]
    figures["pairs_above_the_floor"] = above["pairs"] / figures["pairs_in_one_process"]
    figures["rows_of_blobs"] = figures["pairs_by_rows"] / figures["pairs"]
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28}{value:.2f}" if isinstance(value, float) else f"{name:28}{value}")


if __name__ == "__main__":
    main()
