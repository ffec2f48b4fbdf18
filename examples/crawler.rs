//! A crawler's loop: threads share one store, and act on what it answers.
//!
//! `cargo run --release --example crawler`
//!
//! The web is pretended (`examples/web`), the rest is what a crawler would write.

mod web;

use std::array::TryFromSliceError;
use std::collections::BTreeMap;
use std::error::Error;
use std::{panic, thread};

use sha2::{Digest as _, Sha256};
use simkeep::{Digest, Observation, Options, Outcome, Store, Time, Verdict, fingerprint};

const THREADS: usize = 4;
const DAY: i64 = 24 * 60 * 60 * 1000;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::open_or_create(folder.path().join("crawl.simkeep"), Options::default())?;

    // On which day each page is to be visited next.
    let mut due = BTreeMap::from([(web::START, 1)]);
    for day in 1..=3 {
        println!("day {day}");
        loop {
            let now = due.iter().filter(|(_, at)| **at <= day);
            let urls: Vec<&str> = now.map(|(url, _)| *url).collect();
            if urls.is_empty() {
                break;
            }
            for visited in visit_all(&store, &urls, day)? {
                println!("  {:<36}  {}", visited.url, visited.summary());
                match visited.days_to_next() {
                    Some(days) => due.insert(visited.url, day + days),
                    None => due.remove(visited.url),
                };
                for link in visited.links_to_follow() {
                    due.entry(link).or_insert(day);
                }
            }
        }
    }

    // Dropping the store would close it as well, but could not say that something failed.
    store.close()?;
    Ok(())
}

/// Visits pages, some threads at a time. All of them use the same store: those that wait for the disk
/// at the same moment share one commit.
fn visit_all(store: &Store, urls: &[&'static str], day: i64) -> Result<Vec<Visited>> {
    let shares = urls.chunks(urls.len().div_ceil(THREADS));
    thread::scope(|scope| {
        let threads: Vec<_> = shares
            .map(|share| {
                scope.spawn(move || share.iter().map(|url| visit(store, url, day)).collect())
            })
            .collect();
        let mut visited = Vec::new();
        for thread in threads {
            let share: Result<Vec<Visited>> =
                thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            visited.extend(share?);
        }
        Ok(visited)
    })
}

/// A page that was visited, and what the store made of it.
struct Visited {
    url: &'static str,
    outcome: Outcome,
    links: &'static [&'static str],
}

/// Fetches a page, and tells the store what was seen.
fn visit(store: &Store, url: &'static str, day: i64) -> Result<Visited> {
    let time = Time::from_ms_unchecked(day * DAY);
    let mut links: &[&str] = &[];
    let seen = match web::fetch(url, day) {
        web::Answer::Page(text, found) => {
            links = found;
            // From HTML, `fingerprint::extract` makes the text (feature `html`).
            let fingerprint = fingerprint::of_text(text);
            Observation::content(url, time, fingerprint, store.change_epoch())
                .digest(digest(text)?)
                .status(200)
        }
        web::Answer::NotModified => Observation::not_modified(url, time).status(304),
        web::Answer::NotFound => Observation::gone(url, time).status(404),
    };
    let outcome = store.observe(seen)?; // durable when this returns
    Ok(Visited { url, outcome, links })
}

/// Names the exact content: two pages with this digest are copies.
fn digest(text: &str) -> std::result::Result<Digest, TryFromSliceError> {
    let hash: [u8; 32] = Sha256::digest(text).into();
    Ok(Digest(hash[..16].try_into()?))
}

impl Visited {
    /// Pages that change are visited daily, others weekly, and those that are gone never again.
    fn days_to_next(&self) -> Option<i64> {
        match self.outcome.verdict {
            Verdict::Gone => None,
            Verdict::Same(_) => Some(7),
            _ => Some(1),
        }
    }

    /// The links of a copy lead where those of the original lead, or on and on.
    fn links_to_follow(&self) -> &'static [&'static str] {
        if self.outcome.copies.is_empty() { self.links } else { &[] }
    }

    fn summary(&self) -> String {
        let mut summary = match self.outcome.verdict {
            Verdict::Same(_) => return "unchanged".to_owned(),
            Verdict::Reverted { to, .. } => {
                format!("back to what it was on day {}", to.as_ms() / DAY)
            }
            other => other.to_string(),
        };
        if let Some(original) = self.outcome.copies.first() {
            summary += &format!(", a copy of {}", original.url);
        }
        for near in &self.outcome.near {
            summary += &format!(", {} bits away from {}", near.distance, near.url);
        }
        summary
    }
}
