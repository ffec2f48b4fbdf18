"""Compares the cost of calls from Python and from Rust: the least of many alternating runs.

    python bench/cost.py [RUNS]

Needs numpy and pyarrow, and builds the example `native` with cargo. Measure a release build: install the package
with `pip install bindings/python`, not as editable.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import simkeep

HERE = Path(__file__).parent
PAGES, NEAR, QUERIES, SINGLE, VISITS, K = 1_000_000, 200_000, 100_000, 20_000, 100_000, 3

Prints = np.ndarray[tuple[int], np.dtype[np.uint64]]


def random(numbers: Prints) -> Prints:
    """Hashes each number to a random one (splitmix64)."""
    with np.errstate(over="ignore"):
        n = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        n = (n ^ n >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        n = (n ^ n >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return n ^ n >> np.uint64(31)


def up_to(count: int) -> Prints:
    return np.arange(count, dtype=np.uint64)


def neighbours(n: Prints) -> Prints:
    """Fingerprints one bit away from those in the store."""
    return random(n * np.uint64(7)) ^ np.left_shift(np.uint64(1), n % np.uint64(64))


def some(count: int) -> Prints:
    """Queries like those of a crawler, whose pages are mostly new: every tenth has two near pages, the others none."""
    n = up_to(count)
    return np.where(n % np.uint64(10) == 0, neighbours(n), random(n + np.uint64(1 << 40)))


def make(path: Path) -> None:
    """Creates a store of a million random fingerprints, and of others near them."""
    prints = np.concatenate([random(up_to(PAGES)), neighbours(up_to(NEAR))])
    urls = [f"https://example.com/page/{n}" for n in range(len(prints))]
    with simkeep.Store.create(path, background=False, durability="flush") as store:
        epoch = np.full(len(prints), store.near_epoch, dtype=np.uint32)
        at = np.ones(len(prints), dtype=np.int64)
        store.load(pa.table({"url": urls, "at": at, "fingerprint": prints, "epoch": epoch}))


def observed(rows: object) -> float:
    with tempfile.TemporaryDirectory() as place:
        store = simkeep.Store.create(Path(place) / "store", background=False, durability="flush")
        since = time.perf_counter()
        store.observe_batch(rows)  # type: ignore[arg-type]
        took = time.perf_counter() - since
        store.close()
        return took


def timed(call: Callable[[], object]) -> float:
    since = time.perf_counter()
    call()
    return time.perf_counter() - since


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    manifest = str(HERE.parent / "Cargo.toml")
    built = ["cargo", "build", "--release", "--quiet", "--manifest-path", manifest, "--example", "native"]
    subprocess.run(built, check=True)
    asked = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--manifest-path", manifest]
    metadata = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    program = Path(metadata["target_directory"]) / "release" / "examples" / "native"
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "store"
        make(path)
        with subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as native:
            measure(path, native, runs)


def measure(path: Path, native: "subprocess.Popen[str]", runs: int) -> None:
    assert native.stdin is not None and native.stdout is not None
    commands, times = native.stdin, native.stdout

    def by_crate(call: str) -> float:
        commands.write(f"{call}\n")
        commands.flush()
        return int(times.readline()) / 1e9

    snapshot = simkeep.Reader(path).snapshot()
    prints = random(up_to(VISITS))
    urls = [f"https://example.org/{n}" for n in range(VISITS)]
    epoch = 0
    at = np.ones(VISITS, dtype=np.int64)
    table = pa.table({"url": urls, "at": at, "fingerprint": prints, "epoch": np.zeros(VISITS, dtype=np.uint32)})
    rows = [
        {"url": url, "at": 1, "fingerprint": int(print), "epoch": epoch}
        for url, print in zip(urls, prints, strict=True)
    ]

    def batch(prints: Prints) -> list[tuple[str, Callable[[], float]]]:
        return [
            ("near_batch", lambda: timed(lambda: snapshot.near_batch(prints, K))),
            ("to a pyarrow table", lambda: timed(lambda: pa.table(snapshot.near_batch(prints, K)))),
        ]

    def each(prints: Prints) -> list[tuple[str, Callable[[], float]]]:
        numbers = [int(n) for n in prints]

        def near() -> None:
            near = snapshot.near
            for fingerprint in numbers:
                near(fingerprint, K)

        return [("near", lambda: timed(near))]

    calls: list[tuple[str, str, int, list[tuple[str, Callable[[], float]]]]] = [
        ("a search of a batch", "near_batch", QUERIES, batch(some(QUERIES))),
        ("one that finds two pages", "near_batch_found", QUERIES, batch(neighbours(up_to(QUERIES)))),
        ("a single search", "near", SINGLE, each(some(SINGLE))),
        ("one that finds two pages", "near_found", SINGLE, each(neighbours(up_to(SINGLE)))),
        ("a visit of a batch", "observe_batch", VISITS, [
            ("from Arrow", lambda: observed(table)),
            ("from a list", lambda: observed(rows)),
        ]),
        ("all pairs", "all_pairs", NEAR, [
            ("to a pyarrow table", lambda: timed(lambda: pa.table(snapshot.all_pairs(K)))),
        ]),
    ]  # fmt: skip
    for what, call, of, ways in calls:
        least = [float("inf")] * (1 + len(ways))
        for _ in range(runs):
            least[0] = min(least[0], by_crate(call))
            for nth, (_, way) in enumerate(ways, 1):
                least[nth] = min(least[nth], way())
        print(f"{what}: {least[0] / of * 1e9:.0f} ns by the crate", end="")
        for (name, _), seconds in zip(ways, least[1:], strict=True):
            more = (seconds - least[0]) / of * 1e9
            print(f", {seconds / of * 1e9:.0f} {name} ({seconds / least[0]:.2f} times, {more:+.0f})", end="")
        print(flush=True)


if __name__ == "__main__":
    main()
