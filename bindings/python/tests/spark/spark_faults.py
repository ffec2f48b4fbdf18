"""The same answers with failing tasks, killed processes, changing generations and Spark Connect.

These tests take some minutes, so they run only by name: `pytest tests/spark/spark_faults.py`. Spark
Connect needs `pip install "pyspark[connect]"`.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from published import Crawl

import simkeep

pytest.importorskip("numpy")
pytest.importorskip("pyarrow")
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")

MASK = (1 << 64) - 1

FAULTS = """
# What Python runs first: each task fails at its first attempt, and each fifth kills its process.
import os
import signal
import zlib

if folder := os.environ.get("FAULTS"):
    from pyspark import TaskContext

    from simkeep import partition
    from simkeep.spark.pinned import Pinned

    def faulty(work):
        def run(*args, **keywords):
            context = TaskContext.get()
            if context is not None:
                task = f"{context.stageId()}-{context.partitionId()}"
                try:
                    open(os.path.join(folder, task), "x").close()
                except FileExistsError:
                    pass
                else:
                    if zlib.crc32(task.encode()) % 5 == 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    raise RuntimeError("the first try of each task fails")
            return work(*args, **keywords)

        return run

    Pinned.asked = faulty(Pinned.asked)
    partition.joined = faulty(partition.joined)
    partition.merged = faulty(partition.merged)
"""

PROGRAM = """
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from spark_faults import answers

mode, folder, *paths = sys.argv[1:]
from pyspark.sql import SparkSession

if mode == "connect":
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
else:
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    for name, value in {"enabled": "true", "quantile": "0.1", "multiplier": "1.01", "interval": "20ms"}.items():
        builder = builder.config("spark.speculation" if name == "enabled" else f"spark.speculation.{name}", value)
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.task.maxFailures", "8")
    builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    builder = builder.config("spark.executorEnv.FAULTS", folder)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")


def kill():
    # Kill an executor of this program once some tasks have failed.
    while len(os.listdir(folder)) < 12:
        time.sleep(0.05)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command_line = path.read_bytes()
        except OSError:
            continue
        application = spark.sparkContext.applicationId.encode()
        if b"CoarseGrainedExecutorBackend" in command_line and application in command_line:
            os.kill(int(path.parent.name), signal.SIGKILL)
            print("killed", path.parent.name, file=sys.stderr)
            return


if mode != "connect":
    threading.Thread(target=kill, daemon=True).start()
print(json.dumps(answers(spark, paths)), flush=True)
spark.stop()
"""

WRITER = """
import random
import sys
import threading
import time

import simkeep

path, to = sys.argv[1:]
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
chance = random.Random(5)
first, few = [chance.getrandbits(64) for _ in range(15_000)], (0, 1, 2, 4)
with simkeep.Store.open_or_create(path) as store:
    at = 1_700_000_000_000
    while not ended.is_set():
        begun = time.monotonic()
        while time.monotonic() < begun + 1 and not ended.is_set():
            at += 1000
            store.observe_batch(
                # Pages stay near their earlier contents, and near their neighbour.
                {
                    "url": f"https://{n % 97}.example/{n}",
                    "at": at,
                    "fingerprint": first[n // 2] ^ chance.choice(few),
                    "epoch": 0,
                }
                for n in chance.sample(range(30_000), 1000)
            )
        made = store.publish(to, keep=3, grace=60)
        print(made.generation, len(made.removed), flush=True)
"""


def answers(spark: "SparkSession", paths: list[str]) -> dict[str, list[Any]]:
    """Runs some queries, and returns the number and a hash of the rows of each."""
    from simkeep.spark import Stores

    stores = Stores(spark, paths, tasks=4)
    with simkeep.Reader.published(paths[0]) as reader:
        queries = sorted(reader.all_fingerprints())[:2000]
    all_of = {
        # With more hits than the limit, any of them may be returned.
        "near": stores.near(queries, 4, limit=5).where("complete"),
        "pairs": stores.pairs(3, ranges=8),
        "pages": stores.pages(columns=["store", "url", "fingerprint"]),
    }
    found = {}
    for name, frame in all_of.items():
        rows = sorted(tuple(row) for row in frame.collect())
        found[name] = [len(rows), hashlib.sha256(repr(rows).encode()).hexdigest()]
    return found


def ran(mode: str, folder: Path, crawl: Crawl) -> dict[str, list[Any]]:
    """Returns the answers of a session in another process."""
    (folder / "sitecustomize.py").write_text(FAULTS)
    (folder / "tasks").mkdir()
    environment = dict(os.environ, PYSPARK_PYTHON=sys.executable)
    environment.pop("SPARK_REMOTE", None)
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), str(Path(__file__).parent)])
    command = [sys.executable, "-c", PROGRAM, mode, str(folder / "tasks"), *map(str, crawl.paths)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    if mode != "connect":
        assert "killed" in done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def test_answers_survive_failed_tasks_and_killed_processes(
    spark: "SparkSession", crawl: Crawl, tmp_path: Path
) -> None:
    assert ran("cluster", tmp_path, crawl) == answers(spark, [str(path) for path in crawl.paths])
    assert len(list((tmp_path / "tasks").iterdir())) >= 4 + 4 + 4 + 8 + 4


def test_spark_connect_returns_the_same_answers(spark: "SparkSession", crawl: Crawl, tmp_path: Path) -> None:
    pytest.importorskip("grpc")
    pytest.importorskip("zstandard")
    assert ran("connect", tmp_path, crawl) == answers(spark, [str(path) for path in crawl.paths])


def test_pinned_generation_is_stable_while_a_writer_publishes(
    spark: "SparkSession", tmp_path: Path
) -> None:
    from simkeep.spark import Stores

    to = tmp_path / "w0"
    command = [sys.executable, "-c", WRITER, str(tmp_path / "store"), str(to)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None and writer.stdout is not None
        writer.stdout.readline()
        jobs, generations = 0, set()
        while jobs < 200:
            stores = Stores(spark, to)
            (pinned,) = stores.pinned
            generations.add(pinned.generation)
            with simkeep.Reader.published(to, pinned.generation) as reader:
                queries = sorted(reader.all_fingerprints())[:20]
                pairs = {(pair.left, pair.right) for pair in reader.all_pairs(1)}
                near = {query: len(reader.near(query, 1, limit=None)) for query in queries}
            for _ in range(2):
                assert {(row.left & MASK, row.right & MASK) for row in stores.pairs(1, ranges=2).collect()} == pairs
                found = [row.query & MASK for row in stores.near(queries, 1, limit=None).collect()]
                assert {query: found.count(query) for query in queries} == near
                jobs += 2
        writer.stdin.close()
        counts = [line.split() for line in writer.stdout.read().splitlines()]
    assert writer.returncode == 0
    assert len(generations) >= 25 and int(counts[-1][0]) >= 50
    assert sum(int(removed) for _, removed in counts) > 0
