"""Sites that mirror each other."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import AT, DAY, mixed

import simkeep


def site(store: simkeep.Store, under: str, pages: int, *, day: int = 0, start: int = 0) -> None:
    """Loads the pages of a site: a path has the same fingerprint on each site."""
    store.load(
        simkeep.Observation(f"https://{under}/{n}", AT + day * DAY, fingerprint=mixed(n))
        for n in range(start, start + pages)
    )


def test_sites_with_the_same_pages_are_mirrors(store: simkeep.Store) -> None:
    site(store, "a.example", 20)
    site(store, "b.example/pub", 18, day=3)
    site(store, "c.example", 20, start=1000)
    found = store.mirrors()
    [mirror] = found.pairs
    assert (found.mirrors, found.partial, found.paths) == (1, 0, 58)
    assert found.compared >= 1 and found.sites >= 3
    assert (mirror.leader.site, mirror.follower.site) == ("a.example/", "b.example/pub/")
    assert (mirror.leader.paths, mirror.follower.paths, mirror.leader.outdated) == (20, 18, 0)
    assert mirror.is_mirror and (mirror.common, mirror.near, mirror.differing) == (18, 18, 0)
    assert mirror.share == 0.9 and mirror.lag is None and 0 < len(mirror.examples) <= 10
    for example in mirror.examples:
        path = example.leader.removeprefix("https://a.example/")
        assert (example.follower, example.distance) == (f"https://b.example/pub/{path}", 0)
    # Each page changes to the content of the other site a day later.
    for day, host in [(10, "a.example"), (11, "b.example/pub")]:
        for n in range(18):
            store.observe(f"https://{host}/{n}", AT + day * DAY, fingerprint=mixed(500 + n))
    [mirror] = store.mirrors().pairs
    assert mirror.lag == DAY and mirror.near == 18
    [mirror] = store.mirrors(at=AT + 10 * DAY).pairs
    assert mirror.follower.outdated == 18


def test_keywords_control_which_sites_are_mirrors(store: simkeep.Store) -> None:
    site(store, "a.example", 20)
    site(store, "b.example", 12)
    assert store.mirrors().mirrors == 0 and store.mirrors().partial == 1
    assert store.mirrors(share=0.5).mirrors == 1
    assert store.mirrors(share=0.5, limit=0).pairs == ()
    assert store.mirrors(share=0.5, limit=None, depth=0).mirrors == 1
    assert store.mirrors(share=0.5, paths=13).mirrors == 0
    assert store.mirrors(share=0.5, under="a.example").mirrors == 0
    assert store.mirrors(share=0.5, at=AT - DAY).paths == 0
    assert store.mirrors(share=0.5, classes=[1]).paths == 0
    assert store.mirrors(0, share=0.5, epoch=0, memory_bytes=1 << 20, scratch=None).mirrors == 1
    assert simkeep.Mirrors.recall(0.8) > 0.999_999_999 and simkeep.Mirrors.recall(0) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.mirrors(65), ValueError, "k must be an int from 0 to 64"),
        (lambda s: s.mirrors(paths=1), simkeep.InvalidArgumentError, "paths must be at least 2"),
        (lambda s: s.mirrors(paths="9"), TypeError, "paths must be .*not str"),
        (lambda s: s.mirrors(share=0), simkeep.InvalidArgumentError, "share must be above 0"),
        (lambda s: s.mirrors(share="1"), TypeError, "share must be a number, not str"),
        (lambda s: s.mirrors(depth=17), simkeep.InvalidArgumentError, "depth must be at most 16 folders"),
        (lambda s: s.mirrors(depth=256), ValueError, "depth must be an int from 0 to 16, not 256"),
        (lambda s: s.mirrors(epoch=9), simkeep.EpochError, "epoch 9"),
        (lambda s: s.mirrors(limit=-1), ValueError, "limit must be"),
        (lambda s: s.mirrors(pairs=3), TypeError, "there is no keyword pairs"),
        (lambda s: simkeep.Mirrors.recall("x"), TypeError, "share must be a number, not str"),  # type: ignore[arg-type]
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(store)


def test_closed_store_and_cancelled_call_raise(store: simkeep.Store) -> None:
    progress = simkeep.Progress()
    progress.cancel()
    with pytest.raises(simkeep.CancelledError):
        store.mirrors(progress=progress)
    store.close()
    with pytest.raises(simkeep.ClosedError):
        store.mirrors()
