//! One run: operations on a store and on a model, with the possible states after a crash.

use std::sync::Arc;

use simkeep::disk::{Disk, FileName, RealDisk, SimDisk};
use simkeep::{
    Content, Durability, ETag, Epoch, EpochOptions, Observation, Operation, OperationResult,
    Options, Progress, Property, PropertyEntry, PropertyUpdate, Reader, Restated, Restatement,
    Scope, Seen, Snapshot, Store, Target, Visit,
};
use simkeep_testing::{TIME_MAX, TIME_MIN, ms};
use tempfile::TempDir;

use super::operations::{
    ModelFacts, ModelStep, NewObservation, RandomObservation, StoreEnding, VisitTiming,
};
use simkeep_testing::compare::{
    check_answer, check_counts, check_page, check_reader, check_scan, check_search, check_store,
    check_view, dump,
};
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{EPOCHS, choice, names, on, sound};

/// The number of steps between complete comparisons.
const FULL_CHECK_STEPS: usize = 10;

/// The place of a store.
pub(crate) enum StoreHome {
    Simulated(SimDisk),
    /// Here files are really mapped, and removed while they are; but the power does not fail.
    Real(TempDir),
}

impl StoreHome {
    fn disk(&self) -> Arc<dyn Disk> {
        match self {
            StoreHome::Simulated(disk) => on(disk),
            StoreHome::Real(dir) => Arc::new(RealDisk::new(dir.path())),
        }
    }

    /// All that a reader might change.
    fn contents(&self) -> Vec<(FileName, Vec<u8>)> {
        match self {
            StoreHome::Simulated(disk) => disk.contents(),
            StoreHome::Real(_) => Vec::new(),
        }
    }
}

/// A store and its expected contents.
struct ModelRun {
    options: Options,
    home: StoreHome,
    store: Option<Store>,
    model: Model,
    /// The possible states after a crash: the last durable one, and all later ones.
    crash_states: Vec<Model>,
    kept: Vec<(Snapshot, Model)>,
    /// The sequence number of the last snapshot since this store was opened.
    last_sequence: u64,
    clock: i64,
    requested: Vec<Operation<'static>>,
}

