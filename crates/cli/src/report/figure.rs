//! Figures: columns, bars and spans, in SVG that any reader knows. What a figure shows stands below it
//! as a table, too.

use maud::{Markup, html};

use super::ticks::{powers, round, short};

/// Units of the drawing, which are pixels on a narrow screen.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 170.0;
/// Room for the numbers left of the panel, above and below it.
const LEFT: f64 = 44.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 34.0;
const PANEL_WIDTH: f64 = WIDTH - LEFT - 8.0;
const PANEL_HEIGHT: f64 = HEIGHT - TOP - BELOW;
const BAR_HEIGHT: f64 = 34.0;

/// A figure with what is said of it.
pub(super) struct Figure {
    pub(super) title: String,
    /// What one sees, and what would be bad.
    pub(super) said: String,
    pub(super) drawing: Markup,
    /// What it is drawn of: headings, and rows.
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Columns side by side.
pub(super) struct Columns<'a> {
    /// For those who do not see it.
    pub(super) title: &'a str,
    pub(super) described: &'a str,
    pub(super) values: &'a [f64],
    /// What stands below some of the columns, by their numbers.
    pub(super) below: Vec<(usize, String)>,
    /// What the axis below is of.
    pub(super) axis: &'a str,
    /// Lines from top to bottom before some of the columns, with a word each.
    pub(super) marks: Vec<(usize, &'a str)>,
    /// A line from left to right at a height.
    pub(super) level: Option<f64>,
    /// Heights by powers of ten.
    pub(super) is_log: bool,
}

impl Figure {
    pub(super) fn html(&self) -> Markup {
        html! {
            figure {
                h3 { (self.title) }
                p { (self.said) }
                (self.drawing)
                details {
                    summary { "Numbers" }
                    div.scroll { table {
                        thead { tr { @for heading in &self.headings { th scope="col" { (heading) } } } }
                        tbody { @for row in &self.rows {
                            tr { @for cell in row { td { (cell) } } }
                        } }
                    } }
                }
            }
        }
    }
}

fn px(number: f64) -> String {
    format!("{number:.1}")
}

impl Columns<'_> {
    pub(super) fn html(&self) -> Markup {
        let largest = self.values.iter().copied().chain(self.level).fold(0.0, f64::max);
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let ticks = if self.is_log { powers(largest) } else { round(largest) };
        let top = ticks.last().copied().unwrap_or(1.0);
        // Of a number by powers of ten, one is already something.
        let share = |value: f64| match self.is_log {
            false => value / top,
            true if value <= 0.0 => 0.0,
            true => (value.log10() + 0.3) / (top.log10() + 0.3),
        };
        let y = |value: f64| TOP + PANEL_HEIGHT * (1.0 - share(value).clamp(0.0, 1.0));
        let width = PANEL_WIDTH / self.values.len().max(1) as f64;
        let gap = if width > 3.0 { 1.0 } else { 0.0 };
        let x = |number: usize| LEFT + width * number as f64;
        let bottom = TOP + PANEL_HEIGHT;
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" {
                title { (self.title) }
                desc { (self.described) }
                @for tick in ticks.iter().filter(|tick| !self.is_log || share(**tick) > 0.0) {
                    line.grid x1=(px(LEFT)) x2=(px(LEFT + PANEL_WIDTH)) y1=(px(y(*tick))) y2=(px(y(*tick))) {}
                    text x=(px(LEFT - 5.0)) y=(px(y(*tick) + 3.5)) text-anchor="end" { (short(*tick)) }
                }
                @for (number, value) in self.values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                    rect.fill x=(px(x(number) + gap / 2.0)) width=(px((width - gap).max(0.5)))
                        y=(px(y(*value).min(bottom - 0.7))) height=(px((bottom - y(*value)).max(0.7))) {}
                }
                @if let Some(level) = self.level {
                    line.level x1=(px(LEFT)) x2=(px(LEFT + PANEL_WIDTH)) y1=(px(y(level))) y2=(px(y(level))) {}
                }
                @for (nth, (number, word)) in self.marks.iter().enumerate() {
                    line.mark x1=(px(x(*number))) x2=(px(x(*number))) y1=(px(TOP)) y2=(px(bottom)) {}
                    text x=(px(x(*number) + 3.0)) y=(px(TOP + 9.0 + 12.0 * nth as f64)) { (word) }
                }
                line.axis x1=(px(LEFT)) x2=(px(LEFT + PANEL_WIDTH)) y1=(px(bottom)) y2=(px(bottom)) {}
                @for (number, text) in &self.below {
                    text x=(px(x(*number) + width / 2.0)) y=(px(bottom + 13.0)) text-anchor=(anchor(*number, self.values.len())) { (text) }
                }
                text x=(px(LEFT + PANEL_WIDTH / 2.0)) y=(px(HEIGHT - 5.0)) text-anchor="middle" { (self.axis) }
            }
        }
    }
}

/// How a text stands below a column: within the panel.
fn anchor(number: usize, all: usize) -> &'static str {
    match number {
        _ if all < 8 => "middle",
        0 => "start",
        last if last + 1 == all => "end",
        _ => "middle",
    }
}

/// Bars below each other, each with its name and what is said of it.
pub(super) fn bars(title: &str, described: &str, rows: &[(String, f64, String)]) -> Markup {
    let largest = rows.iter().map(|row| row.1).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let of = |(name, value, said): &(String, f64, String)| {
        (name.clone(), 0.0, value / largest, said.clone())
    };
    spans(title, described, &rows.iter().map(of).collect::<Vec<_>>())
}

/// Spans below each other on one axis, from and to, as shares of it.
pub(super) fn spans(title: &str, described: &str, rows: &[(String, f64, f64, String)]) -> Markup {
    let height = BAR_HEIGHT * rows.len().max(1) as f64;
    let y = |number: usize| BAR_HEIGHT * number as f64;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" {
            title { (title) }
            desc { (described) }
            @for (number, (name, from, to, said)) in rows.iter().enumerate() {
                text x="0" y=(px(y(number) + 13.0)) { (cut(name)) }
                text x=(px(WIDTH)) y=(px(y(number) + 13.0)) text-anchor="end" { (said) }
                rect.back x="0" y=(px(y(number) + 18.0)) width=(px(WIDTH)) height="8" {}
                rect.fill x=(px(WIDTH * from)) y=(px(y(number) + 18.0)) height="8"
                    width=(px((WIDTH * (to - from)).max(1.0))) {}
            }
        }
    }
}

/// A name that leaves room for a number beside it.
fn cut(name: &str) -> String {
    const CHARS: usize = 30;
    match name.char_indices().nth(CHARS) {
        None => name.to_owned(),
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or(name)),
    }
}
