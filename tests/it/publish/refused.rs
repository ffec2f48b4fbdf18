//! Directories where nothing is published, and stores of which nothing is.

use super::*;

fn why(made: Result<Publication>) -> String {
    match made.unwrap_err() {
        Error::NotAStore { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[test]
fn a_directory_of_another_store_and_a_store_itself_are_refused() {
    let (from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let before = to.contents();
    let other = SimDisk::new();
    other.set_seed(7);
    let another = create(&other, small());
    another.observe(Observation::gone(URLS[0], 5)).unwrap();
    let refused = why(another.publish(on(&to), options()));
    assert!(
        refused.starts_with("the store ") && refused.contains("is published there"),
        "{refused}"
    );
    assert!(to.contents() == before);
    let refused = why(publish(on(&from), on(&other), options()));
    assert_eq!(refused, "it is a store itself; name another directory");
    let none = SimDisk::new();
    assert!(why(publish(on(&none), on(&to), options())).contains("catalog.redb"));
    let nothing = Reader::published(on(&none), None).unwrap_err().to_string();
    assert!(nothing.contains("nothing is published there"), "{nothing}");
}

#[test]
fn a_directory_with_something_else_and_one_in_a_store_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, to) = (dir.path().join("a"), dir.path().join("b"));
    let store = Store::create(&path, small()).unwrap();
    for inside in [path.join("published"), path.join("segments/published"), path.clone()] {
        for made in [publish(&path, &inside, options()), store.publish(&inside, options())] {
            assert!(made.is_err());
        }
        assert!(!path.join("published").exists() && !path.join("generations").exists());
    }
    std::fs::create_dir(&to).unwrap();
    std::fs::write(to.join("notes"), "mine").unwrap();
    assert!(why(store.publish(&to, options())).contains("it holds something else, notes"));
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 1);
    std::fs::remove_file(to.join("notes")).unwrap();
    store.publish(&to, options()).unwrap();
    // What comes later is nobody's business.
    std::fs::write(to.join("notes"), "mine").unwrap();
    std::fs::write(to.join("files/notes"), "mine").unwrap();
    store.observe(Observation::gone(URLS[0], 1)).unwrap();
    store.publish(&to, strict(1)).unwrap();
    assert!(to.join("notes").exists() && to.join("files/notes").exists());
}

#[test]
fn two_at_once_and_none_to_keep_are_refused() {
    let (from, store) = source();
    let to = SimDisk::new();
    let (other, there) = (from.clone(), to.clone());
    let disk = HookDisk::new(on(&to), move |kind, _| {
        if kind == OpKind::Link {
            let second = publish(on(&other), on(&there), options());
            assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}");
        }
    });
    store.publish(Arc::new(disk) as Arc<dyn Disk>, options()).unwrap();
    let none = store.publish(on(&to), options().keep(0));
    assert!(matches!(none, Err(Error::Option { name: "keep", .. })), "{none:?}");
}

#[test]
fn where_any_call_fails_earlier_generations_stay_and_the_next_run_goes_on() {
    let _again = simkeep_testing::again();
    let (from, store) = source();
    let earlier = SimDisk::new();
    store.publish(on(&earlier), options()).unwrap();
    let before = generation(&earlier, 1);
    go_on(&store);
    let after = sealed(&store);
    for (strikes, kind) in
        [(Strikes::Space, ErrorKind::StorageFull), (Strikes::Any, ErrorKind::Other)]
    {
        let mut failed = 0;
        for nth in 1.. {
            let to = earlier.crash_all_kept();
            to.fail(Fault { strikes, nth, kind, lasting: false });
            let made = publish(on(&from), on(&to), strict(1).copy(nth % 2 == 0));
            to.heal();
            let what = format!("{strikes:?} {nth}: {made:?}");
            match &made {
                Err(_) => failed += 1,
                Ok(_) if failed > 4 => break,
                Ok(_) => {}
            }
            for number in numbers(&to) {
                let found = generation(&to, number);
                assert!(
                    found == if number == 1 { before.clone() } else { after.clone() },
                    "{what}"
                );
            }
            publish(on(&from), on(&to), strict(1)).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(numbers(&to), [2], "{what}");
            assert!(generation(&to, 2) == after, "{what}");
        }
        assert!(failed > 4, "{strikes:?}: {failed}");
    }
}
