//! Counts of balls and of connected components.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Snapshot;
use simkeep::cluster::{Balls, Clustering, ConnectedComponent, ConnectedComponents};
use simkeep_formats::{ZstdWindow, escape, lines};

use super::NONE_COMPARED;
use super::lines::ClusterLine;
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::JsonRatio;
use crate::output::progress::with_progress_bar;
use crate::output::table::{TextTable, left, right};
use crate::output::words::{
    WITHOUT_FINGERPRINT, count, many, skipped_pages_clause, skipped_pages_note,
};

/// The balls of one distance. The ball of a page consists of all pages within that distance.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BallCounts {
    /// The distance in bits.
    within: u32,
    /// The number of balls: one for each page.
    balls: u64,
    /// The average number of pages in a ball, including the page itself; null without pages.
    average_size: Option<f64>,
    largest: u64,
    /// Pages with content but without a fingerprint of the epoch, which have no ball.
    without_fingerprint: u64,
    /// The number of balls with 1 page, 2 to 3, 4 to 7, and so on.
    by_size: Vec<u64>,
    /// The number of pairs of labelled pages within the distance; null without labels.
    labelled_pairs: Option<u64>,
    /// The fraction of those pairs with equal labels; null without such pairs.
    equal_share: Option<JsonRatio>,
}

/// The connected components of pages: steps of up to `step` bits connect the pages of a component.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ComponentCounts {
    step: u32,
    pages: u64,
    /// Pages with content but without a fingerprint of the epoch, which are in no component.
    without_fingerprint: u64,
    components: u64,
    /// The number of connected components of two or more pages.
    multi_page_components: u64,
}

/// A connected component.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ComponentResult<'a> {
    /// One of its pages.
    url: &'a str,
    /// The number of its pages.
    size: u64,
    /// The greatest distance between two of its pages, in bits.
    max_distance: u32,
}

/// Reads labels of pages from a file whose lines have a URL, a tab and a label.
pub(super) fn labels(file: &Path) -> Result<Vec<(String, String)>, VerbError> {
    let mut labels = Vec::new();
    let lines = lines::open(file, ZstdWindow::default()).map_err(VerbError::Other)?;
    for lines in lines {
        for (number, line) in lines.each() {
            let fault = |why: &str| VerbError::Broken(format!("{}: {why}", lines.at(number)));
            let line = line.map_err(fault)?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let text = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t'));
            let (url, label) =
                text.ok_or_else(|| fault("the line must be a URL, a tab and a label"))?;
            labels.push((url.to_owned(), label.trim_end().to_owned()));
        }
    }
    Ok(labels)
}

/// Prints the balls of each distance.
pub(super) fn balls(
    snapshot: &Snapshot,
    (asked, labels): (&Clustering, &[(String, String)]),
    epoch: &str,
    as_json: bool,
    output: &mut Output,
) -> Result<Exit, VerbError> {
    let pairs = labels.iter().map(|(url, label)| (url, label));
    let all = with_progress_bar(|progress| Balls::of(snapshot, asked, pairs, progress))?;
    let has_labels = !labels.is_empty();
    if as_json {
        for of in &all {
            output.object(&ClusterLine::Balls(BallCounts::of(of, has_labels)))?;
        }
    } else {
        table(&all, has_labels, output)?;
        let without = all.first().map_or(0, |of| of.without_fingerprint);
        if without > 0 {
            output.note(&skipped_pages_clause(
                &many(without, "page has", "pages have"),
                epoch,
                WITHOUT_FINGERPRINT,
            ))?;
        }
    }
    Ok(if all.iter().all(|of| of.balls == 0) { Exit::Nothing } else { Exit::Done })
}

fn table(all: &[Balls], has_labels: bool, output: &mut Output) -> Result<(), VerbError> {
    let bins = all.iter().map(|of| of.by_size.len()).max().unwrap_or(0);
    let mut columns = vec![right("within"), right("average"), right("largest")];
    if has_labels {
        columns.extend([right("pairs"), right("equal labels")]);
    }
    columns.extend((0..bins).map(|bin| right(bin_name(bin))));
    let mut table = TextTable::new(columns);
    for of in all {
        let average =
            of.average().map_or_else(|| "-".to_owned(), |average| format!("{average:.3}"));
        let mut cells = vec![of.k.to_string(), average, count(of.largest)];
        if has_labels {
            let share = of.equal_share();
            cells.push(count(of.labelled_pairs));
            cells.push(share.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}")));
        }
        let sizes = of.by_size.iter().copied().chain(std::iter::repeat(0)).take(bins);
        cells.extend(sizes.map(count));
        table.cells(cells, output)?;
    }
    Ok(table.end(output)?)
}

/// The range of sizes in a bin.
fn bin_name(bin: usize) -> String {
    let from = 1_u64 << bin;
    if bin == 0 { "1".to_owned() } else { format!("{}-{}", from, 2 * from - 1) }
}

impl BallCounts {
    fn of(of: &Balls, has_labels: bool) -> BallCounts {
        BallCounts {
            within: of.k,
            balls: of.balls,
            average_size: of.average().map(|average| (average * 1e3).round() / 1e3),
            largest: of.largest,
            without_fingerprint: of.without_fingerprint,
            by_size: of.by_size.clone(),
            labelled_pairs: has_labels.then_some(of.labelled_pairs),
            equal_share: of.equal_share().map(JsonRatio),
        }
    }
}

/// Prints the number of connected components, and the largest ones.
pub(super) fn components(
    snapshot: &Snapshot,
    asked: &Clustering,
    epoch: &str,
    as_json: bool,
    output: &mut Output,
) -> Result<Exit, VerbError> {
    let found = with_progress_bar(|progress| ConnectedComponents::of(snapshot, asked, progress))?;
    let ConnectedComponents {
        k,
        pages,
        without_fingerprint,
        components,
        multi_page_components,
        largest,
        ..
    } = &found;
    if as_json {
        output.object(&ClusterLine::Components(ComponentCounts {
            step: *k,
            pages: *pages,
            without_fingerprint: *without_fingerprint,
            components: *components,
            multi_page_components: *multi_page_components,
        }))?;
    } else {
        output.summary(&format!(
            "{} in {}, connected by steps of at most {}; {} with two pages or more{}",
            many(*pages, "page", "pages"),
            many(*components, "connected component", "connected components"),
            many((*k).into(), "bit", "bits"),
            count(*multi_page_components),
            skipped_pages_note(*without_fingerprint, epoch, WITHOUT_FINGERPRINT),
        ))?;
    }
    let mut table = TextTable::new([right("pages"), right("max distance"), left("example page")]);
    for ConnectedComponent { page, pages, max_distance, .. } in largest {
        if as_json {
            let of = ComponentResult { url: page, size: *pages, max_distance: *max_distance };
            output.object(&ClusterLine::Component(of))?;
        } else {
            table.row(
                [count(*pages), max_distance.to_string(), escape::escape_untruncated(page)],
                output,
            )?;
        }
    }
    table.end(output)?;
    if *pages > 0 {
        return Ok(Exit::Done);
    }
    if !as_json {
        output.note(NONE_COMPARED)?;
    }
    Ok(Exit::Nothing)
}
