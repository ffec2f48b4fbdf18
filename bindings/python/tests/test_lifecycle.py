"""Opening and closing, and Python threads meanwhile."""

import gc
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import AT, DAY, TEXT, URL, filled, mixed

import simkeep


def test_store_is_created_and_reopened(path: Path) -> None:
    with simkeep.Store.open_or_create(path, near_distance=5, durability="flush") as store:
        store.observe(URL, AT, text=TEXT)
        store.flush()
        assert store.near_distance() == 5 and store.path == path
    with simkeep.Store.open_or_create(str(path), durability=0.001) as store:
        assert store.stats().pages == 1
        assert store.epochs()[0].name == f"{simkeep.EXTRACTOR} {simkeep.RECIPE}"


def test_store_class_is_not_called(path: Path) -> None:
    advice = "use Store.open, Store.create or Store.open_or_create"
    with pytest.raises(TypeError, match=advice):
        simkeep.Store()
    with pytest.raises(TypeError, match=advice):
        simkeep.Store(path)  # type: ignore[arg-type]


def test_with_statement_closes_and_propagates_exceptions(path: Path) -> None:
    with pytest.raises(KeyError, match="mine"), simkeep.Store.create(path) as store:
        store.observe(URL, AT, text=TEXT)
        raise KeyError("mine")
    assert store.closed
    with simkeep.Reader(path) as reader:
        assert reader.latest(URL) is not None and reader.written is None


def test_unclosed_store_closes_with_a_warning(path: Path) -> None:
    store = simkeep.Store.create(path)
    store.observe(URL, AT, text=TEXT)
    with pytest.warns(ResourceWarning, match="unclosed store .*crawl.simkeep"):
        del store
        gc.collect()
    # The store was closed, and nothing is lost.
    with simkeep.Store.open(path) as store:
        assert store.stats().pages == 1


def test_unclosed_warning_does_not_hide_the_exception(path: Path) -> None:
    def lose() -> None:
        store = simkeep.Store.create(path)
        store.observe("", AT, text=TEXT)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        with pytest.raises(simkeep.UrlError) as raised:
            lose()
        del raised
        gc.collect()


def test_only_readers_can_be_pickled(
    store: simkeep.Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.observe(URL, AT, text=TEXT)
    for opened in (store, store.snapshot()):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(opened)
    monkeypatch.chdir(path.parent)
    with simkeep.Reader(path.name, plain_reads=True) as reader:
        pickled = pickle.dumps(reader)
    monkeypatch.chdir("/")
    with pickle.loads(pickled) as again:
        assert again.path == path and "plain_reads=True" in repr(again)
        assert again.latest(URL) == store.latest(URL)


def test_importing_starts_no_thread_and_imports_neither_numpy_nor_pyarrow() -> None:
    code = (
        "import sys, threading, os, simkeep;"
        "assert not {'numpy', 'pyarrow', 'pandas', 'polars'} & set(sys.modules);"
        "assert threading.active_count() == 1;"
        "assert len(os.listdir('/proc/self/task')) == 1 if os.path.isdir('/proc/self/task') else True"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_open_store_at_interpreter_exit_is_harmless(path: Path) -> None:
    code = (
        "import simkeep, sys;"
        f"store = simkeep.Store.create({str(path)!r});"
        f"store.observe({URL!r}, 0, text={TEXT!r});"
        "pairs = store.all_pairs(64); scan = store.scan(); next(scan);"
        "clusters = store.clusters(64); pages = clusters.by_page(); dropped = clusters.dropped();"
        "aliases = store.aliases(); changes = iter(store.cluster_changes(0)); plan = store.plan(0, 1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    with simkeep.Store.open(path) as store:
        assert store.stats().pages == 1


@pytest.mark.parametrize(
    "busy",
    [
        lambda store, prints: store.near_batch(prints, k=8),
        lambda store, prints: store.merge(),
        lambda store, prints: store.verify(),
        lambda store, prints: list(store.scan()),
        lambda store, prints: store.clusters(8),
        lambda store, prints: list(store.clusters(0).by_cluster()),
        lambda store, prints: store.plan(AT, 100),
        lambda store, prints: store.hints((URL, n) for n in range(100_000)),
    ],
    ids=["near_batch", "merge", "verify", "scan", "clusters", "by_cluster", "plan", "hints"],
)
def test_long_calls_let_other_threads_run(
    store: simkeep.Store, busy: Callable[[simkeep.Store, list[int]], object]
) -> None:
    filled(store, 20_000)
    filled(store, 20_000, start=20_000)
    prints = [mixed(n) for n in range(20_000)]
    ended = threading.Event()
    worst = 0.0

    def work() -> None:
        busy(store, prints)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    before = time.monotonic()
    while not ended.is_set():
        time.sleep(0)
        now = time.monotonic()
        worst, before = max(worst, now - before), now
    thread.join()
    assert worst < 1.0


def test_a_store_may_be_closed_while_threads_use_it(path: Path) -> None:
    store = simkeep.Store.create(path)
    raised: list[BaseException] = []
    done = 0

    def work(number: int) -> None:
        nonlocal done
        try:
            for n in range(100_000):
                store.observe(f"https://example.com/{number}/{n}", AT, fingerprint=n)
                store.near(n, k=3)
                done += 1
        except BaseException as e:
            raised.append(e)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while done < 20:
        time.sleep(0.001)
    store.close()
    for thread in threads:
        thread.join()
    assert {type(e) for e in raised} == {simkeep.ClosedError}
    with simkeep.Store.open(path) as store:
        assert store.stats().visits >= 20


def test_threads_sharing_a_stream_see_each_row_once(store: simkeep.Store) -> None:
    for n in range(2000):
        store.observe(f"https://example.com/{n:04}", AT, fingerprint=n) if n < 50 else None
    filled(store, 2000)
    stream = store.scan()
    seen: list[str] = []

    def work() -> None:
        while True:
            try:
                page = next(stream, None)
            except ValueError as e:
                assert "another thread" in str(e)
                continue
            if page is None:
                return
            seen.append(page.url)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == len(set(seen)) == 2050


def test_cancelled_progress_stops_calls(store: simkeep.Store) -> None:
    filled(store, 1000)
    progress = simkeep.Progress()
    assert (progress.stage, progress.fraction, progress.total) == ("waiting", None, None)
    verified = store.verify(progress=progress)
    assert verified.is_sound and progress.stage == "checking" and progress.fraction == 1.0
    progress.cancel()
    assert progress.is_cancelled
    for call in (store.verify, store.merge, store.compact, store.snapshot().warm_up):
        with pytest.raises(simkeep.CancelledError):
            call(progress=progress)
    with pytest.raises((simkeep.CancelledError, simkeep.LoadRejectedError)):
        store.load([simkeep.Observation(URL, AT + DAY, text=TEXT)], progress=progress)
    assert store.latest(URL) is None
