//! Metrics that an open store records.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use metrics::with_local_recorder;
use simkeep::disk::{Disk, Meter, OpKind, SimDisk};
use simkeep::metrics::{ALL, Instrument};
use simkeep::{Digest, ETag, Epoch, Error, Observation, Options, Progress, Query, Store};
use simkeep_testing::disks::HookDisk;
use simkeep_testing::recorder::MetricsRecording;
use simkeep_testing::{in_repository, ms, on, small};

const F: u64 = 0x0123_4567_89ab_cdef;

/// Creates a store. Returns it with the recording of its metrics.
fn recorded(disk: Arc<dyn Disk>, options: Options) -> (Store, MetricsRecording) {
    let recording = MetricsRecording::default();
    let store = with_local_recorder(&recording, || Store::create(disk, options)).unwrap();
    (store, recording)
}

/// The name of an instrument of the only store, with its labels.
fn name(of: &str, label: &str) -> String {
    let label = if label.is_empty() { String::new() } else { format!(",{label}") };
    format!("{of}{{store={}{label}}}", SimDisk::new().location())
}

fn content(url: &str, time: i64, fingerprint: u64, digest: u8) -> Observation<'_> {
    Observation::content(url, ms(time), fingerprint, Epoch::from_number(0))
        .digest(Digest([digest; 16]))
}

#[test]
fn each_verdict_is_counted() {
    let (store, recording) = recorded(on(&SimDisk::new()), small());
    let url = "http://a.example/";
    let visits = [
        (Observation::not_modified("http://b.example/", ms(1)), "unseen"),
        (content(url, 1, F, 1), "new"),
        (content(url, 2, F, 1), "same"),
        (content(url, 3, F ^ 0xff, 2), "changed"),
        (content(url, 4, F, 1), "reverted"),
        (Observation::failed(url, ms(5)), "failed"),
        (Observation::gone(url, ms(6)), "gone"),
        (Observation::gone(url, ms(6)), "known"),
        (content(url, 0, F, 1), "out_of_order"),
    ];
    for (n, (visit, verdict)) in visits.into_iter().enumerate() {
        let counter = name("simkeep_observations_total", &format!("verdict={verdict}"));
        assert_eq!(recording.count(&counter), 0, "{verdict}");
        // By one call or by the other.
        if n % 2 == 0 {
            store.observe(visit).unwrap();
        } else {
            store.observe_batch(&[visit]).unwrap();
        }
        assert_eq!(recording.count(&counter), 1, "{verdict}");
    }
    assert_eq!(recording.count(&name("simkeep_commit_seconds", "")), 8);
    assert_eq!(recording.count(&name("simkeep_search_cut_total", "")), 0);
}

#[test]
fn disk_writes_are_counted_by_kind_of_file() {
    let meter = Meter::counting(on(&SimDisk::new()));
    let disk: Arc<dyn Disk> = Arc::new(meter.clone());
    Store::create(Arc::clone(&disk), small()).unwrap().close().unwrap();
    let recording = MetricsRecording::default();
    let before = meter.counts();
    let store = with_local_recorder(&recording, || Store::open(disk, small())).unwrap();
    for n in 0..40 {
        store.observe(content(&format!("http://a.example/{n}"), 1, n, 1)).unwrap();
    }
    store.flush().unwrap();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let segments = store.stats().unwrap().segments.len();
    assert_eq!(recording.gauge(&name("simkeep_segments", "")), segments as f64);
    store.close().unwrap();
    let given = meter.counts().since(&before);
    let sum = |of: &str| {
        let all = recording.names().into_iter().filter(|name| name.starts_with(of));
        all.map(|name| recording.count(&name)).sum::<u64>()
    };
    assert_eq!(sum("simkeep_written_bytes_total"), given.bytes_written);
    assert_eq!(sum("simkeep_syncs_total"), given.file_syncs + given.dir_syncs);
    for what in ["catalog", "segment", "snapshot"] {
        let what = &format!("what={what}");
        assert!(recording.count(&name("simkeep_written_bytes_total", what)) > 0, "{what}");
        assert!(recording.count(&name("simkeep_syncs_total", what)) > 0, "{what}");
    }
    assert!(recording.count(&name("simkeep_seal_seconds", "")) >= 3);
    assert!(recording.count(&name("simkeep_merge_seconds", "")) >= 1);
}

#[test]
fn incomplete_searches_are_counted() {
    let (store, recording) = recorded(on(&SimDisk::new()), small().near_limit(2));
    let cut = name("simkeep_search_cut_total", "");
    for n in 0..3 {
        store.observe(content(&format!("http://a.example/{n}"), 1, F, n)).unwrap();
    }
    assert_eq!(recording.count(&cut), 0);
    store.observe(content("http://a.example/3", 1, F, 3)).unwrap();
    assert_eq!(recording.count(&cut), 1, "three are near, two are named");
    assert!(store.snapshot().search(&Query::new(F, 3)).unwrap().complete);
    assert_eq!(recording.count(&cut), 1);
    let query = Query::new(F, 3).limit(1);
    assert!(!store.snapshot().search(&query).unwrap().complete);
    assert_eq!(recording.count(&cut), 2);
    query.run_batch(&store.snapshot(), &[F, !F, F]).unwrap();
    assert_eq!(recording.count(&cut), 4);
}

