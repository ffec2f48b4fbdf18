"""Differences between stores, and between two times of one store."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars
import pytest
from conftest import AT, DAY, mixed
from test_forks import in_child

import simkeep


def visits(random: Random, count: int) -> list[simkeep.Observation]:
    """Returns random visits of a few pages; some visits find the page gone."""
    seen = []
    for day in range(count):
        url = f"https://{random.randrange(3)}.example/{random.randrange(10)}"
        if random.random() < 0.2:
            seen.append(simkeep.Observation.gone(url, AT + day * DAY))
        else:
            bits = mixed(random.randrange(4))
            seen.append(simkeep.Observation(url, AT + day * DAY, fingerprint=bits))
    return seen


def in_force(view: simkeep.View) -> dict[str, int | None]:
    """Returns the current fingerprint of each page with content."""
    return {
        page.url: page.content.fingerprint for page in view.scan() if page.content is not None
    }


def test_diff_lists_pages_whose_version_in_force_changed(tmp_path: Path) -> None:
    random = Random(7)
    with simkeep.Store.create(tmp_path / "a") as one, simkeep.Store.create(tmp_path / "b") as other:
        seen = visits(random, 120)
        one.load(seen[:60])
        other.load(seen)
        before, after = in_force(one), in_force(other)
        differ = {url for url in before | after if before.get(url) != after.get(url)}
        found = list(other.diff(one))
        assert [d.url for d in found] == [p.url for p in other.scan() if p.url in differ]
        assert len(found) > 5
        for d in found:
            assert d.before is None or d.before.fingerprint == before[d.url]
            assert (d.before is None) == (d.url not in before)
            assert (d.after is None) == (d.url not in after) == (d.verdict == "gone") == (d.seen is None)
            if d.after is not None:
                assert d.after.fingerprint == after[d.url]
                assert d.verdict in ("new", "changed", "reverted")
                assert d.verdict != "new" or d.url not in before
            if d.verdict in ("changed", "reverted") and d.before and d.after:
                assert d.distance is not None and d.distance_epoch == 0
            assert (d.to is None) == (d.verdict != "reverted")
        assert list(other.diff(one, "1.example")) == [d for d in found if "/1.example" in d.url]
        assert list(one.diff(one.snapshot())) == []
        assert list(one.diff_exact(one)) == []
        # The same difference between two times of one store.
        assert list(other.diff_since(AT + 59 * DAY, AT + 999 * DAY)) == found
        assert list(other.diff_since(AT + 59 * DAY)) == found
        assert list(other.diff_since(AT + 59 * DAY, AT + 59 * DAY)) == []

        exact = list(other.diff_exact(one))
        more = {(o.url, o.at) for o in seen[60:]}
        assert {(d.url, entry.time) for d in exact for entry in d.after} == more
        assert all(d.before == () for d in exact)
        assert list(one.diff_exact(other, "0.example")) == [
            simkeep.ExactDifference(d.url, d.after, d.before) for d in exact if "/0.example" in d.url
        ]


def test_epochs_are_matched_by_name(tmp_path: Path) -> None:
    with simkeep.Store.create(tmp_path / "a") as one, simkeep.Store.create(tmp_path / "b") as other:
        other.register_epoch("theirs")
        mine = other.register_epoch("both")
        other.observe("https://example.com/", AT, fingerprint=1, epoch=mine)
        there = one.register_epoch("both")
        one.observe("https://example.com/", AT - DAY, fingerprint=1, epoch=there)
        one.observe("https://example.org/", AT, fingerprint=5, epoch=there)
        diff = other.diff(one)
        assert isinstance(diff, simkeep.Diff) and isinstance(diff, simkeep.Stream)
        names = {info.epoch: info.name for info in diff.epochs()}
        assert names == {0: one.epochs()[0].name, there: "both", 2: "theirs"}
        [gone] = diff
        assert gone.verdict == simkeep.Verdict.GONE and gone.before is not None
        assert (gone.url, names[gone.before.epoch], gone.priority) == ("https://example.org/", "both", 0)
        assert [info.name for info in other.diff_exact(one).epochs()][1:] == ["both", "theirs"]
        assert len(other.diff_since(AT, AT).epochs()) == 3


def test_differences_convert_to_columns(store: simkeep.Store) -> None:
    store.load(visits(Random(3), 80))
    found = list(store.diff_since(AT + 30 * DAY, AT + 60 * DAY))
    table = polars.DataFrame(store.diff_since(AT + 30 * DAY, AT + 60 * DAY).batches(signed=True))
    for name in ("url", "verdict", "distance", "to", "priority", "seen"):
        assert table[name].to_list() == [getattr(d, name) for d in found], name
    prints = [None if d.after is None else d.after.fingerprint for d in found]
    assert [None if bits is None else bits % 2**64 for bits in table["after"]] == prints
    assert table["before_epoch"].to_list() == [None if d.before is None else 0 for d in found]
    with pytest.raises(TypeError, match="no columns"):
        store.diff_exact(store).batches()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.diff("a"), TypeError, "before"),
        (lambda s: s.diff(s, 7), TypeError, "under must be str, not int"),
        (lambda s: s.diff(s, ""), simkeep.PrefixError, "the prefix is empty"),
        (lambda s: s.diff_exact(None), TypeError, "before"),
        (lambda s: s.diff_since("now", AT), TypeError, "since must be an aware datetime"),
        (lambda s: s.diff_since(AT, 1.5), TypeError, "until must be an aware datetime"),
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(store)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_diff_of_a_closed_or_forked_store_is_rejected(path: Path) -> None:
    store = simkeep.Store.create(path)
    store.load(visits(Random(1), 30))
    store.seal()
    reader = simkeep.Reader(path)
    streams = [reader.diff(store), store.diff(reader), store.diff_since(AT, AT + DAY), store.diff_exact(reader)]

    def work() -> None:
        for stream in streams:
            with pytest.raises(simkeep.ForkedError):
                next(stream)
        for view, before in ((store, reader), (reader, store)):
            with pytest.raises(simkeep.ForkedError):
                view.diff(before)
        assert list(reader.diff_since(AT + DAY, AT + 9 * DAY))

    in_child(work)
    store.close()
    for view, before in ((store, reader), (reader, store)):
        with pytest.raises(simkeep.ClosedError):
            view.diff(before)
    reader.close()