impl ModelRun {
    fn new(options: Options, home: StoreHome, epoch_options: EpochOptions) -> ModelRun {
        let store = Store::create(home.disk(), options.clone()).unwrap();
        let second = Epoch::from_number(1);
        assert_eq!(store.register_epoch(EPOCHS[1], epoch_options).unwrap(), second);
        let store = Some(store);
        let mut model = Model::default();
        model.set_epoch_options(second, epoch_options);
        let crash_states = vec![model.clone()];
        ModelRun {
            options,
            home,
            store,
            model,
            crash_states,
            kept: Vec::new(),
            last_sequence: 0,
            clock: 0,
            requested: Vec::new(),
        }
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn step(&mut self, op: ModelStep) {
        match op {
            ModelStep::Observe(what) => self.observe(&[what], true),
            ModelStep::Batch(whats) => self.observe(&whats, false),
            ModelStep::Flush => {
                self.store().flush().unwrap();
                self.durable();
            }
            ModelStep::Seal => {
                self.store().seal().unwrap();
                self.durable();
                if !self.options.background {
                    assert_eq!(self.store().stats().unwrap().unsealed_visits, 0);
                }
            }
            ModelStep::Merge => {
                self.store().merge(&Progress::default()).unwrap();
                if !self.options.background {
                    assert!(self.store().stats().unwrap().segments.len() <= 1);
                }
            }
            ModelStep::Rest => self.store().wait_idle().unwrap(),
            ModelStep::ForgetUrl(page) => {
                self.forget(Scope::Url(URLS[page]), |u| u == URLS[page], false)
            }
            ModelStep::PurgeUrl(page) => {
                self.forget(Scope::Url(URLS[page]), |u| u == URLS[page], true)
            }
            ModelStep::ForgetPrefix(n) => {
                let under = &PREFIXES[n];
                self.forget(Scope::Prefix(under.prefix()), |u| under.covers(u), false);
            }
            ModelStep::PurgePrefix(n) => {
                let under = &PREFIXES[n];
                self.forget(Scope::Prefix(under.prefix()), |u| under.covers(u), true);
            }
            ModelStep::Reopen(ending, read_only) => self.reopen(ending, read_only),
            ModelStep::Keep => {
                let snapshot = self.store().snapshot();
                assert!(self.last_sequence <= snapshot.sequence());
                self.last_sequence = snapshot.sequence();
                self.kept.push((snapshot, self.model.clone()));
            }
            ModelStep::Compare(at) if !self.kept.is_empty() => {
                let (snapshot, model) = at.get(&self.kept);
                check_view(snapshot, model);
            }
            ModelStep::Release(at) if !self.kept.is_empty() => {
                let (snapshot, model) = self.kept.remove(at.index(self.kept.len()));
                check_view(&snapshot, &model);
            }
            ModelStep::Compare(_) | ModelStep::Release(_) => {}
            ModelStep::Search(query) => check_search(&self.store().snapshot(), &self.model, &query),
            ModelStep::Page(page) => check_page(&self.store().snapshot(), &self.model, URLS[page]),
            ModelStep::Scan(prefix) => {
                check_scan(&self.store().snapshot(), &self.model, Some(prefix))
            }
            ModelStep::Counts => check_counts(self.store(), &self.model),
            ModelStep::Verify => {
                sound(self.store()).unwrap();
            }
            ModelStep::Everything => check_store(self.store(), &self.model),
        }
    }

    /// Returns the next operation, or `None` if it would repeat an observation and there was none.
    fn request(&mut self, what: &RandomObservation) -> Option<Operation<'static>> {
        let new = match what {
            RandomObservation::Again(_) if self.requested.is_empty() => return None,
            RandomObservation::Again(at) => return Some(at.get(&self.requested).clone()),
            RandomObservation::New(new) => new,
        };
        let NewObservation {
            page,
            when,
            seen,
            status,
            modified,
            also,
            restated,
            weight,
            class,
            alone,
            facts: ModelFacts { etag, target, bytes, conditional },
        } = *new;
        let time = match when {
            VisitTiming::Now => self.clock,
            VisitTiming::After(ms) => {
                self.clock += ms;
                self.clock
            }
            VisitTiming::Before(ms) => self.clock - ms,
            VisitTiming::At(time) => time,
        };
        let url = URLS[page];
        let weighed = weight.map(|weight| PropertyUpdate::weight(url, ms(time), weight));
        let classed = class.map(|class| PropertyUpdate::class(url, ms(time), class));
        let property = |property| PropertyEntry { time: ms(time), property };
        let of = |given| PropertyUpdate::of(url, property(given));
        let tagged = etag.and_then(ETag::new).map(|etag| of(Property::ETag(etag)));
        let pointing =
            target.and_then(|to| Target::new(url, to)).map(|to| of(Property::Target(to)));
        let alone = alone.then(|| weighed.or(classed).or(tagged).or(pointing)).flatten();
        if let Some(update) = alone {
            return Some(Operation::SetProperty(update));
        }
        if let Seen::Content(Content { fingerprint, digest, epoch }) = seen
            && restated
        {
            let restated = Restated { time: ms(time), fingerprint, digest, epoch };
            return Some(Operation::Restate(Restatement::of(url, restated)));
        }
        let modified = modified.map(|earlier| (time - earlier).clamp(TIME_MIN, TIME_MAX));
        let mut observation = Observation::of(
            url,
            Visit { time: ms(time), seen, status, modified: modified.map(ms), bytes, conditional },
        );
        (observation.weight, observation.class) = (weight, class);
        (observation.etag, observation.target) = (etag, target);
        let other = seen.content().map_or(0, |content| 1 - content.epoch.number());
        Some(Operation::Observe(match also {
            Some(also) => observation.also(also, Epoch::from_number(other)),
            None => observation,
        }))
    }

