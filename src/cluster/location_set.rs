//! A set of pages by location: a bit for each page.

use std::collections::BTreeMap;

use crate::bug::{Bug, OrBug, ensure};

/// The location of a page in a snapshot, as returned by a lookup of its URL.
///
/// A location identifies a page for [`Candidates`](super::Candidates) and for
/// [`DroppedPages`](super::DroppedPages), if both are of one snapshot. So a program that reads all
/// documents twice looks up each URL once, and keeps 8 bytes for each URL between the two passes. A
/// location is meaningless in another snapshot.
///
/// ```
/// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Candidacy, Candidates, Clustering, PageLocation};
/// use simkeep::fingerprint::BitSketcher;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// let text = "You may use this site if you behave well."; // of both pages
/// let (asked, progress) = (Clustering::within(3), Progress::default());
/// let candidates = Candidates::of(&store.snapshot(), &asked, &progress)?;
/// let mut kept: Vec<u64> = Vec::new();
/// for url in ["https://example.com/terms", "https://example.com/terms?print=1"] {
///     let candidacy = candidates.candidacy(url)?;
///     let Candidacy::Candidate { location, .. } = candidacy else { panic!("a page is near") };
///     candidates.add(location, BitSketcher::new().of_text(text))?;
///     kept.push(location.to_bits()); // 8 bytes instead of a URL
/// }
/// // The second pass looks up no URL.
/// let clusters = candidates.clusters(0.8, &progress)?;
/// let dropped = clusters.dropped(&Classes::default())?;
/// let is_dropped = kept.iter().map(|bits| dropped.has(PageLocation::from_bits(*bits)));
/// assert!(is_dropped.eq([false, true]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageLocation(pub(super) u64);

impl PageLocation {
    /// Converts the location to 64 bits, for [`from_bits`](PageLocation::from_bits).
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Converts the result of [`to_bits`](PageLocation::to_bits) back. Other bits give a location
    /// without a page, which is no candidate and not dropped.
    pub fn from_bits(bits: u64) -> PageLocation {
        PageLocation(bits)
    }
}

/// The number of bits in a block, which has one count.
const BLOCK_BITS: u32 = 512;
const BLOCK_WORDS: usize = (BLOCK_BITS / u64::BITS) as usize;

/// A set of pages, numbered in order of location.
#[derive(Debug, Default)]
pub(super) struct LocationSet {
    /// The pages of each component, by the number of the component.
    parts: BTreeMap<u32, ComponentBits>,
    len: u32,
    last: Option<u64>,
}

impl LocationSet {
    /// Adds the page at a location after all others.
    pub(super) fn push(&mut self, place: u64) -> Result<(), Bug> {
        // `None` is less than any `Some`, so the first push passes.
        ensure(self.last < Some(place), "locations ascend without duplicates")?;
        let (component, page) = halves(place);
        self.parts.entry(component).or_default().set(page, self.len)?;
        self.len += 1;
        self.last = Some(place);
        Ok(())
    }

    /// The number of pages.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The number of a page, if it is in the set.
    pub(super) fn number(&self, place: u64) -> Option<u32> {
        let (component, page) = halves(place);
        self.parts.get(&component)?.number(page)
    }
}

/// A bit for each page of a component.
#[derive(Debug, Default)]
struct ComponentBits {
    // This is a bit vector with rank: a count of 32 bits for each block of 512 bits adds a
    // sixteenth.
    words: Vec<u64>,
    /// The number of pages before each block.
    before: Vec<u32>,
}

/// The component of a location, and the number of the page in the component.
#[expect(clippy::cast_possible_truncation, reason = "takes the two halves")]
fn halves(place: u64) -> (u32, u32) {
    // `PageLocation::to_bits` puts the component into the upper half, so locations are in order by
    // component and page.
    ((place >> 32) as u32, place as u32)
}

impl ComponentBits {
    /// Sets the bit of a page after all other pages. `before` is the number of pages before it.
    fn set(&mut self, page: u32, before: u32) -> Result<(), Bug> {
        let block = (page / BLOCK_BITS) as usize;
        if self.before.len() <= block {
            // Blocks that are skipped have no pages, so they get the same count as the block of
            // this page.
            self.before.resize(block + 1, before);
            self.words.resize((block + 1) * BLOCK_WORDS, 0);
        }
        let word = self.words.get_mut((page / u64::BITS) as usize);
        *word.or_bug("a block has all its words")? |= 1 << (page % u64::BITS);
        Ok(())
    }

    /// The number of pages before a page, if the page is in the set.
    fn number(&self, page: u32) -> Option<u32> {
        let (at, bit) = ((page / u64::BITS) as usize, 1_u64 << (page % u64::BITS));
        let word = self.words.get(at)?;
        if word & bit == 0 {
            return None;
        }
        let block = at / BLOCK_WORDS;
        // Counts the words of the block before this word, then the bits below this bit: at most
        // eight popcounts.
        let within = self.words.get(block * BLOCK_WORDS..at)?.iter().map(|word| word.count_ones());
        Some(self.before.get(block)? + within.sum::<u32>() + (word & (bit - 1)).count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_match_a_plain_count() {
        for step in [1, 2, 7, 63, 64, 65, 500, 513, 5000] {
            let mut part = ComponentBits::default();
            let pages: Vec<u32> = (0..40).map(|n| n * step + n % 3).collect();
            let pages: std::collections::BTreeSet<u32> = pages.into_iter().collect();
            for (number, page) in (5..).zip(&pages) {
                part.set(*page, number).unwrap();
            }
            for page in 0..40 * step + 600 {
                let before = u32::try_from(pages.range(..page).count()).unwrap();
                let expected = pages.contains(&page).then_some(before + 5);
                assert_eq!(part.number(page), expected, "{page} of {step}");
            }
        }
    }
}
