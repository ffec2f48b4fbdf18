//! A record in a sitemap or a feed: the URL of its page, and the time of its change.

use super::super::{escape, url};
use super::base::{BaseStack, base_of};
use super::field::TextField;
use super::form::{FIELDS_MAX, FeedDocument, FeedForm};
use super::link::{FeedLink, FeedLinks, content, link};
use super::markup::{XmlTag, XmlText, attributes};
use super::{Hint, date};

/// The limit for nested elements in a record.
const DEPTH_MAX: usize = 100;

/// The current record.
#[derive(Default)]
pub(super) struct FeedRecord {
    /// The `xml:base` of the record's element.
    base: Option<TextField>,
    /// The links of the record to its page. A page may have several formats or languages.
    links: FeedLinks,
    /// The form's URL elements found so far, in the order of the form.
    urls: [Option<FeedUrl>; FIELDS_MAX],
    times: [Option<TextField>; FIELDS_MAX],
    /// The names of open elements within the record, as written.
    within: Vec<String>,
    /// The number of further open elements within the last element of `within`.
    beyond: usize,
    /// The field being read, and its depth.
    open: Option<(RecordField, usize)>,
    /// The reason why the record is broken.
    broken: Option<String>,
    /// Whether a tag with the record's URL or time has no end, so that the URL or the time is lost.
    has_cut_tag: bool,
}

/// A URL of a record.
#[derive(Default)]
pub(super) struct FeedUrl {
    pub(super) field: TextField,
    /// The `xml:base` of the URL's element.
    pub(super) base: Option<TextField>,
    /// Whether the URL may be relative: a link is a reference (RFC 4287, 4.2.7.1), a `guid` is not.
    pub(super) is_reference: bool,
    /// Whether the URL is an attribute. An empty attribute means the base itself (RFC 3986, 4.4).
    pub(super) is_attribute: bool,
}

#[derive(Clone, Copy)]
enum RecordField {
    Url(usize),
    Time(usize),
}

impl FeedRecord {
    /// Begins a record with this tag.
    pub(super) fn begin(form: &FeedForm, tag: &XmlTag<'_>) -> FeedRecord {
        let mut record = FeedRecord { base: base_of(tag), ..FeedRecord::default() };
        for (url, name) in record.urls.iter_mut().zip(form.urls) {
            let Some(name) = name.strip_prefix('@') else { continue };
            let is_name = |written: &str| written.rsplit(':').next() == Some(name);
            let field = TextField::of_attribute(tag, is_name);
            *url = field.map(|field| FeedUrl { field, is_reference: true, ..FeedUrl::default() });
        }
        record
    }

    /// Creates a record whose own tag has no end, so that its content is unreliable.
    pub(super) fn cut_off() -> FeedRecord {
        FeedRecord {
            broken: Some("the tag of the record has no closing \">\"".to_owned()),
            ..FeedRecord::default()
        }
    }

    /// Takes the start of an element within the record. `name` is the form's name for the element.
    pub(super) fn start(&mut self, document: &FeedDocument, name: &str, tag: &XmlTag<'_>) {
        // If an element occurs twice, the first is used.
        let form = document.form;
        let mut is_empty = tag.is_empty;
        match self.within.as_slice() {
            [] => {
                if let Some(at) = form.urls.iter().position(|known| *known == name) {
                    is_empty |= self.start_url(form, at, name, tag);
                } else if let Some(at) =
                    form.times.iter().position(|known| known.eq_ignore_ascii_case(name))
                {
                    self.start_time(at, tag);
                }
            }
            [parent] => {
                let path = format!("{}/{name}", document.name(parent));
                if let Some(at) = form.times.iter().position(|known| *known == path) {
                    self.start_time(at, tag);
                }
            }
            _ => {}
        }
        if is_empty {
            return;
        }
        if self.within.len() < DEPTH_MAX && self.beyond == 0 {
            self.within.push(tag.name.clone());
        } else {
            self.beyond += 1;
            let why =
                || format!("the elements of the record are nested more than {DEPTH_MAX} deep");
            self.broken.get_or_insert_with(why);
        }
    }

