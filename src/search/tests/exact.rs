//! Lookups of single values, against the oracle.

use super::*;

/// Tables without an index.
fn tables(values: &[u64]) -> Tables<VecColumn> {
    let mut histogram = PopcountHistogram::default();
    values.iter().for_each(|value| histogram.add(*value));
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tables::new(VecColumn(bytes), histogram.shards(), Index::None).unwrap()
}

fn check(values: Vec<u64>, others: &[u64]) {
    let values = canonical(values);
    let tables = tables(&values);
    let offsets = GuessOffsets::new(tables.len());
    for value in values.iter().chain(others) {
        let expected = values.iter().position(|other| other == value).map(|place| place as u32);
        assert_eq!(tables.ordinal_of(*value, &offsets), Ok(expected), "{value:x}");
    }
}

/// Looks up one in a hundred of many values.
fn check_some(values: Vec<u64>, others: &[u64]) {
    let values = canonical(values);
    let tables = tables(&values);
    let offsets = GuessOffsets::new(tables.len());
    for value in values.iter().step_by(100).chain(others) {
        let order = |other: &u64| (other.count_ones(), *other).cmp(&(value.count_ones(), *value));
        let expected = values.binary_search_by(order).ok().map(|place| place as u32);
        assert_eq!(tables.ordinal_of(*value, &offsets), Ok(expected), "{value:x}");
    }
}

proptest! {
    #[test]
    fn exactly_the_values_of_the_column_are_found(
        values in prop::collection::vec(any::<u64>(), 0..200),
        close in prop::collection::vec(0u64..4096, 0..200),
        others in prop::collection::vec(any::<u64>(), 0..20),
    ) {
        check(values, &others);
        check(close, &[0, 1, 4096, u64::MAX]);
    }
}

#[test]
fn values_of_all_distributions_are_found() {
    for kind in KINDS {
        let values = fingerprints(kind, 5000, 7);
        check(values, &fingerprints(kind, 500, 8));
    }
}

#[test]
fn values_of_a_large_shard_are_found() {
    // Values with 20 ones, spread evenly, so that the second guess is far from the first one.
    let ones = |seed: u64| {
        let mut value = 0_u64;
        let mut random = seed;
        while value.count_ones() < 20 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(seed | 1);
            value |= 1 << (random >> 58);
        }
        value
    };
    let even: Vec<u64> = (0..100_000).map(ones).collect();
    let others: Vec<u64> = (0..2000).map(|seed| ones(seed << 32)).collect();
    check_some(even.clone(), &others);
    // A dense run attracts the guesses to one of its ends.
    let run = (0..10_000).map(|low| 0x000f_fff0_0000_0000 | 1 << (low % 32)).chain(even);
    check_some(run.collect(), &others);
    let (first, last) = (vec![(1 << 20) - 1; 9000], vec![u64::MAX << 44; 9000]);
    check_some([first, last].concat(), &others);
}

#[test]
fn extreme_values_are_found() {
    check(vec![0, u64::MAX, 1, 1 << 63], &[2, u64::MAX - 1]);
    check(vec![], &[0, 7, u64::MAX]);
    // All entries but a few are at one end, so a guess is at the wrong end.
    let two_bits = (0..64).flat_map(|a| (0..a).map(move |b| 1_u64 << a | 1 << b));
    let ends = two_bits.filter(|value| *value < 1 << 20 || *value > 1 << 63).collect();
    check(ends, &[1 << 40 | 1, 1 << 21 | 1]);
}

#[test]
fn lookup_in_a_damaged_column_ends() {
    // The values are in reverse order, and the shards do not fit them.
    let values: Vec<u64> = (0..1000).rev().map(|value| value << 20 | 1).collect();
    let mut histogram = PopcountHistogram::default();
    (0..1000).for_each(|_| histogram.add(7));
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let tables = Tables::new(VecColumn(bytes), histogram.shards(), Index::None).unwrap();
    let offsets = GuessOffsets::new(tables.len());
    for value in [7, 11, 1 << 40 | 3, 7 << 60] {
        let _ = tables.ordinal_of(value, &offsets).unwrap();
    }
}

