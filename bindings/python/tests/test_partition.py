"""Tasks on parts of several stores, without a scheduler such as Spark."""

import operator
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import AT, mixed

import simkeep

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

from simkeep import partition  # noqa: E402

MASK = (1 << 64) - 1


def prints(count: int) -> list[int]:
    """Returns fingerprints with many near pairs, and some equal ones."""
    found = [mixed(n) for n in range(count)]
    for n in range(0, count, 3):
        found[n] = found[n * 7 % count] ^ 1 << n % 64 ^ 1 << n % 11
    # One fingerprint is on pages of all stores.
    found[1::75] = [found[0]] * len(found[1::75])
    return found


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, simkeep.Reader]:
    """Three stores with a third of the pages each. Some pages are in two."""
    found = {}
    pages = list(enumerate(prints(3000)))
    for number, name in enumerate(("a", "b", "c")):
        with simkeep.Store.create(tmp_path / name) as store:
            store.load(
                {"url": f"https://{'ab'[n % 2]}.{'xyz'[n % 3]}.example/{n}", "at": AT, "fingerprint": fingerprint}
                for n, fingerprint in pages[number * 1000 : number * 1000 + 1100]
            )
        found[name] = simkeep.Reader(tmp_path / name)
    return found


def found(stores: dict[str, simkeep.Reader], queries: list[int], k: int, limit: int | None) -> list[Any]:
    asked = partition.fingerprints(queries)
    hits = [hit for name, of in stores.items() for hit in partition.near(name, of, asked, k=k, limit=limit)]
    parts: dict[int, list[Any]] = {}
    for table in hits:
        for part, some in partition.spread(table, 5):
            parts.setdefault(part, []).append(partition.unpacked(partition.packed(some)))
    rows: list[Any] = []
    for tables in parts.values():
        rows += partition.merged(tables, limit).to_pylist()
    return rows


@pytest.mark.parametrize(("k", "limit"), [(0, 1), (2, 3), (3, 16), (5, None), (64, 7)])
def test_merged_near_returns_the_best_of_all_stores(stores: dict[str, simkeep.Reader], k: int, limit: int | None) -> None:
    every = [
        (page.last.fingerprint, simkeep.surt_key(page.url), page.url, name)
        for name, of in stores.items()
        for page in of.scan()
    ]
    # Queries from all stores, from pages in two of them, and one without a near page.
    queries = [*prints(3000)[::37], *prints(3000)[1000:1040], 12345]
    rows = found(stores, queries, k, limit)
    for query in set(queries):
        near = sorted(
            ((query ^ fingerprint).bit_count(), surt, url, name)
            for fingerprint, surt, url, name in every
            if fingerprint is not None and (query ^ fingerprint).bit_count() <= k
        )
        mine = [row for row in rows if row["query"] & MASK == query]
        hits = sorted((row["distance"], simkeep.surt_key(row["url"]), row["url"]) for row in mine)
        assert hits == [hit[:3] for hit in near[:limit]]
        assert {row["complete"] for row in mine} <= {limit is None or len(near) <= limit}


@pytest.mark.parametrize(
    ("k", "ranges", "most"), [(0, 4, 1 << 20), (2, 64, 300), (3, 1, 500), (7, 16, 1 << 20), (20, 4, 900)]
)
def test_partitioned_pairs_match_all_fingerprints(
    stores: dict[str, simkeep.Reader], k: int, ranges: int, most: int
) -> None:
    plan = simkeep.JoinPlan([of.histogram(k, buckets=256) for of in stores.values()], ranges, most)
    again = pickle.loads(pickle.dumps(plan))
    assert (len(again), again.k, again.fingerprints) == (len(plan), k, plan.fingerprints)
    assert again.fingerprints_sent == plan.fingerprints_sent
    assert max(map(again.size, range(len(again)))) <= most + most // 10 or k == 20
    uncounted = pickle.loads(pickle.dumps(simkeep.JoinPlan.uncounted(k, 2)))
    assert (len(uncounted), uncounted.k, uncounted.fingerprints) == (2 if 0 < k < 15 else 1, k, 0)
    different = sorted(set(prints(3000)))
    wanted = sorted(
        (min(one, other), max(one, other), pair.distance)
        for pair in simkeep.join(different, k)
        for one, other in [(different[pair.left], different[pair.right])]
    )
    assert sorted(pairs_by(again, stores)) == wanted
    assert sorted(pairs_by(uncounted, stores)) == wanted


