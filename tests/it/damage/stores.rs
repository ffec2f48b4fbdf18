//! The damaged stores, and their answers while they are sound.

use std::fs;
use std::ops::Range;

use simkeep::disk::{FileName, SimDisk};
use simkeep::{
    Content, Digest, Epoch, Matches, Observation, Query, Reader, Result, Scope, Seen, Snapshot,
    Versions, Visit,
};

use crate::damage::saved::ever;
use simkeep_testing::compare::dump;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::sample::{closed_sample, each_request, file, fill, killed_sample, with};
use simkeep_testing::{create, in_repository, ms, names, on, open, small};

/// The files of a sound store, and its answers.
pub(crate) struct SoundStore {
    pub(crate) what: &'static str,
    pub(crate) files: Vec<(FileName, Vec<u8>)>,
    pub(crate) answers: SoundAnswers,
    /// All visits that were ever observed, forgotten or not.
    pub(crate) ever: Model,
}

pub(crate) type SoundAnswers = (Model, Vec<Matches>, Vec<String>);

/// All answers of a store.
pub(crate) fn answers(view: &Snapshot) -> Result<SoundAnswers> {
    let model = dump(view)?;
    let mut searches = Vec::new();
    for epoch in [Epoch::from_number(0), Epoch::from_number(1)] {
        for k in [3, 64] {
            let query = Query::new(0x0123_4567_89ab_cdef, k).epoch(epoch).limit(1000);
            searches.push(view.search(&query)?);
            searches.push(view.search(&query.clone().versions(Versions::Ever))?);
        }
    }
    for url in URLS {
        view.latest(url)?;
        view.as_of(url, ms(2_000))?;
    }
    for under in &PREFIXES {
        view.scan(Some(&under.prefix())).collect::<Result<Vec<_>>>()?;
    }
    Ok((model, searches, names(view.epochs()).into_iter().map(str::to_owned).collect()))
}

impl SoundStore {
    pub(crate) fn of(what: &'static str, files: Vec<(FileName, Vec<u8>)>) -> SoundStore {
        let reader = Reader::open(on(&SimDisk::of(files.iter().cloned()))).unwrap();
        let answers = answers(&reader.snapshot()).unwrap();
        let ever = answers.0.clone();
        SoundStore { what, files, answers, ever }
    }

    /// A small store that was killed.
    pub(crate) fn killed() -> SoundStore {
        SoundStore { ever: ever(), ..SoundStore::of("killed", killed_sample().0) }
    }

    /// Another small store that was killed.
    pub(crate) fn another() -> SoundStore {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        let mut model = Model::default();
        for seed in 11..14 {
            fill(&store, &mut model, seed, 45);
            store.forget(Scope::Prefix(PREFIXES[5].prefix())).unwrap();
            fill(&store, &mut model, seed + 10, 10);
            store.seal().unwrap();
        }
        fill(&store, &mut model, 31, 10);
        SoundStore::of("other", disk.contents())
    }

    /// A small store that was closed.
    pub(crate) fn closed() -> SoundStore {
        SoundStore { ever: ever(), ..SoundStore::of("closed", closed_sample().0) }
    }

    /// The golden store: larger, with rotations and a journal.
    pub(crate) fn golden() -> SoundStore {
        let root = in_repository("format/golden/v6");
        let names = [
            FileName::Catalog,
            FileName::Lock,
            FileName::Segment(3),
            FileName::Segment(7),
            FileName::Segment(8),
        ];
        let read = |name: FileName| (name, fs::read(root.join(name.to_string())).unwrap());
        SoundStore::of("golden", names.map(read).to_vec())
    }

    /// A store whose segments have many blocks.
    pub(crate) fn large() -> SoundStore {
        let disk = SimDisk::new();
        let store = create(&disk, small().memtable_observations(4096));
        let mut ever = Model::default();
        for from in [0u64, 900] {
            let observed: Vec<(String, Visit)> =
                (from..from + 1500).map(|n| page(n, from)).collect();
            observed.iter().for_each(|(url, visit)| ever.insert(url, (*visit).into()));
            let batch = observed.iter().map(|(url, visit)| Observation::of(url, *visit));
            store.observe_batch(&batch.collect::<Vec<_>>()).unwrap();
            for forgotten in [3, 17, 950] {
                store.forget(Scope::Url(&page(forgotten, from).0)).unwrap();
            }
            store.seal().unwrap();
        }
        store.forget(Scope::Url(&page(1000, 0).0)).unwrap();
        fill(&store, &mut Model::default(), 7, 12);
        each_request(7, 12, |request| ever.insert_any(&request));
        SoundStore { ever, ..SoundStore::of("large", disk.contents()) }
    }

    pub(crate) fn file(&self, name: FileName) -> &[u8] {
        file(&self.files, name)
    }

    /// This store, with other contents of one file.
    pub(crate) fn with(&self, name: FileName, content: Vec<u8>) -> SimDisk {
        with(&self.files, name, content)
    }

    pub(crate) fn segments(&self) -> Vec<FileName> {
        let names = self.files.iter().map(|(name, _)| *name);
        names.filter(|name| matches!(name, FileName::Segment(_))).collect()
    }
}

/// A page of the large store, and its visit.
fn page(number: u64, from: u64) -> (String, Visit) {
    let seen = Seen::Content(Content {
        fingerprint: Some(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ from),
        digest: Some(Digest(u128::from(number).to_le_bytes())),
        epoch: Epoch::from_number(u32::from(number.is_multiple_of(5))),
    });
    let url = format!("https://site{}.example/a/page/number/{number}", number % 7);
    (
        url,
        Visit {
            time: ms(i64::try_from(1_000_000 + from).unwrap()),
            seen,
            status: None,
            modified: None,
            bytes: None,
            conditional: false,
        },
    )
}

/// The small store some operations after it was killed, and its catalog before them.
pub(crate) fn with_older_catalog() -> (SoundStore, Vec<u8>) {
    let (files, _) = killed_sample();
    let older = file(&files, FileName::Catalog).to_vec();
    let disk = SimDisk::of(files);
    let store = open(&disk, small());
    fill(&store, &mut Model::default(), 4, 5);
    (SoundStore::of("gone on", disk.contents()), older)
}

/// The kind and place of each section of a segment, read from its table as in `format/segment.md`.
pub(crate) fn sections(file: &[u8]) -> Vec<(u16, Range<usize>)> {
    let (table, count) = table(file);
    let section = |number: usize| {
        let entry = table + 128 + 24 * number;
        let start = word(file, entry + 8);
        let kind = u16::from_le_bytes(file[entry..entry + 2].try_into().unwrap());
        (kind, start..start + word(file, entry + 16))
    };
    (0..count).map(section).collect()
}

fn word(file: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(file[at..at + 8].try_into().unwrap())).unwrap()
}

/// The place of the table of a segment, and its number of sections.
fn table(file: &[u8]) -> (usize, usize) {
    let trailer = file.len() - 64;
    (word(file, trailer + 16), word(file, trailer + 32))
}

/// The sequence numbers of the first and the last operation of a segment.
pub(crate) fn operations(file: &[u8]) -> (u64, u64) {
    let table = table(file).0;
    (word(file, table) as u64, word(file, table + 8) as u64)
}

/// The used bytes of a segment: all but the zeros between its sections.
pub(crate) fn live_bytes(file: &[u8]) -> Vec<bool> {
    let mut live = vec![false; file.len()];
    live[..64].fill(true);
    live[table(file).0..].fill(true);
    for (_, range) in sections(file) {
        live[range].fill(true);
    }
    live
}
