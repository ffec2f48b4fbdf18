//! Pages with a version in force, now or at a past time: the input of clusters and mirrors.

use super::scan::Scan;
use crate::bug::OrBug;
use crate::engine::component::{
    LocatedHead, PageAddress, PageSlice, PageWithChanges, entries_across,
};
use crate::engine::epochs::{Epochs, check_live};
use crate::engine::first_seen::{first_seen, since};
use crate::engine::lookup::Lookup;
use crate::engine::results::Page;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{
    Changes, Classes, Content, Digest, Entry, Epoch, PageHead, Prefix, Weight, is_of_version,
};
use crate::time::Time;

/// Selects pages with a version in force that has a fingerprint of one epoch or, with
/// `with_digests`, that has a digest and no fingerprint of the epoch.
#[derive(Clone, Debug)]
pub(crate) struct InForceFilter {
    pub(crate) epoch: Epoch,
    /// The time for which the version in force is computed, from the visits and weights until this
    /// time; `None` for now.
    pub(crate) at: Option<Time>,
    pub(crate) under: Option<Prefix>,
    /// Selects pages that are in these classes now.
    pub(crate) classes: Option<Classes>,
    /// Whether to load all data of each page.
    pub(crate) whole: bool,
    /// Whether to return the URL to which each page points.
    pub(crate) with_target: bool,
    /// Whether to select pages, too, whose content has a digest, and for which no fingerprint of the
    /// epoch can be made. Stale pages are not selected.
    pub(crate) with_digests: bool,
}

/// A selected page.
#[derive(Debug)]
pub(crate) struct InForcePage {
    pub(crate) url: String,
    /// The compared bits of the fingerprint of the version in force; `None` for content that is
    /// found by its digest.
    pub(crate) fingerprint: Option<u64>,
    /// The digest of the version in force, if it has a digest.
    pub(crate) digest: Option<Digest>,
    /// The time when the version in force was first seen, in milliseconds since 1970.
    pub(crate) since: Time,
    pub(crate) weight: Weight,
    /// The current class of the page, even if an earlier time is selected.
    pub(crate) class: Option<u32>,
    /// The location of the page's newest record.
    pub(crate) location: PageAddress,
    /// The URL to which the version in force points, if requested.
    pub(crate) target: Option<String>,
    /// All other data of the page, if requested.
    pub(crate) page: Option<Page>,
}

impl InForcePage {
    /// The distance of the contents of two pages; `None` if it is unknown: content without a
    /// fingerprint is near equal content only.
    pub(crate) fn distance_to(&self, other: &InForcePage) -> Option<u32> {
        match (self.fingerprint, other.fingerprint) {
            (Some(one), Some(other)) => Some((one ^ other).count_ones()),
            (None, None) if self.digest.is_some() && self.digest == other.digest => Some(0),
            _ => None,
        }
    }
}

/// A selected page, with its last versions.
#[derive(Debug)]
pub(crate) struct InForceVersions {
    pub(crate) url: String,
    /// The time of the first visit to the page, in milliseconds since 1970.
    pub(crate) first: Time,
    /// The version in force, then the remembered earlier versions, the latest first. All versions
    /// have different fingerprints.
    pub(crate) versions: Vec<InForceVersion>,
}

/// A version of a selected page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InForceVersion {
    pub(crate) fingerprint: u64,
    /// The time when the page was first seen with this version, in milliseconds since 1970.
    pub(crate) since: Time,
}

/// An iterator over the selected pages, in SURT order. The iterator ends after an error.
pub(crate) struct InForceScan {
    filter: InForceFilter,
    scan: Scan,
    without: u64,
}

impl InForceFilter {
    /// Selects pages with fingerprints of an epoch, by default the epoch for near-duplicates.
    ///
    /// # Errors
    ///
    /// If the epoch has ended, or does not exist.
    pub(crate) fn new(snapshot: &Snapshot, epoch: Option<Epoch>) -> Result<InForceFilter> {
        let epoch = epoch.unwrap_or_else(|| snapshot.near_epoch());
        check_live(snapshot.epochs(), epoch)?;
        Ok(InForceFilter {
            epoch,
            at: None,
            under: None,
            classes: None,
            whole: false,
            with_target: false,
            with_digests: false,
        })
    }

    /// The digest of the version in force of a page; `None` if the page is not selected or the
    /// version has no digest.
    pub(crate) fn digest(&self, snapshot: &Snapshot, url: &str) -> Result<Option<Digest>> {
        let Snapshot { view, sequence, .. } = snapshot;
        let lookup = Lookup::new(url, view.seed);
        let parts = || view.components().map(|component| component.page(&lookup, *sequence));
        let entries = || self.entries(|| lookup.key(), parts());
        let found = self.select(|| lookup.key(), parts(), &entries, &mut 0)?;
        Ok(found.and_then(|found| found.content.digest))
    }

