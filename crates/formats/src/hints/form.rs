//! The kinds of sitemaps and feeds, and the names of their elements.

use super::markup::{XmlTag, attributes};

/// A kind of document.
pub(super) struct FeedForm {
    /// The name of the root element.
    root: &'static str,
    /// The namespace of the elements, as a name in [`NAMESPACES`]; empty if elements have no
    /// namespace.
    namespace: &'static str,
    /// Whether the root element is in the namespace of the form.
    has_root: bool,
    /// The element of a record.
    pub(super) record: &'static str,
    /// The elements with a record's URL; the first element present is used. `@` precedes an
    /// attribute of the record itself.
    pub(super) urls: &'static [&'static str],
    /// The elements with a record's modification time; the first readable element is used. A name
    /// within a name denotes an element within another element.
    pub(super) times: &'static [&'static str],
    /// The element with the links of the whole feed, empty for the root; `None` if URLs must be
    /// absolute.
    pub(super) site: Option<&'static str>,
}

/// The maximum number of elements with a URL, or with a time, in any form.
pub(super) const FIELDS_MAX: usize = 6;

/// <https://www.sitemaps.org/protocol.html>, with the extension for news.
const SITEMAP: FeedForm = FeedForm {
    root: "urlset",
    namespace: "sitemap",
    has_root: true,
    record: "url",
    urls: &["loc"],
    times: &["lastmod", "news:news/news:publication_date"],
    site: None,
};

/// Atom 1.0 (RFC 4287), and 0.3.
const ATOM: FeedForm = FeedForm {
    root: "feed",
    namespace: "atom",
    has_root: true,
    record: "entry",
    urls: &["link", "content"],
    times: ATOM_TIMES,
    site: Some(""),
};

const ATOM_TIMES: &[&str] = &["updated", "modified", "published", "issued", "created"];

/// A single Atom entry (RFC 4287, 2).
const ATOM_ENTRY: FeedForm = FeedForm { root: "entry", ..ATOM };

/// RSS 0.91 to 2.0. A `guid` is a URL unless it is declared not to be a permalink.
const RSS: FeedForm = FeedForm {
    root: "rss",
    namespace: "",
    has_root: true,
    record: "item",
    urls: &["link", "guid"],
    times: &["pubDate", "dcterms:modified", "atom:updated", "dc:date", "atom:published"],
    site: Some("channel"),
};

/// RSS 0.90 and 1.0.
const RDF: FeedForm = FeedForm {
    root: "rdf",
    namespace: "rss",
    has_root: false,
    record: "item",
    urls: &["link", "@about"],
    times: &["dcterms:modified", "dc:date", "pubDate"],
    site: Some("channel"),
};

/// A sitemap index, which has only the times when sitemaps changed.
const INDEX: FeedForm = FeedForm {
    root: "sitemapindex",
    namespace: "sitemap",
    has_root: true,
    record: "",
    urls: &[],
    times: &[],
    site: None,
};

const FORMS: [&FeedForm; 6] = [&SITEMAP, &ATOM, &ATOM_ENTRY, &RSS, &RDF, &INDEX];

/// The characteristic parts of namespace names, which do not depend on scheme and version.
const NAMESPACES: [(&str, &str); 8] = [
    ("/schemas/sitemap-news/", "news"),
    ("/schemas/sitemap/", "sitemap"),
    ("w3.org/2005/atom", "atom"),
    ("purl.org/atom/", "atom"),
    ("purl.org/rss/1.0/", "rss"),
    ("/rdf/simple/0.9/", "rss"),
    ("purl.org/dc/terms/", "dcterms"),
    ("purl.org/dc/elements/", "dc"),
];

/// The maximum number of prefixes whose namespaces are kept.
const PREFIXES_MAX: usize = 32;

/// The form of the current document, and the prefixes declared at its root.
pub(super) struct FeedDocument {
    pub(super) form: &'static FeedForm,
    /// The name of the root element as written.
    pub(super) root: String,
    /// A prefix, and its namespace.
    prefixes: Vec<(String, &'static str)>,
}

impl FeedForm {
    /// Whether documents of this form have no pages.
    pub(super) fn is_index(&self) -> bool {
        self.record.is_empty()
    }

    /// Whether a document of this form is a single record.
    pub(super) fn is_record(&self) -> bool {
        self.root == self.record
    }
}

impl FeedDocument {
    /// Returns the document with this root element; `None` if it is neither a sitemap nor a feed.
    pub(super) fn of(tag: &XmlTag<'_>) -> Option<FeedDocument> {
        let (prefix, local) = tag.name.split_once(':').unwrap_or(("", &tag.name));
        let form = FORMS.into_iter().find(|form| form.root == local)?;
        // Other kinds of documents have elements with the name of the single record.
        if form.is_record() && !is_declared(tag, prefix, form.namespace) {
            return None;
        }
        let declared = attributes(&tag.attributes).filter_map(|(name, value)| {
            let prefix = name.strip_prefix("xmlns:")?.to_ascii_lowercase();
            let value = value.to_ascii_lowercase();
            let known = NAMESPACES.iter().find(|(part, _)| value.contains(part));
            Some((prefix, known.map_or("other", |(_, namespace)| *namespace)))
        });
        let mut prefixes = Vec::new();
        if form.has_root || prefix.is_empty() {
            prefixes.push((prefix.to_owned(), form.namespace));
        } else {
            prefixes.push((String::new(), form.namespace));
        }
        prefixes.extend(declared.take(PREFIXES_MAX));
        Some(FeedDocument { form, root: tag.name.clone(), prefixes })
    }

    /// Returns the form's name for an element: without a prefix if it is in the form's namespace.
    /// An undeclared prefix has the namespace that it commonly denotes.
    pub(super) fn name(&self, written: &str) -> String {
        let (prefix, local) = written.split_once(':').unwrap_or(("", written));
        let known = self.prefixes.iter().find(|(known, _)| known == prefix);
        match known.map_or(prefix, |(_, namespace)| namespace) {
            namespace if known.is_some() && namespace == self.form.namespace => local.to_owned(),
            "" => match known {
                Some(_) => local.to_owned(),
                // The element has no prefix, but the root element has a prefix.
                None => format!(":{local}"),
            },
            namespace => format!("{namespace}:{local}"),
        }
    }
}

/// Whether a tag declares this namespace for a prefix.
fn is_declared(tag: &XmlTag<'_>, prefix: &str, namespace: &str) -> bool {
    attributes(&tag.attributes).any(|(name, value)| {
        let (xmlns, declared) = name.split_once(':').unwrap_or((name, ""));
        let value = value.to_ascii_lowercase();
        let is_known = |(part, known): &(&str, &str)| value.contains(part) && *known == namespace;
        xmlns == "xmlns" && declared.eq_ignore_ascii_case(prefix) && NAMESPACES.iter().any(is_known)
    })
}
