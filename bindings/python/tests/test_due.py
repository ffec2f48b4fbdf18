"""Due pages and leases."""

from datetime import timedelta
from pathlib import Path

import pytest
from conftest import AT, DAY, mixed

import simkeep
from simkeep import _types


def visited(store: simkeep.Store, *visits: tuple[str, int, int]) -> None:
    """Observes content of pages, each given as a path, a day and a number for the content."""
    for path, day, content in visits:
        store.observe(f"https://example.com/{path}", AT + day * DAY, fingerprint=mixed(content))


def paths(decisions: list[simkeep.Decision]) -> list[str]:
    return [decision.page.url.removeprefix("https://example.com/") for decision in decisions]


def test_changing_and_long_unvisited_pages_come_first(store: simkeep.Store) -> None:
    visited(store, *(("calm", day, 1) for day in range(0, 30, 3)))
    visited(store, *(("busy", day, day) for day in range(2, 32, 3)))
    found = list(store.due(AT + 40 * DAY, 10))
    assert paths(found) == ["busy", "calm"]
    assert found[0].value > found[1].value > 0 and found[0].rate.per_day > found[1].rate.per_day
    assert found[0].rate.low < found[0].rate.per_day < found[0].rate.high
    assert found[0].reason == simkeep.Reason.WORTH and found[0].interval is None
    assert "9 of 9 comparisons found a change" in str(found[0])
    assert paths(list(store.due(AT + 40 * DAY, 1))) == ["busy"]
    assert paths(list(store.snapshot().due(AT + 40 * DAY, None, policy="uniform"))) == ["calm", "busy"]


def test_page_is_leased_once_until_visited_or_released(store: simkeep.Store) -> None:
    visited(store, ("a", 0, 1), ("b", 0, 2))
    now = AT + 10 * DAY
    assert sorted(paths(store.lease_due(now, 10, 3600))) == ["a", "b"]
    assert store.lease_due(now, 10, timedelta(hours=1)) == []
    assert store.release("https://example.com/a") and not store.release("https://example.com/a")
    assert paths(store.lease_due(now, 10, 3600)) == ["a"]
    visited(store, ("b", 10, 2))
    assert store.lease_due(now, 10, 3600) == []  # a visit is worth nothing now
    assert paths(store.lease_due(now + timedelta(hours=2), 1, 3600)) == ["a"]  # its lease was over


def test_leases_end_with_the_store(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        visited(store, ("a", 0, 1))
        assert len(store.lease_due(AT + DAY, 1, DAY)) == 1
    with simkeep.Store.open(path) as store:
        assert len(store.lease_due(AT + DAY, 1, DAY)) == 1


def test_rules_apply_under_their_prefixes(store: simkeep.Store) -> None:
    visited(store, ("news/a", 0, 1), ("news/b", 0, 2), ("rest", 0, 3))
    rules: list[_types.Rule] = [
        {"min": 5 * DAY},
        {"under": "example.com/news", "max": DAY, "weight": 3.0, "per_host": 1, "policy": "harmonic"},
    ]
    [first] = store.lease_due(AT + 2 * DAY, None, 60, rules=rules)
    assert first.rule == "example.com/news" and first.weight == 3
    assert first.reason == simkeep.Reason.OVERDUE and first.interval == DAY
    assert len(list(store.due(AT + 6 * DAY, None, rules=rules))) == 2
    assert paths(list(store.due(AT + 6 * DAY, None, under="example.com/rest"))) == ["rest"]
    assert len(list(store.due(AT + 6 * DAY, None, per_host=1))) == 1
    [old, *_] = store.due(AT + 6 * DAY, None, largest_interval=DAY, memory_bytes=1 << 20)
    assert old.reason == simkeep.Reason.OVERDUE


def test_failing_pages_are_left_alone(store: simkeep.Store) -> None:
    visited(store, ("a", 0, 1))
    store.failed("https://example.com/a", AT + DAY, status=503)
    [left] = store.due(AT + DAY + timedelta(minutes=1), 1)
    assert left.reason == simkeep.Reason.LEFT_ALONE
    assert left.until is not None and left.until > AT + DAY and left.value == 0
    assert store.lease_due(AT + DAY + timedelta(minutes=1), 1, 60) == []


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"policy": "weekly"}, simkeep.InvalidArgumentError, "there is no policy"),
        ({"policy": 7}, TypeError, "policy must be str, not int"),
        ({"rules": [{"policy": "weekly"}]}, simkeep.InvalidArgumentError, "there is no policy"),
        ({"rules": {"min": 1}}, TypeError, "rules must be an iterable of dictionaries"),
        ({"rules": 5}, TypeError, "rules must be an iterable of dictionaries"),
        ({"rules": [5]}, TypeError, "the rule in row 0 must be a dictionary, not int"),
        ({"rules": [{}, {"mni": 1}]}, ValueError, "the rule in row 1 has an unknown key: 'mni'"),
        ({"rules": [{}, {"min": 0.5}]}, ValueError, "min in row 1 must be a timedelta or a number"),
        ({"rules": [{"min": 9, "max": 3}]}, simkeep.InvalidArgumentError, "rule 1: min"),
        ({"rules": [{"weight": -1}]}, simkeep.InvalidArgumentError, "rule 1: weight"),
        ({"rules": [{}, {}]}, simkeep.InvalidArgumentError, "both apply to all pages"),
        ({"under": ""}, simkeep.PrefixError, "the prefix is empty"),
        ({"largest_interval": 0}, ValueError, "largest_interval must be"),
        ({"largest_interval": "1d"}, TypeError, "largest_interval must be"),
        ({"per_host": -1}, ValueError, "per_host must be"),
        ({"limit": 3}, TypeError, "there is no keyword limit"),
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, keywords: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        store.due(AT, 1, **keywords)  # type: ignore[arg-type]
    with pytest.raises(error, match=message):
        store.lease_due(AT, 1, 60, **keywords)  # type: ignore[arg-type]


def test_invalid_leases_and_budgets_are_rejected(store: simkeep.Store) -> None:
    for lease in (0, 0.9, timedelta(days=4_000_001)):
        with pytest.raises(ValueError, match="lease must be"):
            store.lease_due(AT, 1, lease)
    with pytest.raises(ValueError, match="budget must be"):
        store.lease_due(AT, -1, 60)
    store.close()
    with pytest.raises(simkeep.ClosedError):
        store.lease_due(AT, 1, 60)
    with pytest.raises(simkeep.ClosedError):
        store.release("https://example.com/")
