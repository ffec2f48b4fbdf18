"""Batches of history entries, and further methods of epochs and pages."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import AT, DAY, TEXT, URL, mixed

import simkeep
from simkeep import limits


def test_write_batch_accepts_observations_of_another_store(store: simkeep.Store, tmp_path: Path) -> None:
    store.observe(URL, AT, text=TEXT, digest=bytes(16), status=200, modified=AT, weight=2.0, class_=7)
    store.observe(URL, AT + DAY, fingerprint=5, canonical="/other", bytes=14_300, conditional=True)
    store.not_modified(URL, AT + 2 * DAY, digest=bytes(16), etag=b'W/"1"')
    store.failed(URL, AT + 3 * DAY, status=500)
    store.gone("https://example.org/", AT, status=410)
    epoch = store.register_epoch("mine/1", role="near")
    store.restate(URL, AT, 9, epoch, digest=bytes(16))
    with simkeep.Store.create(tmp_path / "other") as other:
        assert other.register_epoch("mine/1", role="near") == epoch
        answers = other.write_batch(store.observations())
        assert list(other.observations()) == list(store.observations())
        assert other.history(URL) == store.history(URL)
        outcomes = [one for one in answers if isinstance(one, simkeep.Outcome)]
        assert sorted(one.verdict for one in outcomes) == ["changed", "failed", "gone", "new", "same"]
        stored = [one for one in answers if not isinstance(one, simkeep.Outcome)]
        assert stored == ["stored"] * 5
        assert {type(one) for one in stored} == {simkeep.RestateOutcome, simkeep.PropertyOutcome}
        # All are written at once, so they share a commit.
        assert other.sequence == len(answers) == 10
        again = other.write_batch((URL, entry) for entry in store.history(URL))
        assert {str(one.verdict) if isinstance(one, simkeep.Outcome) else one for one in again} == {"known"}
    assert store.write_batch([]) == []
    given = simkeep.PropertyEntry(AT, 3.0, None, None, None)
    missing = store.write_batch([("https://nowhere.example/", given)])
    assert missing == [simkeep.PropertyOutcome.MISSING]


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        (7, TypeError, "entries must be an iterable of pairs"),
        ("ab", TypeError, "entries must be an iterable of pairs"),
        ([7], TypeError, "entries in row 0 must be a pair of a URL and an entry, not int"),
        ([(URL, 7)], TypeError, "entries in row 0 must be .*Restated or PropertyEntry, not int"),
        ([(7, simkeep.PropertyEntry(AT, 1.0, None, None, None))], TypeError, "entries in row 0 must be str, not int"),
        ([(URL, simkeep.PropertyEntry(AT, 1.0, 1, None, None))], ValueError, "entries in row 0 must have one of a weight, a class, an etag and a target"),
        ([("a", simkeep.PropertyEntry(AT, 1.0, None, None, None)), ("", simkeep.PropertyEntry(AT, 1.0, None, None, None))], simkeep.UrlError, "row 1: "),
        ([("a", simkeep.PropertyEntry(AT, -1.0, None, None, None))], simkeep.InvalidOptionError, "weight must be finite"),
        ([(URL, simkeep.PropertyEntry(AT, None, None, b"1" * 129, None))], ValueError, "an entity tag that is not 1 to 128 bytes"),
        ([(URL, simkeep.PropertyEntry(AT, None, None, None, URL))], ValueError, "URL of another page"),
        ([("a", simkeep.Restated(AT, 1, None, 9))], simkeep.EpochError, "epoch 9"),
    ],
)
def test_invalid_entries_are_rejected_and_nothing_is_stored(
    store: simkeep.Store, entries: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        store.write_batch(entries)
    assert store.sequence == 0


def test_pages_are_excluded_from_their_own_answers(store: simkeep.Store) -> None:
    pages = [(0b0111, "https://example.com/"), (0b1111, "https://example.org/"), (mixed(1), URL)]
    for fingerprint, url in pages:
        store.observe(url, AT, fingerprint=fingerprint)
    answers = store.near_batch_of_pages(iter(pages), 3)
    assert [[near.url for near in matches] for matches in answers] == [
        ["https://example.org/"],
        ["https://example.com/"],
        [],
    ]
    for (fingerprint, url), matches in zip(pages, answers, strict=True):
        assert matches == store.near(fingerprint, 3, exclude=url)
    assert len(store.near_batch_of_pages(pages, 64, limit=1)[0]) == 1
    with pytest.raises(TypeError, match="pages in row 0 must be a pair of a fingerprint and a URL"):
        store.near_batch_of_pages([7])  # type: ignore[list-item]


def test_epochs_report_their_origin(store: simkeep.Store, tmp_path: Path) -> None:
    [(number, origin)] = store.origins()
    assert number == store.change_epoch and origin == store.origin(number)
    assert store.table_file(number) is None and store.fingerprints(number) == 0
    for n in range(3):
        store.observe(f"https://example.com/{n}", AT, fingerprint=n // 2)
    assert store.fingerprints(number) == 2 == store.overview().fingerprints
    with simkeep.df.FrequencyCounter(tmp_path / "crawl.df", "words-idf") as counter:
        counter.add(TEXT)
        table = counter.freeze()
    epoch = store.begin_epoch(simkeep.Origin("words-idf", extractor=simkeep.EXTRACTOR, table=table))
    assert [number for number, _ in store.origins()] == [epoch, number]
    file = store.table_file(epoch)
    assert file is not None and any(found.name == Path(file).name for found in tmp_path.rglob("*"))


def test_limits_are_enforced(store: simkeep.Store) -> None:
    assert limits.TIME_MIN == datetime(1, 1, 1, tzinfo=UTC)
    assert limits.TIME_MAX == datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC)
    store.gone("https://x/".ljust(limits.URL_BYTES_MAX, "x"), limits.TIME_MAX)
    with pytest.raises(simkeep.UrlError):
        store.gone("https://x/".ljust(limits.URL_BYTES_MAX + 1, "x"), AT)
    store.near(1, limits.DISTANCE_MAX)
    with pytest.raises(ValueError, match="k must be"):
        store.near(1, limits.DISTANCE_MAX + 1)
    for n in range(limits.HISTORY_WINDOW + 2):
        store.observe(URL, AT + n * DAY, fingerprint=mixed(n))
    end = AT + 99 * DAY
    verdicts = [store.observe(URL, end + n * DAY, fingerprint=mixed(n)).verdict for n in (0, 9)]
    assert verdicts == ["changed", "reverted"]


CALLS: list[Callable[[simkeep.Store], object]] = [
    lambda s: s.write_batch([]),
    lambda s: s.near_batch_of_pages([]),
    lambda s: s.origins(),
    lambda s: s.table_file(0),
    lambda s: s.fingerprints(0),
]


@pytest.mark.parametrize("call", CALLS)
def test_calls_on_a_closed_store_raise(store: simkeep.Store, call: Callable[[simkeep.Store], object]) -> None:
    store.close()
    with pytest.raises(simkeep.ClosedError):
        call(store)
