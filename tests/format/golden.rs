//! What a golden store is known to hold: `format/golden/v1.jsonl`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::surt;
use super::visits::{Head, Seen, Visit};

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format/golden")
}

/// A search and its answers: URL, distance, fingerprint; nearest first, then in SURT order.
#[derive(Debug)]
pub(crate) struct Near {
    pub(crate) fingerprint: u64,
    pub(crate) k: u32,
    pub(crate) epoch: u32,
    pub(crate) every_version: bool,
    pub(crate) pages: Vec<(String, u32, u64)>,
}

/// What a golden store is known to hold.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) sequence: u64,
    pub(crate) epochs: Vec<String>,
    /// In SURT order.
    pub(crate) pages: Vec<(String, Vec<Visit>)>,
    pub(crate) near: Vec<Near>,
}

fn word(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn small(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn read_visit(value: &Value) -> Visit {
    let at = |i: usize| &value[i];
    let seen = match at(1).as_str().unwrap() {
        "content" => Seen::Content,
        "gone" => Seen::Gone,
        "not modified" => Seen::NotModified,
        "failed" => Seen::Failed,
        other => panic!("{other}"),
    };
    let digest = at(3).as_str().map(|d| u128::from_str_radix(d, 16).unwrap().to_be_bytes());
    Visit {
        time: at(0).as_i64().unwrap(),
        seen,
        status: at(2).as_u64().map(|s| u16::try_from(s).unwrap()),
        digest,
        fingerprint: (!at(4).is_null()).then(|| word(at(4))),
        epoch: (!at(5).is_null()).then(|| small(at(5))),
    }
}

fn write_visit(visit: &Visit) -> String {
    let seen = match visit.seen {
        Seen::Content => "content",
        Seen::Gone => "gone",
        Seen::NotModified => "not modified",
        Seen::Failed => "failed",
    };
    let or_null = |text: Option<String>| text.unwrap_or_else(|| "null".to_owned());
    let digest = visit.digest.map(|d| format!("\"{:032x}\"", u128::from_be_bytes(d)));
    let mut out = format!("[{},\"{seen}\"", visit.time);
    let mut fields = vec![
        or_null(visit.status.map(|s| s.to_string())),
        or_null(digest),
        or_null(visit.fingerprint.map(|f| format!("\"{f:016x}\""))),
        or_null(visit.epoch.map(|e| e.to_string())),
    ];
    while fields.last().is_some_and(|f| f == "null") {
        fields.pop();
    }
    for field in fields {
        write!(out, ",{field}").unwrap();
    }
    out + "]"
}

impl Expected {
    pub(crate) fn read(path: &Path) -> Expected {
        let mut expected = Expected::default();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(url) = line["url"].as_str() {
                let visits = line["visits"].as_array().unwrap().iter().map(read_visit);
                expected.pages.push((url.to_owned(), visits.collect()));
            } else if line["near"].is_string() {
                let pages = line["pages"].as_array().unwrap().iter().map(|page| {
                    (page[0].as_str().unwrap().to_owned(), small(&page[1]), word(&page[2]))
                });
                expected.near.push(Near {
                    fingerprint: word(&line["near"]),
                    k: small(&line["k"]),
                    epoch: small(&line["epoch"]),
                    every_version: line["every_version"].as_bool().unwrap(),
                    pages: pages.collect(),
                });
            } else {
                expected.sequence = line["sequence"].as_u64().unwrap();
                let epochs = line["epochs"].as_array().unwrap().iter();
                expected.epochs = epochs.map(|e| e.as_str().unwrap().to_owned()).collect();
            }
        }
        expected
    }

    pub(crate) fn write(&self) -> String {
        let epochs = serde_json::to_string(&self.epochs).unwrap();
        let mut out = format!("{{\"sequence\":{},\"epochs\":{epochs}}}\n", self.sequence);
        for (url, visits) in &self.pages {
            let url = serde_json::to_string(url).unwrap();
            let visits: Vec<String> = visits.iter().map(write_visit).collect();
            writeln!(out, "{{\"url\":{url},\"visits\":[{}]}}", visits.join(",")).unwrap();
        }
        for near in &self.near {
            let Near { fingerprint, k, epoch, every_version, .. } = near;
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

    /// The answers to a search, by comparing with everything.
    pub(crate) fn near(&self, fingerprint: u64, k: u32, epoch: u32, every_version: bool) -> Near {
        let mut found = BTreeSet::new();
        for (url, visits) in &self.pages {
            let in_force = Head::of(visits).and_then(|h| h.in_force());
            let ever = visits.iter().filter_map(Visit::content).filter(|_| every_version);
            let in_force = in_force.into_iter().filter(|_| !every_version);
            for (_, candidate, _) in ever.chain(in_force).filter(|v| v.2 == epoch) {
                let distance = (candidate ^ fingerprint).count_ones();
                if distance <= k {
                    found.insert((distance, surt::key(url), url.clone(), candidate));
                }
            }
        }
        let pages = found.into_iter().map(|(distance, _, url, f)| (url, distance, f)).collect();
        Near { fingerprint, k, epoch, every_version, pages }
    }
}
