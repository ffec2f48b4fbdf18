//! The progress of an ingest: a bar on a terminal, and messages about broken records.

use std::time::{Duration, Instant};

use super::summary::Summary;
use crate::exit::say;
use crate::input::complaints::Named;
use crate::output::progress::ReadingBar;
use crate::output::words::count;
use simkeep_formats::{Broken, Source};

pub(super) struct Progress {
    started: Instant,
    bar: ReadingBar,
    broken: Named,
    wrong: Named,
}

impl Progress {
    pub(super) fn new(sources: &[Source]) -> Progress {
        let (broken, wrong) = (Named::broken(), Named::wrong());
        Progress { started: Instant::now(), bar: ReadingBar::new(sources), broken, wrong }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Reports a broken record, up to a limit.
    pub(super) fn broken(&mut self, broken: &Broken) {
        let message = self.broken.add(broken);
        self.say(message);
    }

    /// Counts a digest that does not match its content, and reports it, up to a limit.
    pub(super) fn wrong(&mut self, wrong: &Broken) {
        let message = self.wrong.add(wrong);
        self.say(message);
    }

    fn say(&self, message: Option<String>) {
        message.into_iter().for_each(|message| self.bar.suspend(|| say(&message)));
    }

    pub(super) fn show(&mut self, bytes: u64, summary: &Summary) {
        let rate = summary.records as f64 / self.elapsed().as_secs_f64().max(0.001);
        self.bar.show(bytes, || format!("{} records, {rate:.0} a second", count(summary.records)));
    }

    /// Removes the bar, and prints how many messages were suppressed.
    pub(super) fn finish(&mut self) {
        self.bar.finish();
        let rest = [self.broken.rest(), self.wrong.rest()];
        rest.into_iter().flatten().for_each(|message| say(&message));
    }
}