/// A column that counts how often a lookup waits for memory. Lines that were prefetched together come
/// together: the first read of any of them waits, and the others do not.
struct WaitingColumn {
    column: VecColumn,
    lookup: Mutex<LookupLines>,
}

/// The lines of a lookup.
#[derive(Default)]
struct LookupLines {
    /// The lines that were prefetched since the last wait.
    coming: BTreeSet<u64>,
    /// The lines that are there.
    here: BTreeSet<u64>,
    waits: u64,
}

impl LookupLines {
    fn count(&self) -> usize {
        self.coming.union(&self.here).count()
    }
}

impl WaitingColumn {
    fn of(values: &[u64]) -> WaitingColumn {
        let column = VecColumn(values.iter().flat_map(|value| value.to_le_bytes()).collect());
        WaitingColumn { column, lookup: Mutex::default() }
    }
}

impl Column for WaitingColumn {
    type Error = ColumnFault;

    fn bytes(&self, range: Range<u64>) -> Result<&[u8], ColumnFault> {
        let LookupLines { coming, here, waits } = &mut *self.lookup.lock();
        let mut lines = range.start / LINE_BYTES..=(range.end - 1) / LINE_BYTES;
        if lines.any(|line| !here.contains(&line)) {
            *waits += 1;
            here.append(coming);
            here.extend(range.start / LINE_BYTES..=(range.end - 1) / LINE_BYTES);
        }
        self.column.bytes(range)
    }

    fn prefetch(&self, offset: u64) {
        self.lookup.lock().coming.insert(offset / LINE_BYTES);
    }

    fn lines(&self, lines: impl Iterator<Item = u32>) -> Result<&[CacheLine], ColumnFault> {
        self.column.lines(lines)
    }

    fn damaged(&self, offset: u64, what: &'static str) -> ColumnFault {
        self.column.damaged(offset, what)
    }
}

/// Tables without an index, whose column counts.
fn counting_tables(values: &[u64]) -> Tables<WaitingColumn> {
    let mut histogram = PopcountHistogram::default();
    values.iter().for_each(|value| histogram.add(*value));
    Tables::new(WaitingColumn::of(values), histogram.shards(), Index::None).unwrap()
}

#[test]
fn lookup_waits_once_where_others_have_been() {
    let tables = counting_tables(&canonical((0..2_000_000).map(mix).collect()));
    let lookups = 50_000;
    let new = || GuessOffsets::new(tables.len());
    let waits_each = |shared: Option<&GuessOffsets>, from: u64| {
        let mut waits = 0;
        for number in from..from + lookups {
            *tables.fingerprints.lookup.lock() = LookupLines::default();
            tables.ordinal_of(mix(number), shared.unwrap_or(&new())).unwrap();
            waits += tables.fingerprints.lookup.lock().waits;
        }
        waits as f64 / lookups as f64
    };
    let shared = new();
    waits_each(Some(&shared), 1 << 40);
    let (alone, after_others) = (waits_each(None, 1 << 41), waits_each(Some(&shared), 1 << 42));
    assert!(alone < 2.2 && after_others < 1.3, "{alone} and {after_others}");
}

#[test]
fn chosen_values_cost_a_bounded_number_of_lines() {
    // A dense run, values at the ends of their shard, and evenly spread values. The lookups of one
    // kind mislead those of the others.
    let run = (0..20_000).map(|low| 0x000f_fff0_0000_0000 | low << 12);
    let ends = (0..20_000).map(|low| if low % 2 == 0 { low } else { !low });
    let values = canonical(run.chain(ends).chain((0..60_000).map(mix)).collect());
    let tables = counting_tables(&values);
    let offsets = GuessOffsets::new(tables.len());
    let most = 18 + 2 * tables.len().ilog2() as usize;
    for value in values.iter().step_by(7).copied().chain((0..5000).map(|n| mix(n) & mix(n << 20))) {
        *tables.fingerprints.lookup.lock() = LookupLines::default();
        tables.ordinal_of(value, &offsets).unwrap();
        let lines = tables.fingerprints.lookup.lock().count();
        assert!(lines <= most, "{value:x}: {lines} lines, at most {most}");
    }
}
