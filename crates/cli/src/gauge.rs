//! What is shown on a terminal while something takes long: how far it has come.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use simkeep::{Progress, Stage};

use super::words::{bytes, count, many};

const DRAWN_EVERY: Duration = Duration::from_millis(100);

/// Does some work, and meanwhile shows on standard error how far it is, if that is a terminal.
pub(super) fn watched<T>(work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    if !io::stderr().is_terminal() {
        return work(&progress);
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Without a thread to be had it goes on unseen.
        let drawing = Builder::new().spawn_scoped(scope, || draw(&progress, &done)).ok();
        let drawing = drawing.map(|drawing| drawing.thread().clone());
        let _ends = Ends { done: &done, drawing };
        work(&progress)
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

fn draw(progress: &Progress, done: &AtomicBool) {
    let bar = ProgressBar::new(0);
    let mut drawn = None;
    while !done.load(Ordering::Acquire) {
        let looks = (progress.stage(), progress.of().is_some());
        if drawn.replace(looks) != Some(looks) {
            let template = match looks.1 {
                true => "{wide_bar} {percent} %  {msg}  {elapsed}",
                false => "{spinner} {msg}  {elapsed}",
            };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        if let Some(of) = progress.of() {
            bar.set_length(of);
            bar.set_position(progress.done().min(of));
        }
        bar.set_message(message(progress));
        bar.tick();
        thread::park_timeout(DRAWN_EVERY);
    }
    bar.finish_and_clear();
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
        _ => String::new(),
    }
}
