//! The links of a record in a feed.

use super::base::is_alternate;
use super::field::TextField;
use super::markup::{XmlTag, attributes};
use super::record::FeedUrl;

/// The maximum number of links to its page that are kept for a record.
const LINKS_MAX: usize = 16;
/// The maximum number of characters of a type or a language that are compared.
const KIND_CHARS_MAX: usize = 64;

/// The target of a link.
pub(super) enum FeedLink {
    /// The text of the link is the URL, as in RSS.
    InText,
    /// The page. The kind of link is set if a record may have several links.
    To(TextField, Option<LinkKind>),
    /// A target other than the page.
    Elsewhere,
}

/// The kind of document that a link leads to.
#[derive(PartialEq)]
pub(super) struct LinkKind {
    /// The type and subtype, in lower case; empty if missing.
    media_type: String,
    language: String,
}

/// The links of a record to its page: one link of each type and language (RFC 4287, 4.1.2).
#[derive(Default)]
pub(super) struct FeedLinks(Vec<(FeedUrl, LinkKind)>);

impl FeedLinks {
    /// Keeps a link if it is the first of its kind. Links after the sixteenth are ignored.
    pub(super) fn push(&mut self, url: FeedUrl, kind: LinkKind) {
        if self.0.len() < LINKS_MAX && self.0.iter().all(|(_, known)| *known != kind) {
            self.0.push((url, kind));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn first(&self) -> Option<&FeedUrl> {
        self.0.first().map(|(url, _)| url)
    }

    /// Returns the links to pages that have a URL: the links to HTML, or without a type. If there
    /// are no such links, returns all other links.
    pub(super) fn pages(&self, has_url: impl Fn(&&FeedUrl) -> bool) -> Vec<&FeedUrl> {
        let links = |is_page: bool| {
            let of_kind = self.0.iter().filter(move |(_, kind)| kind.is_page() == is_page);
            of_kind.map(|(url, _)| url).filter(&has_url).collect()
        };
        let pages: Vec<&FeedUrl> = links(true);
        if pages.is_empty() { links(false) } else { pages }
    }
}

impl LinkKind {
    fn is_page(&self) -> bool {
        ["", "text/html", "application/xhtml+xml"].contains(&self.media_type.as_str())
    }
}

/// Returns the target of a `link` (RFC 4287, 4.2.7).
pub(super) fn link(tag: &XmlTag<'_>) -> FeedLink {
    let mut href = None;
    let (mut relation, mut media_type, mut language) = ("", "", "");
    for (name, value) in attributes(&tag.attributes) {
        let value = value.trim();
        match name {
            _ if name.eq_ignore_ascii_case("rel") => relation = value,
            _ if name.eq_ignore_ascii_case("type") => media_type = value,
            _ if name.eq_ignore_ascii_case("hreflang") => language = value,
            _ if name.eq_ignore_ascii_case("href") => {
                href.get_or_insert(value);
            }
            _ => {}
        }
    }
    match href {
        _ if !is_alternate(relation) => FeedLink::Elsewhere,
        None => FeedLink::InText,
        Some(href) => {
            let essence = media_type.split(';').next().unwrap_or_default().trim_end();
            let short = |text: &str| text.chars().take(KIND_CHARS_MAX).collect::<String>();
            let kind = LinkKind {
                media_type: short(essence).to_ascii_lowercase(),
                language: short(language).to_ascii_lowercase(),
            };
            FeedLink::To(TextField::of_value(href, tag.has_entities), Some(kind))
        }
    }
}

/// Returns the location of an entry's content, if the content is outside the entry (RFC 4287,
/// 4.1.3.2).
pub(super) fn content(tag: &XmlTag<'_>) -> FeedLink {
    match TextField::of_attribute(tag, |name| name.eq_ignore_ascii_case("src")) {
        Some(field) => FeedLink::To(field, None),
        None => FeedLink::Elsewhere,
    }
}
