//! A plot of precision, recall and F1 by distance.

use super::row::{MeanScores, RecipeScores, SeedMean};
use super::scores::DISTANCE_MAX;
use crate::output::plot::{CurvePlot, PlotAxis, PlotCurve, PlotPanel};

/// The figure that a panel shows.
type PanelFigure = fn(&MeanScores) -> Option<SeedMean>;

const PANELS: [(&str, PanelFigure); 3] = [
    ("Precision, strict", |figures| figures.strict),
    ("Recall", |figures| figures.recall),
    ("F1", |figures| figures.f1),
];

/// Draws all rows under a title.
pub(super) fn svg(title: &str, rows: &[RecipeScores]) -> String {
    let distances = (0..=DISTANCE_MAX).step_by(5).map(|k| (f64::from(k), k.to_string()));
    let panel = |(title, shown): (&'static str, PanelFigure)| PlotPanel {
        title,
        x: PlotAxis(distances.clone().collect()),
        y: PlotAxis(
            (0..=5)
                .map(|n| f64::from(n) / 5.0)
                .map(|share| (share, format!("{share:.1}")))
                .collect(),
        ),
        below: "maximum number of differing bits",
        curves: rows.iter().map(|row| curve(row, shown)).collect(),
    };
    let plot = CurvePlot {
        title,
        size: (300.0, 280.0),
        panels: PANELS.map(panel).into(),
        names: rows.iter().map(|row| row.name.as_str()).collect(),
        note: "dot: the advised distance; ring: the distance with the best F1",
    };
    plot.svg()
}

/// The curve of a row, with marks at its advised and its best distance.
fn curve(row: &RecipeScores, shown: PanelFigure) -> PlotCurve {
    let at = |k: usize| Some((k as f64, row.at.get(k).and_then(shown)?.mean));
    PlotCurve {
        points: (0..row.at.len()).filter_map(at).collect(),
        dot: row.advised.and_then(at),
        ring: row.best().and_then(at),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scores::PairScore;
    use super::*;

    #[test]
    fn curve_has_points_where_values_exist() {
        let score =
            |strict, f1| PairScore { pairs: 1, lenient: None, strict, recall: Some(0.25), f1 };
        let hash = vec![score(None, Some(0.5)), score(Some(1.0), Some(0.75))];
        let row = RecipeScores::new("a".into(), "x".into(), Some(0), &[hash]);
        let [precision, recall, _] = PANELS.map(|(_, shown)| curve(&row, shown));
        let marked =
            |points: &[(f64, f64)], dot, ring| PlotCurve { points: points.into(), dot, ring };
        // There is no precision at the advised distance.
        assert_eq!(precision, marked(&[(1.0, 1.0)], None, Some((1.0, 1.0))));
        let [first, second] = [(0.0, 0.25), (1.0, 0.25)];
        assert_eq!(recall, marked(&[first, second], Some(first), Some(second)));
        assert_eq!(svg("title", &[row]).matches("<polyline").count(), 3);
    }
}
