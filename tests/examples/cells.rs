//! Writes a copy of the golden store one of whose segments has cells, which no store so small would
//! have. `format/check/run` reads it.

use std::error::Error;
use std::path::PathBuf;

use simkeep::disk::Name;
use simkeep_testing::forge::golden::{agreeing, files, golden};
use simkeep_testing::forge::segment::Segment;

/// The largest of the golden segments.
const SEGMENT: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let to = std::env::args_os().nth(1).ok_or("cells DIRECTORY: where to write the store")?;
    let to = PathBuf::from(to);
    std::fs::create_dir_all(to.join("segments"))?;
    let segment = Segment::read(&golden(Name::Segment(SEGMENT))).with_cells(0).write();
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
