//! A killed tool, and a store that is left as it was.

use super::*;

/// Observations of few pages, so that most change known pages.
fn crawl() -> String {
    let mut lines = String::new();
    let mut random = 1_u64;
    for number in 0..2500_u64 {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let page = (random >> 33) % 400;
        let rest = match (random >> 50) % 10 {
            0 => r#""seen":"gone""#.to_owned(),
            1 => r#""seen":"not-modified","status":304"#.to_owned(),
            version => format!(r#""fingerprint":"{:016x}""#, page * 0x9e37_79b9 + version),
        };
        lines +=
            &format!("{{\"url\":\"http://h{}.example/{page}\",\"t\":{number},{rest}}}\n", page % 7);
    }
    lines
}

#[test]
fn killed_ingest_ends_with_the_same_store_when_rerun() {
    const KILLS: usize = 5;
    let lines = crawl();
    let undisturbed = TestFolder::with(&lines);
    let place = TestFolder::new();
    let path = place.write("crawl.jsonl", &lines);
    // The number of the last operation is noted there.
    let mark = || {
        let lock = std::fs::read(place.store().join("LOCK")).unwrap_or_default();
        lock.get(8..16).map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
    };
    let mut visits = 0;
    for kill in 1..=KILLS {
        // It is killed after it has stored something and before it has stored everything, however fast
        // the disk is.
        let command = &["ingest", "-", "--group-size", "7"];
        let mut child = place.command(command).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let before = mark();
        stdin.write_all(&lines.as_bytes()[..lines.len() * kill / (KILLS + 1)]).unwrap();
        while mark() == before {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        place.done(&["verify"]);
        let stats = place.run(&["stats", "--json"]).objects().remove(0);
        let before = visits;
        visits = stats["visits"].as_u64().unwrap();
        assert!(visits > before, "{visits} after {before}");
    }
    place.done(&["ingest", &path]);
    place.done(&["verify"]);
    assert_eq!(place.export(), undisturbed.export());
}

#[test]
fn reading_verbs_change_no_file_of_a_crashed_store() {
    use std::os::unix::fs::PermissionsExt;

    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    let mut child =
        place.command(&["ingest", "-", "--group-size", "1"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(crawl().as_bytes());
    child.kill().unwrap();
    child.wait().unwrap();

    // A read-only copy of the remaining files.
    let copy = TestFolder::new();
    for (path, _, bytes) in files(&place.store()) {
        let name = Path::new("store").join(path.strip_prefix(place.store()).unwrap());
        copy.write(name.to_str().unwrap(), bytes);
    }
    let folders = [copy.store(), copy.store().join("segments")];
    let allow = |mode| {
        for folder in &folders {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
        }
    };
    allow(0o555);
    let before = files(&copy.store());
    let url = "https://example.com/terms";
    for args in [
        &["stats"][..],
        &["verify"],
        &["scan"],
        &["export"],
        &["history", url],
        &["history", url, "--at", "2030"],
        &["near", "--url", url],
        &["near", "00000000000000ff", "--epoch", "e", "--ever"],
    ] {
        copy.done(args);
        assert!(files(&copy.store()) == before, "{args:?} changed a file");
    }
    let export = copy.export();
    allow(0o755);
    // Equal to what a writer recovers.
    copy.open().close().unwrap();
    assert_eq!(copy.export(), export);
}
