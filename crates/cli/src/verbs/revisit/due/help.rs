//! What stands below the options in the long help.

use crate::verbs::revisit::policy;

/// Its lines are joined and wrapped anew.
pub(super) const HELP: &str = concat!(
    r#"Examples:
  simkeep due                                      the best 100
  simkeep due --budget 5000 --per-host 50 --urls   URLs for a fetcher, at most 50 of a host
  simkeep due --plan 5000                          what is due if there are 5,000 visits a day
  simkeep due --plan 5000 --by-host                how many of these each host has
  simkeep due --budget 20 --under example.com --rules rules.jsonl --hints sitemap.xml.gz

It reads the store and changes nothing. Fetch the pages, give what you found to `simkeep ingest`,
and ask for the next; whoever asks before that is told the same pages. `simkeep recrawl` says of
one page why it is due.

How often a page changes is believed by its own visits, and before that by those of other pages of
its host and of all. A page that is gone counts for an eighth. A page that fails is left alone for
half as long as it has been failing. One that surely changes faster than visits can follow is worth
little, and waits for --max-interval.

"every" and the dates follow from how many visits there are in a day: a page is due when a visit to
it is worth as much as one to any other when that is due. Without --per-day or --plan, there are as
many as on average in the 28 days up to the latest visit, or since the first visit of all.

"#,
    policy::help!(),
    r#"

With --json, an object a page: "url", "value", "last", "due" (the date, null if there is none), and
"every_seconds"; "changes_per_day" with "mean", "low" and "high" (90 %); "weight", with the factor of
its rule; "comparisons" of two visits, "changes" and "returns" to an earlier version that these
found; "reason", in words; "hinted", when a hint says that it changed; "leader", the page that leads
it: one with nearly the same content that had it first, beside which it counts for a quarter;
"rule", the prefix of its rule. With --by-host, "host", "pages", "best_value" and "value_sum".

Lines come as pages are found, in bounded memory however many there are. If there is no page,
nothing is printed, and that is no failure."#
);
