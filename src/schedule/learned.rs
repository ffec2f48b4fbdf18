//! Priors for the change rates of pages, estimated from all pages of a store.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::rows::{each_page, part_of};
use super::score::DirectMappedCache;
use super::sources::{RowSource, sources};
use crate::bug::{Bug, OrBug};
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::Result;
use crate::recrawl::{ComparisonCode, Evidence, Fit, HostPriors, PriorClass, Priors};
use crate::threads;

/// The number of pages, as a power of two, above which a store is sampled. The sample has about
/// this number of pages.
const SAMPLE_LOG2: u32 = 19;

/// The number of host slots from which the spread between hosts is learned.
const SLOTS_LEARNED: usize = 2048;

/// In a slot with fewer compared pages than this number, the prior of each page excludes the page's
/// own evidence.
const FEW_PAGES: usize = 16;

/// The number of host slots.
const SLOTS: usize = 1 << 16;

/// The number of slots in a thread's work item.
const TOGETHER: usize = 256;

/// The number of hash ranges that threads share.
const PARTS: usize = 16;

/// The maximum number of codes whose evidence a thread caches, as a power of two: 2 MiB.
const EVIDENCES_LOG2: u32 = 12;

/// Priors for the change rates of pages, one prior for each host; from [`LearnedPriors::of`].
///
/// Takes some 400 KB, and up to 8 bytes for each page of hosts with few pages. A clone shares the
/// memory.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::{Due, LearnedPriors};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # const DAY: Duration = Duration::from_secs(86_400);
/// let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
/// for n in 0..30_u64 {
///     let (url, fingerprint) = (format!("https://example.com/{n}"), n << 40);
///     store.observe(Observation::content(&url, start, fingerprint, epoch))?;
///     store.observe(Observation::content(&url, start + 7 * DAY, fingerprint, epoch))?;
/// }
/// let learned = LearnedPriors::of(&store.snapshot())?;
/// assert_eq!(learned.pages(), 30);
/// let due = Due::new(start + 30 * DAY, 10).learned(&learned); // reused for an hour
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LearnedPriors(Arc<PriorTable>);

struct PriorTable {
    seed: u64,
    /// The greatest hash of the sampled pages.
    last: u64,
    /// The number of sampled pages with comparisons.
    pages: usize,
    /// For each host slot, the prior of the pages that are not in `among_few`.
    slots: Vec<PriorClass>,
    /// The index in `among_few` at which the entries of each slot begin. The last element is the
    /// end.
    starts: Vec<u32>,
    /// Entries of pages in slots with few pages, sorted by slot and code. An entry is a code and
    /// the prior from the other pages.
    among_few: Vec<(ComparisonCode, PriorClass)>,
}

/// A slot and the code of a page's comparisons. Sorts by slot, then by code.
type SlotCode = u64;

fn slot_code(slot: u16, code: ComparisonCode) -> SlotCode {
    u64::from(slot) << 32 | u64::from(code.bits())
}

fn code_of(page: SlotCode) -> Result<ComparisonCode, Bug> {
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is the code")]
    ComparisonCode::from_bits(page as u32).or_bug("each code comes from a row")
}

impl fmt::Debug for LearnedPriors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learned").field("pages", &self.0.pages).finish_non_exhaustive()
    }
}

/// Compares whether both have the same prior for every page.
impl PartialEq for LearnedPriors {
    fn eq(&self, other: &LearnedPriors) -> bool {
        let of = |learned: &LearnedPriors| {
            let PriorTable { seed, last, pages, .. } = *learned.0;
            (seed, last, pages)
        };
        of(self) == of(other)
            && self.0.slots == other.0.slots
            && self.0.starts == other.0.starts
            && self.0.among_few == other.0.among_few
    }
}

impl LearnedPriors {
    /// Estimates a change-rate prior for each host from all pages. The result is a function of the
    /// pages, not of the order of visits or of the storage layout.
    ///
    /// Two hosts share a prior if 16 bits of their hashes agree, which is the case for 1 in 65,536
    /// pairs. Hashes differ between stores, even for the same pages.
    ///
    /// Reads 28 bytes for each page, or for a sample of a million pages in larger stores. Takes
    /// some 50 ms and 30 MB for a million pages. The next call on this snapshot or a clone returns
    /// the same result at once.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// use simkeep::due::LearnedPriors;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let learned = LearnedPriors::of(&store.snapshot())?;
    /// assert_eq!(learned.pages(), 0); // no page was visited twice, so nothing is learned
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the function reads damaged data.
    pub fn of(snapshot: &Snapshot) -> Result<LearnedPriors> {
        snapshot.poison_on_bug(|| {
            snapshot.view.check()?;
            LearnedPriors::kept(snapshot)
        })
    }

