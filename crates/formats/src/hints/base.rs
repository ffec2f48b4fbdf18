//! Resolves the relative URLs of a feed.
//!
//! The base is the `xml:base` in force (RFC 4287, 2; XML Base), the innermost first, each relative to
//! the one around it. The outermost of them, or a URL where there is none, is relative to the feed's
//! own URL (RFC 3986, 5.1.3), which a file does not have: its link to itself stands for it, or else
//! the link to its site. A base holds until its element ends.
//!
//! Elements in records are not followed: the URL of a record is an attribute or the text of one of its
//! children.

use url::Url;

use super::field::Field;
use super::form::Document;
use super::markup::{Tag, Text};

/// How deep elements are followed around records. Where they nest deeper, no URL is resolved.
const DEPTH_MAX: usize = 100;
/// The most bytes of a base. A longer base would let a small file make large URLs.
const BASE_BYTES_MAX: usize = 2 << 10;

/// The bases in force where a record begins.
#[derive(Default)]
pub(super) struct Bases {
    /// The elements that have begun, by their names as they are written: the root and what is around
    /// the records.
    open: Vec<String>,
    /// How many more have begun in the last of these.
    beyond: usize,
    /// Those elements that have a base, the outermost first.
    bases: Vec<Base>,
    /// The link of the feed to itself.
    itself: Option<Url>,
    /// Its link to the site that it is a feed of.
    site: Option<Url>,
    /// The text of the element `link`, while it is read.
    link: Option<Field>,
}

/// An `xml:base`.
struct Base {
    /// The place of its element in [`Bases::open`].
    depth: usize,
    written: Field,
    /// What it leads to; `None` if that is not known.
    url: Option<Url>,
}

impl Bases {
    /// An element begins that is not in a record.
    pub(super) fn start(&mut self, document: &Document, name: &str, tag: &Tag<'_>) {
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
            self.bases.push(Base { depth: self.open.len(), written, url });
        }
        self.open.push(tag.name.clone());
    }

    /// Whether links of the feed itself stand here.
    fn is_around_records(&self, document: &Document) -> bool {
        let parent = self.open.last().filter(|_| self.beyond == 0);
        match (parent, document.form.site) {
            (None, _) | (_, None) => false,
            (Some(_), Some("")) => self.open.len() == 1,
            (Some(parent), Some(site)) => document.name(parent) == site,
        }
    }

    /// A link of the feed, if the element is one. The first of each kind counts.
    fn start_link(&mut self, name: &str, tag: &Tag<'_>) {
        if name != "link" && name != "atom:link" {
            return;
        }
        let Some(href) = Field::of_attribute(tag, |name| name.eq_ignore_ascii_case("href")) else {
            let is_first = name == "link" && !tag.is_empty && self.site.is_none();
            self.link = is_first.then(Field::default);
            return;
        };
        let rel = Field::of_attribute(tag, |name| name.eq_ignore_ascii_case("rel"));
        let of = match rel.as_ref().map_or("", Field::text) {
            rel if rel.eq_ignore_ascii_case("self") => &mut self.itself,
            rel if is_alternate(rel) => &mut self.site,
            _ => return,
        };
        if of.is_none() {
            *of = join(None, &href);
            // Once for each of the two at most: a feed may have any number of links that are no URLs.
            if of.is_some() {
                self.rebase();
            }
        }
    }

    /// Part of the text of the elements around the records.
    pub(super) fn text(&mut self, text: &Text<'_>, is_data: bool) {
        if let Some(link) = &mut self.link {
            link.add(text, is_data);
        }
    }

    /// An element ends that is not in a record. One that has not begun is passed over; those that have
    /// begun in it end, too.
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

    /// Resolves all bases again, after a link of the feed that they may be relative to.
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

    /// The URL that a reference leads to (RFC 3986, 5.2), by the bases of the record and of the element
    /// that it stands in; `None` if nothing absolute is known that it is relative to.
    pub(super) fn resolve(
        &self,
        record: Option<&Field>,
        element: Option<&Field>,
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

/// The `xml:base` of an element.
pub(super) fn base_of(tag: &Tag<'_>) -> Option<Field> {
    Field::of_attribute(tag, |name| name.eq_ignore_ascii_case("xml:base"))
}

/// Whether a relation is that of a link to the page itself (RFC 4287, 4.2.7.2), as none is.
pub(super) fn is_alternate(relation: &str) -> bool {
    relation.is_empty()
        || relation.eq_ignore_ascii_case("alternate")
        || relation == "http://www.iana.org/assignments/relation/alternate"
}

/// A base by the one around it; `None` if it is no URL, or too long for one.
fn join(base: Option<&Url>, written: &Field) -> Option<Url> {
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