    /// The selected pages of a snapshot, in SURT order.
    pub(crate) fn pages(&self, snapshot: &Snapshot) -> InForceScan {
        let scan = Scan::new(snapshot, self.under.as_ref());
        InForceScan { filter: self.clone(), scan, without: 0 }
    }

    /// Returns a page; `None` if the filter does not select the page.
    pub(crate) fn page(&self, snapshot: &Snapshot, url: &str) -> Result<Option<InForcePage>> {
        let Snapshot { view, sequence, .. } = snapshot;
        view.check()?;
        let lookup = Lookup::new(url, view.seed);
        let parts = || view.components().map(|component| component.page(&lookup, *sequence));
        self.select_page(|| Ok(url.to_owned()), || lookup.key(), parts, (&view.epochs, &mut 0))
    }

    /// Computes the version in force of a page from the page's parts in the components; `None` if
    /// the filter does not select the page. Counts the page in `without` if the only missing
    /// condition is a fingerprint of the epoch.
    fn select<'k, 'v>(
        &self,
        key: impl Fn() -> &'k [u8],
        parts: impl IntoIterator<Item = Result<PageSlice<'v>>>,
        entries: &dyn Fn() -> Result<Vec<Entry>>,
        without: &mut u64,
    ) -> Result<Option<SelectedVersion>> {
        let mut known = LocatedHead::default();
        known.fill_from(key, parts)?;
        let Some(head) = known.head else { return Ok(None) };
        // Access depends on the current class, even if an earlier version is selected.
        let class = head.properties.class();
        if self.classes.as_ref().is_some_and(|classes| !classes.contains(class)) {
            return Ok(None);
        }
        let Some(head) = self.head_then(head, entries)? else { return Ok(None) };
        let in_force = head.in_force();
        let Some((content, fingerprint)) = self.compared(&in_force) else {
            *without += u64::from(!in_force.is_empty());
            return Ok(None);
        };
        Ok(Some(SelectedVersion { head, content, fingerprint, class, location: known.location }))
    }

    /// The content of a version in force that is compared, with the compared bits of its
    /// fingerprint; `None` if the filter does not select the version.
    fn compared(&self, in_force: &[Content]) -> Option<(Content, Option<u64>)> {
        let of_epoch = in_force.iter().find(|content| content.epoch == self.epoch);
        if let Some((content, fingerprint)) = of_epoch.and_then(|c| Some((*c, c.compared()?))) {
            return Some((content, Some(fingerprint)));
        }
        if !self.with_digests {
            return None;
        }
        let bare = match of_epoch {
            // The recipe of the epoch makes no fingerprint of this content.
            Some(content) => content,
            // A page with a fingerprint of another epoch is stale. It is not compared until it is
            // restated.
            None if in_force.iter().any(|content| content.fingerprint.is_some()) => return None,
            None => in_force.first()?,
        };
        bare.table_key().map(|_| (*bare, None))
    }

    /// The relevant entries of a page, read from its parts in the components.
    fn entries<'k, 'v>(
        &self,
        key: impl Fn() -> &'k [u8],
        parts: impl IntoIterator<Item = Result<PageSlice<'v>>>,
    ) -> Result<Vec<Entry>> {
        let mut entries = entries_across(key, parts)?;
        entries.retain(|entry| self.at.is_none_or(|at| entry.time() <= at));
        Ok(entries)
    }

    /// Reads a page from its parts in the components; `None` if the filter does not select the
    /// page.
    fn select_page<'k, 'v, I: IntoIterator<Item = Result<PageSlice<'v>>>>(
        &self,
        url: impl FnOnce() -> Result<String>,
        key: impl Fn() -> &'k [u8],
        parts: impl Fn() -> I,
        (epochs, without): (&Epochs, &mut u64),
    ) -> Result<Option<InForcePage>> {
        let entries = || self.entries(&key, parts());
        let Some(found) = self.select(&key, parts(), &entries, without)? else { return Ok(None) };
        let SelectedVersion { head, content, fingerprint, class, location } = found;
        let (url, digest) = (url()?, content.digest);
        let since = since(&head, &entries)?;
        let weight = head.properties.weight();
        let location = location.or_bug("each page with a head has a location")?;
        let target = head.target().filter(|_| self.with_target);
        let target = target.and_then(|target| target.resolve(&url));
        let page = if self.whole {
            let changes = Changes::of(&entries()?, epochs);
            Some(Page::new(&url, &PageWithChanges { head, changes }, epochs))
        } else {
            None
        };
        Ok(Some(InForcePage {
            url,
            fingerprint,
            digest,
            since,
            weight,
            class,
            location,
            target,
            page,
        }))
    }

    /// The head of a page at the selected time; `None` if the page was not known yet.
    fn head_then(
        &self,
        head: PageHead,
        entries: &dyn Fn() -> Result<Vec<Entry>>,
    ) -> Result<Option<PageHead>> {
        let Some(at) = self.at else { return Ok(Some(head)) };
        if head.first > at {
            return Ok(None);
        }
        let is_until = head.last.time <= at && head.properties.iter().all(|given| given.time <= at);
        if is_until {
            return Ok(Some(head));
        }
        let mut until = entries()?;
        until.retain(|entry| entry.time() <= at);
        Ok(PageHead::of_all(&until))
    }
}

