//! Runs redb, whose crash protocol is known to be sound, on the simulated disk: the crash model
//! must not lose anything that a real medium keeps.

use redb::{Database, Durability, ReadableDatabase, StorageBackend, TableDefinition};

use super::tests::choice;
use super::*;

const TABLE: TableDefinition<u64, &[u8]> = TableDefinition::new("t");

#[derive(Debug)]
struct SimBackend(Box<dyn DiskFile>);

impl StorageBackend for SimBackend {
    fn len(&self) -> io::Result<u64> {
        self.0.size()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }
}

fn database(disk: &SimDisk, access: Access) -> Result<Database, redb::DatabaseError> {
    let backend = SimBackend(disk.open(FileName::Catalog, access).unwrap());
    Database::builder().set_cache_size(1 << 20).create_with_backend(backend)
}

fn commit(db: &Database, n: u64) -> Result<(), redb::Error> {
    let mut txn = db.begin_write()?;
    txn.set_durability(Durability::Immediate)?;
    txn.set_two_phase_commit(true);
    txn.open_table(TABLE)?.insert(n, [7; 3000].as_slice())?;
    txn.commit()?;
    Ok(())
}

/// The number of commits on a disk. The disk must have the first commits without a gap.
fn committed(disk: &SimDisk) -> u64 {
    let db = database(disk, Access::Write).unwrap();
    let txn = db.begin_read().unwrap();
    let table = txn.open_table(TABLE).unwrap();
    let mut n = 0;
    while let Some(value) = table.get(n).unwrap() {
        assert_eq!(value.value(), [7; 3000]);
        n += 1;
    }
    n
}

/// Makes one durable commit, then more commits until change number `stop` and all later changes
/// fail. Returns the disk and the number of acknowledged commits.
fn run(stop: u64) -> (SimDisk, u64) {
    let disk = SimDisk::new();
    let db = database(&disk, Access::Create).unwrap();
    commit(&db, 0).unwrap();
    disk.sync_dir(Dir::Root).unwrap();
    disk.fail(DiskFault {
        target: FaultTarget::Changes,
        nth: stop,
        kind: io::ErrorKind::Other,
        lasting: true,
    });
    let mut acknowledged = 1;
    while acknowledged < 40 && commit(&db, acknowledged).is_ok() {
        acknowledged += 1;
    }
    (disk, acknowledged)
}

#[test]
fn redb_keeps_acknowledged_commits_through_every_crash() {
    let mut outcomes = [0, 0];
    for stop in 1..150 {
        let (disk, acknowledged) = run(stop);
        for seed in 0..6 {
            let found = committed(&disk.crash(&mut choice(stop * 1000 + seed)));
            assert!((acknowledged..=acknowledged + 1).contains(&found), "{found} {acknowledged}");
            outcomes[usize::from(found > acknowledged)] += 1;
        }
        assert!(committed(&disk.crash_all_kept()) >= acknowledged);
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}
