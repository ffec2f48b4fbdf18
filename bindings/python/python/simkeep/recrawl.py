"""Times for the next visit of a page: change rates, values of visits, and simulations.

Times are in days and rates in changes a day. The functions of this module need no store, and results are equal on every
machine, to the last bit:

    visits = [recrawl.Comparison(7), recrawl.Comparison(14, changed=True), recrawl.Comparison(7)]
    belief = recrawl.Belief(recrawl.Prior(), recrawl.Likelihood(visits))
    belief.rate.per_day, belief.worth(weight=1, days=10)

`Store.comparisons` and `Store.recent` return the comparisons of a page's visits. `Store.replay` returns the pages of a
store for `crawl`, which simulates a policy on these pages.
"""

from ._simkeep import (
    Belief,
    Comparison,
    Decider,
    Fit,
    HostPriors,
    Likelihood,
    Optimum,
    Policy,
    Prior,
    RandomPages,
    Rate,
    RecentComparisons,
    Schedule,
    SimulationResult,
    crawl,
    few_misses,
    fixed_intervals,
    hinted,
    interval,
    irregular,
    last_modified,
    naive,
    random_times,
    regular,
    worth,
)

__all__ = [
    "Belief",
    "Comparison",
    "Decider",
    "Fit",
    "HostPriors",
    "Likelihood",
    "Optimum",
    "Policy",
    "Prior",
    "RandomPages",
    "Rate",
    "RecentComparisons",
    "Schedule",
    "SimulationResult",
    "crawl",
    "few_misses",
    "fixed_intervals",
    "hinted",
    "interval",
    "irregular",
    "last_modified",
    "naive",
    "random_times",
    "regular",
    "worth",
]