    fn observe(&mut self, whats: &[RandomObservation], single: bool) {
        let mut requests = Vec::new();
        for what in whats {
            requests.extend(self.request(what));
            self.requested.extend(requests.last().cloned());
        }
        let found = match &requests[..] {
            [Operation::Observe(observation)] if single => {
                vec![OperationResult::Observed(self.store().observe(*observation).unwrap())]
            }
            [Operation::Restate(restatement)] if single => {
                vec![OperationResult::Restated(self.store().restate(*restatement).unwrap())]
            }
            [Operation::SetProperty(update)] if single => {
                vec![OperationResult::PropertySet(
                    self.store().set_property(update.clone()).unwrap(),
                )]
            }
            _ => self.store().write_batch(&requests).unwrap(),
        };
        assert_eq!(found.len(), requests.len());
        for (found, request) in found.iter().zip(&requests) {
            let expected = self.model.request(request, self.options.near_distance.unwrap_or(3));
            check_answer(found, &expected, self.options.near_limit);
            // A batch that does not fit into the memtable becomes durable in parts.
            self.crash_states.push(self.model.clone());
        }
        self.acknowledged();
    }

    fn forget(&mut self, scope: Scope<'_>, covers: impl Fn(&str) -> bool, purge: bool) {
        let store = self.store();
        let found =
            if purge { store.purge(scope, &Progress::default()) } else { store.forget(scope) };
        assert_eq!(found.unwrap(), self.model.forget(covers));
        self.acknowledged();
        if purge {
            self.durable();
        }
    }

    /// An operation has completed.
    fn acknowledged(&mut self) {
        self.crash_states.push(self.model.clone());
        if self.options.durability != Durability::OnFlush {
            self.durable();
        }
    }

    /// The current state is durable now.
    fn durable(&mut self) {
        self.crash_states = vec![self.model.clone()];
    }

    fn reopen(&mut self, ending: StoreEnding, read_only: bool) {
        let store = self.store.take().unwrap();
        match (ending, &mut self.home) {
            (StoreEnding::Close, _) => {
                store.close().unwrap();
                self.durable();
            }
            (StoreEnding::Kill, StoreHome::Simulated(disk)) => *disk = disk.crash_all_kept(),
            (StoreEnding::Crash(seed), StoreHome::Simulated(disk)) => {
                *disk = disk.crash(&mut choice(seed))
            }
            _ => drop(store),
        }
        if read_only {
            let before = self.home.contents();
            let reader = Reader::open(self.home.disk()).unwrap();
            self.settle(&reader.snapshot());
            check_reader(&reader, &self.model);
            assert!(self.home.contents() == before, "a reader changed a file");
        }
        let store = Store::open(self.home.disk(), self.options.clone()).unwrap();
        assert_eq!(names(store.snapshot().epochs()), EPOCHS);
        self.settle(&store.snapshot());
        check_store(&store, &self.model);
        self.store = Some(store);
    }

    /// Finds the state after a crash: the latest allowed one that matches.
    fn settle(&mut self, view: &Snapshot) {
        let found = dump(view).unwrap();
        match self.crash_states.iter().rev().find(|state| **state == found) {
            Some(_) => self.model = found.with_roles_of(&self.model),
            // Reports the difference.
            None => check_view(view, &self.model),
        }
        self.durable();
        self.last_sequence = 0;
    }
}

pub(crate) fn run(
    options: Options,
    home: StoreHome,
    epoch_options: EpochOptions,
    ops: Vec<ModelStep>,
) {
    let mut run = ModelRun::new(options, home, epoch_options);
    for (i, op) in ops.into_iter().enumerate() {
        run.step(op);
        if (i + 1) % FULL_CHECK_STEPS == 0 {
            check_store(run.store(), &run.model);
        }
    }
    check_store(run.store(), &run.model);
    for (snapshot, model) in &run.kept {
        check_view(snapshot, model);
    }
    sound(run.store()).unwrap();
    // Once more after everything is merged.
    run.kept.clear();
    run.store().seal().unwrap();
    run.store().merge(&Progress::default()).unwrap();
    check_store(run.store(), &run.model);
    run.store.take().unwrap().close().unwrap();
}
