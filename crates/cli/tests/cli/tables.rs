//! The header lines of tables.

use super::*;

/// Runs the tool with header lines.
fn run(place: &Place, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simkeep"));
    command.args(args).env("SIMKEEP_STORE", place.store()).current_dir(place.path("."));
    Ran::from(command.output().unwrap())
}

#[test]
fn table_has_a_header_line_unless_suppressed() {
    let place = Place::with(CRAWL);
    let terms = "https://example.com/terms";
    for (args, columns) in [
        (&["scan"][..], "last visit (UTC) fingerprint visits URL"),
        (&["history", terms], "visit (UTC) status fingerprint epoch digest verdict"),
        (&["near", terms, "-k", "64"], "bits change fingerprint URL"),
        (&["due"], "value last visit (UTC) every URL"),
        (&["due", "--by-host"], "pages best sum host"),
        (&["epoch", "list"], "epoch role state minor moderate fingerprints name"),
        (&["tail"], "operation time (UTC) verdict URL"),
        (&["diff", "--since", "2024-01-01"], "verdict bits priority URL"),
    ] {
        let with = run(&place, args);
        let header = with.out.lines().next().unwrap_or_default();
        let words: Vec<&str> = header.split_whitespace().collect();
        assert_eq!(words.join(" "), columns, "{args:?}");
        let without = run(&place, &[args, &["--no-header"]].concat());
        assert_eq!(without.out.lines().count() + 1, with.out.lines().count(), "{args:?}");
        assert!(!without.out.contains(columns), "{args:?}");
        let json = run(&place, &[args, &["--json"]].concat());
        assert!(json.out.lines().all(|line| line.starts_with('{')), "{args:?}");
    }
}

#[test]
fn empty_table_has_only_its_header_line() {
    let place = Place::with(CRAWL);
    let diff = ["diff", "--since", "2030-01-01"];
    assert_eq!(run(&place, &diff).out, "verdict  bits  priority  URL\n");
    assert_eq!(run(&place, &[&diff[..], &["--no-header"]].concat()).out, "");
    assert_eq!(run(&place, &["due", "--under", "example.net", "--urls"]).out, "");
}
