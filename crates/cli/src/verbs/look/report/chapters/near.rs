//! The chapter on how near pages are to each other.

use simkeep_formats::escape;

use super::super::facts::{FARTHEST, ReportFacts};
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings, heights, rows};
use crate::output::plot::{ColumnChart, bars};
use crate::output::{visit, words};

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let fingerprints = &facts.census.fingerprints;
    let most = fingerprints.commonest.map(|(fingerprint, pages)| {
        let pages = words::many(pages, "page", "pages");
        let fingerprint = visit::fingerprint(fingerprint);
        format!(" The most common one, {fingerprint}, is on {pages}.")
    });
    let (about, sampled) = match fingerprints.is_sampled() {
        true => (
            "About ",
            " The pages per fingerprint are counted for a sample only, because there are too many \
             fingerprints. The sample may lack the most common ones.",
        ),
        false => ("", ""),
    };
    let all =
        words::many(fingerprints.different(), "different fingerprint", "different fingerprints");
    let said = format!("{about}{all}.{}{sampled}", most.unwrap_or_default());
    let figures = vec![shared(facts), nearest(facts), hosts(facts)];
    ReportChapter { title: "What pages have in common", said, figures }
}

/// The range of page counts in this class of powers of two.
pub(super) fn from(power: usize) -> String {
    match power {
        0 => "1".to_owned(),
        power => {
            let from = 1_u64 << power.min(62);
            format!("{} to {}", words::count(from), words::count(2 * from - 1))
        }
    }
}

fn shared(facts: &ReportFacts) -> ReportFigure {
    let shared = &facts.census.fingerprints.shared;
    let title = "Pages per fingerprint";
    let last = shared.len().saturating_sub(1);
    let mut below = vec![(0, "1".to_owned())];
    if last > 0 {
        below.push((last, from(last)));
    }
    let drawing = ColumnChart {
        title,
        described: "The number of fingerprints on 1 page, on 2 or 3, on 4 to 7 and so on",
        values: &heights(shared),
        below,
        axis: "pages with the fingerprint, by powers of two",
        marks: Vec::new(),
        level: None,
        is_log: true,
    };
    ReportFigure {
        title: title.to_owned(),
        said: "The number of fingerprints by their number of pages, both on logarithmic scales. A \
               straight fall is usual. A column on the far right is an error page, a login page, or a \
               template without text."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["pages", "fingerprints"]),
        rows: rows((0..shared.len()).map(from), shared),
    }
}

fn nearest(facts: &ReportFacts) -> ReportFigure {
    let sampled = facts.census.sample.len() as u64;
    let title = "Distance to the nearest other page";
    let name = |bits: usize| match bits {
        bits if bits > FARTHEST as usize => format!(">{FARTHEST}"),
        bits => bits.to_string(),
    };
    let drawing = ColumnChart {
        title,
        described: "The number of sampled pages by the distance in bits to their nearest other page",
        values: &heights(&facts.nearest),
        below: (0..facts.nearest.len()).map(|bits| (bits, name(bits))).collect(),
        axis: "bits",
        marks: Vec::new(),
        level: None,
        is_log: false,
    };
    ReportFigure {
        title: title.to_owned(),
        said: format!(
            "For a random sample of {}. A page at 0 bits has a copy under another URL. Many such pages \
             suggest that the store has a site under several names.",
            words::many(sampled, "page", "pages")
        ),
        drawing: drawing.html(),
        headings: headings(["bits", "pages"]),
        rows: rows((0..facts.nearest.len()).map(name), &facts.nearest),
    }
}

fn hosts(facts: &ReportFacts) -> ReportFigure {
    let hosts = &facts.census.largest_hosts;
    let title = "The largest hosts";
    let shown: Vec<(String, f64, String)> = hosts
        .iter()
        .map(|host| {
            (escape::escape_untruncated(&host.host), host.pages as f64, words::count(host.pages))
        })
        .collect();
    let row = |host: &simkeep::inspect::HostCensus| {
        let found = &host.verdicts;
        let numbers = [host.pages, host.visits, found.changed, found.reverted].map(words::count);
        [escape::escape_untruncated(&host.host)].into_iter().chain(numbers).collect()
    };
    ReportFigure {
        title: title.to_owned(),
        said: "By number of pages. A host with far more pages than expected may be a crawler trap, such \
               as a calendar, a search, or session IDs in URLs."
            .to_owned(),
        drawing: bars(title, "The number of pages on each of the largest hosts", &shown),
        headings: headings(["host", "pages", "visits", "changed", "reverted"]),
        rows: hosts.iter().map(row).collect(),
    }
}
