//! Random operations on a store and on a set of observations: whatever happened, both answer alike.
//!
//! The memtable is tiny and merges take two segments, so a page's history is spread over many
//! components, some forgotten in between. The disk is simulated, so the power can go at any moment.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use proptest::test_runner::{Config, TestRunner};
use simkeep::disk::{Disk, Name, RealDisk, SimDisk};
use simkeep::limits::{TIME_MAX, TIME_MIN};
use simkeep::{
    Answer, Content, Durability, Epoch, Observation, Options, Progress, Query, Reader, Request,
    Restated, Restatement, Scope, Seen, Snapshot, Store, Versions, Visit,
};

use tempfile::TempDir;

use simkeep_testing::compare::{
    check_answer, check_counts, check_outcome, check_page, check_reader, check_scan, check_search,
    check_store, check_view, dump,
};
use simkeep_testing::depth::deep;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{EPOCHS, choice, create, digest, names, observation, on, small, sound};

/// Steps of a run.
const STEPS: usize = 100;
/// How often everything is compared, in steps.
const FULL_CHECK_STEPS: usize = 10;

/// When an observation was made, seen from the one before.
#[derive(Clone, Copy, Debug)]
enum When {
    Now,
    After(i64),
    Before(i64),
    At(i64),
}

#[derive(Clone, Debug)]
enum What {
    New {
        page: usize,
        when: When,
        seen: Seen,
        status: Option<u16>,
        /// The fingerprint of its content in the other epoch.
        also: Option<u64>,
        /// Whether its content is restated, and not seen.
        restated: bool,
    },
    /// An observation of this run once more.
    Again(Index),
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Close,
    Drop,
    /// The process is killed; the system lives on.
    Kill,
    /// The power goes.
    Crash(u64),
}

#[derive(Clone, Debug)]
enum Op {
    Observe(What),
    Batch(Vec<What>),
    Flush,
    Seal,
    Merge,
    Rest,
    ForgetUrl(usize),
    ForgetPrefix(usize),
    PurgeUrl(usize),
    PurgePrefix(usize),
    Reopen(Ending, bool),
    Keep,
    Compare(Index),
    Release(Index),
    Search(Query),
    Page(usize),
    Scan(usize),
    Counts,
    Verify,
    Everything,
}

/// Few fingerprints, most of them close to others, in the middle and at both ends.
fn fingerprint() -> impl Strategy<Value = u64> {
    let base = prop_oneof![
        3 => Just(0x0123_4567_89ab_cdef),
        1 => Just(0xf0f0_1111_f0f0_3333),
        1 => Just(0),
        1 => Just(u64::MAX),
    ];
    let bits = prop_oneof![
        3 => Just(Vec::new()),
        5 => subsequence(vec![0_u32, 1, 15, 16, 17, 31, 32, 47, 48, 63], 0..6),
    ];
    (base, bits).prop_map(|(base, bits)| bits.iter().fold(base, |f, bit| f ^ (1 << bit)))
}

fn seen() -> impl Strategy<Value = Seen> {
    let digests = || prop_oneof![1 => Just(None), 3 => (0..5_u8).prop_map(|n| Some(digest(n)))];
    let epoch = || prop_oneof![4 => Just(Epoch::from_number(0)), 1 => Just(Epoch::from_number(1))];
    let content = || {
        (fingerprint(), digests(), epoch()).prop_map(|(fingerprint, digest, epoch)| Content {
            fingerprint: Some(fingerprint),
            digest,
            epoch,
        })
    };
    prop_oneof![
        8 => content().prop_map(Seen::Content),
        1 => content().prop_map(|c| Seen::Content(Content { fingerprint: None, ..c })),
        1 => digests().prop_map(|digest| Seen::NotModified { digest }),
        1 => Just(Seen::Gone),
        1 => Just(Seen::Failed),
    ]
}

/// The first pages more often, so that some histories are longer than what a head remembers.
fn page() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(0_usize), 2 => 0..4_usize, 6 => 0..URLS.len()]
}

