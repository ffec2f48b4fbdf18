//! Results, as one JSON object per line or as aligned text.

use std::io::Write;

use serde_json::Value;

use crate::measure::RoundSpread;

/// The printer of results.
pub(crate) struct PeerReport {
    /// Whether results are printed as JSON.
    pub(crate) json: bool,
}

/// A result: named values in order.
pub(crate) struct PeerRow(Vec<(String, Value)>);

impl PeerRow {
    /// Creates a result of this kind.
    pub(crate) fn new(bench: &str) -> PeerRow {
        PeerRow(Vec::new()).text("bench", bench)
    }

    /// Adds a text.
    pub(crate) fn text(self, name: &str, value: &str) -> PeerRow {
        self.add(name, value.into())
    }

    /// Adds a whole number.
    pub(crate) fn count(self, name: &str, value: u64) -> PeerRow {
        self.add(name, value.into())
    }

    /// Adds a number, rounded to three decimals.
    pub(crate) fn number(self, name: &str, value: f64) -> PeerRow {
        self.add(name, ((value * 1e3).round() / 1e3).into())
    }

    /// Adds the median of the rounds, with minimum and maximum.
    pub(crate) fn spread(self, name: &str, value: RoundSpread) -> PeerRow {
        let row = self.number(name, value.median);
        let row = row.number(&format!("{name}_least"), value.least);
        row.number(&format!("{name}_most"), value.most)
    }

    fn add(mut self, name: &str, value: Value) -> PeerRow {
        self.0.push((name.to_owned(), value));
        self
    }
}

impl PeerReport {
    /// Prints a result immediately, so that an interrupted run has shown its results.
    pub(crate) fn print(&self, row: &PeerRow) {
        let mut out = String::new();
        if self.json {
            let fields: Vec<String> =
                row.0.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            out = format!("{{{}}}\n", fields.join(","));
        } else {
            for (name, value) in &row.0 {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                out += &format!("{name:<32} {value:>16}\n");
            }
            out.push('\n');
        }
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()).unwrap();
    }
}
