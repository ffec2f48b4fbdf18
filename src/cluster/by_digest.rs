//! Clusters of content without a fingerprint: the pages with one digest.

use super::items::{ClusterMember, DigestedPage};
use crate::bug::OrBug;
use crate::error::Result;
use crate::sort::{SortedItems, Sorter};

/// Adds a cluster for each digest to the members of all clusters. The first page by rank leads. The
/// leaders get the numbers from `leaders`; returns the number after the last. `pass` is called for
/// each page, and ends the call with an error.
pub(super) fn add_members(
    mut pages: SortedItems<DigestedPage>,
    mut leaders: u32,
    members: &mut Sorter<ClusterMember>,
    pass: impl Fn() -> Result<()>,
) -> Result<u32> {
    let mut last = None;
    while let Some(DigestedPage { digest, page, place, class, .. }) = pages.next()? {
        pass()?;
        let follows = last == Some(digest);
        if !follows {
            last = Some(digest);
            leaders = leaders.checked_add(1).or_bug("there are fewer than 2^32 pages")?;
        }
        let (leader, apart, fingerprint) = (leaders - 1, 0, None);
        members.push(ClusterMember { leader, follows, apart, page, place, fingerprint, class })?;
    }
    Ok(leaders)
}