def pairs_by(plan: simkeep.JoinPlan, stores: dict[str, simkeep.Reader]) -> list[tuple[int, int, int]]:
    """Returns the pairs that all tasks find."""
    chunks: dict[int, list[Any]] = {task: [] for task in range(len(plan))}
    for of in stores.values():
        for chunk in partition.chunks(of, plan, chunk_bytes=8 << 10):
            chunks[chunk["task"][0].as_py()].append(chunk)
    return [
        (pair["left"] & MASK, pair["right"] & MASK, pair["distance"])
        for task, mine in chunks.items()
        for batch in partition.joined(plan, task, mine, threads=1)
        for pair in batch.to_pylist()
    ]


def test_invalid_join_plans_are_rejected(stores: dict[str, simkeep.Reader]) -> None:
    histogram = stores["a"].histogram(3, buckets=64)
    of_two = stores["b"].histogram(2, buckets=64)
    plan = simkeep.JoinPlan([histogram], 4, 1 << 20)
    text: Any = "x"
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: simkeep.JoinPlan([], 4, 9), ValueError, "histograms must not be empty"),
        (lambda: simkeep.JoinPlan([histogram, histogram[:-1]], 4, 9), ValueError, "histograms in row 1 is not what"),
        (lambda: simkeep.JoinPlan([histogram, of_two], 4, 9), ValueError, "another distance"),
        (lambda: simkeep.JoinPlan([histogram, stores["b"].histogram(3)], 4, 9), ValueError, "other buckets"),
        (lambda: simkeep.JoinPlan([text], 4, 9), TypeError, "histograms in row 0"),
        (lambda: simkeep.JoinPlan([histogram], -1, 9), ValueError, "ranges"),
        (lambda: simkeep.JoinPlan.uncounted(65, 4), ValueError, "k must be"),
        (lambda: simkeep.JoinPlan.uncounted(3, -1), ValueError, "tasks"),
        (lambda: plan.join(len(plan), [], []), ValueError, "task must be below"),
        (lambda: plan.join(0, [b"1234567"], []), ValueError, "first in row 0 must have 8 bytes for each"),
        (lambda: plan.join(0, [], [text]), TypeError, "second in row 0 must be bytes"),
        (lambda: plan.join(0, [], [b"12345678"]), ValueError, "second must be empty"),
        (lambda: plan.size(-1), ValueError, "task"),
        (lambda: stores["a"].histogram(65), ValueError, "k must be"),
    ]
    for wrong, error, message in cases:
        with pytest.raises(error, match=message):
            wrong()
    with pytest.raises(ValueError, match="a chunk is for task 1, not for task 0"):
        chunk = [[1], [False], [b""]]
        arrays = [pa.array(of, field.type) for of, field in zip(chunk, partition.CHUNKS, strict=True)]
        list(partition.joined(plan, 0, [pa.record_batch(arrays, schema=partition.CHUNKS)]))
    assert "tasks" in repr(plan)


def test_ranks_of_several_stores_match_one_store(stores: dict[str, simkeep.Reader], tmp_path: Path) -> None:
    with simkeep.Store.create(tmp_path / "all") as whole:
        for of in stores.values():
            whole.copy_from(of)
        for rule in ("first-seen", "shortest-url"):
            wanted = [(bytes(page.rank), page.url) for page in whole.ranked(rule=rule)]
            ranks = {
                url: rank
                for name, of in stores.items()
                for batch in partition.ranked(name, of, rule)
                for url, rank in zip(batch["url"].to_pylist(), batch["rank"].to_pylist(), strict=True)
            }
            assert sorted(ranks.items(), key=operator.itemgetter(1)) == sorted(
                ((url, rank) for rank, url in wanted), key=operator.itemgetter(1)
            )


