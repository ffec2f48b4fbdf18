//! The decision on a request: its verdict, and the operations that it causes.
//!
//! Usually the page's head is enough. Otherwise the page's visits at one time are looked up. This
//! stage changes nothing.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::lookup_batch::BatchPage;
use crate::bug::OrBug;
use crate::engine::component::{ComponentId, LocatedHead};
use crate::engine::lookup::Lookup;
use crate::engine::memtable::Effect;
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{
    Digest, Entry, ExtraEntries, HISTORY_WINDOW, Operation, PageHead, PropertyOutcome,
    RestateOutcome, Restated, Seen, Verdict, VisitVerdict, Weight, restated_digest,
};
use crate::segment::{put_history, unpack_head};
use crate::time::Time;

/// A request with the view and lookup of its page.
#[derive(Clone, Copy)]
pub(crate) struct RequestContext<'c> {
    pub(crate) view: &'c View,
    pub(crate) lookup: &'c Lookup<'c>,
    pub(crate) request: &'c Operation<'c>,
}

/// The verdict on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationVerdict {
    Visit(VisitVerdict),
    Restated(RestateOutcome),
    PropertySet(PropertyOutcome),
}

/// The verdict on a request, and its operations with their effects on the page.
pub(crate) struct WriteDecision {
    pub(crate) verdict: OperationVerdict,
    pub(crate) operations: SmallVec<[(Entry, Effect); 1]>,
}

/// A decided request: the decision, and the state of the page before it.
pub(crate) struct DecidedRequest<'p> {
    pub(crate) decision: WriteDecision,
    /// The page's number in the active memtable, if the active memtable has the page.
    pub(crate) number: Option<u32>,
    /// Whether an older component has the page.
    pub(crate) earlier: bool,
    /// The packed head of the page in older components; empty if there is none, and for a page of
    /// the active memtable.
    pub(crate) head: Cow<'p, [u8]>,
    before: PriorSource,
}

/// The source of the page's state before the request.
enum PriorSource {
    /// The memtables have all data about the page.
    Known(Option<PriorPage>),
    /// The packed head, which comes from the segments, has the state.
    Packed,
}

/// The state of a page before a request.
#[derive(Clone, Copy)]
pub(crate) struct PriorPage {
    /// The time when the page was first seen.
    pub(crate) first: Time,
    pub(crate) weight: Weight,
}

impl PriorPage {
    fn of(head: &PageHead) -> PriorPage {
        PriorPage { first: head.first, weight: head.properties.weight() }
    }
}

impl<'p> DecidedRequest<'p> {
    /// Looks up the page in the memtables, and decides the request.
    ///
    /// The memtables have newer data than the segments. They are read under the write lock, because
    /// another call may have written to the page since the lookup.
    pub(crate) fn new(
        context: RequestContext<'_>,
        page: &mut BatchPage<'p>,
    ) -> Result<DecidedRequest<'p>> {
        let RequestContext { view, lookup, request } = context;
        let mut known = LocatedHead::default();
        let is_in_memory = view.fill_from_memtables(lookup, &mut known)?;
        let active = known.location.filter(|location| location.component == ComponentId::Active);
        // Only a number in the active memtable is used, because the journal refers to pages by such
        // a number.
        let number = active.map(|location| location.page);
        if is_in_memory {
            let before = PriorSource::Known(known.head.as_ref().map(PriorPage::of));
            let mut packed = Vec::new();
            if let Some(head) = known.head.as_ref().filter(|_| number.is_none()) {
                let location = known.location.or_bug("each page with a head has a location")?;
                // The page is new to the active memtable. The previous memtable has the page's
                // head, which is copied.
                put_history(&mut packed, head, view.changes_in_memory(location)?.as_ref());
            }
            let earlier = known.location.is_some();
            let decision = WriteDecision::new(context, &mut known.head)?;
            return Ok(DecidedRequest { decision, number, earlier, head: packed.into(), before });
        }
        // No memtable has the page, so its head in the segments is still current.
        let decision = match page.effect.verdict {
            // In the usual case, the effect was computed before the lock was taken.
            Some(verdict) if request.is_plain_visit() => {
                WriteDecision::visit(verdict, request.entry(), page.effect.take())
            }
            _ => WriteDecision::new(context, &mut unpack_head(page.head))?,
        };
        let (earlier, head) = (page.earlier, page.head.into());
        Ok(DecidedRequest { decision, number, earlier, head, before: PriorSource::Packed })
    }

    /// The state of the page before the request. Unpacks the head if the memtables do not have the
    /// page.
    pub(crate) fn prior_page(&self) -> Option<PriorPage> {
        match self.before {
            PriorSource::Known(before) => before,
            PriorSource::Packed => unpack_head(&self.head).as_ref().map(PriorPage::of),
        }
    }
}

