//! Folders that are read repeatedly: the current files count.

use std::time::{Duration, SystemTime};

use super::*;

const WORDS: &str =
    "the harbour office publishes a list of all ships that are expected before noon";

/// Writes a file that was last modified on a day of 2020.
fn put(place: &TestFolder, name: &str, text: &str, day: u64) {
    let path = place.write(name, text);
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800 + day * 86_400);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

fn ingest(place: &TestFolder, more: &[&str]) -> ToolRun {
    place.run(&[&["ingest", "folder", "--json"], more].concat())
}

fn count(ran: &ToolRun, key: &str) -> u64 {
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.objects()[0][key].as_u64().unwrap()
}

fn url(place: &TestFolder, name: &str) -> String {
    format!("file://{}", place.path("folder").canonicalize().unwrap().join(name).display())
}

fn verdicts(place: &TestFolder, name: &str) -> Vec<String> {
    let history = place.run(&["history", &url(place, name), "--json"]).objects();
    history.iter().map(|line| line["verdict"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn restored_file_replaces_the_newer_version() {
    let place = TestFolder::new();
    let (old, new) = (format!("{WORDS} one"), format!("{WORDS} and quite another thing two"));
    put(&place, "folder/a.txt", &old, 1);
    ingest(&place, &[]);
    put(&place, "folder/a.txt", &new, 2);
    ingest(&place, &[]);
    // With its original time, as `cp -p` keeps it.
    put(&place, "folder/a.txt", &old, 1);
    assert_eq!(count(&ingest(&place, &[]), "reverted"), 1);
    assert_eq!(verdicts(&place, "a.txt"), ["new", "changed", "reverted"]);
    // Once more, nothing has changed.
    let again = ingest(&place, &[]);
    assert_eq!((count(&again, "known"), count(&again, "out_of_order")), (1, 0));
    // Another content with a known time.
    put(&place, "folder/a.txt", &format!("{WORDS} three more words here"), 1);
    assert_eq!(count(&ingest(&place, &[]), "changed"), 1);
    // Older than all others, and the same content with an older time.
    put(&place, "folder/a.txt", &new, 0);
    assert_eq!(count(&ingest(&place, &[]), "reverted"), 1);
    put(&place, "folder/a.txt", &new, 1);
    assert_eq!(count(&ingest(&place, &[]), "known"), 1);
    assert_eq!(verdicts(&place, "a.txt").len(), 5);
}

#[test]
fn visit_time_is_now_but_after_the_last_visit() {
    let place = TestFolder::new();
    put(&place, "folder/a.txt", WORDS, 10);
    ingest(&place, &["--now", "2020-02-01"]);
    put(&place, "folder/a.txt", &format!("{WORDS} two"), 5);
    ingest(&place, &["--now", "2020-02-02"]);
    put(&place, "folder/a.txt", &format!("{WORDS} three"), 4);
    // The clock went back.
    ingest(&place, &["--now", "2020-01-20"]);
    let history = place.run(&["history", &url(&place, "a.txt"), "--json"]).objects();
    let times: Vec<&str> = history.iter().map(|line| line["t"].as_str().unwrap()).collect();
    assert_eq!(times, ["2020-01-11T00:00:00Z", "2020-02-02T00:00:00Z", "2020-02-02T00:00:00.001Z"]);
}

#[test]
fn file_times_are_used_unchanged() {
    let place = TestFolder::new();
    put(&place, "folder/a.txt", WORDS, 0);
    let path = place.path("folder/a.txt");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(count(&ingest(&place, &[]), "new"), 1);
    let export = place.export();
    assert!(export.contains("\"t\":\"1970-01-01T00:00:00Z\""), "{export}");
}

#[test]
fn sync_reports_files_missing_from_the_folder() {
    let place = TestFolder::new();
    for name in ["a", "b", "c", "d", "sub/e", "sub/é %.txt"] {
        put(&place, &format!("folder/{name}"), &format!("{WORDS} {name}"), 1);
    }
    put(&place, "folder2/f", WORDS, 1);
    put(&place, "folder/lines.jsonl", "{\"url\":\"http://a/\",\"t\":1,\"seen\":\"gone\"}\n", 1);
    place.done(&["ingest", "folder", "folder2"]);
    // Not a file, but a page whose URL is below that of the folder.
    place.ingest(&format!("{}\n", json!({"url": url(&place, "x/../y"), "t": 1, "text": WORDS})));
    for name in ["folder/a", "folder/sub/é %.txt", "folder2/f"] {
        std::fs::remove_file(place.path(name)).unwrap();
    }
    assert_eq!(count(&ingest(&place, &[]), "gone"), 0);
    assert_eq!(count(&ingest(&place, &["--sync"]), "gone"), 2);
    assert_eq!(verdicts(&place, "a"), ["new", "gone"]);
    // It is reported once.
    assert_eq!(count(&ingest(&place, &["--sync"]), "gone"), 0);
    // A symbolic link is not read.
    std::fs::remove_file(place.path("folder/b")).unwrap();
    std::os::unix::fs::symlink(place.path("folder/c"), place.path("folder/b")).unwrap();
    assert_eq!(count(&ingest(&place, &["--sync"]), "gone"), 1);
    // A file that returns is there again, whatever its time.
    put(&place, "folder/a", &format!("{WORDS} a"), 1);
    ingest(&place, &["--sync"]);
    assert_eq!(verdicts(&place, "a"), ["new", "gone", "reverted"]);
    assert_eq!(place.run(&["ingest", "folder/a", "--sync"]).code, 2);
}

#[test]
fn sync_reports_nothing_if_most_files_are_missing() {
    use std::os::unix::fs::PermissionsExt;

    let place = TestFolder::new();
    for name in ["a", "b", "c", "sub/d"] {
        put(&place, &format!("folder/{name}"), &format!("{WORDS} {name}"), 1);
    }
    ingest(&place, &[]);
    for name in ["a", "b", "c"] {
        std::fs::remove_file(place.path("folder").join(name)).unwrap();
    }
    // New files do not count.
    for name in ["g", "h", "i", "j"] {
        put(&place, &format!("folder/{name}"), &format!("{WORDS} {name}"), 1);
    }
    let refused = ingest(&place, &["--sync"]);
    assert_eq!((refused.code, refused.objects()[0]["new_pages"].as_u64()), (5, Some(4)));
    assert!(refused.said()[0].contains("3 of 4 files"), "{}", refused.err);
    let sub = place.path("folder/sub");
    std::fs::set_permissions(&sub, PermissionsExt::from_mode(0o000)).unwrap();
    let failed = ingest(&place, &["--sync", "--yes"]);
    // Root can read everything.
    let is_root = std::fs::read_dir(&sub).is_ok();
    std::fs::set_permissions(&sub, PermissionsExt::from_mode(0o755)).unwrap();
    if is_root {
        println!("skipped: this user may read every folder");
        assert_eq!(count(&failed, "gone"), 3);
        return;
    }
    assert_eq!(failed.code, 5, "{}", failed.err);
    assert_eq!(count(&ingest(&place, &["--sync", "--yes"]), "gone"), 3);
}

#[test]
fn file_that_became_binary_ends_its_text() {
    let place = TestFolder::new();
    place.write("folder/a.txt", "some words that are a text in a file");
    place.write("folder/image", "\0\x01");
    let ingest =
        |place: &TestFolder| place.run(&["ingest", "folder", "--json"]).objects().remove(0);
    let first = ingest(&place);
    assert_eq!((&first["new"], &first["skipped"]["binary"]), (&1.into(), &1.into()), "{first}");
    place.write("folder/a.txt", "\0\x02 no text");
    let second = ingest(&place);
    assert_eq!((&second["changed"], &second["not_text"]), (&1.into(), &1.into()), "{second}");
    let third = ingest(&place);
    assert_eq!((&third["changed"], &third["known"]), (&0.into(), &1.into()), "{third}");
    place.write("folder/a.txt", "some words that are a text in a file");
    assert_eq!(ingest(&place)["reverted"], 1);
}
