//! The history of a page: what each visit meant, and what was in force on a day in between.
//!
//! `cargo run --release --example history`

use std::error::Error;
use std::time::Duration;

use simkeep::{Observation, Options, Store, Time, fingerprint};

const URL: &str = "https://example.com/terms";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const FREE: &str = "Reading is free. You may copy what you find here if you say where it is from.";
const PAID: &str = "Reading costs five euros a month. You may not copy what you find here.";

/// A day of this history.
fn on(day: u32) -> Time {
    Time::default() + day * DAY
}

fn day_of(time: Time) -> u64 {
    time.saturating_duration_since(on(0)).as_secs() / DAY.as_secs()
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Store::create(folder.path().join("terms.simkeep"), Options::default())?;

    let epoch = store.change_epoch();
    let content = |day, text| {
        Observation::content(URL, on(day), fingerprint::of_text(text), epoch).status(200)
    };
    store.observe_batch(&[
        content(1, FREE),
        content(8, FREE),
        Observation::failed(URL, on(15)).status(503),
        content(22, PAID),
        content(29, FREE),
    ])?;
    // A visit that is observed late, for example from an archive, is inserted by its time.
    store.observe(content(19, PAID))?;

    // Answers of one snapshot agree with each other, whatever is observed meanwhile.
    let snapshot = store.snapshot();
    for entry in snapshot.history(URL)? {
        println!("{entry}");
    }

    // The store has no texts, only when each was seen: the visit says which file to open.
    for day in [16, 25] {
        if let Some(visit) = snapshot.as_of(URL, on(day))? {
            println!("on day {day}, what was seen on day {} was in force", day_of(visit.time));
        }
    }
    if let Some(page) = snapshot.latest(URL)? {
        println!("{} visits, the last on day {}", page.visits, day_of(page.last.time));
    }
    store.close()?;
    Ok(())
}
