//! A file in the ways in which a reader may get it: compressed or not, whole or in pieces; and the
//! properties of everything that is read from it.

use std::fmt::Debug;
use std::io::{BufRead, BufReader, Cursor, Read, Result, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use simkeep::URL_BYTES_MAX;
use simkeep_formats::escape::needs_escape;
use simkeep_formats::export::ExportLineKind;
use simkeep_formats::{RECORD_BYTES_MAX, SourceChunk, SourceItem, ZstdWindow, part};
use zstd::bulk::Compressor;

use crate::fuzz::allocator::within;
use crate::{TIME_MAX, TIME_MIN};

/// The maximum size of an allocation in bytes. The largest record has three times its size when it
/// was mapped to UTF-8, and a growing vector takes up to twice its length.
const ALLOCATION_BYTES_MAX: usize = 6 * RECORD_BYTES_MAX as usize;
/// The maximum number of items to examine. A few bytes of input can decompress to any number.
const ITEMS_MAX: usize = 20_000;
/// The maximum cost of reading a compressed file: its decompressed bytes, and [`LINE_COST`] for
/// each line. A few bytes can decompress to hours of repetitive work.
const COST_MAX: usize = 256 << 20;
const LINE_COST: usize = 1024;
/// The maximum number of separately compressed parts of a file.
const PARTS_MAX: usize = 64;
/// The number of bytes that identify the kind of a well-formed file.
const START_BYTES: usize = 16;
/// The maximum length of an item's description of itself, in bytes.
const SAID_BYTES_MAX: usize = 8 << 10;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FuzzCompression {
    None,
    Gzip,
    Zstandard,
}

/// The way in which a file arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileDelivery {
    /// The extension of the file's name.
    pub expected: &'static str,
    pub packing: FuzzCompression,
    /// The bytes of each compressed part, and of each read.
    pub part_bytes: usize,
    pub read_bytes: usize,
}

impl FileDelivery {
    /// Creates a feed from two bytes: the compression, and the sizes as powers of two.
    pub(super) fn new(expected: &'static str, packing: u8, sizes: u8) -> FileDelivery {
        let packing = [FuzzCompression::None, FuzzCompression::Gzip, FuzzCompression::Zstandard]
            [usize::from(packing % 3)];
        let (part_bytes, read_bytes) = (1 << (sizes & 15), 1 << (sizes >> 4));
        FileDelivery { expected, packing, part_bytes, read_bytes }
    }

    /// Reads a file in this way and in others. Passes every item to `each`.
    ///
    /// # Panics
    ///
    /// If the results differ, or are not valid for a store.
    pub(super) fn check(&self, file: &[u8], mut each: impl FnMut(&SourceItem)) {
        if self.packing == FuzzCompression::None && cost(file) > COST_MAX {
            return;
        }
        let packed = self.pack(file);
        let whole = packed.len().max(1);
        // For a damaged part, the output before the damage is found depends on the reads.
        let damaged = self.packing == FuzzCompression::None && is_packed(file);
        let again = if damaged { whole } else { self.read_bytes };
        within(ALLOCATION_BYTES_MAX, || {
            let mut others = self.read(&packed, again);
            for item in self.read(&packed, whole) {
                check_item(&item);
                assert_eq!(Some(&item), others.next().as_ref(), "read by {again} bytes");
                each(&item);
            }
            assert_eq!(None, others.next(), "read by {again} bytes");
            if self.packing != FuzzCompression::None && self.is_certain(file) {
                let mut plain = self.read(file, file.len()).map(without_positions);
                for item in self.read(&packed, whole).map(without_positions) {
                    assert_eq!(Some(item), plain.next(), "packed");
                }
                assert_eq!(None, plain.next(), "packed");
            }
        });
    }

    /// Reads a file that arrives in this way, and also reads its compressed bytes at once. `None`
    /// if it decompresses to very much.
    ///
    /// # Panics
    ///
    /// If the results differ.
    pub(super) fn read_in_pieces_and_whole<T: PartialEq + Debug>(
        &self,
        file: &[u8],
        read: impl Fn(Box<dyn Read + Send>) -> T,
    ) -> Option<T> {
        if self.packing == FuzzCompression::None && cost(file) > COST_MAX {
            return None;
        }
        let packed = self.pack(file);
        within(ALLOCATION_BYTES_MAX, || {
            let whole = read(Box::new(ShortReader::new(&packed, packed.len().max(1))));
            // For a damaged part, the output before the damage is found depends on the reads.
            if self.packing != FuzzCompression::None || !is_packed(file) {
                let pieces = ShortReader::new(&packed, self.read_bytes);
                assert_eq!(read(Box::new(pieces)), whole, "read by {} bytes", self.read_bytes);
            }
            Some(whole)
        })
    }

    /// Whether every first part of a file identifies the kind of the whole file.
    fn is_certain(&self, file: &[u8]) -> bool {
        let is_text = |b: &u8| !b.is_ascii_control() || b.is_ascii_whitespace();
        file.starts_with(b"WARC/")
            || file.starts_with(b"filedesc:")
            || (self.expected == ".jsonl" && file.starts_with(b"{") && file.iter().all(is_text))
    }

    fn part_bytes(&self, file: &[u8]) -> usize {
        self.part_bytes.max(file.len().div_ceil(PARTS_MAX))
    }

