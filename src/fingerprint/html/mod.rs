//! The text of a page as a reader sees it.

mod dropped;
pub(super) mod elements;
pub(super) mod foreign;
mod marking;
mod tag;
#[cfg(test)]
mod tests;
pub(super) mod tokens;

use dropped::DroppedElement;
use elements::{ends_head, is_break, is_cell, is_of_head, is_unseen, is_void};
use foreign::ForeignContent;
use html5gum::emitters::callback::CallbackEvent;
use marking::OpenMarkup;
use tag::{DeclaredLink, StartTag};
use tokens::TokenSink;

use super::document::{Document, Marks};

/// Reduces an HTML page to a document: its visible text, with marks for title, headings, emphasis
/// and links, and with the `author`, `description` and `keywords` of its `<meta>` elements as
/// fields. The document also has the canonical URLs that the page declares.
///
/// Drops markup, comments, and content that a browser does not show as text: the content of
/// `script`, `style`, `template`, `noscript`, `svg`, `math`, `iframe`, `object`, `audio`, `video`
/// and `canvas`, and of elements with the attribute `hidden`. The title stays. Block elements and
/// line breaks end a line, cells of a table are separated, inline elements do not split a word, and
/// runs of white space become one space or line end. Styles are ignored.
///
/// `<link rel="canonical">` and `<base>` count only in the head, as for search engines: a link in the
/// body may come from a visitor's text. As in browsers, the first text or element that cannot be in
/// a head ends the head, with or without `</head>`. Content that is dropped declares nothing.
///
/// Linear in time and memory. Any input is accepted: an unclosed element ends with the page.
///
/// ```
/// use simkeep::fingerprint::{Marks, extract};
/// let page = "<meta name=author content=Jane><title>Fish &amp; chips</title><p>Fr<b>esh</b><p hidden>\
///     stale</p><script>x</script> daily";
/// let document = extract(page);
/// assert_eq!(document.text(), "Fish & chips\nFresh\ndaily");
/// assert_eq!(document.marks(15..18), Marks::EMPHASIS);
/// assert_eq!(document.fields(), [("author".to_owned(), "Jane".to_owned())]);
/// ```
pub fn extract(html: &str) -> Document {
    let mut reduction = TextExtractor::default();
    // A byte order mark is not part of the text.
    tokens::read(html.strip_prefix('\u{feff}').unwrap_or(html).as_bytes(), &mut reduction);
    reduction.document.trim_end();
    reduction.document
}

/// Returns the text of the document that [`extract`] returns.
///
/// ```
/// use simkeep::fingerprint::{of_text, visible_text};
/// let page = "<title>Terms</title><p>You may use this site if you <i>behave</i> well.</p>";
/// let text = visible_text(page);
/// assert_eq!(text, "Terms\nYou may use this site if you behave well.");
/// assert!(of_text(&text).is_some());
/// ```
pub fn visible_text(html: &str) -> String {
    extract(html).into_text()
}

#[derive(Default)]
struct TextExtractor {
    document: Document,
    /// The marks of the current text.
    marking: OpenMarkup,
    /// The tag being read.
    tag: StartTag,
    foreign: ForeignContent,
    /// Whether the head of the page has ended.
    in_body: bool,
    /// The element whose content is being dropped, and whether it is foreign content.
    dropped: Option<(DroppedElement, bool)>,
}

impl TokenSink for TextExtractor {
    fn take(&mut self, event: &CallbackEvent<'_>) {
        match *event {
            CallbackEvent::OpenStartTag { name } => self.tag.begin(name),
            CallbackEvent::AttributeName { name } => self.tag.attribute(name),
            CallbackEvent::AttributeValue { value } => self.tag.value(value),
            CallbackEvent::CloseStartTag { self_closing } => self.open(self_closing),
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } if self.dropped.is_none() => self.append(value),
            _ => {}
        }
    }

    fn is_foreign(&self) -> bool {
        self.foreign.is_here()
    }
}

impl TextExtractor {
    fn open(&mut self, self_closing: bool) {
        let name = self.tag.name.as_slice();
        if self.foreign.breaks_out(name) {
            self.dropped.take_if(|(_, foreign)| *foreign);
        }
        let foreign = self.foreign.is_here() || matches!(name, b"svg" | b"math");
        let empty = is_void(name) || (self_closing && foreign);
        if !empty {
            self.foreign.open(name);
        }
        if let Some((dropped, _)) = &mut self.dropped {
            if dropped.open(name, empty) {
                return;
            }
            self.dropped = None;
        }
        let name = std::mem::take(&mut self.tag.name);
        self.part(&name);
        if let Some((name, value)) = self.tag.field() {
            self.document.field(name, value);
        }
        if !self.in_body {
            self.in_body = !is_of_head(&name);
            match self.tag.link() {
                Some(DeclaredLink::Base(base)) => self.document.set_base(base),
                Some(DeclaredLink::Canonical(url)) => self.document.push_canonical(url),
                None => {}
            }
        }
        self.marking.open(&name);
        if !empty && (self.tag.hidden || is_unseen(&name)) {
            self.dropped = Some((DroppedElement::new(name), foreign));
        }
    }

    fn close(&mut self, name: &[u8]) {
        self.foreign.close(name);
        if let Some((dropped, _)) = &mut self.dropped {
            if dropped.close(name) {
                return;
            }
            self.dropped = None;
        }
        self.in_body |= ends_head(name);
        self.marking.close(name);
        self.part(name);
    }

    /// Separates the text before an element's start or end from the text after it.
    fn part(&mut self, name: &[u8]) {
        if is_break(name) {
            self.line_end();
        } else if is_cell(name) {
            self.space();
        }
    }

    fn append(&mut self, value: &[u8]) {
        let mut value = String::from_utf8_lossy(value);
        // A NUL is dropped, and does not become a space (HTML, 13.2.6.4.7).
        if value.contains('\0') {
            value = value.replace('\0', "").into();
        }
        if !self.in_body {
            // Text ends the head, except the title and white space.
            let in_title = self.marking.marks().contains(Marks::TITLE);
            self.in_body = !in_title && value.contains(|c| !is_space(c));
        }
        for (i, word) in value.split(is_space).enumerate() {
            if i > 0 {
                self.space();
            }
            self.document.push(word, self.marking.marks());
        }
    }

    fn space(&mut self) {
        let text = self.document.text();
        if !text.is_empty() && !text.ends_with([' ', '\n']) {
            self.document.push(" ", self.marking.marks());
        }
    }

    fn line_end(&mut self) {
        self.document.pop(' ');
        let text = self.document.text();
        if !text.is_empty() && !text.ends_with('\n') {
            self.document.push("\n", self.marking.marks());
        }
    }
}

/// Whether a character is white space or a control character. The characters are listed here, so
/// that later versions of Unicode change nothing.
fn is_space(c: char) -> bool {
    matches!(
        c,
        '\u{1}'..=' '
            | '\u{7f}'..='\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
    )
}
