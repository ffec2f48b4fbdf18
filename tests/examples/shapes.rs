//! Writes copies of the golden store one of whose segments has cells, or buckets of several lines, which
//! no store so small would have. `format/check/run` reads them.

use std::error::Error;
use std::path::PathBuf;

use simkeep::disk::Name;
use simkeep::query::{Address, Shape};
use simkeep_testing::forge::golden::{agreeing, files, golden};
use simkeep_testing::forge::segment::Segment;

/// The largest of the golden segments.
const SEGMENT: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args_os().nth(1).ok_or("shapes DIRECTORY: where to write the stores")?;
    let whole = Segment::read(&golden(Name::Segment(SEGMENT)));
    let lines = Shape::Rotations(Address { bits: 4, lines: 3 });
    write(&whole.clone().with_cells(0), PathBuf::from(&to).join("cells"))?;
    write(&whole.with_shape(0, |_| lines), PathBuf::from(&to).join("lines"))
}

fn write(segment: &Segment, to: PathBuf) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(to.join("segments"))?;
    let segment = segment.write();
    let catalog = agreeing(SEGMENT, &segment);
    for (name, bytes) in files(&catalog, Some((SEGMENT, &segment))) {
        std::fs::write(to.join(name.to_string()), bytes)?;
    }
    // The mark, which says that the directory is a store's, and the table of an epoch.
    for name in [Name::Lock, Name::Df(4)] {
        std::fs::write(to.join(name.to_string()), golden(name))?;
    }
    Ok(())
}
