//! The answers to observations, column by column.

use simkeep::{OriginalBy, Outcome};

use crate::call::{free, getters};
use crate::distances;
use crate::structure::code;
use crate::texts::{TextColumn, Texts};
use crate::write::verdict::{self, BandCode, SameCode, VerdictCode};

/// What observations were answered, in their order. Row `i` of each column is of observation `i`; of
/// copies and near pages, those of observation `i` are the rows from `offsets[i]` to `offsets[i + 1]`.
///
/// All columns live as long as this, and nothing changes them: any thread may read them. Getting one
/// costs nothing, and gives NULL for NULL.
#[derive(Debug)]
pub struct Outcomes {
    pub(crate) verdicts: Vec<VerdictCode>,
    pub(crate) sames: Vec<SameCode>,
    pub(crate) distances: Vec<u8>,
    pub(crate) bands: Vec<BandCode>,
    pub(crate) tos: Vec<i64>,
    pub(crate) novel: Vec<u8>,
    pub(crate) priorities: Vec<f64>,
    pub(crate) also: Vec<u8>,
    pub(crate) complete: Vec<u8>,
    pub(crate) originals: TextColumn,
    pub(crate) original_distances: Vec<u8>,
    pub(crate) original_by: Vec<OriginalCode>,
    pub(crate) copies: Copies,
    pub(crate) near: Near,
}

#[derive(Debug)]
pub(crate) struct Copies {
    pub(crate) offsets: Vec<u64>,
    pub(crate) urls: TextColumn,
    pub(crate) firsts: Vec<i64>,
}

#[derive(Debug)]
pub(crate) struct Near {
    pub(crate) offsets: Vec<u64>,
    pub(crate) urls: TextColumn,
    pub(crate) distances: Vec<u8>,
    pub(crate) fingerprints: Vec<u64>,
    pub(crate) firsts: Vec<i64>,
}

code! {
    /// How the content of two pages is known to be nearly the same.
    pub enum OriginalCode from Option<OriginalBy> {
        /// There is no page that comes before this one.
        Nothing = 0 of None,
        Digest = 1 of Some(OriginalBy::Digest),
        Fingerprint = 2 of Some(OriginalBy::Fingerprint),
        Near = 3 of Some(OriginalBy::Near),
        /// Something that this version of the header does not name.
        Other = 4 of Some(_),
    }
}

impl Outcomes {
    pub(crate) fn new(outcomes: &[Outcome]) -> Outcomes {
        let verdicts = || outcomes.iter().map(|outcome| &outcome.verdict);
        let originals = || outcomes.iter().map(|outcome| outcome.original.as_ref());
        Outcomes {
            verdicts: verdicts().map(|verdict| VerdictCode::of(Some(verdict))).collect(),
            sames: verdicts().map(verdict::same).collect(),
            distances: verdicts()
                .map(|verdict| distances::of(verdict.distance().map(|distance| distance.bits)))
                .collect(),
            bands: outcomes.iter().map(|outcome| verdict::band(outcome.meaning.as_ref())).collect(),
            tos: verdicts().map(verdict::to).collect(),
            novel: outcomes.iter().map(|outcome| u8::from(outcome.novel)).collect(),
            priorities: outcomes.iter().map(|outcome| outcome.priority).collect(),
            also: outcomes.iter().map(|outcome| u8::from(outcome.also)).collect(),
            complete: outcomes.iter().map(|outcome| u8::from(outcome.complete)).collect(),
            originals: originals().map(|page| page.map_or("", |page| &page.url)).collect(),
            original_distances: originals()
                .map(|page| distances::of(page.map(|page| page.distance)))
                .collect(),
            original_by: originals()
                .map(|page| OriginalCode::of(page.map(|page| page.by)))
                .collect(),
            copies: Copies::new(outcomes),
            near: Near::new(outcomes),
        }
    }
}

impl Copies {
    fn new(outcomes: &[Outcome]) -> Copies {
        let all = || outcomes.iter().flat_map(|outcome| &outcome.copies);
        Copies {
            offsets: offsets(outcomes.iter().map(|outcome| outcome.copies.len())),
            urls: all().map(|copy| &copy.url).collect(),
            firsts: all().map(|copy| copy.first.as_ms()).collect(),
        }
    }
}

