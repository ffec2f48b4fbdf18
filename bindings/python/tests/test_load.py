"""Loading a corpus, and saving, checking and repairing a store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import AT, DAY, OTHER, TEXT, URL, filled

import simkeep


def visits() -> list[simkeep.Observation]:
    return [
        simkeep.Observation(URL, AT + DAY, text=OTHER, status=200),
        simkeep.Observation(URL, AT, text=TEXT, weight=2.0, class_=7),
        simkeep.Observation.gone("https://example.org/", AT),
        simkeep.Observation.not_modified(URL, AT + 2 * DAY, status=304),
        simkeep.Observation("https://example.net/", AT, html=b"<p>" + TEXT.encode()),
    ]


def test_a_load_makes_what_observing_makes(tmp_path: Path) -> None:
    with (
        simkeep.Store.create(tmp_path / "loaded") as loaded,
        simkeep.Store.create(tmp_path / "observed") as observed,
    ):
        done = loaded.load(iter(visits()), memory_bytes=1 << 20, segment_pages=1 << 20)
        assert (done.observations, done.visits, done.pages, done.new_pages) == (5, 5, 3, 3)
        assert (done.weighed, done.classed, done.segments) == (1, 1, 1)
        observed.observe_batch(visits())
        assert list(loaded.observations()) == list(observed.observations())
        assert list(loaded.scan()) == list(observed.scan())
        assert loaded.load(visits()).visits == 0


def test_a_load_of_many_rows_keeps_their_order(store: simkeep.Store) -> None:
    filled(store, 10_000)
    assert store.stats().pages == 10_000
    assert store.load([]).segments == 0


def test_all_of_another_store_is_copied(tmp_path: Path) -> None:
    with simkeep.Store.create(tmp_path / "old") as old, simkeep.Store.create(tmp_path / "new") as new:
        old.load(visits())
        mine = old.register_epoch("mine/1", role="near")
        old.observe("https://example.org/", AT + DAY, fingerprint=5, epoch=mine)
        done = new.copy_from(old)
        assert [info.name for info in done.begun] == ["mine/1"]
        assert list(new.scan()) == list(old.scan())
        with simkeep.Reader(tmp_path / "old") as reader:
            assert new.copy_from(reader).visits == 0
        assert new.copy_from(old.snapshot()).visits == 0


def test_rows_may_be_made_of_the_store_itself(store: simkeep.Store) -> None:
    def rows() -> Iterator[simkeep.Observation]:
        for n in range(5000):
            # Nothing is seen of the load before it is done.
            assert n % 1000 or store.stats().pages == 0
            yield simkeep.Observation(f"https://example.com/{n}", AT, fingerprint=n)

    store.load(rows())
    assert store.stats().pages == 5000


def test_a_store_is_checked_backed_up_and_repaired(tmp_path: Path) -> None:
    path, safe, new = tmp_path / "crawl", tmp_path / "safe", tmp_path / "new"
    with simkeep.Store.create(path) as store:
        filled(store, 2000)
        verified = store.verify()
        assert verified.sound and verified.pages == 2000 and verified.flaws == ()
        made = store.backup(safe)
        assert made.pages == 2000 and made.earlier is None
        assert store.backup(safe, copy=True).earlier == made.sequence
    assert simkeep.backup(path, safe).pages == 2000
    assert simkeep.verify(safe).sound
    [segment] = (path / "segments").iterdir()
    damaged = bytearray(segment.read_bytes())
    damaged[5000] ^= 1
    segment.write_bytes(damaged)
    assert not simkeep.verify(path, rate=100 << 20, flaws_max=3).sound
    repaired = simkeep.repair(path, new)
    assert repaired.pages > 0 and len(repaired.flaws) == 1
    assert repaired.whole or repaired.lost_pages > 0
    with simkeep.Reader(new) as reader:
        assert reader.stats().pages == repaired.pages


def test_what_is_forgotten_is_gone(store: simkeep.Store, path: Path) -> None:
    filled(store, 500)
    store.observe(URL, AT, text=TEXT)
    assert store.forget(URL) == simkeep.Forgotten(1, 1)
    assert store.forget("https://example.org/") == simkeep.Forgotten(0, 0)
    assert store.forget(prefix="3.example").pages == 6
    assert store.purge(prefix="4.example").pages == 6
    assert not any(b"//4.example" in file.read_bytes() for file in path.rglob("*") if file.is_file())
    assert store.stats().pages == 488
    store.seal()
    assert store.merge().inputs > 1
    store.wait_idle()
    compacted = store.compact()
    assert compacted.segment_bytes == store.stats().segment_bytes
