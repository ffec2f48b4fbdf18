//! What a page says never reaches the terminal as it is.

use super::*;

/// An address that would be shown from right to left.
const TURNED: &str = "https://example.com/\u{202e}gpj.exe\u{2066}\u{2028}";

/// That there is nothing but printable characters and line ends, and none that turns the line.
fn assert_harmless(text: &str) {
    let harmful = |c: char| {
        (c.is_control() && c != '\n') || ('\u{200b}'..='\u{206f}').contains(&c) || c == '\u{feff}'
    };
    assert!(!text.contains(harmful), "{text:?}");
}

#[test]
fn addresses_are_shown_with_what_hides_in_them_written_out() {
    let line = format!(r#"{{"url":"{TURNED}","t":0,"fingerprint":"00000000000000ff"}}"#);
    let place = Place::with(&line);
    for args in [
        &["scan"][..],
        &["near", "00000000000000ff"],
        &["history", TURNED],
        &["export"],
        &["scan", "--json"],
        &["near", "00000000000000ff", "--json"],
        &["history", TURNED, "--json"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert_harmless(&ran.out);
    }
    assert!(place.done(&["scan"]).contains("https://example.com/\\u{202e}gpj.exe"));
    assert_eq!(place.run(&["scan", "--json"]).objects()[0]["url"], TURNED);
    let ran = place.run(&["history", &format!("{TURNED}?")]);
    assert_eq!(ran.code, 1);
    assert_harmless(&ran.err);
}

#[test]
fn messages_are_harmless_whatever_they_quote() {
    let place = Place::with(CRAWL);
    for args in [
        &["history", "a\x1b[31m\u{202e}"][..],
        &["near", "\x1b[2J0123456789abcd"],
        &["scan", "\u{202e}\u{9b}x"],
        &["near", "00000000000000ff", "--epoch", "\x1b[31m"],
        &["remember\x1b[31m"],
        &["stats", "--store", "\x1b[31m\n"],
        &["ingest", "nowhere\x1b[31m"],
        &["forget", "--prefix", "\x1b]0;x\x07.example"],
    ] {
        let ran = place.run(args);
        assert_ne!(ran.code, 0, "{args:?}");
        assert!(ran.err.starts_with("simkeep: "), "{args:?} {}", ran.err);
        assert_harmless(&ran.err);
        assert_harmless(&ran.out);
    }
}

#[test]
fn broken_records_and_odd_file_names_are_named_harmlessly() {
    let place = Place::new();
    let lines = concat!(
        r#"{"url":"http://a/\u001b[31m","t":0,"text":"x"}"#,
        "\n",
        r#"{"url":"http://a/\u202e","t":"\u001b","text":"x"}"#,
        "\n{\x1b\u{9b}\n"
    );
    let path = place.write("odd\x1b[31m\u{202e}.jsonl", lines);
    let ran = place.run(&["ingest", &path]);
    assert_eq!((ran.code, ran.err.lines().count()), (0, 3), "{}", ran.err);
    assert_harmless(&ran.err);
    assert_harmless(&ran.out);
}
