//! Observing: what a visit means is found first, then it is applied in memory and journalled.
//!
//! What the segments know is looked up before the write lock is taken, by two threads if there is
//! enough to do; under the lock memtables are asked, and an operation is applied. So concurrent
//! calls equal some order of them, and most of the work goes on beside the lock.

use std::ops::Range;
use std::sync::Arc;

use super::admission::{WriteLock, Writer};
use super::ahead::Ahead;
use super::answer::{Answer, ExactCopy, Outcome};
use super::component::ComponentId;
use super::epochs::check_live;
use super::journal::{self, Place};
use super::judged::{Judged, Meaning, also_of, is_alone, judge_all};
use super::lookup::Lookup;
use super::memtable::{Effect, Memtable};
use super::query::Versions;
use super::request::{check, of_epochs};
use super::search::{Found, Wanted, bounds, segment_hits_of_many, together};
use super::shared::Shared;
use super::view::View;
use crate::bug::{OrBug, ensure};
use crate::error::{Error, Result};
use crate::page::{Digest, Entry, Request, surt};
use crate::segment::{put_carried, unpack_head};
use crate::sync::thread;

/// Observations that are looked up together, at most: the more there are, the closer together in the
/// index of URLs lies what they read.
const CHUNK_MAX: usize = 5000;

/// Fewer than this are not worth a second thread.
const CHUNK_MIN: usize = 250;

/// What the segments of a view say of requests.
struct Prepared<'a> {
    view: Arc<View>,
    /// Observations before the first that is spoken of.
    skipped: usize,
    each: Vec<Looked<'a>>,
    /// Heads of pages, packed as in the journal.
    heads: Vec<u8>,
}

/// What they say of one.
struct Looked<'a> {
    lookup: Lookup<'a>,
    /// Whether any segment has the page.
    earlier: bool,
    /// Where its head is, if it has one.
    head: Range<usize>,
    effect: Effect,
    found: Found,
    /// Near its other fingerprint.
    also: Found,
}

