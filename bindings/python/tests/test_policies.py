"""Change rates, values of visits, and simulations, with the same results as the crate."""

import copy
import datetime
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import AT, DAY, TOOL, URL, filled, mixed

import simkeep
from simkeep import recrawl
from simkeep.recrawl import Belief, Comparison, Decider, Fit, Likelihood, Policy, Prior, RandomPages, RecentComparisons


def test_rates_match_the_formulas() -> None:
    assert recrawl.naive(3, 30.0) == 0.1
    assert abs(recrawl.regular(10, 3) - 0.336472) < 1e-6
    assert recrawl.regular(10, 3) == recrawl.regular(10, 3, "unchanged")
    assert recrawl.regular(10, 10, "none") == math.inf
    assert abs(recrawl.regular(10, 10, "both") + math.log(0.5 / 11)) < 1e-12
    visits = [Comparison(1), Comparison(2, changed=True)]
    assert abs(recrawl.irregular(visits, "none") - math.log(3) / 2) < 1e-12
    visits = [Comparison(7), Comparison(14, True), Comparison(7)]
    assert 0.03 < recrawl.irregular(iter(visits)) < 0.04
    assert recrawl.irregular([Comparison(7)], "none") == 0 < recrawl.irregular([Comparison(7)], "both")
    dated = [Comparison(10, True, 2.0), Comparison(10), Comparison(10, True, 7), Comparison(10)]
    changes = (2 - 1) - 2 / (4 * math.log(1 - 2 / 4))
    assert abs(recrawl.last_modified(dated) - changes / 29) < 1e-12


def test_visit_values_match_the_formulas() -> None:
    crawl_value = recrawl.worth(1, 0.1, 10, "crawl-value")
    assert abs(crawl_value - 2.642411) < 1e-6
    assert recrawl.worth(1.0, 0.1, 10.0, "harmonic") == 5.0
    assert recrawl.worth(1, 0.1, 10) == pytest.approx(crawl_value + 0.5)
    assert recrawl.worth(2, 0.1, 10) == 2 * recrawl.worth(1, 0.1, 10) and recrawl.worth(1, 0.1, -1) == 0
    days = recrawl.interval(1, 0.1, 1, "crawl-value")
    assert days is not None and abs(days - 5.318116) < 1e-6
    assert abs(recrawl.worth(1, 0.1, days, "crawl-value") - 1) < 1e-9
    assert recrawl.interval(1, 0.1, 11, "crawl-value") is None
    assert recrawl.interval(1, 0.1, 5, "harmonic") == pytest.approx(10)
    assert abs(recrawl.hinted(0.8, 1, 3, crawl_value) - 2.928482) < 1e-6


