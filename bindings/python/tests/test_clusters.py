"""Clusters: compared with a clustering in a few lines of Python."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import polars
import pytest
from conftest import AT, DAY, URL, filled, threads
from test_forks import in_child

import simkeep
from simkeep import _types

RULES: dict[str, Callable[[simkeep.Page], Any]] = {
    "first-seen": lambda page: page.first,
    "newest": lambda page: AT - page.first,
    "shortest-url": lambda page: len(page.url),
    "https": lambda page: not page.url.startswith("https:"),
    "weight": lambda page: -page.weight,
    "https,shortest-url": lambda page: (not page.url.startswith("https:"), len(page.url)),
}


def crowded(store: simkeep.Store, random: Random, pages: int) -> None:
    """Loads pages of which many are near each other, and some are equal."""
    rows: list[_types.Row] = [
        {
            "url": f"http{random.choice(['', 's'])}://{n % 7}.example/{'x' * random.randrange(4)}{n}",
            "at": AT + random.randrange(20) * DAY,
            "fingerprint": random.randrange(4) << 40 | random.getrandbits(9),
            "weight": random.choice([1.0, 2.0, 3.0]),
            "class_": n % 3,
        }
        for n in range(pages)
    ]
    store.load(rows)


def print_of(page: simkeep.Page) -> int:
    assert page.content is not None and page.content.fingerprint is not None
    return page.content.fingerprint


def clustered(
    pages: list[simkeep.Page], k: int, rule: Callable[[simkeep.Page], Any]
) -> list[tuple[simkeep.Page, list[simkeep.Page]]]:
    """Returns each leader with its pages, by rank."""
    nodes: dict[int, list[simkeep.Page]] = defaultdict(list)
    # Pages come in SURT order, and the sort keeps that order among equal ranks.
    for page in sorted(pages, key=rule):
        nodes[print_of(page)].append(page)
    leaders: dict[int, list[simkeep.Page]] = {}
    for own, alike in nodes.items():
        near = [(simkeep.distance(own, leader), leader) for leader in leaders]
        distance, nearest = min(near, default=(65, 0), key=lambda one: one[0])
        leaders.setdefault(own if distance > k else nearest, []).extend(alike)
    return [(members[0], members) for members in leaders.values()]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", [0, 1, 3])
def test_clusters_match_the_naive_rule(store: simkeep.Store, k: int, rule: str) -> None:
    crowded(store, Random(f"{k} {rule}"), 300)
    pages = list(store.scan())
    expected = clustered(pages, k, RULES[rule])
    found = store.clusters(k, rule=rule)
    assert (found.k, found.pages, len(found)) == (k, 300, len(expected))
    assert found.fingerprints == len({print_of(page) for page in pages})
    assert found.multi_page_clusters == sum(len(members) > 1 for _, members in expected)
    assert found.largest == max(len(members) for _, members in expected)
    bins = [0] * found.largest.bit_length()
    for _, members in expected:
        bins[len(members).bit_length() - 1] += 1
    assert found.sizes == tuple(bins)

    led = {page.url: (leader, len(members)) for leader, members in expected for page in members}
    listed = list(found.by_page())
    assert [page.url for page in listed] == [page.url for page in pages]
    for page, clustered_page in zip(pages, listed, strict=True):
        leader, size = led[page.url]
        distance = simkeep.distance(print_of(page), print_of(leader))
        assert (clustered_page.leader, clustered_page.pages) == (leader.url, size)
        assert (clustered_page.distance, clustered_page.fingerprint) == (distance, print_of(page))
        assert (clustered_page.class_, clustered_page.leader_class) == (page.class_, leader.class_)
        assert clustered_page.is_leader == (leader.url == page.url) == (clustered_page.by is None)
        if clustered_page.by is not None:
            assert clustered_page.by == ("near" if distance else "fingerprint")
        around = store.cluster_of(page.url, k, rule=rule)
        assert around is not None and around.complete and around.cluster.leader == leader.url
        assert {one.url for one in around.pages} == {url for url, of in led.items() if of[0] is leader}

    by_size = sorted(expected, key=lambda one: -len(one[1]))
    assert [(of.leader, of.pages) for of in found.by_size()] == [
        (leader.url, len(members)) for leader, members in by_size
    ]
    assert [of.leader for of in found.by_size(3)] == [
        leader.url for leader, members in by_size if len(members) >= 3
    ]
    place = {page.url: number for number, page in enumerate(pages)}
    in_clusters = [
        page.url
        for leader, members in by_size
        for page in sorted(
            members,
            key=lambda page: (
                page is not leader,
                simkeep.distance(print_of(page), print_of(leader)),
                place[page.url],
            ),
        )
    ]
    assert [page.url for page in found.by_cluster()] == in_clusters
    assert len(list(found.by_cluster(2))) == sum(len(of[1]) for of in expected if len(of[1]) > 1)
    assert all(page.pages > 1 for page in found.by_page(2))


@pytest.mark.parametrize("open", [None, [1], [0, 1, 2], [None]])
def test_pages_are_dropped_only_for_leaders_visible_to_their_readers(
    store: simkeep.Store, open: list[int | None] | None
) -> None:
    crowded(store, Random(5), 200)
    found = store.clusters(2)
    dropped = found.dropped(open)
    expected = {
        page.url: page
        for page in found.by_page()
        if not page.is_leader and (page.class_ == page.leader_class or page.leader_class in (open or []))
    }
    assert len(dropped) == found.count_dropped(open) == len(expected) > 10
    for page in found.by_page():
        fated, kept = dropped.fate(page.url), dropped.kept_for(page.url)
        if page.url in expected:
            assert fated == simkeep.PageFate(simkeep.Fate.DROPPED, None)
            assert kept == simkeep.KeptPage(page.leader, page.distance)
        else:
            assert fated.fate == "kept" and kept is None
    assert list(dropped.pages()) == list(expected.values())
    table = polars.DataFrame(dropped)
    assert table["url"].to_list() == list(expected)
    assert table["leader"].to_list() == [page.leader for page in expected.values()]
    assert polars.DataFrame(dropped.pages()).equals(table)
    assert dropped.fate("https://nobody.example/") == simkeep.PageFate(simkeep.Fate.UNKNOWN, None)
    assert dropped.kept_for("https://nobody.example/") is None
    with pytest.raises(simkeep.UrlError):
        dropped.fate("")


def test_dropped_pages_are_identified_by_digest(store: simkeep.Store) -> None:
    for n, digest in enumerate([b"a" * 16, b"b" * 16, b"a" * 16]):
        store.observe(f"https://example.com/{n}", AT + n * DAY, fingerprint=n >> 1 << 1, digest=digest)
    found = store.clusters()
    assert [page.by for page in found.by_page()] == [None, "fingerprint", "near"]
    assert found.dropped().fate("https://example.com/2").digest == b"a" * 16
    store.observe("https://example.com/3", AT + 9 * DAY, fingerprint=0, digest=b"a" * 16)
    assert [page.by for page in store.clusters().by_page()][-1] == "digest"


def test_keywords_select_the_clustered_pages(store: simkeep.Store, tmp_path: Path) -> None:
    for n in range(8):
        at = AT + n * DAY
        store.observe(f"https://{'a' if n < 4 else 'b'}.example/{n}", at, fingerprint=n, class_=n % 2)
    assert len(store.clusters(3)) == 1 and store.clusters().k == store.near_distance()
    assert store.clusters(3, under="b.example").pages == 4
    assert store.clusters(3, at=AT + 2 * DAY).pages == 3
    assert store.clusters(3, classes=[1]).pages == 4
    assert store.clusters(3, classes=[None]).pages == 0
    assert store.clusters(3, epoch=0, scratch=tmp_path, memory_bytes=1 << 20).pages == 8
    assert store.clusters(3, epoch=None, rule=None, at=None, under=None, classes=None).pages == 8
    [leader] = store.clusters(3, rule="newest").by_size()
    assert leader.leader == "https://b.example/7" and leader.first_seen == AT + 7 * DAY
    assert leader.max_distance == 3
    empty = store.clusters(under="c.example")
    assert not empty and empty.sizes == ()
    assert list(empty.by_page()) == []
    assert list(empty.by_size()) == []
    assert store.cluster_of("https://c.example/") is None
    assert store.cluster_of("https://a.example/0", at=AT - DAY) is None
    # All views have the same methods.
    for view in (store, store.snapshot()):
        assert view.clusters(0).pages == 8
    with simkeep.Reader(store.path) as reader:
        assert len(reader.clusters(0)) == 8


def test_clusters_at_two_times_are_compared(store: simkeep.Store) -> None:
    for day, path, fingerprint in [(0, "a", 0b00), (1, "b", 0b01), (2, "c", 0xFF00), (4, "a", 0xFFFF)]:
        store.observe(f"https://example.com/{path}", AT + day * DAY, fingerprint=fingerprint)
    store.observe("https://example.com/d", AT + 5 * DAY, fingerprint=0xFF01)
    store.gone("https://example.com/c", AT + 6 * DAY)
    changes = store.cluster_changes(AT + 2 * DAY, k=3)
    listed = list(changes)
    assert [(change.url[-1], change.reason, change.bits) for change in listed] == [
        ("b", "leader-changed", 16),
        ("c", "gone", None),
        ("d", "new", None),
    ]
    assert listed == list(changes)
    assert (listed[0].before, listed[0].after) == ("https://example.com/a", "https://example.com/b")
    assert listed[1].after is None and listed[2].before is None
    assert (changes.before.pages, changes.after.pages) == (3, 3)
    assert [page.is_leader for page in changes.before.by_page()] == [True, False, True]
    assert changes.after.count_dropped() == len(changes.after.dropped()) == 0
    table = polars.DataFrame(iter(changes))
    assert table.columns == ["url", "before", "after", "reason", "bits"]
    assert table["bits"].to_list() == [16, None, None]
    between = store.cluster_changes(AT + DAY, AT + 2 * DAY, 3)
    assert [(change.url[-1], change.reason) for change in between] == [("c", "new")]
    since = list(store.cluster_changes(AT + 5 * DAY, k=3))
    assert [change.reason for change in since] == [simkeep.LeaderChangeReason.GONE, simkeep.LeaderChangeReason.LEADER_GONE]


def test_components_and_balls_match_all_pairs(store: simkeep.Store) -> None:
    crowded(store, Random(9), 120)
    pages = list(store.scan())
    prints = [print_of(page) for page in pages]
    distances = {
        (left, right): simkeep.distance(prints[left], prints[right])
        for left, right in combinations(range(len(pages)), 2)
    }
    labels = {page.url: "odd" if page.class_ == 1 else "even" for page in pages[::2]}
    balls = store.balls(4, labels=labels)
    assert balls == store.balls(4, labels=labels.items()) and len(balls) == 5
    for k, ball in enumerate(balls):
        near = [pair for pair, distance in distances.items() if distance <= k]
        sizes = [1] * len(pages)
        for pair in near:
            for page in pair:
                sizes[page] += 1
        assert (ball.k, ball.balls, ball.pages, ball.largest) == (k, 120, sum(sizes), max(sizes))
        assert sum(ball.by_size) == 120 and ball.by_size[0] == sizes.count(1)
        assert ball.average == sum(sizes) / 120 and ball.shared == (120 - sizes.count(1)) / 120
        named = [[labels.get(pages[page].url) for page in pair] for pair in near]
        labelled = [pair for pair in named if None not in pair]
        assert (ball.labelled_pairs, ball.equal_pairs) == (
            len(labelled),
            sum(one == other for one, other in labelled),
        )
    assert store.balls(1)[0].equal_share is None

    above = list(range(len(pages)))

    def root(page: int) -> int:
        while above[page] != page:
            page = above[page]
        return page

    for (left, right), distance in distances.items():
        if distance <= 1:
            above[root(left)] = root(right)
    sizes_of: dict[int, int] = defaultdict(int)
    for page in range(len(pages)):
        sizes_of[root(page)] += 1
    found = store.connected_components(1)
    assert (found.k, found.pages, found.components) == (1, 120, len(sizes_of))
    assert found.multi_page_components == sum(size > 1 for size in sizes_of.values())
    assert [one.pages for one in found.largest] == sorted(
        (size for size in sizes_of.values() if size > 1), reverse=True
    )[:10]
    assert found.largest[0].max_distance >= 1


def test_listings_convert_to_columns(store: simkeep.Store) -> None:
    crowded(store, Random(3), 100)
    store.observe(URL, AT, fingerprint=2**63 + 1)
    found = store.clusters(2)
    table = polars.DataFrame(found.by_page().batches(signed=True))
    values = list(found.by_page())
    for name in ("url", "leader", "class_", "leader_class", "distance", "resemblance", "pages", "by"):
        assert table[name].to_list() == [getattr(page, name) for page in values], name
    assert [bits % 2**64 for bits in table["fingerprint"]] == [page.fingerprint for page in values]
    assert polars.DataFrame(found.by_cluster())["fingerprint"].dtype == polars.UInt64
    table = polars.DataFrame(found.by_size(2))
    clusters = list(found.by_size(2))
    for name in ("leader", "fingerprint", "first_seen", "pages", "max_distance"):
        assert table[name].to_list() == [getattr(cluster, name) for cluster in clusters], name


BAD: list[tuple[Callable[[Any], object], type[Exception], str]] = [
    (lambda s: s.clusters(65), ValueError, "k must be an int from 0 to 64, not 65"),
    (lambda s: s.clusters("3"), TypeError, "k must be .*not str"),
    (lambda s: s.clusters(3, rule="oldest"), ValueError, 'rule is not a rule: "oldest"'),
    (lambda s: s.clusters(3, rule=7), TypeError, "rule must be str, not int"),
    (lambda s: s.clusters(3, at="now"), TypeError, "at must be an aware datetime"),
    (lambda s: s.clusters(3, under=""), simkeep.PrefixError, "the prefix is empty"),
    (lambda s: s.clusters(3, under=7), TypeError, "under must be str, not int"),
    (lambda s: s.clusters(3, classes="abc"), TypeError, "classes must be an iterable"),
    (lambda s: s.clusters(3, epoch=9), simkeep.EpochError, "epoch 9"),
    (lambda s: s.clusters(3, epoch="x"), TypeError, "epoch must be the number"),
    (lambda s: s.clusters(3, memory_bytes=-1), ValueError, "memory_bytes must be"),
    (lambda s: s.clusters(3, scratch=7), TypeError, "scratch must be a path, not int"),
    (lambda s: s.clusters(3, key=len), TypeError, "there is no keyword key"),
    (lambda s: s.clusters(3, progress=7), TypeError, "progress"),
    (lambda s: s.cluster_of(7), TypeError, "url must be str, not int"),
    (lambda s: s.cluster_of(""), simkeep.UrlError, "the URL is empty"),
    (lambda s: s.cluster_changes("now"), TypeError, "since must be an aware datetime"),
    (lambda s: s.cluster_changes(AT, 1.5), TypeError, "until must be an aware datetime"),
    (lambda s: s.cluster_changes(AT, at=AT), TypeError, "there is no keyword at"),
    (lambda s: s.connected_components(-1), ValueError, "k must be"),
    (lambda s: s.balls(3, labels="abc"), TypeError, "labels must be a dictionary"),
    (lambda s: s.balls(3, labels=[("a", "b"), ("a",)]), TypeError, "labels in row 1 must be a pair"),
    (lambda s: s.balls(3, labels={"a": 7}), TypeError, "labels in row 0 must be str, not int"),
    (lambda s: s.clusters().by_page("2"), TypeError, "pages_min must be .*not str"),
    (lambda s: s.clusters().by_size(-1), ValueError, "pages_min must be .*not -1"),
    (lambda s: s.clusters().dropped(7), TypeError, "open must be an iterable"),
    (lambda s: s.clusters().count_dropped([-1]), ValueError, "open must be"),
    (lambda s: s.clusters().dropped().fate(b"a"), TypeError, "url must be str, not bytes"),
    (lambda s: s.clusters().dropped().kept_for("a\tb"), simkeep.UrlError, "control character"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_invalid_arguments_are_rejected(store: simkeep.Store, number: int) -> None:
    call, error, message = BAD[number]
    with pytest.raises(error, match=message):
        call(store)


def test_missing_scratch_directory_is_named(store: simkeep.Store, tmp_path: Path) -> None:
    filled(store, 20_000)
    with pytest.raises(simkeep.IoError, match="missing"):
        found = store.clusters(3, scratch=tmp_path / "missing", memory_bytes=1 << 20)
        list(found.by_page())


def test_clusters_outlive_the_store(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        crowded(store, Random(1), 50)
        found = store.clusters(2)
        dropped = found.dropped()
    for call in (
        lambda: store.clusters(2),
        lambda: store.cluster_of(URL),
        lambda: store.cluster_changes(AT),
        lambda: store.connected_components(2),
        lambda: store.balls(2),
    ):
        with pytest.raises(simkeep.ClosedError):
            call()
    assert len(list(found.by_page())) == 50
    assert sum(dropped.fate(page.url).fate == "dropped" for page in found.by_page()) == len(dropped)


def test_cancelled_calls_do_not_start(store: simkeep.Store) -> None:
    filled(store, 1000)
    progress = simkeep.Progress()
    assert store.clusters(2, progress=progress).pages == 1000
    assert not progress.is_cancelled
    progress.cancel()
    for call in (
        lambda: store.clusters(2, progress=progress),
        lambda: store.cluster_changes(AT, progress=progress),
        lambda: store.connected_components(2, progress=progress),
        lambda: store.balls(2, progress=progress),
    ):
        with pytest.raises(simkeep.CancelledError):
            call()


LISTING = ("simkeep-cluster", "simkeep-changes", "simkeep-dropped")
"""The names of these threads, truncated as Linux does."""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are not listed here")
def test_closing_a_stream_ends_its_thread(store: simkeep.Store) -> None:
    filled(store, 20_000)
    found = store.clusters(0)
    streams = [found.by_page(), found.by_cluster(), found.by_size(), iter(store.cluster_changes(0))]
    for stream in streams:
        next(stream)
    assert threads(*LISTING) == 4
    for stream in streams:
        stream.close()
        with pytest.raises(StopIteration):
            next(stream)
    dropped = found.dropped()
    assert threads("simkeep-dropped") == 1
    with found.by_page() as again:
        next(again)
    with dropped.pages() as pages:
        assert next(pages, None) is None
    del dropped
    until = time.monotonic() + 10
    while threads(*LISTING) and time.monotonic() < until:
        time.sleep(0.01)
    assert threads(*LISTING) == 0


def test_threads_share_clusters(store: simkeep.Store) -> None:
    crowded(store, Random(2), 200)
    found = store.clusters(2)
    dropped = found.dropped()
    expected = [dropped.fate(page.url) for page in found.by_page()]
    wrong: list[object] = []

    def work() -> None:
        if [dropped.fate(page.url) for page in found.by_page()] != expected:
            wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_clusters_fail_in_a_forked_child_but_not_the_parent(path: Path) -> None:
    store = simkeep.Store.create(path)
    crowded(store, Random(4), 100)
    found, changes = store.clusters(2), store.cluster_changes(AT)
    dropped, stream = found.dropped(), found.by_page()
    next(stream)

    def work() -> None:
        nonlocal found, changes, dropped, stream
        for call in (
            lambda: store.clusters(2),
            lambda: found.by_page(),
            lambda: found.dropped(),
            lambda: found.count_dropped(),
            lambda: iter(changes),
            lambda: changes.before.by_size(),
            lambda: dropped.fate(URL),
            lambda: next(stream),
        ):
            with pytest.raises(simkeep.ForkedError):
                call()
        # They can be dropped without an error.
        del found, changes, dropped, stream
        with simkeep.Reader(path) as reader:
            again = reader.clusters(2)
            assert len(list(again.by_page())) == 100
            assert len(again.dropped()) == again.count_dropped()

    store.seal()
    in_child(work)
    assert len(list(stream)) == 99 and len(dropped) == found.count_dropped()
    store.close()


def test_equal_content_without_a_fingerprint_is_a_cluster(store: simkeep.Store) -> None:
    first, copy, other = (f"https://example.com/{name}.png" for name in ("a", "b", "c"))
    for url, day, byte in [(first, 0, 1), (copy, 1, 1), (other, 2, 2)]:
        store.observe(url, AT + day * DAY, digest=bytes([byte] * 16))
    clusters = store.clusters(3)
    assert (clusters.pages, len(clusters), clusters.fingerprints, clusters.without_fingerprint) == (3, 2, 0, 0)
    [largest] = clusters.by_size(2)
    assert (largest.leader, largest.fingerprint, largest.max_distance) == (first, None, 0)
    leads, follows = clusters.by_cluster(2)
    assert (leads.fingerprint, leads.by) == (None, None)
    assert (follows.url, follows.leader, follows.distance, follows.by) == (copy, first, 0, "digest")
    assert polars.DataFrame(clusters.by_page())["fingerprint"].null_count() == 3
    of = store.cluster_of(copy, 3)
    assert of is not None and of.complete and [page.url for page in of.pages] == [first, copy]
    store.observe(copy, AT + 3 * DAY, digest=bytes([2] * 16))
    [change] = store.cluster_changes(AT + 2 * DAY, k=3)
    assert (change.url, change.before, change.after) == (copy, first, other)
    assert (change.reason, change.bits) == ("changed", None)