impl Shared {
    /// Applies requests one after another. Acknowledged together, as the options say.
    pub(super) fn request(&self, requests: &[Request<'_>]) -> Result<Vec<Answer>> {
        self.base.lifecycle.check()?;
        let epochs = Arc::clone(&self.base.live.view().epochs);
        for request in requests {
            check(request)?;
            of_epochs(request).try_for_each(|epoch| check_live(&epochs, epoch))?;
        }
        let mut answers = Vec::with_capacity(requests.len());
        let look_up = |chunk| self.prepare(self.base.live.view(), chunk);
        let ahead = Ahead::new(chunks(requests));
        let applied = thread::scope(|scope| {
            let _until = ahead.until_dropped();
            if !self.is_sealing_late() {
                ahead.help(scope, look_up);
            }
            while let Some((chunk, prepared)) = ahead.next(look_up) {
                self.apply_all(chunk, prepared?, &mut answers)?;
            }
            Ok::<_, Error>(())
        });
        let counted = applied.and_then(|()| {
            ensure(answers.len() == requests.len(), "each request has an answer")
                .map_err(Error::from)
        });
        let last = self.admission.last_sequence();
        if let Err(e) = self.base.lifecycle.heed(counted) {
            // What was applied is not left half acknowledged; after a bug nothing is acknowledged.
            if !matches!(e, Error::Bug(_)) {
                self.committer.commit(last, None)?;
            }
            return Err(e);
        }
        self.committer.acknowledge(last)?;
        Ok(answers)
    }

    /// Whether a memtable still waits to be sealed while the next is half full. Then the sealing
    /// thread needs a processor more than a batch does: a third memtable would have to wait for it.
    fn is_sealing_late(&self) -> bool {
        let view = self.base.live.view();
        let half_full = |active: &Memtable| {
            active.read().operations >= self.base.options.memtable_observations / 2
        };
        view.memtables.sealing.is_some() && half_full(&view.memtables.active)
    }

    /// Applies requests that were looked up.
    fn apply_all<'a>(
        &self,
        requests: &[Request<'a>],
        prepared: Prepared<'a>,
        answers: &mut Vec<Answer>,
    ) -> Result<()> {
        let checked = Arc::clone(&prepared.view.epochs);
        let (mut writer, mut prepared) = self.begin(prepared, requests, 0)?;
        let epochs = Arc::clone(&self.base.live.view().epochs);
        if !Arc::ptr_eq(&epochs, &checked) {
            // One may have ended meanwhile.
            let mut all = requests.iter().flat_map(of_epochs);
            all.try_for_each(|epoch| check_live(&epochs, epoch))?;
        }
        let mut full = false;
        for (at, request) in requests.iter().enumerate() {
            if full {
                drop(writer);
                (writer, prepared) = self.begin(prepared, requests, at)?;
            }
            prepared.prefetch(requests, at);
            // While the lock is held: half an operation is committed by nobody.
            let applied = self.apply(&mut writer, &mut prepared, at, request);
            let applied = self.base.lifecycle.heed(applied)?;
            full = applied.1;
            answers.push(applied.0);
        }
        self.committer.applied(writer)
    }

    /// The write lock, and what was looked up as it stands now that no other thread writes: the
    /// observations from `from` on are looked up again if they must.
    ///
    /// While the same memtable is written, a view still says everything, in other components
    /// perhaps: what was sealed or merged since is the same.
    fn begin<'a>(
        &self,
        mut prepared: Prepared<'a>,
        requests: &[Request<'a>],
        from: usize,
    ) -> Result<(WriteLock<'_>, Prepared<'a>)> {
        /// How often this lets go of the lock to look up again.
        const TRIES: usize = 3;
        let mut tries = 0;
        loop {
            let writer = self.sealer.admit()?;
            let live = self.base.live.view();
            if Arc::ptr_eq(&live.memtables.active, &prepared.view.memtables.active) {
                return Ok((writer, prepared));
            }
            if Arc::ptr_eq(&live.segments, &prepared.view.segments) {
                return Ok((writer, Prepared { view: live, ..prepared }));
            }
            tries += 1;
            let held = (tries > TRIES).then_some(writer);
            let left = requests.get(from..).or_bug("what is left is of the observations")?;
            prepared = self.prepare(live, left)?.after(from);
            if let Some(writer) = held {
                return Ok((writer, prepared));
            }
        }
    }

    /// Looks up what the segments know.
    fn prepare<'a>(&self, view: Arc<View>, requests: &[Request<'a>]) -> Result<Prepared<'a>> {
        let lookups: Vec<_> = requests.iter().map(|o| Lookup::new(o.url(), view.seed)).collect();
        let wanted: Vec<_> = requests.iter().map(|o| self.wanted(o)).collect();
        let also = requests.iter().filter(|o| o.also().is_some()).map(|o| self.wanted_also(o));
        let all: Vec<_> = wanted.into_iter().chain(also).collect();
        let mut found = segment_hits_of_many(&view.segments, &all)?.into_iter();
        let (wanted, mut wanted_also) = all.split_at(requests.len());
        let mut heads = Vec::new();
        let new = |o: &Request<'_>| {
            (false, 0..0, Effect::of(&mut None, &o.entry(), also_of(o).as_slice()), None)
        };
        let mut pages: Vec<_> = requests.iter().map(new).collect();
        view.known_in_segments(&lookups, |place, mut known| {
            let page = pages.get_mut(place).or_bug("a place is that of a lookup")?;
            let request = requests.get(place).or_bug("a place is that of a lookup")?;
            let start = heads.len();
            if let Some(head) = &known.head {
                put_carried(&mut heads, head, &[]);
            }
            let also = also_of(request);
            let effect = Effect::of(&mut known.head, &request.entry(), also.as_slice());
            *page = (known.standing.is_some(), start..heads.len(), effect, known.standing);
            Ok(())
        })?;
        let shown = |wanted: &Option<Wanted<'_>>, found: Found, standing| {
            let mut hits = Vec::new();
            for hit in found.hits {
                if let Some(wanted) = wanted
                    && view.may_show(wanted, &hit, standing)?
                {
                    hits.push(hit);
                }
            }
            Ok::<_, Error>(Found { hits, ..found })
        };
        let mut each = Vec::with_capacity(lookups.len());
        for (((lookup, wanted), found), page) in
            lookups.into_iter().zip(wanted).zip(found.by_ref()).zip(&pages)
        {
            let (earlier, head, effect, standing) = page.clone();
            let found = shown(wanted, found, standing)?;
            let also = Found::new(self.base.options.near_distance);
            each.push(Looked { lookup, earlier, head, effect, found, also });
        }
        // What is left are the hits of the other fingerprints.
        let both = each.iter_mut().zip(requests).zip(&pages);
        for ((looked, _), (.., standing)) in both.filter(|((_, o), _)| o.also().is_some()) {
            let (wanted, rest) =
                wanted_also.split_first().or_bug("each of them is searched for")?;
            let also = found.next().or_bug("each search has an answer")?;
            looked.also = shown(wanted, also, *standing)?;
            wanted_also = rest;
        }
        let is_all = each.len() == requests.len() && found.next().is_none();
        ensure(is_all && wanted_also.is_empty(), "each observation is looked up, and each search")?;
        Ok(Prepared { view, skipped: 0, each, heads })
    }

    /// What is searched for beside a request: other pages near its content.
    fn wanted<'a>(&self, request: &Request<'a>) -> Option<Wanted<'a>> {
        let content = request.seen()?;
        (self.base.options.near_limit > 0).then_some(Wanted {
            fingerprint: content.compared()?,
            k: self.base.options.near_distance,
            epoch: content.epoch.0,
            limit: self.base.options.near_limit,
            versions: Versions::InForce,
            under: None,
            except: Some(request.url()),
            digest: content.digest,
            bounds: Some(bounds(self.base.options.near_limit, self.base.options.near_fingerprints)),
        })
    }

    /// What is wanted near a request's second fingerprint, if it has one.
    fn wanted_also<'a>(&self, request: &Request<'a>) -> Option<Wanted<'a>> {
        let also = also_of(request)?;
        let (fingerprint, epoch) = (also.compared()?, also.epoch.0);
        self.wanted(request).map(|wanted| Wanted { fingerprint, epoch, ..wanted })
    }

    /// Applies observation number `at` under the write lock. Says also whether the memtable is now
    /// full.
    fn apply(
        &self,
        writer: &mut Writer,
        prepared: &mut Prepared<'_>,
        at: usize,
        request: &Request<'_>,
    ) -> Result<(Answer, bool)> {
        let Prepared { view, skipped, each, heads } = prepared;
        let looked = at.checked_sub(*skipped).and_then(|at| each.get_mut(at));
        let looked = looked.or_bug("each observation was looked up")?;
        let lookup = &looked.lookup;
        let active = &view.memtables.active;
        let Writer { next_sequence, pending, packed } = writer;
        packed.clear();
        // What the memtables know is newer than what the segments do.
        let known = view.known_in_memory(lookup)?;
        let standing = known.as_ref().and_then(|known| known.standing);
        let own = standing.filter(|standing| standing.component == ComponentId::Active);
        let mut number = own.map(|standing| standing.page);
        let mut earlier = looked.earlier;
        let judged = if let Some(known) = known {
            if let Some(head) = known.head.as_ref().filter(|_| number.is_none()) {
                put_carried(packed, head, &[]);
            }
            earlier = standing.is_some();
            judge_all(view, lookup, known.head, request)?
        } else {
            let head = heads.get(looked.head.clone());
            packed.extend_from_slice(head.or_bug("a head lies among those that were packed")?);
            match looked.effect {
                Effect { verdict: Some(verdict), .. } if is_alone(request) => {
                    Judged::visit(verdict, request.entry(), looked.effect)
                }
                _ => judge_all(view, lookup, unpack_head(packed), request)?,
            }
        };
        let found = [&mut looked.found, &mut looked.also];
        let answer = self.answer(view, request, &judged, found)?;
        let mut full = false;
        for (entry, effect) in judged.operations {
            let sequence = *next_sequence;
            let place = match number {
                Some(number) => Place::Known(number),
                None => Place::New { url: lookup.url, earlier, head: packed },
            };
            pending
                .push(active.journal, sequence, |out| journal::put_entry(out, &place, &entry))?;
            *next_sequence += 1;
            let mut inner = active.write();
            let page = match number {
                Some(page) => page,
                None => inner.add_page(sequence, lookup.url, lookup.hash, earlier, packed)?,
            };
            inner.enter(sequence, page, entry, &effect)?;
            number = Some(page);
            full = self.admission.is_full(&inner);
        }
        Ok((answer, full))
    }

    /// What the store says to a request, with the pages near what was seen.
    fn answer(
        &self,
        view: &View,
        request: &Request<'_>,
        judged: &Judged,
        [found, also]: [&mut Found; 2],
    ) -> Result<Answer> {
        let verdict = match judged.meaning {
            Meaning::Visit(verdict) => verdict,
            Meaning::Restated(outcome) => return Ok(Answer::Restated(outcome)),
        };
        let (also_stored, copies, near) = (judged.also(), Vec::new(), Vec::new());
        let mut outcome = Outcome { verdict, also: also_stored, copies, near, complete: true };
        let Some(wanted) = self.wanted(request) else { return Ok(Answer::Observed(outcome)) };
        view.add_memory(&wanted, found);
        let mut findings = view.near(&wanted, u64::MAX, found)?;
        if let Some(wanted) = self.wanted_also(request) {
            // In force a page has one fingerprint, of the one epoch or of the other.
            view.add_memory(&wanted, also);
            let others = view.near(&wanted, u64::MAX, also)?;
            findings.copies.extend(others.copies);
            findings.near = together(findings.near, others.near);
            findings.complete &= others.complete && findings.near.len() <= wanted.limit;
            findings.near.truncate(wanted.limit);
        }
        outcome.complete = findings.complete;
        outcome.near = findings.near;
        let mut copies = Vec::new();
        for copy in findings.copies {
            if let Some(digest) = wanted.digest {
                let first = first_seen(view, &copy.url, digest)?;
                copies.push(ExactCopy { url: copy.url, first });
            }
        }
        if request.also().is_some() {
            copies.sort_by_cached_key(|copy| surt::key_of(&copy.url));
        }
        // In SURT order so far, so copies first seen at the same time stay in it.
        copies.sort_by_key(|copy| copy.first);
        outcome.complete &= copies.len() <= self.base.options.near_limit;
        copies.truncate(self.base.options.near_limit);
        outcome.copies = copies;
        Ok(Answer::Observed(outcome))
    }
}

