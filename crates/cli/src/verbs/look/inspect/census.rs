//! Counts from one pass over all pages and visits.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::{Census, FingerprintCensus};

use crate::exit::VerbError;
use crate::output::Output;
use crate::output::json::{Fingerprint, Time, VerdictTotals};
use crate::output::table::{TextTable, left, right};
use crate::output::visit;
use crate::output::words::{count, many};
use simkeep_formats::escape;

/// The number of distinct fingerprints, and a remark on it.
pub(super) fn fingerprints(census: &FingerprintCensus) -> (String, String) {
    let mark = if census.is_sampled() { "~" } else { "" };
    let most = census.commonest.map(|(fingerprint, pages)| {
        let (fingerprint, pages) = (visit::fingerprint(fingerprint), count(pages));
        format!("; the most frequent, {fingerprint}, is on {pages} pages")
    });
    let pages = many(census.pages, "page", "pages");
    let remark = format!("different fingerprints on {pages} now{}", most.unwrap_or_default());
    (format!("{mark}{}", count(census.different())), remark)
}

/// Prints the hosts with the most pages.
pub(super) fn print_hosts(census: &Census, output: &mut Output) -> Result<(), VerbError> {
    output.line("")?;
    let columns = ["pages", "visits", "changed", "reverted"].map(right);
    let mut table = TextTable::new(columns.into_iter().chain([left("host")]));
    for host in &census.largest_hosts {
        let found = &host.verdicts;
        let [pages, visits, changed, reverted] =
            [host.pages, host.visits, found.changed, found.reverted].map(count);
        table.row(
            [pages, visits, changed, reverted, escape::escape_untruncated(&host.host)],
            output,
        )?;
    }
    Ok(table.end(output)?)
}

/// Counts from one pass over all pages and visits.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Census")]
pub(super) struct CensusResult<'a> {
    pages: u64,
    /// Pages with current content.
    pages_in_force: u64,
    /// Pages that are gone.
    pages_gone: u64,
    /// Pages of which no visit saw any content.
    pages_never_seen: u64,
    visits: u64,
    /// The time of the earliest visit; null without visits.
    first: Option<Time>,
    /// The time of the latest visit; null without visits.
    last: Option<Time>,
    /// The number of hosts with pages; URLs without a host count as one host for each scheme.
    host_count: u64,
    /// The hosts with the most pages, the largest first.
    largest_hosts: Vec<CensusHost<'a>>,
    /// The fingerprints of the epoch for near-duplicates.
    fingerprint_census: FingerprintDistribution<'a>,
    /// The number of visits by their distance to the previous version, from 0 to 64 bits.
    distances: &'a [u64],
    /// The number of pages by the fraction of their visits that found a change: none, up to a tenth,
    /// up to two tenths, and so on.
    changing: [u64; 11],
    /// The length of each period, in seconds.
    period_seconds: i64,
    /// The counts of verdicts in each period, in order of time. Empty periods are left out.
    periods: Vec<CensusPeriod>,
    /// The counts of verdicts of visits outside of all periods, because their times are far from
    /// all others.
    outside: VerdictTotals,
}

/// A host, with counts of its pages and visits.
#[derive(Serialize, JsonSchema)]
struct CensusHost<'a> {
    host: &'a str,
    pages: u64,
    visits: u64,
    /// The counts of the verdicts of its visits.
    #[serde(flatten)]
    verdicts: VerdictTotals,
}

/// The counts of the verdicts of the visits in a period.
#[derive(Serialize, JsonSchema)]
struct CensusPeriod {
    /// The beginning of the period.
    from: Time,
    #[serde(flatten)]
    verdicts: VerdictTotals,
}

/// Counts of the fingerprints that pages have now.
#[derive(Serialize, JsonSchema)]
struct FingerprintDistribution<'a> {
    /// Pages that have a fingerprint now.
    pages: u64,
    /// Pages whose content has no fingerprint.
    without_fingerprint: u64,
    /// The number of pages by the number of 1 bits in their fingerprint, from 0 to 64.
    popcounts: &'a [u64],
    /// For each of the 64 bits, lowest first, the number of pages whose fingerprint has a 1 there.
    ones: &'a [u64],
    /// The number of pages by the highest eight bits of their fingerprint, in 256 counts.
    values: &'a [u64],
    /// The fraction of distinct fingerprints that the following counts cover: 1 if all were counted.
    share: f64,
    /// The number of distinct fingerprints that were counted.
    distinct: u64,
    /// For each of the 64 bits, lowest first, the number of counted fingerprints that have a 1
    /// there.
    distinct_ones: &'a [u64],
    /// The number of counted fingerprints by their number of pages: 1, 2 to 3, 4 to 7, and so on.
    shared: &'a [u64],
    commonest: Option<CommonestFingerprint>,
}

/// The fingerprint that the most pages have.
#[derive(Serialize, JsonSchema)]
struct CommonestFingerprint {
    fingerprint: Fingerprint,
    pages: u64,
}

impl<'a> From<&'a Census> for CensusResult<'a> {
    fn from(census: &'a Census) -> CensusResult<'a> {
        let of = &census.fingerprints;
        let hosts = census.largest_hosts.iter().map(|host| CensusHost {
            host: &host.host,
            pages: host.pages,
            visits: host.visits,
            verdicts: host.verdicts.into(),
        });
        let periods = census.periods.iter().map(|period| CensusPeriod {
            from: Time(period.from),
            verdicts: period.verdicts.into(),
        });
        CensusResult {
            pages: census.pages,
            pages_in_force: census.in_force,
            pages_gone: census.gone,
            pages_never_seen: census.never,
            visits: census.visits,
            first: census.first.map(Time),
            last: census.last.map(Time),
            host_count: census.hosts,
            largest_hosts: hosts.collect(),
            fingerprint_census: FingerprintDistribution {
                pages: of.pages,
                without_fingerprint: of.without,
                popcounts: &of.popcounts,
                ones: &of.ones,
                values: &of.values,
                share: of.share,
                distinct: of.distinct,
                distinct_ones: &of.distinct_ones,
                shared: &of.shared,
                commonest: of.commonest.map(|(fingerprint, pages)| CommonestFingerprint {
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
