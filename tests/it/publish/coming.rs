//! Generations that are being copied: torn, empty or truncated ones, and incomplete files.

use simkeep::verify::{VerifyOptions, verify};

use super::damage::damage;
use super::*;

/// A directory with two generations; the second one has its own files.
fn two() -> (Store, SimDisk) {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options().copy(true)).unwrap();
    go_on(&store);
    store.publish(on(&to), options().copy(true)).unwrap();
    (store, to)
}

fn length(disk: &SimDisk, name: FileName) -> u64 {
    disk.open(name, Access::Read).unwrap().size().unwrap()
}

fn cut(disk: &SimDisk, name: FileName, len: u64) {
    disk.open(name, Access::Write).unwrap().set_len(len).unwrap();
}

/// The generation that is read, and the newer incomplete one.
fn read(disk: &SimDisk) -> (Option<u64>, Option<u64>) {
    let reader = Reader::published(on(disk), None).unwrap();
    let also = Reader::open(on(disk)).unwrap();
    assert_eq!((also.generation(), also.incomplete()), (reader.generation(), reader.incomplete()));
    (reader.generation(), reader.incomplete().map(|newer| newer.generation))
}

#[test]
fn torn_or_truncated_generation_is_skipped_until_whole() {
    let (_store, to) = two();
    assert_eq!(read(&to), (Some(2), None));
    let newest = FileName::Generation(2);
    let bytes = length(&to, newest);
    for len in (0..bytes).step_by(7).chain([bytes - 1]) {
        let torn = to.crash_all_kept();
        cut(&torn, newest, len);
        assert_eq!(read(&torn), (Some(1), Some(2)), "{len}");
        // As if its space had been allocated in advance.
        cut(&torn, newest, bytes);
        assert_eq!(read(&torn), (Some(1), Some(2)), "{len}");
    }
    let torn = to.crash_all_kept();
    cut(&torn, newest, 0);
    let mut reader = Reader::published(on(&torn), None).unwrap();
    let why = reader.incomplete().unwrap().why.clone();
    assert!(
        why.contains("generations/0000000002 is cut short, or is still being written"),
        "{why}"
    );
    assert!(!reader.refresh().unwrap());
    assert_eq!(reader.incomplete().unwrap().generation, 2);
    assert!(Reader::published(on(&torn), 2).is_err());
    // Everything arrives.
    let mut whole = vec![0; usize::try_from(bytes).unwrap()];
    to.open(newest, Access::Read).unwrap().read_at(0, &mut whole).unwrap();
    torn.open(newest, Access::Write).unwrap().write_at(0, &whole).unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!((reader.generation(), reader.incomplete()), (Some(2), None));
    assert_eq!(read(&torn), (Some(2), None));
}

#[test]
fn readers_stay_with_the_previous_generation_until_complete() {
    let (store, to) = two();
    let mut reader = Reader::published(on(&to), None).unwrap();
    store.observe(Observation::gone(URLS[0], ms(9_000))).unwrap();
    let more = to.crash_all_kept();
    store.publish(on(&more), options()).unwrap();
    let newest = FileName::Generation(3);
    let file = to.open(newest, Access::Create).unwrap();
    assert!(!reader.refresh().unwrap());
    assert_eq!((reader.generation(), reader.incomplete().unwrap().generation), (Some(2), 3));
    file.write_at(0, b"simkgen\0").unwrap();
    assert!(!reader.refresh().unwrap());
    assert_eq!((reader.generation(), reader.incomplete().unwrap().generation), (Some(2), 3));
    assert_eq!(reader.behind(), 0);
    // It is removed again.
    to.remove(newest).unwrap();
    assert!(!reader.refresh().unwrap());
    assert_eq!(reader.incomplete(), None);
}

#[test]
fn generation_with_a_truncated_file_is_skipped() {
    let (_store, to) = two();
    let files = |number| -> Vec<String> {
        files(on(&to), number).unwrap().into_iter().map(|file| file.name).collect()
    };
    let (first, second) = (files(1), files(2));
    let names = names(&to, Dir::Files).into_iter();
    let new: Vec<FileName> = names
        .filter(|name| {
            let name = name.to_string();
            second.contains(&name) && !first.contains(&name)
        })
        .collect();
    assert!(!new.is_empty());
    for name in new {
        let bytes = length(&to, name);
        for len in [0, 1, bytes / 2, bytes - 1] {
            let short = to.crash_all_kept();
            cut(&short, name, len);
            assert_eq!(read(&short), (Some(1), Some(2)), "{name} {len}");
            let why = Reader::open(on(&short)).unwrap().incomplete().unwrap().why.clone();
            assert_eq!(why, format!("{name} has {len} of {bytes} bytes"));
            assert!(Reader::published(on(&short), 2).is_err());
            let verified = verify(on(&short), VerifyOptions::default()).unwrap();
            assert!(verified.is_sound(), "{:?}", verified.flaws);
        }
    }
    // A table of the first generation, which is the only one then.
    let table = first.iter().find(|name| name.ends_with(".df")).unwrap();
    let alone = to.crash_all_kept();
    alone.remove(FileName::Generation(2)).unwrap();
    let name = *super::names(&alone, Dir::Files).iter().find(|n| n.to_string() == *table).unwrap();
    cut(&alone, name, 10);
    let error = Reader::open(on(&alone)).unwrap_err().to_string();
    assert!(error.contains(table) && error.contains("cut short"), "{error}");
}

#[test]
fn whole_but_damaged_generation_is_an_error() {
    let (_store, to) = two();
    let first =
        to.contents().into_iter().find(|(name, _)| *name == FileName::Generation(1)).unwrap().1;
    let renamed = to.crash_all_kept();
    renamed.open(FileName::Generation(3), Access::Create).unwrap().write_at(0, &first).unwrap();
    let error = Reader::published(on(&renamed), None).unwrap_err().to_string();
    assert!(
        error.contains("it contains generation 1, but has the name of another generation"),
        "{error}"
    );
    // The last byte of a complete segment.
    let newest = files(on(&to), 2).unwrap().remove(0).name;
    let name = *names(&to, Dir::Files).iter().find(|name| name.to_string() == newest).unwrap();
    let flipped = to.crash_all_kept();
    let last = length(&flipped, name) - 1;
    let file = flipped.open(name, Access::Write).unwrap();
    let mut byte = [0];
    file.read_at(last, &mut byte).unwrap();
    file.write_at(last, &[!byte[0]]).unwrap();
    let error = Reader::published(on(&flipped), None).unwrap_err().to_string();
    assert!(error.contains(&newest), "{error}");
    let verified = verify(on(&flipped), VerifyOptions::default()).unwrap();
    assert_eq!(verified.flaws[0].file, newest);
    let middle = to.crash_all_kept();
    damage(&middle, name);
    assert!(!verify(on(&middle), VerifyOptions::default()).unwrap().is_sound());
}

#[test]
fn without_a_whole_generation_the_newest_is_reported() {
    let (_store, to) = two();
    for number in [1, 2] {
        cut(&to, FileName::Generation(number), 30);
    }
    let error = Reader::published(on(&to), None).unwrap_err();
    assert!(
        matches!(&error, Error::Corrupt(flaw) if flaw.file == "generations/0000000002"),
        "{error}"
    );
    let verified = verify(on(&to), VerifyOptions::default()).unwrap();
    assert_eq!(verified.flaws[0].file, "generations/0000000002");
}
