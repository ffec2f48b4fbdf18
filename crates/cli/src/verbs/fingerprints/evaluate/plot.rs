//! A plot of precision, recall and F1 by distance: SVG that reads in light and in dark.

use std::fmt::Write as _;

use super::DISTANCE_MAX;
use super::row::{Figures, Mean, Row};
use crate::output::svg::{AXIS, GRID, begin, label, line, short, stroke, text_of};

/// What a panel shows.
struct Panel {
    title: &'static str,
    share: fn(&Figures) -> Option<Mean>,
}

const PANELS: [Panel; 3] = [
    Panel { title: "Precision, strict", share: |figures| figures.strict },
    Panel { title: "Recall", share: |figures| figures.recall },
    Panel { title: "F1", share: |figures| figures.f1 },
];

/// Lengths are in pixels. A panel, and what lies between two.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 280.0;
const GAP: f64 = 50.0;
/// What lies around the panels.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
/// From the panels to the legend.
const BELOW: f64 = 70.0;
/// The legend: its entries in rows.
const ENTRIES_IN_ROW: usize = 4;
const ENTRY_HEIGHT: f64 = 22.0;

const ALL_WIDTH: f64 = LEFT + 3.0 * WIDTH + 2.0 * GAP + RIGHT;

/// Draws all rows under a title.
pub(super) fn svg(title: &str, rows: &[Row]) -> String {
    let legend = rows.len().div_ceil(ENTRIES_IN_ROW) as f64 * ENTRY_HEIGHT;
    let height = TOP + HEIGHT + BELOW + legend + 46.0;
    let mut svg = begin(title, LEFT, (ALL_WIDTH, height));
    let mut left = LEFT;
    for panel in PANELS {
        draw_panel(&mut svg, &panel, left, rows);
        left += WIDTH + GAP;
    }
    draw_legend(&mut svg, rows, TOP + HEIGHT + BELOW);
    svg + "</svg>\n"
}

fn draw_panel(svg: &mut String, panel: &Panel, left: f64, rows: &[Row]) {
    *svg += &label("ink", left, TOP - 16.0, "start", 14, panel.title);
    for step in 0..=5 {
        let share = f64::from(step) / 5.0;
        *svg +=
            &line(if step == 0 { AXIS } else { GRID }, (left, y(share)), (left + WIDTH, y(share)));
        *svg += &label("pale", left - 8.0, y(share) + 4.0, "end", 11, &format!("{share:.1}"));
    }
    for k in (0..=DISTANCE_MAX).step_by(5) {
        let at = x(left, k as usize);
        *svg += &line(if k == 0 { AXIS } else { GRID }, (at, TOP), (at, TOP + HEIGHT));
        *svg += &label("pale", at, TOP + HEIGHT + 18.0, "middle", 11, &k.to_string());
    }
    let middle = left + WIDTH / 2.0;
    *svg += &label("pale", middle, TOP + HEIGHT + 38.0, "middle", 12, "bits that differ, at most");
    for (number, row) in rows.iter().enumerate() {
        draw_row(svg, panel, left, number, row);
    }
}

/// The curve of a row, its advised distance and its best one.
fn draw_row(svg: &mut String, panel: &Panel, left: f64, number: usize, row: &Row) {
    let at = |k: usize| {
        let mean = row.at.get(k).and_then(panel.share)?;
        Some((x(left, k), y(mean.mean)))
    };
    let points = (0..row.at.len()).filter_map(at);
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let (colour, dash) = stroke(number);
    let name = text_of(&row.name);
    let _ = writeln!(svg, "<g stroke=\"{colour}\" stroke-width=\"2\"><title>{name}</title>");
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke-dasharray=\"{dash}\" points=\"{}\"/>",
        points.join(" ")
    );
    if let Some((x, y)) = row.best().and_then(at) {
        let _ = writeln!(
            svg,
            "<circle class=\"paper\" fill=\"#ffffff\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>"
        );
    }
    if let Some((x, y)) = row.advised.and_then(at) {
        let _ = writeln!(svg, "<circle fill=\"{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"/>");
    }
    *svg += "</g>\n";
}

fn draw_legend(svg: &mut String, rows: &[Row], top: f64) {
    let width = (ALL_WIDTH - LEFT - RIGHT) / ENTRIES_IN_ROW as f64;
    for (number, row) in rows.iter().enumerate() {
        let left = LEFT + (number % ENTRIES_IN_ROW) as f64 * width;
        let at = top + (number / ENTRIES_IN_ROW) as f64 * ENTRY_HEIGHT;
        let (colour, dash) = stroke(number);
        let sample = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"");
        *svg += &line(&sample, (left, at), (left + 30.0, at));
        *svg += &label("ink", left + 38.0, at + 4.0, "start", 12, &text_of(&short(&row.name)));
    }
    let rows = rows.len().div_ceil(ENTRIES_IN_ROW) as f64;
    let note = "dot: the distance that is advised; ring: the one with the best F1";
    *svg += &label("pale", LEFT, top + rows * ENTRY_HEIGHT + 14.0, "start", 12, note);
}

fn x(left: f64, k: usize) -> f64 {
    left + WIDTH * k as f64 / f64::from(DISTANCE_MAX)
}

fn y(share: f64) -> f64 {
    TOP + HEIGHT * (1.0 - share)
}

#[cfg(test)]
mod tests {
    use super::super::scores::Score;
    use super::*;

    #[test]
    fn what_is_drawn_is_escaped_and_where_it_should_be() {
        let score = |strict, f1| Score { pairs: 1, lenient: None, strict, recall: Some(0.25), f1 };
        let hash = vec![score(None, Some(0.5)), score(Some(1.0), Some(0.75))];
        let row = Row::new("<a&\"b\u{1b}>".into(), "x".into(), Some(0), &[hash]);
        let svg = svg("1 < 2", &[row]);
        assert!(svg.contains("<title>1 &lt; 2</title>") && svg.contains("&lt;a&amp;&quot;b"));
        assert!(!svg.contains('\u{1b}') && !svg.contains("<a"), "{svg}");
        let curves: Vec<&str> =
            svg.lines().filter_map(|line| line.split("points=\"").nth(1)).collect();
        let (one, step) = (x(LEFT, 1), x(0.0, 1));
        assert_eq!(curves[0], format!("{one:.1},{:.1}\"/>", y(1.0)));
        let left = LEFT + WIDTH + GAP;
        let recall = format!("{left:.1},{0:.1} {1:.1},{0:.1}\"/>", y(0.25), left + step);
        assert_eq!(curves[1], recall);
        // Of the precision there is none at the advised distance, so no dot: two dots, three rings.
        assert_eq!((svg.matches("r=\"2.5\"").count(), svg.matches("r=\"5\"").count()), (2, 3));
    }
}
