//! The header lines of tables.

use super::*;

#[test]
fn table_has_a_header_line_unless_suppressed() {
    let place = TestFolder::with(CRAWL);
    let terms = "https://example.com/terms";
    for (args, columns) in [
        (&["scan"][..], "last visit (UTC) fingerprint visits URL"),
        (&["history", terms], "visit (UTC) status fingerprint epoch digest verdict"),
        (&["near", terms, "-k", "64"], "bits change fingerprint URL"),
        (&["due"], "value last visit (UTC) every URL"),
        (&["due", "--by-host"], "pages best value sum of values host"),
        (&["epoch", "list"], "epoch role state minor moderate fingerprints name"),
        (&["tail"], "operation time (UTC) verdict URL"),
        (&["diff", "--since", "2024-01-01"], "verdict bits priority URL"),
    ] {
        let with = place.run_with_header(args);
        let header = with.out.lines().next().unwrap_or_default();
        let words: Vec<&str> = header.split_whitespace().collect();
        assert_eq!(words.join(" "), columns, "{args:?}");
        let without = place.run_with_header(&[args, &["--no-header"]].concat());
        assert_eq!(without.out.lines().count() + 1, with.out.lines().count(), "{args:?}");
        assert!(!without.out.contains(columns), "{args:?}");
        let json = place.run_with_header(&[args, &["--json"]].concat());
        assert!(json.out.lines().all(|line| line.starts_with('{')), "{args:?}");
    }
}

#[test]
fn empty_table_is_its_header_line_and_says_why() {
    let place = TestFolder::with(CRAWL);
    for (args, code, header, why) in [
        (
            &["diff", "--since", "2030-01-01"][..],
            0,
            "verdict  bits  priority  URL\n",
            "no page differs since 2030-01-01",
        ),
        (&["diff", "store", "store"], 0, "verdict  bits  priority  URL\n", "--exact compares all"),
        (&["diff", "--exact", "store", "store"], 0, "", "the stores have the same entries"),
        (
            &["due", "--under", "none.example", "--urls"],
            1,
            "",
            "no page is known under none.example",
        ),
        (
            &["due", "--under", "none.example", "--json"],
            1,
            "",
            "no page is known under none.example",
        ),
        (
            &["due", "--only-due", "--per-day", "5", "--now", "2020-01-01", "--urls"],
            0,
            "",
            "no page is due now; without --only-due",
        ),
    ] {
        let ran = place.run_with_header(args);
        // With two stores, no other one may be named.
        let ran = if args.contains(&"store") { without_variable(&place, args) } else { ran };
        assert_eq!((ran.code, ran.out.as_str()), (code, header), "{args:?}: {}", ran.err);
        assert!(ran.err.lines().count() == 1 && ran.err.contains(why), "{args:?}: {}", ran.err);
    }
}

/// Runs the tool with header lines, where no variable names a store.
fn without_variable(place: &TestFolder, args: &[&str]) -> ToolRun {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simkeep"));
    command.args(args).env_remove("SIMKEEP_STORE").current_dir(place.path("."));
    ToolRun::from(command.output().unwrap())
}

#[test]
fn impossible_range_or_limit_is_refused() {
    let place = TestFolder::with(CRAWL);
    for (args, why) in [
        (&["diff", "--since", "2025", "--until", "2024"][..], "--until must not be earlier"),
        (&["due", "--limit", "0"], "at least 1, or \"all\""),
        (&["near", "00000000000000ff", "--limit", "0"], "at least 1, or \"all\""),
        (&["near", "00000000000000ff", "--limit", "-1"], "at least 1, or \"all\""),
        (&["mirrors", "--limit", "0"], "at least 1, or \"all\""),
        (&["due", "--per-host", "0"], "at least 1"),
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let all = ["near", "00000000000000ff", "-k", "64", "--ever", "--limit"];
    assert_eq!(place.done(&[&all[..], &["all"]].concat()).lines().count(), 5);
}

#[test]
fn no_header_leaves_only_rows() {
    let place = TestFolder::with(CRAWL);
    for (args, summaries) in [
        (&["cluster", "-k", "64"][..], 1),
        (&["cluster", "https://example.org/", "-k", "64"], 1),
        (&["cluster", "--components"], 1),
        (&["dedup", "-k", "64"], 2),
        (&["simulate", "--every", "1d"], 1),
    ] {
        // Without a header, columns are less wide.
        let rows = |out: &str| -> Vec<String> {
            let lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            lines.map(|words| words.join(" ")).collect()
        };
        let [with, without] = [place.with_header(args), place.done(args)].map(|out| rows(&out));
        let kept: Vec<&String> = with.iter().filter(|row| without.contains(row)).collect();
        assert!(kept.iter().copied().eq(&without) && !kept.is_empty(), "{args:?}: {with:?}");
        assert!(with.len() > kept.len() + summaries, "{args:?}: {with:?}");
    }
    let csv = ["export", "--format", "csv"];
    assert!(place.with_header(&csv).starts_with("url,time,epoch,"));
    assert!(place.done(&csv).starts_with("https://example.com/old,"));
    place.done(&["export", "-o", "rows.csv"]);
    assert_eq!(std::fs::read_to_string(place.path("rows.csv")).unwrap(), place.done(&csv));
}
