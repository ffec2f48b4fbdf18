//! Any operations on a store and on the model of the tests. Both give the same answers, even after
//! the disk failed or the power was cut during an operation.
//!
//! Each operation is a byte that selects it, followed by its parameters. The clock advances with
//! each observation that does not set another time.

use std::io::ErrorKind;
use std::sync::LazyLock;

use crate::{TIME_MAX, TIME_MIN, ms};
use simkeep::disk::{DiskFault, FaultTarget, FileName, SimDisk};
use simkeep::{
    Classes, Content, Epoch, Observation, Operation, Options, Progress, PropertyUpdate, Query,
    Restatement, Scope, Seen, Snapshot, Store, Versions, Visit, Weight,
};

use crate::compare::{
    check_answer, check_counts, check_page, check_scan, check_search, check_store, check_view, dump,
};
use crate::forge::catalog::{ForgedCatalog, ForgedEpoch};
use crate::fuzz::input::FuzzInput;
use crate::fuzz::store::CATALOG;
use crate::model::Model;
use crate::pages::{PREFIXES, URLS};
use crate::{EPOCHS, ETAGS, TARGETS, choice, digest, open, small, sound};

const STEPS_MAX: usize = 100;

/// The classes of pages.
const CLASSES: [u32; 4] = [0, 1, 300, u32::MAX];

/// The catalog of an empty store with both epochs.
static EMPTY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let settings = ForgedCatalog::read(CATALOG).settings;
    let epochs = (0..).zip(EPOCHS).map(|(count, name)| ForgedEpoch::new(count, name)).collect();
    let mut catalog = ForgedCatalog { settings, epochs, ..ForgedCatalog::default() };
    catalog.narrow();
    *catalog.setting("next_segment") = 1;
    catalog.write()
});

/// Runs one input.
pub fn run(data: &[u8]) {
    let disk = SimDisk::of([(FileName::Catalog, EMPTY.clone())]);
    let options = small();
    let store = Some(open(&disk, options.clone()));
    let mut run =
        OperationRun { options, disk, store, model: Model::default(), kept: None, clock: 0 };
    let mut input = FuzzInput(data);
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        run.step(&mut input);
    }
    run.check();
    sound(run.store()).unwrap();
    run.release();
    run.store().seal().unwrap();
    run.store().merge(&Progress::default()).unwrap();
    check_store(run.store(), &run.model);
    sound(run.store()).unwrap();
}

struct OperationRun {
    options: Options,
    disk: SimDisk,
    store: Option<Store>,
    model: Model,
    kept: Option<(Snapshot, Model)>,
    clock: i64,
}

impl OperationRun {
    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn step(&mut self, input: &mut FuzzInput<'_>) {
        match input.u8() % 16 {
            0..=4 => self.observe(input, 1),
            5 => {
                let n = input.below(40);
                self.observe(input, n);
            }
            6 => self.store().seal().unwrap(),
            7 => {
                self.store().merge(&Progress::default()).unwrap();
                assert!(self.store().stats().unwrap().segments.len() <= 1);
            }
            8 => self.forget(input),
            9 => self.store().wait_idle().unwrap(),
            10 => self.reopen(input),
            11 => self.fail(input),
            12 => {
                self.release();
                self.kept = Some((self.store().snapshot(), self.model.clone()));
            }
            13 => {
                let query = Query::new(fingerprint(input), u32::from(input.u8()) % 65);
                let last = input.u8();
                let epoch = Epoch::from_number(u32::from(last & 1));
                let some = (0..).zip(CLASSES).filter(|(bit, _)| last >> (bit + 2) & 1 == 1);
                let classes = Classes::of(some.map(|(_, class)| class));
                let classes = if last >> 6 & 1 == 1 { classes.and_unclassed() } else { classes };
                let classes = (last & 2 == 2).then_some(classes);
                let query = query.epoch(epoch).limit(1000).classes(classes);
                check_search(&self.store().snapshot(), &self.model, &query);
                check_search(
                    &self.store().snapshot(),
                    &self.model,
                    &query.versions(Versions::Ever),
                );
            }
            14 => check_page(&self.store().snapshot(), &self.model, page(input)),
            _ => {
                check_counts(self.store(), &self.model);
                let prefix = input.below(PREFIXES.len());
                check_scan(&self.store().snapshot(), &self.model, Some(prefix));
            }
        }
    }

