//! `verify` and `repair`.

use simkeep_testing::ms;
use std::path::PathBuf;

use simkeep::load::LoadOptions;
use simkeep::{Observation, Options, Store};

use super::{CRAWL, TestFolder, files};

/// The only segment of a store.
fn segment(place: &TestFolder) -> PathBuf {
    let segments = std::fs::read_dir(place.store().join("segments")).unwrap();
    segments.map(|entry| entry.unwrap().path()).next().unwrap()
}

/// A folder whose store has all its data in one segment.
fn sealed() -> TestFolder {
    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    place
}

/// Changes a byte of the segment.
fn damage(place: &TestFolder, offset: usize) {
    let segment = segment(place);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[offset] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
}

#[test]
fn verify_accepts_a_sound_store_and_reports_every_flaw() {
    let place = sealed();
    assert!(place.done(&["verify"]).starts_with("sound: 3 files, "));
    assert!(place.done(&["verify", "--rate", "1G"]).starts_with("sound: "));
    let verified = place.run(&["verify", "--json"]).objects().remove(0);
    assert_eq!((&verified["sound"], &verified["pages"]), (&true.into(), &4.into()));
    assert_eq!(verified["visits"], 10);
    // Pages, and the page index behind them.
    let len = std::fs::metadata(segment(&place)).unwrap().len();
    damage(&place, 70);
    damage(&place, usize::try_from(len - 1).unwrap() / 2);
    let ran = place.run(&["verify"]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""));
    assert!(ran.out.contains("damaged: 2 flaws in 3 files, "), "{}", ran.out);
    let segment = segment(&place);
    let name = segment.file_name().unwrap().to_str().unwrap();
    assert_eq!(ran.out.lines().filter(|line| line.contains(name)).count(), 2, "{}", ran.out);
    let ran = place.run(&["verify", "--json"]);
    let verified = &ran.objects()[0];
    assert_eq!((ran.code, &verified["sound"]), (4, &false.into()));
    assert_eq!(verified["flaws"][0]["offset"], 64, "{verified}");
}

#[test]
fn sound_store_is_repaired_whole() {
    let place = sealed();
    let before = files(&place.store());
    let shown = place.done(&["repair", "--to", "saved"]);
    assert!(shown.contains("saved: 4 pages, 10 visits") && shown.contains("lost: nothing"));
    assert!(files(&place.store()) == before, "it was written to");
    let export = place.export();
    assert_eq!(place.done(&["export", "--store", "saved"]), export);
    let again = place.run(&["repair", "--to", "saved"]);
    assert_eq!(again.code, 5, "{}", again.err);
}

#[test]
fn damaged_pages_are_reported_with_bytes_and_exit_code_4() {
    let place = sealed();
    damage(&place, 70);
    let ran = place.run(&["repair", "--to", "saved"]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""));
    assert!(ran.out.contains("4 records of pages among operations 1 to 10"), "{}", ran.out);
    place.done(&["verify", "--store", "saved"]);
    let ran = place.run(&["repair", "--to", "other", "--json"]);
    let repaired = &ran.objects()[0];
    assert_eq!((ran.code, &repaired["lost_visits"]), (4, &10.into()), "{repaired}");
    assert_eq!(repaired["lost"][0]["offset"], 64);
}

#[test]
fn damaged_byte_of_a_segment_frame_loses_nothing() {
    let place = sealed();
    let export = place.export();
    let len = usize::try_from(std::fs::metadata(segment(&place)).unwrap().len()).unwrap();
    let sound = std::fs::read(segment(&place)).unwrap();
    // In the head, the section table, and the trailer.
    for offset in [20, len - 100, len - 20] {
        damage(&place, offset);
        assert_eq!(place.run(&["verify"]).code, 4);
        let ran = place.run(&["repair", "--to", "saved"]);
        assert!(ran.out.ends_with("saved: 4 pages, 10 visits\nlost: nothing\n"), "{}", ran.out);
        assert_eq!((ran.code, place.done(&["export", "--store", "saved"])), (0, export.clone()));
        std::fs::remove_dir_all(place.path("saved")).unwrap();
        std::fs::write(segment(&place), &sound).unwrap();
    }
    // The catalog and the trailer have everything that the head has.
    std::fs::write(segment(&place), [&[0; 64], &sound[64..]].concat()).unwrap();
    let ran = place.run(&["repair", "--to", "saved"]);
    assert!(ran.out.ends_with("lost: nothing\n"), "{}", ran.out);
}

#[test]
fn lost_segment_is_named_in_the_summary() {
    let place = sealed();
    let sound = std::fs::read(segment(&place)).unwrap();
    std::fs::write(segment(&place), &sound[..sound.len() - 1]).unwrap();
    let ran = place.run(&["repair", "--to", "saved"]);
    let summary = "lost: all pages and visits in segments/0000000001.seg (at most 10 operations)\n";
    assert!(ran.code == 4 && ran.out.ends_with(summary), "{}", ran.out);
}

#[test]
fn ambiguous_repair_is_refused_unless_requested() {
    let place = sealed();
    place.ingest_beginning(
        r#"{"url":"https://example.net/","t":"2024-02-01T00:00:00Z","fingerprint":"00000000000000ff"}"#,
    );
    // The journal is lost, and with it its forget operations and the names of the epochs.
    std::fs::remove_file(place.store().join("SNAPSHOT")).unwrap();
    std::fs::write(place.store().join("catalog.redb"), "").unwrap();
    let ran = place.run(&["repair", "--to", "saved"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""));
    assert!(ran.err.contains("--keep-forgotten") && ran.err.contains("operations 11 to 11"));
    assert!(!place.path("saved/catalog.redb").exists());
    let ran = place.run(&["repair", "--to", "saved", "--keep-forgotten"]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""));
    assert!(ran.out.contains("saved: 4 pages, 10 visits"), "{}", ran.out);
    assert!(ran.out.contains("unknown-0"), "{}", ran.out);
    place.done(&["verify", "--store", "saved"]);
}

