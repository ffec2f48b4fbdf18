//! Which pages of some archives, files and folders are copies of others, or near them.
//!
//! `cargo run --release --example deduplicate -- crawl-1.warc.gz crawl-2.warc.gz`

use std::error::Error;

use simkeep::fingerprint::Fingerprinter;
use simkeep::{Observation, Options, Store};
use simkeep_archive::{Input, Item, Payload, Record, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Store::create(folder.path().join("pages.simkeep"), Options::default())?;
    let mut fingerprinter = Fingerprinter::new(&simkeep::fingerprint::Recipe::DEFAULT)?;
    let sources = std::env::args_os().skip(1).map(|path| Source::from_argument(&path));
    // An archive is a part, and a part comes in chunks of records.
    for chunk in Input::new(sources).flatten() {
        let mut items = Vec::new();
        chunk.items(|item| items.push(item));
        for item in items {
            match item {
                Item::Record(record) => observe(&store, &mut fingerprinter, &record)?,
                Item::Broken(broken) => eprintln!("{}: {}", broken.at, broken.why),
                // Requests, images, and what else has no text.
                _ => {}
            }
        }
    }
    store.close()?;
    Ok(())
}

/// Observes a record with a text, and prints which pages it is like.
fn observe(
    store: &Store,
    fingerprinter: &mut Fingerprinter<'_>,
    record: &Record,
) -> Result<(), Box<dyn Error>> {
    let Payload::Text(document) = &record.payload else { return Ok(()) };
    let fingerprint = fingerprinter.of(document)?;
    let epoch = store.newest_epoch();
    let mut seen = Observation::content(&record.url, record.time, fingerprint, epoch);
    if let Some(digest) = record.digest {
        seen = seen.digest(digest);
    }
    let outcome = store.observe(seen)?;
    for copy in &outcome.copies {
        println!("{} is a copy of {}", record.url, copy.url);
    }
    for near in &outcome.near {
        println!("{} is {} bits away from {}", record.url, near.distance, near.url);
    }
    Ok(())
}
