//! The text of a page as a reader sees it.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// The name of what [`visible_text`] does. Fingerprints of texts that came out of different
/// extractors are not to be compared, so this name belongs into the name of an epoch.
pub const EXTRACTOR: &str = "html/1";

/// The visible text of an HTML page.
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
/// use simkeep::fingerprint::visible_text;
/// let page = "<title>Fish &amp; chips</title><p>Fr<b>esh</b><p hidden>stale</p><script>x</script> daily";
/// assert_eq!(visible_text(page), "Fish & chips\nFresh\ndaily");
/// ```
pub fn visible_text(html: &str) -> String {
    let mut reduction =
        Reduction { text: String::with_capacity(html.len() / 4), ..Reduction::default() };
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
    reduction.text.truncate(reduction.text.trim_end().len());
    reduction.text
}

#[derive(Default)]
struct Reduction {
    text: String,
    /// The tag that is being opened.
    tag: Tag,
    /// The element whose content is being dropped.
    dropped: Option<Dropped>,
}

#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    hidden: bool,
    /// The attribute in hand is `hidden`, and its value may yet come.
    at_hidden: bool,
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
                self.tag.at_hidden = false;
            }
            CallbackEvent::AttributeName { name } => {
                self.tag.at_hidden = name == b"hidden";
                self.tag.hidden |= self.tag.at_hidden;
            }
            CallbackEvent::AttributeValue { value }
                if self.tag.at_hidden && value.eq_ignore_ascii_case(b"until-found") =>
            {
                // Hidden until the reader searches: part of what the page says.
                self.tag.hidden = false;
            }
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
            self.text.push_str(word);
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn line_end(&mut self) {
        if self.text.ends_with(' ') {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
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

/// Elements whose content is not shown as text.
fn is_unseen(name: &[u8]) -> bool {
    matches!(
        name,
        b"script"
            | b"style"
            | b"template"
            | b"noscript"
            | b"svg"
            | b"math"
            | b"iframe"
            | b"object"
            | b"audio"
            | b"video"
            | b"canvas"
            | b"noembed"
            | b"noframes"
    )
}

/// Elements of other languages, where `/>` closes.
fn is_foreign(name: &[u8]) -> bool {
    matches!(name, b"svg" | b"math")
}

/// Elements that have no content.
fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
            | b"frame"
            | b"bgsound"
    )
}

/// Elements that stand on lines of their own.
fn is_break(name: &[u8]) -> bool {
    matches!(
        name,
        b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"button"
            | b"caption"
            | b"center"
            | b"dd"
            | b"details"
            | b"dialog"
            | b"dir"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figcaption"
            | b"figure"
            | b"footer"
            | b"form"
            | b"frameset"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"head"
            | b"header"
            | b"hgroup"
            | b"hr"
            | b"html"
            | b"legend"
            | b"li"
            | b"listing"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
            | b"optgroup"
            | b"option"
            | b"p"
            | b"plaintext"
            | b"pre"
            | b"search"
            | b"section"
            | b"select"
            | b"summary"
            | b"table"
            | b"tbody"
            | b"textarea"
            | b"tfoot"
            | b"thead"
            | b"title"
            | b"tr"
            | b"ul"
            | b"xmp"
    )
}

/// Elements that stand side by side.
fn is_cell(name: &[u8]) -> bool {
    matches!(name, b"td" | b"th" | b"input" | b"img" | b"rt" | b"rp" | b"label")
}

/// Elements that always have an end tag and may hold those that need none.
fn is_container(name: &[u8]) -> bool {
    matches!(
        name,
        b"article"
            | b"aside"
            | b"blockquote"
            | b"details"
            | b"dialog"
            | b"div"
            | b"dl"
            | b"fieldset"
            | b"figure"
            | b"footer"
            | b"form"
            | b"header"
            | b"main"
            | b"menu"
            | b"nav"
            | b"ol"
            | b"section"
            | b"select"
            | b"table"
            | b"ul"
    )
}

/// Elements whose end is also the end of what was left open in them.
fn is_parent(name: &[u8]) -> bool {
    is_container(name)
        || matches!(name, b"body" | b"html" | b"tr" | b"tbody" | b"thead" | b"tfoot" | b"optgroup")
}

/// Elements whose end tag may be left out.
fn may_stay_open(name: &[u8]) -> bool {
    matches!(
        name,
        b"p" | b"li"
            | b"dt"
            | b"dd"
            | b"option"
            | b"optgroup"
            | b"tr"
            | b"td"
            | b"th"
            | b"thead"
            | b"tbody"
            | b"tfoot"
    )
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
