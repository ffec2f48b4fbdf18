//! The text below the options in the long help.

/// The help joins and wraps these lines.
pub(super) const HELP: &str = r#"Examples:
  simkeep recrawl crawl.simkeep https://example.com/news
  simkeep recrawl crawl.simkeep https://example.com/news --per-day 5000
  simkeep recrawl crawl.simkeep https://example.com/news --rules rules.jsonl --json

A comparison is a pair of successive visits that did not fail. It counts as a change if
the contents differ by more than a minor change, and as half a change if the page went
back to one of its last eight versions.

Policies: value, crawl-value, harmonic, uniform, fixed:7d, thesis:3,1.5,
nutch:0.4,0.2,0.3, stormcrawler. A line of --rules sets limits for a prefix; the
longest prefix wins:
  {"under":"example.com/news","min":"1h","max":"7d","per_host":100}

The estimate, policies, rules, hints: docs/recrawl.md and docs/tool.md#due

Exits with 1 if the page is unknown; it then prints the value of a first visit."#;
