//! Where a page is not HTML: drawings and formulas.

use super::elements::ends_paragraph;

/// How deep a place is in `svg` and `math`: only counters, however deep the page is.
#[derive(Default)]
pub(in crate::fingerprint) struct Foreign {
    /// Those that are open.
    open: u64,
    /// Elements in them that hold HTML again.
    integration: u64,
}

impl Foreign {
    /// Whether tags are those of another language, where `/>` closes and no content is text alone.
    pub(in crate::fingerprint) fn is_here(&self) -> bool {
        self.open > 0
    }

    /// Takes a start tag that is not closed by itself.
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

    /// Takes a start tag before all else: one that is found in HTML alone ends what was not closed.
    /// Whether it did.
    pub(in crate::fingerprint) fn breaks_out(&mut self, name: &[u8]) -> bool {
        let out = self.open > 0 && self.integration == 0 && is_of_html(name);
        if out {
            self.open = 0;
        }
        out
    }
}

/// Elements of drawings and formulas that hold HTML.
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

/// Elements that no drawing or formula has (WHATWG, *HTML*, "The rules for parsing tokens in foreign
/// content"), and a few that end a paragraph.
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
