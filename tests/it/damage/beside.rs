//! Damage of a store that somebody writes to.

use simkeep::disk::{Access, Disk, Name, SimDisk};
use simkeep::integrity::{VerifyOptions, verify};

use simkeep_testing::model::Model;
use simkeep_testing::sample::fill;
use simkeep_testing::{create, on, small};

#[test]
fn verify_beside_a_writer_names_every_flaw() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for seed in 1..5 {
        fill(&store, &mut Model::default(), seed, 10);
        store.seal().unwrap();
    }
    let segments: Vec<Name> =
        store.stats().unwrap().segments.iter().map(|s| Name::Segment(s.id)).collect();
    assert!(segments.len() > 3, "{segments:?}");
    assert!(verify(on(&disk), VerifyOptions::default()).unwrap().is_sound());
    let flip = |name: Name, offset: fn(u64) -> u64| {
        let file = disk.open(name, Access::Write).unwrap();
        let at = offset(file.size().unwrap());
        let mut byte = [0];
        file.read_at(at, &mut byte).unwrap();
        file.write_at(at, &[!byte[0]]).unwrap();
    };
    // What the segment says of itself, and the first of its blocks.
    flip(segments[0], |len| len - 1);
    flip(segments[2], |_| 64);
    disk.remove(segments[3]).unwrap();
    let verified = verify(on(&disk), VerifyOptions::default()).unwrap();
    let mut named: Vec<&str> = verified.flaws.iter().map(|flaw| flaw.file.as_str()).collect();
    named.sort_unstable();
    let expected = [segments[0], segments[2], segments[3]].map(|name| name.to_string());
    assert_eq!(named, expected);
    assert_eq!(verified.files, segments.len() + 1);
}
