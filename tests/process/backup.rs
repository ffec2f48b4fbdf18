//! Backups of a store while another process observes at full speed.

use std::time::{Duration, Instant};

use simkeep::Reader;
use simkeep::backup::{BackupOptions, backup};
use simkeep::verify::{VerifyOptions, verify};

use super::child::ChildProcess;
use super::live::{acknowledged, check, create};
use simkeep_testing::depth::deep;

/// Two hundred backups at depth 10, of fifty stores: a store that is written for very long takes long to
/// check.
#[test]
fn backup_of_a_busy_process_is_a_consistent_state() {
    const OF_ONE: u64 = 4;
    let mut left = deep(20);
    while left > 0 {
        back_up_beside_a_crawler(left.min(OF_ONE));
        left = left.saturating_sub(OF_ONE);
    }
}

fn back_up_beside_a_crawler(backups: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    create(&path);
    const BATCH: u64 = 100;
    let mut crawler = ChildProcess::start("observe", &[&path.display(), &BATCH]);
    crawler.expect("observing");
    let kept = dir.path().join("kept");
    let (mut slowest, mut last, mut linked, mut written) = (Duration::ZERO, None, 0, 0);
    for n in 0..backups {
        // New backups, linked and copied, and one that is updated.
        let to = if n % 4 < 2 { dir.path().join("new") } else { kept.clone() };
        let options = BackupOptions::default().copy(n % 4 == 1);
        let (before, at) = (acknowledged(&path), Instant::now());
        let done = backup(&path, &to, options).unwrap();
        slowest = slowest.max(at.elapsed());
        // One batch may be stored and not acknowledged yet.
        let after = acknowledged(&path) + BATCH;
        let is_between = (before..=after).contains(&done.sequence);
        assert!(is_between, "backup {n} ends at {}, not in {before} to {after}", done.sequence);
        let verified = verify(&to, VerifyOptions::default()).unwrap().sound().unwrap();
        assert_eq!(verified.visits, done.sequence);
        let reader = Reader::open(&to).unwrap();
        assert_eq!((reader.written(), reader.snapshot().sequence()), (None, done.sequence));
        check(&reader);
        if to == kept {
            assert_eq!(done.earlier, last);
            last = Some(done.sequence);
        } else {
            assert_eq!(done.earlier, None);
            std::fs::remove_dir_all(&to).unwrap();
        }
        (linked, written) = (linked + done.linked.files, written + done.bytes_written());
    }
    println!(
        "{backups} backups, at most {slowest:.2?} each; {linked} files were linked, {} KiB written; {} operations",
        written / 1024,
        acknowledged(&path),
    );
    drop(crawler);
}
