//! What stands below the options in the long help.

/// Its lines are joined and wrapped anew.
pub(super) const HELP: &str = r#"Examples:
  simkeep inspect crawl.simkeep
  simkeep inspect --deep                            count all pages
  simkeep inspect page https://example.com/terms    its versions, and where they stand
  simkeep inspect host example.com                  a site: pages, visits, changes, copies
  simkeep inspect fingerprint 0123456789abcdef      who has it, and who is near
  simkeep inspect segment 2                         its sections and tables
  simkeep inspect segment 2 --dump                  its bytes, and what they mean
  simkeep inspect journal                           what is in no segment yet
  simkeep inspect epoch 'html/3 words2-sqrt/2'

Figures with a ~ are estimates. Hosts are told from 64 pages at equal distances, and only those that have
more than one in fifty of the pages. A fingerprint that stands in several segments is counted in each.
"again" is about how much of a segment's records is of pages of which newer segments have records, too.

With --json, one object: "pages", "visits", "unsealed_pages", "fingerprints", "hosts" (a list of "host" and
"share"), "flaw", "spaces" (a list of "space" and "size_bytes"), "catalog_bytes", "segments", "epochs", "saw",
and "census", null without --deep. `simkeep schema inspect` has all of it."#;
