"""When to visit a page again: how often it changes, what a visit is worth, and simulations.

Times are in days and rates in changes a day. Nothing here needs a store, and results are equal on every
machine, to the last bit:

    visits = [recrawl.Comparison(7), recrawl.Comparison(14, changed=True), recrawl.Comparison(7)]
    belief = recrawl.Belief(recrawl.Prior(), recrawl.Likelihood(visits))
    belief.rate.per_day, belief.worth(weight=1, days=10)

`Store.comparisons` and `Store.recent` have what the visits to a page tell, and `Store.replay` the pages of a
store for `crawl`, which tries a policy on them.
"""

from ._simkeep import (
    Belief,
    Comparison,
    Decider,
    Figures,
    Fit,
    Hosts,
    Likelihood,
    Optimum,
    PoissonPages,
    Policy,
    Prior,
    Rate,
    Recent,
    Schedule,
    crawl,
    few_misses,
    fixed_intervals,
    harmonic,
    hinted,
    interval,
    irregular,
    last_modified,
    naive,
    random_times,
    regular,
    value,
)

__all__ = [
    "Belief",
    "Comparison",
    "Decider",
    "Figures",
    "Fit",
    "Hosts",
    "Likelihood",
    "Optimum",
    "PoissonPages",
    "Policy",
    "Prior",
    "Rate",
    "Recent",
    "Schedule",
    "crawl",
    "few_misses",
    "fixed_intervals",
    "harmonic",
    "hinted",
    "interval",
    "irregular",
    "last_modified",
    "naive",
    "random_times",
    "regular",
    "value",
]
