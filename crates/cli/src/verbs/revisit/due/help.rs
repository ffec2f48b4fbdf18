//! The text below the options in the long help.

/// The help joins and wraps these lines.
pub(super) const HELP: &str = r#"Examples:
  simkeep due crawl.simkeep
  simkeep due crawl.simkeep --limit 5000 --per-host 50 --urls
  simkeep due crawl.simkeep --per-day 5000 --only-due --by-host
  simkeep due crawl.simkeep --only-due --curl | curl --config -
  simkeep due crawl.simkeep --limit 20 --rules rules.jsonl --hints sitemap.xml.gz

Fetch the pages, give the results to `simkeep ingest`, then ask again. Asking again
before that returns the same pages. `simkeep recrawl` explains one page.

Policies: value, crawl-value, harmonic, uniform, fixed:7d, thesis:3,1.5,
nutch:0.4,0.2,0.3, stormcrawler. A line of --rules sets limits for a prefix; the
longest prefix wins:
  {"under":"example.com/news","min":"1h","max":"7d","per_host":100}

Exits with 1 if no page is known under the prefix.

Policies, rules, hints: docs/recrawl.md and docs/tool.md#due"#;
