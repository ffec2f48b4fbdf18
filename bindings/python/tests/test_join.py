"""Pairs among fingerprints that are in no store."""

import ctypes
import itertools
import os
import signal
import threading
import time
from array import array
from collections.abc import Callable
from typing import Any

import polars
import pyarrow as pa
import pytest
from conftest import AT, mixed, threads

import simkeep


def near(prints: list[int], k: int, border: int | None = None) -> set[tuple[int, int, int]]:
    """Returns all pairs, found by comparing each with each."""
    places = itertools.combinations(range(len(prints)), 2)
    pairs = ((a, b, (prints[a] ^ prints[b]).bit_count()) for a, b in places)
    return {
        (a, b, distance)
        for a, b, distance in pairs
        if distance <= k and (border is None or a < border <= b)
    }


def crowded(count: int) -> list[int]:
    """Returns fingerprints of which many are near each other, and some are equal."""
    return [mixed(n % 40) ^ (1 << n % 64 if n % 3 else 0) ^ (1 << n % 7) for n in range(count)]


@pytest.mark.parametrize("k", [0, 1, 3, 6, 64])
def test_join_returns_each_pair_once(k: int) -> None:
    prints = crowded(200)
    found = list(simkeep.join(prints, k))
    assert {(pair.left, pair.right, pair.distance) for pair in found} == near(prints, k)
    assert len(found) == len({(pair.left, pair.right) for pair in found})
    assert all(pair.fingerprints == (prints[pair.left], prints[pair.right]) for pair in found)
    assert all(pair.left < pair.right for pair in found)


@pytest.mark.parametrize("k", [0, 1, 3, 6, 64])
def test_each_pair_belongs_to_one_part_and_range(k: int) -> None:
    prints = crowded(120)
    found = []
    for part, (first, bits) in enumerate(simkeep.join_parts(k)):
        values = [one >> first & (1 << bits) - 1 for one in prints]
        for low in (True, False):
            places = [place for place, value in enumerate(values) if (2 * value < 1 << bits) == low]
            for pair in simkeep.join([prints[place] for place in places], k, part=part):
                found.append((places[pair.left], places[pair.right], pair.distance))
                assert values[places[pair.left]] == values[places[pair.right]]
    assert len(found) == len(set(found))
    assert set(found) == near(prints, k)


def test_part_beyond_the_last_is_rejected() -> None:
    assert simkeep.join_parts(3) == [(48, 16), (32, 16), (16, 16), (0, 16)]
    with pytest.raises(ValueError, match="part must be below 4, not 4"):
        simkeep.join([1, 2], 3, part=4)


def test_join_matches_a_store(store: simkeep.Store) -> None:
    prints = sorted({mixed(n) for n in range(300)} | {mixed(n) ^ 3 for n in range(90)})
    store.load(simkeep.Observation(f"https://x.example/{n}", AT, fingerprint=p) for n, p in enumerate(prints))
    for k in (2, 20):
        in_store = {(pair.left, pair.right, pair.distance) for pair in store.all_pairs(k)}
        joined = {(*pair.fingerprints, pair.distance) for pair in simkeep.join(prints, k)}
        assert joined == in_store and joined


def test_across_joins_two_sets() -> None:
    prints = crowded(150)
    found = {(pair.left, pair.right, pair.distance) for pair in simkeep.join(prints, 4, across=50)}
    assert found == near(prints, 4, 50)
    assert list(simkeep.join(prints, 64, across=0)) == list(simkeep.join(prints, 64, across=150)) == []


@pytest.mark.parametrize(
    "given",
    [
        lambda prints: iter(prints),
        lambda prints: array("Q", prints),
        lambda prints: memoryview((ctypes.c_uint64 * len(prints))(*prints)),
        lambda prints: array("q", (p - 2**64 if p >= 2**63 else p for p in prints)),
        lambda prints: pa.array(prints, pa.uint64()),
        lambda prints: pa.chunked_array([pa.array(prints[:7], pa.uint64()), pa.array(prints[7:], pa.uint64())]),
        lambda prints: polars.Series(prints, dtype=polars.UInt64),
    ],
)
def test_fingerprints_are_accepted_as_buffers_and_columns(given: Callable[[list[int]], Any]) -> None:
    prints = crowded(100)
    found = {(pair.left, pair.right, pair.distance) for pair in simkeep.join(given(prints), 3)}
    assert found == near(prints, 3)


