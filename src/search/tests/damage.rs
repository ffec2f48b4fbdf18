//! Tests that damaged columns give an error or an answer, never a panic.

use super::*;

fn healthy(shape: Shape) -> (Vec<u64>, Tables<VecColumn>) {
    let fingerprints = canonical(fingerprints(Distribution::Clustered, 10_000, 30));
    let tables = tables(&fingerprints, shape);
    (fingerprints, tables)
}

/// Returns the columns of the tables, table by table.
fn columns<'t>(tables: &'t mut Tables<VecColumn>) -> Vec<&'t mut Vec<u8>> {
    match &mut tables.index {
        Index::None => Vec::new(),
        Index::Rotations(Rotations { tables, .. }) => {
            let of = |table: &'t mut Rotation<_>| {
                let Rotation { buckets, rest, ordinals } = table;
                [buckets, rest, ordinals]
            };
            tables.iter_mut().flat_map(of).map(|column| &mut column.0).collect()
        }
        Index::Cells(Cells { tables, .. }) => {
            let of = |table: &'t mut CellTable<_>| {
                let CellTable { cells, further, ordinals } = table;
                [cells, further, ordinals]
            };
            tables.iter_mut().flat_map(of).map(|column| &mut column.0).collect()
        }
    }
}

#[test]
fn overflow_beyond_the_end_is_an_error() {
    let (fingerprints, mut tables) = healthy(rotations(6));
    let query = fingerprints[5000];
    let bucket = (query >> 58) as usize;
    let buckets = &mut columns(&mut tables)[0][64 * bucket..][..64];
    assert_eq!(buckets[63] >> 7, 1, "it goes on");
    buckets[58] = 0xff;
    let found = tables.find(query, 3, &mut Vec::new());
    assert!(matches!(found, Err(ColumnFault::OutOfRange(_))), "{found:?}");
}

/// A change of columns.
type ColumnEdit<'c> = &'c dyn Fn(&mut [&mut Vec<u8>]);

