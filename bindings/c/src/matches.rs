//! The answers of searches, column by column.

use crate::abi;
use crate::call::{free, quiet};
use crate::distances;
use crate::outcomes::offsets;
use crate::texts::{TextColumn, Texts};

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

/// A column of matches, if there are any.
fn column<T>(
    name: &'static str,
    matches: *const MatchColumns,
    column: impl FnOnce(&MatchColumns) -> *const T,
) -> *const T {
    quiet(name, std::ptr::null(), || Ok(column(abi::handle(matches, "matches")?)))
}

/// How many searches were answered; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_count(matches: *const MatchColumns) -> usize {
    quiet("simkeep_matches_count", 0, || Ok(abi::handle(matches, "matches")?.complete.len()))
}

/// Where the pages of each search begin: one more than there are searches.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_offsets(matches: *const MatchColumns) -> *const u64 {
    column("simkeep_matches_offsets", matches, |matches| matches.offsets.as_ptr())
}

/// The pages.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_urls(matches: *const MatchColumns) -> *const Texts {
    column("simkeep_matches_urls", matches, |matches| matches.urls.view())
}

/// In how many bits each page differs.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_distances(matches: *const MatchColumns) -> *const u8 {
    column("simkeep_matches_distances", matches, |matches| matches.distances.as_ptr())
}

/// The fingerprint of each page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_fingerprints(matches: *const MatchColumns) -> *const u64 {
    column("simkeep_matches_fingerprints", matches, |matches| matches.fingerprints.as_ptr())
}

/// Of each search whether these are all pages, 1 or 0. If not, the budget, the limit or a crowd of
/// fingerprints cut it short.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_complete(matches: *const MatchColumns) -> *const u8 {
    column("simkeep_matches_complete", matches, |matches| matches.complete.as_ptr())
}

/// Of each search the distance up to which no page is missing; `SIMKEEP_NO_DISTANCE` if pages with the
/// very fingerprint may be missing, too.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_within(matches: *const MatchColumns) -> *const u8 {
    column("simkeep_matches_within", matches, |matches| matches.within.as_ptr())
}

/// Frees matches, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_free(matches: Option<Box<MatchColumns>>) {
    free("simkeep_matches_free", matches);
}
