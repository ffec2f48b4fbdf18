//! Which pages in a folder of archives are copies of others, or near-duplicates of them.
//!
//! `cargo run --release -p simkeep-formats --example deduplicate -- FOLDER`

use std::error::Error;

use simkeep::fingerprint::{Fingerprinter, Recipe};
use simkeep::{Observation, Options, Outcome, Store, Time};
use simkeep_formats::{InputParts, InputSource, RecordPayload, SourceItem, VisitRecord};

fn main() -> Result<(), Box<dyn Error>> {
    // Folders, WARC, WET and ARC files, JSON lines, packed or not.
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    if paths.is_empty() {
        eprintln!("usage: deduplicate FOLDER-OR-FILE...");
        std::process::exit(2);
    }
    let folder = tempfile::tempdir()?;
    let store = Store::create(folder.path().join("pages.simkeep"), Options::default())?;
    let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    let (mut pages, mut copies, mut near) = (0, 0, 0);

    let sources = paths.iter().map(|path| InputSource::from_argument(path));
    // Each source has parts, such as the files of a folder, and each part comes in chunks of records.
    // Here one thread reads them all; chunks can be shared out among threads as well.
    for chunk in InputParts::new(sources).flatten() {
        let mut items = Vec::new();
        chunk.items(|item| items.push(item));
        for item in items {
            match item {
                SourceItem::Record(record) => {
                    let Some(outcome) = observe(&store, &mut fingerprinter, &record)? else {
                        continue;
                    };
                    pages += 1;
                    // The first copy is the one seen first. What is a copy needs no comparison.
                    if let Some(original) = outcome.copies.first() {
                        copies += 1;
                        println!("{} is a copy of {}", record.url, original.url);
                    } else if let Some(like) = outcome.near.first() {
                        near += 1;
                        println!("{} is {} bits away from {}", record.url, like.distance, like.url);
                    }
                }
                SourceItem::Broken(broken) => eprintln!("{}: {}", broken.at, broken.why),
                // Requests, images, and whatever else has no text.
                _ => {}
            }
        }
    }
    println!("pages: {pages}, copies: {copies}, near-duplicates: {near}");
    store.close()?;
    Ok(())
}

/// Tells the store of a record; `None` if it has no text.
fn observe(
    store: &Store,
    fingerprinter: &mut Fingerprinter<'_>,
    record: &VisitRecord,
) -> Result<Option<Outcome>, Box<dyn Error>> {
    let (RecordPayload::Text(document) | RecordPayload::File(document)) = &record.payload else {
        return Ok(None);
    };
    let fingerprint = fingerprinter.of_page(document)?;
    let epoch = store.change_epoch();
    let mut seen =
        Observation::content(&record.url, Time::from_ms_unchecked(record.time), fingerprint, epoch);
    if let Some(digest) = record.digest {
        seen = seen.digest(digest);
    }
    Ok(Some(store.observe(seen)?))
}
