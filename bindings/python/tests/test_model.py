"""Random calls, compared with a naive model."""

import os
import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import simkeep

DEPTH = float(os.environ.get("SIMKEEP_DEPTH", "0.1"))
"""Scales the number of calls: ten thousand at depth 1."""

URLS = st.builds("https://{}.example/{}".format, st.sampled_from("ab"), st.integers(0, 3))
TIMES = st.integers(0, 50).map(lambda day: 1_700_000_000_000 + day * 86_400_000)
# Fingerprints with few bits, so that they are near each other.
PRINTS = st.one_of(st.none(), st.integers(0, 15), st.integers(2**63, 2**63 + 7))


class Model(RuleBasedStateMachine):
    """A store, and a dictionary of all visits that it observed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "crawl.simkeep"
        self.store = simkeep.Store.create(self.path, epoch="mine/1", background=False)
        self.pages: dict[str, dict[int, tuple[str, int | None]]] = {}

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def record(self, url: str, at: int, seen: str, fingerprint: int | None) -> simkeep.Observation | None:
        """Records a visit; returns `None` if the page has one at that time."""
        visits = self.pages.setdefault(url, {})
        if at in visits:
            return None
        visits[at] = (seen, fingerprint)
        if seen == "content":
            return simkeep.Observation(url, at, fingerprint=fingerprint, epoch=0)
        if seen == "gone":
            return simkeep.Observation.gone(url, at)
        return simkeep.Observation.failed(url, at)

    def in_force(self) -> dict[str, int]:
        """Returns the current fingerprint of each page that has one."""
        found = {}
        for url, visits in self.pages.items():
            content = None
            for _, (seen, fingerprint) in sorted(visits.items()):
                if seen != "failed":
                    content = fingerprint if seen == "content" else None
            if content is not None:
                found[url] = content
        return found

    @rule(
        visits=st.lists(
            st.tuples(URLS, TIMES, st.sampled_from(["content", "content", "gone", "failed"]), PRINTS),
            max_size=6,
        ),
        loaded=st.booleans(),
    )
    def observe(self, visits: list[tuple[str, int, str, int | None]], loaded: bool) -> None:
        recorded = [self.record(*visit) for visit in visits]
        rows = [row for row in recorded if row is not None]
        if loaded:
            assert self.store.load(rows).observations == len(rows)
        else:
            outs = self.store.observe_batch(rows)
            assert len(outs) == len(rows) and all(out.verdict != "known" for out in outs)

    @rule(url=URLS)
    def forget(self, url: str) -> None:
        visits = self.pages.pop(url, {})
        assert self.store.forget(url) == simkeep.Forgotten(bool(visits), len(visits))

    @rule(host=st.sampled_from("ab"))
    def forget_all(self, host: str) -> None:
        gone = [url for url in self.pages if url.startswith(f"https://{host}.") and self.pages[url]]
        visits = sum(len(self.pages.pop(url)) for url in gone)
        assert self.store.forget(under=f"{host}.example") == simkeep.Forgotten(len(gone), visits)

    @rule()
    def seal(self) -> None:
        self.store.seal()

    @rule()
    def merge(self) -> None:
        self.store.merge()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = simkeep.Store.open(self.path, background=False)

    @rule(fingerprint=st.integers(0, 15), k=st.integers(0, 4))
    def near(self, fingerprint: int, k: int) -> None:
        expected = {
            (url, (bits ^ fingerprint).bit_count())
            for url, bits in self.in_force().items()
            if (bits ^ fingerprint).bit_count() <= k
        }
        found = self.store.near(fingerprint, k, limit=None)
        assert {(near.url, near.distance) for near in found} == expected and found.complete
        assert self.store.near_batch([fingerprint], k, limit=None)[0] == found

    @rule(at=TIMES, url=URLS)
    def as_of(self, at: int, url: str) -> None:
        expected = None
        for time, (seen, _) in sorted(self.pages.get(url, {}).items()):
            if time <= at and seen != "failed":
                expected = time if seen == "content" else None
        found = self.store.as_of(url, at)
        assert (found.time.timestamp() * 1000 if found else None) == expected

    @rule()
    def read_while_writing(self) -> None:
        with simkeep.Reader(self.path) as reader:
            assert list(reader.observations()) == list(self.store.observations())

    @precondition(lambda self: self.pages)
    @rule()
    def copy(self) -> None:
        other = self.folder / "other"
        with simkeep.Store.create(other, epoch="mine/1") as store:
            store.copy_from(self.store)
            assert list(store.scan()) == list(self.store.scan())
        shutil.rmtree(other)

    @invariant()
    def agrees_with_the_model(self) -> None:
        known = {url: visits for url, visits in self.pages.items() if visits}
        stats = self.store.stats()
        assert stats.pages == len(known)
        assert stats.visits == sum(len(visits) for visits in known.values())
        for page in self.store.scan():
            times = sorted(known[page.url])
            history = self.store.history(page.url)
            assert [round(entry.time.timestamp() * 1000) for entry in history] == times
            found = page.content.fingerprint if page.content else None
            assert found == self.in_force().get(page.url)


Model.TestCase.settings = settings(
    max_examples=max(5, round(200 * DEPTH)),
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestModel = Model.TestCase
