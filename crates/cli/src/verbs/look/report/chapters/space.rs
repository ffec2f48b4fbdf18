//! The chapter on the use of disk space.

use simkeep_formats::escape;

use super::super::facts::ReportFacts;
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings};
use crate::output::json::EpochSummary;
use crate::output::plot::{bars, spans};
use crate::output::words::{bytes, count};

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let overview = &facts.overview;
    let segments: u64 = overview.segments.iter().map(|segment| segment.bytes).sum();
    let all = segments + facts.catalog_bytes;
    let each = all as f64 / overview.visits.max(1) as f64;
    let said = format!("{} in all, {each:.0} bytes per visit.", bytes(all));
    let mut figures = vec![kinds(facts, all)];
    if !overview.segments.is_empty() {
        figures.extend([sizes(facts), operations(facts)]);
    }
    figures.push(epochs(facts));
    ReportChapter { title: "Where the space goes", said, figures }
}

fn kinds(facts: &ReportFacts, all: u64) -> ReportFigure {
    let kinds = facts.overview.space.iter().map(|space| (space.of.name(), space.bytes));
    let kinds = kinds.chain([("catalog and journal", facts.catalog_bytes)]);
    let mut kinds: Vec<(&str, u64)> = kinds.filter(|(_, bytes)| *bytes > 0).collect();
    kinds.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let title = "By purpose";
    let shown: Vec<(String, f64, String)> =
        kinds.iter().map(|(name, part)| ((*name).to_owned(), *part as f64, bytes(*part))).collect();
    let share = |part: u64| format!("{:.1} %", part as f64 / all.max(1) as f64 * 100.0);
    ReportFigure {
        title: title.to_owned(),
        said: "Where pages are visited often, histories should take the most space. Fingerprint tables \
               make searches fast."
            .to_owned(),
        drawing: bars(title, "The number of bytes for each purpose", &shown),
        headings: headings(["for", "bytes", "share"]),
        rows: kinds.iter().map(|(name, part)| vec![(*name).to_owned(), count(*part), share(*part)]).collect(),
    }
}

fn sizes(facts: &ReportFacts) -> ReportFigure {
    let segments = &facts.overview.segments;
    let title = "By segment";
    let shown: Vec<(String, f64, String)> = segments
        .iter()
        .map(|s| (format!("segment {}", s.id), s.bytes as f64, bytes(s.bytes)))
        .collect();
    ReportFigure {
        title: title.to_owned(),
        said: "A few large segments and some small ones are normal: each is several times as large as \
               the next. Many small segments mean that merges fail or do not keep up."
            .to_owned(),
        drawing: bars(title, "The size of each segment in bytes", &shown),
        headings: headings(["segment", "level", "pages", "visits", "bytes"]),
        rows: segments
            .iter()
            .map(|s| {
                let numbers = [s.level, s.pages, s.visits, s.bytes].map(count);
                [s.id.to_string()].into_iter().chain(numbers).collect()
            })
            .collect(),
    }
}

fn operations(facts: &ReportFacts) -> ReportFigure {
    let (segments, all) = (&facts.overview.segments, facts.overview.sequence.max(1) as f64);
    let title = "By operations";
    let shown: Vec<(String, f64, f64, String)> = segments
        .iter()
        .map(|s| {
            let from = s.first_operation.saturating_sub(1) as f64 / all;
            let said = format!("{} to {}", count(s.first_operation), count(s.last_operation));
            (format!("segment {}", s.id), from, s.last_operation as f64 / all, said)
        })
        .collect();
    ReportFigure {
        title: title.to_owned(),
        said: "The range of operations in each segment. Operations to the right of the last segment are \
               in the journal."
            .to_owned(),
        drawing: spans(title, "The first and the last operation of each segment", &shown),
        headings: headings(["segment", "first", "last", "pages that newer segments also have"]),
        rows: segments
            .iter()
            .map(|s| {
                let numbers = [s.first_operation, s.last_operation].map(count);
                let again = format!("about {:.0} %", s.superseded * 100.0);
                [s.id.to_string()].into_iter().chain(numbers).chain([again]).collect()
            })
            .collect(),
    }
}

fn epochs(facts: &ReportFacts) -> ReportFigure {
    let epochs = &facts.overview.epochs;
    let title = "Epochs";
    let shown: Vec<(String, f64, String)> = epochs
        .iter()
        .map(|e| {
            let name = escape::escape_untruncated(&e.info.name);
            (name, e.fingerprints as f64, count(e.fingerprints))
        })
        .collect();
    ReportFigure {
        title: title.to_owned(),
        said: format!(
            "The number of fingerprints of each epoch. {} pages have content but no fingerprint in the \
             epoch for near-duplicates: the content is too short, or must be restated.",
            count(facts.census.fingerprints.without)
        ),
        drawing: bars(title, "The number of fingerprints of each epoch", &shown),
        headings: headings(["epoch", "state", "role", "fingerprints", "begun at visit"]),
        rows: epochs
            .iter()
            .map(|e| {
                vec![
                    escape::escape_untruncated(&e.info.name),
                    EpochSummary::from(e).state().name().to_owned(),
                    e.info.role.to_string(),
                    count(e.fingerprints),
                    count(e.info.begun),
                ]
            })
            .collect(),
    }
}
