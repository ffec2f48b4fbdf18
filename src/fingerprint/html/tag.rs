//! A start tag while it is read.

use crate::fingerprint::document::REFERENCE_BYTES_MAX;

/// The longest field value in bytes; longer values are ignored.
const FIELD_BYTES_MAX: usize = 4096;

/// The tag being read, with its relevant attributes.
#[derive(Default)]
pub(super) struct StartTag {
    pub(super) name: Vec<u8>,
    pub(super) hidden: bool,
    kind: TagKind,
    /// The attribute whose value may follow.
    attribute: TagAttribute,
    /// The attributes seen so far: if an attribute is repeated, only its first occurrence is used.
    seen: [bool; 3],
    /// The attributes of a `meta` element.
    field: Option<&'static str>,
    content: Option<String>,
    /// Whether the relation of a `link` element is `canonical`.
    is_canonical: bool,
    /// The reference of a `base` or `link` element.
    href: Option<String>,
}

/// A reference that a start tag declares.
pub(super) enum DeclaredLink {
    Base(String),
    Canonical(String),
}

/// The elements with relevant attributes besides `hidden`.
#[derive(Clone, Copy, Default, PartialEq)]
enum TagKind {
    #[default]
    Other,
    Meta,
    Base,
    Link,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum TagAttribute {
    #[default]
    Other,
    Hidden,
    Name,
    Content,
    Rel,
    Href,
}

impl StartTag {
    /// Starts a new tag.
    pub(super) fn begin(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.hidden = false;
        // Most elements have no relevant attributes, so nothing remains of them.
        if self.kind != TagKind::Other {
            (self.field, self.content) = (None, None);
            (self.is_canonical, self.href) = (false, None);
        }
        self.kind = match name {
            b"meta" => TagKind::Meta,
            b"base" => TagKind::Base,
            b"link" => TagKind::Link,
            _ => TagKind::Other,
        };
        self.attribute = TagAttribute::Other;
        self.seen = [false; 3];
    }

    /// Takes the name of an attribute.
    pub(super) fn attribute(&mut self, name: &[u8]) {
        if self.kind == TagKind::Other && name != b"hidden" {
            self.attribute = TagAttribute::Other;
            return;
        }
        let (attribute, place) = match (self.kind, name) {
            (_, b"hidden") => (TagAttribute::Hidden, 0),
            (TagKind::Meta, b"name") => (TagAttribute::Name, 1),
            (TagKind::Meta, b"content") => (TagAttribute::Content, 2),
            (TagKind::Link, b"rel") => (TagAttribute::Rel, 1),
            (TagKind::Link | TagKind::Base, b"href") => (TagAttribute::Href, 2),
            _ => (TagAttribute::Other, 3),
        };
        let again = self.seen.get_mut(place).is_some_and(|seen| std::mem::replace(seen, true));
        self.attribute = if again { TagAttribute::Other } else { attribute };
        self.hidden |= self.attribute == TagAttribute::Hidden;
        if self.attribute == TagAttribute::Href {
            // An empty value does not follow.
            self.href = Some(String::new());
        }
    }

    /// Takes the value of the current attribute.
    pub(super) fn value(&mut self, value: &[u8]) {
        match self.attribute {
            // An element that is hidden until the reader searches is part of the page's text.
            TagAttribute::Hidden if value.eq_ignore_ascii_case(b"until-found") => {
                self.hidden = false
            }
            TagAttribute::Name => {
                let names = ["author", "description", "keywords"];
                let is_this = |name: &&str| name.as_bytes().eq_ignore_ascii_case(value);
                self.field = names.into_iter().find(is_this);
            }
            TagAttribute::Content if value.len() <= FIELD_BYTES_MAX => {
                self.content = Some(String::from_utf8_lossy(value).into_owned());
            }
            TagAttribute::Rel => {
                let mut relations = value.split(u8::is_ascii_whitespace);
                self.is_canonical = relations.any(|of| of.eq_ignore_ascii_case(b"canonical"));
            }
            TagAttribute::Href => self.reference(value.trim_ascii()),
            TagAttribute::Hidden | TagAttribute::Content | TagAttribute::Other => {}
        }
    }

    /// Takes the value of a reference. Of a base that is too long, one byte too much is kept: an
    /// empty base would mean the URL of the page.
    fn reference(&mut self, value: &[u8]) {
        let kept = match self.kind {
            TagKind::Base => value.get(..=REFERENCE_BYTES_MAX).unwrap_or(value),
            _ if value.len() <= REFERENCE_BYTES_MAX => value,
            _ => return,
        };
        self.href = Some(String::from_utf8_lossy(kept).into_owned());
    }

    /// Returns the base of the page, or its canonical URL, if the element declares one.
    pub(super) fn link(&mut self) -> Option<DeclaredLink> {
        match self.kind {
            TagKind::Base => self.href.take().map(DeclaredLink::Base),
            TagKind::Link if self.is_canonical => self.href.take().map(DeclaredLink::Canonical),
            _ => None,
        }
    }

    /// Returns the field that a `meta` element declares, if any.
    pub(super) fn field(&mut self) -> Option<(&'static str, String)> {
        self.field.take().zip(self.content.take())
    }
}
