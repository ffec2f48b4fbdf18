//! XML of strangers as a stream, in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesDecl, BytesRef, BytesStart, Event};

use super::super::escape;
use super::super::stream::{Place, Stream};

/// The most bytes of one piece: a tag, a text, a comment.
const PIECE_BYTES_MAX: usize = 1 << 20;
/// The most bytes of an element's name.
const NAME_BYTES_MAX: usize = 1 << 10;
/// How deep elements may nest.
const DEPTH_MAX: usize = 100;

/// The elements and texts of a document, one after the other.
pub(super) struct Xml {
    reader: Reader<Bounded>,
    piece: Vec<u8>,
    depth: usize,
    /// Where the piece in hand begins.
    place: Place,
}

/// What a document consists of. With it the depth of the element, of which that of the root is 1.
pub(super) enum Piece<'a> {
    /// An element begins.
    Start(usize, BytesStart<'a>),
    /// Part of the text of an element. One that refers to characters comes in several.
    Text(usize, Cow<'a, str>),
    /// An element ends.
    End(usize),
    /// What says nothing, such as a comment.
    Nothing,
    /// The document ends.
    Over,
}

impl Xml {
    pub(super) fn new(mut stream: Stream) -> Xml {
        let mark = b"\xef\xbb\xbf";
        if stream.look_ahead(mark.len()) == mark {
            stream.consume(mark.len());
        }
        let place = stream.place();
        let mut reader = Reader::from_reader(Bounded { stream, left: 0 });
        reader.config_mut().expand_empty_elements = true;
        Xml { reader, piece: Vec::new(), depth: 0, place }
    }

    /// Where the piece in hand begins.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// A place in the file, in words.
    pub(super) fn at(&self, place: Place) -> String {
        self.reader.get_ref().stream.at(place).to_string()
    }

    /// The next piece; or why there is none, fit to be shown.
    pub(super) fn next(&mut self) -> Result<Piece<'_>, String> {
        self.piece.clear();
        self.place = self.reader.get_ref().stream.place();
        self.reader.get_mut().left = PIECE_BYTES_MAX;
        let event = self.reader.read_event_into(&mut self.piece);
        match event.map_err(|e| escape(&e.to_string()))? {
            Event::Start(tag) => {
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err(format!("elements nest more than {DEPTH_MAX} deep"));
                }
                // The reader keeps the names of all elements that have not ended.
                if tag.name().into_inner().len() > NAME_BYTES_MAX {
                    return Err(format!(
                        "the name of an element is longer than {NAME_BYTES_MAX} bytes"
                    ));
                }
                Ok(Piece::Start(self.depth, tag))
            }
            Event::End(_) => {
                self.depth -= 1;
                Ok(Piece::End(self.depth + 1))
            }
            Event::Text(text) => text_in(self.depth, text.into_inner()),
            Event::CData(text) => text_in(self.depth, text.into_inner()),
            Event::GeneralRef(reference) => text_in(self.depth, character(&reference)?),
            Event::DocType(_) => {
                Err("it has a document type, which no sitemap or feed needs".into())
            }
            Event::Decl(declared) => check_encoding(&declared).map(|()| Piece::Nothing),
            Event::Comment(_) | Event::PI(_) | Event::Empty(_) => Ok(Piece::Nothing),
            Event::Eof if self.depth > 0 => Err("it is cut short".into()),
            Event::Eof => Ok(Piece::Over),
        }
    }
}

fn text_in(depth: usize, text: Cow<'_, str>) -> Result<Piece<'_>, String> {
    if depth == 0 && !text.trim_ascii().is_empty() {
        return Err("there is text outside of its root element".into());
    }
    Ok(Piece::Text(depth, text))
}

/// The character that a reference is for.
fn character(reference: &BytesRef<'_>) -> Result<Cow<'static, str>, String> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Ok(character.to_string().into()),
        Ok(None) => match resolve_xml_entity(reference) {
            Some(character) => Ok(character.into()),
            None => Err(escape(&format!("the entity &{}; is not one of XML's own", &**reference))),
        },
        Err(error) => Err(escape(&error.to_string())),
    }
}

fn check_encoding(declared: &BytesDecl<'_>) -> Result<(), String> {
    let Some(encoding) = declared.encoding() else { return Ok(()) };
    let encoding = encoding.map_err(|e| escape(&e.to_string()))?;
    if ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|known| encoding.eq_ignore_ascii_case(known))
    {
        return Ok(());
    }
    Err(escape(&format!("it is in {encoding}; only UTF-8 is read")))
}

/// A stream that fails after so many more bytes, so that nobody keeps more of it.
struct Bounded {
    stream: Stream,
    left: usize,
}

impl BufRead for Bounded {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.stream.fill_buf()?;
        if self.left == 0 && !bytes.is_empty() {
            let why = format!("a tag or a text is longer than {PIECE_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(bytes.get(..self.left).unwrap_or(bytes))
    }

    fn consume(&mut self, count: usize) {
        self.left -= count;
        self.stream.consume(count);
    }
}

impl Read for Bounded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}
