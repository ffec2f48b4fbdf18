"""Memory does not grow with many calls of each kind or many opens, once caches are full."""

import os
import subprocess
import sys
from pathlib import Path

DEPTH = float(os.environ.get("SIMKEEP_DEPTH", "0.1"))
"""How much is tried: a million calls of each kind, and 10,000 opens, at depth 1."""

PROGRAM = """
import ctypes
import resource
import sys
from pathlib import Path

import simkeep

path, count, opens = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PAGES = 1000
ROUNDS = 10


def own():
    # Excludes mapped segments, which belong to the page cache, and freed memory that the allocator keeps.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    return (resident - shared) * resource.getpagesize() // 1024


def calls(store, count):
    # These rows are known after the first round, so the store does not grow.
    pages = iter(())
    for n in range(count):
        url = f"https://example.com/{n % PAGES}"
        outcome = store.observe(url, 1, fingerprint=n % PAGES, epoch=0)
        assert outcome.copies == () and len(store.near(n, 2)) >= 0
        for page in store.near(n % PAGES, 1, limit=2).near:
            assert page.url
        if next(pages, None) is None:
            pages = store.scan()
        try:
            store.near(0, 65)
        except ValueError:
            pass
    batch = [{"url": f"https://example.com/{n}", "at": 1, "fingerprint": n, "epoch": 0} for n in range(PAGES)]
    for _ in range(count // PAGES):
        store.observe_batch(batch)
        sum(len(found) for found in store.near_batch(range(PAGES), 2))


def open_often(count):
    for _ in range(count):
        simkeep.Store.open(path).close()


def grows(what, count, call):
    # Sealing and merging change memory by some MiB, so one measurement says little.
    seen = []
    for _ in range(ROUNDS):
        call(count // ROUNDS)
        seen.append(own())
    by = min(seen[ROUNDS // 2 :]) - min(seen[: ROUNDS // 2])
    print(f"{count} {what}: {by} KiB more in the second half, least of {seen}")
    return by > 2048


with simkeep.Store.create(path, durability="flush") as store:
    calls(store, 4 * PAGES)
    wrong = grows("calls of each kind", count, lambda some: calls(store, some))
open_often(opens // 10 + 10)
wrong |= grows("opens", opens, open_often)
sys.exit(wrong)
"""


def test_memory_does_not_grow(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "store")]
    command += [str(int(1_000_000 * DEPTH)), str(int(10_000 * DEPTH))]
    ran = subprocess.run(command, capture_output=True, text=True)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout + ran.stderr
