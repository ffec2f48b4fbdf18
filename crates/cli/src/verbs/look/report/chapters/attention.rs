//! The chapter on what needs attention.

use simkeep_formats::escape;

use super::super::attention::{ChangingPage, FailingHost, FailingPage, UrlPattern};
use super::super::facts::ReportFacts;
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings};
use crate::output::plot::bars;
use crate::output::words::count;
use crate::time;

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let found = &facts.attention;
    let mut figures = Vec::new();
    if !found.failing_hosts.is_empty() {
        figures.extend([failing_hosts(facts), failing_pages(facts)]);
    }
    if !found.traps.is_empty() {
        figures.push(traps(facts));
    }
    if !found.changing_pages.is_empty() {
        figures.push(changing_pages(facts));
    }
    let said = match figures.is_empty() {
        true => "No last visit failed, no page changed, and no URL pattern looks like a trap.",
        false => "The hosts, pages and URL patterns that cost the most visits for nothing.",
    };
    ReportChapter { title: "What needs attention", said: said.to_owned(), figures }
}

fn failing_hosts(facts: &ReportFacts) -> ReportFigure {
    let title = "Hosts that fail";
    let name = |of: &FailingHost| escape::escape_untruncated(&of.host);
    let share = |of: &FailingHost| format!("{:.0} %", of.failing as f64 / of.pages as f64 * 100.0);
    let bar = |of: &FailingHost| {
        (name(of), of.failing as f64, format!("{} ({})", count(of.failing), share(of)))
    };
    let row = |of: &FailingHost| vec![name(of), count(of.failing), count(of.pages), share(of)];
    let hosts = &facts.attention.failing_hosts;
    ReportFigure {
        title: title.to_owned(),
        said: "Pages whose last visit failed, and their share of the host's pages. If nearly all pages of \
               a host fail, it is down or blocks the crawler: crawl it less often, or not at all."
            .to_owned(),
        drawing: bars(
            title,
            "The number of pages of each host whose last visit failed",
            &hosts.iter().map(bar).collect::<Vec<_>>(),
        ),
        headings: headings(["host", "failing pages", "pages", "share"]),
        rows: hosts.iter().map(row).collect(),
    }
}

fn failing_pages(facts: &ReportFacts) -> ReportFigure {
    let title = "Pages that fail";
    let name = |of: &FailingPage| escape::escape_untruncated(&of.url);
    let bar = |of: &FailingPage| (name(of), of.failures as f64, count(of.failures));
    let row = |of: &FailingPage| {
        let had_content = if of.had_content { "yes" } else { "never" };
        vec![name(of), count(of.failures), time::to_second(of.since), had_content.to_owned()]
    };
    let pages = &facts.attention.failing_pages;
    ReportFigure {
        title: title.to_owned(),
        said: "The longest series of failed visits that last until now, at most three for each host. A page \
               that fails for weeks is better reported as gone."
            .to_owned(),
        drawing: bars(
            title,
            "The number of failed visits in a row of each page",
            &pages.iter().map(bar).collect::<Vec<_>>(),
        ),
        headings: headings(["page", "failed visits in a row", "since", "had content"]),
        rows: pages.iter().map(row).collect(),
    }
}

fn traps(facts: &ReportFacts) -> ReportFigure {
    let title = "Likely traps";
    let name = |of: &UrlPattern| escape::escape_untruncated(&of.pattern);
    let bar = |of: &UrlPattern| {
        let said = format!("{} of {}", count(of.wasted()), count(of.pages));
        (name(of), of.wasted() as f64, said)
    };
    let row = |of: &UrlPattern| {
        let numbers = [of.pages, of.copies, of.without_content].map(count);
        let example = [escape::escape_untruncated(&of.example)];
        [name(of)].into_iter().chain(numbers).chain(example).collect()
    };
    let traps = &facts.attention.traps;
    ReportFigure {
        title: title.to_owned(),
        said: "URL patterns with at least 20 pages, most of which are near-duplicates, redirects, gone, \
               or without content: calendars, filters, session ids, missing pages. Do not follow links to URLs of such \
               a pattern."
            .to_owned(),
        drawing: bars(
            title,
            "The number of pages of each pattern that were not worth a visit",
            &traps.iter().map(bar).collect::<Vec<_>>(),
        ),
        headings: headings(["pattern", "pages", "near-duplicates", "without content", "example"]),
        rows: traps.iter().map(row).collect(),
    }
}

fn changing_pages(facts: &ReportFacts) -> ReportFigure {
    let title = "Pages that changed most";
    let name = |of: &ChangingPage| escape::escape_untruncated(&of.url);
    let bar = |of: &ChangingPage| {
        let said = format!("{} of {}", count(of.changes), count(of.compared));
        (name(of), of.changes as f64, said)
    };
    let row = |of: &ChangingPage| {
        let numbers = [of.changes, of.compared, of.returns].map(count);
        let bits = of.bits.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.1}"));
        [name(of)].into_iter().chain(numbers).chain([bits]).collect()
    };
    let pages = &facts.attention.changing_pages;
    ReportFigure {
        title: title.to_owned(),
        said: "The pages with the most changes, at most three for each host. A page that changes by a few \
               bits at every visit shows a clock or advertisements: leave them out of its text. Many \
               returns mean that the site serves several forms of the page in turn."
            .to_owned(),
        drawing: bars(
            title,
            "The number of visits that found each page changed, among the visits that could",
            &pages.iter().map(bar).collect::<Vec<_>>(),
        ),
        headings: headings(["page", "changes", "comparable visits", "returns", "average bits"]),
        rows: pages.iter().map(row).collect(),
    }
}
