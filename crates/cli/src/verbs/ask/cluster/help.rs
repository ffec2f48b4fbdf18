//! The text below the options of `cluster`.

/// Examples, and the meaning of the output.
pub(super) const HELP: &str = r#"Examples:
  simkeep cluster crawl.simkeep
  simkeep cluster crawl.simkeep -k 8 --rule https,shortest-url --under example.com
  simkeep cluster crawl.simkeep --by-page -o leaders.jsonl.zst
  simkeep cluster crawl.simkeep --since 2024-02-01 --until 2024-07-01
  simkeep cluster crawl.simkeep https://example.com/terms

A page leads if no leader that ranks before it is within k bits. Every other page joins
the nearest leader that ranks before it. So no page is farther than k from its leader,
and no two leaders are within k of each other.

With several rules, such as https,weight, later ones break ties; then SURT order does.

Lists, counts, memory: docs/tool.md#cluster

Exits with 1 if no page takes part."#;
