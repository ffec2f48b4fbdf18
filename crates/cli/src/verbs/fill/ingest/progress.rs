//! The progress of an ingest: a bar on a terminal, and messages about broken records.

use std::time::{Duration, Instant};

use super::summary::IngestSummary;
use crate::exit::print_message;
use crate::input::complaints::ComplaintLog;
use crate::output::progress::ReadingBar;
use crate::output::words::count;
use simkeep_formats::{BrokenRecord, InputSource};

pub(super) struct IngestProgress {
    started: Instant,
    bar: ReadingBar,
    broken: ComplaintLog,
    wrong: ComplaintLog,
}

impl IngestProgress {
    pub(super) fn new(sources: &[InputSource]) -> IngestProgress {
        let (broken, wrong) = (ComplaintLog::broken(), ComplaintLog::wrong());
        IngestProgress { started: Instant::now(), bar: ReadingBar::new(sources), broken, wrong }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Reports a broken record, up to a limit.
    pub(super) fn broken(&mut self, broken: &BrokenRecord) {
        let message = self.broken.add(broken);
        self.say(message);
    }

    /// Counts a digest that does not match its content, and reports it, up to a limit.
    pub(super) fn report_wrong_digest(&mut self, wrong: &BrokenRecord) {
        let message = self.wrong.add(wrong);
        self.say(message);
    }

    fn say(&self, message: Option<String>) {
        message.into_iter().for_each(|message| self.bar.suspend(|| print_message(&message)));
    }

    pub(super) fn show(&mut self, bytes: u64, summary: &IngestSummary) {
        let rate = summary.records as f64 / self.elapsed().as_secs_f64().max(0.001);
        self.bar.show(bytes, || format!("{} records, {rate:.0} a second", count(summary.records)));
    }

    /// Removes the bar, and prints how many messages were suppressed.
    pub(super) fn finish(&mut self) {
        self.bar.finish();
        let rest = [self.broken.suppressed_message(), self.wrong.suppressed_message()];
        rest.into_iter().flatten().for_each(|message| print_message(&message));
    }
}
