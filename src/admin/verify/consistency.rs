//! Checks whether the contents of a segment fit together. Its blocks were checked before.

use crate::bug::OrBug;
use crate::engine::live_segment::LiveSegment;
use crate::engine::lookup::Lookup;
use crate::engine::results::Page;
use crate::engine::totals::StoreTotals;
use crate::error::{Error, Result};
use crate::layout::{SectionKind, SectionTag};
use crate::page::{Changes, Content, DIGESTS, Entry, EpochInfo, TableKey, find_epoch, in_force_on};
use crate::search::canonical_key;
use crate::segment::{PageCursor, ScheduleRow, count_visits, host_slot};

/// The number of pages or fingerprints between two reports of progress.
const PROGRESS_STEP: u64 = 1 << 10;

/// Checks that pages ascend, can be read, and are found by their hash. Returns the number of their
/// fingerprints in force that must be in tables: fingerprints of ended epochs may be absent.
pub(super) fn pages(
    live: &LiveSegment,
    seed: u64,
    epochs: &[EpochInfo],
    pass: &mut dyn FnMut() -> Result<()>,
) -> Result<u64> {
    let segment = &live.segment;
    let flaw = |what: &str| segment.damaged(SectionTag::of(SectionKind::Pages), 0, what);
    let mut cursor = PageCursor::new(std::sync::Arc::clone(segment), 0)?;
    let (mut before, mut visits, mut resets, mut in_force) = (None, 0, 0, 0);
    while cursor.advance()? {
        if cursor.ordinal().is_multiple_of(PROGRESS_STEP) {
            pass()?;
        }
        let record = cursor.record()?;
        let head = record.head().ok_or_else(|| live.unreadable())?;
        let changes = record.changes(epochs).ok_or_else(|| live.unreadable())?;
        let own = record.entries().ok_or_else(|| live.unreadable())?;
        visits += record.visit_count() as u64;
        resets += u64::from(record.reset());
        let shown = in_force_on(head.as_ref());
        let must_be_posted = |content: &&Content| {
            let ended = find_epoch(epochs, content.epoch).is_some_and(|info| info.ended);
            content.fingerprint.is_none() || !ended || live.tables(content.epoch.0).is_some()
        };
        let mut keys: Vec<TableKey> =
            shown.iter().filter(must_be_posted).filter_map(Content::table_key).collect();
        // Contents of two epochs without a fingerprint have one digest.
        keys.sort_unstable();
        keys.dedup();
        in_force += keys.len() as u64;
        if count_visits(&own) != record.visit_count() {
            return Err(flaw("a page has another number of visits than its record states"));
        }
        let (first, last) = segment.numbers().times.unwrap_or((i64::MAX, i64::MIN));
        if own.iter().any(|e| e.is_visit() && !(first..=last).contains(&e.time().as_ms())) {
            return Err(flaw("a visit lies outside the time range of the segment"));
        }
        if !own.is_sorted() {
            return Err(flaw("the entries of a page are not in order"));
        }
        let url = cursor.url()?;
        let place = Some((cursor.key().to_vec(), url.to_owned()));
        if before >= place {
            return Err(flaw("pages are not in SURT order"));
        }
        before = place;
        let lookup = Lookup::new(url, seed);
        let host = host_slot(url, seed);
        let row = ScheduleRow::new(head.as_ref(), &changes, record.visit_count(), host);
        let found = segment.find(lookup.hash, url)?;
        if found.map(|p| u64::from(p.ordinal)) != Some(cursor.ordinal()) {
            return Err(segment.damaged(
                SectionTag::of(SectionKind::Hashes),
                0,
                "the URL hash of a page does not lead to the page",
            ));
        }
        let ordinal =
            u32::try_from(cursor.ordinal()).ok().or_bug("a segment has fewer than 2^32 pages")?;
        if segment.row_of(lookup.hash, ordinal)? != Some(row) {
            let what = format!("the schedule row of {url} does not match its record");
            return Err(segment.damaged(SectionTag::of(SectionKind::Schedule), 0, &what));
        }
    }
    if (visits, resets) != (segment.numbers().visits, segment.numbers().resets) {
        return Err(flaw(
            "the pages have other numbers of visits and resets than the segment states",
        ));
    }
    Ok(in_force)
}

