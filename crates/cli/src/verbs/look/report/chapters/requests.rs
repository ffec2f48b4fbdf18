//! The chapter on what requests transferred and saved.

use simkeep::inspect::Bodies;
use simkeep_formats::escape::escape_untruncated;

use super::super::facts::{ReportFacts, RequestFacts};
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings};
use crate::output::plot::bars;
use crate::output::words::{bytes, count};

/// Returns the chapter; `None` if no length is known and no request was conditional.
pub(super) fn chapter(facts: &ReportFacts) -> Option<ReportChapter> {
    let RequestFacts { totals, .. } = &facts.requests;
    let has_lengths = totals.transferred.unknown < totals.transferred.count;
    if !has_lengths && totals.conditional == 0 {
        return None;
    }
    let said = format!(
        "{} of {} requests were conditional, and {} got \"not modified\".",
        count(totals.conditional),
        count(totals.requests),
        count(totals.not_modified.count)
    );
    let figures = [Some(saved(&facts.requests, has_lengths)), ignoring(&facts.requests)];
    let figures = figures.into_iter().flatten().collect();
    Some(ReportChapter { title: "What requests saved", said, figures })
}

fn saved(facts: &RequestFacts, has_lengths: bool) -> ReportFigure {
    let totals = &facts.totals;
    let kinds = [
        ("transferred", totals.transferred),
        ("not modified", totals.not_modified),
        ("unchanged", totals.unchanged),
        ("copies", totals.copies),
    ];
    let title = "Bodies of responses";
    let bar = |(name, of): (&str, Bodies)| match has_lengths {
        true => (name.to_owned(), of.bytes as f64, bytes(of.bytes)),
        false => (name.to_owned(), of.count as f64, count(of.count)),
    };
    ReportFigure {
        title: title.to_owned(),
        said: "\"Not modified\" bodies were not transferred. Unchanged bodies equal the content before, and \
               copies were captured before on any page: neither is worth storing. Many unchanged bodies mean \
               that requests should be conditional."
            .to_owned(),
        drawing: bars(title, "The size of the bodies of each kind", &kinds.map(bar)),
        headings: headings(["kind", "bodies", "bytes", "of unknown length"]),
        rows: kinds
            .iter()
            .map(|(name, of)| {
                let numbers = [of.count, of.bytes, of.unknown].map(count);
                [(*name).to_owned()].into_iter().chain(numbers).collect()
            })
            .collect(),
    }
}

/// The hosts that do not honor conditional requests; `None` without such hosts.
fn ignoring(facts: &RequestFacts) -> Option<ReportFigure> {
    let title = "Hosts that ignore conditional requests";
    let hosts: Vec<_> = facts.ignoring.iter().collect();
    if hosts.is_empty() {
        return None;
    }
    let bar = |of: &&simkeep::inspect::HostRequests| {
        (
            escape_untruncated(&of.host),
            of.counts.conditional_unchanged as f64,
            count(of.counts.conditional_unchanged),
        )
    };
    let drawn: Vec<_> = hosts.iter().map(bar).collect();
    Some(ReportFigure {
        title: title.to_owned(),
        said: "These hosts sent the same content again for most conditional requests. Do not expect a host \
               with many newer dates to report when its pages changed."
            .to_owned(),
        drawing: bars(title, "The number of ignored conditional requests of each host", &drawn),
        headings: headings(["host", "sent again", "not modified", "newer dates", "dated"]),
        rows: hosts
            .iter()
            .map(|of| {
                let counts = &of.counts;
                let numbers = [
                    counts.conditional_unchanged,
                    counts.not_modified.count,
                    counts.unchanged_redated,
                    counts.unchanged_dated,
                ];
                [escape_untruncated(&of.host)].into_iter().chain(numbers.map(count)).collect()
            })
            .collect(),
    })
}
