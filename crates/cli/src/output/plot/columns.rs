//! Columns side by side.

use maud::{Markup, html};

use super::ticks::{powers, round, short, whole};
use super::{WIDTH, px};

const PANEL_HEIGHT: f64 = 126.0;
/// The margin left of the panel, for numbers; the margins above and below follow.
const LEFT: f64 = 44.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 34.0;
const PANEL_WIDTH: f64 = WIDTH - LEFT - 8.0;
const MARK_HEIGHT: f64 = 12.0;

/// A chart of columns side by side.
pub(crate) struct ColumnChart<'a> {
    /// Text for readers who cannot see the chart.
    pub(crate) title: &'a str,
    pub(crate) described: &'a str,
    pub(crate) values: &'a [f64],
    /// Labels below some of the columns, by the index of the column.
    pub(crate) below: Vec<(usize, String)>,
    /// The name of the horizontal axis.
    pub(crate) axis: &'a str,
    /// Vertical lines before some of the columns, by index, each with a word above the panel.
    pub(crate) marks: Vec<(usize, &'a str)>,
    /// The height of a horizontal line, if there is one.
    pub(crate) level: Option<f64>,
    /// Whether the vertical axis is logarithmic.
    pub(crate) is_log: bool,
}

impl ColumnChart<'_> {
    pub(crate) fn html(&self) -> Markup {
        let largest = self.values.iter().copied().chain(self.level).fold(0.0, f64::max);
        let largest = if largest > 0.0 { largest } else { 1.0 };
        // Counts have no halves.
        let is_count = self.values.iter().all(|value| value.fract() == 0.0);
        let ticks = match self.is_log {
            true => powers(largest),
            false if is_count => whole(largest),
            false => round(largest),
        };
        let highest = ticks.last().copied().unwrap_or(1.0);
        // On a logarithmic axis, a value of 1 still has a visible height.
        let share = |value: f64| match self.is_log {
            false => value / highest,
            true if value <= 0.0 => 0.0,
            true => (value.log10() + 0.3) / (highest.log10() + 0.3),
        };
        let line = |nth: usize| TOP + MARK_HEIGHT * nth as f64;
        let top = line(self.marks.len());
        let y = |value: f64| top + PANEL_HEIGHT * (1.0 - share(value).clamp(0.0, 1.0));
        let width = PANEL_WIDTH / self.values.len().max(1) as f64;
        let gap = if width > 3.0 { 1.0 } else { 0.0 };
        let x = |number: usize| LEFT + width * number as f64;
        let bottom = top + PANEL_HEIGHT;
        let height = bottom + BELOW;
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" {
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
                    line.mark x1=(px(x(*number))) x2=(px(x(*number))) y1=(px(line(nth) - 2.0)) y2=(px(bottom)) {}
                    // At the right edge, the word would lie outside the drawing.
                    @let is_right = x(*number) > WIDTH - 60.0;
                    text x=(px(x(*number) + if is_right { -3.0 } else { 3.0 }))
                        y=(px(line(nth) + 7.0))
                        text-anchor=(if is_right { "end" } else { "start" }) { (word) }
                }
                line.axis x1=(px(LEFT)) x2=(px(LEFT + PANEL_WIDTH)) y1=(px(bottom)) y2=(px(bottom)) {}
                @for (number, text) in &self.below {
                    text x=(px(x(*number) + width / 2.0)) y=(px(bottom + 13.0)) text-anchor=(anchor(*number, self.values.len())) { (text) }
                }
                text x=(px(LEFT + PANEL_WIDTH / 2.0)) y=(px(height - 5.0)) text-anchor="middle" { (self.axis) }
            }
        }
    }
}

/// The anchor of a label below a column, which keeps it within the panel.
fn anchor(number: usize, all: usize) -> &'static str {
    match number {
        _ if all < 8 => "middle",
        0 => "start",
        last if last + 1 == all => "end",
        _ => "middle",
    }
}
