//! Pages without a fingerprint in the searched epoch, counted by verbs that do not read all pages.

use simkeep::{Classes, Epoch, Page, Prefix, Snapshot};

use crate::output::visit;
use crate::output::words::{WITHOUT_FINGERPRINT, count, many, skipped_pages_clause};

/// The number of pages that an interactive verb checks at most; this takes about 50 ms.
pub(crate) const AT_ONCE: usize = 20_000;

/// The count of pages with content but without a fingerprint of an epoch.
pub(crate) struct MissingFingerprints {
    pub(crate) pages: u64,
    /// The number of pages that were checked.
    looked: u64,
    /// Whether all pages in question were checked.
    pub(crate) is_all: bool,
}

/// Counts the pages of these classes under a prefix that have content but no fingerprint of an
/// epoch. Checks the first `most` pages in SURT order. `None` if no other epoch has fingerprints:
/// then only short texts and other files lack a fingerprint. Costs a scan of these pages.
pub(crate) fn without(
    snapshot: &Snapshot,
    epoch: Epoch,
    (under, classes): (Option<&Prefix>, Option<&Classes>),
    most: usize,
) -> simkeep::Result<Option<MissingFingerprints>> {
    let mut others = snapshot.epochs().iter().filter(|info| info.epoch != epoch);
    // The tables of an ended epoch may be gone.
    if !others.any(|info| info.ended || snapshot.fingerprints(info.epoch) > 0) {
        return Ok(None);
    }
    let is_without = |page: &Page| {
        let has = page.contents.iter().any(|c| c.epoch == epoch && c.fingerprint.is_some());
        page.content.is_some() && !has && classes.is_none_or(|classes| classes.contains(page.class))
    };
    let mut found = MissingFingerprints { pages: 0, looked: 0, is_all: true };
    for page in snapshot.scan(under) {
        if found.looked >= most as u64 {
            found.is_all = false;
            break;
        }
        found.looked += 1;
        found.pages += u64::from(is_without(&page?));
    }
    Ok(Some(found))
}

impl MissingFingerprints {
    /// Returns the note about these pages, if there are any.
    pub(crate) fn note(
        &self,
        snapshot: &Snapshot,
        epoch: Epoch,
    ) -> simkeep::Result<Option<String>> {
        let mut have = many(self.pages, "page has", "pages have");
        if !self.is_all {
            have = format!("{} of the first {} pages have", count(self.pages), count(self.looked));
        }
        let name = visit::epoch(snapshot.epochs(), epoch)?;
        Ok((self.pages > 0).then(|| skipped_pages_clause(&have, name, WITHOUT_FINGERPRINT)))
    }
}

#[cfg(test)]
mod tests {
    use simkeep::{Observation, Options, Role, Store, Time};

    use super::*;

    #[test]
    fn limited_number_of_pages_is_checked_for_fingerprints() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
        let old = store.change_epoch();
        let new = store.register_epoch("new", Role::Both).unwrap();
        for n in 0..5 {
            let (url, epoch) = (format!("https://example.com/{n}"), if n < 4 { old } else { new });
            let time = Time::from_ms_unchecked(1);
            store.observe(Observation::content(&url, time, n, epoch)).unwrap();
        }
        let snapshot = store.snapshot();
        let said = |most| {
            let found = without(&snapshot, new, (None, None), most).unwrap().unwrap();
            (found.pages, found.is_all, found.note(&snapshot, new).unwrap().unwrap())
        };
        let what = "no fingerprint in the epoch new and cannot be compared";
        let (pages, is_all, all) = said(5);
        assert!(
            (pages, is_all) == (4, true) && all.contains(&format!("4 pages have {what}")),
            "{all}"
        );
        let (pages, is_all, some) = said(3);
        let expected = format!("3 of the first 3 pages have {what}");
        assert!((pages, is_all) == (3, false) && some.contains(&expected), "{some}");
    }
}
