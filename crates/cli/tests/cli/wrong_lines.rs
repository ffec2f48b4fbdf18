//! Wrong command lines, and the suggestions of the tool.

use super::*;

#[test]
fn wrong_command_line_suggests_the_right_one() {
    let place = TestFolder::with(CRAWL);
    for (line, hint) in [
        ("store stats", "Write: simkeep stats store"),
        ("store", "Write: simkeep inspect store"),
        ("list store", "Write: simkeep scan store"),
        ("dup store", "Write: simkeep dedup store"),
        ("search store https://example.com/", "Write: simkeep near store https://example.com/"),
        ("help nearest", "Write: simkeep help near"),
        ("history example.com/terms", "Write: simkeep history store example.com/terms"),
        ("near https://example.com/", "write simkeep near store https://example.com/"),
        ("near store", "Example: simkeep near crawl.simkeep https://example.com/terms"),
        ("scan --prefix example.com store", "Write: simkeep scan --under example.com store"),
        ("scan --prefix=example.com store", "Write: simkeep scan --under=example.com store"),
        ("history store u --as-of 3d", "Write: simkeep history store u --at 3d"),
        ("due store --budget 9", "Write: simkeep due store --limit 9"),
        ("near store 0123456789abcdef --distance 3", "near store 0123456789abcdef -k 3"),
        ("due store --since 3d", "--since is an option of: cluster, export, diff"),
        (
            "load store a.jsonl --recipe near",
            "Before you load, write: simkeep epoch begin store --recipe near",
        ),
        ("load store a.jsonl --recipe=strict", "simkeep epoch begin store --recipe strict"),
        ("ingest --recipe near a.jsonl", "simkeep epoch begin --recipe near"),
        ("inspect https://example.com/", "write simkeep inspect page store https://example.com/"),
        (
            "inspect store https://example.com/",
            "Write: simkeep inspect page store https://example.com/",
        ),
        ("inspect store segment 1", "Write: simkeep inspect segment store 1"),
        ("epoch store", "Write: simkeep epoch list store"),
        ("df store", "Write: simkeep df list store"),
        ("repair store saved", "Write: simkeep repair store --to saved"),
        ("publish store public", "Write: simkeep publish store --to public"),
        ("export store out.csv", "Write: simkeep export store --output out.csv"),
        ("report store report.html", "Write: simkeep report store --output report.html"),
        ("aliases store example.com", "Write: simkeep aliases store --under example.com"),
        ("dedup store corpus.jsonl", "Write: simkeep dedup store --filter corpus.jsonl"),
        ("backup store", "Example: simkeep backup crawl.simkeep /backup/crawl.simkeep"),
        ("near store terms.html", "use --url, --text, --html or --fingerprint"),
        ("verify --store", "Try: simkeep help verify"),
        ("epoch begin --foo", "Try: simkeep help epoch begin"),
        ("look", "Try: simkeep help"),
        ("near https://example.com/ store", "write simkeep near store https://example.com/"),
        ("scan store --no-headers", "Write: simkeep scan store --no-header"),
        ("backup store --to saved", "Write: simkeep backup store saved"),
        ("backup store --to=saved", "Write: simkeep backup store saved"),
        ("history store --url u", "Write: simkeep history store u"),
        ("diff store", "Write: simkeep diff store --since 3d, or name two stores"),
        (
            "diff store --under example.com",
            "Write: simkeep diff store --since 3d, or name two stores",
        ),
        ("near store 0123456789abcdef -k -1", "-1 is not in 0..=64"),
        ("dedup store --resemblance 2", "write a number from 0 to 1, such as 0.8"),
        ("dedup store --sample x", "write a whole number"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_simkeep"));
        command.args(&args).env_remove("SIMKEEP_STORE").current_dir(place.path("."));
        let ran = ToolRun::from(command.output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}");
        assert!(ran.err.contains(hint), "{line}: {}", ran.err);
        assert!(!ran.err.contains("tip: to pass"), "{line}: {}", ran.err);
        // The hint comes before the usage.
        let usage = ran.err.find("Usage:").unwrap_or(usize::MAX);
        assert!(ran.err.find(hint).is_some_and(|at| at < usage), "{line}: {}", ran.err);
    }
}

#[test]
fn refusals_say_what_to_do() {
    let place = TestFolder::with(CRAWL);
    for (line, code, hint) in [
        ("forget example.com", 1, "not known in this store; --under example.com forgets all pages"),
        ("publish --to store", 5, "store is a store: name another directory"),
        ("repair --to store", 5, "is already a simkeep store; name a new or empty directory"),
    ] {
        let ran = place.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(hint), "{line}: {}", ran.err);
    }
    let _writer = place.open();
    let ran = place.run(&["compact"]);
    assert!(ran.err.contains("verbs that only read") && !ran.err.contains("Reader"), "{}", ran.err);
}
