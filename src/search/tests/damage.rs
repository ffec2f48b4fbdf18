//! Damaged columns are answered with an error or an answer, never with a panic.

use super::*;

fn healthy() -> (Vec<u64>, Tables<Bytes>) {
    let fingerprints = canonical(fingerprints(Kind::Clustered, 10_000, 30));
    let tables = tables(&fingerprints, Some(10));
    (fingerprints, tables)
}

#[test]
fn a_directory_beyond_the_end_is_an_error_at_its_place() {
    let (fingerprints, mut tables) = healthy();
    let query = fingerprints[5000];
    let bucket = (query >> 54) as usize;
    let rotation = &mut tables.rotations.as_mut().unwrap().tables[0];
    rotation.directory.0[4 * (bucket + 1)..][..4].fill(0xff);
    let mut out = vec![Candidate::new(0, 0, 0)];
    let found = tables.find(query, 3, &mut out);
    assert_eq!(
        found,
        Err(Fault::Damaged(4 * bucket as u64, "a bucket out of order or beyond the end"))
    );
    assert_eq!(out.len(), 1);
}

#[test]
fn an_ordinal_beyond_the_end_is_an_error_at_its_place() {
    let (fingerprints, mut tables) = healthy();
    let rotations = tables.rotations.as_mut().unwrap();
    rotations.tables[0].ordinals.0.fill(0xff);
    let rotations = tables.rotations.as_ref().unwrap();
    let found = tables.look_up(rotations, fingerprints[0], 3, &mut Vec::new());
    assert!(matches!(found, Err(Fault::Damaged(_, "an ordinal beyond the end"))));
}

#[test]
fn columns_cut_short_are_errors() {
    let (fingerprints, whole) = healthy();
    let find = |cut: &dyn Fn(&mut Tables<Bytes>)| {
        let mut tables = whole.clone();
        cut(&mut tables);
        let rotations = tables.rotations.as_ref().unwrap();
        fingerprints
            .iter()
            .step_by(9)
            .try_for_each(|&query| tables.look_up(rotations, query, 3, &mut Vec::new()))
    };
    assert_eq!(find(&|_| ()), Ok(()));
    assert!(find(&|tables| tables.fingerprints.0.truncate(9000)).is_err());
    assert!(
        find(&|tables| tables.rotations.as_mut().unwrap().tables[1].planes.0.truncate(9)).is_err()
    );
    assert!(
        find(&|tables| tables.rotations.as_mut().unwrap().tables[2].ordinals.0.clear()).is_err()
    );
    assert!(
        find(&|tables| tables.rotations.as_mut().unwrap().tables[3].directory.0.clear()).is_err()
    );
}

#[test]
fn too_many_bits_of_address_are_refused() {
    let rotations = rotations(Written::default(), 17);
    let tables = Tables::new(Bytes(Vec::new()), census(&[]), Some(rotations));
    assert!(matches!(tables, Err(Fault::Damaged(0, _))));
}

#[test]
fn shards_that_fall_or_do_not_start_at_zero_are_refused() {
    let mut bytes = census(&fingerprints(Kind::Even, 100, 31)).to_bytes().to_vec();
    bytes[40 * 4 + 3] = 0x7f;
    assert!(matches!(Shards::read(&Bytes(bytes)), Err(Fault::Damaged(164, _))));
    let bytes = vec![1; Shards::BYTES as usize];
    assert!(matches!(Shards::read(&Bytes(bytes)), Err(Fault::Damaged(0, _))));
    assert!(matches!(Shards::read(&Bytes(vec![0; 100])), Err(Fault::OutOfRange(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_damage_makes_a_search_panic(
        table in 0_usize..4, column in 0_usize..4, places in prop::collection::vec(any::<(u32, u8)>(), 1..40),
        k in 0_u32..=64
    ) {
        let (fingerprints, mut tables) = healthy();
        let rotation = &mut tables.rotations.as_mut().unwrap().tables[table];
        let bytes = match column {
            0 => &mut rotation.directory.0,
            1 => &mut rotation.planes.0,
            2 => &mut rotation.ordinals.0,
            _ => &mut tables.fingerprints.0,
        };
        for (place, value) in places {
            let place = place as usize % bytes.len();
            bytes[place] = value;
        }
        let rotations = tables.rotations.as_ref().unwrap();
        for query in queries(&fingerprints, 10, 32) {
            let _ = tables.find(query, k, &mut Vec::new());
            let _ = tables.look_up(rotations, query, k, &mut Vec::new());
        }
    }
}
