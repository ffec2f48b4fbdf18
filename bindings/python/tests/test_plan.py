"""Plans, hints, and estimates of change rates."""

import math
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from conftest import AT, DAY, mixed

import simkeep


def weekly(store: simkeep.Store, pages: int = 100, changing: int = 0) -> None:
    """Loads pages with two visits a week apart. The first `changing` pages changed."""
    store.load(
        simkeep.Observation(f"https://example.com/{n}", AT + week * 7 * DAY, fingerprint=mixed(n + content))
        for n in range(pages)
        for week, content in ((0, 0), (1, 10_000 if n < changing else 0))
    )


def test_plan_spends_the_given_visits_per_day(store: simkeep.Store) -> None:
    weekly(store)
    now = AT + 8 * DAY
    plan = store.plan(now, 5.0)
    assert plan.per_day == 5 and plan.visits_per_day <= 5 and 0.5 < plan.freshness < 1
    assert (plan.pages, plan.rarely_visited) == (100, 0) and 0 < plan.threshold < math.inf
    assert str(plan).startswith("5 visits a day to 100 pages")
    decision = store.decide("https://example.com/1", plan)
    # All pages are alike, so 5 visits a day reach each of 100 pages every 20 days.
    assert decision is not None and decision.every is not None and decision.due is not None
    assert round(decision.every / DAY) == 20
    assert abs(decision.due - (AT + 7 * DAY + decision.every)) < timedelta(seconds=2)
    assert store.decide("https://example.com/new", plan) is None
    new = plan.of_new("https://example.com/new")
    assert new.value > decision.value and new.weight == 1 and new.rate.low < new.rate.per_day
    assert timedelta(0) < new.every < decision.every
    # A plan adds due times to decisions. Without one, there are none.
    listed = list(store.due(now, None, plan=plan))
    assert listed and all(one.due is not None and one.every is not None for one in listed)
    assert store.decide(listed[0].page.url, plan) == listed[0]
    assert all(one.due is None and one.every is None for one in store.due(now, None))
    assert store.lease_due(now + 30 * DAY, 1, 60, plan=plan)[0].due is not None
    assert store.plan(now, 5.0, under="example.org").pages == 0
    assert store.plan(now).per_day == store.pace(now)
    assert store.plan(now, 5.0, policy="harmonic").threshold != plan.threshold


def test_hints_mark_a_page_as_changed(store: simkeep.Store) -> None:
    weekly(store, 3)
    now = AT + 20 * DAY
    url = "https://example.com/1"
    hints = store.hints([(url, AT + 12 * DAY), (url, AT + 13 * DAY), (url, AT + 99 * DAY)], trust=0.5)
    last = AT + 10 * DAY
    assert hints.changed_after(url, last, now) == AT + 12 * DAY
    assert hints.changed_after(url, AT + 13 * DAY, now) is None
    assert hints.changed_after("https://example.com/2", last, now) is None
    # The page is probably stale, and was fresh for two days only.
    assert hints.worth(url, 1.0, last, now, 3.0) == 0.5 * 2.0 + 0.5 * 3.0
    [first, *rest] = store.due(now, None, hints=hints)
    assert first.page.url == url and first.reason == "hinted" and first.changed == AT + 12 * DAY
    assert all(one.reason == "worth" and one.changed is None for one in rest)
    assert store.lease_due(now, 1, 60, hints=hints)[0].page.url == url
    assert store.due(now, None, hints=None) is not None


def test_hints_accept_any_iterable_and_propagate_errors(store: simkeep.Store) -> None:
    def many() -> Iterator[tuple[str, int]]:
        for n in range(5000):
            yield f"https://example.com/{n}", n
        raise LookupError("the sitemap broke off")

    with pytest.raises(LookupError, match="broke off"):
        store.hints(many())
    hints = store.hints({f"https://example.com/{n}": AT + n * DAY for n in range(3000)}.items())
    for n in (0, 2999):
        changed = hints.changed_after(f"https://example.com/{n}", AT - DAY, AT + 9999 * DAY)
        assert changed == AT + n * DAY
    assert store.hints([]).changed_after("https://example.com/", AT, AT) is None


