//! The URLs that were found since the last seal.

use std::collections::BTreeSet;

use super::key_index::KeyIndex;
use super::order::{self, UrlColumn};
use super::url_hash_table::UrlHashTable;
use crate::bug::{Bug, OrBug};
use crate::page::Prefix;
use crate::segment::FoundFacts;

/// A found URL.
#[derive(Debug)]
struct FoundSlot {
    /// The position of the URL in the URLs.
    url: usize,
    url_len: u32,
    hash: u64,
    /// The last report of the URL.
    last: u32,
    /// Whether the URL was ever forgotten in this memtable.
    reset: bool,
    /// Whether the URL was forgotten with a prefix and was not found again.
    forgotten_by_prefix: bool,
}

/// A report of a URL.
#[derive(Debug)]
struct Report {
    sequence: u64,
    /// The number of the URL.
    url: u32,
    facts: FoundFacts,
    /// The report before, of the same URL.
    before: Option<u32>,
}

/// The found URLs and their reports. Nothing is removed, because earlier snapshots may see it.
#[derive(Debug, Default)]
pub(super) struct FoundColumns {
    slots: Vec<FoundSlot>,
    urls: String,
    reports: Vec<Report>,
    numbers: UrlHashTable,
    by_key: KeyIndex,
    /// The forgotten URLs, with the operations that forgot them.
    resets: BTreeSet<(u32, u64)>,
}

impl UrlColumn for FoundColumns {
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 are added")]
    fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    #[expect(clippy::indexing_slicing, reason = "URLs are numbered here and never removed")]
    fn url(&self, number: u32) -> &str {
        let FoundSlot { url, url_len, .. } = self.slots[number as usize];
        &self.urls[url..url + url_len as usize]
    }

    fn url_bytes(&self) -> usize {
        self.urls.len()
    }
}

impl FoundColumns {
    /// Removes all URLs, and keeps the memory.
    pub(super) fn cleared(mut self) -> FoundColumns {
        self.slots.clear();
        self.urls.clear();
        self.reports.clear();
        self.numbers.clear();
        let FoundColumns { slots, urls, reports, numbers, .. } = self;
        FoundColumns { slots, urls, reports, numbers, ..FoundColumns::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The number of bytes of used memory, without unused capacity.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice())
            + self.urls.len()
            + size_of_val(self.reports.as_slice())
            + self.numbers.memory_bytes()
            + self.by_key.memory_bytes()
    }

    /// The number of a URL.
    pub(super) fn find(&self, hash: u64, url: &str) -> Option<u32> {
        let same = |&number: &u32| {
            let slot = self.slots.get(number as usize);
            slot.is_some_and(|slot| slot.hash == hash) && self.url(number) == url
        };
        self.numbers.candidates(hash).find(same)
    }

    /// Adds a report.
    ///
    /// # Errors
    ///
    /// A bug if there are more URLs or reports than numbers.
    pub(super) fn add(
        &mut self,
        sequence: u64,
        url: &str,
        hash: u64,
        facts: FoundFacts,
    ) -> Result<(), Bug> {
        let report = u32::try_from(self.reports.len()).ok();
        let report = report.or_bug("a memtable has fewer than 2^32 reports")?;
        let number = match self.find(hash, url) {
            Some(number) => number,
            None => self.add_url(url, hash, report)?,
        };
        let slot = self.slots.get_mut(number as usize).or_bug("each URL has a slot")?;
        let before = (slot.last != report).then_some(slot.last);
        slot.last = report;
        if std::mem::take(&mut slot.forgotten_by_prefix) {
            self.by_key.put_back(number);
        }
        self.reports.push(Report { sequence, url: number, facts, before });
        Ok(())
    }

    fn add_url(&mut self, url: &str, hash: u64, report: u32) -> Result<u32, Bug> {
        let number = u32::try_from(self.slots.len()).ok();
        let number = number.or_bug("a memtable has fewer than 2^32 reports")?;
        let url_len = u32::try_from(url.len()).ok().or_bug("a URL has less than 4 GiB")?;
        self.slots.push(FoundSlot {
            url: self.urls.len(),
            url_len,
            hash,
            last: report,
            reset: false,
            forgotten_by_prefix: false,
        });
        self.urls.push_str(url);
        let slots = &self.slots;
        let hash_of = |number: u32| slots.get(number as usize).map_or(0, |slot| slot.hash);
        self.numbers.insert(hash, number, hash_of);
        Ok(number)
    }

    /// The reports of a URL up to an operation that no later operation forgot, joined; `None` without
    /// such reports. Costs a walk over the reports of the URL, the last one first.
    pub(super) fn facts_at(&self, number: u32, sequence: u64) -> Option<FoundFacts> {
        let slot = self.slots.get(number as usize)?;
        // Operations start at 1, so 0 comes before all of them.
        let mut after = 0;
        if slot.reset {
            let upto = (number, 0)..=(number, sequence);
            after = self.resets.range(upto).next_back().map_or(0, |(_, sequence)| *sequence);
        }
        let of = |at: u32| self.reports.get(at as usize);
        let reports = std::iter::successors(of(slot.last), |report| of(report.before?));
        let reports = reports.take_while(|report| report.sequence > after);
        let known = reports.filter(|report| report.sequence <= sequence);
        known.map(|report| report.facts).reduce(FoundFacts::join)
    }

    pub(super) fn hash(&self, number: u32) -> Option<u64> {
        self.slots.get(number as usize).map(|slot| slot.hash)
    }

    /// The numbers of the URLs under a prefix, or of all URLs, in SURT order. Takes temporarily the
    /// memory of their keys.
    pub(super) fn order(&self, prefix: Option<&Prefix>) -> Vec<u32> {
        order::order(self, prefix)
    }

    /// Forgets a URL.
    pub(super) fn forget(&mut self, sequence: u64, hash: u64, url: &str) {
        if let Some(number) = self.find(hash, url) {
            self.reset(sequence, number, false);
        }
    }

    /// Forgets all URLs under a prefix. Costs a few binary searches for each of these URLs, and for
    /// each URL added since the last call.
    pub(super) fn forget_prefix(&mut self, sequence: u64, prefix: &Prefix) -> Result<(), Bug> {
        if self.is_empty() {
            return Ok(());
        }
        let mut by_key = std::mem::take(&mut self.by_key);
        let out = by_key.take_out(&*self, prefix);
        self.by_key = by_key;
        out?.into_iter().for_each(|number| self.reset(sequence, number, true));
        Ok(())
    }

    fn reset(&mut self, sequence: u64, number: u32, with_prefix: bool) {
        self.resets.insert((number, sequence));
        if let Some(slot) = self.slots.get_mut(number as usize) {
            slot.reset = true;
            slot.forgotten_by_prefix |= with_prefix;
        }
    }

    /// The URL and the facts of the report with a sequence number.
    pub(super) fn report_of(&self, sequence: u64) -> Option<(&str, FoundFacts)> {
        let at = self.reports.binary_search_by_key(&sequence, |report| report.sequence);
        self.reports.get(at.ok()?).map(|report| (self.url(report.url), report.facts))
    }
}
