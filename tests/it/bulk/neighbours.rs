//! Readers, observers and a close during a load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use simkeep::disk::SimDisk;
use simkeep::{Error, Observation, Operation, Role, Store};
use simkeep_testing::compare::check_store;
use simkeep_testing::disks::{Gate, PATIENCE};
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{create, ms, on, small, sound};

use super::{little, load, many, some};

/// Keeps only the visits: the other entries depend on the order.
fn alone(requests: &mut Vec<Operation<'static>>) {
    requests.retain(|request| request.entry().is_visit());
    for request in requests {
        *request = Operation::of(request.url(), request.entry());
    }
}

#[test]
fn readers_continue_and_writers_wait_during_a_load() {
    let gate = Gate::default();
    let disk = SimDisk::new();
    let options = small().background(true);
    let store = Store::create(Arc::new(gate.before(on(&disk))), options).unwrap();
    store.register_epoch("two", Role::Both).unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    let all = many(300, 0);
    // The finished segment is stopped before it is renamed.
    gate.close(|kind, name| {
        matches!(kind, simkeep::disk::OpKind::Rename(simkeep::disk::FileName::Segment(id)) if id > 1)
            && name.is_some()
    });
    std::thread::scope(|scope| {
        let loader = scope.spawn(|| store.load(all.iter().map(Ok), little()));
        gate.await_arrival();
        let (sender, observed) = mpsc::channel();
        let (store, all) = (&store, &all);
        scope.spawn(move || {
            let url = all[0].0.as_str();
            sender.send(store.observe(Observation::gone(url, ms(5000)))).unwrap();
        });
        assert!(observed.recv_timeout(Duration::from_millis(50)).is_err(), "it did not wait");
        assert_eq!(store.snapshot().scan(None).count(), 1, "half of it is seen");
        assert_eq!(store.snapshot().latest(&all[0].0).unwrap(), None);
        gate.open();
        let loaded = loader.join().unwrap().unwrap();
        assert_eq!(loaded.pages, 300);
        // Its verdict considers the visits that were loaded in between.
        observed.recv_timeout(PATIENCE).unwrap().unwrap();
    });
    let page = store.snapshot().latest(&all[0].0).unwrap().unwrap();
    assert!(page.gone && page.visits > 1);
    assert_eq!(store.stats().unwrap().pages, 301);
    store.seal().unwrap();
    sound(&store).unwrap();
}

#[test]
fn observing_during_loads_loses_nothing() {
    let store = create(&SimDisk::new(), small().background(true));
    let stop = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    let observed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut model = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        let mut batch = some(seed, 20, seed.cast_signed());
                        alone(&mut batch);
                        store.write_batch(&batch).unwrap();
                        model.extend(batch);
                    }
                    model
                })
            })
            .collect();
        let mut all = Vec::new();
        for round in 0..20 {
            let mut batch = some(1 << 40 | round, 300, 0);
            alone(&mut batch);
            load(&store, &batch).unwrap();
            all.extend(batch);
        }
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().for_each(|thread| all.extend(thread.join().unwrap()));
        all
    });
    let mut model = Model::default();
    observed.iter().for_each(|r| model.insert(r.url(), r.entry()));
    store.wait_idle().unwrap();
    check_store(&store, &model);
    sound(&store).unwrap();
}

#[test]
fn closing_a_store_ends_its_load() {
    let store = create(&SimDisk::new(), small());
    let other = store.clone();
    let (sender, begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let endless = (0u64..).map(|n| {
            if n == 10 {
                sender.send(()).unwrap();
            }
            Ok((format!("http://a.example/{n}"), Observation::gone("x", ms(0)).visit))
        });
        let loader = scope.spawn(|| store.load(endless, little()));
        begun.recv_timeout(PATIENCE).unwrap();
        other.close().unwrap();
        assert!(matches!(loader.join().unwrap(), Err(Error::Closed)));
    });
}
