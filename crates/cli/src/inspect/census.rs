//! What is counted page by page.

use serde_json::{Value, json};
use simkeep::inspect::{Census, FingerprintCensus};

use super::super::exit::Failure;
use super::super::output::Output;
use super::super::table::{Table, left, right};
use super::super::time::{self, Clock};
use super::super::visit;
use super::super::words::{count, many};
use simkeep_archive::escape;

/// How the pages stand.
pub(super) fn pages(census: &Census) -> String {
    let (in_force, gone, never) = (count(census.in_force), count(census.gone), count(census.never));
    format!("in force {in_force} · gone {gone} · never any content {never}")
}

/// From when until when there are visits.
pub(super) fn span(census: &Census, clock: &Clock) -> Option<String> {
    let (first, last) = census.first.zip(census.last)?;
    Some(clock.heading(&format!("{} to {}", clock.show(first), clock.show(last))))
}

/// How many fingerprints there are, and what is to be said of them.
pub(super) fn fingerprints(census: &FingerprintCensus) -> (String, String) {
    let mark = if census.is_sampled() { "~" } else { "" };
    let most = census.commonest.map(|(fingerprint, pages)| {
        let (fingerprint, pages) = (visit::fingerprint(fingerprint), count(pages));
        format!("; the commonest, {fingerprint}, is on {pages}")
    });
    let pages = many(census.pages, "page", "pages");
    let remark = format!("different ones on {pages} now{}", most.unwrap_or_default());
    (format!("{mark}{}", count(census.different())), remark)
}

/// The hosts with most pages.
pub(super) fn print_hosts(census: &Census, output: &mut Output) -> Result<(), Failure> {
    output.line("")?;
    let columns = [right("pages"), right("visits"), right("changes"), left("host")];
    let mut table = Table::new(columns);
    for host in &census.largest_hosts {
        let [pages, visits, changes] = [host.pages, host.visits, host.changes].map(count);
        table.row([pages, visits, changes, escape::whole(&host.host)], output)?;
    }
    Ok(table.end(output)?)
}

pub(super) fn object(census: &Census) -> Value {
    let fingerprints = &census.fingerprints;
    let hosts = census.largest_hosts.iter().map(|host| {
        json!({
            "host": host.host,
            "pages": host.pages,
            "visits": host.visits,
            "changes": host.changes,
        })
    });
    let periods = census.periods.iter().map(|period| {
        json!({
            "from": time::format(period.from),
            "new": period.new,
            "same": period.same,
            "changed": period.changed,
            "reverted": period.reverted,
            "gone": period.gone,
            "failed": period.failed,
        })
    });
    let commonest = fingerprints.commonest.map(|(fingerprint, pages)| {
        json!({ "fingerprint": visit::fingerprint(fingerprint), "pages": pages })
    });
    json!({
        "pages": census.pages,
        "in_force": census.in_force,
        "gone": census.gone,
        "never": census.never,
        "visits": census.visits,
        "first": census.first.map(time::format),
        "last": census.last.map(time::format),
        "hosts": census.hosts,
        "largest_hosts": hosts.collect::<Vec<_>>(),
        "fingerprints": {
            "pages": fingerprints.pages,
            "without": fingerprints.without,
            "popcounts": fingerprints.popcounts,
            "ones": fingerprints.ones,
            "values": fingerprints.values,
            "share": fingerprints.share,
            "distinct": fingerprints.distinct,
            "distinct_ones": fingerprints.distinct_ones,
            "shared": fingerprints.shared,
            "commonest": commonest,
        },
        "distances": census.distances,
        "changing": census.changing,
        "period_seconds": census.period / 1000,
        "periods": periods.collect::<Vec<_>>(),
    })
}
