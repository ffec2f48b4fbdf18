//! What stands below the options in the long help.

use crate::verbs::revisit::policy;

/// Its lines are joined and wrapped anew.
pub(super) const HELP: &str = concat!(
    r#"Examples:
  simkeep recrawl https://example.com/news
  simkeep recrawl https://example.com/news --per-day 5000
  simkeep recrawl https://example.com/news --rules rules.jsonl --now 2024-05-01 --json

A comparison is one of two visits, one after the other, that did not fail. It found the page
changed if more bits differ than a minor change makes (`simkeep epoch list` has how many), or, of
what has no fingerprint, another digest. But if it is no more than a minor change away from one of
its last eight versions, the page is back at an earlier version, which counts as half a change. At
128 comparisons all counts are halved, so that a page that has changed its ways is believed.

The rate is what is believed of it: by what its visits tell, and before that by other pages of its
host, as far as hosts differ from each other, and by all pages. 90 % is how likely it is within the
range.

"#,
    policy::help!(),
    r#"

With --json, what `simkeep due --json` has of a page, and "threshold", from what value on pages are
visited, with the "visits_per_day" that this follows from; "last_change", with "t", "distance" and
"band"; "host_changes_per_day", what is believed of a new page of its host, and "host_compared", how
many pages of the host were compared, this one among them. Of a page that is not known, "last" is null.

Exits with 1 if the page is not known; it is said what a first visit would be worth."#
);