def test_learned_rates_are_reported_and_used(store: simkeep.Store) -> None:
    assert store.survey() == simkeep.Survey(0, 0, 0, None) and store.learn().pages == 0
    weekly(store, 40, changing=30)
    learned = store.learn()
    assert learned.pages == 40 and learned == store.snapshot().learn()
    survey = store.survey()
    assert (survey.pages, survey.compared, survey.changed) == (40, 40, 30)
    assert survey.deciles is not None and len(survey.deciles) == 9
    assert list(survey.deciles) == sorted(survey.deciles) and survey.deciles[0] < survey.deciles[8]
    now = AT + 30 * DAY
    assert list(store.due(now, None, learned=learned)) == list(store.due(now, None))
    assert store.plan(now, 2.0, learned=learned).threshold == store.plan(now, 2.0).threshold
    weekly(store, 80)
    assert learned != store.learn()
    # 50 of the 240 visits of a week were loaded twice.
    assert store.pace(now) == 190 / 7 and store.pace(now, under="example.org") == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.plan("now", 1), TypeError, "now must be an aware datetime"),
        (lambda s: s.plan(AT, "1"), TypeError, "per_day must be a number, not str"),
        (lambda s: s.plan(AT), simkeep.InvalidOptionError, "per_day must be a positive number"),
        (lambda s: s.plan(AT, 0), simkeep.InvalidOptionError, "per_day must be a positive number"),
        (lambda s: s.plan(AT, math.inf), simkeep.InvalidOptionError, "per_day"),
        (lambda s: s.plan(AT, 1, budget=3), TypeError, "there is no keyword budget"),
        (lambda s: s.plan(AT, 1).of_new(7), TypeError, "url must be str, not int"),
        (lambda s: s.plan(AT, 1).of_new(""), simkeep.UrlError, "the URL is empty"),
        (lambda s: s.decide("a", None), TypeError, "plan"),
        (lambda s: s.decide("", s.plan(AT, 1)), simkeep.UrlError, "the URL is empty"),
        (lambda s: s.hints("abc"), TypeError, "changes must be an iterable of pairs"),
        (lambda s: s.hints({"a": AT}), TypeError, "changes must be an iterable of pairs"),
        (lambda s: s.hints(5), TypeError, "changes must be an iterable of pairs"),
        (lambda s: s.hints([("a", AT), "abc"]), TypeError, "changes in row 1 must be a pair"),
        (lambda s: s.hints([("a", AT), (7, AT)]), TypeError, "changes in row 1 must be str, not int"),
        (lambda s: s.hints([("a", "now")]), TypeError, "changes in row 0 must be an aware datetime"),
        (lambda s: s.hints([("", AT)]), simkeep.UrlError, "the URL is empty"),
        (lambda s: s.hints([], trust=2), simkeep.InvalidOptionError, "trust must be from 0 to 1"),
        (lambda s: s.hints([], trust="x"), TypeError, "trust must be a number"),
        (lambda s: s.hints([]).worth("a", 0, AT, AT, 1), simkeep.InvalidOptionError, "weight"),
        (lambda s: s.hints([]).changed_after("a", 1.5, AT), TypeError, "last must be an aware"),
        (lambda s: s.due(AT, 1, hints=5), TypeError, "hints must be Hints, not int"),
        (lambda s: s.due(AT, 1, plan=5), TypeError, "plan must be a Plan, not int"),
        (lambda s: s.due(AT, 1, learned=5), TypeError, "learned must be LearnedPriors, not int"),
        (lambda s: s.due(AT, 1, plan=s.plan(AT, 1), learned=s.learn()), TypeError, "give either plan= or learned="),
        (lambda s: s.pace("now"), TypeError, "now must be an aware datetime"),
        (lambda s: s.pace(AT, under=7), TypeError, "under must be str"),
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(store)


def test_planning_on_a_closed_store_raises(store: simkeep.Store) -> None:
    plan = store.plan(AT, 1)
    store.close()
    for call in (
        lambda: store.plan(AT, 1),
        lambda: store.decide("a", plan),
        lambda: store.hints([]),
        lambda: store.learn(),
        lambda: store.survey(),
        lambda: store.pace(AT),
    ):
        with pytest.raises(simkeep.ClosedError):
            call()
    assert plan.of_new("https://example.com/").weight == 1