fn what() -> impl Strategy<Value = What> {
    let when = prop_oneof![
        20 => Just(When::Now),
        40 => (1..4_i64).prop_map(When::After),
        30 => (1..15_i64).prop_map(When::Before),
        8 => (-3..3_i64).prop_map(When::At),
        1 => Just(When::At(TIME_MIN)),
        1 => Just(When::At(TIME_MAX)),
    ];
    let status = prop_oneof![3 => Just(None), 1 => Just(Some(200)), 1 => Just(Some(404))];
    let also = prop::option::weighted(0.1, fingerprint());
    let restated = prop::bool::weighted(0.2);
    let new = (page(), when, seen(), status, also, restated).prop_map(
        |(page, when, seen, status, also, restated)| What::New {
            page,
            when,
            seen,
            status,
            also,
            restated,
        },
    );
    prop_oneof![12 => new, 1 => any::<Index>().prop_map(What::Again)]
}

fn query() -> impl Strategy<Value = Query> {
    let k = prop_oneof![3 => Just(3_u32), 5 => 0..10_u32, 1 => 10..=64_u32];
    let limit = prop_oneof![4 => Just(1000_usize), 1 => 0..5_usize];
    let time = || prop_oneof![9 => -10..200_i64, 1 => Just(TIME_MIN), 1 => Just(TIME_MAX)];
    let versions = prop_oneof![
        4 => Just(Versions::InForce),
        2 => Just(Versions::Ever),
        1 => time().prop_map(Versions::At),
        1 => (time(), time()).prop_map(|(from, to)| Versions::Seen(from, to)),
    ];
    let under = prop::option::weighted(0.2, 0..PREFIXES.len());
    (fingerprint(), k, 0..2_u32, limit, versions, under).prop_map(
        |(fingerprint, k, epoch, limit, versions, under)| {
            Query::new(fingerprint, k)
                .epoch(Epoch::from_number(epoch))
                .limit(limit)
                .versions(versions)
                .under(under.map(|prefix| PREFIXES[prefix].prefix()))
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let ending = prop_oneof![
        1 => Just(Ending::Close),
        1 => Just(Ending::Drop),
        1 => Just(Ending::Kill),
        3 => any::<u64>().prop_map(Ending::Crash),
    ];
    let prefix = || 0..PREFIXES.len();
    prop_oneof![
        30 => what().prop_map(Op::Observe),
        15 => prop::collection::vec(what(), 0..12).prop_map(Op::Batch),
        2 => Just(Op::Flush),
        5 => Just(Op::Seal),
        4 => Just(Op::Merge),
        1 => Just(Op::Rest),
        4 => page().prop_map(Op::ForgetUrl),
        3 => prefix().prop_map(Op::ForgetPrefix),
        1 => page().prop_map(Op::PurgeUrl),
        1 => prefix().prop_map(Op::PurgePrefix),
        5 => (ending, any::<bool>()).prop_map(|(ending, read_only)| Op::Reopen(ending, read_only)),
        3 => Just(Op::Keep),
        2 => any::<Index>().prop_map(Op::Compare),
        2 => any::<Index>().prop_map(Op::Release),
        8 => query().prop_map(Op::Search),
        6 => page().prop_map(Op::Page),
        3 => prefix().prop_map(Op::Scan),
        3 => Just(Op::Counts),
        1 => Just(Op::Verify),
        1 => Just(Op::Everything),
    ]
}

/// As many operations as a run has; a failing run is cut down to those that matter.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    let kept = prop::collection::vec(prop::bool::weighted(1.0), STEPS);
    (kept, prop::collection::vec(op(), STEPS)).prop_map(|(kept, ops)| {
        ops.into_iter().zip(kept).filter_map(|(op, kept)| kept.then_some(op)).collect()
    })
}

/// Where a store lives.
enum Home {
    Simulated(SimDisk),
    /// Here files are really mapped, and removed while they are; but the power stays on.
    Real(TempDir),
}

impl Home {
    fn disk(&self) -> Arc<dyn Disk> {
        match self {
            Home::Simulated(disk) => on(disk),
            Home::Real(dir) => Arc::new(RealDisk::new(dir.path())),
        }
    }

    /// Whatever a reader might change.
    fn contents(&self) -> Vec<(Name, Vec<u8>)> {
        match self {
            Home::Simulated(disk) => disk.contents(),
            Home::Real(_) => Vec::new(),
        }
    }
}

/// A store and what it must hold.
struct Run {
    options: Options,
    home: Home,
    store: Option<Store>,
    model: Model,
    /// What a crash may leave: what was last made durable, and all that came to be since.
    crash_states: Vec<Model>,
    kept: Vec<(Snapshot, Model)>,
    /// Of the last snapshot of this store since it was opened.
    last_sequence: u64,
    clock: i64,
    requested: Vec<Request<'static>>,
}

impl Run {
    fn new(options: Options, home: Home) -> Run {
        let store = Store::create(home.disk(), options.clone()).unwrap();
        assert_eq!(store.register_epoch(EPOCHS[1]).unwrap(), Epoch::from_number(1));
        let store = Some(store);
        let model = Model::default();
        let crash_states = vec![model.clone()];
        Run {
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

    fn step(&mut self, op: Op) {
        match op {
            Op::Observe(what) => self.observe(&[what], true),
            Op::Batch(whats) => self.observe(&whats, false),
            Op::Flush => {
                self.store().flush().unwrap();
                self.durable();
            }
            Op::Seal => {
                self.store().seal().unwrap();
                self.durable();
                if !self.options.background {
                    assert_eq!(self.store().stats().unwrap().unsealed_visits, 0);
                }
            }
            Op::Merge => {
                self.store().merge(&Progress::default()).unwrap();
                if !self.options.background {
                    assert!(self.store().stats().unwrap().segments.len() <= 1);
                }
            }
            Op::Rest => self.store().wait_idle().unwrap(),
            Op::ForgetUrl(page) => self.forget(Scope::Url(URLS[page]), |u| u == URLS[page], false),
            Op::PurgeUrl(page) => self.forget(Scope::Url(URLS[page]), |u| u == URLS[page], true),
            Op::ForgetPrefix(n) => {
                let under = &PREFIXES[n];
                self.forget(Scope::Prefix(under.prefix()), |u| under.covers(u), false);
            }
            Op::PurgePrefix(n) => {
                let under = &PREFIXES[n];
                self.forget(Scope::Prefix(under.prefix()), |u| under.covers(u), true);
            }
            Op::Reopen(ending, read_only) => self.reopen(ending, read_only),
            Op::Keep => {
                let snapshot = self.store().snapshot();
                assert!(self.last_sequence <= snapshot.sequence());
                self.last_sequence = snapshot.sequence();
                self.kept.push((snapshot, self.model.clone()));
            }
            Op::Compare(at) if !self.kept.is_empty() => {
                let (snapshot, model) = at.get(&self.kept);
                check_view(snapshot, model);
            }
            Op::Release(at) if !self.kept.is_empty() => {
                let (snapshot, model) = self.kept.remove(at.index(self.kept.len()));
                check_view(&snapshot, &model);
            }
            Op::Compare(_) | Op::Release(_) => {}
            Op::Search(query) => check_search(&self.store().snapshot(), &self.model, &query),
            Op::Page(page) => check_page(&self.store().snapshot(), &self.model, URLS[page]),
            Op::Scan(prefix) => check_scan(&self.store().snapshot(), &self.model, Some(prefix)),
            Op::Counts => check_counts(self.store(), &self.model),
            Op::Verify => {
                sound(self.store()).unwrap();
            }
            Op::Everything => check_store(self.store(), &self.model),
        }
    }

    /// What is asked for next; nothing if that is to repeat what was never asked for.
    fn request(&mut self, what: &What) -> Option<Request<'static>> {
        let (page, when, seen, status, also, restated) = match *what {
            What::Again(_) if self.requested.is_empty() => return None,
            What::Again(at) => return Some(*at.get(&self.requested)),
            What::New { page, when, seen, status, also, restated } => {
                (page, when, seen, status, also, restated)
            }
        };
        let time = match when {
            When::Now => self.clock,
            When::After(ms) => {
                self.clock += ms;
                self.clock
            }
            When::Before(ms) => self.clock - ms,
            When::At(time) => time,
        };
        let url = URLS[page];
        if let Seen::Content(Content { fingerprint: Some(fingerprint), digest, epoch }) = seen
            && restated
        {
            let restated = Restated { time, fingerprint, digest, epoch };
            return Some(Request::Restate(Restatement::of(url, restated)));
        }
        let observation = Observation::of(url, Visit { time, seen, status });
        let other = seen.content().map_or(0, |content| 1 - content.epoch.number());
        Some(Request::Observe(match also {
            Some(fingerprint) => observation.also(fingerprint, Epoch::from_number(other)),
            None => observation,
        }))
    }

    fn observe(&mut self, whats: &[What], single: bool) {
        let mut requests = Vec::new();
        for what in whats {
            requests.extend(self.request(what));
            self.requested.extend(requests.last());
        }
        let found = match requests[..] {
            [Request::Observe(observation)] if single => {
                vec![Answer::Observed(self.store().observe(observation).unwrap())]
            }
            [Request::Restate(restatement)] if single => {
                vec![Answer::Restated(self.store().restate(restatement).unwrap())]
            }
            _ => self.store().request_batch(&requests).unwrap(),
        };
        assert_eq!(found.len(), requests.len());
        for (found, request) in found.iter().zip(&requests) {
            let expected = self.model.request(request, self.options.near_distance);
            check_answer(found, &expected, self.options.near_limit);
            // A batch that does not fit the memtable becomes durable in parts.
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

    /// An operation is over.
    fn acknowledged(&mut self) {
        self.crash_states.push(self.model.clone());
        if self.options.durability != Durability::OnFlush {
            self.durable();
        }
    }

    /// No crash takes what is there now.
    fn durable(&mut self) {
        self.crash_states = vec![self.model.clone()];
    }

    fn reopen(&mut self, ending: Ending, read_only: bool) {
        let store = self.store.take().unwrap();
        match (ending, &mut self.home) {
            (Ending::Close, _) => {
                store.close().unwrap();
                self.durable();
            }
            (Ending::Kill, Home::Simulated(disk)) => *disk = disk.crash_all_kept(),
            (Ending::Crash(seed), Home::Simulated(disk)) => *disk = disk.crash(&mut choice(seed)),
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

    /// Finds out what a crash left: the latest state that it may be.
    fn settle(&mut self, view: &Snapshot) {
        let found = dump(view).unwrap();
        match self.crash_states.iter().rev().find(|state| **state == found) {
            Some(_) => self.model = found,
            // Says where they differ.
            None => check_view(view, &self.model),
        }
        self.durable();
        self.last_sequence = 0;
    }
}

fn run(options: Options, home: Home, ops: Vec<Op>) {
    let mut run = Run::new(options, home);
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
    // And once more when all is in one place.
    run.kept.clear();
    run.store().seal().unwrap();
    run.store().merge(&Progress::default()).unwrap();
    check_store(run.store(), &run.model);
    run.store.take().unwrap().close().unwrap();
}

/// `runs` at depth 1, on stores opened in this way.
fn agree(runs: u64, options: impl Strategy<Value = Options>) {
    agree_on(runs, options, || Home::Simulated(SimDisk::new()));
}

fn agree_on(runs: u64, options: impl Strategy<Value = Options>, home: fn() -> Home) {
    let cases = u32::try_from(deep(runs)).unwrap();
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 100_000,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&(options, ops()), |(options, ops)| {
        run(options, home(), ops);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Now and then with answers that are cut, or that look further.
fn asking(options: Options) -> impl Strategy<Value = Options> {
    let limit = prop_oneof![5 => Just(1000_usize), 1 => 1..4_usize];
    let distance = prop_oneof![4 => Just(3_u32), 1 => 0..20_u32];
    (limit, distance).prop_map(move |(near_limit, near_distance)| {
        options.clone().near_limit(near_limit).near_distance(near_distance)
    })
}

#[test]
fn any_operations_agree_with_a_linear_scan() {
    agree(750, asking(small()));
}

#[test]
fn any_operations_agree_while_sealing_and_merging_go_on_behind_them() {
    agree(100, asking(small().background(true)));
}

#[test]
fn without_a_sync_for_each_call_a_crash_leaves_what_was_flushed_and_maybe_what_came_next() {
    agree(100, asking(small().durability(Durability::OnFlush)));
}

#[test]
fn waiting_for_others_to_join_a_commit_changes_no_answer() {
    let durability = Durability::Grouped(Duration::from_micros(20));
    agree(45, asking(small().durability(durability)));
}

#[test]
fn any_operations_agree_in_a_real_directory() {
    let options = (any::<bool>(), asking(small()));
    let options = options.prop_map(|(background, options)| options.background(background));
    agree_on(5, options, || Home::Real(tempfile::tempdir().unwrap()));
}

/// Of a large batch, one part is looked up while another is applied, on several threads, and seals
/// and merges come between.
#[test]
fn a_large_batch_answers_as_its_entries_would_one_after_another() {
    for (background, memtable_observations) in [(false, 700), (true, 300), (false, 100_000)] {
        let options = small().background(background).memtable_observations(memtable_observations);
        let store = create(&SimDisk::new(), options);
        let mut model = Model::default();
        let mut choice = choice(u64::from(background));
        let pages: Vec<String> =
            (0..150).map(|i| format!("http://example.com/{}/{i}", i % 7)).collect();
        for round in 0..3_i64 {
            let batch: Vec<Observation> = (0..2_600)
                .map(|i| {
                    let page = usize::try_from(choice(pages.len() as u64)).unwrap();
                    let mut visit = observation(&mut choice, 1, round * 100 + i / 26).visit;
                    if let Seen::Content(content) = &mut visit.seen {
                        let moved = 0xff << (choice(6) * 8);
                        content.fingerprint = content.fingerprint.map(|f| f ^ moved);
                    }
                    Observation::of(&pages[page], visit)
                })
                .collect();
            let found = store.observe_batch(&batch).unwrap();
            for (found, observation) in found.iter().zip(&batch) {
                check_outcome(found, &model.observe(observation, 3), 1000);
            }
        }
        check_counts(&store, &model);
        assert!(dump(&store.snapshot()).unwrap() == model);
        for page in &pages {
            check_page(&store.snapshot(), &model, page);
        }
        sound(&store).unwrap();
    }
}

#[test]
fn answers_are_cut_at_the_limit_and_say_so() {
    const PAGES: usize = 40;
    let pages: Vec<String> = (0..PAGES).map(|i| format!("http://example.com/{i:02}")).collect();
    for sealed in [false, true] {
        for limit in [1, 2, 5, PAGES - 1, PAGES, 100] {
            let disk = SimDisk::new();
            let options = small().near_limit(limit).memtable_observations(1000);
            let store = create(&disk, options);
            let mut model = Model::default();
            let mut see = |url, fingerprint, n| {
                let seen = Observation::content(url, 7, fingerprint, Epoch::from_number(0))
                    .digest(digest(n));
                let expected = model.observe(&seen, 3);
                let found = store.observe(seen).unwrap();
                check_outcome(&found, &expected, limit);
                found
            };
            // Nearly all are copies of one; the last four are near, the first of them at distance 0.
            for (i, page) in pages.iter().enumerate() {
                let near = i.saturating_sub(PAGES - 4);
                let different = if i >= PAGES - 4 { 2 } else { 1 };
                see(page, (1 << near) >> 1, different);
            }
            if sealed {
                store.seal().unwrap();
            }
            let found = see("http://example.org/", 0, 1);
            assert_eq!(found.copies.len(), limit.min(PAGES - 4));
            assert_eq!(found.near.len(), limit.min(4));
            assert_eq!(found.complete, limit >= PAGES - 4);
            for versions in [Versions::InForce, Versions::Ever] {
                let query =
                    Query::new(0, 3).epoch(Epoch::from_number(0)).limit(limit).versions(versions);
                check_search(&store.snapshot(), &model, &query);
            }
        }
    }
}