/// Returns the error of a check of tables with changed columns.
fn error_of(whole: &Tables<VecColumn>, change: ColumnEdit<'_>) -> &'static str {
    let mut tables = whole.clone();
    change(&mut columns(&mut tables));
    match tables.check() {
        Err(ColumnFault::Damaged(_, what)) => what,
        Err(ColumnFault::OutOfRange(_)) => "beyond the end",
        Ok(()) => panic!("the check does not report it"),
    }
}

#[test]
fn invalid_rotations_are_reported() {
    let (_, whole) = healthy(rotations(9));
    assert_eq!(whole.check(), Ok(()));
    let check = |change: ColumnEdit<'_>| error_of(&whole, change);
    let bucket = "a bucket does not begin where the bucket before it ends";
    let place = "an entry is not where its fingerprint belongs";
    let Index::Rotations(Rotations { tables: [first, ..], .. }) = &whole.index else {
        unreachable!()
    };
    let buckets = || first.buckets.0.chunks(64);
    let full = buckets().position(|bucket| bucket[63] >> 7 == 1).unwrap() * 64;
    let other = buckets().position(|bucket| bucket[63] >> 7 == 0).unwrap() * 64;
    // Damages the number of the first entry, the flag that the bucket continues, the place of the
    // continuation, and its length.
    assert_eq!(check(&|columns| columns[0][other + 60] ^= 1), bucket);
    assert_eq!(check(&|columns| columns[0][full + 52] ^= 1), bucket);
    assert_ne!(check(&|columns| columns[0][full + 63] ^= 0x80), "");
    assert_ne!(check(&|columns| columns[0][full + 56] -= 1), "");
    // Damages an entry, an entry of the rest, and two ordinals, and adds an entry.
    assert_eq!(check(&|columns| columns[0][full] ^= 1), place);
    assert_eq!(check(&|columns| columns[1][0] ^= 1), place);
    let entry = u32::from_le_bytes(first.buckets.0[full + 60..][..4].try_into().unwrap());
    let at = (entry & 0x7fff_ffff) as usize * 4;
    assert_eq!(check(&|columns| columns[2][at..at + 8].rotate_left(4)), place);
    assert_eq!(check(&|columns| columns[1].push(0)), "it has entries after the last bucket");
}

#[test]
fn invalid_cells_are_reported() {
    let (_, whole) = healthy(cells(600));
    assert_eq!(whole.check(), Ok(()));
    let check = |change: ColumnEdit<'_>| error_of(&whole, change);
    let place = "an entry is not where its fingerprint belongs";
    let Index::Cells(Cells { tables: [first, _], .. }) = &whole.index else { unreachable!() };
    let lines = || first.cells.0.chunks(64);
    let full = lines().position(|line| line[63] >> 7 == 1).unwrap() * 64;
    let other = lines().position(|line| line[63] >> 7 == 0).unwrap() * 64;
    for line in [full, other] {
        // Damages both parts of an entry, the number of the first entry, and the flag that the cell
        // continues.
        assert_eq!(check(&|columns| columns[0][line] ^= 1), place);
        assert_eq!(check(&|columns| columns[0][line + 40] ^= 1), place);
        assert_eq!(check(&|columns| columns[0][line + 60] ^= 1), place);
        assert_eq!(check(&|columns| columns[0][line + 63] ^= 0x80), place);
        // Sets two ordinals to the order of another cell.
        let entry = u32::from_le_bytes(first.cells.0[line + 60..][..4].try_into().unwrap());
        let at = (entry & 0x7fff_ffff) as usize * 4;
        assert_eq!(check(&|columns| columns[2][at..at + 8].rotate_left(4)), place);
    }
    // Damages the number of the next line and the entries of that line, and adds a line.
    assert_eq!(check(&|columns| columns[0][full + 36] ^= 1), place);
    assert_eq!(check(&|columns| columns[1][0] ^= 1), place);
    let too_many = "it has lines that no cell refers to";
    assert_eq!(check(&|columns| columns[1].extend([0; 64])), too_many);
}

#[test]
fn ordinal_beyond_the_end_is_an_error() {
    for (shape, way) in [(rotations(10), AccessPath::Rotations), (cells(900), AccessPath::Cells)] {
        let (fingerprints, mut tables) = healthy(shape);
        for column in columns(&mut tables).into_iter().skip(2).step_by(3) {
            column.fill(0xff);
        }
        let found = tables.find_by(way, 0, &fingerprints[..1], 3, &mut Vec::new());
        assert!(matches!(
            found,
            Err(ColumnFault::Damaged(_, "it refers to a fingerprint beyond the last fingerprint"))
        ));
    }
}

#[test]
fn truncated_columns_are_errors() {
    for (shape, way) in [(rotations(6), AccessPath::Rotations), (cells(700), AccessPath::Cells)] {
        let (fingerprints, whole) = healthy(shape);
        let find = |cut: &dyn Fn(&mut Tables<VecColumn>)| {
            let mut tables = whole.clone();
            cut(&mut tables);
            let mut queries = fingerprints.iter().step_by(9);
            queries.try_for_each(|&query| tables.find_by(way, 0, &[query], 3, &mut Vec::new()))
        };
        assert_eq!(find(&|_| ()), Ok(()));
        assert!(find(&|tables| tables.fingerprints.0.truncate(9000)).is_err());
        for column in 0..6 {
            assert!(find(&|tables| columns(tables)[column].clear()).is_err(), "{column}");
        }
    }
}

#[test]
fn endless_cell_is_an_error() {
    let (fingerprints, mut tables) = healthy(cells(300));
    let mut columns = columns(&mut tables);
    assert!(columns[1].len() > 64 * 100);
    for line in columns[1].chunks_exact_mut(64) {
        line[36..40].fill(0);
        line[63] |= 0x80;
    }
    let found = fingerprints
        .iter()
        .try_for_each(|&query| tables.find_by(AccessPath::Cells, 0, &[query], 3, &mut Vec::new()));
    assert!(matches!(found, Err(ColumnFault::OutOfRange(_))));
}

#[test]
fn impossible_addresses_are_refused() {
    for address in [BucketLayout { bits: 17, lines: 1 }, BucketLayout { bits: 9, lines: 0 }] {
        let index = index(HashMap::new(), Shape::Rotations(address), VecColumn);
        let tables = Tables::new(VecColumn(Vec::new()), census(&[]), index);
        assert!(matches!(tables, Err(ColumnFault::Damaged(0, _))));
    }
}

#[test]
fn decreasing_or_nonzero_first_shards_are_refused() {
    let mut bytes = census(&fingerprints(Distribution::Even, 100, 31)).to_bytes().to_vec();
    bytes[40 * 4 + 3] = 0x7f;
    assert!(matches!(Shards::read(&VecColumn(bytes)), Err(ColumnFault::Damaged(164, _))));
    let bytes = vec![1; Shards::BYTES as usize];
    assert!(matches!(Shards::read(&VecColumn(bytes)), Err(ColumnFault::Damaged(0, _))));
    assert!(matches!(Shards::read(&VecColumn(vec![0; 100])), Err(ColumnFault::OutOfRange(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_damage_makes_a_search_panic(
        shape in shapes(), column in 0_usize..13,
        places in prop::collection::vec(any::<(u32, u8)>(), 1..40), k in 0_u32..=64
    ) {
        let (fingerprints, mut tables) = healthy(shape);
        let mut columns = columns(&mut tables);
        let bytes = match columns.len() {
            0 => &mut tables.fingerprints.0,
            all => columns.swap_remove(column % all),
        };
        for (place, value) in places {
            let place = place as usize % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(place) {
                *byte = value;
            }
        }
        for query in queries(&fingerprints, 10, 32) {
            let _ = tables.find(query, k, &mut Vec::new());
            let _ = tables.find_by(AccessPath::Rotations, 0, &[query], k, &mut Vec::new());
            let _ = tables.find_by(AccessPath::Cells, 0, &[query], k.min(8), &mut Vec::new());
        }
        let _ = tables.check();
    }
}

/// A column that does not report missing lines.
struct UncheckedColumn(VecColumn);

impl Column for UncheckedColumn {
    type Error = ColumnFault;

    fn bytes(&self, range: Range<u64>) -> Result<&[u8], ColumnFault> {
        self.0.bytes(range)
    }

    fn lines(&self, _: impl Iterator<Item = u32>) -> Result<&[CacheLine], ColumnFault> {
        self.0.lines(std::iter::empty())
    }

    fn damaged(&self, offset: u64, what: &'static str) -> ColumnFault {
        self.0.damaged(offset, what)
    }
}

#[test]
fn missing_lines_are_errors_for_any_column() {
    let fingerprints = canonical(fingerprints(Distribution::Clustered, 10_000, 30));
    let find = |cut: &dyn Fn(&mut Cells<UncheckedColumn>)| {
        let columns = build(&fingerprints, cells(700), PLENTY);
        let mut index = index(columns, cells(700), |bytes| UncheckedColumn(VecColumn(bytes)));
        let Index::Cells(cells) = &mut index else { unreachable!() };
        cut(cells);
        let column = UncheckedColumn(column(&fingerprints));
        let tables = Tables::new(column, census(&fingerprints), index).unwrap();
        fingerprints.iter().step_by(9).try_for_each(|&query| {
            let mut found = Vec::new();
            tables.find_by(AccessPath::Cells, 0, &[query], 3, &mut found)?;
            assert_eq!(sorted(found), oracle(&fingerprints, query, 3));
            tables.count(query, 3).map(|_| ())
        })
    };
    assert_eq!(find(&|_| ()), Ok(()));
    for table in 0..HALVES {
        for part in 0..3 {
            let cut = find(&|cells| {
                let CellTable { cells, further, ordinals } = &mut cells.tables[table];
                let column = [cells, further, ordinals].into_iter().nth(part).unwrap();
                let half = column.0.0.len() / 2 / 64 * 64;
                column.0.0.truncate(half);
            });
            assert!(cut.is_err(), "{table} {part}");
        }
    }
}