impl WriteDecision {
    /// Decides a request for a page with the head `head`, which is consumed.
    fn new(context: RequestContext<'_>, head: &mut Option<PageHead>) -> Result<WriteDecision> {
        let RequestContext { view, lookup, request } = context;
        let visit = request.entry();
        let given = |outcome| Ok(WriteDecision::nothing(OperationVerdict::PropertySet(outcome)));
        match visit {
            Entry::Restated(restated) => return WriteDecision::restated(context, head, restated),
            Entry::Property(_) if head.is_none() => return given(PropertyOutcome::Missing),
            Entry::Property(_) if is_known_entry(view, lookup, head.as_ref(), &visit)? => {
                return given(PropertyOutcome::Known);
            }
            Entry::Property(_) => {
                let verdict = OperationVerdict::PropertySet(PropertyOutcome::Stored);
                return Ok(WriteDecision::one(verdict, view, head, visit));
            }
            Entry::Visit(_) if request.is_plain_visit() => {
                return WriteDecision::plain_visit(context, head, visit);
            }
            Entry::Visit(_) => {}
        }
        let also = request.also_content();
        // These checks come before anything is applied, because they may fail.
        let mut news = ExtraEntries::new();
        for beside in request.extra_entries() {
            if !is_known_entry(view, lookup, head.as_ref(), &beside)? {
                news.push(beside);
            }
        }
        // `Effect::of` adds the visit to the head. If the visit turns out to be known, the head is
        // restored.
        let before = if news.is_empty() { None } else { head.clone() };
        let effect = Effect::of(head, &visit, also.as_slice(), &view.epochs);
        let verdict = verdict_of(view, lookup, &effect, &visit)?;
        let mut decision = WriteDecision::visit(verdict, visit, effect);
        if decision.operations.is_empty() {
            *head = before;
        }
        for entry in news {
            let effect = Effect::of(head, &entry, &[], &view.epochs);
            decision.operations.push((entry, effect));
        }
        Ok(decision)
    }

    /// Decides a visit without other entries for a page with the head `head`, which is consumed.
    /// Most requests are such visits, and other entries are large to move.
    fn plain_visit(
        RequestContext { view, lookup, .. }: RequestContext<'_>,
        head: &mut Option<PageHead>,
        visit: Entry,
    ) -> Result<WriteDecision> {
        let effect = Effect::of(head, &visit, &[], &view.epochs);
        let verdict = verdict_of(view, lookup, &effect, &visit)?;
        Ok(WriteDecision::visit(verdict, visit, effect))
    }

    /// Decides a restatement for a page with the head `head`.
    fn restated(
        RequestContext { view, lookup, .. }: RequestContext<'_>,
        head: &mut Option<PageHead>,
        mut restated: Restated,
    ) -> Result<WriteDecision> {
        let digest = restated_of(view, lookup, head.as_ref(), restated.time, restated.digest)?;
        let Some(digest) = digest else {
            return Ok(WriteDecision::nothing(OperationVerdict::Restated(RestateOutcome::Missing)));
        };
        // The restatement gets the digest of the visit that it restates, so that both are one
        // version in the order of entries.
        restated.digest = digest;
        let entry = Entry::Restated(restated);
        if is_known_entry(view, lookup, head.as_ref(), &entry)? {
            return Ok(WriteDecision::nothing(OperationVerdict::Restated(RestateOutcome::Known)));
        }
        let verdict = OperationVerdict::Restated(RestateOutcome::Stored);
        Ok(WriteDecision::one(verdict, view, head, entry))
    }

    fn nothing(verdict: OperationVerdict) -> WriteDecision {
        WriteDecision { verdict, operations: SmallVec::new() }
    }

    /// Returns a decision with one entry that is not a visit, and that is new to a page with the
    /// head `head`.
    fn one(
        verdict: OperationVerdict,
        view: &View,
        head: &mut Option<PageHead>,
        entry: Entry,
    ) -> WriteDecision {
        let effect = Effect::of(head, &entry, &[], &view.epochs);
        WriteDecision { verdict, operations: [(entry, effect)].into_iter().collect() }
    }

