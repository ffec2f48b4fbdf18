//! Horizontal bars below each other.

use maud::{Markup, html};

use super::{WIDTH, cut, more, px};

const BAR_HEIGHT: f64 = 34.0;
/// The maximum number of bars. With the width of a name above a bar, it limits the size of a
/// drawing.
const BARS_MAX: usize = 40;
const NAME_WIDTH_MAX: f64 = 180.0;

/// Draws horizontal bars, each with its name and a label.
pub(crate) fn bars(title: &str, described: &str, rows: &[(String, f64, String)]) -> Markup {
    let largest = rows.iter().map(|row| row.1).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let of = |(name, value, said): &(String, f64, String)| {
        (name.clone(), 0.0, value / largest, said.clone())
    };
    spans(title, described, &rows.iter().map(of).collect::<Vec<_>>())
}

/// A span of an axis: its name, its begin and end as fractions of the axis, and a label.
pub(crate) type AxisSpan = (String, f64, f64, String);

/// Draws spans below each other on one axis. If there are too many, draws only the longest.
pub(crate) fn spans(title: &str, described: &str, rows: &[AxisSpan]) -> Markup {
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

/// The longest spans, in their original order.
fn longest(rows: &[AxisSpan]) -> Vec<&AxisSpan> {
    let mut by_length: Vec<_> = rows.iter().enumerate().collect();
    by_length.sort_by(|(_, a), (_, b)| (b.2 - b.1).total_cmp(&(a.2 - a.1)));
    by_length.truncate(BARS_MAX);
    by_length.sort_by_key(|(number, _)| *number);
    by_length.into_iter().map(|(_, row)| row).collect()
}

/// The number of characters of a name that leave space for a number next to it. The width of
/// letters is estimated, since it depends on the reader's fonts.
fn fitting(name: &str) -> usize {
    let width = |c: char| match c {
        c if !c.is_ascii() => 11.0,
        'A'..='Z' | 'm' | 'w' | '%' | '@' | '&' => 9.5,
        _ => 6.0,
    };
    let mut left = NAME_WIDTH_MAX;
    let fits = |c: &char| {
        left -= width(*c);
        left >= 0.0
    };
    name.chars().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_bars_are_drawn_and_the_others_counted() {
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
