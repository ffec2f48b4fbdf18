//! Writes copies of the golden store in which one segment has tables of other shapes, which such a small
//! store would not have: with cells, with buckets of several lines, and all of them empty, full or
//! overfull. `format/check/run` reads the copies.

use std::error::Error;
use std::path::PathBuf;

use simkeep::disk::FileName;
use simkeep::query::{BucketLayout, Shape};
use simkeep_testing::forge::golden::{agreeing, files, golden};
use simkeep_testing::forge::segment::ForgedSegment;

/// The largest golden segment.
const SEGMENT: u64 = 3;

/// Shapes of the tables for its 1,300 fingerprints.
const SHAPES: [(&str, Shape); 6] = [
    ("bucket", Shape::Rotations(BucketLayout { bits: 0, lines: 1 })),
    ("cells", Shape::Cells { count: 73 }),
    ("cells-few", Shape::Cells { count: 2 }),
    ("cells-many", Shape::Cells { count: 1_000 }),
    ("lines", Shape::Rotations(BucketLayout { bits: 4, lines: 3 })),
    ("lines-many", Shape::Rotations(BucketLayout { bits: 9, lines: 2 })),
];

fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args_os().nth(1).ok_or("shapes DIRECTORY: where to write the stores")?;
    let whole = ForgedSegment::read(&golden(FileName::Segment(SEGMENT)));
    for (name, shape) in SHAPES {
        write(&whole.clone().with_shape(0, |_| shape), PathBuf::from(&to).join(name))?;
    }
    Ok(())
}

fn write(segment: &ForgedSegment, to: PathBuf) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(to.join("segments"))?;
    let segment = segment.write();
    let catalog = agreeing(SEGMENT, &segment);
    for (name, bytes) in files(&catalog, Some((SEGMENT, &segment))) {
        std::fs::write(to.join(name.to_string()), bytes)?;
    }
    // The file that marks the directory as a store, and the table of an epoch.
    for name in [FileName::Lock, FileName::Df(4)] {
        std::fs::write(to.join(name.to_string()), golden(name))?;
    }
    Ok(())
}
