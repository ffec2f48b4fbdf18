//! The answers to observations, column by column.

use simkeep::{OriginalBy, Outcome};

use crate::abi;
use crate::call::{free, quiet};
use crate::distances;
use crate::failure::Result;
use crate::texts::{TextColumn, Texts};
use crate::verdict::{self, BandCode, SameCode, VerdictCode};

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

/// How the content of two pages is known to be nearly the same.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum OriginalCode {
    /// There is no page that comes before this one.
    Nothing = 0,
    /// They have one digest.
    Digest = 1,
    /// They have one fingerprint, and not one digest that is known.
    Fingerprint = 2,
    /// Their fingerprints are near each other.
    Near = 3,
    /// Something that this version of the header does not name.
    Other = 4,
}

/// How content is known to be nearly the same, if it is.
pub(crate) fn original_by(by: Option<OriginalBy>) -> OriginalCode {
    match by {
        None => OriginalCode::Nothing,
        Some(OriginalBy::Digest) => OriginalCode::Digest,
        Some(OriginalBy::Fingerprint) => OriginalCode::Fingerprint,
        Some(OriginalBy::Near) => OriginalCode::Near,
        Some(_) => OriginalCode::Other,
    }
}

impl Outcomes {
    pub(crate) fn new(outcomes: &[Outcome]) -> Outcomes {
        let verdicts = || outcomes.iter().map(|outcome| &outcome.verdict);
        let originals = || outcomes.iter().map(|outcome| outcome.original.as_ref());
        Outcomes {
            verdicts: verdicts().map(verdict::code).collect(),
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
            original_by: originals().map(|page| original_by(page.map(|page| page.by))).collect(),
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

/// A column of outcomes, if there are any.
fn column<T>(
    name: &'static str,
    outcomes: *const Outcomes,
    column: impl FnOnce(&Outcomes) -> *const T,
) -> *const T {
    quiet(name, std::ptr::null(), || -> Result<_> {
        Ok(column(abi::handle(outcomes, "outcomes")?))
    })
}

/// How many observations were answered; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_count(outcomes: *const Outcomes) -> usize {
    quiet("simkeep_outcomes_count", 0, || Ok(abi::handle(outcomes, "outcomes")?.verdicts.len()))
}

/// What each page is now.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_verdicts(outcomes: *const Outcomes) -> *const VerdictCode {
    column("simkeep_outcomes_verdicts", outcomes, |outcomes| outcomes.verdicts.as_ptr())
}

/// How each page is known to be the same.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_same_by(outcomes: *const Outcomes) -> *const SameCode {
    column("simkeep_outcomes_same_by", outcomes, |outcomes| outcomes.sames.as_ptr())
}

/// In how many bits each page differs from its version before; `SIMKEEP_NO_DISTANCE` where that is not
/// known, and where it neither changed nor reverted.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_distances(outcomes: *const Outcomes) -> *const u8 {
    column("simkeep_outcomes_distances", outcomes, |outcomes| outcomes.distances.as_ptr())
}

/// What these distances mean.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_bands(outcomes: *const Outcomes) -> *const BandCode {
    column("simkeep_outcomes_bands", outcomes, |outcomes| outcomes.bands.as_ptr())
}

/// When the version was last seen that each page has reverted to, in milliseconds since 1970; 0 where
/// the verdict is another.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_to(outcomes: *const Outcomes) -> *const i64 {
    column("simkeep_outcomes_to", outcomes, |outcomes| outcomes.tos.as_ptr())
}

/// Whether each visit saw content that is far from all of the page's last versions, 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_novel(outcomes: *const Outcomes) -> *const u8 {
    column("simkeep_outcomes_novel", outcomes, |outcomes| outcomes.novel.as_ptr())
}

/// How much what each visit saw is worth being processed further: from 0 to the page's weight.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_priorities(outcomes: *const Outcomes) -> *const f64 {
    column("simkeep_outcomes_priorities", outcomes, |outcomes| outcomes.priorities.as_ptr())
}

/// Whether the fingerprint in another epoch was stored, 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_also(outcomes: *const Outcomes) -> *const u8 {
    column("simkeep_outcomes_also", outcomes, |outcomes| outcomes.also.as_ptr())
}

/// Whether copies and near pages are all that there are, 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_complete(outcomes: *const Outcomes) -> *const u8 {
    column("simkeep_outcomes_complete", outcomes, |outcomes| outcomes.complete.as_ptr())
}

/// Of the copies and near pages of each the one that ranks before it and before all others; empty if it
/// comes first itself.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_originals(outcomes: *const Outcomes) -> *const Texts {
    column("simkeep_outcomes_originals", outcomes, |outcomes| outcomes.originals.view())
}

/// In how many bits that differs; `SIMKEEP_NO_DISTANCE` if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_original_distances(outcomes: *const Outcomes) -> *const u8 {
    let name = "simkeep_outcomes_original_distances";
    column(name, outcomes, |outcomes| outcomes.original_distances.as_ptr())
}

/// How that is known to be nearly the same.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_original_by(outcomes: *const Outcomes) -> *const OriginalCode {
    column("simkeep_outcomes_original_by", outcomes, |outcomes| outcomes.original_by.as_ptr())
}

/// Where the copies of each begin: one more than there are observations.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_copy_offsets(outcomes: *const Outcomes) -> *const u64 {
    column("simkeep_outcomes_copy_offsets", outcomes, |outcomes| outcomes.copies.offsets.as_ptr())
}

/// Other pages whose version in force has the same digest, ordered by when they were first seen with it.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_copy_urls(outcomes: *const Outcomes) -> *const Texts {
    column("simkeep_outcomes_copy_urls", outcomes, |outcomes| outcomes.copies.urls.view())
}

/// When these were first seen with it, in milliseconds since 1970.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_copy_firsts(outcomes: *const Outcomes) -> *const i64 {
    column("simkeep_outcomes_copy_firsts", outcomes, |outcomes| outcomes.copies.firsts.as_ptr())
}

/// Where the near pages of each begin: one more than there are observations.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_near_offsets(outcomes: *const Outcomes) -> *const u64 {
    column("simkeep_outcomes_near_offsets", outcomes, |outcomes| outcomes.near.offsets.as_ptr())
}

/// Near-duplicates: other pages whose version in force is near, without the copies; nearest first.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_near_urls(outcomes: *const Outcomes) -> *const Texts {
    column("simkeep_outcomes_near_urls", outcomes, |outcomes| outcomes.near.urls.view())
}

/// In how many bits these differ.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_near_distances(outcomes: *const Outcomes) -> *const u8 {
    let name = "simkeep_outcomes_near_distances";
    column(name, outcomes, |outcomes| outcomes.near.distances.as_ptr())
}

/// The fingerprints of these.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_near_fingerprints(outcomes: *const Outcomes) -> *const u64 {
    let name = "simkeep_outcomes_near_fingerprints";
    column(name, outcomes, |outcomes| outcomes.near.fingerprints.as_ptr())
}

/// When these were first seen with what they have in force, in milliseconds since 1970.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_near_firsts(outcomes: *const Outcomes) -> *const i64 {
    column("simkeep_outcomes_near_firsts", outcomes, |outcomes| outcomes.near.firsts.as_ptr())
}

/// Frees outcomes, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_free(outcomes: Option<Box<Outcomes>>) {
    free("simkeep_outcomes_free", outcomes);
}
