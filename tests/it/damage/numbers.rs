//! Wrong numbers in a segment behind valid checksums.

use std::sync::Arc;

use simkeep::disk::{Disk, FileName, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep_testing::forge::golden::{SEGMENTS, agreeing, files, golden};
use simkeep_testing::forge::segment::ForgedSegment;

/// The numbers in `format/segment.md`, each with the change that makes it wrong: all but the sequence
/// numbers, which the catalog has too, the tier, and the time of writing.
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
        let sound = ForgedSegment::read(&golden(FileName::Segment(id)));
        assert!(
            sound.write() == golden(FileName::Segment(id)),
            "what is made by hand is like the rest"
        );
        for (number, by) in [(3, 0)].into_iter().chain(WRONG) {
            let mut segment = sound.clone();
            segment.numbers[number] = segment.numbers[number].wrapping_add_signed(by);
            let file = segment.write();
            let files = files(&agreeing(id, &file), Some((id, &file)));
            let disk: Arc<dyn Disk> = Arc::new(SimDisk::of(files));
            // Table files are missing, which does not matter here.
            let of = [FileName::Segment(id).to_string(), "segments".to_owned()];
            let flaws = verify(disk, VerifyOptions::default()).unwrap().flaws;
            let found = flaws.iter().any(|flaw| of.contains(&flaw.file));
            assert_eq!(found, by != 0, "number {number} of segment {id}: {flaws:?}");
        }
    }
}
