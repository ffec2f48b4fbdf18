//! Handing out what is due.

use super::decision::Decision;
use super::options::Due;
use crate::engine::db::Shared;
use crate::error::Result;
use crate::recrawl::Interval;
use crate::time::Time;

/// Hands out the best pages that nobody has, until the lease is over.
pub(crate) fn take(shared: &Shared, due: &Due, lease: Interval) -> Result<Vec<Decision>> {
    shared.base.lifecycle.check()?;
    let mut taking = shared.leases.take(due.now);
    let out = shared.leases.len();
    let room = shared.base.options.leases_max.saturating_sub(out);
    let wanted = due.budget.min(room);
    // Those that are out are passed over, here or because they were visited meanwhile.
    let mut asked = due.clone().budget(wanted.saturating_add(out));
    let mut pages = Vec::new();
    // The view is taken after that of the leases: whoever ends one meanwhile is noted there.
    let snapshot = shared.base.live.snapshot();
    snapshot.view.check()?;
    if asked.learned.is_none() {
        asked.learned = Some(taking.learned(&snapshot)?);
    }
    for page in snapshot.due(&asked) {
        let page = page?;
        if pages.len() == wanted || page.value <= 0.0 {
            break;
        }
        if !taking.is_out(&page.page.url) {
            pages.push(page);
        }
    }
    let until = Time(due.now.0.saturating_add_unsigned(lease.seconds().saturating_mul(1000)));
    pages.iter().for_each(|page| taking.lease(&page.page.url, until));
    Ok(pages)
}
