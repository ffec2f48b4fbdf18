//! One page in a sitemap or a feed: where it is, and when it changed.

use simkeep::limits::URL_BYTES_MAX;

use super::super::{escape, url};
use super::form::{Document, FIELDS_MAX, Form};
use super::markup::{Tag, Text, attributes, resolve};
use super::{Hint, date};

/// How deep elements may nest in a record.
const DEPTH_MAX: usize = 100;

/// A record that has begun.
#[derive(Default)]
pub(super) struct Record {
    /// Those elements of the form that are there, in its order.
    urls: [Option<Field>; FIELDS_MAX],
    times: [Option<Field>; FIELDS_MAX],
    /// The elements in it that have begun, by their names as they are written.
    within: Vec<String>,
    /// How many more have begun in the last of these.
    beyond: usize,
    /// The field that is being read, and how deep it stands.
    open: Option<(Kind, usize)>,
    /// Why the record cannot be read.
    broken: Option<String>,
}

#[derive(Clone, Copy)]
enum Kind {
    Url(usize),
    Time(usize),
}

/// The text of an element, as much of it as can be meant.
#[derive(Default)]
struct Field {
    text: String,
    is_too_long: bool,
    /// Whether it refers to an entity of the document type, which is not expanded.
    has_entity: bool,
}

impl Field {
    fn push(&mut self, part: &str) {
        let part = if self.text.is_empty() { part.trim_start() } else { part };
        self.is_too_long |= self.text.len() + part.len() > 2 * URL_BYTES_MAX;
        if !self.is_too_long {
            self.text.push_str(part);
        }
    }

    /// Adds a text, with its references resolved.
    fn resolve(&mut self, text: &str, has_entities: bool) {
        let mut resolved = String::with_capacity(text.len());
        self.has_entity |= resolve(text, has_entities, &mut resolved);
        self.push(&resolved);
    }
}

