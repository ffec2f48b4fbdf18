//! Fingerprints of consecutive snapshots of real pages, as HTML from the server.

use simkeep::fingerprint::{Fingerprinter, InMemoryFrequencies, Recipe, extract};

use super::evaluate::real;
use super::*;

/// A snapshot of a page.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct PageSnapshot {
    page: String,
    time: i64,
    /// Equal labels, equal content.
    label: String,
    text: String,
    words: Vec<String>,
}

/// Ratios of near and of equal fingerprints among consecutive snapshots of one page.
#[derive(Debug, Default, PartialEq)]
struct SnapshotCounts {
    unchanged: u32,
    /// Of those that did not change.
    within_3: u32,
    within_advised: u32,
    /// A change affects words, and not only markup, links or punctuation.
    changed: u32,
    /// Among changed pages.
    equal: u32,
}

/// Snapshots by page and time, from data next to the project; `None` without the data.
fn snapshots() -> Option<Vec<PageSnapshot>> {
    let file = std::fs::File::open(real("otahtml.jsonl.zst")?).unwrap();
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut decoder, &mut lines).unwrap();
    let snapshot = |line: &str| {
        let snapshot: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| snapshot[key].as_str().unwrap().to_owned();
        let text = extract(&word("text")).into_text();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words = words.map(str::to_lowercase).collect();
        let time = snapshot["ts"].as_i64().unwrap();
        PageSnapshot { page: word("cluster"), time, label: word("label"), text, words }
    };
    let mut snapshots: Vec<PageSnapshot> = lines.lines().map(snapshot).collect();
    snapshots.sort();
    Some(snapshots)
}

/// Fingerprints by a recipe, with document frequencies of these snapshots if it needs any.
fn found(recipe: Recipe, snapshots: &[PageSnapshot]) -> SnapshotCounts {
    let mut counted = InMemoryFrequencies::new(&recipe);
    snapshots.iter().for_each(|snapshot| counted.add(&snapshot.text));
    let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
    let fingerprints: Vec<u64> =
        snapshots.iter().map(|snapshot| fingerprinter.of_text(&snapshot.text).unwrap()).collect();
    let mut found = SnapshotCounts::default();
    for (pair, bits) in snapshots.windows(2).zip(fingerprints.windows(2)) {
        let distance = recipe.distance(bits[0], bits[1]);
        if pair[0].page != pair[1].page {
            continue;
        }
        if pair[0].label == pair[1].label {
            found.unchanged += 1;
            found.within_3 += u32::from(distance <= 3);
            found.within_advised += u32::from(distance <= recipe.near_distance());
        } else if pair[0].words != pair[1].words {
            found.changed += 1;
            found.equal += u32::from(distance == 0);
        }
    }
    found
}

#[test]
fn real_unchanged_pages_are_near_and_changed_pages_are_not() {
    let Some(snapshots) = snapshots() else { return };
    // Of those that did not change the least shares within 3 and within the advised distance; of those
    // that changed the largest share with equal fingerprints.
    for (name, within_3, within_advised, equal) in [
        ("default", 0.94, 0.94, 0.2),
        ("near", 0.98, 0.98, 0.52),
        ("strict", 0.94, 0.965, 0.25),
        ("templated", 0.92, 0.96, 0.15),
    ] {
        let found = found(name.parse().unwrap(), &snapshots);
        println!("{name}: {found:?}");
        let share = |part: u32, of: u32| f64::from(part) / f64::from(of);
        assert_eq!((found.unchanged, found.changed), (650, 54));
        assert!(share(found.within_3, found.unchanged) >= within_3);
        assert!(share(found.within_advised, found.unchanged) >= within_advised);
        assert!(share(found.equal, found.changed) <= equal);
    }
}
