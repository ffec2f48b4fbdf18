//! The chapter on clusters of pages, and on sites that mirror each other.

use simkeep::cluster::{Balls, Cluster};
use simkeep::mirror::Mirror;
use simkeep_formats::escape;

use super::super::facts::ReportFacts;
use super::super::figure::ReportFigure;
use super::near::from;
use super::{ReportChapter, headings, heights, rows};
use crate::output::plot::{ColumnChart, bars};
use crate::output::words::{count, many};

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let clusters = &facts.clusters;
    let others = clusters.pages - clusters.clusters;
    let said = format!(
        "{} in {} within {}: {} could be dropped in favour of their leaders. Mirrors: {}.",
        many(clusters.pages, "page", "pages"),
        many(clusters.clusters, "cluster", "clusters"),
        many(clusters.k.into(), "bit", "bits"),
        count(others),
        count(facts.mirrors.mirrors),
    );
    ReportChapter {
        title: "Pages that could be dropped",
        said,
        figures: vec![sizes(facts), largest(facts), balls(facts), mirrors(facts)],
    }
}

fn sizes(facts: &ReportFacts) -> ReportFigure {
    let sizes = &facts.clusters.sizes;
    let title = "Pages in a cluster";
    let last = sizes.len().saturating_sub(1);
    let mut below = vec![(0, "1".to_owned())];
    if last > 0 {
        below.push((last, from(last)));
    }
    let drawing = ColumnChart {
        title,
        described: "The number of clusters with 1 page, with 2 or 3, with 4 to 7 and so on",
        values: &heights(sizes),
        below,
        axis: "pages, by powers of two",
        marks: Vec::new(),
        level: None,
        is_log: true,
    };
    ReportFigure {
        title: title.to_owned(),
        said: "The number of clusters by their number of pages, both on logarithmic scales. The leader \
               of a cluster is the page on which its text was seen first."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["pages", "clusters"]),
        rows: rows((0..sizes.len()).map(from), sizes),
    }
}

fn largest(facts: &ReportFacts) -> ReportFigure {
    let title = "The largest clusters";
    let shown = |cluster: &Cluster| {
        (escape::escape_untruncated(&cluster.leader), cluster.pages as f64, count(cluster.pages))
    };
    let row = |cluster: &Cluster| {
        vec![
            escape::escape_untruncated(&cluster.leader),
            count(cluster.pages),
            cluster.max_distance.to_string(),
        ]
    };
    let largest = &facts.clusters.largest;
    let bars_of: Vec<_> = largest.iter().map(shown).collect();
    ReportFigure {
        title: title.to_owned(),
        said:
            "Each cluster is named by its leader. A cluster of very many pages is usually a parked \
               domain, an error page or a licence."
                .to_owned(),
        drawing: bars(title, "The number of pages in each of the largest clusters", &bars_of),
        headings: headings(["leader", "pages", "bits at most"]),
        rows: largest.iter().map(row).collect(),
    }
}

fn balls(facts: &ReportFacts) -> ReportFigure {
    let title = "Pages around a page";
    // A store without pages has no averages to draw.
    let averages: Vec<f64> = facts.balls.iter().filter_map(Balls::average).collect();
    let drawing = ColumnChart {
        title,
        described: "The average number of pages within each distance in bits of a page, itself included",
        values: &averages,
        below: (0..averages.len()).map(|bits| (bits, bits.to_string())).collect(),
        axis: "bits",
        marks: Vec::new(),
        level: Some(1.0),
        is_log: false,
    };
    let row = |of: &Balls| {
        let average =
            of.average().map_or_else(|| "-".to_owned(), |average| format!("{average:.3}"));
        let shared = of.shared();
        let shared =
            shared.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        vec![of.k.to_string(), average, count(of.largest), shared]
    };
    ReportFigure {
        title: title.to_owned(),
        said: "The average number of pages within each distance of a page, itself included. \
               The line at 1 is a page without neighbours. A steep rise indicates a template or a licence \
               on pages with few other words, and is a reason to allow fewer bits."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["within", "average", "largest", "not alone"]),
        rows: facts.balls.iter().map(row).collect(),
    }
}

fn mirrors(facts: &ReportFacts) -> ReportFigure {
    let title = "Mirrors";
    let names = |mirror: &Mirror| {
        [&mirror.leader, &mirror.follower]
            .map(|site| escape::escape_untruncated(&site.site.to_string()))
    };
    let shown = |mirror: &Mirror| {
        let [leader, follower] = names(mirror);
        (format!("{follower} of {leader}"), mirror.near as f64, count(mirror.near))
    };
    let row = |mirror: &Mirror| {
        let share = format!("{:.0} %", mirror.share * 100.0);
        let numbers = [mirror.common, mirror.near].map(count);
        names(mirror).into_iter().chain(numbers).chain([share]).collect()
    };
    let found: Vec<&Mirror> =
        facts.mirrors.pairs.iter().filter(|mirror| mirror.is_mirror).collect();
    let bars_of: Vec<_> = found.iter().map(|mirror| shown(mirror)).collect();
    ReportFigure {
        title: title.to_owned(),
        said:
            "Pairs of sites or folders with near pages under the same paths, by the number of such \
               pages. The site after \"of\" was seen first."
                .to_owned(),
        drawing: bars(
            title,
            "The number of near pages under the same paths of two sites",
            &bars_of,
        ),
        headings: headings(["mirror", "of", "paths in common", "near", "share"]),
        rows: found.iter().map(|mirror| row(mirror)).collect(),
    }
}
