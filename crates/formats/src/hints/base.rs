//! Resolves the relative URLs of a feed.
//!
//! The base is the innermost `xml:base` in force (RFC 4287, 2; XML Base). Each `xml:base` is
//! relative to the next outer `xml:base`. The outermost base, or a URL without a base, is relative
//! to the feed's own URL (RFC 3986, 5.1.3). A file does not have its own URL, so the feed's link to
//! itself is used, or else its link to the site. A base is in force until its element ends.
//!
//! Elements within records are not tracked, since the URL of a record is an attribute or the text
//! of one of its children.

use url::Url;

use super::field::TextField;
use super::form::FeedDocument;
use super::markup::{XmlTag, XmlText};

/// The depth to which elements around records are tracked. Within deeper elements no URL is
/// resolved.
const DEPTH_MAX: usize = 100;
/// The maximum number of bytes of a base. A longer base would let a small file make large URLs.
const BASE_BYTES_MAX: usize = 2 << 10;

/// The bases in force where a record begins.
#[derive(Default)]
pub(super) struct BaseStack {
    /// The names of open elements as written: the root and the elements around the records.
    open: Vec<String>,
    /// The number of further open elements within the last element of `open`.
    beyond: usize,
    /// The open elements with a base, the outermost first.
    bases: Vec<XmlBase>,
    /// The feed's link to itself.
    itself: Option<Url>,
    /// The feed's link to its site.
    site: Option<Url>,
    /// The text of the element `link`, while it is read.
    link: Option<TextField>,
}

/// An `xml:base`.
struct XmlBase {
    /// The index of the base's element in [`BaseStack::open`].
    depth: usize,
    written: TextField,
    /// The resolved base; `None` if it is unknown.
    url: Option<Url>,
}

impl BaseStack {
    /// Takes the start of an element outside of records.
    pub(super) fn start(&mut self, document: &FeedDocument, name: &str, tag: &XmlTag<'_>) {
        if self.is_around_records(document) {
            self.start_link(name, tag);
        }
        if tag.is_empty {
            return;
        }
        if self.beyond > 0 || self.open.len() >= DEPTH_MAX {
            self.beyond += 1;
            return;
        }
        if let Some(written) = base_of(tag) {
            let url = join(self.in_force(), &written);
            self.bases.push(XmlBase { depth: self.open.len(), written, url });
        }
        self.open.push(tag.name.clone());
    }

    /// Whether links of the feed itself may occur at the current position.
    fn is_around_records(&self, document: &FeedDocument) -> bool {
        let parent = self.open.last().filter(|_| self.beyond == 0);
        match (parent, document.form.site) {
            (None, _) | (_, None) => false,
            (Some(_), Some("")) => self.open.len() == 1,
            (Some(parent), Some(site)) => document.name(parent) == site,
        }
    }

    /// Takes a link of the feed, if the element is a link. Only the first link of each kind is
    /// used.
    fn start_link(&mut self, name: &str, tag: &XmlTag<'_>) {
        if name != "link" && name != "atom:link" {
            return;
        }
        let Some(href) = TextField::of_attribute(tag, |name| name.eq_ignore_ascii_case("href"))
        else {
            let is_first = name == "link" && !tag.is_empty && self.site.is_none();
            self.link = is_first.then(TextField::default);
            return;
        };
        let rel = TextField::of_attribute(tag, |name| name.eq_ignore_ascii_case("rel"));
        let of = match rel.as_ref().map_or("", TextField::text) {
            rel if rel.eq_ignore_ascii_case("self") => &mut self.itself,
            rel if is_alternate(rel) => &mut self.site,
            _ => return,
        };
        if of.is_none() {
            *of = join(None, &href);
            // The bases are resolved again at most once for each of the two links: a feed may have
            // any number of links that are not URLs.
            if of.is_some() {
                self.rebase();
            }
        }
    }

    /// Takes a part of the text of elements around the records.
    pub(super) fn text(&mut self, text: &XmlText<'_>, is_data: bool) {
        if let Some(link) = &mut self.link {
            link.add(text, is_data);
        }
    }

    /// Takes the end of an element outside of records. An unopened element is ignored; open
    /// elements within it end, too.
    pub(super) fn end(&mut self, name: &str) {
        if let Some(link) = self.link.take() {
            self.site = join(None, &link);
            if self.site.is_some() {
                self.rebase();
            }
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let Some(at) = self.open.iter().rposition(|open| open == name) else { return };
        self.open.truncate(at);
        while self.bases.pop_if(|base| base.depth >= at).is_some() {}
    }

    /// Resolves all bases again, after a link of the feed to which they may be relative.
    fn rebase(&mut self) {
        let mut before = self.itself.as_ref().or(self.site.as_ref()).cloned();
        for base in &mut self.bases {
            base.url = join(before.as_ref(), &base.written);
            before.clone_from(&base.url);
        }
    }

    fn in_force(&self) -> Option<&Url> {
        match self.bases.last() {
            _ if self.beyond > 0 => None,
            Some(base) => base.url.as_ref(),
            None => self.itself.as_ref().or(self.site.as_ref()),
        }
    }

    /// Whether an `xml:base` is in force.
    pub(super) fn is_written(&self) -> bool {
        !self.bases.is_empty()
    }

    /// Resolves a reference (RFC 3986, 5.2) with the bases of the record and of its own element;
    /// `None` if no absolute base is known.
    pub(super) fn resolve(
        &self,
        record: Option<&TextField>,
        element: Option<&TextField>,
        reference: &str,
    ) -> Option<String> {
        let around = self.in_force();
        let of_record = record.map(|record| join(around, record));
        let base = of_record.as_ref().map_or(around, Option::as_ref);
        let of_element = element.map(|element| join(base, element));
        let base = of_element.as_ref().map_or(base, Option::as_ref);
        Some(base?.join(reference).ok()?.into())
    }
}

/// Returns the `xml:base` of an element.
pub(super) fn base_of(tag: &XmlTag<'_>) -> Option<TextField> {
    TextField::of_attribute(tag, |name| name.eq_ignore_ascii_case("xml:base"))
}

/// Whether a relation denotes a link to the page itself (RFC 4287, 4.2.7.2). A missing relation
/// does, too.
pub(super) fn is_alternate(relation: &str) -> bool {
    relation.is_empty()
        || relation.eq_ignore_ascii_case("alternate")
        || relation == "http://www.iana.org/assignments/relation/alternate"
}

/// Resolves a base by the next outer base; `None` if the result is not a URL, or is too long.
fn join(base: Option<&Url>, written: &TextField) -> Option<Url> {
    let text = written.text();
    let is_read = !written.is_too_long
        && !written.has_entity
        && text.len() <= BASE_BYTES_MAX
        && !text.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER);
    let url = match base {
        _ if !is_read => None,
        Some(base) => base.join(text).ok(),
        None => Url::parse(text).ok(),
    };
    url.filter(|url| !url.cannot_be_a_base() && url.as_str().len() <= BASE_BYTES_MAX)
}
