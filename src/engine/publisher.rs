//! Publishing: what readers in other processes fall back to, and the files that are kept for them.
//!
//! A reader that cannot follow the catalog opens what `SNAPSHOT` names. So `SNAPSHOT` is replaced at
//! every change of the live list, after the commit. A file that left the list is removed some time
//! after a `SNAPSHOT` without it is durable, since a reader may be about to open it. Within this
//! process, a file stays as long as anybody holds its segment.

use std::io::ErrorKind;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use super::core::Core;
use super::manifest_check::row;
use crate::catalog::Published;
use crate::disk::{Dir, Name};
use crate::error::{Error, Result};
use crate::segment::Segment;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Rank, RankedMutex};

/// How long to wait for the next try if the disk was full.
const RETRY: Duration = Duration::from_secs(2);

/// Writes `SNAPSHOT`, and removes the files of segments that left the manifest.
#[derive(Debug)]
pub(crate) struct Publisher {
    core: Arc<Core>,
    /// Whether the store does not count as one yet, because nothing was loaded. Then nothing is
    /// published.
    unfinished: AtomicBool,
    state: RankedMutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When to try again to publish, if the disk was full.
    again: Option<Instant>,
    /// Segments that left the manifest, oldest first.
    departed: Vec<Departed>,
    /// Segments whose files are removed with their last holders.
    released: Vec<Weak<Segment>>,
}

#[derive(Debug)]
struct Departed {
    segments: Vec<Arc<Segment>>,
    /// When `SNAPSHOT` ceased to name them; `None` while it does.
    since: Option<Instant>,
}

impl State {
    /// Releases those that have waited long enough: their files are removed with their last
    /// holders.
    fn release(&mut self, grace: Duration) {
        self.released.retain(|segment| segment.strong_count() > 0);
        self.departed.retain(|departed| {
            let due = departed.since.is_some_and(|since| since.elapsed() >= grace);
            if due {
                // Snapshots of this process may still read them. The last holder removes the file.
                departed.segments.iter().for_each(|segment| segment.remove_when_dropped());
                self.released.extend(departed.segments.iter().map(Arc::downgrade));
            }
            !due
        });
    }

    fn published(&mut self) {
        self.again = None;
        // The grace counts from the first `SNAPSHOT` that does not name them, so an older time is kept.
        self.departed.iter_mut().for_each(|d| d.since = d.since.or_else(|| Some(Instant::now())));
    }

    /// When there is something to do, if ever.
    fn due(&self, grace: Duration) -> Option<Instant> {
        let departures = self.departed.iter().filter_map(|departed| departed.since);
        departures.filter_map(|since| since.checked_add(grace)).chain(self.again).min()
    }
}

impl Publisher {
    pub(crate) fn new(core: &Arc<Core>, unfinished: bool) -> Publisher {
        let unfinished = AtomicBool::new(unfinished);
        let state = RankedMutex::new(Rank::Publish, State::default());
        Publisher { core: Arc::clone(core), unfinished, state }
    }

    /// Publishes what is live now; `departed` are the segments that no longer are. Costs two syncs.
    /// A full disk is not a failure: it is done later.
    pub(crate) fn publish(&self, departed: Vec<Arc<Segment>>) -> Result<()> {
        self.try_to_publish(departed).map_err(|e| self.core.poison(e))
    }

    fn try_to_publish(&self, segments: Vec<Arc<Segment>>) -> Result<()> {
        self.core.catalog.check_locks()?;
        let mut state = self.state.lock();
        if !segments.is_empty() {
            state.departed.push(Departed { segments, since: None });
        }
        let mut written = self.write_published();
        if written.as_ref().is_err_and(Error::is_full) && !state.departed.is_empty() {
            // They may be what fills the disk. Without a `SNAPSHOT` no reader opens them.
            self.remove_published()?;
            state.published();
            state.release(Duration::ZERO);
            written = self.write_published();
        }
        match written {
            Ok(()) => state.published(),
            // The commit is durable, and `SNAPSHOT` is only a fallback for readers. So writing goes on.
            Err(e) if e.is_full() => state.again = Some(Instant::now() + RETRY),
            Err(e) => return Err(e),
        }
        state.release(self.core.options.reader_grace);
        Ok(())
    }

