"""Published stores and a Spark session, made for tests."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import simkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORES = 4
PAGES = 20_000
"""How many pages each store has."""


class Crawl(NamedTuple):
    """Published stores of a crawl."""

    paths: list[Path]
    """The published directories."""
    whole: Path
    """The store of all pages."""
    fingerprints: Any
    """The fingerprints of all pages, as a numpy array."""


def fingerprints(count: int, seed: int) -> Any:
    """Returns fingerprints as crawls have them: three in ten are near another one, and some are on many
    pages."""
    import numpy as np

    random = np.random.default_rng(seed)
    found = random.integers(0, 1 << 64, count, dtype=np.uint64)
    near = count * 3 // 10
    bits = random.integers(0, 64, (3, near)).astype(np.uint64)
    moved = np.uint64(1) << bits[0] | np.uint64(1) << bits[1] | np.uint64(1) << bits[2]
    found[:near] = found[random.integers(0, count, near)] ^ moved
    found[near : near + count // 50] = found[-1]
    random.shuffle(found)
    return found


def loaded(path: Path, rows: Any) -> None:
    """Makes a store with these rows."""
    with simkeep.Store.create(path) as store:
        store.load(rows)
        store.seal()


def made(folder: Path) -> Crawl:
    """Makes a crawl in several stores."""
    import numpy as np
    import pyarrow as pa

    all_fingerprints = fingerprints(STORES * PAGES, 7)
    at = np.random.default_rng(8).integers(1, 1 << 40, STORES * PAGES)
    urls = [f"https://host-{n % 97}.example/{n}" for n in range(STORES * PAGES)]
    store_of = np.array([simkeep.route(url, STORES) for url in urls])
    times = pa.array(at, pa.timestamp("ms", "UTC"))
    rows = pa.table({"url": urls, "at": times, "fingerprint": all_fingerprints})
    loaded(folder / "all", rows)
    paths = []
    for number in range(STORES):
        loaded(folder / f"s{number}", rows.filter(pa.array(store_of == number)))
        paths.append(folder / f"w{number}")
        simkeep.publish(folder / f"s{number}", paths[-1])
    return Crawl(paths, folder / "all", all_fingerprints)


def lacks() -> str | None:
    """Returns a message about a missing requirement of these tests, if any."""
    for name in ("numpy", "pandas", "pyarrow", "pyspark"):
        try:
            __import__(name)
        except ImportError:
            return f"there is no {name}: pip install 'simkeep[spark]'"
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else shutil.which("java")
    if java is None:
        return "there is no Java"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = said.split('"')[1].split(".")[0] if '"' in said else "unknown"
    if not version.isdigit() or int(version) < 17:
        return f"PySpark 4 needs Java 17, and this is {version}"
    return None


def session() -> "SparkSession":
    """Starts Spark on two processors of this machine."""
    from pyspark.sql import SparkSession

    # Workers would start the first Python in the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("simkeep").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.bindAddress", "127.0.0.1")
    # Code that runs once or twice is not worth full compilation.
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    interrupts = signal.getsignal(signal.SIGINT)
    made = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    # Spark's own handler of Ctrl-C queries its process first, but other tests measure how long an interrupt
    # takes.
    signal.signal(signal.SIGINT, interrupts)
    made.sparkContext.setLogLevel("ERROR")
    return made
