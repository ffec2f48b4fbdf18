//! Hints of sitemaps and feeds.

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;
use simkeep::limits::URL_BYTES_MAX;

use super::super::stream::{Place, Stream};
use super::super::{Broken, escape, time, url};
use super::Hint;
use super::xml::{Piece, Xml};

/// The hints of a sitemap, or of an Atom or RSS feed.
pub(super) struct Sitemap {
    xml: Xml,
    records: Records,
    /// Where the record in hand begins.
    place: Place,
    is_over: bool,
}

impl Sitemap {
    pub(super) fn new(stream: Stream) -> Sitemap {
        let xml = Xml::new(stream);
        let place = xml.place();
        Sitemap { xml, records: Records::default(), place, is_over: false }
    }

    /// Reads up to the end of a record that says something, or is broken; `None` at the end of the file.
    fn record(&mut self) -> Result<Option<Result<Hint, String>>, String> {
        loop {
            let piece = self.xml.next()?;
            if let Piece::Over = piece {
                return self.records.over().map(|()| None);
            }
            match self.records.take(piece)? {
                Step::On => {}
                Step::Begins => self.place = self.xml.place(),
                Step::Ends(None) => {}
                Step::Ends(Some(hint)) => return Ok(Some(hint)),
            }
        }
    }
}

impl Iterator for Sitemap {
    type Item = Result<Hint, Broken>;

    fn next(&mut self) -> Option<Result<Hint, Broken>> {
        if self.is_over {
            return None;
        }
        let (hint, place) = match self.record() {
            Ok(Some(hint)) => (hint, self.place),
            Ok(None) => {
                self.is_over = true;
                return None;
            }
            Err(why) => {
                self.is_over = true;
                (Err(why), self.xml.place())
            }
        };
        Some(hint.map_err(|why| Broken { at: self.xml.at(place), why }))
    }
}

/// How a kind of file is built.
struct Form {
    /// The elements that lead to a record, from the root on.
    path: &'static [&'static str],
    /// The element in a record with its URL.
    url: &'static str,
    /// Whether the URL is an attribute of that element.
    href: bool,
    /// The element in a record that says when it was modified.
    modified: &'static str,
    time: fn(&str) -> Option<i64>,
}

const FORMS: [Form; 3] = [
    Form {
        path: &["urlset", "url"],
        url: "loc",
        href: false,
        modified: "lastmod",
        time: time::parse,
    },
    Form {
        path: &["feed", "entry"],
        url: "link",
        href: true,
        modified: "updated",
        time: time::parse,
    },
    Form {
        path: &["rss", "channel", "item"],
        url: "link",
        href: false,
        modified: "pubDate",
        time: time::of_mail,
    },
];

#[derive(Clone, Copy)]
enum Field {
    Url,
    Modified,
}

/// The text of an element, as much of it as can be meant.
#[derive(Default)]
struct Text {
    text: String,
    is_too_long: bool,
}

impl Text {
    fn push(&mut self, part: &str) {
        let part = if self.text.is_empty() { part.trim_start() } else { part };
        if self.text.len() + part.len() > 2 * URL_BYTES_MAX {
            self.is_too_long = true;
        }
        if !self.is_too_long {
            self.text.push_str(part);
        }
    }
}

/// Where in a document we are, and what was found of the record in hand.
#[derive(Default)]
struct Records {
    /// What the root element says it is; and the prefix of its name, which the others have, too.
    kind: Option<(&'static Form, String)>,
    /// How many elements that lead to a record have begun, from the root on.
    followed: usize,
    url: Option<Text>,
    modified: Option<Text>,
    /// The one that is being read.
    open: Option<Field>,
}

/// What a piece is to the records.
enum Step {
    /// Part of one, or of none.
    On,
    /// One begins.
    Begins,
    /// One ends, which says something or is broken.
    Ends(Option<Result<Hint, String>>),
}

impl Records {
    fn take(&mut self, piece: Piece<'_>) -> Result<Step, String> {
        match piece {
            Piece::Start(1, tag) => self.begin(&tag).map(|()| Step::On),
            Piece::Start(depth, tag) => self.start(depth, &tag),
            Piece::Text(depth, text) => {
                if self.is_field(depth)
                    && let Some(open) = self.open()
                {
                    open.push(&text);
                }
                Ok(Step::On)
            }
            Piece::End(depth) => Ok(self.end(depth)),
            Piece::Nothing | Piece::Over => Ok(Step::On),
        }
    }

