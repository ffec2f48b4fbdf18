"""The work on parts of several stores, without anything that arranges it."""

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
    """Fingerprints of which many are near another one, and some equal."""
    found = [mixed(n) for n in range(count)]
    for n in range(0, count, 3):
        found[n] = found[n * 7 % count] ^ 1 << n % 64 ^ 1 << n % 11
    # One that is on pages of all stores.
    found[1::75] = [found[0]] * len(found[1::75])
    return found


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, simkeep.Reader]:
    """Three stores that share out pages, of which some are in two."""
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
def test_near_is_the_best_of_all_stores(stores: dict[str, simkeep.Reader], k: int, limit: int | None) -> None:
    every = [
        (page.last.fingerprint, simkeep.surt_key(page.url), page.url, name)
        for name, of in stores.items()
        for page in of.scan()
    ]
    # Of all stores, of pages that are in two of them, and one that nothing is near.
    queries = [*prints(3000)[::37], *prints(3000)[1000:1040], 12345]
    rows = found(stores, queries, k, limit)
    for query in set(queries):
        near = sorted(
            ((query ^ fingerprint).bit_count(), surt, url, name)
            for fingerprint, surt, url, name in every
            if fingerprint is not None and (query ^ fingerprint).bit_count() <= k
        )
        mine = [row for row in rows if row["query"] & MASK == query]
        told = sorted((row["distance"], simkeep.surt_key(row["url"]), row["url"]) for row in mine)
        assert told == [hit[:3] for hit in near[:limit]]
        assert {row["complete"] for row in mine} <= {limit is None or len(near) <= limit}


@pytest.mark.parametrize(
    ("k", "ranges", "most"), [(0, 4, 1 << 20), (2, 64, 300), (3, 1, 500), (7, 16, 1 << 20), (20, 4, 900)]
)
def test_pairs_are_those_of_all_fingerprints(
    stores: dict[str, simkeep.Reader], k: int, ranges: int, most: int
) -> None:
    shares = simkeep.Shares([of.tally(k, buckets=256) for of in stores.values()], ranges, most)
    again = pickle.loads(pickle.dumps(shares))
    assert (len(again), again.dealt, again.k, again.fingerprints) == (len(shares), shares.dealt, k, shares.fingerprints)
    assert max(map(again.size, range(len(again)))) <= most + most // 10 or k == 20
    hands: dict[int, list[Any]] = {share: [] for share in range(len(shares))}
    for of in stores.values():
        for hand in partition.dealt(of, again, hand_bytes=8 << 10):
            hands[hand["share"][0].as_py()].append(hand)
    pairs = [
        (pair["left"] & MASK, pair["right"] & MASK, pair["distance"])
        for share, mine in hands.items()
        for batch in partition.joined(shares, share, mine, threads=1)
        for pair in batch.to_pylist()
    ]
    different = sorted(set(prints(3000)))
    wanted = [
        (different[pair.left], different[pair.right], pair.distance) for pair in simkeep.join(different, k)
    ]
    assert sorted(pairs) == sorted((min(one, other), max(one, other), bits) for one, other, bits in wanted)


def test_what_shares_cannot_be_made_of_is_refused(stores: dict[str, simkeep.Reader]) -> None:
    tally = stores["a"].tally(3, buckets=64)
    shares = simkeep.Shares([tally], 4, 1 << 20)
    text: Any = "x"
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: simkeep.Shares([], 4, 9), ValueError, "tallies must be at least one"),
        (lambda: simkeep.Shares([tally, tally[:-1]], 4, 9), ValueError, "tallies in row 1 is not what"),
        (lambda: simkeep.Shares([tally, stores["b"].tally(2, buckets=64)], 4, 9), ValueError, "another distance"),
        (lambda: simkeep.Shares([tally, stores["b"].tally(3)], 4, 9), ValueError, "other buckets"),
        (lambda: simkeep.Shares([text], 4, 9), TypeError, "tallies in row 0"),
        (lambda: simkeep.Shares([tally], -1, 9), ValueError, "ranges"),
        (lambda: shares.join(len(shares), [], []), ValueError, "share must be below"),
        (lambda: shares.join(0, [b"1234567"], []), ValueError, "first in row 0 must be 8 bytes each"),
        (lambda: shares.join(0, [], [text]), TypeError, "second in row 0 must be bytes"),
        (lambda: shares.join(0, [], [b"12345678"]), ValueError, "second must be empty"),
        (lambda: shares.size(-1), ValueError, "share"),
        (lambda: stores["a"].tally(65), ValueError, "k must be"),
    ]
    for wrong, error, told in cases:
        with pytest.raises(error, match=told):
            wrong()
    with pytest.raises(ValueError, match="one is for task 1, not 0"):
        hand = [[1], [False], [b""]]
        arrays = [pa.array(of, field.type) for of, field in zip(hand, partition.HANDS, strict=True)]
        list(partition.joined(shares, 0, [pa.record_batch(arrays, schema=partition.HANDS)]))
    assert "tasks" in repr(shares)


def test_ranks_of_several_stores_are_those_of_one(stores: dict[str, simkeep.Reader], tmp_path: Path) -> None:
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


def test_a_crowd_of_one_store_hides_nothing(tmp_path: Path) -> None:
    # So many fingerprints close to each other that a search compares only some, and three among them that are near.
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
