"""Ctrl-C ends long calls soon, and leaves the store undamaged."""

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from conftest import AT, filled, mixed, threads

import simkeep

# pyarrow imports pandas when it first makes a table, and would be interrupted there.
importlib.import_module("pandas")

DEPTH = float(os.environ.get("SIMKEEP_DEPTH", "0.1"))
"""How often each call is stopped: 50 times at depth 1."""

SOON = 0.2
"""Seconds within which a call ends. The builds of tests are slow, and so are busy machines."""
PATIENCE = 5.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[simkeep.Store]:
    """A store in which everything takes a while."""
    path = tmp_path_factory.mktemp("interrupts") / "crawl.simkeep"
    with simkeep.Store.create(path, background=False) as store:
        filled(store, 100_000)
        filled(store, 100_000, start=100_000)
        yield store


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Handles Ctrl-C even if the shell ignores it, as shells do for background processes."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def pressed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Presses Ctrl-C again if Python dropped it, as it drops any exception raised in `__del__` or in a
    callback of a weak reference."""
    before = sys.unraisablehook

    def dropped(what: "sys.UnraisableHookArgs") -> None:
        if what.exc_type is not KeyboardInterrupt:
            before(what)
            return
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr(sys, "unraisablehook", dropped)


def load(store: simkeep.Store) -> None:
    rows = ({"url": f"https://x.example/{n}", "at": AT, "fingerprint": n} for n in range(10**9))
    store.load(rows)  # type: ignore[arg-type]


def merge(store: simkeep.Store) -> None:
    store.merge()


def verify(store: simkeep.Store) -> None:
    store.verify(rate=1 << 20)


def all_pairs(store: simkeep.Store) -> None:
    for _ in store.all_pairs(40):
        pass


def table_of_pairs(store: simkeep.Store) -> None:
    # pyarrow wraps the exception in its own error, and the interrupt is raised again after it.
    with suppress(pa.ArrowInvalid):
        pa.table(store.all_pairs(40))


def table_of_observations(store: simkeep.Store) -> None:
    with suppress(pa.ArrowInvalid):
        pa.table(store.observations())


def near_batch(store: simkeep.Store) -> None:
    store.near_batch([mixed(n) for n in range(50_000)], k=24)


def clusters(store: simkeep.Store) -> None:
    store.clusters(12)


def by_page(store: simkeep.Store) -> None:
    for _ in store.clusters(0).by_page():
        pass


def cluster_changes(store: simkeep.Store) -> None:
    for _ in store.cluster_changes(AT, k=12):
        pass


def components(store: simkeep.Store) -> None:
    store.connected_components(20)


def balls(store: simkeep.Store) -> None:
    store.balls(20)


def mirrors(store: simkeep.Store) -> None:
    store.mirrors(paths=2)


def aliases(store: simkeep.Store) -> None:
    for _ in store.aliases(all=True):
        pass


def requests(store: simkeep.Store) -> None:
    store.requests(copies=True)


def requests_by_host(store: simkeep.Store) -> None:
    for _ in store.requests_by_host():
        pass


def census(store: simkeep.Store) -> None:
    store.census()


def journal(store: simkeep.Store) -> None:
    store.journal()


def dump(store: simkeep.Store) -> None:
    for segment in store.stats().segments:
        for _ in store.dump(segment.id):
            pass


def join(store: simkeep.Store) -> None:
    for _ in simkeep.join((mixed(n) for n in range(100_000)), 40):
        pass


def plan(store: simkeep.Store) -> None:
    store.plan(AT, 1000)


def hints(store: simkeep.Store) -> None:
    store.hints((f"https://x.example/{n}", n) for n in range(10**9))


@pytest.mark.parametrize(
    "call",
    [
        load,
        merge,
        verify,
        all_pairs,
        table_of_pairs,
        table_of_observations,
        near_batch,
        clusters,
        by_page,
        cluster_changes,
        components,
        balls,
        mirrors,
        aliases,
        requests,
        requests_by_host,
        census,
        journal,
        dump,
        join,
        plan,
        hints,
    ],
)
def test_ctrl_c_interrupts_long_calls(
    store: simkeep.Store, call: Callable[[simkeep.Store], None]
) -> None:
    random = Random(call.__name__)
    before = store.stats()
    late: list[float] = []
    for _ in range(max(3, round(50 * DEPTH))):
        sent = 0.0

        def interrupt() -> None:
            nonlocal sent
            sent = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(random.uniform(0.0, 0.3), interrupt)
        try:
            timer.start()
            call(store)
            # The call may end too early. A signal between the start of a sleep and its system call is
            # heard after the sleep, so each sleep is short.
            left = time.monotonic() + PATIENCE
            while time.monotonic() < left:
                time.sleep(0.01)
            raise AssertionError("Ctrl-C was not heard")
        except KeyboardInterrupt:
            late.append(time.monotonic() - sent)
        timer.join()
        # Nothing stops a plan: it continues. The others have ended, but the system lists their threads a
        # moment longer.
        left = time.monotonic() + (PATIENCE if call is plan else SOON)
        while running := threads("simkeep-call", "simkeep-load", "simkeep-pairs"):
            assert time.monotonic() < left, running
            time.sleep(0.01)
        after = store.stats()
        assert (after.pages, after.visits, after.sequence) == (before.pages, before.visits, before.sequence)
    assert store.verify().is_sound
    late.sort()
    assert late[len(late) // 2] < SOON and late[-1] < PATIENCE, late


def test_iterables_are_consumed_on_the_loading_thread(store: simkeep.Store) -> None:
    of = set()

    def rows() -> Iterator[simkeep.Observation]:
        for n in range(3000):
            of.add(threading.get_ident())
            yield simkeep.Observation(f"https://y.example/{n}", AT, fingerprint=n)
        raise LookupError("the rows broke off")

    before = store.stats()
    with pytest.raises(LookupError, match="broke off"):
        store.load(rows())
    assert of == {threading.get_ident()}
    assert store.stats() == before