    /// The depth of a record.
    fn deepest(&self) -> Option<usize> {
        self.kind.as_ref().map(|(form, _)| form.path.len())
    }

    /// Whether this is the depth of what a record consists of.
    fn is_field(&self, depth: usize) -> bool {
        self.deepest().is_some_and(|deepest| depth == deepest + 1)
    }

    /// The text that is being read.
    fn open(&mut self) -> Option<&mut Text> {
        match self.open? {
            Field::Url => self.url.as_mut(),
            Field::Modified => self.modified.as_mut(),
        }
    }

    /// The root element, which says what the document is.
    fn begin(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        if self.kind.is_some() {
            return Err("another document begins after the first".into());
        }
        let name = tag.name().into_inner();
        let (prefix, local) = match name.split_once(':') {
            Some((prefix, local)) => (format!("{prefix}:"), local),
            None => (String::new(), name),
        };
        if local == "sitemapindex" {
            return Err("it is an index of sitemaps; give the sitemaps that it names".into());
        }
        let form = FORMS.iter().find(|form| form.path.first() == Some(&local));
        let form = form.ok_or_else(|| {
            escape(&format!("it begins with <{name}>, as neither a sitemap nor a feed does"))
        })?;
        self.kind = Some((form, prefix));
        self.followed = 1;
        Ok(())
    }

    fn start(&mut self, depth: usize, tag: &BytesStart<'_>) -> Result<Step, String> {
        let (form, prefix) = self.kind.as_ref().ok_or("it has no root element")?;
        let Some(name) = tag.name().into_inner().strip_prefix(prefix.as_str()) else {
            return Ok(Step::On);
        };
        let deepest = form.path.len();
        if self.followed == depth - 1 && form.path.get(depth - 1) == Some(&name) {
            self.followed = depth;
            if depth == deepest {
                (self.url, self.modified) = (None, None);
                return Ok(Step::Begins);
            }
        } else if self.followed == deepest && depth == deepest + 1 {
            // If an element is there twice, the first counts.
            if name == form.url && self.url.is_none() {
                if form.href {
                    self.url = alternate(tag)?;
                } else {
                    (self.url, self.open) = (Some(Text::default()), Some(Field::Url));
                }
            } else if name == form.modified && self.modified.is_none() {
                (self.modified, self.open) = (Some(Text::default()), Some(Field::Modified));
            }
        }
        Ok(Step::On)
    }

    fn end(&mut self, depth: usize) -> Step {
        if self.is_field(depth) {
            self.open = None;
        }
        if depth == self.followed {
            self.followed -= 1;
            if self.deepest() == Some(depth) {
                return Step::Ends(self.hint());
            }
        }
        Step::On
    }

    /// What the record in hand says.
    fn hint(&mut self) -> Option<Result<Hint, String>> {
        let (form, _) = self.kind.as_ref()?;
        let modified = self.modified.take().filter(|modified| !modified.text.is_empty())?;
        Some(hint(form, self.url.take(), &modified))
    }

    fn over(&self) -> Result<(), String> {
        self.kind.as_ref().map(|_| ()).ok_or_else(|| "it has no root element".into())
    }
}

fn hint(form: &Form, url: Option<Text>, modified: &Text) -> Result<Hint, String> {
    let Some(Text { text: page, is_too_long }) = url else {
        return Err(format!("it has no <{}>", form.url));
    };
    let page = page.trim_end();
    let named = |why: &str| format!("{}: {why}", escape(page));
    if is_too_long {
        return Err(named("the URL is too long"));
    }
    url::check(page).map_err(|why| named(&why))?;
    let modified = (form.time)(modified.text.trim_end())
        .ok_or_else(|| named(&format!("its <{}> is no time", form.modified)))?;
    Ok(Hint { url: page.to_owned(), modified })
}

/// Where a link of an Atom feed leads, if it is to the page itself.
fn alternate(tag: &BytesStart<'_>) -> Result<Option<Text>, String> {
    let (mut href, mut is_alternate) = (None, true);
    // To look for attributes that are there twice takes as many steps as there are pairs of them.
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|e| escape(&e.to_string()))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|e| escape(&e.to_string()))?;
        match attribute.key.into_inner() {
            "rel" => is_alternate = value == "alternate",
            "href" => {
                let mut text = Text::default();
                text.push(&value);
                href = Some(text);
            }
            _ => {}
        }
    }
    Ok(href.filter(|_| is_alternate))
}
