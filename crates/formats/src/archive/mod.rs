//! Web archives: the common parts of ARC and WARC.
//!
//! An archive is a stream of records. A record begins with a line, a header gives the length of its
//! content, and empty lines may follow. After a broken record, reading continues at the next line
//! that begins a record.

pub(super) mod arc;
pub(super) mod block;
mod exchange;
pub(super) mod warc;

use std::marker::PhantomData;
use std::sync::Arc;

use super::chunk::{RecordCut, SourceChunk};
use super::escape;
use super::item::{BrokenRecord, RecordFault, SourceItem};
use super::stream::{LineEnd, SourceStream, StreamPosition};
use super::url::{RequestMethod, Schemes};
use block::{BlockContent, ContentBlock};
use exchange::{ExchangeIds, ExchangeMatcher};

/// The longest line of a header.
const LINE_BYTES_MAX: usize = 64 << 10;

/// A kind of archive.
pub(super) trait ArchiveFormat: Sized {
    /// Whether a line begins a record.
    fn begins(line: &[u8]) -> bool;

    /// Cuts the record at `place`. The first line of the record has already been read. For a
    /// response, also returns the identifiers of its exchange.
    fn record(
        cutter: &mut ArchiveCutter<Self>,
        place: StreamPosition,
    ) -> Result<(RecordCut, Option<ExchangeIds>), RecordFault>;
}

/// Cuts an archive into its records.
pub(super) struct ArchiveCutter<F> {
    stream: SourceStream,
    /// Whether the start of the next record is unknown. The loss has already been reported.
    lost: bool,
    /// The place of a record whose first line has already been read.
    begun: Option<StreamPosition>,
    line: Vec<u8>,
    schemes: Arc<Schemes>,
    exchanges: ExchangeMatcher,
    format: PhantomData<fn() -> F>,
}

impl<F: ArchiveFormat> ArchiveCutter<F> {
    /// Cuts a stream. Records whose URLs have these schemes are pages.
    pub(super) fn new(stream: SourceStream, schemes: Arc<Schemes>) -> ArchiveCutter<F> {
        ArchiveCutter {
            stream,
            lost: false,
            begun: None,
            line: Vec::new(),
            schemes,
            exchanges: ExchangeMatcher::default(),
            format: PhantomData,
        }
    }

    /// Reads to the line that begins the next record, and returns its place; `None` at the end.
    fn begin(&mut self) -> Result<Option<StreamPosition>, (StreamPosition, RecordFault)> {
        if let Some(place) = self.begun.take() {
            return Ok(Some(place));
        }
        loop {
            let place = self.stream.place();
            let end = self.stream.line(&mut self.line, LINE_BYTES_MAX);
            match end.map_err(|e| (place, e.into()))? {
                LineEnd::End => return Ok(None),
                LineEnd::Whole if F::begins(&self.line) => {
                    self.lost = false;
                    return Ok(Some(place));
                }
                _ if self.lost || self.line.trim_ascii().is_empty() => {}
                _ => {
                    let found = escape(&String::from_utf8_lossy(&self.line));
                    let why = format!("expected the beginning of a record, but found \"{found}\"");
                    return Err((place, RecordFault::Lost(why)));
                }
            }
        }
    }

    /// Reads the content of a record of this length, or returns the reason why the record is not a
    /// visit.
    fn content(
        &mut self,
        length: u64,
        passed: Option<&'static str>,
    ) -> Result<Result<BlockContent, &'static str>, RecordFault> {
        let block = ContentBlock::new(&mut self.stream, length);
        let content = match passed {
            None => Ok(block.hold()?),
            Some(passed) => {
                block.skip()?;
                Err(passed)
            }
        };
        // Damage to a packed record often shows only in the checksum after it.
        self.stream.check_part_end()?;
        Ok(content)
    }

    /// Returns the next record of the stream, or the reason why it is invalid.
    fn read(&mut self) -> Option<(RecordCut, Option<ExchangeIds>)> {
        let (place, fault) = match self.begin() {
            Ok(None) => return None,
            Ok(Some(place)) => match F::record(self, place) {
                Ok(cut) => return Some(cut),
                Err(fault) => (place, fault),
            },
            Err(fault) => fault,
        };
        self.lost |= matches!(fault, RecordFault::Lost(_));
        let (RecordFault::Record(why) | RecordFault::Lost(why)) = fault;
        let broken = BrokenRecord { at: self.stream.at(place).to_string(), why };
        Some((RecordCut::Clear(SourceItem::Broken(broken)), None))
    }

    /// Returns the next resolved record, or the reason why it is invalid.
    fn cut(&mut self) -> Option<RecordCut> {
        loop {
            if let Some(cut) = self.exchanges.pop() {
                return Some(cut);
            }
            match self.read() {
                Some((cut, ids)) => self.exchanges.push(cut, ids),
                None => {
                    self.exchanges.end();
                    return self.exchanges.pop();
                }
            }
        }
    }
}

impl<F: ArchiveFormat> Iterator for ArchiveCutter<F> {
    type Item = SourceChunk;

    fn next(&mut self) -> Option<SourceChunk> {
        SourceChunk::gather(self.stream.is_live(), || self.cut())
    }
}

impl Schemes {
    /// Returns the reason why a record with this URL is not a visit, for any content.
    fn passed_record(&self, url: &str) -> Option<&'static str> {
        self.passed(url).or_else(|| RequestMethod::in_url(url).and_then(RequestMethod::passed))
    }
}