    /// Returns the priors of a snapshot, which are computed once for the snapshot and its clones.
    pub(super) fn kept(snapshot: &Snapshot) -> Result<LearnedPriors> {
        let kept: &dyn Any =
            &**snapshot.cached_or_init(|| Ok(Box::new(LearnedPriors::new(snapshot)?)))?;
        let learned = kept.downcast_ref::<LearnedPriors>();
        Ok(learned.or_bug("only learned priors are kept with a snapshot")?.clone())
    }

    pub(crate) fn new(snapshot: &Snapshot) -> Result<LearnedPriors> {
        let (last, _) = sample(snapshot)?;
        let sources = sources(snapshot, None)?;
        let compared = compared(&sources, last)?;
        // The pages are sorted by slot and then by code, so the pages of a slot are contiguous.
        let of_slots: Vec<&[SlotCode]> = compared.chunk_by(|a, b| a >> 32 == b >> 32).collect();
        let priors = Priors::default();
        // A slot is some bits of a hash, so the first slots are a random sample of hosts.
        let (some, threads) = (of_slots.iter().take(SLOTS_LEARNED), parallel());
        let own = || EvidenceCache::new(&priors);
        let fits = threads::run_jobs(some, threads, own, |evidences, pages| evidences.fit(pages));
        let hosts = HostPriors::new(&fits.into_iter().collect::<Result<Vec<Fit>, Bug>>()?);
        // Each thread caches the evidence of codes, which serves all slots of the thread.
        let many = of_slots.chunks(TOGETHER);
        let learned = threads::run_jobs(many, threads, own, |evidences, slots: &[&[SlotCode]]| {
            let of_slot = |pages: &&[SlotCode]| SlotPriors::new(pages, &hosts, evidences);
            slots.iter().map(of_slot).collect::<Result<Vec<_>, Bug>>()
        });
        let unknown = hosts.class(&Fit::default());
        let (mut slots, mut among_few) = (vec![unknown; SLOTS], Vec::new());
        let mut starts = Vec::with_capacity(SLOTS + 1);
        for of_slot in learned.into_iter().collect::<Result<Vec<_>, Bug>>()?.into_iter().flatten() {
            let SlotPriors { slot, class, among_few: mut some } = of_slot;
            *slots.get_mut(usize::from(slot)).or_bug("each slot has an entry")? = class;
            // Slots without pages have the same start as the current slot, so their range is empty.
            starts.resize(usize::from(slot) + 1, number_of(&among_few)?);
            among_few.append(&mut some);
        }
        starts.resize(SLOTS + 1, number_of(&among_few)?);
        let (seed, pages) = (snapshot.view.seed, compared.len());
        Ok(LearnedPriors(Arc::new(PriorTable { seed, last, pages, slots, starts, among_few })))
    }

    /// Returns the number of pages with comparisons that the priors were learned from: all such
    /// pages, or the pages of a sample of a million.
    pub fn pages(&self) -> usize {
        self.0.pages
    }

    /// Whether the priors belong to the store with seed `seed`.
    pub(super) fn is_for(&self, seed: u64) -> bool {
        self.0.seed == seed
    }

    /// Returns the prior of a page, in a small slot without the page's own evidence.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is an element for each number of 16 bits")]
    pub(super) fn class(&self, hash: u64, slot: u16, code: ComparisonCode) -> PriorClass {
        let (learned, slot) = (&*self.0, usize::from(slot));
        // Only compared pages of the sample contribute to their own prior.
        if hash <= learned.last && code != ComparisonCode::default() {
            let [from, upto] = [learned.starts[slot], learned.starts[slot + 1]];
            let among_few = &learned.among_few[from as usize..upto as usize];
            // Fewer than 16 entries of 8 bytes: a linear search reads two or three cache lines.
            if let Some((_, class)) = among_few.iter().find(|(of, _)| *of == code) {
                return *class;
            }
        }
        learned.slots[slot]
    }
}

