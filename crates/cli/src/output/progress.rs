//! Progress bars on a terminal for work that takes long.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Builder, Thread};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use simkeep::{Progress, Stage};
use simkeep_formats::InputSource;

use crate::output::words::{bytes, count, many};

/// The template for work of known size.
const BAR: &str = "{wide_bar} {percent} %  {msg}  {elapsed}";

const DRAWN_EVERY: Duration = Duration::from_millis(100);

/// Runs some work and shows its progress on standard error, if that is a terminal.
pub(crate) fn with_progress_bar<T>(work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    let mut drawn = None;
    drawing(|bar| show(&progress, &mut drawn, bar), || work(&progress))
}

/// The progress of reading sources, drawn on standard error if that is a terminal.
pub(crate) struct ReadingBar {
    bar: ProgressBar,
    drawn: Instant,
}

impl ReadingBar {
    pub(crate) fn new(sources: &[InputSource]) -> ReadingBar {
        let drawn = Instant::now();
        if !io::stderr().is_terminal() {
            return ReadingBar { bar: ProgressBar::hidden(), drawn };
        }
        let all: Option<u64> = sources.iter().map(InputSource::bytes).sum();
        let (bar, template) = match all {
            Some(all) => {
                (ProgressBar::new(all), "{wide_bar} {bytes}/{total_bytes}  {msg}  {eta} left")
            }
            None => (ProgressBar::new_spinner(), "{spinner} {bytes} read  {msg}  {elapsed}"),
        };
        ReadingBar { bar: bar.with_style(style(template)), drawn }
    }

    /// Draws the number of bytes read and a message, at most once per [`DRAWN_EVERY`].
    pub(crate) fn show(&mut self, bytes: u64, message: impl FnOnce() -> String) {
        if self.bar.is_hidden() || self.drawn.elapsed() < DRAWN_EVERY {
            return;
        }
        self.drawn = Instant::now();
        self.bar.set_position(bytes);
        self.bar.set_message(message());
    }

    /// Runs a function that writes to standard error, with the bar hidden.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Runs work that counts its finished items, and draws the count on standard error once it has
/// taken a second, if that is a terminal.
pub(crate) fn counted<T>(what: &str, all: u64, work: impl FnOnce(&AtomicU64) -> T) -> T {
    const PATIENCE: Duration = Duration::from_secs(1);
    let (done, since) = (AtomicU64::new(0), Instant::now());
    let look = |bar: &ProgressBar| {
        if since.elapsed() >= PATIENCE {
            let done = done.load(Ordering::Relaxed);
            bar.set_style(style(BAR));
            bar.set_length(all);
            bar.set_position(done.min(all));
            bar.set_message(format!("{} of {} {what}", count(done), count(all)));
            bar.tick();
        }
    };
    drawing(look, || work(&done))
}

/// Runs some work and draws a bar repeatedly meanwhile, if standard error is a terminal.
fn drawing<T>(look: impl FnMut(&ProgressBar) + Send, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // If no thread can be started, the work runs without a bar.
        let drawing = Builder::new().spawn_scoped(scope, || draw(look, &done)).ok();
        let drawing = drawing.map(|drawing| drawing.thread().clone());
        let _ends = DrawingGuard { done: &done, drawing };
        work()
    })
}

/// Stops the drawing thread when dropped, also if the work panics.
struct DrawingGuard<'d> {
    done: &'d AtomicBool,
    drawing: Option<Thread>,
}

impl Drop for DrawingGuard<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.drawing.iter().for_each(Thread::unpark);
    }
}

fn draw(mut look: impl FnMut(&ProgressBar), done: &AtomicBool) {
    let bar = ProgressBar::new(0);
    while !done.load(Ordering::Acquire) {
        look(&bar);
        thread::park_timeout(DRAWN_EVERY);
    }
    bar.finish_and_clear();
}

fn show(progress: &Progress, drawn: &mut Option<(Stage, bool)>, bar: &ProgressBar) {
    let looks = (progress.stage(), progress.total().is_some());
    if drawn.replace(looks) != Some(looks) {
        bar.set_style(style(match looks.1 {
            true => BAR,
            false => "{spinner} {msg}  {elapsed}",
        }));
    }
    if let Some(of) = progress.total() {
        bar.set_length(of);
        bar.set_position(progress.done().min(of));
    }
    bar.set_message(message(progress));
    bar.tick();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn message(progress: &Progress) -> String {
    let done = progress.done();
    match progress.stage() {
        Stage::Gathering => format!("{} records read", count(done)),
        Stage::Merging => format!("{} records merged", count(done)),
        Stage::Writing => format!("{} records written", count(done)),
        Stage::Checking => match progress.found() {
            0 => format!("{} read", bytes(done)),
            found => format!("{} read, {}", bytes(done), many(found, "flaw", "flaws")),
        },
        Stage::Joining => many(progress.found(), "pair", "pairs"),
        Stage::Copying => format!("{} linked or copied", bytes(done)),
        Stage::Clustering => format!("{} in clusters", many(done, "fingerprint", "fingerprints")),
        Stage::Comparing => {
            let pairs = many(done, "pair of sites compared", "pairs of sites compared");
            format!("{pairs}, {} alike", count(progress.found()))
        }
        Stage::Counting => format!("{} counted", many(done, "page", "pages")),
        _ => String::new(),
    }
}