    /// Returns a decision on a visit, which causes no operation if the visit is known.
    fn visit(verdict: VisitVerdict, visit: Entry, effect: Effect) -> WriteDecision {
        let news = (verdict.verdict != Verdict::Known).then_some((visit, effect));
        WriteDecision {
            verdict: OperationVerdict::Visit(verdict),
            operations: news.into_iter().collect(),
        }
    }

    /// The weight in force after all operations; `None` if there are no operations.
    pub(crate) fn weight(&self) -> Option<Weight> {
        self.operations.last().map(|(_, effect)| effect.weight)
    }

    /// Whether a restatement that came with a visit is an operation.
    pub(crate) fn also(&self) -> bool {
        let restates = |(entry, _): &(Entry, Effect)| entry.is_restated();
        matches!(self.verdict, OperationVerdict::Visit(_)) && self.operations.iter().any(restates)
    }
}

/// The digest of the restated content, among the digests that a page had at a time.
#[expect(clippy::option_option, reason = "no content and none with a digest are two things")]
fn restated_of(
    view: &View,
    lookup: &Lookup<'_>,
    head: Option<&PageHead>,
    time: Time,
    digest: Option<Digest>,
) -> Result<Option<Option<Digest>>> {
    let contents = head.map(|head| &head.contents).filter(|contents| !contents.is_empty());
    let Some(contents) = contents else { return Ok(None) };
    let times = || contents.iter().map(|seen| seen.time);
    if times().all(|seen| seen < time) {
        return Ok(None);
    }
    // The head has the last contents, which are enough if they include all contents of that time.
    if times().all(|seen| seen <= time)
        && (contents.len() < HISTORY_WINDOW || times().any(|seen| seen < time))
    {
        let at = contents.iter().filter(|seen| seen.time == time);
        return Ok(restated_digest(digest, at.map(|seen| seen.content.digest)));
    }
    let entries = view.entries_at(lookup, time)?;
    let seen = entries.iter().filter_map(Entry::visit);
    let seen = seen.filter(|visit| matches!(visit.seen, Seen::Content(_)));
    Ok(restated_digest(digest, seen.map(|visit| visit.seen.digest())))
}

/// Whether an entry other than a visit is known already. For a restatement, a visit that saw the
/// same content does not count: whether there is such a visit depends on the order of arrival, and
/// the contents of a history must not depend on that order.
fn is_known_entry(
    view: &View,
    lookup: &Lookup<'_>,
    head: Option<&PageHead>,
    entry: &Entry,
) -> Result<bool> {
    let last = match entry {
        // An entity tag that is already replaced is not stored, whether it was stored before or not.
        Entry::Property(given) if head.is_some_and(|head| head.ends_etag(given)) => {
            return Ok(true);
        }
        // The head does not have a property that is superseded, but the entries may have it.
        Entry::Property(given) if head.is_some_and(|head| head.is_superseded(given)) => {
            Some(entry.time())
        }
        Entry::Property(given) => {
            head.and_then(|head| head.properties.of_kind(&given.property)).map(|last| last.time)
        }
        _ => head.and_then(|head| head.contents.first()).map(|seen| seen.time),
    };
    // In the usual case, the entry is later than all entries in the head, so no history is read.
    if last < Some(entry.time()) {
        return Ok(false);
    }
    Ok(view.entries_at(lookup, entry.time())?.contains(entry))
}

/// The verdict on a visit with a known effect.
fn verdict_of(
    view: &View,
    lookup: &Lookup<'_>,
    effect: &Effect,
    visit: &Entry,
) -> Result<VisitVerdict> {
    match effect.verdict {
        Some(verdict) => Ok(verdict),
        // Between the first and the last visit the head does not have all visits, so the entries of
        // that time decide.
        None => Ok(late(view, lookup, visit)?.into()),
    }
}

/// The verdict on a visit that does not come after all other visits of its page.
fn late(view: &View, lookup: &Lookup<'_>, visit: &Entry) -> Result<Verdict> {
    let known = view.entries_at(lookup, visit.time())?.contains(visit);
    Ok(if known { Verdict::Known } else { Verdict::OutOfOrder })
}
