//! Copies of a store that are both written to. A backup never replaces operations that the store
//! lacks.

use super::*;
use simkeep_testing::depth::up_to;
use simkeep_testing::rerun_hint;

/// A store that neither seals nor merges by itself.
fn quiet() -> Options {
    small().memtable_observations(1 << 20).merge_fanout(1 << 10)
}

/// A copy of all files, as `cp -r` makes it, also of an open store. Its random numbers differ.
fn copy(disk: &SimDisk, seed: u64) -> SimDisk {
    let copy = disk.crash_all_kept();
    copy.set_seed(seed);
    copy
}

/// Opens a store, and observes `count` visits to the page `url`.
fn write(disk: &SimDisk, url: &str, count: i64) {
    let store = open(disk, quiet());
    (0..count).for_each(|n| drop(store.observe(Observation::gone(url, ms(1_000 + n))).unwrap()));
    store.close().unwrap();
}

fn why_refused(from: &SimDisk, to: &SimDisk) -> String {
    match back_up(from, to).unwrap_err() {
        Error::NotABackup { why, .. } => why,
        other => panic!("{other}"),
    }
}

/// A regression test: the numbers of operations did not show that the journals differ, so the backup
/// lost the operations of the restored copy.
#[test]
fn restored_copy_and_the_store_do_not_share_a_backup() {
    let (store, to) = (SimDisk::new(), SimDisk::new());
    drop(create(&store, quiet()));
    write(&store, URLS[0], 5);
    let first = back_up(&store, &to).unwrap().sequence;
    let restored = copy(&to, 1);
    write(&restored, URLS[1], 3);
    // A restored copy that has everything of the backup continues it.
    assert_eq!(back_up(&restored, &to).unwrap().earlier, Some(first));
    let before = to.contents();
    for more in [3, 1] {
        write(&store, URLS[2], more);
        let differ = format!("its operations from {} on differ from the store's", first + 1);
        assert_eq!(why_refused(&store, &to), differ);
    }
    assert!(to.contents() == before);
    write(&restored, URLS[1], 1);
    back_up(&restored, &to).unwrap();
    back_up(&store, &SimDisk::new()).unwrap();
    assert_eq!(held(&to).0, held(&restored).0);
}

/// A directory of the random test. Each durable operation and change has a number of its own.
struct Copy {
    disk: SimDisk,
    store: Option<Store>,
    history: Vec<u64>,
}

impl Copy {
    fn new(seed: u64) -> Copy {
        let disk = SimDisk::new();
        drop(create(&disk, quiet()));
        let disk = copy(&disk, seed);
        Copy { disk, store: None, history: Vec::new() }
    }

    fn store(&mut self) -> &Store {
        self.store.get_or_insert_with(|| open(&self.disk, quiet()))
    }
}

/// Some stores, copies of one store, and their backups.
struct CopiedStores {
    stores: Vec<Copy>,
    backups: Vec<(SimDisk, Vec<u64>)>,
    /// The last number of the histories, and of the seeds.
    last: u64,
}

impl CopiedStores {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Writes operations to a store, or changes its lists.
    fn write(&mut self, at: usize, choice: u64) {
        let number = self.next();
        let of = &mut self.stores[at];
        let (epochs, unsealed) = {
            let stats = of.store().stats().unwrap();
            (of.store().snapshot().epochs().len(), stats.unsealed_visits)
        };
        match choice {
            // Stores with equally many epochs register the same name.
            0 => drop(of.store().register_epoch(&format!("e{epochs}"), Role::Near).unwrap()),
            1 if unsealed == 0 => return,
            1 => of.store().seal().unwrap(),
            _ => {
                let url = URLS[usize::try_from(number).unwrap() % URLS.len()];
                drop(of.store().observe(Observation::gone(url, ms(number as i64))).unwrap());
            }
        }
        of.history.push(number);
    }

    /// Replaces a store by a copy of another store, or of a backup.
    fn copy(&mut self, from: usize, to: usize) {
        let seed = self.next();
        let count = self.stores.len();
        let (disk, history) = match from.checked_sub(count) {
            None => (&self.stores[from].disk, self.stores[from].history.clone()),
            Some(backup) if self.backups[backup].0.contents().is_empty() => return,
            Some(backup) => (&self.backups[backup].0, self.backups[backup].1.clone()),
        };
        let disk = copy(disk, seed);
        self.stores[to] = Copy { disk, store: None, history };
    }

    /// Backs up a store. Returns whether the directory had an earlier backup, and whether the backup
    /// was refused.
    fn back_up(&mut self, from: usize, to: usize) -> (bool, bool) {
        let from = &self.stores[from];
        let (disk, earlier) = &mut self.backups[to];
        let before = disk.contents();
        let made = match &from.store {
            Some(store) => store.backup(on(disk), options()),
            None => back_up(&from.disk, disk),
        };
        let keeps_all = from.history.starts_with(earlier);
        match made {
            Ok(_) => {
                assert!(keeps_all, "{earlier:?} is lost with {:?}", from.history);
                earlier.clone_from(&from.history);
                (!before.is_empty(), false)
            }
            Err(Error::NotABackup { why, .. }) => {
                assert!(!keeps_all, "{earlier:?} is refused for {:?}: {why}", from.history);
                assert!(disk.contents() == before);
                (true, true)
            }
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn backup_is_refused_exactly_if_it_would_lose_operations() {
    let _again = rerun_hint();
    let (mut replaced, mut refused) = (0, 0);
    let rounds = up_to(120_u64);
    for round in 0..rounds {
        let mut choice = choice(round);
        let mut copies = CopiedStores {
            stores: vec![Copy::new(1)],
            backups: (0..2).map(|_| (SimDisk::new(), Vec::new())).collect(),
            last: 10,
        };
        for seed in [2, 3] {
            let disk = copy(&copies.stores[0].disk, seed);
            copies.stores.push(Copy { disk, store: None, history: Vec::new() });
        }
        for _ in 0..60 {
            let mut below = |n: usize| usize::try_from(choice(n as u64)).unwrap();
            let (what, at, other) = (below(10), below(3), below(5));
            match what {
                0..=4 => copies.write(at, below(6) as u64),
                5 => copies.stores[at].store = None,
                6 if other != at => copies.copy(other, at),
                6 => {}
                _ => {
                    let (is_later, is_refused) = copies.back_up(at, below(2));
                    refused += u64::from(is_refused);
                    replaced += u64::from(is_later && !is_refused);
                }
            }
        }
    }
    println!("{replaced} backups were replaced, {refused} were refused");
    assert!(replaced > 2 * rounds && refused > 2 * rounds, "{replaced} {refused}");
}