impl Record {
    /// An element in it begins, which the form knows by this name.
    pub(super) fn start(&mut self, document: &Document, name: &str, tag: &Tag<'_>) {
        // If an element is there twice, the first counts.
        let form = document.form;
        let mut is_empty = tag.is_empty;
        match self.within.as_slice() {
            [] => {
                if let Some(at) = form.urls.iter().position(|known| *known == name) {
                    is_empty |= self.start_url(at, name, tag);
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
            let why = || format!("its elements nest more than {DEPTH_MAX} deep");
            self.broken.get_or_insert_with(why);
        }
    }

    /// An element with a URL begins; whether it has no text, whatever the tag says.
    fn start_url(&mut self, at: usize, name: &str, tag: &Tag<'_>) -> bool {
        let link = if name == "link" { link(tag) } else { Link::InText };
        let has_text = matches!(link, Link::InText);
        let Some(field @ None) = self.urls.get_mut(at) else { return !has_text };
        match link {
            Link::To(href) => *field = Some(href),
            Link::Elsewhere => {}
            Link::InText if tag.is_empty || name == "guid" && is_no_permalink(tag) => {}
            Link::InText => {
                (*field, self.open) = (Some(Field::default()), Some((Kind::Url(at), 1)))
            }
        }
        !has_text
    }

    fn start_time(&mut self, at: usize, tag: &Tag<'_>) {
        let Some(field @ None) = self.times.get_mut(at) else { return };
        if !tag.is_empty && self.open.is_none() {
            let depth = self.within.len() + 1;
            (*field, self.open) = (Some(Field::default()), Some((Kind::Time(at), depth)));
        }
    }

    /// An element in it ends. One that has not begun is passed over; those that have begun in it end,
    /// too.
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
        self.broken.get_or_insert_with(|| "an element in it has no end".to_owned());
    }

    /// Part of the text of its elements.
    pub(super) fn text(&mut self, text: &Text<'_>, is_data: bool, record: &str) {
        // One section in another is text, unless the record should have ended meanwhile.
        if is_data
            && has(text.bytes, b"<![CDATA[")
            && has(text.bytes, format!("</{record}>").as_bytes())
        {
            self.broken.get_or_insert_with(|| "a CDATA section in it has no end".to_owned());
        }
        let depth = self.within.len();
        let field = match self.open {
            Some((Kind::Url(at), open)) if open == depth => self.urls.get_mut(at),
            Some((Kind::Time(at), open)) if open == depth => self.times.get_mut(at),
            _ => return,
        };
        let Some(Some(field)) = field else { return };
        let part = String::from_utf8_lossy(text.bytes);
        if is_data {
            field.push(&part);
        } else {
            field.resolve(&part, text.has_entities);
        }
        field.is_too_long |= text.is_cut;
    }

    /// What it says, now that it has ended; `None` if it has no time.
    pub(super) fn hint(mut self, form: &Form) -> Option<Result<Hint, String>> {
        if self.open.is_some() {
            self.unclosed();
        }
        let times = self.times.iter().zip(form.times);
        let times: Vec<(&Field, &str)> = times
            .filter_map(|(time, name)| Some((time.as_ref()?, *name)))
            .filter(|(time, _)| !time.text.is_empty() || time.is_too_long)
            .collect();
        if times.is_empty() && self.broken.is_none() {
            return None;
        }
        let url = self.urls.iter().flatten().find(|url| !url.text.is_empty());
        let url = url.or_else(|| self.urls.iter().flatten().next());
        Some(hint(form, url, &times, self.broken.as_deref()))
    }
}

fn hint(
    form: &Form,
    url: Option<&Field>,
    times: &[(&Field, &str)],
    broken: Option<&str>,
) -> Result<Hint, String> {
    let name = form.urls.first().copied().unwrap_or_default();
    let Some(url) = url else {
        return Err(broken.map_or_else(|| format!("it has no <{name}>"), str::to_owned));
    };
    let page = url.text.trim_end();
    let named = |why: &str| format!("{}: {why}", escape(page));
    if url.is_too_long {
        return Err(named("the URL is too long"));
    }
    if let Some(why) = broken {
        return Err(named(why));
    }
    url::check(page).map_err(|why| named(&why))?;
    if page.contains(char::REPLACEMENT_CHARACTER) {
        return Err(named("the URL has bytes that are no characters of the file's encoding"));
    }
    if url.has_entity {
        return Err(named("the URL refers to an entity of the document type"));
    }
    if !is_absolute(page) {
        return Err(named("the URL is not absolute"));
    }
    let modified = times.iter().find_map(|(time, _)| date::parse(time.text.trim_end()));
    let no_time = || {
        let name = times.first().map_or("", |(_, name)| name.rsplit('/').next().unwrap_or(name));
        named(&format!("its <{name}> is no time"))
    };
    Ok(Hint { url: page.to_owned(), modified: modified.ok_or_else(no_time)? })
}

/// Whether a URL has a scheme (RFC 3986, 3.1). One that has none is relative to something, or is no URL,
/// as a `guid` that is only a number.
fn is_absolute(url: &str) -> bool {
    let is_scheme_char = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme_char)
    })
}

/// Where the link of a feed leads.
enum Link {
    /// Its text is the URL, as in RSS.
    InText,
    /// To the page (RFC 4287, 4.2.7.2: an `alternate`, as one without a relation is).
    To(Field),
    /// To something else.
    Elsewhere,
}

fn link(tag: &Tag<'_>) -> Link {
    let (mut href, mut is_alternate) = (None, true);
    for (name, value) in attributes(&tag.attributes) {
        if name.eq_ignore_ascii_case("rel") {
            let relation = value.trim();
            is_alternate = relation.is_empty()
                || relation.eq_ignore_ascii_case("alternate")
                || relation == "http://www.iana.org/assignments/relation/alternate";
        } else if name.eq_ignore_ascii_case("href") && href.is_none() {
            let mut field = Field::default();
            field.resolve(value, tag.has_entities);
            href = Some(field);
        }
    }
    match href {
        Some(field) if is_alternate => Link::To(field),
        None if is_alternate => Link::InText,
        _ => Link::Elsewhere,
    }
}

/// Whether a `guid` says that it is no URL.
fn is_no_permalink(tag: &Tag<'_>) -> bool {
    attributes(&tag.attributes).any(|(name, value)| {
        name.eq_ignore_ascii_case("ispermalink") && value.trim().eq_ignore_ascii_case("false")
    })
}

fn has(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}
