"""Fingerprints propose pairs, and texts decide."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import AT, DAY
from test_forks import in_child

import simkeep


def words(start: int, end: int) -> str:
    return " ".join(f"word{n}" for n in range(start, end))


TEXTS = {
    "https://example.com/a": words(0, 200),
    "https://example.com/b": words(0, 202),
    "https://example.com/c": words(500, 900),
}


def observed(store: simkeep.Store) -> None:
    for day, (url, text) in enumerate(TEXTS.items()):
        store.observe(url, AT + day * DAY, text=text)
    # Its fingerprint is near, but its text is different.
    page = store.latest("https://example.com/a")
    assert page is not None and page.content is not None and page.content.fingerprint is not None
    near = page.content.fingerprint ^ 0b100
    store.observe("https://example.com/d", AT + 9 * DAY, fingerprint=near, digest=b"d" * 16)


def test_pages_with_similar_text_share_a_leader(store: simkeep.Store) -> None:
    observed(store)
    assert [page.url[-1] for page in store.clusters(10).by_page() if not page.is_leader] == ["b", "d"]
    candidates = store.candidates(10)
    assert len(candidates) == 3 and "3 pages" in repr(candidates)
    alone = candidates.candidacy("https://example.com/c")
    assert alone == simkeep.PageCandidacy(simkeep.Candidacy.ALONE, None, None)
    assert candidates.candidacy("https://example.com/new").candidacy == "unknown"
    other = candidates.candidacy("https://example.com/d")
    assert other.candidacy == "candidate" and other.digest == b"d" * 16
    for url, text in TEXTS.items():
        place = candidates.candidacy(url).location
        if place is not None:
            candidates.add(place, text)
            candidates.add(place, text)
    assert other.location is not None
    candidates.add(other.location, words(2000, 2100))
    found = candidates.clusters(0.8)
    pages = list(found.by_page())
    assert [page.leader[-1] for page in pages] == ["a", "a", "c", "d"]
    assert pages[0].resemblance is None and pages[1].resemblance is not None
    assert 0.9 < pages[1].resemblance <= 1
    dropped = found.dropped()
    assert len(dropped) == 1 and not dropped.has(other.location)
    with pytest.raises(simkeep.InvalidArgumentError, match="find the candidates again"):
        candidates.candidacy("https://example.com/a")
    with pytest.raises(simkeep.InvalidArgumentError, match="find the candidates again"):
        candidates.clusters(0.8)


def test_dropped_pages_are_found_by_location(store: simkeep.Store) -> None:
    observed(store)
    candidates = store.candidates(10)
    places = {url: candidates.candidacy(url).location for url in TEXTS}
    for url, place in places.items():
        if place is not None:
            candidates.add(place, TEXTS[url])
    dropped = candidates.clusters(0.5).dropped()
    assert {url[-1] for url, place in places.items() if place is not None and dropped.has(place)} == {"b"}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: c.candidacy(7), TypeError, "url must be str, not int"),
        (lambda c: c.candidacy(""), simkeep.UrlError, "the URL is empty"),
        (lambda c: c.add("x", "y"), TypeError, "location must be .*not str"),
        (lambda c: c.add(2**63, "y"), simkeep.InvalidArgumentError, "no candidate has the location"),
        (lambda c: c.add(0, b"y"), TypeError, "text must be str, not bytes"),
        (lambda c: c.clusters("x"), TypeError, "resemblance must be a number, not str"),
        (lambda c: c.clusters(1.5), ValueError, "resemblance must be between 0 and 1, not 1.5"),
        (lambda c: c.clusters(float("nan")), ValueError, "resemblance must be between 0 and 1"),
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    observed(store)
    candidates = store.candidates(10)
    with pytest.raises(error, match=message):
        call(candidates)
    assert len(candidates.clusters(0.5)) == 4


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_candidates_fail_in_a_forked_child_and_after_close(path: Path) -> None:
    store = simkeep.Store.create(path)
    observed(store)
    candidates = store.candidates(10)

    def work() -> None:
        for call in (lambda: candidates.candidacy("a"), lambda: candidates.clusters(0.5)):
            with pytest.raises(simkeep.ForkedError):
                call()

    in_child(work)
    store.close()
    with pytest.raises(simkeep.ClosedError):
        store.candidates(10)
    assert len(candidates.clusters(1.0)) == 4
