//! `backup` and `compact`.

use super::*;
use simkeep_testing::ms;

/// A store with segments and a journal.
fn place() -> TestFolder {
    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    for n in 0..3 {
        let line = format!("{{\"url\":\"http://b{n}.example/\",\"t\":{n},\"fingerprint\":\"0f\"}}");
        place.ingest(&line.replace("\"0f\"", "\"000000000000000f\",\"epoch\":\"e\""));
        if n < 2 {
            place.open().seal().unwrap();
        }
    }
    place
}

/// The answers of a store.
fn answers(place: &TestFolder, store: &str) -> String {
    place.done(&["export", "--store", store])
}

fn stats(place: &TestFolder, store: &str) -> Value {
    place.run(&["stats", "--json", "-s", store]).objects().remove(0)
}

/// Runs a command that alone, with its children, sees a small disk mounted on `disk`. Returns `None` if
/// mounting is not allowed.
pub(super) fn on_small_disk(place: &TestFolder, kib: u32, script: &str) -> Option<ToolRun> {
    std::fs::create_dir_all(place.path("disk")).unwrap();
    let script = format!("mount -t tmpfs -o size={kib}k tmpfs disk || exit 99; {script}");
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", &script, env!("CARGO_BIN_EXE_simkeep")]);
    command.env("SIMKEEP_STORE", place.store()).current_dir(place.dir.path());
    let ran = ToolRun::from(command.stdin(Stdio::null()).output().ok()?);
    let allowed = ran.code != 99 && !ran.err.contains("unshare");
    if !allowed {
        println!("skipped: {}", ran.err);
    }
    allowed.then_some(ran)
}

