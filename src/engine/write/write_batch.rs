//! The stages of a write under the write lock: a request that was looked up is decided, its
//! operations are journalled and applied to the memtable, and its result is made.

use std::borrow::Cow;

use super::admission::WriterState;
use super::decide::{DecidedRequest, OperationVerdict, RequestContext};
use super::lookup_batch::{BatchPage, LookupBatch};
use super::nearby::NearbyPages;
use crate::engine::journal;
use crate::engine::journal::JournalPage;
use crate::engine::options::Options;
use crate::engine::results::{OperationResult, Outcome};
use crate::error::Result;
use crate::page::{Operation, PropertyOutcome, VisitVerdict};

/// Decides request number `at` and applies it, under the write lock. Also returns whether the
/// memtable is full after the request.
pub(crate) fn apply(
    options: &Options,
    writer: &mut WriterState,
    looked_up: &mut LookupBatch<'_>,
    at: usize,
    request: &Operation<'_>,
) -> Result<(OperationResult, bool)> {
    let (view, lookup, mut page) = looked_up.page(at)?;
    let kept = if options.validators {
        Some(Cow::Borrowed(request))
    } else {
        request.without_etag().map(Cow::Owned)
    };
    let Some(request) = kept.as_deref() else {
        return Ok((OperationResult::PropertySet(PropertyOutcome::Known), false));
    };
    let context = RequestContext { view, lookup, request };
    let decided = DecidedRequest::new(context, &mut page)?;
    // The result is made before the operations are in the memtable, where a search would find the
    // page itself.
    let answer = match decided.decision.verdict {
        OperationVerdict::Restated(outcome) => OperationResult::Restated(outcome),
        OperationVerdict::PropertySet(outcome) => OperationResult::PropertySet(outcome),
        OperationVerdict::Visit(verdict) => {
            OperationResult::Observed(outcome(options, context, &mut page, verdict, &decided)?)
        }
    };
    let full = put_operations(options, writer, context, &decided)?;
    Ok((answer, full))
}

/// Returns the outcome of a visit: its verdict, with copies and near pages.
fn outcome(
    options: &Options,
    context: RequestContext<'_>,
    page: &mut BatchPage<'_>,
    visit: VisitVerdict,
    decided: &DecidedRequest<'_>,
) -> Result<Outcome> {
    let view = context.view;
    let weight = decided.decision.weight();
    let nearby = NearbyPages::find(view, options, page.searches, page.found)?;
    let original = nearby.original(&options.rule, context, weight, || decided.prior_page())?;
    let refers_to = match options.refers_to {
        true => nearby.first_capture(context, decided.earlier || decided.number.is_some())?,
        false => None,
    };
    let complete = nearby.complete;
    let (copies, near) = nearby.into_pages();
    let VisitVerdict { verdict, novel } = visit;
    Ok(Outcome {
        verdict,
        meaning: verdict.distance().map(|distance| view.epochs.meaning(distance)),
        novel,
        // A visit without an operation is known.
        priority: weight.map_or(0.0, |weight| visit.priority(weight)),
        also: decided.decision.also(),
        copies,
        near,
        original,
        refers_to,
        complete,
    })
}

/// Adds the operations to the journal's buffer and the active memtable. Returns whether the
/// memtable is full.
fn put_operations(
    options: &Options,
    writer: &mut WriterState,
    RequestContext { view, lookup, .. }: RequestContext<'_>,
    decided: &DecidedRequest<'_>,
) -> Result<bool> {
    let active = &view.memtables.active;
    let WriterState { next_sequence, pending } = writer;
    let DecidedRequest { decision, earlier, number, head, .. } = decided;
    let (earlier, mut number) = (*earlier, *number);
    let mut full = false;
    for (entry, effect) in &decision.operations {
        let sequence = *next_sequence;
        // The record is packed before the page has a number. A replay assigns the same numbers,
        // because it applies the same operations in the same order.
        let page = match number {
            Some(number) => JournalPage::Known(number),
            None => JournalPage::New { url: lookup.url, earlier, head },
        };
        pending.push(active.journal, sequence, |out| journal::put_entry(out, &page, entry))?;
        *next_sequence += 1;
        // The memtable is locked for each operation separately, so that readers get the lock
        // between operations.
        let mut inner = active.write();
        let page = match number {
            Some(page) => page,
            None => inner.add_page(sequence, lookup.url, lookup.hash, earlier, head)?,
        };
        inner.apply_entry(sequence, page, entry.clone(), effect, &view.epochs)?;
        // The first operation may add the page. Later operations refer to the page by its number.
        number = Some(page);
        full = inner.is_full(options);
    }
    Ok(full)
}
