//! Merges the found URLs of several segments.

use std::mem;
use std::sync::Arc;

use super::build::{SegmentBuilder, Spill};
use super::file::Segment;
use super::hashes::url_hash;
use super::merge::{MergeInputs, NewOrdinal, OrdinalMap};
use super::page_merge::PageMerge;
use super::page_writer::PagesWriter;
use super::pages::PageCursor;
use super::tombstones::Tombstones;
use crate::bug::OrBug;
use crate::error::Result;
use crate::layout::{UrlList, le_u32};

/// The number of merged found URLs, and their new ordinals in each input; `None` without found URLs.
pub(super) type MergedFound = Option<(u64, Vec<OrdinalMap>)>;

/// Merges the lists of found URLs, without the URLs that were visited or forgotten since they were
/// found. Returns `None` if the merge was cancelled.
///
/// A URL of an older input costs a probe of the filter of each newer one, and a lookup where it was
/// visited.
pub(super) fn merge_found(
    builder: &mut SegmentBuilder,
    mergeable: &MergeInputs<'_>,
    tombstones: &[Tombstones],
) -> Result<Option<MergedFound>> {
    let inputs = mergeable.inputs;
    if inputs.iter().all(|input| input.numbers().found == 0) {
        return Ok(Some(None));
    }
    let cursor = |segment: &Arc<Segment>| {
        let mut cursor = PageCursor::of_list(Arc::clone(segment), UrlList::Found, 0)?;
        cursor.advance()?;
        Ok(cursor)
    };
    let mut urls = PageMerge::new(inputs.iter().map(cursor).collect::<Result<_>>()?);
    let mut moves: Vec<Spill> = inputs.iter().map(|_| builder.spill(inputs.len())).collect();
    // A segment without found URLs has no section for them, so the section begins with the first one.
    let mut writer: Option<PagesWriter> = None;
    let mut steps = 0;
    while urls.advance()? {
        steps += urls.here().len() as u64;
        if steps >= 1024 && (mergeable.step)(mem::take(&mut steps)).is_break() {
            return Ok(None);
        }
        let (url, key) = (urls.url()?, urls.key());
        let hash = url_hash(url, mergeable.seed);
        let mut here = urls.here().iter().rev().map(|(number, _)| *number).peekable();
        let mut placed: Option<u32> = None;
        let mut waits = !(mergeable.hidden)(UrlList::Found, url, key)?;
        for (number, (input, tombstones)) in inputs.iter().zip(tombstones).enumerate().rev() {
            if here.next_if_eq(&number).is_some() {
                let moved = match (waits, placed) {
                    (false, _) => NewOrdinal::GONE,
                    (true, Some(page)) => NewOrdinal::to(page, false),
                    (true, None) => {
                        let writer = match &mut writer {
                            Some(writer) => writer,
                            none => none.insert(PagesWriter::new(builder, UrlList::Found)?),
                        };
                        let page = writer.push(builder, url, |_| {})?;
                        NewOrdinal::to(*placed.insert(page), true)
                    }
                };
                let moves = moves.get_mut(number).or_bug("a URL is in one of the inputs")?;
                moves.append(&le_u32(moved.0))?;
            }
            // In a segment with both, the URL was found after its page was forgotten. Without older
            // reports nothing is looked up.
            waits = waits
                && here.peek().is_some()
                && !tombstones.cover(key)
                && input.pages().find(hash, url)?.is_none();
        }
    }
    let Some(writer) = writer else { return Ok(Some(None)) };
    let count = writer.finish(builder)?;
    let moves = moves.into_iter().map(|spill| spill.finish().map(OrdinalMap));
    Ok(Some(Some((count, moves.collect::<Result<Vec<_>>>()?))))
}
