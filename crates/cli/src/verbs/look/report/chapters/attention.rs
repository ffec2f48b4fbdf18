//! The chapter on what needs attention.

use simkeep_formats::escape::escape_untruncated;

use super::super::attention::{Attention, TopList};
use super::super::facts::ReportFacts;
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings};
use crate::output::plot::bars;
use crate::output::words::count;
use crate::time;

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let found = &facts.attention;
    let figures = [failing_hosts(found), failing_pages(found), traps(found), changing_pages(found)];
    let figures: Vec<_> = figures.into_iter().flatten().collect();
    let said = match figures.is_empty() {
        true => "No last visit failed, no page changed, and no URL pattern looks like a trap.",
        false => "The hosts, pages and URL patterns that cost the most visits for nothing.",
    };
    ReportChapter { title: "What needs attention", said: said.to_owned(), figures }
}

/// The texts of a figure that lists items.
struct ListTexts<const COLUMNS: usize> {
    title: &'static str,
    said: &'static str,
    described: &'static str,
    headings: [&'static str; COLUMNS],
}

impl<const COLUMNS: usize> ListTexts<COLUMNS> {
    /// Draws a bar for each item, and puts its cells into a row. The first cell names the item.
    /// Returns `None` for an empty list.
    fn figure<T, const N: usize>(
        self,
        items: &TopList<T, N>,
        bar: impl Fn(&T) -> (u64, String),
        cells: impl Fn(&T) -> [String; COLUMNS],
    ) -> Option<ReportFigure> {
        let rows: Vec<Vec<String>> = items.iter().map(|item| cells(item).to_vec()).collect();
        let drawn: Vec<_> = items
            .iter()
            .zip(&rows)
            .filter_map(|(item, row)| {
                let (value, label) = bar(item);
                Some((row.first()?.clone(), value as f64, label))
            })
            .collect();
        (!rows.is_empty()).then(|| ReportFigure {
            title: self.title.to_owned(),
            said: self.said.to_owned(),
            drawing: bars(self.title, self.described, &drawn),
            headings: headings(self.headings),
            rows,
        })
    }
}

fn failing_hosts(found: &Attention) -> Option<ReportFigure> {
    let share = |part: u64, all: u64| format!("{:.0} %", part as f64 / all as f64 * 100.0);
    ListTexts {
        title: "Hosts that fail",
        said: "Pages whose last visit failed, and their share of the host's pages. If nearly all pages of \
               a host fail, it is down or blocks the crawler: crawl it less often, or not at all.",
        described: "The number of pages of each host whose last visit failed",
        headings: ["host", "failing pages", "pages", "share"],
    }
    .figure(
        &found.failing_hosts,
        |of| (of.failing, format!("{} ({})", count(of.failing), share(of.failing, of.pages))),
        |of| {
            let host = escape_untruncated(&of.host);
            [host, count(of.failing), count(of.pages), share(of.failing, of.pages)]
        },
    )
}

fn failing_pages(found: &Attention) -> Option<ReportFigure> {
    ListTexts {
        title: "Pages that fail",
        said: "The longest series of failed visits that last until now, at most three for each host. A page \
               that fails for weeks is better reported as gone.",
        described: "The number of failed visits in a row of each page",
        headings: ["page", "failed visits in a row", "since", "had content"],
    }
    .figure(
        &found.failing_pages,
        |of| (of.failures, count(of.failures)),
        |of| {
            let had_content = if of.had_content { "yes" } else { "never" };
            let (url, since) = (escape_untruncated(&of.url), time::to_second(of.since));
            [url, count(of.failures), since, had_content.to_owned()]
        },
    )
}

fn traps(found: &Attention) -> Option<ReportFigure> {
    ListTexts {
        title: "Likely traps",
        said: "URL patterns with at least 20 pages, most of which are near-duplicates, redirects, gone, \
               or without content: calendars, filters, session ids, missing pages. Do not follow links to \
               URLs of such a pattern.",
        described: "The number of pages of each pattern that were not worth a visit",
        headings: ["pattern", "pages", "near-duplicates", "without content", "example"],
    }
    .figure(
        &found.traps,
        |of| (of.wasted(), format!("{} of {}", count(of.wasted()), count(of.pages))),
        |of| {
            let [pattern, example] = [&of.pattern, &of.example].map(|url| escape_untruncated(url));
            [pattern, count(of.pages), count(of.copies), count(of.without_content), example]
        },
    )
}

fn changing_pages(found: &Attention) -> Option<ReportFigure> {
    ListTexts {
        title: "Pages that changed most",
        said: "The pages with the most changes, at most three for each host. A page that changes by a few \
               bits at every visit shows a clock or advertisements: leave them out of its text. Many \
               returns mean that the site serves several forms of the page in turn.",
        described: "The number of visits that found each page changed, among the visits that could",
        headings: ["page", "changes", "comparable visits", "returns", "average bits"],
    }
    .figure(
        &found.changing_pages,
        |of| (of.changes, format!("{} of {}", count(of.changes), count(of.compared))),
        |of| {
            let bits = of.bits.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.1}"));
            let url = escape_untruncated(&of.url);
            [url, count(of.changes), count(of.compared), count(of.returns), bits]
        },
    )
}
