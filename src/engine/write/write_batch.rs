//! Applying a request in memory: asks the memtables what they know, judges the page, and puts the
//! resulting operations into the journal's buffer and into the memtable.

use super::admission::Writer;
use super::decide::{Judged, Judgement, is_alone, judge_all};
use super::lookup_batch::Prepared;
use super::nearby::add_nearby;
use super::ranking::{Own, rank_nearby};
use crate::bug::OrBug;
use crate::engine::answer::{Answer, Outcome};
use crate::engine::component::{ComponentId, Known};
use crate::engine::journal;
use crate::engine::journal::PageName;
use crate::engine::options::Options;
use crate::error::Result;
use crate::page::{Request, Ruling};
use crate::segment::{put_course, unpack_head};

/// Judges request number `at` and applies it, under the write lock. Also returns whether the
/// memtable is full now.
pub(crate) fn apply(
    options: &Options,
    writer: &mut Writer,
    prepared: &mut Prepared<'_>,
    at: usize,
    request: &Request<'_>,
) -> Result<(Answer, bool)> {
    let (view, page, head) = prepared.page(at)?;
    let lookup = &page.lookup;
    let active = &view.memtables.active;
    let Writer { next_sequence, pending, packed } = writer;
    packed.clear();
    // What the memtables know is newer than what the segments know.
    let mut known = Known::default();
    let is_all = view.take_in_memory(lookup, &mut known)?;
    let own = known.standing.filter(|standing| standing.component == ComponentId::Active);
    let mut number = own.map(|standing| standing.page);
    let mut earlier = page.earlier;
    let own = known.head.as_ref().map(Own::of);
    let judged = if is_all {
        if let Some(head) = known.head.as_ref().filter(|_| number.is_none()) {
            let standing = known.standing.or_bug("a page with a head stands somewhere")?;
            put_course(packed, head, view.changes_in_memory(standing)?.as_ref());
        }
        earlier = known.standing.is_some();
        judge_all(view, lookup, &mut known.head, request)?
    } else {
        packed.extend_from_slice(head);
        match page.effect.ruling {
            Some(ruling) if is_alone(request) => {
                Judged::visit(ruling, request.entry(), page.effect.take())
            }
            _ => judge_all(view, lookup, &mut unpack_head(packed), request)?,
        }
    };
    let answer = match judged.judgement {
        Judgement::Restated(outcome) => Answer::Restated(outcome),
        Judgement::Given(outcome) => Answer::Given(outcome),
        Judgement::Visit(ruling) => {
            let Ruling { verdict, novel } = ruling;
            // What does nothing is known.
            let priority = judged.weight().map_or(0.0, |weight| ruling.priority(weight));
            let (also, copies, near) = (judged.also(), Vec::new(), Vec::new());
            let meaning = verdict.distance().map(|distance| view.epochs.meaning(distance));
            let (original, complete) = (None, true);
            let mut outcome = Outcome {
                verdict,
                meaning,
                novel,
                priority,
                also,
                copies,
                near,
                original,
                complete,
            };
            let nearby = add_nearby(&mut outcome, view, options, request, &mut page.found)?;
            let own = || if is_all { own } else { unpack_head(packed).as_ref().map(Own::of) };
            let asked = (view, lookup, request);
            rank_nearby(&mut outcome, nearby, &options.rule, asked, judged.weight(), own)?;
            Answer::Observed(outcome)
        }
    };
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
    Ok((answer, full))
}