/// Checks that the stored state of a page follows from its entries.
pub(super) fn history(
    page: &Page,
    history: Option<(String, Vec<Entry>)>,
    epochs: &[EpochInfo],
) -> Result<()> {
    let flaw = |what: &str| Error::corrupt("segments", 0, format!("{}: {what}", page.url));
    let Some((_, entries)) = history.filter(|(url, _)| *url == page.url) else {
        return Err(flaw("the page has a head but no entries"));
    };
    if count_visits(&entries) as u64 != page.visits {
        return Err(flaw("the head of the page states a wrong number of visits"));
    }
    let resolves = |entry: &Entry| entry.target().is_none_or(|t| t.resolve(&page.url).is_some());
    if !entries.iter().all(resolves) {
        return Err(flaw(
            "a target has more bytes in common with the URL of its page than the URL has",
        ));
    }
    if Changes::of(&entries, epochs) != page.changes {
        return Err(flaw("the change statistics of the page do not match its visits"));
    }
    Ok(())
}

/// Checks that the changes of the totals in all components add up to the actual totals.
pub(super) fn counts(counted: StoreTotals, found: StoreTotals) -> Result<()> {
    if counted == found {
        return Ok(());
    }
    let what = format!("the totals in the segments are {counted}, but the store has {found}");
    Err(Error::corrupt("segments", 0, what))
}

/// Checks that fingerprints are in canonical order, that their tables have each fingerprint in its
/// position, and that the `in_force` fingerprints in force on pages are posted in the tables with
/// their digests' tags.
pub(super) fn tables(
    live: &LiveSegment,
    in_force: u64,
    pass: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let (mut url, mut tags) = (Vec::new(), Vec::new());
    let (mut posted, mut fingerprints, mut longest) = (0, 0, 0);
    for tables in &live.tables {
        let flaw = |what: &str| {
            let tag = SectionTag::table(SectionKind::Fingerprints, 0, tables.epoch);
            live.segment.damaged(tag, 0, what)
        };
        tables.tables.check()?;
        fingerprints += u64::from(tables.tables.len());
        let mut before = None;
        for ordinal in 0..tables.tables.len() {
            if u64::from(ordinal).is_multiple_of(PROGRESS_STEP) {
                pass()?;
            }
            let value = tables.fingerprint(ordinal)?;
            let key = TableKey { table: tables.epoch, value };
            let place = Some(canonical_key(value));
            if before >= place {
                return Err(flaw("fingerprints are not in order"));
            }
            before = place;
            let (mut last, mut pages) = (None, 0);
            tags.clear();
            for posting in tables.postings(ordinal, 0)? {
                let posting = posting?;
                if last >= Some(posting.page) {
                    return Err(flaw("the pages of a fingerprint are not in order"));
                }
                last = Some(posting.page);
                pages += 1;
                longest = longest.max(pages);
                if posting.in_force {
                    posted += 1;
                    let record = live.segment.page(posting.page, &mut url)?.read()?;
                    let head = record.head().ok_or_else(|| live.unreadable())?;
                    let in_force = in_force_on(head.as_ref());
                    let same = in_force.iter().find(|content| content.table_key() == Some(key));
                    let Some(content) = same else {
                        return Err(flaw(
                            "a posting list names a page on which its fingerprint is not in force",
                        ));
                    };
                    let digest = content.digest.filter(|_| tables.epoch != DIGESTS);
                    tags.extend(digest.map(|digest| (digest.tag(), posting.page)));
                }
            }
            if !tables.has_tags(ordinal, &mut tags)? {
                return Err(flaw(
                    "the digests in a posting list differ from the digests in force on its pages",
                ));
            }
        }
    }
    if longest != live.segment.numbers().longest_list {
        let what = "the longest posting list has another length than the segment states";
        return Err(live.segment.damaged(SectionTag::of(SectionKind::Lists), 0, what));
    }
    // Each fingerprint is in force on a page, and a page has at most one fingerprint of an epoch in
    // force.
    if (posted, fingerprints) != (in_force, live.segment.numbers().fingerprints) {
        let tag = SectionTag::of(SectionKind::Pages);
        let what =
            "the fingerprints in force on the pages differ from the fingerprints in the tables";
        return Err(live.segment.damaged(tag, 0, what));
    }
    Ok(())
}
