//! Settings of a check, its progress, and what it found.

use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::error::{Corruption, Error, Result};

type Callback<'w> = &'w mut dyn FnMut(&Verifying) -> ControlFlow<()>;

/// Settings of a [`Store::verify`](crate::Store::verify) or a [`verify`](crate::verify()).
///
/// ```
/// use std::ops::ControlFlow;
/// use simkeep::VerifyOptions;
///
/// let mut watch = |verifying: &simkeep::Verifying| {
///     eprintln!("{} of {} bytes", verifying.done, verifying.of);
///     ControlFlow::Continue(())
/// };
/// let options = VerifyOptions::default().rate(50 << 20).watch(&mut watch);
/// assert_eq!(options.rate, Some(50 << 20));
/// ```
pub struct VerifyOptions<'w> {
    /// The most bytes to read per second. Default: no limit.
    pub rate: Option<u64>,
    /// How many flaws to name; more are only counted. Default: 1000.
    pub flaws_max: usize,
    /// Asked every few megabytes, in the calling thread.
    pub watch: Option<Callback<'w>>,
}

impl Default for VerifyOptions<'_> {
    fn default() -> Self {
        VerifyOptions { rate: None, flaws_max: 1000, watch: None }
    }
}

impl fmt::Debug for VerifyOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("rate", &self.rate)
            .field("flaws_max", &self.flaws_max)
            .finish_non_exhaustive()
    }
}

impl<'w> VerifyOptions<'w> {
    /// Sets the most bytes to read per second.
    #[must_use]
    pub fn rate(mut self, bytes_a_second: u64) -> Self {
        self.rate = Some(bytes_a_second);
        self
    }

    /// Sets a callback that hears how far the check has come, and says whether to go on. Default: none.
    #[must_use]
    pub fn watch(mut self, watch: &'w mut dyn FnMut(&Verifying) -> ControlFlow<()>) -> Self {
        self.watch = Some(watch);
        self
    }
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verifying {
    /// Bytes read so far. Segments are read twice: block by block, and then page by page.
    pub done: u64,
    /// How many bytes will be read in all.
    pub of: u64,
    /// Flaws so far.
    pub flaws: u64,
    /// Time since it began.
    pub elapsed: Duration,
}

/// What a check read and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files.
    pub files: usize,
    /// Bytes of these files.
    pub bytes: u64,
    /// Pages; not counted if there are flaws.
    pub pages: u64,
    /// Visits; not counted if there are flaws.
    pub visits: u64,
    /// Whether the catalog was read. It is not if a writer in another process has it open.
    pub catalog: bool,
    /// The first flaws, file by file and block by block.
    pub flaws: Vec<Corruption>,
    /// How many more flaws there are.
    pub more_flaws: u64,
}

impl Verified {
    /// Whether nothing was found.
    pub fn is_sound(&self) -> bool {
        self.flaws.is_empty()
    }

    /// This result, if nothing is damaged.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first flaw.
    pub fn sound(mut self) -> Result<Verified> {
        if self.is_sound() { Ok(self) } else { Err(Error::Corrupt(self.flaws.swap_remove(0))) }
    }

    /// How many flaws there are.
    pub fn flaw_count(&self) -> u64 {
        self.flaws.len() as u64 + self.more_flaws
    }
}

/// Bytes after which the callback is asked, and the clock.
const TOLD_BYTES: u64 = 1 << 20;

/// How long a pause is, at most, before the callback is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// Reads no faster than it may, tells how far it has come, and hears whether it is to go on.
pub(crate) struct Pace<'w> {
    rate: Option<u64>,
    watch: Option<Callback<'w>>,
    started: Instant,
    done: u64,
    told: u64,
    pub(crate) of: u64,
    pub(crate) flaws: u64,
}

impl<'w> Pace<'w> {
    pub(crate) fn new(rate: Option<u64>, watch: Option<Callback<'w>>) -> Pace<'w> {
        Pace { rate, watch, started: Instant::now(), done: 0, told: 0, of: 0, flaws: 0 }
    }

    /// Notes that this many more bytes were read.
    pub(crate) fn pass(&mut self, bytes: u64) -> Result<()> {
        self.done = self.done.saturating_add(bytes);
        // A bound that is low is kept in smaller steps.
        let step = self.rate.map_or(TOLD_BYTES, |rate| (rate / 8).clamp(1, TOLD_BYTES));
        if self.done - self.told < step { Ok(()) } else { self.tell() }
    }

    /// Tells how far it has come, and pauses where it is ahead of its rate.
    pub(crate) fn tell(&mut self) -> Result<()> {
        self.told = self.done;
        loop {
            let elapsed = self.started.elapsed();
            let done = self.done.min(self.of);
            let verifying = Verifying { done, of: self.of, flaws: self.flaws, elapsed };
            if let Some(ControlFlow::Break(())) = self.watch.as_mut().map(|w| w(&verifying)) {
                return Err(Error::Cancelled);
            }
            let due = self.rate.map_or(0.0, |rate| self.done as f64 / rate.max(1) as f64);
            let ahead = Duration::try_from_secs_f64(due).unwrap_or(Duration::MAX);
            match ahead.checked_sub(elapsed).filter(|ahead| !ahead.is_zero()) {
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
    fn a_bounded_rate_is_kept_and_the_callback_ends_it() {
        let mut asked = 0;
        let mut watch = |verifying: &Verifying| {
            asked += 1;
            assert!(verifying.done <= 4000);
            ControlFlow::Continue(())
        };
        let mut pace = Pace::new(Some(20_000), Some(&mut watch));
        pace.of = 4000;
        let since = Instant::now();
        (0..40).try_for_each(|_| pace.pass(100)).unwrap();
        assert!(since.elapsed() >= Duration::from_millis(90), "{:?}", since.elapsed());
        assert!(asked > 0);
        let mut watch = |_: &Verifying| ControlFlow::Break(());
        let mut pace = Pace::new(None, Some(&mut watch));
        assert!(matches!(pace.pass(2 << 20), Err(Error::Cancelled)));
    }
}
