//! Hints of sitemaps and feeds.

use std::collections::VecDeque;

use super::super::stream::{SourceStream, StreamPosition};
use super::super::{BrokenRecord, escape};
use super::Hint;
use super::base::BaseStack;
use super::form::FeedDocument;
use super::markup::{XmlTag, XmlText, XmlToken, XmlTokenizer};
use super::record::FeedRecord;

/// The hints of a sitemap, or of an Atom or RSS feed.
pub(super) struct FeedReader {
    markup: XmlTokenizer,
    records: FeedState,
    /// Results that are not returned yet.
    found: VecDeque<PlacedHint>,
    is_over: bool,
}

/// A result at a place: a hint, or an error.
type PlacedHint = (StreamPosition, Result<Hint, String>);

/// The state of reading a file.
#[derive(Default)]
struct FeedState {
    document: Option<FeedDocument>,
    /// The bases of relative URLs, in a document that may have relative URLs.
    bases: BaseStack,
    record: Option<(StreamPosition, FeedRecord)>,
    /// Whether a document was found.
    is_known: bool,
    /// The first element, if it does not begin a known document.
    other: Option<(StreamPosition, String)>,
}

impl FeedReader {
    pub(super) fn new(stream: SourceStream) -> FeedReader {
        let markup = XmlTokenizer::new(stream);
        let (records, found) = (FeedState::default(), VecDeque::new());
        FeedReader { markup, records, found, is_over: false }
    }

    fn with_position(&self, (place, hint): PlacedHint) -> Result<Hint, BrokenRecord> {
        hint.map_err(|why| BrokenRecord { at: self.markup.at(place).to_string(), why })
    }
}

impl Iterator for FeedReader {
    type Item = Result<Hint, BrokenRecord>;

    fn next(&mut self) -> Option<Result<Hint, BrokenRecord>> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Some(self.with_position(found));
            }
            if self.is_over {
                return None;
            }
            let place = self.markup.position();
            match self.markup.next() {
                Ok(piece) => {
                    self.is_over = matches!(piece, XmlToken::Over);
                    self.records.take(place, piece, &mut self.found);
                }
                Err(error) => {
                    self.is_over = true;
                    self.found.push_back((place, Err(escape(&error.to_string()))));
                }
            }
        }
    }
}

impl FeedState {
    /// Takes a piece of markup, and adds the hints and errors that it completes.
    fn take(
        &mut self,
        place: StreamPosition,
        piece: XmlToken<'_>,
        found: &mut VecDeque<PlacedHint>,
    ) {
        match piece {
            XmlToken::Start(tag) => self.start(place, &tag, found),
            XmlToken::End(name) => self.end(&name, found),
            XmlToken::Text(text) => self.text(place, &text, false),
            XmlToken::Data(text) => self.text(place, &text, true),
            XmlToken::Nothing => {}
            XmlToken::Over => self.end_file(place, found),
        }
    }

    fn start(&mut self, place: StreamPosition, tag: &XmlTag<'_>, found: &mut VecDeque<PlacedHint>) {
        let Some(document) = &self.document else {
            return self.begin(place, tag, found);
        };
        let form = document.form;
        let name = document.name(&tag.name);
        if name != form.record || name.is_empty() {
            match &mut self.record {
                Some((_, record)) => record.start(document, &name, tag),
                None if form.site.is_some() => self.bases.start(document, &name, tag),
                None => {}
            }
            return;
        }
        // A record never contains another record, so the previous record has ended, even if it has
        // open elements.
        self.close(found);
        if !tag.is_empty {
            self.record = Some((place, FeedRecord::begin(form, tag)));
        }
    }

    /// Takes an element that is not within a known document.
    fn begin(&mut self, place: StreamPosition, tag: &XmlTag<'_>, found: &mut VecDeque<PlacedHint>) {
        let Some(document) = FeedDocument::of(tag) else {
            if !self.is_known && self.other.is_none() {
                self.other = Some((place, tag.name.clone()));
            }
            return;
        };
        self.is_known = true;
        let form = document.form;
        if form.is_record() {
            self.record = (!tag.is_empty).then(|| (place, FeedRecord::begin(form, tag)));
        } else if form.site.is_some() {
            self.bases.start(&document, &tag.name, tag);
        }
        self.document = Some(document).filter(|_| !tag.is_empty);
        if form.is_index() {
            let why = "the file is a sitemap index; pass the sitemaps that it lists instead";
            found.push_back((place, Err(why.to_owned())));
        }
    }

    fn end(&mut self, name: &str, found: &mut VecDeque<PlacedHint>) {
        let Some(document) = &self.document else { return };
        let is_root = document.root == name;
        let is_record = !is_root && document.name(name) == document.form.record;
        if !is_root && !is_record {
            match &mut self.record {
                Some((_, record)) => record.end(name),
                None => self.bases.end(name),
            }
            return;
        }
        self.close(found);
        if is_root {
            self.document = None;
            self.bases = BaseStack::default();
        }
    }

    /// Ends the record, and adds its results.
    fn close(&mut self, found: &mut VecDeque<PlacedHint>) {
        if let (Some((place, record)), Some(document)) = (self.record.take(), &self.document) {
            let hints = record.hints(document.form, &self.bases);
            found.extend(hints.into_iter().map(|hint| (place, hint)));
        }
    }

    fn text(&mut self, place: StreamPosition, text: &XmlText<'_>, is_data: bool) {
        let Some(document) = &self.document else { return };
        let form = document.form;
        let cut = text.cut_tag.as_deref().map(|written| document.name(written));
        match &mut self.record {
            Some((_, record)) => {
                record.text(text, is_data, form.record);
                if let Some(name) = cut {
                    record.cut(form, &name);
                }
            }
            // The text after this piece would belong to a record, so its loss must be reported.
            None if cut.is_some_and(|name| name == form.record) => {
                self.record = Some((place, FeedRecord::cut_off()));
            }
            None => self.bases.text(text, is_data),
        }
    }

    /// Takes the end of the file.
    fn end_file(&mut self, place: StreamPosition, found: &mut VecDeque<PlacedHint>) {
        let is_cut = self.document.is_some();
        let before = found.len();
        self.close(found);
        let last = found.split_off(before);
        found.extend(last.into_iter().filter(|(_, hint)| hint.is_ok()));
        let why = match (self.is_known, self.other.take()) {
            (true, _) => is_cut
                .then(|| (place, "the file is truncated: its root element has no end".to_owned())),
            (false, None) => Some((place, "the file has no root element".to_owned())),
            (false, Some((place, name))) => {
                let why = format!("the root element is <{name}>; expected a sitemap or a feed");
                Some((place, escape(&why)))
            }
        };
        found.extend(why.map(|(place, why)| (place, Err(why))));
    }
}
