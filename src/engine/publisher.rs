//! The publisher: the fallback state for readers in other processes, and the files kept for these
//! readers.
//!
//! A reader that cannot keep up with the catalog opens the state in `SNAPSHOT`. So `SNAPSHOT` is
//! replaced at every change of the live list, after the commit. A file that left the list is
//! removed some time after a `SNAPSHOT` without it is durable, because a reader may be about to
//! open the file. Within this process, a file stays as long as its segment is in use.

use std::io::ErrorKind;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use super::core::Core;
use super::manifest_check::row;
use crate::catalog::PublishedState;
use crate::disk::{Dir, FileName};
use crate::error::{Error, Result};
use crate::segment::Segment;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{LockRank, RankedMutex};

/// The time until the next attempt if the disk was full.
const RETRY: Duration = Duration::from_secs(2);

/// Writes `SNAPSHOT`, and removes the files of segments that left the manifest.
#[derive(Debug)]
pub(crate) struct Publisher {
    core: Arc<Core>,
    /// Whether the store is unfinished, because nothing was loaded. If so, nothing is published.
    unfinished: AtomicBool,
    state: RankedMutex<PublisherState>,
}

#[derive(Debug, Default)]
struct PublisherState {
    /// The time of the next attempt to publish, if the disk was full.
    again: Option<Instant>,
    /// Segments that left the manifest, oldest first.
    departed: Vec<RetiredSegments>,
    /// Segments whose files are removed with their last users.
    released: Vec<Weak<Segment>>,
}

#[derive(Debug)]
struct RetiredSegments {
    segments: Vec<Arc<Segment>>,
    /// The time when `SNAPSHOT` stopped listing the segments; `None` while it lists them.
    since: Option<Instant>,
}

impl PublisherState {
    /// Releases segments that have waited long enough. Their files are removed with their last
    /// users.
    fn release(&mut self, grace: Duration) {
        self.released.retain(|segment| segment.strong_count() > 0);
        self.departed.retain(|departed| {
            let due = departed.since.is_some_and(|since| since.elapsed() >= grace);
            if due {
                // Snapshots of this process may still read the segments. The last user removes the
                // file.
                departed.segments.iter().for_each(|segment| segment.remove_when_dropped());
                self.released.extend(departed.segments.iter().map(Arc::downgrade));
            }
            !due
        });
    }

    fn published(&mut self) {
        self.again = None;
        // The grace period starts with the first `SNAPSHOT` that does not list the segments, so an
        // older time is kept.
        self.departed.iter_mut().for_each(|d| d.since = d.since.or_else(|| Some(Instant::now())));
    }

    /// The time of the next work of the publisher; `None` if there is no work.
    fn due(&self, grace: Duration) -> Option<Instant> {
        let departures = self.departed.iter().filter_map(|departed| departed.since);
        departures.filter_map(|since| since.checked_add(grace)).chain(self.again).min()
    }
}

impl Publisher {
    pub(crate) fn new(core: &Arc<Core>, unfinished: bool) -> Publisher {
        let unfinished = AtomicBool::new(unfinished);
        let state = RankedMutex::new(LockRank::Publish, PublisherState::default());
        Publisher { core: Arc::clone(core), unfinished, state }
    }

    /// Publishes the live state; `departed` are the segments that left the live list. Costs two
    /// syncs. A full disk is not an error: publishing is tried again later.
    pub(crate) fn publish(&self, departed: Vec<Arc<Segment>>) -> Result<()> {
        self.try_to_publish(departed).map_err(|e| self.core.poison(e))
    }

    fn try_to_publish(&self, segments: Vec<Arc<Segment>>) -> Result<()> {
        self.core.catalog.check_locks()?;
        let mut state = self.state.lock();
        if !segments.is_empty() {
            state.departed.push(RetiredSegments { segments, since: None });
        }
        let mut written = self.write_published();
        if written.as_ref().is_err_and(Error::is_full) && !state.departed.is_empty() {
            // The departed segments may fill the disk. Without a `SNAPSHOT` no reader opens them.
            self.remove_published()?;
            state.published();
            state.release(Duration::ZERO);
            written = self.write_published();
        }
        match written {
            Ok(()) => state.published(),
            // The commit is durable, and `SNAPSHOT` is only a fallback for readers. So writing
            // continues.
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
        // The number is read after the view, so it is not less than the number of the view. The
        // number counts durable changes only, so `SNAPSHOT` is never ahead of the catalog.
        let changes = catalog.changes();
        let published = PublishedState {
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
        match disk.remove(FileName::Snapshot) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            removed => removed.map_err(|e| Error::io("remove", FileName::Snapshot, e))?,
        }
        let synced = disk.sync_dir(Dir::Root);
        synced.map_err(|e| Error::io("sync the directory of", FileName::Snapshot, e))
    }

    /// Publishes at open. The `orphans` of an earlier process are removed only after the live state
    /// is published, or after `SNAPSHOT` was removed.
    pub(crate) fn publish_at_open(&self, orphans: &[FileName]) -> Result<()> {
        let (finished, unfinished): (Vec<FileName>, Vec<FileName>) =
            orphans.iter().partition(|name| matches!(name, FileName::Segment(_)));
        // No `SNAPSHOT` ever listed the unfinished files.
        unfinished.into_iter().try_for_each(|name| self.remove_orphan(name))?;
        let mut written = self.write_published();
        if written.as_ref().is_err_and(Error::is_full) && !finished.is_empty() {
            // The old segments may fill the disk. `SNAPSHOT` may list them, so it is removed before
            // them.
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

    fn remove_orphan(&self, name: FileName) -> Result<()> {
        match self.core.disk.remove(name) {
            // A directory of another program may have the name `SNAPSHOT`. Or `SNAPSHOT` was
            // removed when nothing could be published.
            Err(e) if matches!(e.kind(), ErrorKind::IsADirectory | ErrorKind::NotFound) => Ok(()),
            removed => removed.map_err(|e| Error::io("remove", name, e)),
        }
    }

    /// Whether the store is unfinished.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished.load(Ordering::Acquire)
    }

    /// Marks the store as finished.
    pub(crate) fn finish(&self) {
        self.unfinished.store(false, Ordering::Release);
    }

    /// Releases all segments that left the manifest and that `SNAPSHOT` no longer lists. A reader
    /// that is about to open such a segment reads the list of segments again.
    pub(crate) fn release_all(&self) {
        self.state.lock().release(Duration::ZERO);
    }

    /// Releases the departed segments when the store closes. Files in use by snapshots are left to
    /// the next open: when the snapshots are dropped, another store may be in this directory.
    pub(crate) fn release_at_close(&self) {
        let in_place = self.core.is_in_place();
        let mut state = self.state.lock();
        if in_place {
            state.release(Duration::ZERO);
        }
        // Segments in use by a snapshot keep their files: the next open removes them.
        state.released.drain(..).filter_map(|held| held.upgrade()).for_each(|held| held.keep());
    }

    /// The time until [`catch_up`](Self::catch_up) has work. Does not wait for a thread that is
    /// publishing: that thread notifies the waiting threads when it is done.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        let due = self.state.try_lock()?.due(self.core.options.reader_grace);
        due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Publishes if an earlier attempt failed, and releases segments that have waited long enough.
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
