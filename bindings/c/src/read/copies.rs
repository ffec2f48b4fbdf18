//! The pages with exactly a given content, column by column.

use simkeep::{Content, Epoch};

use crate::argument::{self, flag};
use crate::call::{free, getters, make};
use crate::columns::columns;
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::texts::Texts;

columns! {
    /// The pages whose current version has exactly a content, in the order in which they were first
    /// seen with the content.
    ///
    /// All columns are valid as long as the copies, and never change, so any thread may read them.
    /// The functions that return columns cost nothing, and return NULL for NULL.
    pub struct CopyColumns, copies from all: &[simkeep::query::Copies];

    for copy in all.iter().flat_map(|copies| &copies.pages) => {
        /// The URL of each page.
        fn simkeep_copies_urls -> urls: Texts = &copy.url;
        /// The time when each page was first seen with the content, in milliseconds since 1970.
        fn simkeep_copies_firsts -> firsts: i64 = copy.first.as_ms();
    }

    for copies in all.iter() => {
        /// One number: 1 if there are no other pages. If it is 0, there are more pages than the
        /// limit, or a dense region of fingerprints cut the search short.
        fn simkeep_copies_complete -> complete: u8 = u8::from(copies.complete);
    }
}

getters! {
    copies: CopyColumns;

    /// Returns the number of pages; 0 for NULL.
    fn simkeep_copies_count -> usize = copies.firsts.len();
}

/// Frees copies, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_copies_free(copies: Option<Box<CopyColumns>>) {
    free("simkeep_copies_free", copies);
}

/// Finds the pages whose current version has exactly the content with this digest of 16 bytes: at
/// most `limit` pages.
///
/// Content without a fingerprint is found by its digest alone: pass `has_fingerprint` 0. Other
/// content is found through its fingerprint: pass `has_fingerprint` 1, the fingerprint and its
/// epoch. Redirects are not found. Free the result with `simkeep_copies_free`. Any thread. Costs
/// about a microsecond, and less than a microsecond more for each page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_by_digest(
    snapshot: *const SnapshotHandle,
    digest: *const u8,
    has_fingerprint: u32,
    fingerprint: u64,
    epoch: u32,
    limit: usize,
    error: *mut *mut Failure,
) -> Option<Box<CopyColumns>> {
    make("simkeep_snapshot_by_digest", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        let digest = argument::digest(digest)?.ok_or_else(|| Failure::null("digest"))?;
        let has_fingerprint = flag(has_fingerprint, "has_fingerprint")?;
        let content = Content {
            fingerprint: has_fingerprint.then_some(fingerprint),
            digest: Some(digest),
            epoch: Epoch::from_number(epoch),
        };
        Ok(CopyColumns::new(&[snapshot.by_digest(&content, limit)?]))
    })
}
