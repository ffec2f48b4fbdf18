//! The outcomes of observations, column by column.

use simkeep::{OriginalBy, Outcome};

use crate::call::{free, getters};
use crate::columns::{columns, offsets};
use crate::distances;
use crate::structure::code;
use crate::texts::Texts;
use crate::write::verdict::{self, BandCode, SameByCode, VerdictCode};

code! {
    /// The reason why the contents of two pages are known to be nearly the same.
    pub enum OriginalByCode from Option<OriginalBy> {
        /// No other page ranks before this page.
        Nothing = 0 of None,
        Digest = 1 of Some(OriginalBy::Digest),
        Fingerprint = 2 of Some(OriginalBy::Fingerprint),
        Near = 3 of Some(OriginalBy::Near),
        /// A value that this version of the header does not name.
        Other = 4 of Some(_),
    }
}

columns! {
    /// The outcomes of observations, in order. Row `i` of each column is for observation `i`; the
    /// copies and near pages of observation `i` are the rows from `offsets[i]` to `offsets[i + 1]`.
    ///
    /// All columns are valid as long as the outcomes, and never change, so any thread may read
    /// them. The functions that return columns cost nothing, and return NULL for NULL.
    pub struct Outcomes, outcomes from all: &[Outcome];

    for outcome in all.iter() => {
        /// The verdict for each page.
        fn simkeep_outcomes_verdicts -> verdicts: VerdictCode =
            VerdictCode::of(Some(&outcome.verdict));
        /// The reason why each page is known to be the same.
        fn simkeep_outcomes_same_by -> sames: SameByCode = verdict::same(&outcome.verdict);
        /// The distance of each page from its previous version, in bits; `SIMKEEP_NO_DISTANCE` if
        /// the distance is unknown, or if the page neither changed nor reverted.
        fn simkeep_outcomes_distances -> distances: u8 =
            distances::of(outcome.verdict.distance().map(|distance| distance.bits));
        /// The meaning of each page's distance from its previous version.
        fn simkeep_outcomes_bands -> bands: BandCode = verdict::band(outcome.meaning.as_ref());
        /// The time when the version that each page reverted to was last seen, in milliseconds
        /// since 1970; 0 for other verdicts.
        fn simkeep_outcomes_to -> tos: i64 = verdict::to(&outcome.verdict);
        /// Whether each visit saw content that is far from all of the page's last versions, 1 or 0.
        fn simkeep_outcomes_novel -> novel: u8 = u8::from(outcome.novel);
        /// The priority of the content of each visit for further processing: from 0 to the page's
        /// weight.
        fn simkeep_outcomes_priorities -> priorities: f64 = outcome.priority;
        /// Whether each visit's fingerprint in another epoch was stored, 1 or 0.
        fn simkeep_outcomes_also -> also: u8 = u8::from(outcome.also);
        /// Whether each visit's copies and near pages are complete, 1 or 0.
        fn simkeep_outcomes_complete -> complete: u8 = u8::from(outcome.complete);
    }

    for original in all.iter().map(|outcome| outcome.original.as_ref()) => {
        /// The original of each page: the first-ranked of its copies and near pages; empty if the
        /// page itself ranks first.
        fn simkeep_outcomes_originals -> originals: Texts = original.map_or("", |page| &page.url);
        /// The distance of each page from its original, in bits; `SIMKEEP_NO_DISTANCE` without an
        /// original.
        fn simkeep_outcomes_original_distances -> original_distances: u8 =
            distances::of(original.map(|page| page.distance));
        /// The reason why each page is known to be nearly equal to its original.
        fn simkeep_outcomes_original_by -> original_by: OriginalByCode =
            OriginalByCode::of(original.map(|page| page.by));
    }

    for capture in all.iter().map(|outcome| outcome.refers_to.as_ref()) => {
        /// The URL of the first capture of exactly the content of each visit, on any page, for
        /// revisit records of archives; empty for a first capture, and unless the option
        /// `refers_to` is 1.
        fn simkeep_outcomes_refers_to_urls -> refers_to_urls: Texts =
            capture.map_or("", |capture| &capture.url);
        /// The time of the first capture of each content, in milliseconds since 1970; 0 if
        /// `simkeep_outcomes_refers_to_urls` is empty.
        fn simkeep_outcomes_refers_to_times -> refers_to_times: i64 =
            capture.map_or(0, |capture| capture.time.as_ms());
    }

    for offset in offsets(all.iter().map(|outcome| outcome.copies.len())) => {
        /// The index of the first copy of each observation. There is one offset more than
        /// observations.
        fn simkeep_outcomes_copy_offsets -> copy_offsets: u64 = offset;
    }

    for copy in all.iter().flat_map(|outcome| &outcome.copies) => {
        /// Other pages whose current version has the same digest, ordered by the time when each
        /// page was first seen with this digest.
        fn simkeep_outcomes_copy_urls -> copy_urls: Texts = &copy.url;
        /// The time when each copy was first seen with this digest, in milliseconds since 1970.
        fn simkeep_outcomes_copy_firsts -> copy_firsts: i64 = copy.first.as_ms();
    }

    for offset in offsets(all.iter().map(|outcome| outcome.near.len())) => {
        /// The index of the first near page of each observation. There is one offset more than
        /// observations.
        fn simkeep_outcomes_near_offsets -> near_offsets: u64 = offset;
    }

    for near in all.iter().flat_map(|outcome| &outcome.near) => {
        /// Near-duplicates: other pages whose current version is near, without the copies; nearest
        /// first.
        fn simkeep_outcomes_near_urls -> near_urls: Texts = &near.url;
        /// The distance of each near page in bits.
        fn simkeep_outcomes_near_distances -> near_distances: u8 =
            distances::of(Some(near.distance));
        /// The fingerprint of each near page.
        fn simkeep_outcomes_near_fingerprints -> near_fingerprints: u64 = near.fingerprint;
        /// The time when each near page was first seen with its current content, in milliseconds
        /// since 1970.
        fn simkeep_outcomes_near_firsts -> near_firsts: i64 = near.first.as_ms();
    }
}

getters! {
    outcomes: Outcomes;

    /// Returns the number of observations; 0 for NULL.
    fn simkeep_outcomes_count -> usize = outcomes.verdicts.len();
}

/// Frees outcomes, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_free(outcomes: Option<Box<Outcomes>>) {
    free("simkeep_outcomes_free", outcomes);
}
