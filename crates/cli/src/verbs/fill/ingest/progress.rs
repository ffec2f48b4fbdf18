//! What is shown while an ingest goes on: on a terminal a bar, and broken records anywhere.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::summary::Summary;
use crate::exit::say;
use crate::input::complaints::Named;
use crate::output::words::count;
use simkeep_formats::{Broken, Source};

const DRAWN_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Progress {
    started: Instant,
    bar: ProgressBar,
    drawn: Instant,
    broken: Named,
    wrong: Named,
}

impl Progress {
    pub(super) fn new(sources: &[Source]) -> Progress {
        let started = Instant::now();
        let bar = if io::stderr().is_terminal() { bar(sources) } else { ProgressBar::hidden() };
        let (broken, wrong) = (Named::broken(), Named::wrong());
        Progress { started, bar, drawn: started, broken, wrong }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Names a broken record, unless very many have been named.
    pub(super) fn broken(&mut self, broken: &Broken) {
        let message = self.broken.add(broken);
        self.say(message);
    }

    /// Notes a digest that is not that of what it stands beside, and says so.
    pub(super) fn wrong(&mut self, wrong: &Broken) {
        let message = self.wrong.add(wrong);
        self.say(message);
    }

    fn say(&self, message: Option<String>) {
        message.into_iter().for_each(|message| self.bar.suspend(|| say(&message)));
    }

    pub(super) fn show(&mut self, bytes: u64, summary: &Summary) {
        if self.bar.is_hidden() || self.drawn.elapsed() < DRAWN_EVERY {
            return;
        }
        self.drawn = Instant::now();
        let rate = summary.records as f64 / self.elapsed().as_secs_f64().max(0.001);
        let records = count(summary.records);
        self.bar.set_position(bytes);
        self.bar.set_message(format!("{records} records, {rate:.0} a second"));
    }

    /// Takes the bar away, and says how many complaints were not made.
    pub(super) fn finish(&mut self) {
        self.bar.finish_and_clear();
        let rest = [self.broken.rest(), self.wrong.rest()];
        rest.into_iter().flatten().for_each(|message| say(&message));
    }
}

fn bar(sources: &[Source]) -> ProgressBar {
    let total: Option<u64> = sources.iter().map(Source::bytes).sum();
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{wide_bar} {bytes}/{total_bytes}  {msg}  {eta} left")
        }
        None => (ProgressBar::new_spinner(), "{spinner} {bytes} read  {msg}  {elapsed}"),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
