//! The text below the options in the long help.

/// The help joins and wraps these lines.
pub(super) const HELP: &str = r#"Examples:
  simkeep inspect crawl.simkeep
  simkeep inspect crawl.simkeep --deep
  simkeep inspect page crawl.simkeep https://example.com/terms
  simkeep inspect host crawl.simkeep example.com
  simkeep inspect fingerprint crawl.simkeep 0123456789abcdef
  simkeep inspect segment crawl.simkeep 2
  simkeep inspect segment crawl.simkeep 2 --dump
  simkeep inspect journal crawl.simkeep
  simkeep inspect epoch crawl.simkeep 'html/3 words2-sqrt/2'

Figures with a ~ are estimates. Hosts are estimated from 64 pages at equal distances and
listed from a share of one in fifty. A fingerprint in several segments is counted in
each. "superseded" is the share of a segment's records that newer segments replace."#;
