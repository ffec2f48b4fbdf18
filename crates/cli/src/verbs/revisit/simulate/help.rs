//! The text below the options in the long help.

/// The help joins and wraps these lines.
pub(super) const HELP: &str = r#"Examples:
  simkeep simulate crawl.simkeep --every 28d --policy value --policy uniform
  simkeep simulate crawl.simkeep --per-day 5000 --plot freshness.svg
  simkeep simulate --random flat --per-day 71 --warm-up 100d --policy value
  simkeep simulate --random by-host --every 14d --days 200 --seeds 20 --json
  simkeep simulate --random settle --every 60d --policy value --policy uniform

Each version in a store counts from the visit that found it to the visit that found the
next; changes in between are unknown. So a policy that visits more often than the store
did cannot look better than one that visits as often.

Policies: value, crawl-value, harmonic, uniform, fixed:7d, thesis:3,1.5, nutch:0.4,0.2,0.3,
stormcrawler. Without --policy all run, and variants of value that show the worth of
its prior. With constant rates, "best" rows bound what any policy could reach.

Columns, bounds, memory and time: docs/tool.md#simulate

Exits with 1 if the store has too few visits."#;