    /// Takes the start of a URL element. Returns whether the element is treated as empty: a link
    /// with its target in attributes may have no end, as in HTML.
    fn start_url(&mut self, form: &FeedForm, at: usize, name: &str, tag: &XmlTag<'_>) -> bool {
        let link = match name {
            "link" => link(tag),
            "content" => content(tag),
            _ => FeedLink::InText,
        };
        let is_empty = name == "link" && !matches!(link, FeedLink::InText);
        let Some(url @ None) = self.urls.get_mut(at) else { return is_empty };
        let (base, is_reference) = (base_of(tag), form.site.is_some() && name != "guid");
        match link {
            FeedLink::To(field, kind) => {
                let to = FeedUrl { field, base, is_reference, is_attribute: true };
                match kind {
                    Some(kind) => self.links.push(to, kind),
                    None => *url = Some(to),
                }
            }
            FeedLink::Elsewhere => {}
            FeedLink::InText if tag.is_empty || name == "guid" && is_no_permalink(tag) => {}
            FeedLink::InText if name == "link" && !self.links.is_empty() => {}
            FeedLink::InText => {
                *url = Some(FeedUrl { base, is_reference, ..FeedUrl::default() });
                self.open = Some((RecordField::Url(at), 1));
            }
        }
        is_empty
    }

    fn start_time(&mut self, at: usize, tag: &XmlTag<'_>) {
        let Some(field @ None) = self.times.get_mut(at) else { return };
        if !tag.is_empty && self.open.is_none() {
            let depth = self.within.len() + 1;
            (*field, self.open) =
                (Some(TextField::default()), Some((RecordField::Time(at), depth)));
        }
    }

    /// Takes the end of an element within the record. An unopened element is ignored; open elements
    /// within it end, too.
    pub(super) fn end(&mut self, name: &str) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let Some(at) = self.within.iter().rposition(|open| open == name) else { return };
        self.within.truncate(at);
        if let Some((_, depth)) = self.open
            && depth > at
        {
            if depth > at + 1 {
                self.unclosed();
            }
            self.open = None;
        }
    }

    fn unclosed(&mut self) {
        self.broken.get_or_insert_with(|| "an element of the record has no end tag".to_owned());
    }

    /// Takes a part of the text of the record's elements.
    pub(super) fn text(&mut self, text: &XmlText<'_>, is_data: bool, record: &str) {
        // A CDATA section within another is text, unless the end of the record was missed
        // meanwhile.
        if is_data
            && has(text.bytes, b"<![CDATA[")
            && has(text.bytes, format!("</{record}>").as_bytes())
        {
            self.broken
                .get_or_insert_with(|| "a CDATA section of the record has no end".to_owned());
        }
        let depth = self.within.len();
        let field = match self.open {
            Some((RecordField::Url(at), open)) if open == depth => {
                self.urls.get_mut(at).and_then(Option::as_mut).map(|url| &mut url.field)
            }
            Some((RecordField::Time(at), open)) if open == depth => {
                self.times.get_mut(at).and_then(Option::as_mut)
            }
            _ => return,
        };
        if let Some(field) = field {
            field.add(text, is_data);
        }
    }

    /// Takes a tag without an end. `name` is the form's name for its element.
    pub(super) fn cut(&mut self, form: &FeedForm, name: &str) {
        let is_known = form.urls.iter().chain(form.times).any(|known| *known == name);
        self.has_cut_tag |= self.within.is_empty() && is_known;
    }

    /// Returns the hints of the finished record; no hints if the record has no time.
    pub(super) fn hints(mut self, form: &FeedForm, bases: &BaseStack) -> Vec<Result<Hint, String>> {
        if self.open.is_some() {
            self.unclosed();
        }
        let times = self.times.iter().zip(form.times);
        let times: Vec<(&TextField, &str)> = times
            .filter_map(|(time, name)| Some((time.as_ref()?, *name)))
            .filter(|(time, _)| !time.is_empty() || time.is_too_long)
            .collect();
        let has_base = bases.is_written() || self.base.is_some();
        let has_url = |url: &&FeedUrl| {
            let may_be_empty = url.is_attribute && (has_base || url.base.is_some());
            !url.field.is_empty() || may_be_empty
        };
        let urls = || self.urls.iter().flatten();
        let mut pages = self.links.pages(has_url);
        if pages.is_empty() {
            let url = urls().find(has_url).or_else(|| self.links.first());
            pages.extend(url.or_else(|| urls().next()));
        }
        let mut broken = self.broken.as_deref();
        if self.has_cut_tag && (times.is_empty() || pages.is_empty()) {
            broken = broken.or(Some("a tag of the record has no closing \">\""));
        }
        if times.is_empty() && broken.is_none() {
            return Vec::new();
        }
        let name = form.urls.first().copied().unwrap_or_default();
        let missing =
            || broken.map_or_else(|| format!("the record has no <{name}>"), str::to_owned);
        if pages.is_empty() {
            return vec![Err(missing())];
        }
        if broken.is_some() {
            pages.truncate(1);
        }
        let resolve = |url: &FeedUrl| {
            let may_be_relative = url.is_reference && has_url(&url);
            let reference = may_be_relative.then(|| url.field.text())?;
            bases.resolve(self.base.as_ref(), url.base.as_ref(), reference)
        };
        pages.into_iter().map(|url| hint(url, resolve, &times, broken)).collect()
    }
}

