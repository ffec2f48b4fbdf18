//! The results of searches, column by column.

use crate::call::{free, getters};
use crate::columns::{columns, offsets};
use crate::distances;
use crate::texts::Texts;

columns! {
    /// The results of searches, in order. The pages of search `i` are the rows from `offsets[i]` to
    /// `offsets[i + 1]`, nearest first, then in SURT order.
    ///
    /// All columns are valid as long as the matches, and never change, so any thread may read them.
    /// The functions that return columns cost nothing, and return NULL for NULL.
    pub struct MatchColumns, matches from all: &[simkeep::Matches];

    for offset in offsets(all.iter().map(|matches| matches.near.len())) => {
        /// The index of the first page of each search. There is one offset more than searches.
        fn simkeep_matches_offsets -> offsets: u64 = offset;
    }

    for near in all.iter().flat_map(|matches| &matches.near) => {
        /// The URL of each page.
        fn simkeep_matches_urls -> urls: Texts = &near.url;
        /// The distance of each page in bits.
        fn simkeep_matches_distances -> distances: u8 = distances::of(Some(near.distance));
        /// The fingerprint of each page.
        fn simkeep_matches_fingerprints -> fingerprints: u64 = near.fingerprint;
    }

    for matches in all.iter() => {
        /// Whether each search found all pages, 1 or 0. If not, the budget, the limit or a dense
        /// region of fingerprints cut the search short.
        fn simkeep_matches_complete -> complete: u8 = u8::from(matches.complete);
        /// For each search, the distance up to which no page is missing; `SIMKEEP_NO_DISTANCE` if
        /// even pages with the same fingerprint may be missing.
        fn simkeep_matches_within -> within: u8 = distances::of(matches.within);
    }
}

getters! {
    matches: MatchColumns;

    /// Returns the number of searches; 0 for NULL.
    fn simkeep_matches_count -> usize = matches.complete.len();
}

/// Frees matches, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_free(matches: Option<Box<MatchColumns>>) {
    free("simkeep_matches_free", matches);
}
