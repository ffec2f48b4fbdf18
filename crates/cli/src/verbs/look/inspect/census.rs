//! What is counted page by page.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::{Census, FingerprintCensus};

use crate::exit::Failure;
use crate::output::Output;
use crate::output::json::{Fingerprint, Time, VerdictCounts};
use crate::output::table::{Table, left, right};
use crate::output::visit;
use crate::output::words::{count, many};
use simkeep_formats::escape;

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
    let columns = ["pages", "visits", "changed", "reverted"].map(right);
    let mut table = Table::new(columns.into_iter().chain([left("host")]));
    for host in &census.largest_hosts {
        let found = &host.verdicts;
        let [pages, visits, changed, reverted] =
            [host.pages, host.visits, found.changed, found.reverted].map(count);
        table.row([pages, visits, changed, reverted, escape::whole(&host.host)], output)?;
    }
    Ok(table.end(output)?)
}

/// What is counted page by page.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Census")]
pub(super) struct Answer<'a> {
    pages: u64,
    /// Pages with content in force.
    pages_in_force: u64,
    /// Pages that are gone.
    pages_gone: u64,
    /// Pages whose content was never seen.
    pages_never_seen: u64,
    visits: u64,
    /// When the earliest visit was.
    first: Option<Time>,
    /// When the latest visit was.
    last: Option<Time>,
    /// How many hosts have pages; URLs without one count as one for each scheme.
    host_count: u64,
    /// The hosts with most pages, the largest first.
    largest_hosts: Vec<Host<'a>>,
    /// The fingerprints that find near-duplicates.
    fingerprint_census: Fingerprints<'a>,
    /// The number of visits by their distance in bits to the version before.
    distances: &'a [u64],
    /// The number of pages by the share of their visits that found a change: none, then up to each tenth.
    changing: [u64; 11],
    /// The length of each period.
    period_seconds: i64,
    /// Counts of verdicts by period, in order of time.
    periods: Vec<Period>,
    /// Counts of verdicts of visits so far in time from all others that they are in no period.
    outside: VerdictCounts,
}

/// A host.
#[derive(Serialize, JsonSchema)]
struct Host<'a> {
    host: &'a str,
    pages: u64,
    visits: u64,
    /// The verdicts of its visits.
    #[serde(flatten)]
    verdicts: VerdictCounts,
}

/// The verdicts of the visits in a period.
#[derive(Serialize, JsonSchema)]
struct Period {
    /// The begin of the period.
    from: Time,
    #[serde(flatten)]
    verdicts: VerdictCounts,
}

/// What the fingerprints are of pages that have one.
#[derive(Serialize, JsonSchema)]
struct Fingerprints<'a> {
    /// Pages that have one now.
    pages: u64,
    /// Pages with content that has none.
    without_fingerprint: u64,
    /// The number of fingerprints by their number of ones.
    popcounts: &'a [u64],
    /// In how many each bit is 1, the lowest first.
    ones: &'a [u64],
    /// How many there are in each of 256 equal parts of all values.
    values: &'a [u64],
    /// From what share of all values on a different fingerprint was counted: 1 if all were.
    share: f64,
    /// Different ones that were counted.
    distinct: u64,
    /// In how many different ones each bit is 1.
    distinct_ones: &'a [u64],
    /// The number of different fingerprints by their number of pages, in powers of two.
    shared: &'a [u64],
    commonest: Option<Commonest>,
}

/// The fingerprint that most pages have.
#[derive(Serialize, JsonSchema)]
struct Commonest {
    fingerprint: Fingerprint,
    pages: u64,
}

impl<'a> From<&'a Census> for Answer<'a> {
    fn from(census: &'a Census) -> Answer<'a> {
        let of = &census.fingerprints;
        let hosts = census.largest_hosts.iter().map(|host| Host {
            host: &host.host,
            pages: host.pages,
            visits: host.visits,
            verdicts: host.verdicts.into(),
        });
        let periods = census
            .periods
            .iter()
            .map(|period| Period { from: Time(period.from), verdicts: period.verdicts.into() });
        Answer {
            pages: census.pages,
            pages_in_force: census.in_force,
            pages_gone: census.gone,
            pages_never_seen: census.never,
            visits: census.visits,
            first: census.first.map(Time),
            last: census.last.map(Time),
            host_count: census.hosts,
            largest_hosts: hosts.collect(),
            fingerprint_census: Fingerprints {
                pages: of.pages,
                without_fingerprint: of.without,
                popcounts: &of.popcounts,
                ones: &of.ones,
                values: &of.values,
                share: of.share,
                distinct: of.distinct,
                distinct_ones: &of.distinct_ones,
                shared: &of.shared,
                commonest: of.commonest.map(|(fingerprint, pages)| Commonest {
                    fingerprint: Fingerprint(fingerprint),
                    pages,
                }),
            },
            distances: &census.distances,
            changing: census.changing,
            period_seconds: census.period / 1000,
            periods: periods.collect(),
            outside: census.outside.into(),
        }
    }
}
