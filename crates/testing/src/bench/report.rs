//! Results: one JSON object a line, or aligned text.

use std::io::Write;

use serde_json::Value;

/// Where results go.
pub struct Report {
    /// Whether they are for a program to read.
    pub json: bool,
}

/// One result: named values in order.
pub struct Row(Vec<(&'static str, Value)>);

impl Row {
    /// A result of this measurement.
    pub fn new(bench: &'static str) -> Row {
        Row(vec![("bench", bench.into())])
    }

    /// Adds a text.
    pub fn text(self, name: &'static str, value: &str) -> Row {
        self.add(name, value.into())
    }

    /// Adds a whole number.
    pub fn count(self, name: &'static str, value: u64) -> Row {
        self.add(name, value.into())
    }

    /// Adds a whole number, if it is known.
    pub fn known(self, name: &'static str, value: Option<u64>) -> Row {
        self.add(name, value.into())
    }

    /// Adds a number, to six decimals.
    pub fn number(self, name: &'static str, value: f64) -> Row {
        self.add(name, ((value * 1e6).round() / 1e6).into())
    }

    /// Adds several values that belong together.
    pub fn and(self, add: impl FnOnce(Row) -> Row) -> Row {
        add(self)
    }

    fn add(mut self, name: &'static str, value: Value) -> Row {
        self.0.push((name, value));
        self
    }
}

impl Report {
    /// Prints a result at once, so that a run that is cut short has shown what it had.
    pub fn print(&self, row: Row) {
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