def test_dense_bucket_in_one_store_hides_no_result(tmp_path: Path) -> None:
    # A dense bucket, of which a search compares only a part, and three near fingerprints in it.
    crowd = sorted({0x5555 ^ 1 << a ^ 1 << b ^ 1 << c for a in range(40) for b in range(a) for c in range(b)})[:9000]
    other = 0x5555 ^ 0b111 << 50
    held = {"crowd": [*crowd, 0x5555, 0x5554, 0x5557], "other": [other]}
    stores = {}
    for name, mine in held.items():
        with simkeep.Store.create(tmp_path / name) as store:
            store.load({"url": f"https://{name}.example/{n}", "at": AT, "fingerprint": of} for n, of in enumerate(mine))
        stores[name] = simkeep.Reader(tmp_path / name)
    query = 0x5555 ^ 0b11 << 62
    assert len(stores["crowd"].near(query, 4)) < 3
    for k, limit in [(2, 16), (4, 16), (4, 2), (5, 16), (5, 20_000)]:
        near = sorted((query ^ of).bit_count() for of in [*held["crowd"], other] if (query ^ of).bit_count() <= k)
        rows = found(stores, [query], k, limit)
        if len(near) <= limit:
            assert sorted(row["distance"] for row in rows) == near
        assert len(rows) == min(limit, len(near))
        assert {row["complete"] for row in rows} == {len(near) <= limit}