/// The files that a killed repair, or a load into a new store, leaves under a name.
fn unfinished(place: &TestFolder, name: &str) {
    let (made, copy) = (place.path("made"), place.path(name));
    let observations = (0..3).map(|n| {
        if n == 2 {
            std::fs::create_dir_all(copy.join("segments")).unwrap();
            for file in ["LOCK", "catalog.redb"] {
                std::fs::copy(made.join(file), copy.join(file)).unwrap();
            }
        }
        Ok(Observation::gone("https://example.com/", ms(n)))
    });
    let options = Options::default().background(false);
    let made = Store::create_from(&made, options, observations, LoadOptions::default());
    drop(made.unwrap());
    std::fs::remove_dir_all(place.path("made")).unwrap();
}

#[test]
fn unfinished_store_is_none_until_created_again() {
    let place = sealed();
    let store = place.store();
    for (make, code) in [
        (&["repair", "--to", "new"][..], 0),
        (&["load", store.to_str().unwrap(), "--store", "new"], 0),
        (&["ingest", "-", "--store", "new"], 0),
        (&["epoch", "begin", "--recipe", "strict", "--store", "new"], 0),
    ] {
        unfinished(&place, "new");
        for verb in ["verify", "stats", "export", "epoch list", "forget x", "repair --to other"] {
            let args: Vec<&str> = verb.split(' ').chain(["--store", "new"]).collect();
            let ran = place.run(&args);
            assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{verb}");
            assert!(ran.err.contains("new is an unfinished store"), "{verb}: {}", ran.err);
        }
        let ran = place.run_with_input(make, CRAWL);
        assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{make:?}");
        place.done(&["verify", "--store", "new"]);
        if make[0] != "epoch" {
            assert_eq!(place.done(&["export", "--store", "new"]), place.export());
        }
        std::fs::remove_dir_all(place.path("new")).unwrap();
    }
}

#[test]
fn every_verb_suggests_repair_if_the_catalog_is_missing() {
    let place = sealed();
    std::fs::remove_file(place.store().join("catalog.redb")).unwrap();
    let before = files(&place.store());
    for verb in [
        "stats",
        "inspect",
        "verify",
        "scan",
        "report -o report.html",
        "export -o out.jsonl",
        "history https://example.com/",
        "near 00000000000000ff",
        "pairs",
        "due",
        "recrawl https://example.com/",
        "aliases",
        "mirrors",
        "cluster",
        "tail",
        "compact",
        "publish --to published",
        "backup copy",
        "forget https://example.com/",
        "epoch list",
        "epoch begin --recipe strict",
        "ingest -",
        "load -",
    ] {
        let args: Vec<&str> = verb.split(' ').collect();
        let ran = place.run_with_input(&args, CRAWL);
        assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{verb}: {}", ran.err);
        let is_right = ran.err.contains("it has no catalog.redb, but 1 segment file;")
            && ran.err.contains("simkeep repair STORE --to NEW");
        assert!(is_right && !ran.err.contains("ingest"), "{verb}: {}", ran.err);
    }
    assert_eq!(files(&place.store()), before);
    // An unreadable catalog is damage, and the same verb is suggested.
    place.write("store/catalog.redb", "");
    let ran = place.run(&["stats"]);
    assert!(ran.code == 4 && ran.err.contains("simkeep repair"), "{}", ran.err);
    std::fs::remove_file(place.store().join("catalog.redb")).unwrap();
    let ran = place.run(&["repair", "--to", "saved", "--keep-forgotten"]);
    assert!(ran.out.contains("saved: 4 pages, 10 visits"), "{}{}", ran.out, ran.err);
}

#[test]
fn unsealed_store_without_its_header_is_saved_whole() {
    let place = TestFolder::with(CRAWL);
    let export = place.export();
    assert!(!place.store().join("segments/0000000001.seg").exists());
    let catalog = place.store().join("catalog.redb");
    let sound = std::fs::read(&catalog).unwrap();
    let mut without_header = sound.clone();
    without_header[..4096].fill(0);
    for damaged in [&without_header, &sound[..sound.len() - 1]] {
        std::fs::write(&catalog, damaged).unwrap();
        let ran = place.run(&["repair", "--to", "saved"]);
        assert!(ran.out.ends_with("saved: 4 pages, 10 visits\nlost: nothing\n"), "{}", ran.out);
        assert_eq!(place.done(&["export", "--store", "saved"]), export);
        std::fs::remove_dir_all(place.path("saved")).unwrap();
    }
    // The bytes of a frame are named and counted.
    let url = sound.windows(19).rposition(|bytes| bytes == b"https://example.com").unwrap();
    let mut flipped = without_header;
    flipped[url + 2] ^= 1;
    std::fs::write(&catalog, flipped).unwrap();
    let ran = place.run(&["repair", "--to", "saved"]);
    let is_named = ran.out.contains("lost in catalog.redb, operations 1 to ")
        && ran.out.contains("damaged: 1 frame of the journal");
    assert!(ran.code == 4 && is_named, "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("\nlost: at most ") && ran.out.ends_with(" operations of the journal\n")
    );
    let ran = place.run(&["repair", "--to", "other", "--json"]);
    let repaired = &ran.objects()[0];
    assert_eq!((ran.code, &repaired["damaged_frames"]), (4, &1.into()), "{repaired}");
}
