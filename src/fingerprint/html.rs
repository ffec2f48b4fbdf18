//! The text of a page as a reader sees it.

mod elements;
mod marking;

use elements::{
    is_break, is_cell, is_container, is_foreign, is_parent, is_unseen, is_void, may_stay_open,
};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use marking::Marking;

use super::document::Document;

/// The name of what [`extract`] does. Fingerprints of texts that came out of different extractors
/// are not to be compared, so this name belongs into the name of an epoch.
pub const EXTRACTOR: &str = "html/1";

/// The longest value of a field that is kept, in bytes; longer ones are passed over.
const FIELD_BYTES_MAX: usize = 4096;

/// The document that an HTML page is: its visible text, marked where it is title, heading, emphasised
/// or a link, and what its `<meta>` elements say of `author`, `description` and `keywords` as fields.
///
/// Markup and comments go, and so does what a browser does not show as text: the content of
/// `script`, `style`, `template`, `noscript`, `svg`, `math`, `iframe`, `object`, `audio`, `video`
/// and `canvas`, and of elements with the attribute `hidden`. The title stays. Block elements and
/// line breaks end a line, cells of a table are set apart, inline elements leave a word whole, and
/// runs of white space become one space or line end. Styles are not looked at.
///
/// Linear in the page; memory is bounded by the page. No page is too broken: what is not closed
/// ends with the page.
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
    let mut reduction = Reduction::default();
    let mut emitter = CallbackEmitter::new(
        |event: CallbackEvent<'_>, _: Span<()>| -> Option<std::convert::Infallible> {
            reduction.take(&event);
            None
        },
    );
    // Lets the content of scripts and the like be what it is in a browser: not markup.
    emitter.naively_switch_states(true);
    match Tokenizer::new_with_emitter(html, emitter).finish() {
        Ok(()) => {}
    }
    reduction.document.trim_end();
    reduction.document
}

/// The text of what [`extract`] gives.
pub fn visible_text(html: &str) -> String {
    extract(html).into_text()
}

#[derive(Default)]
struct Reduction {
    document: Document,
    /// What the text at hand is marked as.
    marking: Marking,
    /// The tag that is being opened.
    tag: Tag,
    /// The element whose content is being dropped.
    dropped: Option<Dropped>,
}

#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    hidden: bool,
    /// The attribute whose value may yet come.
    attribute: Attribute,
    /// Those of a `meta` element.
    field: Option<&'static str>,
    content: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Attribute {
    #[default]
    Other,
    Hidden,
    Name,
    Content,
}

/// An element whose content is dropped: only counters, however deep the page is.
struct Dropped {
    name: Vec<u8>,
    /// Elements of the same name open within it.
    same: u64,
    /// Containers open within it, counted for elements that may end without an end tag.
    containers: u64,
}