/// The version in force of a selected page.
struct SelectedVersion {
    /// The head at the selected time.
    head: PageHead,
    content: Content,
    /// As in [`InForcePage`].
    fingerprint: Option<u64>,
    /// The current class of the page.
    class: Option<u32>,
    location: Option<PageAddress>,
}

impl SelectedVersion {
    /// The fingerprint, for callers that do not select pages by digest.
    fn with_fingerprint(&self) -> Result<u64> {
        Ok(self.fingerprint.or_bug("only pages with fingerprints are selected")?)
    }
}

impl InForceScan {
    /// Returns the version in force of the scan's current page; `None` if the filter does not
    /// select the page.
    fn select(
        filter: &InForceFilter,
        scan: &Scan,
        without: &mut u64,
    ) -> Result<Option<SelectedVersion>> {
        let entries = || InForceScan::entries(filter, scan);
        filter.select(|| scan.key(), scan.parts(), &entries, without)
    }

    /// The number of pages so far that have content and would be selected, but lack a fingerprint
    /// of the epoch.
    pub(crate) fn without_fingerprint(&self) -> u64 {
        self.without
    }

    /// The relevant entries of the scan's current page.
    fn entries(filter: &InForceFilter, scan: &Scan) -> Result<Vec<Entry>> {
        filter.entries(|| scan.key(), scan.parts())
    }

    /// Returns only the compared bits of the next selected page, which takes a third of the time of
    /// [`next_of`](InForceScan::next_of). After the call, [`key`](InForceScan::key) returns the key
    /// of this page.
    pub(crate) fn next_fingerprint(&mut self) -> Option<Result<u64>> {
        let InForceScan { filter, scan, without } = self;
        scan.next_with(|scan| {
            let found = InForceScan::select(filter, scan, without)?;
            found.map(|found| found.with_fingerprint()).transpose()
        })
    }

    /// Returns the next selected page with its last versions. Reads the page's entries if it has
    /// several versions.
    pub(crate) fn next_versions(&mut self) -> Option<Result<InForceVersions>> {
        let InForceScan { filter, scan, without } = self;
        scan.next_with(|scan| {
            let Some(found) = InForceScan::select(filter, scan, without)? else { return Ok(None) };
            let fingerprint = found.with_fingerprint()?;
            InForceScan::versions(filter, scan, (&found.head, fingerprint)).map(Some)
        })
    }

    fn versions(
        filter: &InForceFilter,
        scan: &Scan,
        (head, fingerprint): (&PageHead, u64),
    ) -> Result<InForceVersions> {
        let url = scan.url()?.to_owned();
        let since = since(head, &|| InForceScan::entries(filter, scan))?;
        let mut versions = vec![InForceVersion { fingerprint, since }];
        let mut entries = None;
        for seen in head.remembered().filter(|seen| seen.content.epoch == filter.epoch) {
            let fingerprint = seen.content.compared();
            let is_new = |print: &u64| versions.iter().all(|v| v.fingerprint != *print);
            let Some(fingerprint) = fingerprint.filter(is_new) else { continue };
            let entries = match &entries {
                Some(entries) => entries,
                None => entries.insert(InForceScan::entries(filter, scan)?),
            };
            let is_it = |content: &Content| is_of_version(&[seen.content], content);
            let since = first_seen(entries, is_it)?.max(head.first);
            versions.push(InForceVersion { fingerprint, since });
        }
        Ok(InForceVersions { url, first: head.first, versions })
    }

    /// The SURT key of the last selected page.
    pub(crate) fn key(&self) -> &[u8] {
        self.scan.key()
    }
}

impl InForceScan {
    /// Returns the next selected page. Calls `pass` for each page that is read, selected or not; an
    /// error from `pass` ends the scan.
    pub(crate) fn next_of(&mut self, pass: impl Fn() -> Result<()>) -> Option<Result<InForcePage>> {
        let InForceScan { filter, scan, without } = self;
        scan.next_with(|scan| {
            pass()?;
            let url = || Ok(scan.url()?.to_owned());
            let to = (scan.epochs(), &mut *without);
            filter.select_page(url, || scan.key(), || scan.parts(), to)
        })
    }
}