/// Two smaller chunks, for two threads to begin with; then one is applied while the next is looked
/// up.
fn chunks<'s, 'a>(requests: &'s [Request<'a>]) -> impl Iterator<Item = &'s [Request<'a>]> {
    let tenth = requests.len().div_ceil(10);
    let size = |tenths: usize| match requests.len() {
        few if few < 2 * CHUNK_MIN => few.max(1),
        _ => (tenths * tenth).clamp(CHUNK_MIN, CHUNK_MAX),
    };
    let (first, rest) = requests.split_at((2 * size(2)).min(requests.len()));
    first.chunks(size(2)).chain(rest.chunks(size(3)))
}

impl Prepared<'_> {
    /// Puts `skipped` observations before them, of which nothing is said.
    fn after(self, skipped: usize) -> Self {
        Prepared { skipped, ..self }
    }

    /// What is said of observation number `at`.
    fn get(&self, at: usize) -> Option<&Looked<'_>> {
        self.each.get(at.checked_sub(self.skipped)?)
    }

    /// Tells the processor what the memtables will be asked for soon after observation `at`.
    fn prefetch(&self, requests: &[Request<'_>], at: usize) {
        /// Observations for which this is done at once, since it takes the memtables' locks.
        const TOGETHER: usize = 8;
        if !at.is_multiple_of(TOGETHER) {
            return;
        }
        let soon = at + TOGETHER..at + 2 * TOGETHER;
        let later = |by: usize| soon.start + by * TOGETHER..soon.end + by * TOGETHER;
        let looked = |range: Range<usize>| range.filter_map(|at| self.get(at));
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            // A page's place, then the page, then what it has.
            looked(later(2)).for_each(|looked| inner.prefetch_place(looked.lookup.hash));
            looked(later(1)).for_each(|looked| inner.prefetch_page(looked.lookup.hash));
            looked(soon.clone()).for_each(|looked| inner.prefetch_contents(looked.lookup.hash));
            // Of the last few nothing is asked for.
            let contents = requests.get(soon.clone()).unwrap_or(&[]).iter();
            for content in contents.filter_map(Request::seen) {
                if let Some(fingerprint) = content.compared() {
                    inner.prefetch(content.epoch.0, fingerprint);
                }
            }
        }
    }
}

/// When a page was first seen with a digest.
fn first_seen(view: &View, url: &str, digest: Digest) -> Result<i64> {
    let entries = view.entries(&Lookup::new(url, view.seed), u64::MAX)?;
    let has_it = |entry: &Entry| entry.content().is_some_and(|c| c.digest == Some(digest));
    let first = entries.iter().find(|entry| has_it(entry)).map(Entry::time);
    let what = "a page has a content in force that no entry of it has";
    first.ok_or_else(|| Error::corrupt("segments", 0, what))
}