@pytest.mark.parametrize("limit", [1, 2, 5, 1000])
def test_pairs_of_several_parts_are_limited_like_one(
    monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    # A dense bucket within a few bits, stars, and isolated fingerprints.
    crowd = {0xFFFF_FFFF_0000_0000 ^ n for n in range(64)}
    stars = {mixed(n) ^ bit for n in range(4) for bit in (0, *(1 << 2 * shift for shift in range(n * 8)))}
    values = np.array(sorted(crowd | stars), np.uint64)
    near = np.bitwise_count(values[:, None] ^ values[None, :])
    left, right = np.nonzero(np.triu((near <= 2), 1))
    every = list(zip(values[left].tolist(), values[right].tolist(), near[left, right].tolist(), strict=True))
    assert len(every) > 500

    def first(pairs: list[tuple[int, int, int]]) -> set[tuple[int, int, int]]:
        """Returns the pairs among the first `limit` of both fingerprints. The distance also encodes which of
        them has more."""
        of: dict[int, list[tuple[int, int]]] = {}
        for one, other, distance in pairs:
            of.setdefault(one, []).append((distance, other))
            of.setdefault(other, []).append((distance, one))
        ranks = {(one, other): rank for one in of for rank, (_, other) in enumerate(sorted(of[one]))}
        more = {one for one in of if len(of[one]) > limit}
        kept = [(a, b, d) for a, b, d in pairs if ranks[a, b] < limit and ranks[b, a] < limit]
        return {(a, b, d + 100 * (a in more) + 1000 * (b in more)) for a, b, d in kept}

    # Each part is cut to the limit several times while rows arrive.
    monkeypatch.setattr(partition.pairs, "_ROWS", 20)
    parts: list[list[tuple[int, int, int]]] = [[], [], []]
    for number, pair in enumerate(every):
        parts[mixed(number) % 3].append(pair)
    left_over: list[tuple[int, int, int]] = []
    for part in parts:
        signed = [tuple(np.array(pair[:2], np.uint64).view(np.int64).tolist()) for pair in part]
        batches = [
            pa.record_batch(
                [
                    pa.array([pair[0] for pair in signed[at : at + 7]], pa.int64()),
                    pa.array([pair[1] for pair in signed[at : at + 7]], pa.int64()),
                    pa.array([pair[2] for pair in part[at : at + 7]], pa.int32()),
                ],
                schema=partition.PAIRS,
            )
            for at in range(0, len(part), 7)
        ]
        table = partition.capped(batches, limit)
        assert table.schema == partition.PAIRS
        left_over += [(row["left"] & MASK, row["right"] & MASK, row["distance"]) for row in table.to_pylist()]
    assert first(left_over) == first(every)
    assert len(left_over) < len(every) or limit > 1


def test_pairs_with_given_fingerprints_match_each_store(stores: dict[str, simkeep.Reader]) -> None:
    given = [*prints(3000)[::50], 12345, 12345 ^ 3]
    asked = partition.fingerprints(given)
    for of in stores.values():
        have = set(of.all_fingerprints())
        wanted = sorted(
            (min(one, other), max(one, other), (one ^ other).bit_count())
            for one in {value & MASK for value in asked.tolist()}
            for other in have
            if 1 <= (one ^ other).bit_count() <= 3
        )
        batches = list(partition.pairs_with(of, asked, k=3, threads=1))
        assert all(batch.schema == partition.PAIRS for batch in batches)
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert sorted((row["left"] & MASK, row["right"] & MASK, row["distance"]) for row in rows) == wanted
        assert wanted


@pytest.mark.parametrize("limit", [1, 3, 16, None])
def test_hidden_pages_do_not_use_up_the_limit(
    stores: dict[str, simkeep.Reader], monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    # Without a limit, the size of a slice depends on the number of hits.
    monkeypatch.setattr(partition.hits, "_QUERIES_MIN", 3)
    monkeypatch.setattr(partition.hits, "_ROWS", 40)
    reader = stores["a"]
    pages = list(reader.scan())
    hidden = [page.url for number, page in enumerate(pages) if number % 3 == 0]
    left = [(page.last.fingerprint, page.url) for number, page in enumerate(pages) if number % 3]
    queries = partition.fingerprints(prints(3000)[:1000:20])
    tables = list(partition.near("a", reader, queries, k=3, limit=limit, hidden=hidden, threads=1))
    rows = [row for table in tables for row in table.to_pylist()]
    for query in {value & MASK for value in queries.tolist()}:
        near = sorted(
            ((query ^ fingerprint).bit_count(), simkeep.surt_key(url))
            for fingerprint, url in left
            if fingerprint is not None and (query ^ fingerprint).bit_count() <= 3
        )
        mine = [row for row in rows if row["query"] & MASK == query]
        assert sorted((row["distance"], simkeep.surt_key(row["url"])) for row in mine) == near[:limit]
        # Pages beyond the limit are not compared, and may be missing.
        assert not any(row["complete"] for row in mine) or limit is None or len(near) <= limit


def test_one_pair_beyond_the_limit_marks_truncation() -> None:
    # 0 is near 1 and 6, and 6 is near 5, which precedes it. Without the pair of 0 and 6, 1 would seem to be
    # its only neighbour.
    rows = {"left": [0, 0, 5], "right": [1, 6, 6], "distance": [1, 2, 1]}
    batch = pa.record_batch(
        [pa.array(rows["left"]), pa.array(rows["right"]), pa.array(rows["distance"], pa.int32())],
        schema=partition.PAIRS,
    )
    assert sorted(zip(*partition.capped([batch], 1).to_pydict().values(), strict=True)) == [
        (0, 1, 1),
        (0, 6, 2),
        (5, 6, 1),
    ]


def test_followers_match_a_greedy_choice_by_rank() -> None:
    random = np.random.default_rng(11)
    for count, edges in [(2, 1), (30, 40), (300, 2000), (1000, 800)]:
        # By rank, not by the order of numbers.
        ranked = random.integers(-(1 << 63), 1 << 63, count)
        ends = np.sort(random.integers(0, count, (edges, 2)), axis=1)
        ends = ends[ends[:, 0] < ends[:, 1]]
        batches = [
            pa.record_batch({"first": ranked[some[:, 0]], "second": ranked[some[:, 1]]})
            for some in np.array_split(ends, 3)
        ]
        found = partition.following(batches)["second"].to_pylist()
        leads: set[int] = set()
        for node in range(count):
            if not any(other == node and one in leads for one, other in ends.tolist()):
                leads.add(node)
        assert sorted(found) == sorted(ranked[node] for node in range(count) if node not in leads)
    assert partition.following([]).num_rows == 0
    circle = pa.record_batch({"first": pa.array([1, 2, 3]), "second": pa.array([2, 3, 1])})
    with pytest.raises(ValueError, match="form a cycle"):
        partition.following([circle])


def parts_of(tables: Any, by: str, parts: int = 3) -> list[list[Any]]:
    """Yields rows in batches, as the tasks of the parts of a column get them."""
    found: list[list[Any]] = [[] for _ in range(parts)]
    for table in partition.gathered(tables, memory_bytes=20_000):
        for part, some in partition.spread(table, parts, by):
            found[part].append(partition.unpacked(partition.packed(some)))
    return found


@pytest.mark.parametrize("rule", ["first-seen", "https,shortest-url"])
def test_clusters_of_parts_match_one_store(
    stores: dict[str, simkeep.Reader], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    # Pages are combined several times as they arrive.
    monkeypatch.setattr(partition.clusters, "_HELD_BYTES", 1000)
    of_parts = [parts_of(partition.ranked(name, of, rule), "fingerprint") for name, of in stores.items()]
    pages = [[table for of in of_parts for table in of[part]] for part in range(3)]
    nodes = [partition.firsts(of) for of in pages]
    assert all(of.schema == partition.NODES and of.equals(partition.in_order(of)) for of in nodes)
    with simkeep.Store.create(tmp_path / "all") as whole:
        for of in stores.values():
            whole.copy_from(of)
        both = pa.RecordBatchReader.from_stream(whole.all_pairs(3).batches(signed=True)).cast(partition.PAIRS)
        wanted = {page.url: (page.leader, page.distance) for page in whole.clusters(3, rule=rule).by_page()}
    stranger = pa.record_batch([[1, 2], [3, 1], [1, 1]], schema=partition.PAIRS)
    by_left = parts_of([*both, stranger], "left")
    halves = [partition.halves(of, some) for of, mine in zip(nodes, by_left, strict=True) for some in mine]
    by_right = parts_of(halves, "right")
    edges = pa.concat_tables(
        [partition.edges(of, some) for of, mine in zip(nodes, by_right, strict=True) for some in mine]
    )
    assert edges.schema == partition.EDGES and edges.num_rows
    follow = set(partition.following(edges.to_batches())["second"].to_pylist())
    best: dict[int, tuple[int, bytes, int]] = {}
    for first, second, rank, distance in zip(*edges.to_pydict().values(), strict=True):
        if second in follow and first not in follow:
            best[second] = min(best.get(second, (65, b"", 0)), (distance, rank, first))
    rows = [(second, first, distance) for second, (distance, _, first) in best.items()]
    followers = pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=partition.FOLLOWERS.names)
    by_leader = parts_of([followers.cast(partition.FOLLOWERS)], "leads")
    named = [partition.named(of, some) for of, mine in zip(nodes, by_leader, strict=True) for some in mine]
    by_follower = parts_of(named, "fingerprint")
    led = [partition.in_order(pa.concat_tables([partition.LED.empty_table(), *of])) for of in by_follower]
    found = pa.concat_tables(
        [partition.belonging(nodes[part], led[part], some) for part in range(3) for some in pages[part]]
    )
    assert found.schema == partition.CLUSTERED
    # A page of two stores is there twice.
    assert found.num_rows == sum(of.num_rows for mine in pages for of in mine) > len(wanted)
    answers = zip(*(found[name].to_pylist() for name in ("url", "leader", "distance")), strict=True)
    assert {url: (leader, distance) for url, leader, distance in answers} == wanted


def test_cluster_steps_name_missing_input() -> None:
    none = partition.NODES.empty_table()
    assert partition.halves(none, partition.PAIRS.empty_table()).equals(partition.HALVES.empty_table())
    assert partition.edges(none, partition.HALVES.empty_table()).equals(partition.EDGES.empty_table())
    assert partition.named(none, partition.FOLLOWERS.empty_table()).equals(partition.LED.empty_table())
    nothing = partition.belonging(none, partition.LED.empty_table(), partition.PAGES.empty_table())
    assert nothing.equals(partition.CLUSTERED.empty_table())
    follower = pa.table([[1], [2], [1]], schema=partition.FOLLOWERS)
    with pytest.raises(ValueError, match="the leader of some fingerprints is missing"):
        partition.named(none, follower)
    page = pa.table([["https://a.example/"], ["w"], [1]], schema=partition.PAGES)
    with pytest.raises(ValueError, match="the fingerprint of some pages is missing"):
        partition.belonging(none, partition.LED.empty_table(), page)
    assert partition.firsts([]).equals(none)
    assert list(partition.gathered([])) == []