    /// The first separately compressed part of a file, and the rest.
    pub(super) fn first_part<'f>(&self, file: &'f [u8]) -> (&'f [u8], &'f [u8]) {
        file.split_at(file.len().min(self.part_bytes(file).max(START_BYTES)))
    }

    fn pack(&self, file: &[u8]) -> Vec<u8> {
        let part_bytes = self.part_bytes(file);
        let (start, rest) = self.first_part(file);
        let parts = [start].into_iter().chain(rest.chunks(part_bytes));
        match self.packing {
            FuzzCompression::None => file.to_vec(),
            FuzzCompression::Gzip => {
                let pack = |part| {
                    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                    encoder.write_all(part).unwrap();
                    encoder.finish().unwrap()
                };
                parts.flat_map(pack).collect()
            }
            FuzzCompression::Zstandard => {
                let mut encoder = Compressor::new(1).unwrap();
                parts.flat_map(|part| encoder.compress(part).unwrap()).collect()
            }
        }
    }

    fn read(&self, file: &[u8], read_bytes: usize) -> impl Iterator<Item = SourceItem> {
        let pieces = ShortReader::new(file, read_bytes);
        let (progress, window) = (Arc::default(), ZstdWindow::default());
        let part = part("file", self.expected, Box::new(pieces), progress, window, false);
        let (part, refused) = match part {
            Ok(part) => (Some(part), None),
            Err(refused) => (None, Some(refused)),
        };
        part.into_iter()
            .flatten()
            .flat_map(items)
            .chain(refused.map(SourceItem::Broken))
            .take(ITEMS_MAX)
    }
}

fn items(chunk: SourceChunk) -> Vec<SourceItem> {
    let mut items = Vec::new();
    chunk.items(|item| items.push(item));
    items
}

const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The end of the magic number of a skippable zstd frame.
const SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Whether these bytes will be decompressed.
fn is_packed(file: &[u8]) -> bool {
    file.starts_with(&GZIP) || file.starts_with(&ZSTD) || file.get(1..4) == Some(&SKIPPED)
}

/// The cost of decompressing a file from every position where a compressed part may begin.
fn cost(file: &[u8]) -> usize {
    if !is_packed(file) {
        return 0;
    }
    let mut cost = 0;
    for part in (0..file.len()).map(|at| &file[at..]) {
        if part.starts_with(&GZIP) {
            add_cost(GzDecoder::new(part), &mut cost);
        } else if part.starts_with(&ZSTD) {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(part).unwrap();
            decoder.window_log_max(31).unwrap();
            add_cost(decoder.single_frame(), &mut cost);
        }
    }
    cost
}

fn add_cost(unpacked: impl Read, cost: &mut usize) {
    let mut unpacked = BufReader::new(unpacked);
    while let Ok(bytes @ [_, ..]) = unpacked.fill_buf() {
        let lines = bytes.iter().filter(|b| **b == b'\n').count();
        *cost += bytes.len() + lines * LINE_COST;
        if *cost > COST_MAX {
            return;
        }
        let count = bytes.len();
        unpacked.consume(count);
    }
}

/// A reader that returns `read_bytes` bytes at a time.
struct ShortReader {
    file: Cursor<Vec<u8>>,
    read_bytes: usize,
}

impl ShortReader {
    fn new(file: &[u8], read_bytes: usize) -> ShortReader {
        ShortReader { file: Cursor::new(file.to_vec()), read_bytes }
    }
}

impl Read for ShortReader {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let end = out.len().min(self.read_bytes);
        self.file.read(&mut out[..end])
    }
}

/// An item without its position, which depends on the compression of the file.
fn without_positions(mut item: SourceItem) -> SourceItem {
    match &mut item {
        SourceItem::Broken(broken) | SourceItem::Refused(broken) => broken.at.clear(),
        SourceItem::Export(line) => line.at.clear(),
        SourceItem::Record(record) => {
            let wrong = record.claim.as_mut().and_then(|claim| claim.wrong.as_mut());
            wrong.into_iter().for_each(|wrong| wrong.at.clear());
        }
        _ => {}
    }
    item
}

fn check_item(item: &SourceItem) {
    match item {
        SourceItem::Record(record) => {
            let url = &record.url;
            assert!(!url.is_empty() && url.len() <= URL_BYTES_MAX, "{url:?}");
            assert!(!url.contains(char::is_control), "{url:?}");
            assert!((TIME_MIN..=TIME_MAX).contains(&record.time), "{}", record.time);
        }
        SourceItem::Question(question) => {
            let url = &question.url;
            assert!(!url.is_empty() && url.len() <= URL_BYTES_MAX, "{url:?}");
            assert!(!url.contains(char::is_control) && !question.at.contains(needs_escape));
        }
        SourceItem::Broken(broken) | SourceItem::Refused(broken) => {
            for said in [&broken.at, &broken.why] {
                assert!(!said.is_empty() && said.len() <= SAID_BYTES_MAX, "{said:?}");
                assert!(!said.contains(needs_escape), "{said:?}");
            }
        }
        SourceItem::Passed(kind) => assert!(!kind.is_empty()),
        SourceItem::Epoch(name, _) => {
            assert!(!name.is_empty() && name.len() <= 256 && !name.contains(char::is_control));
        }
        SourceItem::Export(line) => {
            let why = if let ExportLineKind::Flawed(why) = &line.kind { why } else { "sound" };
            for said in [line.at.as_str(), why] {
                assert!(!said.is_empty() && said.len() <= SAID_BYTES_MAX, "{said:?}");
                assert!(!said.contains(needs_escape), "{said:?}");
            }
        }
        other => panic!("{other:?}"),
    }
}
