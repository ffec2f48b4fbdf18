//! What is shown on a terminal while files are read: a bar of bytes.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const DRAWN_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Gauge {
    bar: ProgressBar,
    drawn: Option<Instant>,
}

impl Gauge {
    pub(super) fn new() -> Gauge {
        let bar = if io::stderr().is_terminal() {
            let template = "{wide_bar} {bytes}/{total_bytes}  {msg}  {eta} left";
            let style = ProgressStyle::with_template(template);
            let bar = ProgressBar::new(0);
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::hidden()
        };
        Gauge { bar, drawn: None }
    }

    pub(super) fn show(&mut self, done: u64, of: u64, message: String) {
        if self.bar.is_hidden() || self.drawn.is_some_and(|at| at.elapsed() < DRAWN_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        self.bar.set_length(of);
        self.bar.set_position(done);
        self.bar.set_message(message);
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}