impl Reduction {
    fn take(&mut self, event: &CallbackEvent<'_>) {
        match *event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag.name.clear();
                self.tag.name.extend_from_slice(name);
                self.tag.hidden = false;
                self.tag.attribute = Attribute::Other;
                (self.tag.field, self.tag.content) = (None, None);
            }
            CallbackEvent::AttributeName { name } => {
                let of_meta = self.tag.name == b"meta";
                self.tag.attribute = match name {
                    b"hidden" => Attribute::Hidden,
                    b"name" if of_meta => Attribute::Name,
                    b"content" if of_meta => Attribute::Content,
                    _ => Attribute::Other,
                };
                self.tag.hidden |= self.tag.attribute == Attribute::Hidden;
            }
            CallbackEvent::AttributeValue { value } => self.tag.value(value),
            CallbackEvent::CloseStartTag { self_closing } => self.open(self_closing),
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } if self.dropped.is_none() => self.append(value),
            _ => {}
        }
    }

    fn open(&mut self, self_closing: bool) {
        let name = self.tag.name.as_slice();
        if let Some(dropped) = &mut self.dropped {
            if !dropped.ends_at_start_of(name) {
                dropped.containers += u64::from(is_container(name));
                dropped.same +=
                    u64::from(dropped.name == name && !(self_closing && is_foreign(name)));
                return;
            }
            self.dropped = None;
        }
        if is_break(name) {
            self.line_end();
        } else if is_cell(name) {
            self.space();
        }
        if let (Some(name), Some(value)) = (self.tag.field.take(), self.tag.content.take()) {
            self.document.field(name, value);
        }
        self.marking.open(&self.tag.name);
        let drop = self.tag.hidden || is_unseen(&self.tag.name);
        let empty = is_void(&self.tag.name) || (self_closing && is_foreign(&self.tag.name));
        if drop && !empty {
            let name = std::mem::take(&mut self.tag.name);
            self.dropped = Some(Dropped { name, same: 0, containers: 0 });
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some(dropped) = &mut self.dropped {
            if dropped.name == name && dropped.same > 0 {
                dropped.same -= 1;
                dropped.containers =
                    dropped.containers.saturating_sub(u64::from(is_container(name)));
                return;
            }
            let ended = dropped.name == name
                || (may_stay_open(&dropped.name) && dropped.containers == 0 && is_parent(name));
            if !ended {
                dropped.containers =
                    dropped.containers.saturating_sub(u64::from(is_container(name)));
                return;
            }
            self.dropped = None;
        }
        self.marking.close(name);
        if is_break(name) {
            self.line_end();
        } else if is_cell(name) {
            self.space();
        }
    }

    fn append(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        for (i, word) in value.split(|c: char| c.is_whitespace() || c.is_control()).enumerate() {
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

impl Tag {
    /// Takes the value of the attribute in hand.
    fn value(&mut self, value: &[u8]) {
        match self.attribute {
            // Hidden until the reader searches: part of what the page says.
            Attribute::Hidden if value.eq_ignore_ascii_case(b"until-found") => self.hidden = false,
            Attribute::Name => {
                let names = ["author", "description", "keywords"];
                let is_this = |name: &&str| name.as_bytes().eq_ignore_ascii_case(value);
                self.field = names.into_iter().find(is_this);
            }
            Attribute::Content if value.len() <= FIELD_BYTES_MAX => {
                self.content = Some(String::from_utf8_lossy(value).into_owned());
            }
            Attribute::Hidden | Attribute::Content | Attribute::Other => {}
        }
    }
}

impl Dropped {
    /// Whether a start tag says that this element, which may lack an end tag, is over.
    fn ends_at_start_of(&self, name: &[u8]) -> bool {
        let over = match self.name.as_slice() {
            b"p" => is_break(name) && !matches!(name, b"br" | b"option" | b"optgroup" | b"body"),
            b"li" => name == b"li",
            b"dt" | b"dd" => matches!(name, b"dt" | b"dd"),
            b"option" => matches!(name, b"option" | b"optgroup"),
            b"optgroup" => name == b"optgroup",
            b"td" | b"th" => matches!(name, b"td" | b"th" | b"tr" | b"tbody" | b"tfoot"),
            b"tr" => matches!(name, b"tr" | b"tbody" | b"tfoot"),
            b"thead" | b"tbody" | b"tfoot" => matches!(name, b"thead" | b"tbody" | b"tfoot"),
            _ => false,
        };
        over && self.containers == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_part_words_and_inline_elements_do_not() {
        assert_eq!(visible_text("<p>a<b>b</b>c<p>d<br>e<div>f</div>g"), "abc\nd\ne\nf\ng");
        assert_eq!(visible_text("<table><tr><td>1<td>2<tr><td>3</table>"), "1 2\n3");
        assert_eq!(visible_text("<ul><li>x<li>y</ul>"), "x\ny");
        assert_eq!(visible_text("a <i> b</i>\n\n c"), "a b c");
    }

    #[test]
    fn entities_are_decoded_and_comments_dropped() {
        assert_eq!(visible_text("&lt;b&gt; &eacute;&#x4e2d;&nbsp;x<!-- no -->y"), "<b> é中 xy");
        assert_eq!(visible_text("<!doctype html><![CDATA[x]]><?php y ?>z"), "z");
    }

    #[test]
    fn what_is_not_shown_is_dropped() {
        let page = "<head><title>T</title><style>s{}</style><script>if (a<b) '</p>'</script></head>\
                    <body>1<noscript>n<p>n</noscript>2<template><p>t<template>u</template></template>3\
                    <svg><title>v</title><svg/><svg><text>w</text></svg></svg>4<iframe>f</iframe>5\
                    <svg/>6<script src=x></script>7";
        assert_eq!(visible_text(page), "T\n1234567");
    }

    #[test]
    fn hidden_parts_are_dropped_with_all_they_hold() {
        assert_eq!(visible_text("<div hidden>a<div>b<br><img></div>c</div>d"), "d");
        assert_eq!(visible_text("<div hidden=''>a</div><div HIDDEN=hidden>b</div>c"), "c");
        assert_eq!(visible_text("<div hidden=until-found>a</div>b"), "a\nb");
        assert_eq!(visible_text("<input hidden>a<br hidden>b"), "a\nb");
        assert_eq!(visible_text("<span class=hidden data-hidden>a</span>b"), "ab");
        assert_eq!(visible_text("a<span hidden>b</span>c"), "ac");
    }

    #[test]
    fn hidden_elements_without_an_end_tag_end_where_a_browser_ends_them() {
        assert_eq!(visible_text("<p hidden>a<b>b<p>c"), "c");
        assert_eq!(visible_text("<ul><li hidden>a<ul><li>b</ul>c<li>d</ul>e"), "d\ne");
        assert_eq!(visible_text("<ul><li hidden>a</ul>b"), "b");
        assert_eq!(visible_text("<div><p hidden>a</div>b"), "b");
        assert_eq!(
            visible_text("<table><tr><td hidden>a<table><tr><td>b</table><td>c</table>"),
            "c"
        );
        assert_eq!(visible_text("<div hidden><li hidden>a</div>b"), "b");
        assert_eq!(visible_text("<div hidden>never closed<p>x"), "");
    }

    #[test]
    fn depth_costs_neither_stack_nor_much_time() {
        let deep = 200_000;
        assert_eq!(visible_text(&("<div>".repeat(deep) + "x")), "x");
        assert_eq!(
            visible_text(&("<div hidden>".repeat(deep) + &"</div>".repeat(deep) + "x")),
            "x"
        );
        assert_eq!(visible_text(&"<svg a=".repeat(deep)), "");
        assert_eq!(visible_text(&"<!--".repeat(deep)), "");
        assert_eq!(visible_text(&"&".repeat(deep)).len(), deep);
    }

    proptest! {
        #[test]
        fn no_page_panics_and_the_text_is_tidy(page in "(<|</|>|p|hidden|svg| |=|li|script|title|&|x|\n|é|\0|!--){0,60}") {
            let text = visible_text(&page);
            prop_assert!(!text.contains("  ") && !text.contains("\n\n"));
            prop_assert_eq!(text.trim(), &text);
        }
    }
}
