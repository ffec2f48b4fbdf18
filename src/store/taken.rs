//! Pages with a version in force, now or at a past time: what clusters and mirrors are made of.

use super::answer::Page;
use super::component::{Changing, Known, PageIn, Standing, entries_across};
use super::epochs::{Epochs, check_live};
use super::first_seen::since;
use super::lookup::Lookup;
use super::scan::Scan;
use super::snapshot::Snapshot;
use crate::bug::OrBug;
use crate::error::Result;
use crate::page::{Changes, Classes, Digest, Entry, Epoch, Head, Prefix, Weight};

/// Which pages are taken: those with a version in force that has a fingerprint of one epoch.
#[derive(Clone, Debug)]
pub(crate) struct Taking {
    pub(crate) epoch: Epoch,
    /// If set, what was in force at this time, by the visits and weights until then.
    pub(crate) at: Option<i64>,
    pub(crate) under: Option<Prefix>,
    /// Pages that are of these classes now.
    pub(crate) classes: Option<Classes>,
    /// Whether all is told of each page.
    pub(crate) whole: bool,
}

/// A page that was taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) url: String,
    /// What is compared of its version in force.
    pub(crate) fingerprint: u64,
    pub(crate) digest: Option<Digest>,
    /// When it was first seen with its version in force, in milliseconds since 1970.
    pub(crate) since: i64,
    pub(crate) weight: Weight,
    /// Where its newest record stands.
    pub(crate) standing: Standing,
    /// All else of it, if that was asked for.
    pub(crate) page: Option<Page>,
}

/// The pages that are taken, in SURT order. It ends after an error.
pub(crate) struct TakenPages {
    taking: Taking,
    scan: Scan,
}

impl Taking {
    /// Pages with fingerprints of an epoch, or of that by which near-duplicates are sought.
    ///
    /// # Errors
    ///
    /// If the epoch has ended, or there is none such.
    pub(crate) fn new(snapshot: &Snapshot, epoch: Option<Epoch>) -> Result<Taking> {
        let epoch = epoch.unwrap_or_else(|| snapshot.near_epoch());
        check_live(snapshot.epochs(), epoch)?;
        Ok(Taking { epoch, at: None, under: None, classes: None, whole: false })
    }

    /// The pages of a snapshot that are taken, in SURT order.
    pub(crate) fn pages(&self, snapshot: &Snapshot) -> TakenPages {
        let scan = Scan::new(snapshot, self.under.as_ref(), None);
        TakenPages { taking: self.clone(), scan }
    }

    /// A page, if it is taken.
    pub(crate) fn page(&self, snapshot: &Snapshot, url: &str) -> Result<Option<Taken>> {
        let Snapshot { view, sequence, .. } = snapshot;
        view.check()?;
        let lookup = Lookup::new(url, view.seed);
        let parts = || view.components().map(|component| component.page(&lookup, *sequence));
        self.take(|| Ok(url.to_owned()), || lookup.key(), parts, &view.epochs)
    }

    /// What is taken of a page, of which components have these parts.
    fn take<'k, 'v, I: IntoIterator<Item = Result<PageIn<'v>>>>(
        &self,
        url: impl FnOnce() -> Result<String>,
        key: impl Fn() -> &'k [u8],
        parts: impl Fn() -> I,
        epochs: &Epochs,
    ) -> Result<Option<Taken>> {
        let mut known = Known::default();
        known.take_in(&key, parts())?;
        let Some(head) = known.head else { return Ok(None) };
        // Who may see a page is for now to say, whichever of its versions is taken.
        let class = head.properties.class();
        if self.classes.as_ref().is_some_and(|classes| !classes.have(class)) {
            return Ok(None);
        }
        let entries = || {
            let mut entries = entries_across(&key, parts())?;
            entries.retain(|entry| self.at.is_none_or(|at| entry.time() <= at));
            Ok(entries)
        };
        let Some(head) = self.head_then(head, entries)? else { return Ok(None) };
        let in_force = head.in_force();
        let of_epoch = in_force.iter().find(|content| content.epoch == self.epoch);
        let Some((content, fingerprint)) = of_epoch.and_then(|c| Some((c, c.compared()?))) else {
            return Ok(None);
        };
        let url = url()?;
        let since = since(&head, entries)?;
        let (digest, weight) = (content.digest, head.properties.weight());
        let standing = known.standing.or_bug("a page whose head is known stands somewhere")?;
        let page = if self.whole {
            let changes = Changes::of(&entries()?, epochs);
            Some(Page::new(&url, &Changing { head, changes }, epochs))
        } else {
            None
        };
        Ok(Some(Taken { url, fingerprint, digest, since, weight, standing, page }))
    }

    /// The head of a page at the time that counts; none if it was not known yet.
    fn head_then(
        &self,
        head: Head,
        entries: impl FnOnce() -> Result<Vec<Entry>>,
    ) -> Result<Option<Head>> {
        let Some(at) = self.at else { return Ok(Some(head)) };
        if head.first > at {
            return Ok(None);
        }
        let is_until = head.last.time <= at && head.properties.iter().all(|given| given.time <= at);
        if is_until {
            return Ok(Some(head));
        }
        let mut then = None;
        let until = entries()?.into_iter().filter(|entry| entry.time() <= at);
        until.for_each(|entry| Head::absorb_into(&mut then, entry));
        Ok(then)
    }
}

impl Iterator for TakenPages {
    type Item = Result<Taken>;

    fn next(&mut self) -> Option<Result<Taken>> {
        let TakenPages { taking, scan } = self;
        scan.next_with(|scan| {
            let url = || Ok(scan.url()?.to_owned());
            taking.take(url, || scan.key(), || scan.parts(), scan.epochs())
        })
    }
}
