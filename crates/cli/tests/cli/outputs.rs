//! Files of results: none of them takes the place of a file of a store.

use super::*;

#[test]
fn no_result_takes_the_place_of_a_file_of_a_store() {
    let place = Place::with(CRAWL);
    place.open().seal().unwrap();
    let (other, store) = (Place::with(CRAWL), place.store());
    std::os::unix::fs::symlink(&store, place.path("link")).unwrap();
    std::os::unix::fs::symlink(store.join("LOCK"), place.path("file")).unwrap();
    let before = files(&store);
    let corpus = place.write("corpus.jsonl", "{\"url\":\"https://example.org/\",\"text\":\"x\"}\n");
    let targets =
        ["store/catalog.redb", "store/LOCK", "store/new", "store/segments/new", "link/new"];
    for target in targets.iter().map(|target| place.file(target)).chain([place.file("file")]) {
        for args in [
            &["export", "-o", &target][..],
            &["export", "--format", "csv", "-o", &target],
            &["report", "-o", &target],
            &["stats", "--prometheus", "-o", &target],
            &["dedup", "-o", &target],
            &["dedup", "--drop-list", &target],
            &["dedup", "--keep-list", &target],
            &["cluster", "-o", &target],
            &["simulate", "--per-day", "5", "--plot", &target],
        ] {
            // Whatever store is read.
            for place in [&place, &other] {
                let ran = place.run(args);
                assert_eq!(ran.code, 5, "{args:?}: {}", ran.err);
                assert!(ran.err.contains("is a store"), "{args:?}: {}", ran.err);
            }
        }
    }
    let folder = store.to_str().unwrap();
    for args in [
        &["dedup", "--filter", &corpus, "--to", folder][..],
        &["man", "--to", folder],
        &["df", "build", &corpus, "--out", &place.file("store/new.df")],
    ] {
        let ran = match args[0] {
            "dedup" => place.run(args),
            _ => Ran::from(place.command(args).env_remove("SIMKEEP_STORE").output().unwrap()),
        };
        assert_eq!(ran.code, 5, "{args:?}: {}", ran.err);
    }
    assert!(files(&store) == before);
    place.done(&["verify"]);
}
