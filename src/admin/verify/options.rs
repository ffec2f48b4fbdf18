//! Options of a check, its progress, and its result.

use std::time::{Duration, Instant};

use crate::engine::settings::settings;
use crate::error::{Corruption, Error, Result};
use crate::progress::{Progress, Stage};

settings! {
    /// Options of a [`Store::verify`](crate::Store::verify) or a
    /// [`verify`](crate::verify::verify()).
    ///
    /// ```
    /// use simkeep::verify::VerifyOptions;
    /// use simkeep::Progress;
    ///
    /// let progress = Progress::default();
    /// let options = VerifyOptions::default().rate(Some(50 << 20)).progress(progress.clone());
    /// assert_eq!(options.flaws_max, 1000);
    /// ```
    pub struct VerifyOptions {
        /// The maximum number of bytes to read per second. Default: no limit.
        pub rate: Option<u64> = None,
        /// The maximum number of flaws to report one by one; further flaws are only counted.
        /// Default: 1000.
        pub flaws_max: usize = 1000,
        /// Reports progress, in bytes read, and allows cancellation. Segments are read twice: block
        /// by block, and then page by page. Default: a progress that nobody reads.
        pub progress: Progress = Progress::default(),
    }
}

/// The result of a check.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::verify::VerifyOptions;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let verified = store.verify(VerifyOptions::default())?;
/// assert_eq!((verified.pages, verified.visits), (1, 1));
/// for flaw in &verified.flaws {
///     println!("{flaw}"); // the file, the byte, and the damage
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The number of files.
    pub files: usize,
    /// The total size of the files in bytes.
    pub bytes: u64,
    /// The number of pages; not counted if there are flaws.
    pub pages: u64,
    /// The number of visits; not counted if there are flaws.
    pub visits: u64,
    /// Whether the catalog, or the generation of a published store, was read. The catalog is not
    /// read if a writer in another process has it open.
    pub catalog: bool,
    /// The first flaws, file by file and block by block.
    pub flaws: Vec<Corruption>,
    /// The number of further flaws.
    pub more_flaws: u64,
}

impl Verified {
    /// Whether no flaw was found.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// use simkeep::verify::VerifyOptions;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let verified = store.verify(VerifyOptions::default())?;
    /// assert!(verified.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_sound(&self) -> bool {
        self.flaws.is_empty()
    }

    /// Returns this result, if nothing is damaged.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// use simkeep::verify::VerifyOptions;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // An error if anything is damaged.
    /// let verified = store.verify(VerifyOptions::default())?.sound()?;
    /// println!("{} bytes are sound", verified.bytes);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first flaw.
    pub fn sound(mut self) -> Result<Verified> {
        if self.is_sound() { Ok(self) } else { Err(Error::Corrupt(self.flaws.swap_remove(0))) }
    }

    /// The number of flaws.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// use simkeep::verify::VerifyOptions;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // Counts all flaws, and describes the first of them.
    /// let verified = store.verify(VerifyOptions::default().flaws_max(1))?;
    /// assert_eq!(verified.flaw_count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn flaw_count(&self) -> u64 {
        self.flaws.len() as u64 + self.more_flaws
    }
}

/// The number of bytes between two checks of the clock and for cancellation.
const STEP: u64 = 1 << 20;

/// The longest pause between two checks for cancellation.
const PAUSE: Duration = Duration::from_millis(100);

/// Limits the rate of reads, reports progress, and checks for cancellation.
pub(crate) struct ReadPacer {
    rate: Option<u64>,
    progress: Progress,
    started: Instant,
    done: u64,
    seen: u64,
}

impl ReadPacer {
    /// Starts a check.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the progress was cancelled before the check started.
    pub(crate) fn start(rate: Option<u64>, progress: Progress) -> Result<ReadPacer> {
        progress.start(Stage::Checking, None)?;
        Ok(ReadPacer { rate, progress, started: Instant::now(), done: 0, seen: 0 })
    }

    /// Adds to the expected bytes.
    pub(crate) fn add_total(&mut self, bytes: u64) {
        self.progress.add_total(bytes);
    }

    /// Adds to the number of flaws.
    pub(crate) fn find(&mut self, flaws: u64) {
        self.progress.add_found(flaws);
    }

    /// Adds to the bytes read.
    pub(crate) fn pass(&mut self, bytes: u64) -> Result<()> {
        self.progress.pass(bytes);
        self.done = self.done.saturating_add(bytes);
        // A low rate limit is enforced in smaller steps.
        let step = self.rate.map_or(STEP, |rate| (rate / 8).clamp(1, STEP));
        if self.done - self.seen < step { Ok(()) } else { self.keep() }
    }

    /// Ends the check after all reads.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.keep()?;
        self.progress.finish();
        Ok(())
    }

    /// Pauses if the check is ahead of its rate.
    fn keep(&mut self) -> Result<()> {
        self.seen = self.done;
        loop {
            self.progress.check()?;
            let due = self.rate.map_or(0.0, |rate| self.done as f64 / rate.max(1) as f64);
            let ahead = Duration::try_from_secs_f64(due).unwrap_or(Duration::MAX);
            match ahead.checked_sub(self.started.elapsed()).filter(|ahead| !ahead.is_zero()) {
                Some(ahead) => std::thread::sleep(ahead.min(PAUSE)),
                None => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_limits_its_rate_and_can_be_cancelled() {
        let progress = Progress::default();
        let mut pace = ReadPacer::start(Some(20_000), progress.clone()).unwrap();
        pace.add_total(4000);
        let since = Instant::now();
        (0..40).try_for_each(|_| pace.pass(100)).unwrap();
        assert!(since.elapsed() >= Duration::from_millis(90), "{:?}", since.elapsed());
        assert_eq!((progress.done(), progress.total()), (4000, Some(4000)));
        let mut pace = ReadPacer::start(None, progress.clone()).unwrap();
        progress.cancel();
        assert!(matches!(pace.pass(2 << 20), Err(Error::Cancelled)));
        assert!(matches!(ReadPacer::start(None, progress), Err(Error::Cancelled)));
    }
}
