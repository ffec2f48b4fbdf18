//! Any bytes as a text, and as a page.

use simkeep::fingerprint::{Words, decode, of_text, visible_text};

/// Labels of encodings of every kind, one of none, and none.
const LABELS: [Option<&str>; 8] = [
    None,
    Some("utf-8"),
    Some("latin1"),
    Some("shift_jis"),
    Some("gb18030"),
    Some("utf-16le"),
    Some("iso-2022-jp"),
    Some("no such encoding"),
];

/// Runs one input.
pub fn run(data: &[u8]) {
    let (label, bytes) = data.split_first().unwrap_or((&0, &[]));
    let page = decode(bytes, LABELS[usize::from(*label) % LABELS.len()]);
    fingerprint(&page);
    let text = visible_text(&page);
    fingerprint(&text);
    if let Ok(page) = std::str::from_utf8(bytes) {
        fingerprint(page);
        visible_text(page);
    }
}

fn fingerprint(text: &str) {
    let found = of_text(text);
    assert_eq!(found, of_text(text));
    let (mut words, mut word, mut joined) = (Words::new(text), Vec::new(), Vec::new());
    while words.next_into(&mut word) {
        assert!(!word.is_empty());
        joined.append(&mut word);
        joined.push(b' ');
    }
    assert!(String::from_utf8(joined.clone()).is_ok());
    if joined.is_empty() {
        assert_eq!(found, 0);
    }
    // What stands around a text and has no words changes nothing.
    assert_eq!(found, of_text(&format!(" {text} ,")));
}
