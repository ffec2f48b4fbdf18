//! What stands below the options in the long help.

/// Its lines are joined and wrapped anew.
pub(super) const HELP: &str = r#"Examples:
  simkeep simulate --store crawl.simkeep --per-day 5000 --plot freshness.svg
  simkeep simulate --store crawl.simkeep --every 28d --policy value --policy uniform
  simkeep simulate --random flat --per-day 71 --from 100 --policy value
  simkeep simulate --random by-host --every 14d --days 200 --from 120 --seeds 20 --json

With a store, each version of a page is taken to be in force from the visit that found it until the
visit that found the next one; what happened between visits nobody knows. So a policy that visits
more often than the store did looks no better than one that visits as often. Versions that cannot be
compared, since something else made their fingerprints, are taken for one. A crawler finds a page on
the day of its first visit. What it learns is what a store learns of the same visits.

With --random, the changes of a page are a Poisson process: as likely in one hour as in the next.
Each makes a content that has nothing in common with the others, so that half of the bits differ.
A seed names all pages, on every machine.

The columns: "fresh", the share of the time of all pages in which what the crawler saw last was in
force; "near", the same up to minor changes; "missed", 1 + 1/2 + 1/3 and so on for the changes since
the last visit, on average over the time; "bits", the share of the 64 bits that differed. With several
crawls, the last column is by how much more of the time pages were fresh than under the first policy,
crawl by crawl, with its standard error.

The policies: value, harmonic, uniform, fixed:7d, thesis:3,1.5, nutch:0.4,0.2,0.3, stormcrawler.
Without --policy, they are compared with value and a prior of all pages (no hosts), with value and
a prior that is not learned (default prior), with value at the rate that an estimate gives, without
a belief, and with value at the true rate, if that is known. "best" is what crawlers could reach that
know all rates: at fixed intervals (Cho and Garcia-Molina 2003) and at random times (Azar et al. 2018);
"fewest misses" is the freshness of those that minimise "missed" (LambdaCrawl, 2019).

Memory: 1 to 3 KB for each page, 100 bytes for each visit of a page of a store, and 8 bytes for each
change at random. Time: some 10 microseconds for each visit, on each core.

With --json, an object a policy: "policy", "pages", "visits_per_day", "from_day" and "to_day", "crawls",
"measured_visits_per_day"; "fresh", "near_fresh", "missed", "bits" and "fresher", the difference from the
first, with "mean" and, of several crawls, "error"; and at random an object with "optimum":
"fixed_intervals", "random_times" or "few_misses", and "fresh".

Exits with 1 if the store has too few visits."#;