fn hint(
    url: &FeedUrl,
    resolve: impl Fn(&FeedUrl) -> Option<String>,
    times: &[(&TextField, &str)],
    broken: Option<&str>,
) -> Result<Hint, String> {
    let written = url.field.text();
    let named = |why: &str| format!("{}: {why}", escape(written));
    if url.field.is_too_long {
        return Err(named("the URL is too long"));
    }
    if let Some(why) = broken {
        return Err(named(why));
    }
    if !written.is_empty() || !url.is_attribute {
        url::check(written).map_err(|why| named(&why))?;
    }
    if written.contains(char::REPLACEMENT_CHARACTER) {
        return Err(named("the URL has bytes that are invalid in the file's encoding"));
    }
    if url.field.has_entity {
        return Err(named(
            "the URL contains an entity of the document type, which is not expanded",
        ));
    }
    // An absolute URL stays as written, since the bytes of its URL identify a page.
    let page = match is_absolute(written) {
        true => Some(written.to_owned()),
        false => resolve(url),
    };
    let page = page.ok_or_else(|| {
        let is_empty = written.is_empty();
        named(if is_empty { "the URL is empty" } else { "the URL is not absolute" })
    })?;
    url::check(&page).map_err(|why| named(&why))?;
    let modified = times.iter().find_map(|(time, _)| date::parse(time.text()));
    let no_time = || {
        let name = times.first().map_or("", |(_, name)| name.rsplit('/').next().unwrap_or(name));
        named(&format!("<{name}> is not a time"))
    };
    Ok(Hint { url: page, modified: modified.ok_or_else(no_time)? })
}

/// Whether a URL has a scheme (RFC 3986, 3.1). A text without a scheme is relative, or is not a
/// URL, for example a `guid` that is only a number.
fn is_absolute(url: &str) -> bool {
    let is_scheme_char = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme_char)
    })
}

/// Whether a `guid` is declared not to be a URL.
fn is_no_permalink(tag: &XmlTag<'_>) -> bool {
    attributes(&tag.attributes).any(|(name, value)| {
        name.eq_ignore_ascii_case("ispermalink") && value.trim().eq_ignore_ascii_case("false")
    })
}

fn has(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}
