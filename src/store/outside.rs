//! What readers in other processes are told, and the files that are kept for them.
//!
//! A reader opens what `SNAPSHOT` names. So it is replaced at every change of the live list, after
//! the commit; and a file that left the list goes some time after a `SNAPSHOT` without it is
//! durable, since a reader may be about to open it. Within this process whoever holds a segment
//! keeps its file.

use std::io::ErrorKind;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use super::listed::row;
use super::shared::Shared;
use crate::catalog::Manifest;
use crate::disk::{Dir, Name};
use crate::error::{Error, Result};
use crate::segment::Segment;
use crate::sync::atomic::Ordering;

/// How long the next try waits when there was no room on the disk.
const RETRY: Duration = Duration::from_secs(2);

/// The state of what is told.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// When to tell again what could not be told for want of room.
    again: Option<Instant>,
    /// Segments that left the live list, oldest first.
    departed: Vec<Departed>,
    /// Those whose files go with their last holders.
    retired: Vec<Weak<Segment>>,
}

#[derive(Debug)]
struct Departed {
    segments: Vec<Arc<Segment>>,
    /// When `SNAPSHOT` ceased to name them; none while it does.
    told: Option<Instant>,
}

impl Outside {
    /// Lets go of those that have waited long enough: their files go with their last holders.
    fn let_go(&mut self, grace: Duration) {
        self.retired.retain(|segment| segment.strong_count() > 0);
        self.departed.retain(|departed| {
            let due = departed.told.is_some_and(|told| told.elapsed() >= grace);
            if due {
                departed.segments.iter().for_each(|segment| segment.remove_when_dropped());
                self.retired.extend(departed.segments.iter().map(Arc::downgrade));
            }
            !due
        });
    }

    fn told(&mut self) {
        self.again = None;
        self.departed.iter_mut().for_each(|d| d.told = d.told.or_else(|| Some(Instant::now())));
    }

    /// When there is something to do, if ever.
    fn due(&self, grace: Duration) -> Option<Instant> {
        let departures = self.departed.iter().filter_map(|departed| departed.told);
        departures.filter_map(|told| told.checked_add(grace)).chain(self.again).min()
    }
}

impl Shared {
    /// Tells readers in other processes what is live now; these segments are so no longer. Two
    /// syncs. A full disk is no failure: they are told later.
    pub(super) fn tell_readers(&self, departed: Vec<Arc<Segment>>) -> Result<()> {
        self.try_to_tell(departed).map_err(|e| self.poison(e))
    }

    fn try_to_tell(&self, segments: Vec<Arc<Segment>>) -> Result<()> {
        self.catalog.check_locks()?;
        let mut outside = self.outside.lock();
        if !segments.is_empty() {
            outside.departed.push(Departed { segments, told: None });
        }
        let mut written = self.write_manifest();
        if written.as_ref().is_err_and(Error::is_full) && !outside.departed.is_empty() {
            // They may be what fills the disk. Without a `SNAPSHOT` nobody opens them.
            self.remove_manifest()?;
            outside.told();
            outside.let_go(Duration::ZERO);
            written = self.write_manifest();
        }
        match written {
            Ok(()) => outside.told(),
            Err(e) if e.is_full() => outside.again = Some(Instant::now() + RETRY),
            Err(e) => return Err(e),
        }
        outside.let_go(self.options.reader_grace);
        Ok(())
    }

    fn write_manifest(&self) -> Result<()> {
        if self.unfinished.load(Ordering::Acquire) {
            return Ok(());
        }
        let view = self.view();
        // Asked after what it is of, and of what is durable: `SNAPSHOT` is never newer than it says, and
        // never ahead of the catalog.
        let changes = self.catalog.changes();
        let manifest = Manifest {
            written: SystemTime::now(),
            store: self.stamps.store(),
            changes,
            url_seed: view.seed,
            segments: view.segments.iter().map(|live| row(live.segment.frame())).collect(),
            epochs: view.epochs.to_vec(),
        };
        manifest.write(&self.disk)
    }

    fn remove_manifest(&self) -> Result<()> {
        match self.disk.remove(Name::Snapshot) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            removed => removed.map_err(|e| Error::io("remove", Name::Snapshot, e))?,
        }
        let synced = self.disk.sync_dir(Dir::Root);
        synced.map_err(|e| Error::io("sync the directory of", Name::Snapshot, e))
    }

    /// The same at open, where `orphans` are what is left of an earlier process: what is live is
    /// told before they go, or nothing is.
    pub(super) fn tell_readers_at_open(&self, orphans: &[Name]) -> Result<()> {
        let (finished, unfinished): (Vec<Name>, Vec<Name>) =
            orphans.iter().partition(|name| matches!(name, Name::Segment(_)));
        // No `SNAPSHOT` ever named these.
        unfinished.into_iter().try_for_each(|name| self.remove_orphan(name))?;
        let mut written = self.write_manifest();
        if written.as_ref().is_err_and(Error::is_full) && !finished.is_empty() {
            self.remove_manifest()?;
            finished.iter().try_for_each(|name| self.remove_orphan(*name))?;
            written = self.write_manifest();
        }
        match written {
            Ok(()) => finished.into_iter().try_for_each(|name| self.remove_orphan(name)),
            Err(e) if e.is_full() => {
                self.outside.lock().again = Some(Instant::now() + RETRY);
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    fn remove_orphan(&self, name: Name) -> Result<()> {
        match self.disk.remove(name) {
            // Somebody's directory of that name: none of ours. Or it went when it could not be told.
            Err(e) if matches!(e.kind(), ErrorKind::IsADirectory | ErrorKind::NotFound) => Ok(()),
            removed => removed.map_err(|e| Error::io("remove", name, e)),
        }
    }

    /// Lets go of all segments that left the live list and of which readers were told: a reader that
    /// is about to open one starts again.
    pub(super) fn let_go_of_all(&self) {
        self.outside.lock().let_go(Duration::ZERO);
    }

    /// The same when the store closes. What snapshots still hold is left to the next open: when they
    /// let go, another store may have come into this one's place.
    pub(super) fn let_go_at_close(&self) {
        let in_place = self.is_in_place();
        let mut outside = self.outside.lock();
        if in_place {
            outside.let_go(Duration::ZERO);
        }
        outside.retired.drain(..).filter_map(|held| held.upgrade()).for_each(|held| held.keep());
    }

    /// How long until [`attend_to_readers`](Self::attend_to_readers) has something to do. Waits for
    /// nobody: whoever is telling readers something just now wakes the others when that is done.
    pub(super) fn readers_wait(&self) -> Option<Duration> {
        let due = self.outside.try_lock()?.due(self.options.reader_grace);
        due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Tells what could not be told, and lets go of what has waited long enough.
    pub(super) fn attend_to_readers(&self) -> Result<()> {
        let again = self.outside.lock().again;
        if again.is_some_and(|again| again <= Instant::now()) {
            return self.tell_readers(Vec::new());
        }
        self.catalog.check_locks().map_err(|e| self.poison(e))?;
        self.outside.lock().let_go(self.options.reader_grace);
        Ok(())
    }
}
