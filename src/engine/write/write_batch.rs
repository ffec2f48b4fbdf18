//! Applying a request in memory: asks the memtables what they know, judges the page, and puts the
//! resulting operations into the journal's buffer and into the memtable.

use super::admission::Writer;
use super::decide::{Judged, Judgement, is_alone, judge_all};
use super::lookup_batch::{LookedUp, LookedUpPage};
use super::nearby::add_nearby;
use super::ranking::{Own, rank_nearby};
use crate::bug::OrBug;
use crate::engine::answer::{Answer, Outcome};
use crate::engine::component::{ComponentId, Known};
use crate::engine::journal;
use crate::engine::journal::PageName;
use crate::engine::lookup::Lookup;
use crate::engine::options::Options;
use crate::engine::search::HitSet;
use crate::engine::view::View;
use crate::error::Result;
use crate::page::{Request, Ruling};
use crate::segment::{put_course, unpack_head};

/// What is decided about a request, and what its operations need.
struct Decided {
    judged: Judged,
    /// The page's number in the active memtable, if it is there.
    number: Option<u32>,
    /// Whether an older component has the page.
    earlier: bool,
    /// What the page was before; `None` where only the packed head of the segments says it.
    own: Option<Own>,
    /// Whether the memtables know all of the page.
    is_in_memory: bool,
}

/// Decides request number `at` and applies it, under the write lock. Also returns whether the
/// memtable is full now.
pub(crate) fn apply(
    options: &Options,
    writer: &mut Writer,
    prepared: &mut LookedUp<'_>,
    at: usize,
    request: &Request<'_>,
) -> Result<(Answer, bool)> {
    let (view, page, head) = prepared.page(at)?;
    writer.packed.clear();
    let decided = decide(view, page, head, request, &mut writer.packed)?;
    let answer = match decided.judged.judgement {
        Judgement::Restated(outcome) => Answer::Restated(outcome),
        Judgement::Given(outcome) => Answer::Given(outcome),
        Judgement::Visit(ruling) => {
            let found = &mut page.found;
            let asked = (view, &page.lookup, request);
            Answer::Observed(outcome(options, asked, found, ruling, &decided, &writer.packed)?)
        }
    };
    let full = put_operations(options, writer, (view, &page.lookup), &decided)?;
    Ok((answer, full))
}

/// Asks the memtables, and decides what the request means. `packed` becomes the head of the page as
/// older components know it.
fn decide(
    view: &View,
    page: &mut LookedUpPage<'_>,
    head: &[u8],
    request: &Request<'_>,
    packed: &mut Vec<u8>,
) -> Result<Decided> {
    let lookup = &page.lookup;
    // What the memtables know is newer than what the segments know.
    let mut known = Known::default();
    let is_in_memory = view.take_in_memory(lookup, &mut known)?;
    let active = known.standing.filter(|standing| standing.component == ComponentId::Active);
    let number = active.map(|standing| standing.page);
    let own = known.head.as_ref().map(Own::of);
    if is_in_memory {
        if let Some(head) = known.head.as_ref().filter(|_| number.is_none()) {
            let standing = known.standing.or_bug("a page with a head stands somewhere")?;
            put_course(packed, head, view.changes_in_memory(standing)?.as_ref());
        }
        let earlier = known.standing.is_some();
        let judged = judge_all(view, lookup, &mut known.head, request)?;
        return Ok(Decided { judged, number, earlier, own, is_in_memory });
    }
    packed.extend_from_slice(head);
    let judged = match page.effect.ruling {
        Some(ruling) if is_alone(request) => {
            Judged::visit(ruling, request.entry(), page.effect.take())
        }
        _ => judge_all(view, lookup, &mut unpack_head(packed), request)?,
    };
    Ok(Decided { judged, number, earlier: page.earlier, own, is_in_memory })
}

/// The outcome of a visit: its verdict, with copies and near pages.
fn outcome(
    options: &Options,
    (view, lookup, request): (&View, &Lookup<'_>, &Request<'_>),
    found: &mut [HitSet],
    ruling: Ruling,
    decided: &Decided,
    packed: &[u8],
) -> Result<Outcome> {
    let Decided { judged, own, is_in_memory, .. } = decided;
    let Ruling { verdict, novel } = ruling;
    // What does nothing is known.
    let priority = judged.weight().map_or(0.0, |weight| ruling.priority(weight));
    let meaning = verdict.distance().map(|distance| view.epochs.meaning(distance));
    let mut outcome = Outcome {
        verdict,
        meaning,
        novel,
        priority,
        also: judged.also(),
        copies: Vec::new(),
        near: Vec::new(),
        original: None,
        complete: true,
    };
    let nearby = add_nearby(&mut outcome, view, options, request, found)?;
    let own = || if *is_in_memory { *own } else { unpack_head(packed).as_ref().map(Own::of) };
    let asked = (view, lookup, request);
    rank_nearby(&mut outcome, nearby, &options.rule, asked, judged.weight(), own)?;
    Ok(outcome)
}

/// Puts the operations into the journal's buffer and the active memtable. Returns whether that is full.
fn put_operations(
    options: &Options,
    writer: &mut Writer,
    (view, lookup): (&View, &Lookup<'_>),
    decided: &Decided,
) -> Result<bool> {
    let active = &view.memtables.active;
    let Writer { next_sequence, pending, packed } = writer;
    let Decided { judged, earlier, number, .. } = decided;
    let (earlier, mut number) = (*earlier, *number);
    let mut full = false;
    for (entry, effect) in &judged.operations {
        let sequence = *next_sequence;
        let page = match number {
            Some(number) => PageName::Known(number),
            None => PageName::New { url: lookup.url, earlier, head: packed },
        };
        pending.push(active.journal, sequence, |out| journal::put_entry(out, &page, entry))?;
        *next_sequence += 1;
        let mut inner = active.write();
        let page = match number {
            Some(page) => page,
            None => inner.add_page(sequence, lookup.url, lookup.hash, earlier, packed)?,
        };
        inner.enter(sequence, page, *entry, effect, &view.epochs)?;
        number = Some(page);
        full = inner.is_full(options);
    }
    Ok(full)
}
