//! The numbers of a segment that are not true, behind checksums that hold.

use std::sync::Arc;

use simkeep::disk::{Disk, Name, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep_testing::forge::golden::{SEGMENTS, agreeing, files, golden};
use simkeep_testing::forge::segment::Segment;

/// Of the numbers in `format/segment.md`, by how much each may be wrong: all but the sequence numbers,
/// which the catalog has too, the tier, and when it was written.
const WRONG: [(usize, i64); 10] = [
    (3, 1),
    (4, -1),
    (5, 1),
    (6, 1),
    (7, -1),
    (9, 1),
    (10, -1),
    (11, 86_400_000),
    (12, -86_400_000),
    (13, -1),
];

#[test]
fn verify_finds_each_wrong_number_in_a_segment() {
    for id in SEGMENTS {
        let sound = Segment::read(&golden(Name::Segment(id)));
        assert!(
            sound.write() == golden(Name::Segment(id)),
            "what is made by hand is like the rest"
        );
        for (number, by) in [(3, 0)].into_iter().chain(WRONG) {
            let mut segment = sound.clone();
            segment.numbers[number] = segment.numbers[number].wrapping_add_signed(by);
            let file = segment.write();
            let files = files(&agreeing(id, &file), Some((id, &file)));
            let disk: Arc<dyn Disk> = Arc::new(SimDisk::of(files));
            // The files of tables are not there, which is not what this is about.
            let of = [Name::Segment(id).to_string(), "segments".to_owned()];
            let flaws = verify(disk, VerifyOptions::default()).unwrap().flaws;
            let found = flaws.iter().any(|flaw| of.contains(&flaw.file));
            assert_eq!(found, by != 0, "number {number} of segment {id}: {flaws:?}");
        }
    }
}
