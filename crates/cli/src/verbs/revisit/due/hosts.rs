//! Counts of the listed pages by host.

use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::due::Decision;

use crate::output::Output;
use crate::output::host::host;
use crate::output::table::{TextTable, left, right};
use crate::output::words;
use simkeep_formats::escape;

/// The hosts of the listed pages, in the order in which they first occur. Memory grows with the
/// hosts, not with the pages.
#[derive(Default)]
pub(super) struct DueHosts {
    numbers: HashMap<String, usize>,
    all: Vec<DueHost>,
}

struct DueHost {
    name: String,
    pages: u64,
    best: f64,
    sum: f64,
}

/// A host with listed pages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Host")]
pub(crate) struct DueHostLine<'a> {
    host: &'a str,
    /// The number of its listed pages.
    pages: u64,
    /// The highest value of its listed pages.
    best_value: f64,
    /// The sum of the values of its listed pages.
    value_sum: f64,
}

impl DueHosts {
    pub(super) fn add(&mut self, page: &Decision) {
        let name = host(&page.page.url);
        let next = self.all.len();
        let number = *self.numbers.entry(name).or_insert_with_key(|name| {
            self.all.push(DueHost { name: name.clone(), pages: 0, best: 0.0, sum: 0.0 });
            next
        });
        if let Some(host) = self.all.get_mut(number) {
            host.pages += 1;
            host.best = host.best.max(page.value);
            host.sum += page.value;
        }
    }

    /// Prints a line for each host.
    pub(super) fn print(&self, json: bool, output: &mut Output) -> io::Result<()> {
        let columns = [right("pages"), right("best value"), right("sum of values"), left("host")];
        let mut table = TextTable::new(columns);
        for DueHost { name, pages, best, sum } in &self.all {
            if json {
                let (pages, best_value, value_sum) = (*pages, *best, *sum);
                let line = DueHostLine { host: name, pages, best_value, value_sum };
                output.object(&super::DueLine::Host(line))?;
            } else {
                let (pages, name) = (words::count(*pages), escape::escape_untruncated(name));
                let (best, sum) = (words::amount(*best), words::amount(*sum));
                table.row([pages, best, sum, name], output)?;
            }
        }
        table.end(output)
    }
}
