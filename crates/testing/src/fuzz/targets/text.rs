//! Any bytes as a text, and as a page.

use simkeep::fingerprint::{
    ContentType, Document, FeatureSet, Fingerprinter, Frequencies as _, IMatch,
    InMemoryFrequencies, Lexicon, Minwise, Rarity, Ratio, Recipe, decode, extract, of_text,
    visible_text,
};

/// The content types that a server may declare: labels of encodings of every kind, an unknown one,
/// types, and none.
const DECLARED: [Option<&str>; 16] = [
    None,
    Some("utf-8"),
    Some("latin1"),
    Some("shift_jis"),
    Some("gb18030"),
    Some("utf-16le"),
    Some("iso-2022-jp"),
    Some("no such encoding"),
    Some("text/html"),
    Some("application/xhtml+xml"),
    Some("application/rss+xml"),
    Some("text/css"),
    Some("text/plain"),
    Some("application/json; charset=latin1"),
    Some("text/html; charset=gbk, , text/html; charset, image/x y"),
    Some("a/b; charset=\"koi8-r, text/html\"; charset=latin1, */*"),
];

/// Runs one input.
pub fn run(data: &[u8]) {
    let (label, bytes) = data.split_first().unwrap_or((&0, &[]));
    let declared = DECLARED[usize::from(*label) % DECLARED.len()];
    let page = decode(bytes, declared);
    characters(bytes, declared, &page);
    fingerprint(&page);
    let document = extract(&page);
    // Every recipe accepts any document.
    let preset = Recipe::PRESETS[usize::from(*label) / DECLARED.len() % Recipe::PRESETS.len()];
    let recipe = preset.recipe.rarity(Rarity::None);
    let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
    let found = fingerprinter.of(&document).unwrap();
    let of_page = (!document.is_too_short()).then_some(found);
    assert_eq!(fingerprinter.of_page(&document).unwrap(), of_page);
    let text = document.into_text();
    fingerprint(&text);
    if let Ok(page) = std::str::from_utf8(bytes) {
        fingerprint(page);
        visible_text(page);
    }
}

/// Checks that the decoded text depends only on the document and the declared type.
fn characters(bytes: &[u8], declared: Option<&str>, decoded: &str) {
    assert_eq!(decoded, decode(bytes, declared));
    // Without a mark or a declaration, valid UTF-8 decodes to itself.
    let declares = |word: &[u8]| bytes.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word));
    let is_marked =
        [&b"\xef\xbb\xbf"[..], b"<\0?\0x\0", b"\0<\0?\0x"].iter().any(|m| bytes.starts_with(m));
    if let Ok(text) = std::str::from_utf8(bytes)
        && !(is_marked || declares(b"<meta") || declares(b"<?xml"))
    {
        assert_eq!(text, decode(bytes, None));
        assert_eq!(text, decode(bytes, Some("text/plain")));
    }
    // A parsed header, written again, parses to the same value.
    if let Some(said) = ContentType::from_header(&String::from_utf8_lossy(bytes)) {
        let charset = said.charset().unwrap_or_default().replace('\\', "\\\\").replace('"', "\\\"");
        let written = match said.charset() {
            Some(_) => format!("{}; charset=\"{charset}\"", said.essence()),
            None => said.essence().to_owned(),
        };
        assert_eq!(ContentType::from_header(&written), Some(said));
    }
}

fn fingerprint(text: &str) {
    let raw = |text: &str| Fingerprinter::new(&Recipe::DEFAULT).unwrap().of_text(text).unwrap();
    let found = raw(text);
    let is_too_short = Document::new(text).is_too_short();
    assert_eq!(of_text(text), (!is_too_short).then_some(found));
    if FeatureSet::new(&Recipe::words(1)).of_text(text).is_empty() {
        assert_eq!(found, 0);
    }
    // The fingerprint does not depend on how the text is cut, or on the instruction set.
    let middle = text.floor_char_boundary(text.len() / 2);
    let pieces = text.split_at(middle);
    in_pieces(Fingerprinter::new(&Recipe::DEFAULT).unwrap(), pieces, found);
    // Surrounding characters without words change nothing.
    assert_eq!(found, raw(&format!(" {text} ,")));
    minwise(text, pieces);
    digest(text, middle);
}

/// Checks the fingerprint of a text in two pieces, and its explanation.
fn in_pieces(fingerprinter: Fingerprinter<'_>, (first, second): (&str, &str), expected: u64) {
    let mut pieces = fingerprinter.portable();
    pieces.push(first);
    pieces.push(second);
    assert_eq!(pieces.finish().unwrap(), expected);
    let explained = pieces.explain(&Document::new(format!("{first}{second}")), 3).unwrap();
    assert_eq!(explained.fingerprint, expected);
}

/// Checks its minwise hash: that of its set of features, and that of the features which fewer than
/// two of three documents have.
fn minwise(text: &str, pieces: (&str, &str)) {
    let recipe = Recipe::words(4).minwise();
    let mut set = FeatureSet::new(&recipe);
    let features = set.of_text(text);
    let of = |features: &mut dyn Iterator<Item = u64>| {
        let mut minwise = Minwise::new();
        features.for_each(|feature| minwise.add(feature));
        minwise.finish()
    };
    let expected = of(&mut features.iter().copied());
    let mut whole = Fingerprinter::new(&recipe).unwrap();
    assert_eq!(whole.of_text(text).unwrap(), expected);
    in_pieces(whole, pieces, expected);

    let mut counted = InMemoryFrequencies::new(&recipe);
    [pieces.0, pieces.1, text].into_iter().for_each(|text| counted.add(text));
    let mut documents = Vec::new();
    counted.frequencies(features, &mut documents).unwrap();
    let few = features.iter().zip(documents).filter(|(_, documents)| *documents < 2);
    let expected = of(&mut few.map(|(feature, _)| *feature));
    let recipe = recipe.leave_out(Ratio::percent(50));
    let left = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
    in_pieces(left, pieces, expected);
}

/// Checks its I-Match digests, with a table of its two halves and itself.
fn digest(text: &str, middle: usize) {
    let (first, second) = text.split_at(middle);
    let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
    [first, second, text].into_iter().for_each(|text| counted.add(text));
    let lexicon = Lexicon::new(&counted, Ratio::percent(10)..=Ratio::ONE).unwrap();
    let found = IMatch::<3>::of(text, &lexicon).unwrap();
    assert_eq!(found.agrees(&found), found.digests() != &[None; 3]);
    let twice = IMatch::<3>::of(&format!("{text} {text}"), &lexicon).unwrap();
    assert_eq!(found.digests(), twice.digests());
}
