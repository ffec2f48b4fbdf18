//! Finds pages near the current content of a page, for a program that asks about one page after
//! another.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{Query, Snapshot};

use super::{NearPage, NearQuery, near_content, near_pages};
use crate::exit::VerbError;
use crate::output::json::{EpochName, Fingerprint};
use crate::output::visit;

/// The maximum number of pages to list.
const LIMIT: usize = 16;

/// The pages near a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PageNearResult<'a> {
    /// The fingerprint of the page; null if the page is unknown, or its content has no fingerprint.
    fingerprint: Option<Fingerprint>,
    epoch: Option<EpochName<'a>>,
    /// The maximum distance in bits; null without a fingerprint.
    k: Option<u32>,
    /// Whether the list of pages is complete.
    complete: bool,
    /// The pages that were found, the nearest first.
    near: Vec<NearPage<'a>>,
}

/// Finds the nearest 16 pages of a page, within the distance that the recipe advises.
pub(crate) fn of_page(
    snapshot: &Snapshot,
    url: &str,
    tell: impl FnOnce(PageNearResult<'_>) -> Result<(), VerbError>,
) -> Result<(), VerbError> {
    let page = snapshot.latest(url)?;
    let content = page.as_ref().and_then(|page| near_content(snapshot, &page.contents));
    let sought = content.and_then(|content| Some((content.fingerprint?, content.epoch)));
    let Some((fingerprint, epoch)) = sought else {
        let (epoch, near) = (None, Vec::new());
        return tell(PageNearResult { fingerprint: None, epoch, k: None, complete: true, near });
    };
    let k = snapshot.near_distance(epoch);
    let query = Query::new(fingerprint, k).epoch(epoch).limit(LIMIT).exclude(url);
    let matches = snapshot.search(&query)?;
    tell(PageNearResult {
        fingerprint: Some(Fingerprint(fingerprint)),
        epoch: Some(EpochName(visit::epoch(snapshot.epochs(), epoch)?)),
        k: Some(k),
        complete: matches.complete,
        near: near_pages(snapshot, &NearQuery { fingerprint, epoch, is_brief: false }, &matches),
    })
}
