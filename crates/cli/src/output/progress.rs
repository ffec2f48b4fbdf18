//! What is shown on a terminal while something takes long: how far it has come.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Builder, Thread};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use simkeep::{Progress, Stage};

use crate::output::words::{bytes, count, many};

/// What is shown where it is known how much there is to do.
const BAR: &str = "{wide_bar} {percent} %  {msg}  {elapsed}";

const DRAWN_EVERY: Duration = Duration::from_millis(100);

/// Does some work, and meanwhile shows on standard error how far it is, if that is a terminal.
pub(crate) fn watched<T>(work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    let mut drawn = None;
    drawing(|bar| show(&progress, &mut drawn, bar), || work(&progress))
}

/// Does some work that counts what it has done, and meanwhile shows that in the same way, once it has
/// taken a second.
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

/// Does some work, and meanwhile draws a bar again and again, if standard error is a terminal.
fn drawing<T>(look: impl FnMut(&ProgressBar) + Send, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Without a thread to be had it goes on unseen.
        let drawing = Builder::new().spawn_scoped(scope, || draw(look, &done)).ok();
        let drawing = drawing.map(|drawing| drawing.thread().clone());
        let _ends = Ends { done: &done, drawing };
        work()
    })
}

/// Ends the drawing, also where the work panics.
struct Ends<'d> {
    done: &'d AtomicBool,
    drawing: Option<Thread>,
}

impl Drop for Ends<'_> {
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
    let looks = (progress.stage(), progress.of().is_some());
    if drawn.replace(looks) != Some(looks) {
        bar.set_style(style(match looks.1 {
            true => BAR,
            false => "{spinner} {msg}  {elapsed}",
        }));
    }
    if let Some(of) = progress.of() {
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
