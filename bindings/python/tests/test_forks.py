"""Forked processes."""

import multiprocessing
import os
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import AT, TEXT, URL, filled, mixed

import simkeep

# These tests fork while threads run, which Python warns about.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

DEPTH = float(os.environ.get("SIMKEEP_DEPTH", "0.1"))
"""How many forks are tried: 1,000 at depth 1."""


def in_child(work: Callable[[], None], *, seconds: float = 20) -> None:
    """Runs a function in a forked process, which must succeed in time."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.001)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


def refuses(store: simkeep.Store) -> None:
    """Checks that every call on the store of another process is refused."""
    for call in (
        lambda: store.observe(URL, AT, text=TEXT),
        lambda: store.observe_batch([]),
        lambda: store.load([]),
        lambda: store.near(1, k=3),
        lambda: store.history(URL),
        lambda: store.scan(),
        lambda: store.all_pairs(),
        lambda: store.clusters(),
        lambda: store.cluster_of(URL),
        lambda: store.mirrors(),
        lambda: store.aliases(),
        lambda: store.requests(),
        lambda: store.requests_by_host(),
        lambda: store.by_digest(bytes(16)),
        lambda: store.diff(store),
        lambda: store.plan(AT, 1),
        lambda: store.hints([]),
        store.survey,
        store.epochs,
        store.snapshot,
        store.stats,
        store.seal,
        store.merge,
        store.flush,
        store.close,
    ):
        with pytest.raises(simkeep.ForkedError, match="forked"):
            call()


def test_store_fails_in_a_forked_child_but_not_the_parent(path: Path) -> None:
    store = simkeep.Store.create(path)
    store.observe(URL, AT, text=TEXT)
    snapshot, scan, pairs = store.snapshot(), store.scan(), store.all_pairs(64)

    def work() -> None:
        nonlocal store, snapshot, scan, pairs
        refuses(store)
        for call in (lambda: snapshot.latest(URL), lambda: next(scan), lambda: next(pairs)):
            with pytest.raises(simkeep.ForkedError):
                call()
        # They can be dropped without an error.
        del store, snapshot, scan, pairs

    in_child(work)
    store.observe("https://example.org/", AT, text=TEXT)
    assert len(list(scan)) == 1 and list(pairs) == []
    store.close()


def test_reader_works_in_a_forked_child(store: simkeep.Store, path: Path) -> None:
    store.observe(URL, AT, text=TEXT)
    store.seal()
    store.observe("https://example.org/", AT, text=TEXT)
    reader = simkeep.Reader(path)
    scan = reader.scan()

    def work() -> None:
        assert len(reader.near(simkeep.Fingerprinter().of_text(TEXT))) == 2
        assert len(list(scan)) == 2
        assert len(reader.near_batch([1, 2, 3], k=3)) == 3
        assert len(list(reader.page_pairs(3, equal=True))) == 1
        reader.refresh()
        assert reader.stats().pages == 2

    in_child(work)
    work()


def test_parent_reopens_the_store_while_a_child_lives(path: Path) -> None:
    store = simkeep.Store.create(path)
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    try:
        store.close()
        with simkeep.Store.open(path) as store:
            store.observe(URL, AT, text=TEXT)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def latest_of(reader: simkeep.Reader) -> simkeep.Page | None:
    return reader.latest(URL)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_pickles_readers_and_values(
    store: simkeep.Store, path: Path, method: str
) -> None:
    store.observe(URL, AT, text=TEXT)
    with simkeep.Reader(path) as reader:
        context = multiprocessing.get_context(method)
        with context.Pool(1) as pool:
            assert pool.apply(latest_of, (reader,)) == store.latest(URL)


def test_random_forks_lose_nothing_and_never_hang(path: Path) -> None:
    store = simkeep.Store.create(path)
    filled(store, 1000)
    reader = simkeep.Reader(path)
    ended = threading.Event()
    acknowledged: list[str] = []
    failed: list[BaseException] = []

    def observe(number: int) -> None:
        try:
            n = 0
            while not ended.is_set():
                url = f"https://{number}.example/{n}"
                store.observe(url, AT, fingerprint=mixed(n))
                acknowledged.append(url)
                n += 1
        except BaseException as e:
            failed.append(e)

    def search() -> None:
        try:
            n = 0
            while not ended.is_set():
                store.near(mixed(n), k=3)
                reader.near(mixed(n), k=3)
                if n % 100 == 0:
                    reader.refresh()
                    list(store.scan("1.example"))
                n += 1
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=observe, args=(number,)) for number in range(2)]
    threads += [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()

    def work() -> None:
        nonlocal store
        refuses(store)
        try:
            assert reader.near(mixed(3), k=0).complete
        except simkeep.ForkedError:
            # Another thread was reading the memtable of the snapshot during the fork.
            pass
        reader.refresh()
        assert reader.near(mixed(3), k=0).near[0].distance == 0
        del store

    try:
        for _ in range(max(10, round(1000 * DEPTH))):
            in_child(work)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert failed == []
    store.close()
    with simkeep.Store.open(path) as store:
        assert store.verify().is_sound
        for url in acknowledged:
            assert store.latest(url) is not None
    reader.close()
