//! What is near the present content of a page, for a program that asks of one page after another.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{Query, Snapshot};

use super::{Asked, NearPage, near_content, near_pages};
use crate::exit::Failure;
use crate::output::json::{EpochName, Fingerprint};
use crate::output::visit;

/// The most pages that are named.
const LIMIT: usize = 16;

/// What is near a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfPage<'a> {
    /// That of the page; null if it is not known, or its content has none.
    fingerprint: Option<Fingerprint>,
    epoch: Option<EpochName<'a>>,
    /// How many bits may differ.
    k: Option<u32>,
    /// Whether no page is missing.
    complete: bool,
    /// The pages, the nearest first.
    near: Vec<NearPage<'a>>,
}

/// Finds what is near a page: within what the recipe advises, the nearest 16.
pub(crate) fn of_page(
    snapshot: &Snapshot,
    url: &str,
    tell: impl FnOnce(OfPage<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let page = snapshot.latest(url)?;
    let content = page.as_ref().and_then(|page| near_content(snapshot, page));
    let sought = content.and_then(|content| Some((content.fingerprint?, content.epoch)));
    let Some((fingerprint, epoch)) = sought else {
        let (epoch, near) = (None, Vec::new());
        return tell(OfPage { fingerprint: None, epoch, k: None, complete: true, near });
    };
    let k = snapshot.near_distance(epoch);
    let query = Query::new(fingerprint, k).epoch(epoch).limit(LIMIT).exclude(url);
    let matches = snapshot.search(&query)?;
    tell(OfPage {
        fingerprint: Some(Fingerprint(fingerprint)),
        epoch: Some(EpochName(visit::epoch(snapshot.epochs(), epoch)?)),
        k: Some(k),
        complete: matches.complete,
        near: near_pages(snapshot, &Asked { fingerprint, epoch, is_brief: false }, &matches),
    })
}
