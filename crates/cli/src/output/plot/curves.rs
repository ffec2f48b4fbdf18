//! A plot in a file of its own: panels side by side with curves, and a legend below them.
//!
//! Attributes set the colours of a light page, which every SVG reader supports. On a dark page, the
//! rules of the style sheet override them.

use maud::{Markup, PreEscaped, html};
use simkeep_formats::escape;

use super::{cut, px};

/// Colours that are visible on white and on black. Curves that reuse a colour differ in their
/// dashes.
const COLOURS: [&str; 8] =
    ["#3b7ddd", "#e07b1a", "#2ca05a", "#e05252", "#9467d9", "#12a3b4", "#d65fae", "#a08030"];
const DASHES: [&str; 4] = ["none", "7 4", "2 4", "10 4 2 4"];

const STYLE: &str = "
text { font-family: system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; }
@media (prefers-color-scheme: dark) {
.paper { fill: #14171c; } .ink { fill: #e8eaed; } .pale { fill: #a3a9b3; }
.grid { stroke: #2e343d; } .axis { stroke: #7d8590; }
}
";

/// The maximum length of a name in the legend, in characters. Longer names are cut.
const NAME_CHARS_MAX: usize = 28;

// All lengths are in pixels.
/// The gap between two panels.
const GAP: f64 = 50.0;
/// The margins around the panels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
/// The distances from the panels to the legend, and from the legend to the end.
const BELOW: f64 = 70.0;
const END: f64 = 46.0;
/// The size of an entry of the legend.
const ENTRY_WIDTH: f64 = 230.0;
const ENTRY_HEIGHT: f64 = 22.0;

/// A plot. Its panels have curves with the same names, in the same order.
pub(crate) struct CurvePlot<'a> {
    pub(crate) title: &'a str,
    /// The width and the height of a panel, in pixels.
    pub(crate) size: (f64, f64),
    pub(crate) panels: Vec<PlotPanel<'a>>,
    /// The names of the curves.
    pub(crate) names: Vec<&'a str>,
    /// Text below the legend.
    pub(crate) note: &'a str,
}

/// A panel with curves.
pub(crate) struct PlotPanel<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: PlotAxis,
    pub(crate) y: PlotAxis,
    /// The name of the horizontal axis.
    pub(crate) below: &'a str,
    pub(crate) curves: Vec<PlotCurve>,
}

/// An axis from its first tick to its last, each with its value and label.
pub(crate) struct PlotAxis(pub(crate) Vec<(f64, String)>);

/// A curve, with a filled dot and a ring at some of its points.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PlotCurve {
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) dot: Option<(f64, f64)>,
    pub(crate) ring: Option<(f64, f64)>,
}

impl PlotAxis {
    /// The position of a value on the axis: 0 at the first tick, 1 at the last.
    fn share(&self, value: f64) -> f64 {
        let end = |tick: Option<&(f64, String)>| tick.map_or(0.0, |(value, _)| *value);
        let (first, last) = (end(self.0.first()), end(self.0.last()));
        if first < last { (value - first) / (last - first) } else { 0.0 }
    }
}

