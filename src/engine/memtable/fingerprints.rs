//! The fingerprints of a memtable, and the pages that have or had each of them.

use crate::page::DIGESTS;
use crate::search::{Bounds, Candidate, Chains, Completeness, SearchPlan};

/// The fingerprints of all epochs, and the keys of digests.
#[derive(Debug, Default)]
pub(super) struct FingerprintIndex {
    epochs: Vec<EpochFingerprints>,
    /// The number of bytes of the lists.
    list_bytes: usize,
}

/// The distinct fingerprints of one epoch, or the distinct keys of [`DIGESTS`].
#[derive(Debug)]
struct EpochFingerprints {
    epoch: u32,
    chains: Chains,
    /// For each fingerprint, the number of its page, or [`LIST`] and the index of a list.
    pages: Vec<u32>,
    /// Lists of the pages of one fingerprint, in SURT order.
    lists: Vec<Vec<u32>>,
}

/// Marks a word as the index of a list.
const LIST: u32 = 1 << 31;

/// The maximum number of pages in a memtable, so that page numbers and indexes of lists differ.
pub(super) const PAGES_MAX: u32 = LIST;

impl FingerprintIndex {
    fn of(&self, epoch: u32) -> Option<&EpochFingerprints> {
        self.epochs.iter().find(|e| e.epoch == epoch)
    }

    /// Removes all fingerprints, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.list_bytes = 0;
        // Epochs stay, with their memory. An epoch without fingerprints counts as absent: see
        // `plan`.
        for of_epoch in &mut self.epochs {
            of_epoch.chains.clear();
            of_epoch.pages.clear();
            of_epoch.lists.clear();
        }
    }

    /// The number of bytes of used memory.
    pub(super) fn memory_bytes(&self) -> usize {
        let words = |e: &EpochFingerprints| size_of_val(e.pages.as_slice());
        let epochs = self.epochs.iter().map(|e| e.chains.memory_bytes() + words(e));
        self.list_bytes + epochs.sum::<usize>()
    }

    /// Prefetches the memory that a search for the fingerprint `fingerprint` reads.
    pub(super) fn prefetch(&self, epoch: u32, fingerprint: u64) {
        if let Some(of_epoch) = self.of(epoch) {
            of_epoch.chains.prefetch(fingerprint);
        }
    }

    /// Finds the distinct fingerprints of an epoch within `k` bits.
    pub(super) fn near(&self, epoch: u32, fingerprint: u64, k: u32, out: &mut Vec<Candidate>) {
        if let Some(of_epoch) = self.of(epoch) {
            of_epoch.chains.find(fingerprint, k, out);
        }
    }

    /// Finds the nearest fingerprints, within bounds.
    pub(super) fn nearest(
        &self,
        (epoch, fingerprint, k): (u32, u64, u32),
        bounds: &Bounds,
        out: &mut Vec<Candidate>,
    ) -> Completeness {
        let of_epoch = self.of(epoch);
        let nearest = |e: &EpochFingerprints| e.chains.nearest(fingerprint, k, bounds, out);
        of_epoch.map_or_else(|| Completeness::whole(k), nearest)
    }

    /// The estimated cost of a search; `None` if the epoch has no fingerprints.
    pub(super) fn plan(&self, epoch: u32, k: u32) -> Option<SearchPlan> {
        self.of(epoch).filter(|e| !e.chains.is_empty()).map(|e| e.chains.plan(k))
    }

    /// Whether there are fingerprints of an epoch other than `epoch`.
    pub(super) fn has_others(&self, epoch: u32) -> bool {
        let is_other = |e: &EpochFingerprints| e.epoch != epoch && e.epoch != DIGESTS;
        self.epochs.iter().any(|e| is_other(e) && !e.chains.is_empty())
    }

    /// All distinct fingerprints of an epoch, in order of arrival.
    pub(super) fn all(&self, epoch: u32) -> Vec<u64> {
        self.of(epoch).map_or_else(Vec::new, |e| e.chains.fingerprints().collect())
    }

    /// The number of distinct fingerprints of an epoch.
    #[expect(clippy::cast_possible_truncation, reason = "each ordinal fits in 32 bits")]
    pub(super) fn count(&self, epoch: u32) -> u32 {
        self.of(epoch).map_or(0, |e| e.chains.len() as u32)
    }

    /// The pages that have or had a fingerprint that a search found, in SURT order.
    #[expect(
        clippy::indexing_slicing,
        clippy::expect_used,
        reason = "ordinals belong to fingerprints of the epoch, which are never removed, and to its lists"
    )]
    pub(super) fn postings(&self, epoch: u32, ordinal: u32) -> &[u32] {
        let of_epoch = self.of(epoch).expect("each found fingerprint belongs to an epoch");
        let word = &of_epoch.pages[ordinal as usize];
        if word & LIST == 0 {
            std::slice::from_ref(word)
        } else {
            &of_epoch.lists[(word & !LIST) as usize]
        }
    }

    /// Adds a page to the list of a fingerprint. `order` returns the SURT key of a page.
    #[expect(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        reason = "each fingerprint has a word, and each word has a page or a list"
    )]
    pub(super) fn add<K: Ord>(
        &mut self,
        epoch: u32,
        fingerprint: u64,
        page: u32,
        order: impl Fn(u32) -> K,
    ) {
        let at = self.epochs.iter().position(|e| e.epoch == epoch).unwrap_or_else(|| {
            let (chains, pages, lists) = (Chains::new(), Vec::new(), Vec::new());
            self.epochs.push(EpochFingerprints { epoch, chains, pages, lists });
            self.epochs.len() - 1
        });
        let of_epoch = &mut self.epochs[at];
        // Equal fingerprints are stored once. One template of a site gives thousands of them.
        let Some(equal) = of_epoch.chains.number_of(fingerprint) else {
            of_epoch.chains.push(fingerprint);
            of_epoch.pages.push(page);
            return;
        };
        let word = &mut of_epoch.pages[equal as usize];
        if *word & LIST == 0 {
            // A page comes again when it returns to an earlier version.
            if *word == page {
                return;
            }
            of_epoch.lists.push(vec![*word]);
            self.list_bytes += size_of::<Vec<u32>>() + 4 * size_of::<u32>();
            *word = LIST | (of_epoch.lists.len() - 1) as u32;
        }
        let list = &mut of_epoch.lists[(*word & !LIST) as usize];
        let own = order(page);
        // Keys of a list ascend. The page's own number is compared first, which saves computing a
        // key.
        let at = list.partition_point(|&n| n != page && order(n) < own);
        if list.get(at) != Some(&page) {
            list.insert(at, page);
            // Vectors grow by doubling, so the spare capacity counts, too.
            self.list_bytes += 2 * size_of::<u32>();
        }
    }
}