def test_comparisons_are_value_objects() -> None:
    some = [Comparison(7), Comparison(7.0, True), Comparison(7, True, 3), Comparison(8)]
    for number, one in enumerate(some):
        for again in (eval(repr(one)), pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert again == one and hash(again) == hash(one) and some.index(again) == number
    assert (some[2].days, some[2].changed, some[2].days_ago) == (7, True, 3)
    assert (some[0].changed, some[1].days_ago) == (False, None) and some[0] != (7.0, False, None)
    assert hash(Comparison(1, True, 0.0)) == hash(Comparison(1, True, -0.0))
    match some[2]:
        case Comparison(days, changed, ago):
            assert (days, changed, ago) == (7, True, 3)
    with pytest.raises(AttributeError):
        some[0].days = 8  # type: ignore[misc]


def test_belief_lies_between_prior_and_observations() -> None:
    changing = Likelihood([Comparison(30, True)] * 3)
    belief = Belief(Prior(), changing)
    rate = belief.rate
    assert rate.low < 0.05 and rate.high > 0.5 and rate.low < rate.per_day < rate.high
    assert belief == Belief(Prior(), Likelihood([(Comparison(30, True), 3)]))
    assert belief != Belief(Prior(), Likelihood())
    days = belief.interval(1, 10)
    assert days is not None and belief.worth(1, days) == pytest.approx(10)
    assert belief.worth(2, days) == pytest.approx(20)
    assert belief.worth(1, days, "harmonic") != belief.worth(1, days) == belief.worth(1, days, "value")
    assert belief.interval(1, 1e9) is None
    expected = Belief(Prior.log_normal(0.1, 1.0), Likelihood()).rate
    assert expected.low < 0.1 < expected.high
    known = Belief(Prior.gamma(1000, 10_000), Likelihood()).rate
    # The rates are half an octave apart.
    assert known.per_day == pytest.approx(0.1, rel=0.2) and known.high < 1.5 * known.low
    assert Prior() == Prior() != Prior.gamma(1, 1)


def test_priors_are_learned_from_many_pages() -> None:
    never, often = Likelihood([Comparison(90)] * 4), Likelihood([Comparison(90, True)] * 4)
    assert Fit().prior() == Fit([often] * 19).prior() == Prior() and Fit().pages == 0
    fit = Fit(often if n % 10 == 0 else never for n in range(100))
    assert fit.pages == 100 and fit.prior() != Prior()
    assert fit == Fit([*[often] * 10, *[never] * 90])
    assert fit.without(often) == Fit([*[often] * 9, *[never] * 90])
    slow, quick = Likelihood([Comparison(30)] * 9), Likelihood([Comparison(30, True)] * 9)
    hosts = [Fit([quick if n % 4 == 0 else slow] * 5) for n in range(20)]
    learned = recrawl.HostPriors(hosts)
    rates = [Belief(learned.prior(host), Likelihood()).rate for host in (*hosts[:2], Fit())]
    assert rates[0].per_day > 10 * rates[1].per_day and rates[2].low < rates[1].high


def test_policies_are_parsed_from_names() -> None:
    assert str(Policy()) == Policy("value").name == "value"
    assert str(Policy("thesis")) == "thesis:3,1.5" and str(Policy("fixed:48h")) == "fixed:2d"
    for name in ("value", "crawl-value", "harmonic", "uniform", "fixed:7d", "thesis", "nutch", "stormcrawler"):
        policy = Policy(name)
        for again in (eval(repr(policy)), pickle.loads(pickle.dumps(policy)), Policy(policy)):
            assert again == policy and hash(again) == hash(policy)
    recent = RecentComparisons([Comparison(7, True), Comparison(7)])
    assert recent.changes == (True, False) and recent.quiet_days == 7
    assert recent == RecentComparisons(iter([Comparison(9, True), Comparison(7)]))
    belief = Belief(Prior(), Likelihood([Comparison(7, True), Comparison(7)]))
    assert Policy().score(belief, recent, 2, 5) == belief.worth(2, 5)
    assert Policy("harmonic").score(belief, recent, 1, 5) == belief.worth(1, 5, "harmonic")
    assert Policy("uniform").score(belief, recent, 1, 5) == 5
    assert Policy("fixed:10d").score(belief, recent, 1, 5) == 0.5
    assert Policy("fixed:10d").schedule(recent) == recrawl.Schedule(10, 10)
    assert Policy("uniform").schedule(recent) is None
    # A day at first; after a change halfway to an hour, and without one half as long again.
    schedule = Policy("stormcrawler").schedule(recent)
    assert schedule is not None and schedule.next_days == pytest.approx((0.5 + 0.5 / 24) * 1.5)


def test_page_visits_become_comparisons(store: simkeep.Store) -> None:
    assert store.comparisons(URL) is None and store.recent(URL) is None
    for week, fingerprint in enumerate([1, 1, mixed(1), mixed(1), 1]):
        store.observe(URL, AT + 7 * week * DAY, fingerprint=fingerprint)
    counted = store.comparisons(URL)
    assert counted == [(Comparison(7), 2), (Comparison(7, changed=True), 1.5)]
    assert store.comparisons(URL, return_share=1) == [(Comparison(7), 2), (Comparison(7, changed=True), 2)]
    recent = store.recent(URL)
    assert counted is not None and recent is not None
    assert recent.changes == (False, True, False, True) and recent.quiet_days == 0
    # Due pages are ranked by these comparisons, which a store keeps in a few bits.
    belief = Belief(Prior(), Likelihood(counted))
    [decision] = store.due(AT + 40 * DAY, 1)
    assert decision.rate.per_day == pytest.approx(belief.rate.per_day, rel=0.05)
    assert decision.value == pytest.approx(belief.worth(1, 12), rel=0.05)
    [decision] = store.due(AT + 40 * DAY, 1, policy=Policy("harmonic"))
    assert decision.value == pytest.approx(belief.worth(1, 12, "harmonic"), rel=0.05)


def test_optimal_schedule_for_a_budget_is_found() -> None:
    pages = [(0.1, 1.0), (1.0, 1.0), (10.0, 1.0)]
    best = recrawl.fixed_intervals(pages, 1)
    assert best.visits_per_day[2] == 0 and sum(best.visits_per_day) == pytest.approx(1)
    assert abs(best.freshness - 0.460924) < 1e-6 and best.threshold > 0
    random = recrawl.random_times(iter(pages), 1.0)
    assert random.freshness < best.freshness
    few = recrawl.few_misses(pages, 1.0)
    assert all(visits > 0 for visits in few.visits_per_day) and few.freshness < random.freshness
    names = {"simkeep": simkeep}
    for value in (best, recrawl.Schedule(1, 2)):
        for again in (eval(repr(value), names), pickle.loads(pickle.dumps(value))):
            assert again == value and hash(again) == hash(value)
    assert repr(best).startswith("simkeep.recrawl.Optimum(visits_per_day=(")


FIGURES = {"fresh": "freshness", "near_fresh": "near_freshness", "missed": "staleness", "bits": "divergence"}
"""The names of the figures in the output of the tool."""


def simulated(*words: str) -> list[dict[str, Any]]:
    """Returns the output of `simkeep simulate` for the policy `value`, parsed line by line."""
    command = [TOOL, "simulate", "--policy", "value", "--json", *words]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_simulation_matches_the_tool() -> None:
    pages = RandomPages.flat(500, days=100, seed=3)
    figures = recrawl.crawl(pages, step_days=1, start=25, end=100, visits_per_day=50)
    of = ("--days", "100", "--seed", "3", "--seeds", "1", "--per-day", "50", "--step", "1d", "--warm-up", "25d")
    said, *best = simulated("--random", "flat", *of)
    assert said["measured_visits_per_day"] == figures.visits_per_day
    for name, share in FIGURES.items():
        assert said[name]["mean"] == getattr(figures, share)
    rates = [(rate, 1.0) for rate in pages.rates]
    for one in best:
        optimum = getattr(recrawl, one["optimum"])(rates, 50)
        assert one["fresh"]["mean"] == optimum.freshness
    assert len(best) == 3


def test_simulated_pages_depend_only_on_the_seed() -> None:
    flat = RandomPages.flat(100, days=200)
    assert len(flat) == 100 and all(0.0025 <= rate <= 3.2 for rate in flat.rates)
    assert RandomPages.flat(100, days=200, seed=1).rates == flat.rates
    assert RandomPages.flat(100, days=200, seed=2).rates != flat.rates
    by_host = RandomPages.by_host(5, 20, median=0.05, between=1, within=0.1, days=50)
    assert len(by_host) == 100 and len(set(by_host.rates)) == 100


def test_crawl_by_visit_value_is_the_freshest() -> None:
    pages = RandomPages.flat(100, days=200)
    by = {
        str(decider): recrawl.crawl(pages, decider, step_days=0.25, start=50, end=200, visits_per_day=14)
        for decider in Decider.all(rates_known=True)
    }
    assert by["value"].freshness > by["uniform"].freshness
    assert by["crawl-value, true rate"].freshness > by["value, estimated rate"].freshness
    best = recrawl.fixed_intervals(((rate, 1) for rate in pages.rates), 14)
    assert best.freshness + 0.02 > by["crawl-value, true rate"].freshness
    for figures in by.values():
        assert figures.visits_per_day == pytest.approx(14, rel=0.01)
        assert figures.near_freshness == figures.freshness and 0 < figures.divergence < 0.5
        assert eval(repr(figures), {"simkeep": simkeep}) == figures and hash(figures)
    again = recrawl.crawl(pages, step_days=0.25, start=50, end=200, visits_per_day=14)
    assert again == by["value"]
    forced = recrawl.crawl(
        pages, step_days=0.25, start=50, end=200, visits_per_day=14, largest_interval=datetime.timedelta(days=8)
    )
    assert forced.freshness < again.freshness and forced.staleness != again.staleness
    again = recrawl.crawl(pages, Policy("uniform"), step_days=0.25, start=50, end=200, visits_per_day=14)
    assert again == by["uniform"]


def test_deciders_are_value_objects() -> None:
    deciders = [*Decider.all(rates_known=True), Decider.estimated("harmonic"), Decider.known("harmonic")]
    assert Decider() == Decider("value", "hosts") == deciders[0] and Decider.all()[:2] == deciders[:2]
    for number, decider in enumerate(deciders):
        for again in (eval(repr(decider), {"simkeep": simkeep}), pickle.loads(pickle.dumps(decider))):
            assert again == decider and hash(again) == hash(decider) and deciders.index(again) == number
            assert str(again) == str(decider)


def replayed(store: simkeep.Store) -> None:
    """Replays a page that never changes and one that changes every ten days, both visited daily."""
    store.load(
        simkeep.Observation(f"https://example.com/{name}", AT + day * DAY, fingerprint=mixed(day // often))
        for name, often in (("never", 1000), ("news", 10))
        for day in range(100)
    )


def test_store_history_can_be_replayed(store: simkeep.Store, path: Path) -> None:
    replayed(store)
    replay = store.replay()
    assert (len(replay), replay.of, replay.first, replay.last) == (2, 2, AT, AT + 99 * DAY)
    figures = recrawl.crawl(replay, step_days=1, start=30, end=99, every=10)
    assert 0.5 < figures.freshness < 1
    assert figures.visits_per_day == pytest.approx(0.2, rel=0.1)
    assert recrawl.crawl(replay, "uniform", step_days=1, start=30, end=99, every=10) != figures
    [said] = simulated("--store", str(path), "--every", "10d", "--warm-up", "30d", "--step", "1d")
    assert said["measured_visits_per_day"] == figures.visits_per_day
    for name, share in FIGURES.items():
        assert said[name]["mean"] == getattr(figures, share)
    assert len(store.replay(pages_max=1)) == 1 and store.replay(pages_max=1).of == 2
    assert len(store.replay("example.org")) == 0 and store.replay("example.org").of == 0
    with simkeep.Reader(path) as reader:
        assert recrawl.crawl(reader.replay(return_share=1), step_days=1, start=30, end=99, every=10)


def test_ctrl_c_interrupts_a_crawl() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pages = RandomPages.flat(2000, days=1000)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                recrawl.crawl(pages, step_days=0.01, start=0, end=1000, visits_per_day=2000)
        assert time.monotonic() - sent[0] < 1
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    # It ends by itself soon after.
    deadline = time.monotonic() + 10
    while any((task / "comm").read_text().strip() == "simkeep-call" for task in tasks()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def tasks() -> list[Path]:
    return [task for task in Path("/proc/self/task").iterdir() if (task / "comm").exists()]


def test_ctrl_c_interrupts_a_replay(store: simkeep.Store) -> None:
    filled(store, 100_000)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while True:
                store.replay()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    # The abandoned replay continues in its thread, and no later call waits for it.
    assert store.replay("0.example").of == 1031


CRAWL: dict[str, Any] = {"step_days": 1, "start": 1, "end": 9, "every": 3}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: Comparison("7"), TypeError, "days must be a number, not str"),  # type: ignore[arg-type]
        (lambda s: Comparison(0), simkeep.InvalidOptionError, "days must be from a millisecond"),
        (lambda s: Comparison(7, 1), TypeError, "changed must be True or False"),  # type: ignore[arg-type]
        (lambda s: Comparison(7, True, 8), simkeep.InvalidOptionError, "days ago must be from 0 to the days"),
        (lambda s: Comparison(7, False, 3), ValueError, "days_ago is only for a page that changed"),
        (lambda s: recrawl.naive(-1, 3), ValueError, "changes must be an int from 0"),
        (lambda s: recrawl.naive(1, 0), simkeep.InvalidOptionError, "days must be"),
        (lambda s: recrawl.regular(0, 0), simkeep.InvalidOptionError, "comparisons must be at least one"),
        (lambda s: recrawl.regular(1, 2), simkeep.InvalidOptionError, "changes must be at most the number"),
        (lambda s: recrawl.regular(1, 1, "all"), ValueError, "halves must be one of none, unchanged, both"),  # type: ignore[arg-type]
        (lambda s: recrawl.irregular([]), simkeep.InvalidOptionError, "comparisons must be at least one"),
        (lambda s: recrawl.irregular([7]), TypeError, "comparisons in row 0 must be a Comparison, not int"),  # type: ignore[list-item]
        (lambda s: recrawl.irregular("ab"), TypeError, "comparisons must be an iterable of Comparisons"),  # type: ignore[arg-type]
        (lambda s: recrawl.last_modified([Comparison(7, True)]), simkeep.InvalidArgumentError, "a change has no time"),
        (lambda s: recrawl.worth(0, 1, 1), simkeep.InvalidOptionError, "weight must be a positive number"),
        (lambda s: recrawl.worth(1, 1, math.nan), simkeep.InvalidOptionError, "days must be a number"),
        (lambda s: recrawl.worth(1, -1, 1, "harmonic"), simkeep.InvalidOptionError, "per_day must be a positive"),
        (lambda s: recrawl.interval(1, 1, 0), simkeep.InvalidOptionError, "threshold must be a positive"),
        (lambda s: recrawl.interval(1, 1, 1, "worth"), ValueError, "index must be one of value, crawl-value, harmonic"),  # type: ignore[arg-type]
        (lambda s: recrawl.hinted(2, 1, 1, 1), simkeep.InvalidOptionError, "trust must be from 0 to 1"),
        (lambda s: Prior.log_normal(1, 0), simkeep.InvalidOptionError, "width must be from 0.1 to 100"),
        (lambda s: Prior.gamma(0, 1), simkeep.InvalidOptionError, "shape must be from 0.01"),
        (lambda s: Likelihood([(Comparison(1), -1)]), simkeep.InvalidOptionError, "times must be from 0"),
        (lambda s: Likelihood([7]), TypeError, "comparisons in row 0 must be a Comparison, or a pair"),  # type: ignore[list-item]
        (lambda s: Likelihood([(7, 1)]), TypeError, "comparisons in row 0 must be a Comparison, or"),  # type: ignore[list-item]
        (lambda s: Fit([Prior()]), TypeError, "pages in row 0 must be a Likelihood, not Prior"),  # type: ignore[list-item]
        (lambda s: recrawl.HostPriors([1]), TypeError, "hosts in row 0 must be a Fit, not int"),  # type: ignore[list-item]
        (lambda s: Policy("weekly"), simkeep.InvalidArgumentError, "there is no policy .*stormcrawler"),
        (lambda s: Policy(7), TypeError, "name must be str, not int"),  # type: ignore[arg-type]
        (lambda s: recrawl.fixed_intervals([], 1), simkeep.InvalidOptionError, "pages"),
        (lambda s: recrawl.fixed_intervals([1.0], 1), TypeError, "pages in row 0 must be a pair of a rate"),  # type: ignore[list-item]
        (lambda s: recrawl.random_times([(0, 1)], 1), simkeep.InvalidOptionError, "per_day must be from 1e-100"),
        (lambda s: recrawl.few_misses([(1, 1)], 0), simkeep.InvalidOptionError, "visits"),
        (lambda s: RandomPages.flat(0, days=1), simkeep.InvalidOptionError, "pages must be from 1"),
        (lambda s: RandomPages.flat(10**7, days=4e6), simkeep.InvalidOptionError, "days must be"),
        (lambda s: Decider("weekly"), simkeep.InvalidArgumentError, "there is no policy"),
        (lambda s: Decider("value", "all"), ValueError, "learning must be one of nothing, pages, hosts"),  # type: ignore[arg-type]
        (lambda s: recrawl.crawl(7, **CRAWL), TypeError, "pages must be a Replay or"),  # type: ignore[arg-type]
        (lambda s: recrawl.crawl(s.replay(), **CRAWL), simkeep.InvalidOptionError, "pages"),
        (lambda s: recrawl.crawl(s.replay(), 7, **CRAWL), TypeError, "by must be str, not"),  # type: ignore[arg-type]
        (lambda s: recrawl.crawl(s.replay(), **CRAWL, visits_per_day=3), TypeError, "crawl takes exactly one of"),
        (lambda s: recrawl.crawl(s.replay(), **(CRAWL | {"every": None})), TypeError, "crawl takes exactly one of"),
        (lambda s: recrawl.crawl(s.replay(), **(CRAWL | {"start": 9})), simkeep.InvalidOptionError, "from must be"),
        (lambda s: s.replay(return_share=2), ValueError, "return_share must be a number from 0 to 1"),
        (lambda s: s.replay(7), TypeError, "under must be str"),
        (lambda s: s.replay(pages_max=-1), ValueError, "pages_max must be"),
        (lambda s: s.comparisons(7), TypeError, "url must be str"),
        (lambda s: s.recent(7), TypeError, "url must be str"),
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(store)


def test_non_value_objects_cannot_be_pickled(store: simkeep.Store) -> None:
    replay = store.replay()
    likelihood = Likelihood()
    things = [replay, RandomPages.flat(1, days=1), Prior(), likelihood, Belief(Prior(), likelihood), Fit()]
    for thing in [*things, recrawl.HostPriors([]), RecentComparisons()]:
        with pytest.raises(TypeError, match=f"a {type(thing).__name__} cannot be pickled"):
            pickle.dumps(thing)
    store.close()
    for call in (store.replay, lambda: store.comparisons(URL), lambda: store.recent(URL)):
        with pytest.raises(simkeep.ClosedError):
            call()
    assert len(replay) == 0
