"""What questions to several stores cost on Spark, beside one process that asks the same.

    python bindings/python/bench/spark.py [--pages 1000000] [--queries 100000] [--stores 4] [--k 3] [--json]

Makes stores of so many pages, of which three of ten are near others and one in fifty has one fingerprint, and
publishes them. All figures are the least of three, in seconds, on as many tasks at a time as there are processors.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

import simkeep
from simkeep import partition
from simkeep.spark import Stores

ROUNDS = 3
CHECKED = 1000
HOT = np.uint64(0x0123_4567_89AB_CDEF)
"""The fingerprint of very many pages."""


def prints(count: int, seed: int) -> Any:
    """Fingerprints such as crawls have."""
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
    """A published store of pages with these fingerprints."""
    to = folder / f"w{number}"
    with simkeep.Store.create(folder / f"s{number}") as store:
        urls = pa.array([f"https://host-{n % 997}.s{number}.example/{n}" for n in range(len(mine))])
        at = pa.array(np.full(len(mine), 1_700_000_000_000), pa.timestamp("ms", "UTC"))
        store.load(pa.table({"url": urls, "at": at, "fingerprint": mine}))
        store.publish(to)
    return to


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least time of some runs, and what the last one returned."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        done = work()
        times.append(time.perf_counter() - begun)
    return min(times), done


def session(**settings: str) -> SparkSession:
    """Spark on all processors of this machine; an underscore in a setting stands for a dot."""
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.driver.memory", "4g")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def by_rows(spark: SparkSession, stores: Stores, k: int) -> int:
    """All pairs with a row for each fingerprint and part, as Spark would have it, instead of packed ones."""
    parts = simkeep.join_parts(k)

    def dealt(batches: Any) -> Any:
        from simkeep.spark import Pinned

        for batch in batches:
            for packed in batch["store"].to_pylist():
                store = Pinned.unpacked(packed)
                reader = simkeep.Reader.published(store.path, store.generation)
                stream = reader.all_fingerprints(epoch=store.epoch).batches(signed=True)
                for some in pa.RecordBatchReader.from_stream(stream):
                    values = some["fingerprint"].to_numpy().view(np.uint64)
                    for part, (lowest, bits) in enumerate(parts):
                        value = (values >> np.uint64(lowest)) & np.uint64((1 << bits) - 1)
                        group = (value % np.uint64(16)).astype(np.int32) * len(parts) + part
                        yield pa.record_batch([pa.array(group), some["fingerprint"]], names=["task", "fingerprint"])

    def joined(table: Any) -> Any:
        part = table["task"][0].as_py() % len(parts)
        values = np.unique(table["fingerprint"].to_numpy())
        found = pa.RecordBatchReader.from_stream(simkeep.join(values, k, part=part, threads=1).batches(signed=True))
        pairs = found.read_all()
        return pa.table({"left": pairs["left_fingerprint"], "right": pairs["right_fingerprint"]})

    rows = spark.createDataFrame([(store.packed(),) for store in stores.pinned], "store string")
    rows = rows.repartition(len(stores.pinned)).mapInArrow(dealt, "task int, fingerprint long")
    return rows.groupBy("task").applyInArrow(joined, "left long, right long").count()


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=int, default=1_000_000, help="pages of each store")
    ask.add_argument("--stores", type=int, default=4)
    ask.add_argument("--queries", type=int, default=100_000)
    ask.add_argument("--k", type=int, default=3)
    ask.add_argument("--skew", type=int, default=0, help="further pages, all of one fingerprint, over all stores")
    ask.add_argument("--json", action="store_true", help="print a line of JSON")
    args = ask.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    told: dict[str, Any] = vars(args).copy()
    with tempfile.TemporaryDirectory() as folder:
        all_prints = prints(args.pages * args.stores, 1)
        hot = np.full(args.skew // args.stores, HOT, np.uint64)
        shared = [np.concatenate([mine, hot]) for mine in np.split(all_prints, args.stores)]
        if args.skew:
            # A neighbour, so that it is in a pair.
            shared[0] = np.append(shared[0], HOT ^ np.uint64(1))
        paths = [published(Path(folder), number, mine) for number, mine in enumerate(shared)]
        spark = session()
        stores = Stores(spark, paths)
        queries = np.random.default_rng(2).choice(all_prints, args.queries)

        told["floor"], _ = least(lambda: spark.range(0, 4, 1, 4).mapInArrow(lambda of: of, "id long").count())
        told["near"], hits = least(lambda: stores.near(queries, args.k).toArrow())
        readers = {path.name: simkeep.Reader.published(path) for path in paths}
        asked = partition.fingerprints(queries)

        def alone() -> Any:
            found = [
                hit for name, of in readers.items() for hit in partition.near(name, of, asked, k=args.k, limit=16)
            ]
            return partition.merged(found, 16)

        told["near_in_one_process"], _ = least(alone)
        told["hits"] = hits.num_rows
        wrong = 0
        checked = np.random.default_rng(3).choice(asked, min(CHECKED, len(asked)), replace=False)
        which = hits.filter(pc.is_in(hits["query"], pa.array(checked)))
        found_of = which.group_by("query").aggregate([("distance", "list")]).to_pydict()
        found = dict(zip(found_of["query"], found_of["distance_list"], strict=True))
        for query in checked:
            distances = np.bitwise_count(all_prints ^ query.view(np.uint64))
            near = np.sort(distances[distances <= args.k])[:16].tolist()
            wrong += near != sorted(found.get(int(query), []))
        told["near_unlike_brute_force"] = wrong

        if args.skew:
            with_hot = np.append(queries, HOT)
            told["near_with_the_frequent_one"], hits = least(lambda: stores.near(with_hot, args.k).toArrow())
            of_hot = hits.filter(pc.equal(hits["query"], pa.scalar(int(HOT.view(np.int64)), pa.int64())))
            told["pages_of_the_frequent_one"] = of_hot.num_rows
            told["complete_of_the_frequent_one"] = of_hot["complete"].unique().to_pylist()
            of_pair = f"left = {HOT.view(np.int64)} or right = {HOT.view(np.int64)}"
            told["pairs_of_the_frequent_one"] = stores.pairs(args.k).where(of_pair).count()

        told["pairs"], count = least(lambda: stores.pairs(args.k).count())
        different = np.unique(np.concatenate(shared))

        def join() -> int:
            found = pa.RecordBatchReader.from_stream(simkeep.join(different, args.k).batches())
            return sum(len(of) for of in found)

        told["pairs_in_one_process"], native = least(join)
        told["pairs_by_rows"], rows = least(lambda: by_rows(spark, stores, args.k))
        told["pairs_found"] = {"spark": count, "one process": native, "by rows": rows}
        spark.stop()
    if args.json:
        print(json.dumps(told))
    else:
        for name, value in told.items():
            print(f"{name:28}{value:.2f}" if isinstance(value, float) else f"{name:28}{value}")


if __name__ == "__main__":
    main()