impl CurvePlot<'_> {
    /// The plot as the text of an SVG file.
    pub(crate) fn svg(&self) -> String {
        let (width, height) = self.size;
        let panels = width * self.panels.len() as f64 + GAP * (self.panels.len() as f64 - 1.0);
        let columns = (panels / ENTRY_WIDTH).floor().max(1.0);
        let rows = (self.names.len() as f64 / columns).ceil();
        let legend = TOP + height + BELOW;
        let (all_width, all_height) = (LEFT + panels + RIGHT, legend + rows * ENTRY_HEIGHT + END);
        let title = escape::escape_untruncated(self.title);
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {all_width} {all_height}"))
                width=(all_width) height=(all_height) role="img" {
                title { (title) }
                style { (PreEscaped(STYLE)) }
                rect.paper fill="#ffffff" width=(all_width) height=(all_height) {}
                (label("ink", (LEFT, 34.0), "start", 18, &title))
                @for (number, panel) in self.panels.iter().enumerate() {
                    (self.panel(panel, LEFT + number as f64 * (width + GAP)))
                }
                @for (number, name) in self.names.iter().enumerate() {
                    @let row = (number as f64 / columns).floor();
                    @let left = LEFT + (number as f64 - row * columns) * (panels / columns);
                    @let (colour, dash) = stroke(number);
                    @let at = legend + row * ENTRY_HEIGHT;
                    line stroke=(colour) stroke-width="2" stroke-dasharray=(dash)
                        x1=(px(left)) y1=(px(at)) x2=(px(left + 30.0)) y2=(px(at)) {}
                    (label("ink", (left + 38.0, at + 4.0), "start", 12, &short(name)))
                }
                (label("pale", (LEFT, all_height - END + 14.0), "start", 12, self.note))
            }
        };
        svg.into_string() + "\n"
    }

    fn panel(&self, panel: &PlotPanel<'_>, left: f64) -> Markup {
        let (width, height) = self.size;
        let x = |value: f64| left + width * panel.x.share(value);
        let y = |value: f64| TOP + height * (1.0 - panel.y.share(value));
        html! {
            (label("ink", (left, TOP - 16.0), "start", 14, panel.title))
            @for (number, (value, text)) in panel.y.0.iter().enumerate() {
                @let at = y(*value);
                (grid(number, (left, at), (left + width, at)))
                (label("pale", (left - 8.0, at + 4.0), "end", 11, text))
            }
            @for (number, (value, text)) in panel.x.0.iter().enumerate() {
                @let at = x(*value);
                (grid(number, (at, TOP), (at, TOP + height)))
                (label("pale", (at, TOP + height + 18.0), "middle", 11, text))
            }
            (label("pale", (left + width / 2.0, TOP + height + 38.0), "middle", 12, panel.below))
            @for (number, (curve, name)) in panel.curves.iter().zip(&self.names).enumerate() {
                @let (colour, dash) = stroke(number);
                @let point = |(a, b): &(f64, f64)| format!("{:.1},{:.1}", x(*a), y(*b));
                @let points: Vec<String> = curve.points.iter().map(point).collect();
                g stroke=(colour) stroke-width="2" {
                    title { (short(name)) }
                    polyline fill="none" stroke-linejoin="round" stroke-dasharray=(dash)
                        points=(points.join(" ")) {}
                    @if let Some((a, b)) = curve.ring {
                        circle.paper fill="#ffffff" cx=(px(x(a))) cy=(px(y(b))) r="5" {}
                    }
                    @if let Some((a, b)) = curve.dot {
                        circle fill=(colour) cx=(px(x(a))) cy=(px(y(b))) r="2.5" {}
                    }
                }
            }
        }
    }
}

/// A line of the grid. The line with number 0 is the axis.
fn grid(number: usize, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    let (class, stroke) = if number == 0 { ("axis", "#6b7280") } else { ("grid", "#e5e7eb") };
    html! { line class=(class) stroke=(stroke) x1=(px(x1)) y1=(px(y1)) x2=(px(x2)) y2=(px(y2)) {} }
}

fn label(class: &str, (x, y): (f64, f64), anchor: &str, size: u32, text: &str) -> Markup {
    let fill = if class == "ink" { "#1f2328" } else { "#5f6773" };
    html! {
        text class=(class) fill=(fill) x=(px(x)) y=(px(y)) text-anchor=(anchor) font-size=(size) { (text) }
    }
}

/// The colour and the dash pattern of a curve.
#[expect(clippy::indexing_slicing, reason = "the remainder is smaller")]
fn stroke(number: usize) -> (&'static str, &'static str) {
    let again = number / COLOURS.len();
    (COLOURS[number % COLOURS.len()], DASHES[again % DASHES.len()])
}

/// A name, shortened for the legend.
fn short(name: &str) -> String {
    escape::escape_untruncated(&cut(name, NAME_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_and_each_row_has_its_stroke() {
        assert_eq!(short(&"ä".repeat(40)), format!("{}…", "ä".repeat(28)));
        assert_eq!(short("near"), "near");
        let strokes: std::collections::HashSet<_> = (0..32).map(stroke).collect();
        assert_eq!(strokes.len(), 32);
    }

    #[test]
    fn drawn_text_is_escaped_and_placed() {
        let axis = |ticks: [f64; 3]| PlotAxis(ticks.map(|tick| (tick, tick.to_string())).into());
        let panel = |points: Vec<(f64, f64)>| PlotPanel {
            title: "one",
            x: axis([0.0, 5.0, 10.0]),
            y: axis([0.5, 0.75, 1.0]),
            below: "below",
            curves: vec![PlotCurve { dot: points.first().copied(), points, ring: None }],
        };
        let plot = CurvePlot {
            title: "1 < 2",
            size: (100.0, 200.0),
            panels: vec![panel(vec![(0.0, 0.5), (10.0, 1.0)]), panel(vec![])],
            names: vec!["<a&\"b\u{1b}>"],
            note: "note",
        };
        let svg = plot.svg();
        assert!(svg.contains("<title>1 &lt; 2</title>") && svg.contains("&lt;a&amp;&quot;b"));
        assert!(!svg.contains('\u{1b}') && !svg.contains("<a"), "{svg}");
        let curves: Vec<&str> =
            svg.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let corners = format!("{LEFT:.1},{:.1} {:.1},{TOP:.1}", TOP + 200.0, LEFT + 100.0);
        assert_eq!(curves, [corners.as_str(), ""]);
        assert_eq!((svg.matches("r=\"2.5\"").count(), svg.matches("r=\"5\"").count()), (1, 0));
    }
}