    fn write_published(&self) -> Result<()> {
        if self.is_unfinished() {
            return Ok(());
        }
        let Core { disk, catalog, segment_ids, live, .. } = &*self.core;
        let view = live.view();
        // Read after the view, so the number is not less than that of the view. It counts durable
        // changes only, so `SNAPSHOT` is never ahead of the catalog.
        let changes = catalog.changes();
        let published = Published {
            written: SystemTime::now(),
            store: segment_ids.store(),
            changes,
            url_seed: view.seed,
            segments: view.segments.iter().map(|live| row(live.segment.frame())).collect(),
            epochs: view.epochs.to_vec(),
        };
        published.write(disk)
    }

    fn remove_published(&self) -> Result<()> {
        let disk = &self.core.disk;
        match disk.remove(Name::Snapshot) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            removed => removed.map_err(|e| Error::io("remove", Name::Snapshot, e))?,
        }
        let synced = disk.sync_dir(Dir::Root);
        synced.map_err(|e| Error::io("sync the directory of", Name::Snapshot, e))
    }

    /// Publishes at open, where `orphans` are what is left of an earlier process: what is live is
    /// published before they go, or nothing is.
    pub(crate) fn publish_at_open(&self, orphans: &[Name]) -> Result<()> {
        let (finished, unfinished): (Vec<Name>, Vec<Name>) =
            orphans.iter().partition(|name| matches!(name, Name::Segment(_)));
        // No `SNAPSHOT` ever named these.
        unfinished.into_iter().try_for_each(|name| self.remove_orphan(name))?;
        let mut written = self.write_published();
        if written.as_ref().is_err_and(Error::is_full) && !finished.is_empty() {
            // The old segments may be what fills the disk. `SNAPSHOT` may name them, so it goes before
            // they do.
            self.remove_published()?;
            finished.iter().try_for_each(|name| self.remove_orphan(*name))?;
            written = self.write_published();
        }
        match written {
            Ok(()) => finished.into_iter().try_for_each(|name| self.remove_orphan(name)),
            Err(e) if e.is_full() => {
                self.state.lock().again = Some(Instant::now() + RETRY);
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    fn remove_orphan(&self, name: Name) -> Result<()> {
        match self.core.disk.remove(name) {
            // Somebody's directory of that name: none of ours. Or it went when nothing could be
            // published.
            Err(e) if matches!(e.kind(), ErrorKind::IsADirectory | ErrorKind::NotFound) => Ok(()),
            removed => removed.map_err(|e| Error::io("remove", name, e)),
        }
    }

    /// Whether it is no store yet.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished.load(Ordering::Acquire)
    }

    /// From here on it is a store.
    pub(crate) fn finish(&self) {
        self.unfinished.store(false, Ordering::Release);
    }

    /// Releases all segments that left the manifest and that `SNAPSHOT` no longer names. A reader
    /// that is about to open one starts again.
    pub(crate) fn release_all(&self) {
        self.state.lock().release(Duration::ZERO);
    }

    /// Releases them when the store closes. What snapshots still hold is left to the next open: by
    /// the time they release it, another store may be in this place.
    pub(crate) fn release_at_close(&self) {
        let in_place = self.core.is_in_place();
        let mut state = self.state.lock();
        if in_place {
            state.release(Duration::ZERO);
        }
        // Those that a snapshot still holds keep their files: the next open removes them.
        state.released.drain(..).filter_map(|held| held.upgrade()).for_each(|held| held.keep());
    }

    /// How long until [`catch_up`](Self::catch_up) has something to do. Does not wait for a thread
    /// that is publishing: it wakes the others when it is done.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        let due = self.state.try_lock()?.due(self.core.options.reader_grace);
        due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Publishes what could not be published before, and releases what has waited long enough.
    pub(crate) fn catch_up(&self) -> Result<()> {
        let again = self.state.lock().again;
        if again.is_some_and(|again| again <= Instant::now()) {
            return self.publish(Vec::new());
        }
        self.core.catalog.check_locks().map_err(|e| self.core.poison(e))?;
        self.state.lock().release(self.core.options.reader_grace);
        Ok(())
    }
}