#[test]
fn long_etags_are_counted() {
    let (store, recording) = recorded(on(&SimDisk::new()), small());
    let (url, long) = ("http://a.example/", [b'x'; ETag::BYTES_MAX + 1]);
    let count = || recording.count(&name("simkeep_long_etags_total", ""));
    store.observe(content(url, 1, F, 1).etag(&long[1..])).unwrap();
    assert_eq!(count(), 0);
    let visits = [content(url, 2, F, 1).etag(&long), content(url, 3, F, 1)];
    store.observe_batch(&visits).unwrap();
    assert_eq!(count(), 1);
    store.observe(Observation::not_modified(url, ms(4)).etag(&long)).unwrap();
    assert_eq!(count(), 2);
    // A store that keeps no entity tags has none that are too long.
    let (store, recording) = recorded(on(&SimDisk::new()), small().validators(false));
    store.observe(content(url, 1, F, 1).etag(&long)).unwrap();
    assert_eq!(recording.count(&name("simkeep_long_etags_total", "")), 0);
}

#[test]
fn saved_bodies_are_counted() {
    let (store, recording) = recorded(on(&SimDisk::new()), small());
    let counts = || {
        let of = |of: &str, what: &str| recording.count(&name(of, &format!("what={what}")));
        let bodies = ["not_modified", "unchanged", "copy"];
        let bodies = bodies.map(|what| of("simkeep_saved_bodies_total", what));
        (bodies, ["unchanged", "copy"].map(|what| of("simkeep_saved_bytes_total", what)))
    };
    let (url, other) = ("http://a.example/", "http://b.example/");
    store.observe(content(url, 1, F, 1).bytes(500)).unwrap();
    store.observe(Observation::failed(url, ms(2))).unwrap();
    assert_eq!(counts(), ([0; 3], [0; 2]));
    let unchanged = [content(url, 3, F, 1).bytes(400), content(url, 4, F, 1)];
    store.observe_batch(&unchanged).unwrap();
    assert_eq!(counts(), ([0, 2, 0], [400, 0]));
    // A visit that the store has is not counted again.
    store.observe_batch(&unchanged).unwrap();
    store.observe(Observation::not_modified(url, ms(5))).unwrap();
    store.observe(content(other, 6, F, 1).bytes(300)).unwrap();
    assert_eq!(counts(), ([1, 2, 1], [400, 300]));
    // Redirects have no body.
    for (url, time) in [(url, 7), (url, 8), (other, 9)] {
        store.observe(Observation::redirect(url, ms(time), "http://c.example/")).unwrap();
    }
    assert_eq!(counts(), ([1, 2, 1], [400, 300]));
    // The first capture may be an earlier version of another page.
    assert!(store.observe(content("http://c.example/", 10, F, 1)).unwrap().refers_to.is_some());
    assert_eq!(counts().0, [1, 2, 2]);
}

#[test]
fn poisoned_store_sets_its_gauge() {
    let disk = SimDisk::new();
    let (store, recording) = recorded(on(&disk), small());
    let poisoned = name("simkeep_poisoned", "");
    store.observe(content("http://a.example/", 1, F, 1)).unwrap();
    assert_eq!(recording.gauge(&poisoned), 0.0);
    disk.fail_after(0, ErrorKind::Other);
    store.observe(content("http://a.example/", 2, F, 1)).unwrap_err();
    assert!(matches!(store.flush(), Err(Error::Poisoned(_))));
    assert_eq!(recording.gauge(&poisoned), 1.0);
    // A refused open of the same store does not reset the gauge.
    let again = with_local_recorder(&recording, || Store::open(on(&disk), small()));
    assert!(again.is_err());
    assert_eq!(recording.gauge(&poisoned), 1.0);
}

#[test]
fn stalled_writers_are_timed() {
    let slow = HookDisk::new(on(&SimDisk::new()), |kind, _| {
        if kind == OpKind::Sync {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let options = small().background(true).memtable_observations(4);
    let (store, recording) = recorded(Arc::new(slow), options);
    let urls = Vec::from_iter((0..64).map(|n| format!("http://a.example/{n}")));
    let visits = Vec::from_iter(urls.iter().map(|url| content(url, 1, F, 1)));
    store.observe_batch(&visits).unwrap();
    assert!(recording.count(&name("simkeep_stall_seconds", "")) > 0);
}

#[test]
fn recorded_metrics_are_exactly_the_listed_ones() {
    let (_store, recording) = recorded(on(&SimDisk::new()), small());
    let listed = ALL.iter().flat_map(|of| match of.label {
        None => vec![name(of.name, "")],
        Some((label, values)) => {
            let with = |value: &&str| name(of.name, &format!("{label}={value}"));
            values.iter().map(with).collect()
        }
    });
    let mut listed = Vec::from_iter(listed);
    listed.sort_unstable();
    assert_eq!(recording.names(), listed);
    let described = recording.descriptions();
    let help = ALL.iter().map(|of| (of.name.to_owned(), of.help.to_owned()));
    assert_eq!(described, help.collect());
}

/// The table of `docs/metrics.md`.
fn table() -> String {
    let mut table = String::from("| name | kind | labels | what it is |\n|---|---|---|---|\n");
    for Instrument { name, kind, label, help, .. } in &ALL {
        let labels = label.map_or(String::new(), |(label, values)| {
            let values = Vec::from_iter(values.iter().map(|value| format!("`{value}`")));
            format!(", `{label}`: {}", values.join(", "))
        });
        table += &format!("| `{name}` | {kind} | `store`{labels} | {help} |\n");
    }
    table
}

#[test]
fn metrics_page_lists_all_metrics() {
    let page = fs::read_to_string(in_repository("docs/metrics.md")).unwrap();
    assert!(page.contains(&table()), "put this into docs/metrics.md:\n\n{}", table());
}
