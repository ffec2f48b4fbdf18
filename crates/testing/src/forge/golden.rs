//! The golden store with one changed file, and a catalog that agrees with it.

use simkeep::disk::FileName;

use super::catalog::ForgedCatalog;
use super::segment;
use crate::in_repository;

/// The numbers of its segments.
pub const SEGMENTS: [u64; 3] = [3, 7, 8];

/// A file of the golden store.
pub fn golden(name: FileName) -> Vec<u8> {
    let root = in_repository("format/golden/v6");
    std::fs::read(root.join(name.to_string())).unwrap()
}

/// The golden store with another catalog, and optionally with other bytes of one segment.
pub fn files(catalog: &ForgedCatalog, other: Option<(u64, &[u8])>) -> Vec<(FileName, Vec<u8>)> {
    let segments = SEGMENTS.map(|id| match other {
        Some((of, bytes)) if of == id => (FileName::Segment(id), bytes.to_vec()),
        _ => (FileName::Segment(id), golden(FileName::Segment(id))),
    });
    [(FileName::Catalog, catalog.write())].into_iter().chain(segments).collect()
}

/// A catalog that agrees with a segment, so that the store does not reject the segment at once.
pub fn agreeing(id: u64, file: &[u8]) -> ForgedCatalog {
    let mut catalog = ForgedCatalog::read(&golden(FileName::Catalog));
    for row in catalog.segments.iter_mut().filter(|row| row[0] == id) {
        let [first, last, ..] = segment::numbers(file).unwrap_or_default();
        *row = [id, first, last, file.len() as u64, segment::checksum(file)];
    }
    catalog
}
