//! The HTML page: its head, styles and chapters.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use simkeep_formats::escape;

use super::chapters::{ReportChapter, all};
use super::facts::ReportFacts;
use crate::output::words::{bytes, count};

/// A content security policy: the page loads nothing and runs no script, whatever it quotes. It
/// allows only the style sheet with this SHA-256.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
     style-src 'sha256-9XNUwlA/T5HFVUJIhJfMmHFZG0L485YCZRUMfRswnlE='";

/// The style sheet. Text has a contrast of at least 4.5 : 1 in light and dark mode.
const STYLE: &str = "
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2128; --pale: #525c69; --fill: #1f6fb5;
  --back: #e6eaef; --line: #d5dbe2; --mark: #9a3b00; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #11161c; --ink: #e4e9ef; --pale: #a4afbc;
  --fill: #63aef0; --back: #232b35; --line: #303a46; --mark: #ffb074; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 0.25rem; }
p { margin: 0 0 0.75rem; max-width: 44rem; }
.pale, figure p { color: var(--pale); }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: 0 2rem; }
figure { display: grid; grid-template-rows: subgrid; grid-row: span 4; align-content: start; gap: 0; margin: 0 0 2rem;
  min-width: 0; }
figure > * { min-width: 0; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 1rem; margin: 1rem 0; }
dt { color: var(--pale); font-size: 0.875rem; }
dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; max-width: 34rem; }
svg text { font-size: 10.5px; fill: var(--pale); paint-order: stroke; stroke: var(--paper); stroke-width: 3px;
  stroke-linejoin: round; }
.fill { fill: var(--fill); }
.back { fill: var(--back); }
.grid, .axis { stroke: var(--line); stroke-width: 1; }
.axis { stroke: var(--pale); }
.mark, .level { stroke: var(--mark); stroke-width: 1; stroke-dasharray: 3 3; }
details { margin-top: 0.5rem; }
summary { cursor: pointer; color: var(--pale); font-size: 0.875rem; }
.scroll { overflow: auto; max-height: 24rem; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.2rem 0.9rem 0.2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
@media print { :root { color-scheme: light; } body { max-width: none; } figure { break-inside: avoid; } details { display: none; } }
";

/// Renders the whole page.
pub(super) fn html(facts: &ReportFacts) -> String {
    let name = escape::escape_untruncated(&facts.name);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { "simkeep: " (name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (name) }
                    p.pale { "As of operation " (count(facts.overview.sequence)) ", written " (facts.made) ". "
                        "Times are in UTC." }
                    (numbers(facts))
                    @for ReportChapter { title, said, figures } in all(facts) {
                        section {
                            h2 { (title) }
                            p { (said) }
                            div.figures { @for figure in figures { (figure.html()) } }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

/// The most important numbers.
fn numbers(facts: &ReportFacts) -> Markup {
    let census = &facts.census;
    let segments: u64 = facts.overview.segments.iter().map(|segment| segment.bytes).sum();
    let numbers = [
        ("pages", count(census.pages)),
        ("with content", count(census.in_force)),
        ("gone", count(census.gone)),
        ("visits", count(census.visits)),
        ("hosts", count(census.hosts)),
        ("space", bytes(segments + facts.catalog_bytes)),
    ];
    html! { dl { @for (name, number) in numbers { div { dt { (name) } dd { (number) } } } } }
}