    fn request(&mut self, input: &mut FuzzInput<'_>) -> Operation<'static> {
        let url = page(input);
        let time = match input.u8() {
            0 => TIME_MIN,
            255 => TIME_MAX,
            when @ 1..=99 => self.clock - i64::from(when % 16),
            when => {
                self.clock += i64::from(when % 4) * 250;
                self.clock
            }
        };
        let what = input.u8();
        let digest = (what & 8 == 0).then(|| digest(what >> 4 & 7));
        let seen = match what & 7 {
            0 => Seen::Gone,
            1 => Seen::Failed,
            2 => Seen::NotModified { digest },
            _ => {
                let epoch = Epoch::from_number(u32::from(what >> 7));
                let fingerprint = (what & 0x47 != 0x47).then(|| fingerprint(input));
                Seen::Content(Content { fingerprint, digest, epoch })
            }
        };
        let status = (what & 9 == 9).then_some(200 + u16::from(what >> 4));
        let last = input.u8();
        let earlier = i64::from(last >> 3 & 15) * 125 - 125;
        let modified = (last >> 7 == 1).then(|| ms((time - earlier).clamp(TIME_MIN, TIME_MAX)));
        let mut observation =
            Observation::of(url, Visit { status, modified, ..Visit::new(ms(time), seen) });
        // Taken from bits that are otherwise the date.
        let (bytes, conditional) = (last & 0x18 == 0x18, last & 0x28 == 0x28);
        observation.visit.bytes = bytes.then_some(u64::from(what) * 1_000);
        observation.visit.conditional = conditional;
        observation.etag = (last % 8 == 6).then(|| ETAGS[usize::from(what >> 6) % ETAGS.len()]);
        observation.target = (last % 8 == 7).then(|| TARGETS[usize::from(what >> 6)]);
        // Taken from bits that are otherwise the status.
        let weight = Weight::from(f64::from(1 + (what >> 4)) / 10.0);
        observation.weight = (last % 8 == 2).then_some(weight);
        let class = CLASSES[usize::from(what >> 6)];
        observation.class = (last % 8 == 4).then_some(class);
        match (last % 8, seen.content()) {
            (3, _) => PropertyUpdate::weight(url, ms(time), weight).into(),
            (5, _) => PropertyUpdate::class(url, ms(time), class).into(),
            (0, Some(content)) => {
                let other = (what & 0x30 != 0x30).then(|| fingerprint(input));
                observation.also(other, Epoch::from_number(1 - content.epoch.number())).into()
            }
            (1, Some(Content { fingerprint, epoch, .. })) => {
                Restatement::new(url, ms(time), *fingerprint, *epoch).into()
            }
            _ => observation.into(),
        }
    }

    fn observe(&mut self, input: &mut FuzzInput<'_>, n: usize) {
        let requests: Vec<_> = (0..n).map(|_| self.request(input)).collect();
        let found = self.store().write_batch(&requests).unwrap();
        assert_eq!(found.len(), n);
        for (found, request) in found.iter().zip(&requests) {
            let expected = self.model.request(request, self.options.near_distance.unwrap_or(3));
            check_answer(found, &expected, self.options.near_limit);
        }
    }

    fn forget(&mut self, input: &mut FuzzInput<'_>) {
        let (what, n) = (input.u8(), input.u8());
        let url = URLS[usize::from(n) % URLS.len()];
        let under = &PREFIXES[usize::from(n) % PREFIXES.len()];
        let by_url = what & 1 == 0;
        let covers = |u: &str| if by_url { u == url } else { under.covers(u) };
        let scope = if by_url { Scope::Url(url) } else { Scope::Prefix(under.prefix()) };
        let store = self.store();
        let found = if what & 6 == 0 {
            store.purge(scope, &Progress::default())
        } else {
            store.forget(scope)
        };
        assert_eq!(found.unwrap(), self.model.forget(covers));
    }

    /// Ends the store in one of several ways, and opens it again. Everything that was acknowledged
    /// is there.
    fn reopen(&mut self, input: &mut FuzzInput<'_>) {
        let store = self.store.take().unwrap();
        match input.u8() % 4 {
            0 => store.close().unwrap(),
            1 => drop(store),
            2 => self.disk = self.disk.crash_all_kept(),
            _ => self.disk = self.disk.crash(&mut choice(input.u64())),
        }
        self.store = Some(open(&self.disk, self.options.clone()));
        self.check();
    }

    fn check(&self) {
        if dump(&self.store().snapshot()).unwrap() != self.model {
            // Shows where they differ.
            check_store(self.store(), &self.model);
        }
        check_counts(self.store(), &self.model);
    }

    /// Makes the disk fail some operations from now on, once or permanently, during an operation of
    /// the store; then cuts the power. Afterwards, the state is the earlier one, or the one that
    /// the operation should have reached.
    fn fail(&mut self, input: &mut FuzzInput<'_>) {
        let (nth, kind) = (u64::from(input.u8()) + 1, input.u8());
        let before = self.model.clone();
        let io = if kind & 2 == 0 { ErrorKind::Other } else { ErrorKind::StorageFull };
        let fault = DiskFault { target: FaultTarget::Any, nth, kind: io, lasting: kind & 1 == 0 };
        let what = input.u8() % 5;
        let request = [self.request(input)];
        let under = &PREFIXES[input.below(PREFIXES.len())];
        self.disk.fail(fault);
        let store = self.store();
        let done = match what {
            0 => store.write_batch(&request).map(drop),
            1 => store.forget(Scope::Prefix(under.prefix())).map(drop),
            2 => store.seal(),
            3 => store.merge(&Progress::default()).map(drop),
            _ => store.purge(Scope::Prefix(under.prefix()), &Progress::default()).map(drop),
        };
        match what {
            0 => drop(self.model.request(&request[0], self.options.near_distance.unwrap_or(3))),
            1 | 4 => drop(self.model.forget(|url| under.covers(url))),
            _ => {}
        }
        // The failure may also occur while the store is dropped.
        self.store = None;
        let seed = input.u64();
        self.disk = match seed {
            0 => self.disk.crash_synced_only(),
            1 => self.disk.crash_all_kept(),
            _ => self.disk.crash(&mut choice(seed)),
        };
        self.store = Some(open(&self.disk, self.options.clone()));
        if done.is_err() && dump(&self.store().snapshot()).unwrap() == before {
            self.model = before;
        }
        self.check();
    }

    /// Checks that a kept snapshot has not changed.
    fn release(&mut self) {
        if let Some((snapshot, model)) = self.kept.take() {
            check_view(&snapshot, &model);
        }
    }
}

fn page(input: &mut FuzzInput<'_>) -> &'static str {
    URLS[input.below(URLS.len())]
}

/// One of a few fingerprints, most of them near others.
fn fingerprint(input: &mut FuzzInput<'_>) -> u64 {
    let n = input.u8();
    let base = [0x0123_4567_89ab_cdef, 0xf0f0_1111_f0f0_3333, 0, u64::MAX][usize::from(n & 3)];
    let bits = [0, 15, 16, 31, 47, 63].iter().enumerate();
    bits.filter(|(i, _)| n >> (i + 2) & 1 == 1).fold(base, |f, (_, bit)| f ^ 1 << bit)
}
