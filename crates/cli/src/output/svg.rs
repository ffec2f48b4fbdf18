//! What plots are drawn of: SVG that reads in light and in dark.

use simkeep_formats::escape;

/// Colours that stand out on white and on black, and the dashes of those who take them again.
const COLOURS: [&str; 8] =
    ["#3b7ddd", "#e07b1a", "#2ca05a", "#e05252", "#9467d9", "#12a3b4", "#d65fae", "#a08030"];
const DASHES: [&str; 4] = ["none", "7 4", "2 4", "10 4 2 4"];

/// What is drawn has the colours of a light page as attributes, which every reader of SVG knows; where
/// the page is dark, these rules come before them.
const STYLE: &str = "<style>
text { font-family: system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; }
@media (prefers-color-scheme: dark) {
.paper { fill: #14171c; } .ink { fill: #e8eaed; } .pale { fill: #a3a9b3; }
.grid { stroke: #2e343d; } .axis { stroke: #7d8590; }
}
</style>
";

/// A longer name is cut in the legend.
const NAME_CHARS_MAX: usize = 28;

/// The beginning of a plot of this width and height, with its title; what is drawn begins at `left`.
pub(crate) fn begin(title: &str, left: f64, (width, height): (f64, f64)) -> String {
    let title = text_of(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n{STYLE}\
         <rect class=\"paper\" fill=\"#ffffff\" width=\"{width}\" height=\"{height}\"/>\n"
    ) + &label("ink", left, 34.0, "start", 18, &title)
}

pub(crate) const AXIS: &str = "class=\"axis\" stroke=\"#6b7280\"";
pub(crate) const GRID: &str = "class=\"grid\" stroke=\"#e5e7eb\"";

pub(crate) fn line(stroke: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    format!("<line {stroke} x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n")
}

/// A text, which is escaped already.
pub(crate) fn label(class: &str, x: f64, y: f64, anchor: &str, size: u32, text: &str) -> String {
    let fill = if class == "ink" { "#1f2328" } else { "#5f6773" };
    format!(
        "<text class=\"{class}\" fill=\"{fill}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" \
         font-size=\"{size}\">{text}</text>\n"
    )
}

/// The colour and the dashes of a row.
#[expect(clippy::indexing_slicing, reason = "the remainder is smaller")]
pub(crate) fn stroke(number: usize) -> (&'static str, &'static str) {
    let again = number / COLOURS.len();
    (COLOURS[number % COLOURS.len()], DASHES[again % DASHES.len()])
}

/// A name as a legend has it.
pub(crate) fn short(name: &str) -> String {
    let cut = name.char_indices().nth(NAME_CHARS_MAX);
    cut.map_or_else(|| name.to_owned(), |(at, _)| format!("{}…", name.get(..at).unwrap_or(name)))
}

/// A text as it stands in XML.
pub(crate) fn text_of(text: &str) -> String {
    let text = escape::whole(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_many_rows_have_strokes_of_their_own() {
        assert_eq!(short(&"ä".repeat(40)), format!("{}…", "ä".repeat(28)));
        assert_eq!(short("near"), "near");
        let strokes: std::collections::HashSet<_> = (0..32).map(stroke).collect();
        assert_eq!(strokes.len(), 32);
    }
}
