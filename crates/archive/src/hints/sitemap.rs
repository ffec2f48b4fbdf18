//! Hints of sitemaps and feeds.

use std::collections::VecDeque;

use super::super::stream::{Place, Stream};
use super::super::{Broken, escape};
use super::Hint;
use super::form::Document;
use super::markup::{Markup, Piece, Tag, Text};
use super::record::Record;

/// The hints of a sitemap, or of an Atom or RSS feed.
pub(super) struct Sitemap {
    markup: Markup,
    records: Records,
    /// What was found and is not returned yet.
    found: VecDeque<Found>,
    is_over: bool,
}

/// What was found at a place: a hint, or what is wrong there.
type Found = (Place, Result<Hint, String>);

/// Where in a file we are.
#[derive(Default)]
struct Records {
    document: Option<Document>,
    record: Option<(Place, Record)>,
    /// Whether there was a document.
    is_known: bool,
    /// The first element, if that begins no document.
    other: Option<(Place, String)>,
}

impl Sitemap {
    pub(super) fn new(stream: Stream) -> Sitemap {
        let markup = Markup::new(stream);
        let (records, found) = (Records::default(), VecDeque::new());
        Sitemap { markup, records, found, is_over: false }
    }

    fn named(&self, (place, hint): Found) -> Result<Hint, Broken> {
        hint.map_err(|why| Broken { at: self.markup.at(place).to_string(), why })
    }
}

impl Iterator for Sitemap {
    type Item = Result<Hint, Broken>;

    fn next(&mut self) -> Option<Result<Hint, Broken>> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Some(self.named(found));
            }
            if self.is_over {
                return None;
            }
            let place = self.markup.here();
            match self.markup.next() {
                Ok(piece) => {
                    self.is_over = matches!(piece, Piece::Over);
                    self.found.extend(self.records.take(place, piece).into_iter().flatten());
                }
                Err(error) => {
                    self.is_over = true;
                    self.found.push_back((place, Err(escape(&error.to_string()))));
                }
            }
        }
    }
}

impl Records {
    /// Processes a piece of markup and returns the hints and errors that it completes.
    fn take(&mut self, place: Place, piece: Piece<'_>) -> [Option<Found>; 2] {
        match piece {
            Piece::Start(tag) => [self.start(place, &tag), None],
            Piece::End(name) => [self.end(&name), None],
            Piece::Text(text) => self.text(&text, false),
            Piece::Data(text) => self.text(&text, true),
            Piece::Nothing => [None, None],
            Piece::Over => self.over(place),
        }
    }

    fn start(&mut self, place: Place, tag: &Tag<'_>) -> Option<Found> {
        let Some(document) = &self.document else {
            return self.begin(place, tag);
        };
        let name = document.name(&tag.name);
        if name != document.form.record || name.is_empty() {
            if let Some((_, record)) = &mut self.record {
                record.start(document, &name, tag);
            }
            return None;
        }
        // No record contains another, so the one before it has ended, whatever is open in it.
        let before = self.close();
        if !tag.is_empty {
            self.record = Some((place, Record::default()));
        }
        before
    }

    /// The first element of a document, or one before that.
    fn begin(&mut self, place: Place, tag: &Tag<'_>) -> Option<Found> {
        let Some(document) = Document::of(tag) else {
            if !self.is_known && self.other.is_none() {
                self.other = Some((place, tag.name.clone()));
            }
            return None;
        };
        self.is_known = true;
        let is_index = document.form.is_index();
        self.document = Some(document).filter(|_| !tag.is_empty);
        let why = "it is an index of sitemaps; give the sitemaps that it names";
        is_index.then(|| (place, Err(why.to_owned())))
    }

    fn end(&mut self, name: &str) -> Option<Found> {
        let document = self.document.as_ref()?;
        let is_root = document.root == name;
        let is_record = !is_root && document.name(name) == document.form.record;
        if !is_root && !is_record {
            if let Some((_, record)) = &mut self.record {
                record.end(name);
            }
            return None;
        }
        let found = self.close();
        if is_root {
            self.document = None;
        }
        found
    }

    /// Ends the record; what it says.
    fn close(&mut self) -> Option<Found> {
        let (place, record) = self.record.take()?;
        let form = self.document.as_ref()?.form;
        Some((place, record.hint(form)?))
    }

    fn text(&mut self, text: &Text<'_>, is_data: bool) -> [Option<Found>; 2] {
        if let (Some((_, record)), Some(document)) = (&mut self.record, &self.document) {
            record.text(text, is_data, document.form.record);
        }
        [None, None]
    }

    /// The end of the file.
    fn over(&mut self, place: Place) -> [Option<Found>; 2] {
        let is_cut = self.document.is_some();
        let last = self.close().filter(|(_, hint)| hint.is_ok());
        let why = match (self.is_known, self.other.take()) {
            (true, _) => is_cut.then(|| (place, "it is cut short".to_owned())),
            (false, None) => Some((place, "it has no root element".to_owned())),
            (false, Some((place, name))) => {
                let why = format!("it begins with <{name}>, as neither a sitemap nor a feed does");
                Some((place, escape(&why)))
            }
        };
        [last, why.map(|(place, why)| (place, Err(why)))]
    }
}
