//! The options for opening a store, as keywords.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::{Durability, Options};

use crate::convert::arg::{self, Arg};
use crate::convert::keywords::{each, unknown};
use crate::fingerprint::epoch;

/// The options of a store, for the documentation of functions that open a store.
macro_rules! options_prose {
    () => {
        "Options, each with its default in parentheses:

- `durability`: when an observation is durable. `\"each\"`, the default: when the call returns.
  `\"flush\"`: after the next `flush()`. A time: when the call returns, but each commit waits that
  long for other observations.
- `memtable_observations`: the number of observations kept in memory before they are sealed
  (262,144).
- `memtable_bytes`: the most bytes that these may take (80 MiB).
- `seal_after`: the longest time before they are sealed (5 minutes).
- `merge_fanout`: the number of similar-sized segments that are merged into one (8).
- `background`: whether to seal and merge in the background (yes).
- `epoch`: the name of the first epoch of a new store: by default the default recipe, of texts
  that simkeep extracts from HTML, as in Rust, C and the tool.
- `epoch_bands`: the largest distances of minor and of moderate changes in that epoch.
- `file_mode`: permissions of the files of a new store (0o600).
- `epoch_visits`: the number of visits in an epoch after which a new one is recommended
  (1,000,000).
- `near_distance`: the distance of near-duplicates in outcomes: by default what
  the recipe recommends.
- `clock_tolerance`: how far a visit may be ahead of this machine's clock. A later one
  raises `TimeError`, unless the store has such a visit already; `None` for visits of any
  time (`None`).
- `fingerprint_bytes`: the most bytes of the tables for each fingerprint (48).
- `near_limit`: the most near-duplicates, and the most copies, that an outcome lists (16).
- `rule`: which of several pages with nearly the same content is the original: a rule such as
  `\"https,shortest-url\"` (`\"first-seen\"`).
- `refers_to`: whether outcomes name the first visit with exactly the same content, for revisit
  records of archives (False).
- `validators`: whether to keep entity tags, which can identify people (True).
- `leases_max`: the most pages that may be leased at a time (1,000,000).
- `near_fingerprints`: the most fingerprints compared in a dense region (4,096).
- `background_memory_bytes`: the memory for sealing and merging together (256 MiB).
- `reader_grace`: how long replaced files are kept for readers in other processes (10
  seconds).
- `lock_wait`: how long to wait while another process writes to the store (5 seconds)."
    };
}

pub(crate) use options_prose;

/// Converts the options.
pub(crate) fn options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options::default();
    each(keywords, |key, value| set(&mut options, key, value))?;
    Ok(options)
}

fn set(options: &mut Options, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match key {
        "durability" => options.durability = durability(value)?,
        "memtable_observations" => {
            options.memtable_observations = arg::size(Arg::new("memtable_observations"), value)?;
        }
        "memtable_bytes" => {
            options.memtable_bytes = arg::size(Arg::new("memtable_bytes"), value)?;
        }
        "seal_after" => options.seal_after = arg::duration(Arg::new("seal_after"), value)?,
        "merge_fanout" => options.merge_fanout = arg::size(Arg::new("merge_fanout"), value)?,
        "background" => options.background = arg::flag(Arg::new("background"), value)?,
        "epoch" if value.is_none() => {}
        "epoch" => options.epoch = arg::text(Arg::new("epoch"), value)?.to_owned(),
        "epoch_bands" => {
            let bands = |value: &Bound<'_, PyAny>| epoch::bands(Arg::new("epoch_bands"), value);
            options.epoch_bands = arg::optional(Some(value), bands)?;
        }
        "file_mode" => options.file_mode = arg::u32(Arg::new("file_mode"), value)?,
        "epoch_visits" => options.epoch_visits = arg::count(Arg::new("epoch_visits"), value)?,
        "near_distance" => {
            let distance =
                |value: &Bound<'_, PyAny>| arg::distance(Arg::new("near_distance"), value);
            options.near_distance = arg::optional(Some(value), distance)?;
        }
        "clock_tolerance" => {
            let tolerance =
                |value: &Bound<'_, PyAny>| arg::duration(Arg::new("clock_tolerance"), value);
            options.clock_tolerance = arg::optional(Some(value), tolerance)?;
        }
        "fingerprint_bytes" => {
            options.fingerprint_bytes = arg::u32(Arg::new("fingerprint_bytes"), value)?;
        }
        "near_limit" => options.near_limit = arg::size(Arg::new("near_limit"), value)?,
        "rule" => options.rule = arg::ranking(Arg::new("rule"), value)?,
        "refers_to" => options.refers_to = arg::flag(Arg::new("refers_to"), value)?,
        "validators" => options.validators = arg::flag(Arg::new("validators"), value)?,
        "leases_max" => options.leases_max = arg::size(Arg::new("leases_max"), value)?,
        "near_fingerprints" => {
            options.near_fingerprints = arg::u32(Arg::new("near_fingerprints"), value)?;
        }
        "background_memory_bytes" => {
            options.background_memory_bytes =
                arg::size(Arg::new("background_memory_bytes"), value)?;
        }
        "reader_grace" => options.reader_grace = arg::duration(Arg::new("reader_grace"), value)?,
        "lock_wait" => options.lock_wait = arg::duration(Arg::new("lock_wait"), value)?,
        other => return Err(unknown(other)),
    }
    Ok(())
}

/// Converts the durability: `"each"`, `"flush"`, or the time that a commit waits for other commits.
fn durability(value: &Bound<'_, PyAny>) -> PyResult<Durability> {
    let arg = Arg::new("durability");
    let expected =
        "\"each\", \"flush\", or the time that a commit waits for others: seconds or a timedelta";
    if value.is_instance_of::<PyString>() {
        return match arg::text(arg, value)? {
            "each" => Ok(Durability::Each),
            "flush" => Ok(Durability::OnFlush),
            _ => Err(arg.value_error(expected, value)),
        };
    }
    let wait = arg::duration(arg, value).map_err(|_| arg.value_error(expected, value))?;
    Ok(Durability::Grouped(wait))
}
