//! Results of a benchmark, as one JSON object per line or as aligned text.

use std::io::Write;

use serde_json::Value;

/// The printer of results.
pub struct BenchReport {
    /// Whether results are printed as JSON.
    pub json: bool,
}

/// A result: named values in order.
pub struct BenchRow(Vec<(&'static str, Value)>);

impl BenchRow {
    /// Creates the result of a measurement.
    pub fn new(bench: &'static str) -> BenchRow {
        BenchRow(vec![("bench", bench.into())])
    }

    /// Adds a text.
    pub fn text(self, name: &'static str, value: &str) -> BenchRow {
        self.add(name, value.into())
    }

    /// Adds a whole number.
    pub fn count(self, name: &'static str, value: u64) -> BenchRow {
        self.add(name, value.into())
    }

    /// Adds a whole number, if it is known.
    pub fn known(self, name: &'static str, value: Option<u64>) -> BenchRow {
        self.add(name, value.into())
    }

    /// Adds a number, rounded to six decimals.
    pub fn number(self, name: &'static str, value: f64) -> BenchRow {
        self.add(name, ((value * 1e6).round() / 1e6).into())
    }

    /// Adds several values that belong together.
    pub fn and(self, add: impl FnOnce(BenchRow) -> BenchRow) -> BenchRow {
        add(self)
    }

    fn add(mut self, name: &'static str, value: Value) -> BenchRow {
        self.0.push((name, value));
        self
    }
}

impl BenchReport {
    /// Prints a result immediately, so that an interrupted run has shown its results.
    pub fn print(&self, row: BenchRow) {
        let mut out = String::new();
        if self.json {
            let fields: Vec<String> =
                row.0.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            out = format!("{{{}}}\n", fields.join(","));
        } else {
            for (name, value) in &row.0 {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                out += &format!("{name:<28} {value:>16}\n");
            }
            out.push('\n');
        }
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()).unwrap();
    }
}
