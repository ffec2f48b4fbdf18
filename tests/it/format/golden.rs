//! The known contents of a golden store: `format/golden/v6.jsonl`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use simkeep_testing::in_repository;

use super::surt;
use super::visits::{DecodedEntry, DecodedHead, DecodedSeen, count, mask};

pub(crate) fn directory() -> PathBuf {
    in_repository("format/golden")
}

/// The published form of the golden store, without the files that it shares with the store.
pub(crate) fn published() -> PathBuf {
    directory().join("v6-published")
}

/// The expected answer about an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoldenEpoch {
    pub(crate) number: u32,
    pub(crate) name: String,
    /// The number of visits when it began.
    pub(crate) begun: u64,
    pub(crate) role: &'static str,
    /// The largest distances of minor and of moderate changes, in bits.
    pub(crate) bands: (u32, u32),
    pub(crate) ended: bool,
}

impl GoldenEpoch {
    /// The identity of the document-frequency table that makes its fingerprints.
    pub(crate) fn table(&self) -> Option<u64> {
        let (_, digits) = self.name.rsplit_once(" df:")?;
        Some(u64::from_str_radix(digits, 16).unwrap())
    }
}

/// A search and its answers: URL, distance and fingerprint, the nearest first, then in SURT order.
#[derive(Debug)]
pub(crate) struct GoldenSearch {
    pub(crate) fingerprint: u64,
    pub(crate) k: u32,
    pub(crate) epoch: u32,
    pub(crate) every_version: bool,
    pub(crate) pages: Vec<(String, u32, u64)>,
}

/// The known contents of a golden store.
#[derive(Debug, Default)]
pub(crate) struct GoldenStore {
    pub(crate) sequence: u64,
    pub(crate) epochs: Vec<GoldenEpoch>,
    /// The pages with their entries, in SURT order.
    pub(crate) pages: Vec<(String, Vec<DecodedEntry>)>,
    pub(crate) near: Vec<GoldenSearch>,
}

