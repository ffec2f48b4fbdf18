//! The chapter on the distribution of fingerprints over all values.

use super::super::facts::ReportFacts;
use super::super::figure::ReportFigure;
use super::{ReportChapter, headings, heights, rows};
use crate::output::plot::ColumnChart;
use crate::output::words;

pub(super) fn chapter(facts: &ReportFacts) -> ReportChapter {
    let fingerprints = &facts.census.fingerprints;
    let said = format!(
        "The distribution of the fingerprints for near-duplicates. {} pages have such a fingerprint now, \
         {} have content without one.",
        words::count(fingerprints.pages),
        words::count(fingerprints.without)
    );
    let figures = vec![
        popcounts(facts),
        values(facts),
        bits(
            "Ones in each bit, over pages",
            "A bit that is 1 for nearly all pages or for nearly none distinguishes nothing. A template \
             on all pages causes this.",
            &fingerprints.ones,
            fingerprints.pages,
        ),
        bits(
            "Ones in each bit, over different fingerprints",
            "Each fingerprint counts once, regardless of its number of pages. A bit far from one half \
             indicates a bias of the recipe or of the language.",
            &fingerprints.distinct_ones,
            fingerprints.distinct,
        ),
    ];
    ReportChapter { title: "Appendix: bits of the fingerprints", said, figures }
}

fn popcounts(facts: &ReportFacts) -> ReportFigure {
    let popcounts = &facts.census.fingerprints.popcounts;
    let title = "Bits that are 1";
    let drawing = ColumnChart {
        title,
        described: "The number of pages by the number of ones in their fingerprints, from 0 to 64",
        values: &heights(popcounts),
        below: (0..=64).step_by(16).map(|bits| (bits, bits.to_string())).collect(),
        axis: "ones",
        marks: Vec::new(),
        level: None,
        is_log: false,
    };
    ReportFigure {
        title: title.to_owned(),
        said: "The number of pages by the number of ones in their fingerprints. A bell curve around 32 \
               is normal. A spike is a fingerprint of very many pages. A shifted curve indicates a bias."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["ones", "pages"]),
        rows: rows((0..=64).map(|bits| bits.to_string()), popcounts),
    }
}

fn values(facts: &ReportFacts) -> ReportFigure {
    let values = &facts.census.fingerprints.values;
    let title = "Values";
    let drawing = ColumnChart {
        title,
        described: "The number of pages by the first byte of their fingerprints",
        values: &heights(values),
        below: [0, 64, 128, 192, 255].into_iter().map(|at| (at, format!("{at:02x}"))).collect(),
        axis: "the highest eight bits",
        marks: Vec::new(),
        level: Some(facts.census.fingerprints.pages as f64 / 256.0),
        is_log: false,
    };
    ReportFigure {
        title: title.to_owned(),
        said: "The number of pages by the highest eight bits of their fingerprints. The dashed line is \
               an even distribution. High columns are dense regions, which make searches slower."
            .to_owned(),
        drawing: drawing.html(),
        headings: headings(["begins with", "pages"]),
        rows: rows((0..256).map(|at| format!("{at:02x}")), values),
    }
}

fn bits(title: &str, said: &str, ones: &[u64], all: u64) -> ReportFigure {
    let share = |ones: &u64| *ones as f64 / all.max(1) as f64;
    let shares: Vec<f64> = ones.iter().map(share).collect();
    let drawing = ColumnChart {
        title,
        described: "The share of ones in each of the 64 bits, with the lowest bit on the left",
        values: &shares,
        below: [0, 16, 32, 48, 63].into_iter().map(|bit| (bit, bit.to_string())).collect(),
        axis: "bit",
        marks: Vec::new(),
        level: Some(0.5),
        is_log: false,
    };
    ReportFigure {
        title: title.to_owned(),
        said: said.to_owned(),
        drawing: drawing.html(),
        headings: headings(["bit", "share of ones"]),
        rows: (0..64)
            .zip(&shares)
            .map(|(bit, share)| vec![bit.to_string(), format!("{share:.3}")])
            .collect(),
    }
}
