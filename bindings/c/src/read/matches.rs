//! The answers of searches, column by column.

use crate::call::{free, getters};
use crate::distances;
use crate::texts::{TextColumn, Texts};
use crate::write::outcomes::offsets;

/// What searches have found, in their order. The pages of search `i` are the rows from `offsets[i]` to
/// `offsets[i + 1]`, nearest first, then in SURT order.
///
/// All columns live as long as this, and nothing changes them: any thread may read them. Getting one
/// costs nothing, and gives NULL for NULL.
#[derive(Debug)]
pub struct MatchColumns {
    pub(crate) offsets: Vec<u64>,
    pub(crate) urls: TextColumn,
    pub(crate) distances: Vec<u8>,
    pub(crate) fingerprints: Vec<u64>,
    pub(crate) complete: Vec<u8>,
    pub(crate) within: Vec<u8>,
}

impl MatchColumns {
    pub(crate) fn new(matches: &[simkeep::Matches]) -> MatchColumns {
        let all = || matches.iter().flat_map(|matches| &matches.near);
        MatchColumns {
            offsets: offsets(matches.iter().map(|matches| matches.near.len())),
            urls: all().map(|near| &near.url).collect(),
            distances: all().map(|near| distances::of(Some(near.distance))).collect(),
            fingerprints: all().map(|near| near.fingerprint).collect(),
            complete: matches.iter().map(|matches| u8::from(matches.complete)).collect(),
            within: matches.iter().map(|matches| distances::of(matches.within)).collect(),
        }
    }
}

getters! {
    matches: MatchColumns;

    /// How many searches were answered; 0 for NULL.
    fn simkeep_matches_count -> usize = matches.complete.len();
    /// Where the pages of each search begin: one more than there are searches.
    fn simkeep_matches_offsets -> *const u64 = matches.offsets.as_ptr();
    /// The pages.
    fn simkeep_matches_urls -> *const Texts = matches.urls.view();
    /// In how many bits each page differs.
    fn simkeep_matches_distances -> *const u8 = matches.distances.as_ptr();
    /// The fingerprint of each page.
    fn simkeep_matches_fingerprints -> *const u64 = matches.fingerprints.as_ptr();
    /// Of each search whether these are all pages, 1 or 0. If not, the budget, the limit or a crowd of
    /// fingerprints cut it short.
    fn simkeep_matches_complete -> *const u8 = matches.complete.as_ptr();
    /// Of each search the distance up to which no page is missing; `SIMKEEP_NO_DISTANCE` if pages with
    /// the very fingerprint may be missing, too.
    fn simkeep_matches_within -> *const u8 = matches.within.as_ptr();
}

/// Frees matches, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_free(matches: Option<Box<MatchColumns>>) {
    free("simkeep_matches_free", matches);
}
