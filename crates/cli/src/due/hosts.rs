//! The pages that are listed, by host.

use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::due::Decision;

use super::super::output::Output;
use super::super::table::{Table, left, right};
use super::super::words;
use simkeep_archive::escape;

/// The hosts of the pages that are listed, in the order in which they come up. Memory grows with these
/// hosts, and not with the pages.
#[derive(Default)]
pub(super) struct Hosts {
    numbers: HashMap<String, usize>,
    all: Vec<Host>,
}

struct Host {
    name: String,
    pages: u64,
    best: f64,
    sum: f64,
}

/// A host, for programs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Host")]
pub(in super::super) struct Line<'a> {
    host: &'a str,
    /// How many of its pages are listed.
    pages: u64,
    /// The best of their values.
    best_value: f64,
    /// The sum of their values.
    value_sum: f64,
}

/// The host of a URL in lower case, without user and port; of one that has none its scheme.
fn host(url: &str) -> String {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next());
    let authority = authority.filter(|authority| !authority.is_empty());
    let Some(authority) = authority.filter(|_| !scheme.eq_ignore_ascii_case("file")) else {
        return format!("{scheme}:").to_ascii_lowercase();
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

impl Hosts {
    pub(super) fn add(&mut self, page: &Decision) {
        let name = host(&page.page.url);
        let next = self.all.len();
        let number = *self.numbers.entry(name).or_insert_with_key(|name| {
            self.all.push(Host { name: name.clone(), pages: 0, best: 0.0, sum: 0.0 });
            next
        });
        if let Some(host) = self.all.get_mut(number) {
            host.pages += 1;
            host.best = host.best.max(page.value);
            host.sum += page.value;
        }
    }

    /// A line for each host.
    pub(super) fn print(&self, json: bool, output: &mut Output) -> io::Result<()> {
        let columns = [right("pages"), right("best"), right("sum"), left("host")];
        let mut table = Table::new(columns);
        for Host { name, pages, best, sum } in &self.all {
            if json {
                let (pages, best_value, value_sum) = (*pages, *best, *sum);
                let line = Line { host: name, pages, best_value, value_sum };
                output.object(&super::Line::Host(line))?;
            } else {
                let (pages, name) = (words::count(*pages), escape::whole(name));
                let (best, sum) = (words::amount(*best), words::amount(*sum));
                table.row([pages, best, sum, name], output)?;
            }
        }
        table.end(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_without_user_and_port() {
        for (url, expected) in [
            ("https://Example.com/a:b@c", "example.com"),
            ("http://me:x@example.com:8080?q", "example.com"),
            ("https://[::1]:80/", "[::1]"),
            ("https://[::1]", "[::1]"),
            ("https://example.com.", "example.com"),
            ("https://example.com:x/", "example.com:x"),
            ("file:///home/x", "file:"),
            ("urn:isbn:1", "urn:"),
            ("x", "x:"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