fn number_of(among_few: &[(ComparisonCode, PriorClass)]) -> Result<u32, Bug> {
    u32::try_from(among_few.len()).ok().or_bug("a sample has at most a million pages")
}

/// Returns the greatest hash of the sampled pages, and the number of pages that each sampled page
/// represents.
pub(super) fn sample(snapshot: &Snapshot) -> Result<(u64, f64)> {
    Ok(sample_of(StoreTotals::of(snapshot)?.pages, SAMPLE_LOG2))
}

/// Returns the greatest hash and the factor for a sample of less than twice `2^log2` pages.
pub(super) fn sample_of(pages: u64, log2: u32) -> (u64, f64) {
    // A sample by hash is a function of the pages. With a power of two, the range of hashes is
    // computed by a shift.
    let shift = pages.checked_ilog2().unwrap_or(0).saturating_sub(log2);
    (u64::MAX >> shift, (1_u64 << shift) as f64)
}

fn parallel() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the slots and codes of the compared pages with hashes up to `last`, sorted.
fn compared(sources: &[RowSource], last: u64) -> Result<Vec<SlotCode>> {
    let of_part = |(): &mut (), part: usize| {
        let mut compared = Vec::new();
        let (from, upto) = part_of(last, part, PARTS);
        each_page(sources, from, upto, |found| {
            if found.row.code != ComparisonCode::default() {
                compared.push(slot_code(found.row.host, found.row.code));
            }
            Ok(())
        })?;
        compared.sort_unstable();
        Ok(compared)
    };
    let sorted: Result<Vec<Vec<SlotCode>>> =
        threads::run_jobs(0..PARTS, parallel(), || (), of_part).into_iter().collect();
    let mut all = sorted?.concat();
    // The stable sort finds the sorted runs and only merges them.
    all.sort();
    Ok(all)
}

/// A thread's cache of the evidence of codes.
struct EvidenceCache<'p> {
    priors: &'p Priors,
    of: DirectMappedCache<ComparisonCode, Box<Evidence>>,
}

impl<'p> EvidenceCache<'p> {
    fn new(priors: &'p Priors) -> Self {
        EvidenceCache { priors, of: DirectMappedCache::new(EVIDENCES_LOG2) }
    }

    fn of(&mut self, page: SlotCode) -> Result<&Evidence, Bug> {
        let code = code_of(page)?;
        Ok(self.of.get(code, || Box::new(self.priors.evidence(&code.likelihood()))))
    }

    /// Fits the pages of a slot.
    fn fit(&mut self, pages: &[SlotCode]) -> Result<Fit, Bug> {
        let mut fit = Fit::default();
        // Equal codes have equal evidence, which is added once with a count.
        for alike in pages.chunk_by(|a, b| a == b) {
            let page = alike.first().or_bug("each chunk has a page")?;
            let count =
                u32::try_from(alike.len()).ok().or_bug("a sample has at most a million pages")?;
            fit.add_many(self.of(*page)?, count);
        }
        Ok(fit)
    }
}

/// The priors of a slot.
struct SlotPriors {
    slot: u16,
    class: PriorClass,
    /// For a slot with few pages: the prior of each page, by code.
    among_few: Vec<(ComparisonCode, PriorClass)>,
}

impl SlotPriors {
    fn new(
        pages: &[SlotCode],
        hosts: &HostPriors,
        evidences: &mut EvidenceCache<'_>,
    ) -> Result<SlotPriors, Bug> {
        let fit = evidences.fit(pages)?;
        let first = pages.first().or_bug("each slot belongs to a page")?;
        let few = pages.len() < FEW_PAGES;
        let mut among_few = Vec::new();
        for of_code in pages.chunk_by(|a, b| a == b).take_while(|_| few) {
            let page = of_code.first().or_bug("each chunk has a page")?;
            // The likelihood includes a page's own visits. In a small slot the visits would count
            // again in the prior.
            let others = fit.without(evidences.of(*page)?);
            among_few.push((code_of(*page)?, hosts.class(&others)));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a slot has 16 bits")]
        let slot = (first >> 32) as u16;
        Ok(SlotPriors { slot, class: hosts.class(&fit), among_few })
    }
}