#[test]
fn backup_is_created_and_updated_during_writing() {
    let place = place();
    let said = place.done(&["backup", "safe"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("backed up and checked: 7 pages, "), "{said}");
    assert!(
        lines[1].starts_with("linked    3 files, ") && lines[1].contains(": shared with the store"),
        "{said}"
    );
    assert!(lines[2].starts_with("written   ") && lines.len() == 3, "{said}");
    assert_eq!(answers(&place, "safe"), place.export());
    assert!(place.done(&["verify", "-s", "safe"]).starts_with("sound: "));
    assert_eq!(place.run(&["ingest", "--help"]).code, 0);

    let writer = place.open();
    let url = "http://c.example/";
    writer.observe(simkeep::Observation::gone(url, ms(7))).unwrap();
    let again = place.run(&["backup", "safe", "--json"]).objects().remove(0);
    let sequence = |n: u64| -> Value { (writer.snapshot().sequence() - n).into() };
    assert_eq!((&again["sequence"], &again["earlier_sequence"]), (&sequence(0), &sequence(1)));
    assert_eq!((&again["kept_files"], &again["linked_files"]), (&3.into(), &0.into()));
    assert_eq!(again["written_bytes"], again["catalog_bytes"]);
    assert_eq!(again["not_linked"], Value::Null);
    assert_eq!(place.run(&["history", url, "--store", "safe"]).code, 0);
    let copied = place.run(&["backup", "copy", "--copy", "--json"]).objects().remove(0);
    assert_eq!((&copied["copied_files"], &copied["linked_files"]), (&3.into(), &0.into()));
    assert_eq!(answers(&place, "copy"), answers(&place, "safe"));
}

#[test]
fn directory_that_is_not_a_backup_is_left_unchanged() {
    let place = place();
    place.done(&["epoch", "begin", "--store", "other"]);
    let refused = |to: &str, why: &str| {
        let before = files(&place.path(to));
        let ran = place.run(&["backup", to]);
        assert_eq!((ran.code, ran.out.as_str()), (5, ""));
        assert!(ran.err.contains(why), "{}", ran.err);
        assert!(files(&place.path(to)) == before, "{to}");
    };
    refused(
        "other",
        "does not contain an earlier state of this store: it belongs to another store; name another",
    );
    place.write("mine/notes", "");
    refused("mine", "it contains other files, such as notes");
    let own = place.store().display().to_string();
    refused(&own, "it is the store itself");
    place.done(&["backup", "safe"]);
    Store::open(place.path("safe"), Options::default()).unwrap().close().unwrap();
    refused("safe", "it was opened for writing after the backup, so it is a separate store now");
}

#[test]
fn backup_of_a_restored_copy_is_not_replaced_by_the_store() {
    let place = place();
    place.done(&["backup", "safe"]);
    let mut copied = Command::new("cp");
    copied.args(["-r", "safe", "restored"]).current_dir(place.dir.path());
    assert!(copied.status().unwrap().success());
    let ingest = |store: &str, name: &str, count: u64| {
        let line =
            |n| format!("{{\"url\":\"http://{name}.example/{n}\",\"t\":1,\"seen\":\"gone\"}}\n");
        place.write("new.jsonl", (0..count).map(line).collect::<String>());
        place.done(&["ingest", "new.jsonl", "--store", store]);
    };
    let first = stats(&place, "safe")["saw"]["sequence"].as_u64().unwrap();
    ingest("restored", "m", 3);
    place.done(&["backup", "safe", "--store", "restored"]);
    ingest(&place.store().display().to_string(), "n", 4);
    let before = files(&place.path("safe"));
    let ran = place.run(&["backup", "safe"]);
    let differ = format!(
        "safe does not contain an earlier state of this store: its operations from {} on differ from \
         the store's; name another directory",
        first + 1
    );
    assert!((ran.code, ran.out.as_str()) == (5, "") && ran.err.contains(&differ), "{}", ran.err);
    assert!(files(&place.path("safe")) == before);
    assert_eq!(answers(&place, "safe"), answers(&place, "restored"));
    place.done(&["backup", "other"]);
}

#[test]
fn full_disk_leaves_no_partial_backup() {
    let place = place();
    // The store is some hundred KiB larger than the free space.
    let many: String = (0..9000)
        .map(|n| format!("{{\"url\":\"http://many.example/{n}\",\"t\":1,\"seen\":\"gone\"}}\n"))
        .collect();
    let full = "no storage space";
    let script = "\"$0\" backup disk/safe; echo $?; find disk/safe -type f";
    let Some(ran) = on_small_disk(&place, 40, script) else { return };
    assert!(ran.err.to_lowercase().contains("no space left on device"), "{}{full}", ran.err);
    assert_eq!(ran.out, "5\n");
    // The second run needs more space than is left.
    place.write("many.jsonl", &many);
    let script = "\"$0\" backup disk/safe --json || exit 1; \"$0\" ingest many.jsonl >/dev/null || exit 2; \
                  \"$0\" backup disk/safe; echo $?; \"$0\" verify -s disk/safe; \
                  \"$0\" stats -s disk/safe --json; ls disk/safe";
    let ran = on_small_disk(&place, 240, script).unwrap();
    assert!(ran.err.contains("No space left on device"), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    // It is on another file system.
    assert_eq!((&first["linked_files"], &first["copied_files"]), (&0.into(), &3.into()));
    assert!(ran.err.contains("files were copied instead of linked: "), "{}", ran.err);
    assert_eq!(lines[1], "5");
    assert!(lines[2].starts_with("sound: "), "{}", ran.out);
    let stats: Value = serde_json::from_str(lines[3]).unwrap();
    assert_eq!(stats["saw"]["sequence"], first["sequence"]);
    assert_eq!(lines[4..], ["LOCK", "catalog.redb", "segments"]);
}

#[test]
fn compact_dry_run_changes_nothing() {
    let place = place();
    let (before, export) = (files(&place.store()), place.export());
    let store = place.store().display().to_string();
    let dry = place.run(&["compact", "--dry-run", "--json", "-s", &store]).objects().remove(0);
    let sizes = stats(&place, &store);
    assert_eq!(
        (&dry["merged_segments"], &dry["segment_bytes_before"]),
        (&3.into(), &sizes["segment_bytes"])
    );
    assert!(dry["temporary_bytes"].as_u64() >= sizes["segment_bytes"].as_u64());
    let said = place.done(&["compact", "--dry-run"]);
    assert!(
        said.starts_with("3 segments, ") && said.contains("merging all segments would free "),
        "{said}"
    );
    assert!(files(&place.store()) == before);
    let done = place.run(&["compact", "-s", &store, "--json"]).objects().remove(0);
    // Including the journal.
    assert_eq!((&done["dry_run"], &done["merged_segments"]), (&false.into(), &4.into()));
    let sizes = stats(&place, &store);
    assert_eq!(sizes["segments"].as_array().unwrap().len(), 1);
    for of in ["segment_bytes", "catalog_bytes"] {
        assert_eq!(done[of], sizes[of]);
    }
    assert_eq!(place.export(), export);
    assert!(place.done(&["verify"]).starts_with("sound: "));
    let names: Vec<_> = files(&place.store().join("segments")).into_iter().map(|f| f.0).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let again = place.done(&["compact"]);
    assert!(again.starts_with("nothing to merge\nfreed 0 B: "), "{again}");
}

#[test]
fn compact_without_room_leaves_the_store_whole() {
    let place = place();
    let script = "cp -r \"$SIMKEEP_STORE\" disk/store; fill=$(df -k disk | awk 'END { print $4 - 8 }'); \
                  head -c ${fill}k /dev/zero > disk/fill; \"$0\" compact -s disk/store; echo $?; \
                  rm disk/fill; \"$0\" verify -s disk/store; \"$0\" compact -s disk/store";
    let Some(ran) = on_small_disk(&place, 1000, script) else { return };
    assert!(ran.err.contains("cannot compact disk/store: no storage space"), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0] == "5" && lines[1].starts_with("sound: "), "{}", ran.out);
    assert_eq!(lines[2], "merged 4 segments");
}
