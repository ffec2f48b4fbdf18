//! A plot of freshness by the number of visits.

use std::fmt::Write as _;

use super::best::Best;
use super::row::Row;
use crate::output::svg::{AXIS, GRID, begin, label, line, short, stroke, text_of};

/// Lengths are in pixels.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 64.0;
/// From the panel to the end of the legend.
const LEGEND: f64 = 230.0;
const BELOW: f64 = 64.0;
const ENTRY_HEIGHT: f64 = 22.0;

/// A curve: its name, and its height at each number of visits.
type Curve = (String, Vec<f64>);

/// Draws the freshness of all rows, and the best that there could be.
pub(super) fn svg(
    title: &str,
    visits: &[f64],
    sample: f64,
    rows: &[Vec<Row>],
    best: &[Vec<Best>],
) -> String {
    let fresh = |row: &Row| row.mean(|figures| figures.freshness).mean;
    let of_row = |rows: &Vec<Row>| {
        let name = rows.first().map_or(String::new(), |row| row.name.clone());
        (name, rows.iter().map(fresh).collect())
    };
    let mut curves: Vec<Curve> = rows.iter().map(of_row).collect();
    let at_best: Vec<f64> = best.iter().filter_map(|best| Some(best.first()?.freshness)).collect();
    if let Some(best) = best.first().and_then(|best| best.first()) {
        curves.push((best.name.to_owned(), at_best));
    }
    let (low, high) = bounds(&curves);
    let height = (TOP + HEIGHT + BELOW).max(TOP + curves.len() as f64 * ENTRY_HEIGHT + 20.0);
    let mut svg = begin(title, LEFT, (LEFT + WIDTH + LEGEND, height));
    draw_grid(&mut svg, visits, sample, (low, high));
    for (number, curve) in curves.iter().enumerate() {
        draw_curve(&mut svg, number, curve, (low, high));
    }
    svg + "</svg>\n"
}

/// What the panel shows: whole tenths around all curves.
fn bounds(curves: &[Curve]) -> (f64, f64) {
    let all = || curves.iter().flat_map(|(_, heights)| heights.iter().copied());
    let low = all().fold(1.0, f64::min);
    let high = all().fold(0.0, f64::max);
    let (low, high) = ((low * 10.0).floor() / 10.0, (high * 10.0).ceil() / 10.0);
    if low < high { (low, high) } else { (0.0, 1.0) }
}

fn draw_grid(svg: &mut String, visits: &[f64], sample: f64, (low, high): (f64, f64)) {
    for step in 0..=5 {
        let share = low + (high - low) * f64::from(step) / 5.0;
        let at = y(share, (low, high));
        *svg += &line(if step == 0 { AXIS } else { GRID }, (LEFT, at), (LEFT + WIDTH, at));
        *svg += &label("pale", LEFT - 8.0, at + 4.0, "end", 11, &format!("{share:.2}"));
    }
    for (number, visits) in visits.iter().enumerate() {
        let at = x(number);
        *svg += &line(if number == 0 { AXIS } else { GRID }, (at, TOP), (at, TOP + HEIGHT));
        let text = format!("{:.4}", visits / sample);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        *svg += &label("pale", at, TOP + HEIGHT + 18.0, "middle", 11, text);
    }
    let middle = LEFT + WIDTH / 2.0;
    *svg += &label("pale", middle, TOP + HEIGHT + 40.0, "middle", 12, "visits a day");
}

/// A curve, and its entry in the legend.
fn draw_curve(svg: &mut String, number: usize, (name, heights): &Curve, bounds: (f64, f64)) {
    let point = |(at, height): (usize, &f64)| format!("{:.1},{:.1}", x(at), y(*height, bounds));
    let points: Vec<String> = heights.iter().enumerate().map(point).collect();
    let (colour, dash) = stroke(number);
    let name = text_of(&short(name));
    let sample = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"");
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" {sample} stroke-linejoin=\"round\" points=\"{}\"><title>{name}</title></polyline>",
        points.join(" ")
    );
    let (left, at) = (LEFT + WIDTH + 16.0, TOP + number as f64 * ENTRY_HEIGHT + 8.0);
    *svg += &line(&sample, (left, at), (left + 30.0, at));
    *svg += &label("ink", left + 38.0, at + 4.0, "start", 12, &name);
}

/// Each number of visits is twice the one before.
fn x(number: usize) -> f64 {
    LEFT + WIDTH * number as f64 / 4.0
}

fn y(share: f64, (low, high): (f64, f64)) -> f64 {
    TOP + HEIGHT * (high - share) / (high - low)
}

#[cfg(test)]
mod tests {
    use simkeep::recrawl::simulate::Figures;

    use super::*;

    #[test]
    fn curves_are_where_they_should_be() {
        let row = |freshness| Row {
            name: "<a>".into(),
            figures: vec![Figures { freshness, ..Figures::default() }],
        };
        let rows = [0.25, 0.5, 0.5, 0.5, 0.78].map(row);
        let best = [0.3, 0.6, 0.6, 0.6, 0.8];
        let best = best.map(|freshness| vec![Best { name: "best", key: "best", freshness }]);
        let svg = svg("1 < 2", &[1.0, 2.0, 4.0, 8.0, 16.0], 0.5, &[rows.to_vec()], &best);
        assert!(svg.contains("<title>1 &lt; 2</title>") && svg.contains("&lt;a&gt;"), "{svg}");
        // From 0.2 to 0.8, and twice the visits of the sample.
        let first = format!("points=\"{LEFT:.1},{:.1} ", TOP + HEIGHT * 0.55 / 0.6);
        assert!(svg.contains(&first) && svg.contains(">0.20<") && svg.contains(">32<"), "{svg}");
        assert!(svg.contains(&format!("{:.1},{TOP:.1}\"", LEFT + WIDTH)), "{svg}");
    }
}
