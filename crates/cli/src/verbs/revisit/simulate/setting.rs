//! A description of the simulation, in words.

use simkeep::Time;
use simkeep::query::Replay;
use simkeep::recrawl::simulate::Span;

use super::words;

/// The parameters of the simulation.
pub(super) struct SimulationSetting {
    /// The number of pages, including pages that are not in the sample.
    pub(super) pages: u64,
    /// The fraction of the pages that are simulated.
    pub(super) sample: f64,
    pub(super) days: f64,
    /// The lines below the table.
    pub(super) note: Vec<String>,
    /// The first and the last time of the store; `None` for random pages.
    pub(super) times: Option<(Time, Time)>,
}

impl SimulationSetting {
    /// The lines below the table about the pages of a store.
    pub(super) fn of_replay(sample: f64, replay: &Replay) -> Vec<String> {
        let mut note = vec![
            "Each version counts from the visit that found it to the visit that found the next version."
                .to_owned(),
            "Changes between two visits are unknown.".to_owned(),
        ];
        if sample < 1.0 {
            let pages = words::count(replay.pages.len() as u64);
            note.push(format!(
                "The simulation crawls {pages} of the pages, with the same share of the visits."
            ));
        }
        note
    }

    /// The title of the plot.
    pub(super) fn title(&self) -> String {
        format!("Freshness by visits a day, {}", words::many(self.pages, "page", "pages"))
    }

    /// The lines above the table.
    pub(super) fn lines(&self, per_day: f64, span: Span, worlds: usize) -> Vec<String> {
        let pages = words::many(self.pages, "page", "pages");
        let every = self.pages as f64 / per_day;
        let mut lines = vec![format!(
            "{pages}, {per_day:.4} visits a day: one visit to each page in {every:.3} days"
        )];
        lines.push(match self.times {
            Some((first, last)) => {
                format!("{} to {}, measured from day {:.0} on", first, last, span.from())
            }
            None => format!(
                "{:.0} days, measured from day {:.0} on; means of {}",
                self.days,
                span.from(),
                words::many(worlds as u64, "crawl", "crawls")
            ),
        });
        lines
    }
}
