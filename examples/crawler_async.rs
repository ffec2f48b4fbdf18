//! A crawler in tokio: the store waits for the disk on threads that may wait, and never on those that
//! run the tasks.
//!
//! `cargo run --release --example crawler_async`
//!
//! The web is pretended (`examples/web`), the rest is what a crawler would write.

mod web;

use std::collections::HashSet;
use std::error::Error;

use sha2::{Digest as _, Sha256};
use simkeep::{Digest, Observation, Options, Outcome, Store, Time, fingerprint};
use tokio::task::{self, JoinSet};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::open_or_create(folder.path().join("crawl.simkeep"), Options::default())?;
    // A crawler would take the runtime with many threads; nothing else changes.
    tokio::runtime::Builder::new_current_thread().build()?.block_on(crawl(&store))?;
    store.close()?;
    Ok(())
}

async fn crawl(store: &Store) -> Result<()> {
    let mut found = HashSet::from([web::START]);
    let mut visits = JoinSet::new();
    visits.spawn(visit(store.clone(), web::START));
    while let Some(visited) = visits.join_next().await {
        let (url, outcome, links) = visited??;
        let mut summary = format!("{:?}", outcome.verdict);
        for copy in &outcome.copies {
            summary += &format!(", a copy of {}", copy.url);
        }
        for near in &outcome.near {
            summary += &format!(", {} bits away from {}", near.distance, near.url);
        }
        println!("{url}: {summary}");
        // A copy has the links of its original, or leads into an endless space of copies.
        if !outcome.copies.is_empty() {
            continue;
        }
        for link in links.iter().filter(|link| found.insert(link)) {
            visits.spawn(visit(store.clone(), link));
        }
    }
    Ok(())
}

type Links = &'static [&'static str];

async fn visit(store: Store, url: &'static str) -> Result<(&'static str, Outcome, Links)> {
    let time = Time::now();
    // Here a crawler awaits the network.
    let answer = web::fetch(url, 1);
    // `observe` waits for the disk, so it runs where a task may block. Calls that wait at the same
    // time share a commit: a hundred of them cost little more than one.
    task::spawn_blocking(move || {
        let (seen, links): (_, Links) = match answer {
            web::Answer::Page(text, links) => {
                let fingerprint = fingerprint::of_text(text);
                let hash: [u8; 32] = Sha256::digest(text).into();
                let seen = Observation::content(url, time, fingerprint, store.change_epoch())
                    .digest(Digest(hash[..16].try_into()?));
                (seen, links)
            }
            web::Answer::NotModified => (Observation::not_modified(url, time), &[]),
            web::Answer::NotFound => (Observation::gone(url, time), &[]),
        };
        Ok((url, store.observe(seen)?, links))
    })
    .await?
}
