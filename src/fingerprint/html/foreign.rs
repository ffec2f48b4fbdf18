//! Foreign content of a page: `svg` and `math`.

use super::elements::ends_paragraph;

/// Tracks nesting in `svg` and `math`. Needs only counters, regardless of the depth of the page.
#[derive(Default)]
pub(in crate::fingerprint) struct ForeignContent {
    /// The number of open foreign elements.
    open: u64,
    /// The number of open elements within foreign elements whose content is HTML again.
    integration: u64,
}

impl ForeignContent {
    /// Whether tags follow the rules of foreign content, where `/>` closes and no content is plain
    /// text.
    pub(in crate::fingerprint) fn is_here(&self) -> bool {
        self.open > 0
    }

    /// Takes a start tag that is not self-closing.
    pub(in crate::fingerprint) fn open(&mut self, name: &[u8]) {
        if matches!(name, b"svg" | b"math") {
            self.open += 1;
        } else if self.open > 0 && is_integration(name) {
            self.integration += 1;
        }
    }

    /// Takes an end tag.
    pub(in crate::fingerprint) fn close(&mut self, name: &[u8]) {
        if matches!(name, b"svg" | b"math") {
            self.open = self.open.saturating_sub(1);
            if self.open == 0 {
                self.integration = 0;
            }
        } else if is_integration(name) {
            self.integration = self.integration.saturating_sub(1);
        }
    }

    /// Ends unclosed foreign content if the element of a start tag is HTML-only, and returns
    /// whether foreign content was ended. Must be called before the tag is processed.
    pub(in crate::fingerprint) fn breaks_out(&mut self, name: &[u8]) -> bool {
        let out = self.open > 0 && self.integration == 0 && is_of_html(name);
        if out {
            self.open = 0;
        }
        out
    }
}

/// Whether a foreign element contains HTML.
fn is_integration(name: &[u8]) -> bool {
    matches!(
        name,
        b"foreignobject"
            | b"desc"
            | b"title"
            | b"mi"
            | b"mo"
            | b"mn"
            | b"ms"
            | b"mtext"
            | b"annotation-xml"
    )
}

/// Whether an element never occurs in foreign content (WHATWG, *HTML*, "The rules for parsing
/// tokens in foreign content"), plus a few that end a paragraph.
fn is_of_html(name: &[u8]) -> bool {
    ends_paragraph(name)
        || matches!(
            name,
            b"b" | b"big"
                | b"body"
                | b"br"
                | b"code"
                | b"em"
                | b"embed"
                | b"head"
                | b"i"
                | b"img"
                | b"meta"
                | b"nobr"
                | b"ruby"
                | b"s"
                | b"small"
                | b"span"
                | b"strike"
                | b"strong"
                | b"sub"
                | b"sup"
                | b"tt"
                | b"u"
                | b"var"
        )
}
