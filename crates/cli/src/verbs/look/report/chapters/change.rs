//! The chapter on how and when pages change.

use simkeep::inspect::Period;

use super::super::facts::ReportFacts;
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings, heights, rows};
use crate::output::plot::ColumnChart;
use crate::output::words;
use crate::time;

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let mut figures = over_time(facts);
    figures.extend([distances(facts), by_page(facts), rates(facts)]);
    let mut said =
        "The results of visits over time, and the estimated change rates of pages.".to_owned();
    let outside = facts.census.outside.visits();
    if outside > 0 {
        let visits = words::many(outside, "visit lies", "visits lie");
        said += &format!(
            " {visits} outside of the figures over time. Their times are so far from all others that \
             they are most likely wrong."
        );
    }
    ReportChapter { title: "How pages change", said, figures }
}

/// A figure over time for each kind of verdict.
fn over_time(facts: &ReportFacts) -> Vec<ReportFigure> {
    let census = &facts.census;
    let Some(first) = census.periods.first() else { return Vec::new() };
    // Periods without visits have no entry, but still get a column.
    let number =
        |period: &Period| (period.from.as_ms() - first.from.as_ms()) / census.period.max(1);
    let last = census.periods.last().map_or(0, number);
    let length = time::span(u64::try_from(census.period / 1000).unwrap_or(0));
    let figure = |title: &str, said: &str, of: fn(&Period) -> u64| {
        let mut values = vec![0.0; usize::try_from(last + 1).unwrap_or(0)];
        for period in &census.periods {
            let at = usize::try_from(number(period)).unwrap_or(0);
            values.iter_mut().skip(at).take(1).for_each(|value| *value = of(period) as f64);
        }
        let ends = [(0, time::day(first.from))].into_iter();
        let end = census.periods.last().map(|period| (values.len() - 1, time::day(period.from)));
        let below = ends.chain(end.filter(|(at, _)| *at > 0)).collect();
        let all: u64 = census.periods.iter().map(of).sum();
        let described = format!("{} in all, grouped by intervals of {length}", words::count(all));
        let drawing = ColumnChart {
            title,
            described: &described,
            values: &values,
            below,
            axis: &format!("a column for each {length}"),
            marks: Vec::new(),
            level: None,
            is_log: false,
        };
        ReportFigure {
            title: title.to_owned(),
            said: said.to_owned(),
            drawing: drawing.html(),
            headings: headings(["from", "visits"]),
            rows: rows(
                census.periods.iter().map(|period| time::day(period.from)),
                &census.periods.iter().map(of).collect::<Vec<_>>(),
            ),
        }
    };
    vec![
        figure("Visits over time", "All visits. A gap is a time without visits.", |p| {
            p.verdicts.visits()
        }),
        figure(
            "First contents over time",
            "Visits that found the first content of a page. They show how the crawl grew.",
            |p| p.verdicts.new,
        ),
        figure(
            "Changes over time",
            "Visits that found content different from the previous content. If all hosts jump on one \
             day, the cause is more likely a new extractor than new content. A new extractor needs a new \
             epoch.",
            |p| p.verdicts.changed,
        ),
        figure(
            "Returns over time",
            "Visits that found an earlier version of the page again. Many returns suggest that a site \
             serves several forms of a page in turn.",
            |p| p.verdicts.reverted,
        ),
        figure(
            "Gone and failed over time",
            "Visits that found the page gone, and visits that failed. A spike is an outage of a site or \
             of the crawler.",
            |p| p.verdicts.gone + p.verdicts.failed,
        ),
    ]
}

fn distances(facts: &ReportFacts) -> ReportFigure {
    let distances = &facts.census.distances;
    // There are almost no distances beyond half of the bits.
    let last = distances.iter().rposition(|count| *count > 0).unwrap_or(0).max(16);
    let shown = distances.get(..=last).unwrap_or(distances);
    let (minor, moderate) = (facts.bands.0 as usize, facts.bands.1 as usize);
    let title = "Distance to the previous version";
    let described = "The number of visits by the distance in bits to the previous version";
    let below = (0..=last).step_by(8).map(|bits| (bits, bits.to_string())).collect();
    let marks = [(1, "minor"), (minor + 1, "moderate"), (moderate + 1, "major")];
    let drawing = ColumnChart {
        title,
        described,
        values: &heights(shown),
        below,
        axis: "bits",
        marks: marks.into_iter().filter(|(at, _)| *at <= last).collect(),
        level: None,
        is_log: false,
    };
    ReportFigure {
        title: title.to_owned(),
        said: "Changes and returns, by the number of fingerprint bits that differ. On sites that edit \
               their pages most changes are small. A hump near 32 bits means pages with entirely new \
               content."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["bits", "visits"]),
        rows: rows((0..=last).map(|bits| bits.to_string()), shown),
    }
}

fn by_page(facts: &ReportFacts) -> ReportFigure {
    let changing = &facts.census.changing;
    let name = |tenth: usize| match tenth {
        0 => "none".to_owned(),
        tenth => format!("{} %", 10 * tenth),
    };
    let names: Vec<String> = (0..changing.len()).map(name).collect();
    let title = "How often a visit finds a page changed";
    let drawing = ColumnChart {
        title,
        described: "The number of pages by the share of their comparable visits that found a change",
        values: &heights(changing),
        below: [0, 5, 10].into_iter().filter_map(|at| Some((at, names.get(at)?.clone()))).collect(),
        axis: "the share of a page's visits that found a change, at most",
        marks: Vec::new(),
        level: None,
        is_log: false,
    };
    ReportFigure {
        title: title.to_owned(),
        said: "Pages on the left are visited more often than they change. Pages on the right changed at \
               every visit, so the store misses changes between visits."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["up to", "pages"]),
        rows: rows(names.into_iter(), changing),
    }
}

/// The figure of estimated change rates, which the schedule of visits uses.
fn rates(facts: &ReportFacts) -> ReportFigure {
    let deciles = facts.survey.deciles.unwrap_or_default();
    let title = "How often pages change";
    let drawing = ColumnChart {
        title,
        described: "The change rates that one tenth to nine tenths of the pages do not exceed",
        values: &deciles,
        below: [0, 4, 8].into_iter().map(|at| (at, format!("{}0 %", at + 1))).collect(),
        axis: "the share of pages that change at most this often",
        marks: Vec::new(),
        level: None,
        is_log: false,
    };
    let names = (1..=9).map(|tenth| format!("{tenth}0 %"));
    let rates = deciles.iter().map(|rate| words::amount(*rate));
    ReportFigure {
        title: title.to_owned(),
        said:
            "The estimated change rates of pages with comparable visits, in changes per day. They \
               determine when `simkeep due` proposes the next visit."
                .to_owned(),
        drawing: drawing.html(),
        headings: headings(["share of pages", "changes per day, at most"]),
        rows: names.zip(rates).map(|(name, rate)| vec![name, rate]).collect(),
    }
}