def test_pairs_convert_to_columns() -> None:
    prints = crowded(100)
    table = pa.table(simkeep.join(prints, 3))
    assert table.column_names == ["left", "right", "distance", "left_fingerprint", "right_fingerprint"]
    rows = set(zip(*(table[name].to_pylist() for name in ("left", "right", "distance")), strict=True))
    assert rows == near(prints, 3)
    assert table["left_fingerprint"].to_pylist() == [prints[n] for n in table["left"].to_pylist()]
    signed = pa.table(simkeep.join([2**63, 2**63 + 1], 1).batches(signed=True))
    assert signed["right_fingerprint"].to_pylist() == [1 - 2**63]


def test_memory_and_threads_do_not_change_the_result() -> None:
    prints = [mixed(n) for n in range(20_000)] + [mixed(n) ^ 5 for n in range(500)]
    expected = {(n, 20_000 + n, 2) for n in range(500)}
    every: list[dict[str, Any]] = [
        {},
        {"memory_bytes": 0},
        {"threads": 1},
        {"memory_bytes": 1 << 20, "threads": 3},
    ]
    for options in every:
        found = simkeep.join(array("Q", prints), 2, **options)
        assert {(pair.left, pair.right, pair.distance) for pair in found} == expected


def test_join_waits_for_its_reader_and_ends_on_close() -> None:
    progress = simkeep.Progress()
    prints = array("Q", (mixed(n) for n in range(5_000)))
    with simkeep.join(prints, 40, progress=progress) as pairs:
        next(pairs)
        done = progress.done
        time.sleep(0.3)
        settled = progress.done
        time.sleep(0.3)
        assert progress.done == settled >= done and threads("simkeep-pairs") == 1
        began = time.monotonic()
    assert time.monotonic() - began < 1 and not threads("simkeep-pairs")
    assert list(pairs) == []


def test_cancelling_the_progress_stops_the_join() -> None:
    progress = simkeep.Progress()
    pairs = simkeep.join((mixed(n) for n in range(5_000)), 40, progress=progress)
    next(pairs)
    progress.cancel()
    with pytest.raises(simkeep.CancelledError):
        list(pairs)
    whole = simkeep.Progress()
    assert list(simkeep.join([1, 2], 0, progress=whole)) == [] and whole.stage == "joining"


def test_ctrl_c_stops_the_join() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    prints = array("Q", (mixed(n) for n in range(100_000)))
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    try:
        timer.start()
        # No pair is so near, so none is returned before the interrupt.
        with pytest.raises(KeyboardInterrupt):
            for _ in itertools.repeat(None):
                list(simkeep.join(prints, 10))
        late = time.monotonic() - sent[0]
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert late < 1, late


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: simkeep.join([1], 65), ValueError, "k must be an int from 0 to 64, not 65"),
        (lambda: simkeep.join([1], 1.5), TypeError, "k must be .*not float"),  # type: ignore[arg-type]
        (lambda: simkeep.join([1, 2**64], 1), ValueError, "fingerprints in row 1 must be an int"),
        (lambda: simkeep.join([1, -1], 1), ValueError, "fingerprints in row 1 must be an int"),
        (lambda: simkeep.join("ab", 1), TypeError, "fingerprints must be a one-dimensional buffer"),  # type: ignore[arg-type]
        (lambda: simkeep.join(7, 1), TypeError, "fingerprints must be a one-dimensional buffer"),  # type: ignore[arg-type]
        (lambda: simkeep.join(array("d", [1.0]), 1), TypeError, "uint64 or int64"),  # type: ignore[arg-type]
        (lambda: simkeep.join([1], 1, across=-1), ValueError, "across must be an int from 0"),
        (lambda: simkeep.join([1], 1, across=2**32), ValueError, "across must be an int from 0"),
        (lambda: simkeep.join([1], 1, memory_bytes="1"), TypeError, "memory_bytes must be"),  # type: ignore[arg-type]
        (lambda: simkeep.join([1], 1, threads=-1), ValueError, "threads must be"),
    ],
)
def test_invalid_arguments_are_rejected(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_nulls_keep_their_position_and_form_no_pair() -> None:
    texts = ["too short", *(f"{number} words that make a text long enough to tell" for number in (1, 1, 2))]
    prints = simkeep.fingerprint_batch(texts)
    assert prints[0] is None
    for given in (prints, list(prints), pa.table(prints)["fingerprint"]):
        assert [(pair.left, pair.right) for pair in simkeep.join(given, 0)] == [(1, 2)]
    nulls = [None, 5, None, 7, 5, None, 5]
    found = {(pair.left, pair.right) for pair in simkeep.join(nulls, 0)}
    assert found == {(1, 4), (1, 6), (4, 6)}
    assert {(pair.left, pair.right) for pair in simkeep.join(nulls, 0, across=2)} == {(1, 4), (1, 6)}
    assert {(pair.left, pair.right) for pair in simkeep.join(nulls, 0, across=5)} == {(1, 6), (4, 6)}
    assert list(simkeep.join([None, None], 64)) == []