fn word(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn small(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
    digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn read_epoch(value: &Value) -> GoldenEpoch {
    GoldenEpoch {
        number: small(&value["number"]),
        name: value["name"].as_str().unwrap().to_owned(),
        begun: value["begun"].as_u64().unwrap(),
        role: ["both", "change", "near"].into_iter().find(|role| value["role"] == **role).unwrap(),
        bands: (small(&value["minor"]), small(&value["moderate"])),
        ended: value["ended"].as_bool().unwrap(),
    }
}

fn write_epoch(epoch: &GoldenEpoch) -> String {
    let GoldenEpoch { number, name, begun, role, bands: (minor, moderate), ended } = epoch;
    let name = serde_json::to_string(name).unwrap();
    format!(
        "{{\"number\":{number},\"name\":{name},\"begun\":{begun},\"role\":\"{role}\",\
         \"minor\":{minor},\"moderate\":{moderate},\"ended\":{ended}}}"
    )
}

fn read_entry(value: &Value) -> DecodedEntry {
    let at = |i: usize| &value[i];
    let seen = match at(1).as_str().unwrap() {
        "content" | "restated" => DecodedSeen::Content,
        "gone" => DecodedSeen::Gone,
        "not modified" => DecodedSeen::NotModified,
        "failed" | "weighed" | "classed" | "tagged" | "pointing" => DecodedSeen::Failed,
        other => panic!("{other}"),
    };
    let digest = at(3).as_str().map(|d| u128::from_str_radix(d, 16).unwrap().to_be_bytes());
    let epoch = (!at(5).is_null()).then(|| small(at(5)));
    DecodedEntry {
        time: at(0).as_i64().unwrap(),
        seen,
        status: at(2).as_u64().map(|s| u16::try_from(s).unwrap()),
        digest,
        restated: epoch.filter(|_| at(1) == "restated").map(count),
        fingerprint: (!at(4).is_null()).then(|| word(at(4))),
        epoch,
        modified: at(6).as_i64(),
        weight: at(7).as_f64().map(|weight| (weight as f32).to_bits()),
        class: at(8).as_u64().map(|class| u32::try_from(class).unwrap()),
        bytes: at(9).as_u64(),
        conditional: at(10).as_bool().unwrap_or(false),
        etag: at(11).as_str().map(from_hexadecimal),
        target: at(12)
            .as_array()
            .map(|parts| (small(&parts[0]) as usize, parts[1].as_str().unwrap().to_owned())),
    }
}

fn write_entry(entry: &DecodedEntry) -> String {
    let seen = match entry.seen {
        DecodedSeen::Content if entry.restated.is_some() => "restated",
        DecodedSeen::Content => "content",
        DecodedSeen::Gone => "gone",
        DecodedSeen::NotModified => "not modified",
        DecodedSeen::Failed if entry.weight.is_some() => "weighed",
        DecodedSeen::Failed if entry.class.is_some() => "classed",
        DecodedSeen::Failed if entry.etag.is_some() => "tagged",
        DecodedSeen::Failed if entry.target.is_some() => "pointing",
        DecodedSeen::Failed => "failed",
    };
    let or_null = |text: Option<String>| text.unwrap_or_else(|| "null".to_owned());
    let digest = entry.digest.map(|d| format!("\"{:032x}\"", u128::from_be_bytes(d)));
    let mut out = format!("[{},\"{seen}\"", entry.time);
    let mut fields = vec![
        or_null(entry.status.map(|s| s.to_string())),
        or_null(digest),
        or_null(entry.fingerprint.map(|f| format!("\"{f:016x}\""))),
        or_null(entry.epoch.map(|e| e.to_string())),
        or_null(entry.modified.map(|m| m.to_string())),
        or_null(entry.weight.map(|w| f32::from_bits(w).to_string())),
        or_null(entry.class.map(|c| c.to_string())),
        or_null(entry.bytes.map(|b| b.to_string())),
        or_null(entry.conditional.then(|| "true".to_owned())),
        or_null(entry.etag.as_ref().map(|etag| format!("\"{}\"", hexadecimal(etag)))),
        or_null(entry.target.as_ref().map(|target| serde_json::to_string(target).unwrap())),
    ];
    while fields.last().is_some_and(|f| f == "null") {
        fields.pop();
    }
    for field in fields {
        write!(out, ",{field}").unwrap();
    }
    out + "]"
}

impl GoldenStore {
    pub(crate) fn read(path: &Path) -> GoldenStore {
        let mut expected = GoldenStore::default();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(url) = line["url"].as_str() {
                let visits = line["visits"].as_array().unwrap().iter().map(read_entry);
                expected.pages.push((url.to_owned(), visits.collect()));
            } else if line["near"].is_string() {
                let pages = line["pages"].as_array().unwrap().iter().map(|page| {
                    (page[0].as_str().unwrap().to_owned(), small(&page[1]), word(&page[2]))
                });
                expected.near.push(GoldenSearch {
                    fingerprint: word(&line["near"]),
                    k: small(&line["k"]),
                    epoch: small(&line["epoch"]),
                    every_version: line["every_version"].as_bool().unwrap(),
                    pages: pages.collect(),
                });
            } else {
                expected.sequence = line["sequence"].as_u64().unwrap();
                let epochs = line["epochs"].as_array().unwrap().iter();
                expected.epochs = epochs.map(read_epoch).collect();
            }
        }
        expected
    }

    pub(crate) fn write(&self) -> String {
        let epochs: Vec<String> = self.epochs.iter().map(write_epoch).collect();
        let (sequence, epochs) = (self.sequence, epochs.join(","));
        let mut out = format!("{{\"sequence\":{sequence},\"epochs\":[{epochs}]}}\n");
        for (url, visits) in &self.pages {
            let url = serde_json::to_string(url).unwrap();
            let visits: Vec<String> = visits.iter().map(write_entry).collect();
            writeln!(out, "{{\"url\":{url},\"visits\":[{}]}}", visits.join(",")).unwrap();
        }
        for near in &self.near {
            let GoldenSearch { fingerprint, k, epoch, every_version, .. } = near;
            let pages = near.pages.iter().map(|(url, distance, fingerprint)| {
                let url = serde_json::to_string(url).unwrap();
                format!("[{url},{distance},\"{fingerprint:016x}\"]")
            });
            let pages = pages.collect::<Vec<_>>().join(",");
            writeln!(
                out,
                "{{\"near\":\"{fingerprint:016x}\",\"k\":{k},\"epoch\":{epoch},\
                 \"every_version\":{every_version},\"pages\":[{pages}]}}"
            )
            .unwrap();
        }
        out
    }

    /// The answers to a search, by comparing with all fingerprints.
    pub(crate) fn near(
        &self,
        fingerprint: u64,
        k: u32,
        epoch: u32,
        every_version: bool,
    ) -> GoldenSearch {
        let mut found = BTreeSet::new();
        for (url, visits) in &self.pages {
            let in_force = DecodedHead::of(visits).map_or_else(Vec::new, |head| head.in_force());
            let ever = visits.iter().filter_map(DecodedEntry::content).filter(|_| every_version);
            let in_force = in_force.into_iter().filter(|_| !every_version);
            for (_, candidate, _) in ever.chain(in_force).filter(|v| v.2 == epoch) {
                let Some(candidate) = candidate.map(|f| f & mask(epoch)) else { continue };
                let distance = (candidate ^ fingerprint & mask(epoch)).count_ones();
                if distance <= k {
                    found.insert((distance, surt::key(url), url.clone(), candidate));
                }
            }
        }
        let pages = found.into_iter().map(|(distance, _, url, f)| (url, distance, f)).collect();
        GoldenSearch { fingerprint, k, epoch, every_version, pages }
    }
}
