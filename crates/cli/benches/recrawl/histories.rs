//! A store of the histories of real pages.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;
use simkeep::fingerprint::Recipe;
use simkeep::load::LoadOptions;
use simkeep::{
    Content, Digest, Epoch, Observation, Options, Origin, Role, Seen, Store, Time, Visit,
};
use tempfile::TempDir;

/// A store, and the folder that goes with it.
pub(crate) struct HistoryStore {
    pub(crate) store: Store,
    _dir: TempDir,
}

/// The store of the data of this name; none where the data is absent.
///
/// Where a record says that the extractor of a page changed, and not the page, its next versions are of
/// another epoch.
pub(crate) fn store(name: &str) -> Option<HistoryStore> {
    let file = match name {
        "ota" => "ota-contrib.jsonl.zst",
        _ => "peps.jsonl.zst",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
    let mut unpacked = zstd::Decoder::new(File::open(path).ok()?).unwrap();
    unpacked.window_log_max(27).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
    let mut extractors: HashMap<String, usize> = HashMap::new();
    let mut epochs = Vec::new();
    let mut lines = Vec::new();
    for line in BufReader::new(unpacked).lines() {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let url = record["url"].as_str().unwrap().to_owned();
        let extractor = extractors.entry(url.clone()).or_default();
        *extractor += usize::from(record["k"] == "tech");
        while epochs.len() <= *extractor {
            epochs.push(begin(&store, epochs.len()));
        }
        lines.push((url, visit(&record, epochs[*extractor])));
    }
    let observations = lines.iter().map(|(url, visit)| Ok(Observation::of(url, *visit)));
    store.load(observations, LoadOptions::default()).unwrap();
    Some(HistoryStore { store, _dir: dir })
}

fn begin(store: &Store, number: usize) -> Epoch {
    let origin = Origin::new(Recipe::DEFAULT).extractor(&format!("extractor/{number}")).unwrap();
    store.begin_epoch(&origin, Role::Change).unwrap()
}

/// What a record says of a page.
fn visit(record: &Value, epoch: Epoch) -> Visit {
    let time = record["t"].as_i64().unwrap() * 1_000;
    let seen = match record["text"].as_str() {
        None => Seen::Gone,
        Some(text) => {
            let sha = u64::from_str_radix(record["sha"].as_str().unwrap(), 16).unwrap();
            let mut digest = [0; 16];
            digest[..8].copy_from_slice(&sha.to_be_bytes());
            let is_short = text.split_whitespace().nth(7).is_none();
            let fingerprint = (!is_short).then(|| simkeep::fingerprint::of_text(text)).flatten();
            Seen::Content(Content { fingerprint, digest: Some(Digest(digest)), epoch })
        }
    };
    Visit::new(Time::from_ms_unchecked(time), seen)
}
