//! The program of docs/crawl.md, word for word. `tests/doors/run` runs it on a shared store.

use std::error::Error;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use simkeep::{Digest, Observation, Options, Store, Time, Verdict, fingerprint};

fn main() -> Result<(), Box<dyn Error>> {
    let store = Store::open_or_create("crawl.simkeep", Options::default())?;
    let epoch = store.change_epoch(); // names the recipe of the fingerprints; the tool uses the same

    // For every page that you fetch:
    let url = "https://example.com/terms";
    let time = Time::now(); // or a SystemTime, or Time::from_ms
    let text = "Terms of service. You may use this site as long as you behave well towards others.";
    // `fingerprint::visible_text(html)` extracts the text of HTML. A text of fewer than 8 words has no
    // fingerprint: `None`.
    let fingerprint = fingerprint::of_text(text);
    let sha256: [u8; 32] = Sha256::digest(text).into();
    let seen = Observation::content(url, time, fingerprint, epoch)
        .digest(Digest(sha256[..16].try_into()?)) // identifies the exact content: best the raw bytes
        .status(200);

    let outcome = store.observe(seen)?; // durable when this returns
    match outcome.verdict {
        Verdict::New => println!("never seen before"),
        Verdict::Same(_) => println!("unchanged"),
        // For example "changed by 4 bits: moderately, some 0.5 to 6 % of its words".
        _ => println!("{outcome}"),
    }
    for copy in &outcome.copies {
        println!("the same bytes as {}, first seen at {}", copy.url, copy.first);
    }
    for near in &outcome.near {
        println!("{} bits away from {}", near.distance, near.url);
    }

    // At any later time, from any thread; readers never wait for writers:
    println!("visits so far: {}", store.history(url)?.len());
    if let Some(visit) = store.as_of(url, time + Duration::from_secs(3600))? {
        println!("what was seen at {} was current then", visit.time);
    }
    store.close()?;
    Ok(())
}
