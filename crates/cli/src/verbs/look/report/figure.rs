//! Figures: columns, bars and spans, in SVG that any reader knows. What a figure shows stands below it
//! as a table, too.

use maud::{Markup, html};

use super::ticks::{powers, round, short, whole};
use crate::output::words::count;

/// Units of the drawing, which are pixels on a narrow screen.
const WIDTH: f64 = 340.0;
const PANEL_HEIGHT: f64 = 126.0;
/// Room for the numbers left of the panel, above and below it.
const LEFT: f64 = 44.0;
const TOP: f64 = 10.0;
const BELOW: f64 = 34.0;
const PANEL_WIDTH: f64 = WIDTH - LEFT - 8.0;
const MARK_HEIGHT: f64 = 12.0;
const BAR_HEIGHT: f64 = 34.0;
/// What a store has any number of is cut, so that a report is never large: bars of a figure, rows of a
/// table, the width of a name above a bar, characters of one in a table.
const BARS_MAX: usize = 40;
const ROWS_MAX: usize = 400;
const NAME_WIDTH_MAX: f64 = 180.0;
const CELL_CHARS_MAX: usize = 120;

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
    /// Lines from top to bottom before some of the columns, with a word each above the panel.
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
                        tbody {
                            @for row in self.rows.iter().take(ROWS_MAX) {
                                tr { @for cell in row { td { (cut(cell, CELL_CHARS_MAX)) } } }
                            }
                            @if let Some(more) = more(self.rows.len(), ROWS_MAX) {
                                tr { td colspan=(self.headings.len()) { (more) } }
                            }
                        }
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
        // What is counted has no halves.
        let is_count = self.values.iter().all(|value| value.fract() == 0.0);
        let ticks = match self.is_log {
            true => powers(largest),
            false if is_count => whole(largest),
            false => round(largest),
        };
        let highest = ticks.last().copied().unwrap_or(1.0);
        // Of a number by powers of ten, one is already something.
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
                    // At the right it would lie outside.
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

/// Spans below each other on one axis, from and to, as shares of it. Of very many the longest.
pub(super) fn spans(title: &str, described: &str, rows: &[(String, f64, f64, String)]) -> Markup {
    let shown = longest(rows);
    let more = more(rows.len(), BARS_MAX);
    let y = |number: usize| BAR_HEIGHT * number as f64;
    let height = y(shown.len().max(1) + usize::from(more.is_some()));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" {
            title { (title) }
            desc { (described) }
            @for (number, (name, from, to, said)) in shown.iter().enumerate() {
                text x="0" y=(px(y(number) + 13.0)) { (cut(name, fitting(name))) }
                text x=(px(WIDTH)) y=(px(y(number) + 13.0)) text-anchor="end" { (said) }
                rect.back x="0" y=(px(y(number) + 18.0)) width=(px(WIDTH)) height="8" {}
                rect.fill x=(px(WIDTH * from)) y=(px(y(number) + 18.0)) height="8"
                    width=(px((WIDTH * (to - from)).max(1.0))) {}
            }
            @if let Some(more) = more {
                text x="0" y=(px(y(shown.len()) + 13.0)) { (more) }
            }
        }
    }
}

/// The longest spans, in the order that they had.
fn longest(rows: &[(String, f64, f64, String)]) -> Vec<&(String, f64, f64, String)> {
    let mut by_length: Vec<_> = rows.iter().enumerate().collect();
    by_length.sort_by(|(_, a), (_, b)| (b.2 - b.1).total_cmp(&(a.2 - a.1)));
    by_length.truncate(BARS_MAX);
    by_length.sort_by_key(|(number, _)| *number);
    by_length.into_iter().map(|(_, row)| row).collect()
}

/// That there are more than are shown, if so.
fn more(all: usize, most: usize) -> Option<String> {
    let more = all.saturating_sub(most);
    (more > 0).then(|| format!("and {} more", count(more as u64)))
}

/// How many characters of a name leave room for a number beside it. The letters are those that the
/// reader has, so this is about as wide as they are.
fn fitting(name: &str) -> usize {
    let width = |c: char| match c {
        c if !c.is_ascii() => 11.0,
        'A'..='Z' | 'm' | 'w' | '%' | '@' | '&' => 9.5,
        _ => 6.0,
    };
    let mut room = NAME_WIDTH_MAX;
    let fits = |c: &char| {
        room -= width(*c);
        room >= 0.0
    };
    name.chars().take_while(fits).count()
}

/// A text of at most so many characters.
fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_bars_the_longest_are_drawn_and_the_others_counted() {
        let name = |number: usize| format!("{number}{}", "ä".repeat(100));
        let row = |number: usize| (name(number), number as f64, number.to_string());
        let rows: Vec<_> = (0..1041).map(row).collect();
        let drawn = bars("title", "described", &rows).into_string();
        assert_eq!(drawn.matches("class=\"fill\"").count(), BARS_MAX);
        assert!(drawn.contains(">and 1,001 more<") && drawn.contains(">1040ää"), "{drawn}");
        assert!(
            !drawn.contains(">1000ää") && drawn.contains(&format!(">1001{}…<", "ä".repeat(14)))
        );
        let names = ["a.example".repeat(9), "W".repeat(90), "丈".repeat(90)];
        assert_eq!(names.map(|name| fitting(&name)), [28, 18, 16]);
        assert!(!bars("title", "described", &rows[..40]).into_string().contains("more"));
    }
}
