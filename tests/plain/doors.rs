//! Names of epochs and fingerprints of texts are the same with any features: this file is built with and
//! without the feature `html`.

use simkeep::fingerprint::{Document, EXTRACTOR, Fingerprinter, Recipe, of_text};
use simkeep::{Observation, Options, Origin, Role, Store, Time};

/// The name of the epoch of a new store. The tool, the C library and the Python package have tests
/// with this name.
const EPOCH: &str = "html/3 words2-sqrt/2";

/// Texts, and the fingerprints that they have in every store; `None` for texts without a
/// fingerprint.
const TEXTS: [(&str, Option<u64>); 6] = [
    ("The quick brown fox jumps over the lazy dog, and runs away.", Some(0x0bf5_3dbc_e6a8_93c3)),
    ("the quick   brown fox\njumps over the lazy dog and runs away", Some(0x0bf5_3dbc_e6a8_93c3)),
    (
        "Wir informieren Sie \u{fc}ber \u{c4}nderungen der Nutzungsbedingungen per E-Mail.",
        Some(0xbf45_3d65_e5bd_5cfc),
    ),
    ("您需要启用脚本才能运行此应用", Some(0x0a94_e908_9fb9_4800)),
    ("You may use this site free", None),
    ("", None),
];

#[test]
fn new_store_has_the_same_epoch_with_any_features() {
    assert_eq!(Options::default().epoch, EPOCH);
    assert_eq!(Origin::default().name(), EPOCH);
    assert_eq!(EPOCH, format!("{EXTRACTOR} {}", Recipe::DEFAULT));
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), Options::default()).unwrap();
    let first = store.change_epoch();
    let names: Vec<_> = store.snapshot().epochs().iter().map(|info| info.name.clone()).collect();
    assert_eq!(names, [EPOCH]);
    assert_eq!(store.begin_epoch(&Origin::default(), Role::Both).unwrap(), first);
    assert_eq!(Origin::text_epochs(&store.snapshot()).unwrap(), [first]);
}

#[test]
fn texts_have_the_same_fingerprints_with_any_features() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), Options::default()).unwrap();
    let epoch = store.change_epoch();
    let origin = Origin::of(&store.snapshot(), epoch).unwrap().unwrap();
    let mut of_origin = origin.fingerprinter().unwrap();
    let mut of_recipe = Fingerprinter::new(&Recipe::DEFAULT).unwrap();
    for (number, (text, expected)) in TEXTS.iter().enumerate() {
        assert_eq!(of_text(text), *expected, "{text}: {:x?}", of_text(text));
        let page = Document::new(*text);
        assert_eq!(of_origin.of_page(&page).unwrap(), *expected);
        assert_eq!(of_recipe.of_page(&page).unwrap(), *expected);
        let url = format!("https://example.com/{number}");
        store
            .observe(Observation::content(
                &url,
                Time::from_ms_unchecked(1_000),
                of_text(text),
                epoch,
            ))
            .unwrap();
    }
    let first = TEXTS[0].1.unwrap();
    assert_eq!(store.snapshot().near(first, 0).unwrap().near.len(), 2);
}
