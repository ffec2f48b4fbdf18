//! Checkpoints of frequently visited pages. They save folding all entries from the first visit each
//! time.

use smallvec::SmallVec;

use super::{Arrival, MemtablePage, PageColumns, PageSlot};
use crate::bug::{Bug, OrBug};
use crate::page::{EpochInfo, PageHistory};
use crate::segment::put_history;

/// A checkpoint: the state of a page as of some operation.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// The last operation in the checkpoint.
    pub(super) sequence: u64,
    /// The last arrival in the checkpoint.
    pub(super) arrival: u32,
    /// The offset of the checkpoint's head in the heads.
    pub(super) head: usize,
    pub(super) head_len: u32,
    pub(super) kind: CheckpointKind,
    /// The previous checkpoint of the page.
    pub(super) before: Option<u32>,
}

/// The contents of a checkpoint besides the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckpointKind {
    /// No other contents.
    Head,
    /// No other contents, because an entry came late: the change statistics must be computed again.
    Late,
    /// The change statistics. All entries in the checkpoint came in order.
    Changes,
}

/// The contents of a new checkpoint.
struct NewCheckpoint {
    /// The last operation and the last arrival in the checkpoint.
    sequence: u64,
    arrival: u32,
    history: PageHistory,
    kind: CheckpointKind,
    /// The number of arrivals after the checkpoint.
    later: u32,
}

/// The number of arrivals of a page between checkpoints.
pub(super) const CHECKPOINT_ARRIVALS: u32 = 32;

impl<'a> MemtablePage<'a> {
    /// The checkpoints of the page, the latest first.
    #[expect(clippy::indexing_slicing, reason = "a checkpoint names one that came before it")]
    fn checkpoints(&self) -> impl Iterator<Item = &'a Checkpoint> + use<'a> {
        let checkpoints = &self.pages.checkpoints;
        let of = move |at: Option<u32>| at.map(|at| &checkpoints[at as usize]);
        // The checkpoints are linked backwards, because nearly every lookup needs the last state.
        std::iter::successors(of(self.page.checkpoint), move |c| of(c.before))
    }

    /// The packed page at the last suitable checkpoint at or before `sequence`, and the arrivals
    /// after the checkpoint up to `sequence`. Without such a checkpoint, the page's head in older
    /// components, and all arrivals.
    pub(super) fn since_checkpoint(
        &self,
        sequence: u64,
        is_enough: fn(CheckpointKind) -> bool,
    ) -> (&'a [u8], impl Iterator<Item = (u32, &'a Arrival)> + use<'a>) {
        let reset = self.last_reset(sequence);
        let (packed, first) = match self.checkpoint(sequence, is_enough) {
            Some(c) => (self.pages.packed(c.head, c.head_len), self.after(c)),
            None => {
                let PageSlot { head, head_len, arrivals, .. } = *self.page;
                let packed = self.pages.packed(head, head_len);
                // A forgotten page starts without a head.
                let older = if reset.is_none() { packed } else { &[] };
                (older, arrivals.map(|(first, _)| first))
            }
        };
        (packed, self.arrivals_from(first, reset.unwrap_or(0), sequence))
    }

    /// The last suitable checkpoint at or before `sequence`; `None` if the page was forgotten after
    /// the checkpoint.
    pub(super) fn checkpoint(
        &self,
        sequence: u64,
        is_enough: fn(CheckpointKind) -> bool,
    ) -> Option<&'a Checkpoint> {
        let last = self.checkpoints().find(|c| c.sequence <= sequence && is_enough(c.kind));
        let reset = self.last_reset(sequence);
        // If this checkpoint is older than the reset, all earlier checkpoints are older, too.
        last.filter(|c| reset.is_none_or(|reset| reset < c.sequence))
    }

    /// The first arrival after a checkpoint.
    #[expect(
        clippy::indexing_slicing,
        reason = "a checkpoint names an arrival that came before it"
    )]
    pub(super) fn after(&self, checkpoint: &Checkpoint) -> Option<u32> {
        self.pages.arrivals[checkpoint.arrival as usize].next
    }

    /// The contents of a new checkpoint: the page with its change statistics, up to an entry that
    /// later entries cannot affect. If all entries since the last checkpoint belong to one visit,
    /// the checkpoint has only the current head.
    fn new_checkpoint(&self, epochs: &[EpochInfo]) -> Result<NewCheckpoint, Bug> {
        let recent: SmallVec<[(u32, &Arrival); CHECKPOINT_ARRIVALS as usize]> =
            self.since_checkpoint(u64::MAX, |_| true).1.collect();
        // The last visit may still get a restatement, which changes the visit's comparison. So the
        // checkpoint ends before that visit.
        let settled = PageHistory::settled(recent.iter().map(|(_, arrival)| &arrival.entry));
        // Without epochs nothing can be compared, so a replay without epochs keeps heads only.
        let last = settled.checked_sub(1).filter(|_| !epochs.is_empty());
        let followed = last.and_then(|last| recent.get(last));
        let course = followed.map(|(_, last)| self.history_at(last.sequence, epochs));
        let is_page = |course: &PageHistory| course.head.is_some();
        let (last, course, kind, later) = match followed.zip(course.filter(is_page)) {
            Some((last, course)) => {
                let kind = if course.changes.is_some() {
                    CheckpointKind::Changes
                } else {
                    CheckpointKind::Late
                };
                (Some(last), course, kind, recent.len() - settled)
            }
            None => {
                let course = PageHistory { head: self.head(), changes: None };
                (recent.last(), course, CheckpointKind::Head, 0)
            }
        };
        let (arrival, last) = last.or_bug("a page with a checkpoint has an entry")?;
        let later = u32::try_from(later).ok().or_bug("there are few entries since a checkpoint")?;
        Ok(NewCheckpoint {
            sequence: last.sequence,
            arrival: *arrival,
            history: course,
            kind,
            later,
        })
    }
}

impl PageColumns {
    /// Adds a checkpoint of a page.
    pub(super) fn add_checkpoint(&mut self, number: u32, epochs: &[EpochInfo]) -> Result<(), Bug> {
        let kept = self.page(number).new_checkpoint(epochs)?;
        let head = self.heads.len();
        // Without a head nothing is packed, and `unpack_history` reads an empty slice as no page.
        if let Some(now) = kept.history.head {
            put_history(&mut self.heads, &now, kept.history.changes.as_ref());
        }
        let head_len = u32::try_from(self.heads.len() - head).ok();
        let head_len = head_len.or_bug("a head has less than 4 GiB")?;
        let place = u32::try_from(self.checkpoints.len()).ok();
        let place = place.or_bug("there are fewer checkpoints than visits")?;
        let page = self
            .pages
            .get_mut(number as usize)
            .or_bug("pages are never removed from a memtable")?;
        let before = page.checkpoint.replace(place);
        // Entries after the checkpoint count towards the next checkpoint.
        page.arrivals_since = kept.later;
        let NewCheckpoint { sequence, arrival, kind, .. } = kept;
        self.checkpoints.push(Checkpoint { sequence, arrival, head, head_len, kind, before });
        Ok(())
    }
}
