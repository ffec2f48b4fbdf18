//! A plot of freshness by the number of visits.

use super::best_freshness::BestFreshness;
use super::row::SimulationRow;
use crate::output::plot::{CurvePlot, PlotAxis, PlotCurve, PlotPanel};

/// Draws the freshness of all rows, and the best possible one.
pub(super) fn svg(
    title: &str,
    visits: &[f64],
    sample: f64,
    rows: &[Vec<SimulationRow>],
    best: &[Vec<BestFreshness>],
) -> String {
    let fresh = |row: &SimulationRow| row.mean(|figures| figures.freshness).mean;
    let mut names: Vec<&str> =
        rows.iter().map(|row| row.first().map_or("", |row| row.name.as_str())).collect();
    let mut heights: Vec<Vec<f64>> =
        rows.iter().map(|row| row.iter().map(fresh).collect()).collect();
    if let Some(first) = best.first().and_then(|best| best.first()) {
        names.push(first.name);
        heights.push(best.iter().filter_map(|best| Some(best.first()?.freshness)).collect());
    }
    let (low, high) = bounds(&heights);
    let share = |step: u32| low + (high - low) * f64::from(step) / 5.0;
    let per_day = |visits: &f64| {
        let text = format!("{:.4}", visits / sample);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    // Each number of visits is twice the previous one, so the axis is logarithmic.
    let steps = (0..).map(f64::from);
    let curve = |heights: &Vec<f64>| PlotCurve {
        points: steps.clone().zip(heights.iter().copied()).collect(),
        ..PlotCurve::default()
    };
    let panel = PlotPanel {
        title: "Freshness",
        x: PlotAxis(steps.clone().zip(visits.iter().map(per_day)).collect()),
        y: PlotAxis((0..=5).map(share).map(|share| (share, format!("{share:.2}"))).collect()),
        below: "visits a day",
        curves: heights.iter().map(curve).collect(),
    };
    CurvePlot { title, size: (700.0, 380.0), panels: vec![panel], names, note: "" }.svg()
}

/// The range of the vertical axis: whole tenths around all curves.
fn bounds(curves: &[Vec<f64>]) -> (f64, f64) {
    let all = || curves.iter().flatten().copied();
    let low = all().fold(1.0, f64::min);
    let high = all().fold(0.0, f64::max);
    let (low, high) = ((low * 10.0).floor() / 10.0, (high * 10.0).ceil() / 10.0);
    if low < high { (low, high) } else { (0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use simkeep::recrawl::simulate::SimulationResult;

    use super::*;

    #[test]
    fn curves_are_placed_correctly() {
        let row = |freshness| SimulationRow {
            name: "<a>".into(),
            figures: vec![SimulationResult { freshness, ..SimulationResult::default() }],
        };
        let rows = [0.25, 0.5, 0.5, 0.5, 0.78].map(row);
        let best = [0.3, 0.6, 0.6, 0.6, 0.8];
        let best =
            best.map(|freshness| vec![BestFreshness { name: "best", key: "best", freshness }]);
        let svg = svg("1 < 2", &[1.0, 2.0, 4.0, 8.0, 16.0], 0.5, &[rows.to_vec()], &best);
        assert!(svg.contains("<title>1 &lt; 2</title>") && svg.contains("&lt;a&gt;"), "{svg}");
        // The axis goes from 0.2 to 0.8, and shows twice the visits of the sample.
        assert!(svg.contains(">0.20<") && svg.contains(">0.80<") && svg.contains(">32<"), "{svg}");
        // The best possible curve ends in the upper right corner of the panel, which begins at 64
        // and 84.
        assert!(svg.contains(" 764.0,84.0\""), "{svg}");
        let first = format!("points=\"64.0,{:.1} ", 84.0 + 380.0 * 0.55 / 0.6);
        assert!(svg.contains(&first), "{svg}");
    }
}