impl Near {
    fn new(outcomes: &[Outcome]) -> Near {
        let all = || outcomes.iter().flat_map(|outcome| &outcome.near);
        Near {
            offsets: offsets(outcomes.iter().map(|outcome| outcome.near.len())),
            urls: all().map(|near| &near.url).collect(),
            distances: all().map(|near| distances::of(Some(near.distance))).collect(),
            fingerprints: all().map(|near| near.fingerprint).collect(),
            firsts: all().map(|near| near.first.as_ms()).collect(),
        }
    }
}

/// Where each of several lists begins that stand in a row, and where the last one ends.
pub(crate) fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut sum = 0;
    let ends = lengths.map(|len| {
        sum += len as u64;
        sum
    });
    std::iter::once(0).chain(ends).collect()
}

getters! {
    outcomes: Outcomes;

    /// How many observations were answered; 0 for NULL.
    fn simkeep_outcomes_count -> usize = outcomes.verdicts.len();
    /// What each page is now.
    fn simkeep_outcomes_verdicts -> *const VerdictCode = outcomes.verdicts.as_ptr();
    /// How each page is known to be the same.
    fn simkeep_outcomes_same_by -> *const SameCode = outcomes.sames.as_ptr();
    /// In how many bits each page differs from its version before; `SIMKEEP_NO_DISTANCE` where that is
    /// not known, and where it neither changed nor reverted.
    fn simkeep_outcomes_distances -> *const u8 = outcomes.distances.as_ptr();
    /// What these distances mean.
    fn simkeep_outcomes_bands -> *const BandCode = outcomes.bands.as_ptr();
    /// When the version was last seen that each page has reverted to, in milliseconds since 1970; 0
    /// where the verdict is another.
    fn simkeep_outcomes_to -> *const i64 = outcomes.tos.as_ptr();
    /// Whether each visit saw content that is far from all of the page's last versions, 1 or 0.
    fn simkeep_outcomes_novel -> *const u8 = outcomes.novel.as_ptr();
    /// How much what each visit saw is worth being processed further: from 0 to the page's weight.
    fn simkeep_outcomes_priorities -> *const f64 = outcomes.priorities.as_ptr();
    /// Whether the fingerprint in another epoch was stored, 1 or 0.
    fn simkeep_outcomes_also -> *const u8 = outcomes.also.as_ptr();
    /// Whether copies and near pages are all that there are, 1 or 0.
    fn simkeep_outcomes_complete -> *const u8 = outcomes.complete.as_ptr();
    /// Of the copies and near pages of each the one that ranks before it and before all others; empty
    /// if it comes first itself.
    fn simkeep_outcomes_originals -> *const Texts = outcomes.originals.view();
    /// In how many bits that differs; `SIMKEEP_NO_DISTANCE` if there is none.
    fn simkeep_outcomes_original_distances -> *const u8 = outcomes.original_distances.as_ptr();
    /// How that is known to be nearly the same.
    fn simkeep_outcomes_original_by -> *const OriginalCode = outcomes.original_by.as_ptr();
    /// Where the copies of each begin: one more than there are observations.
    fn simkeep_outcomes_copy_offsets -> *const u64 = outcomes.copies.offsets.as_ptr();
    /// Other pages whose version in force has the same digest, ordered by when they were first seen
    /// with it.
    fn simkeep_outcomes_copy_urls -> *const Texts = outcomes.copies.urls.view();
    /// When these were first seen with it, in milliseconds since 1970.
    fn simkeep_outcomes_copy_firsts -> *const i64 = outcomes.copies.firsts.as_ptr();
    /// Where the near pages of each begin: one more than there are observations.
    fn simkeep_outcomes_near_offsets -> *const u64 = outcomes.near.offsets.as_ptr();
    /// Near-duplicates: other pages whose version in force is near, without the copies; nearest first.
    fn simkeep_outcomes_near_urls -> *const Texts = outcomes.near.urls.view();
    /// In how many bits these differ.
    fn simkeep_outcomes_near_distances -> *const u8 = outcomes.near.distances.as_ptr();
    /// The fingerprints of these.
    fn simkeep_outcomes_near_fingerprints -> *const u64 = outcomes.near.fingerprints.as_ptr();
    /// When these were first seen with what they have in force, in milliseconds since 1970.
    fn simkeep_outcomes_near_firsts -> *const i64 = outcomes.near.firsts.as_ptr();
}

/// Frees outcomes, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_free(outcomes: Option<Box<Outcomes>>) {
    free("simkeep_outcomes_free", outcomes);
}
