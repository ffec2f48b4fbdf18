//! Comparison of the versions of two pages: the nearest versions, and the page that had them later.

use crate::query::in_force::{InForceVersion, InForceVersions};

/// The nearest versions of two pages, at least one of them in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NearestVersions {
    pub(super) distance: u32,
    /// The index of the nearest version on each page: 0 for the version in force.
    pub(super) at: [usize; 2],
    /// How much later the second page was first seen with its version than the first page, in
    /// milliseconds.
    pub(super) later: i64,
    /// Whether both pages were visited earlier without their nearest version. If so, the times are
    /// times of changes, and not only the times when the pages were found.
    pub(super) is_change: bool,
}

impl NearestVersions {
    /// Compares the version in force on each page with all versions of the other page. Among
    /// equally near pairs, versions in force win, and then the latest versions.
    pub(super) fn of(pages: [&InForceVersions; 2]) -> Option<NearestVersions> {
        let [first, second] = pages;
        let (a, b) = (first.versions.as_slice(), second.versions.as_slice());
        let of_first =
            // Version 0 is in force. At least one of the two versions of a pair is in force: two
            // earlier versions are no evidence.
            a.iter().enumerate().map(|(at, version)| ([at, 0], [Some(version), b.first()]));
        let of_second =
            b.iter().enumerate().map(|(at, version)| ([0, at], [a.first(), Some(version)]));
        // `min_by_key` takes the first of equal pairs, so earlier versions of the first page win
        // ties.
        let pairs = of_first.chain(of_second).filter_map(|(at, versions)| match versions {
            [Some(one), Some(other)] => Some((at, [one, other])),
            _ => None,
        });
        let distance = |versions: &[&InForceVersion; 2]| {
            let [one, other] = versions;
            (one.fingerprint ^ other.fingerprint).count_ones()
        };
        let (at, versions) =
            pairs.min_by_key(|(at, versions)| (distance(versions), at.iter().sum::<usize>()))?;
        let [one, other] = versions;
        Some(NearestVersions {
            distance: distance(&versions),
            at,
            later: other.since.as_ms().saturating_sub(one.since.as_ms()),
            // If a page was seen earlier without this version, the page changed to the version, and
            // was not only found with it.
            is_change: one.since > first.first && other.since > second.first,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    fn page(first: i64, versions: &[(u64, i64)]) -> InForceVersions {
        let version = |(fingerprint, since): &(u64, i64)| InForceVersion {
            fingerprint: *fingerprint,
            since: Time::from_ms_unchecked(*since),
        };
        InForceVersions {
            url: String::new(),
            first: Time::from_ms_unchecked(first),
            versions: versions.iter().map(version).collect(),
        }
    }

    fn nearest(a: &InForceVersions, b: &InForceVersions) -> NearestVersions {
        let there = NearestVersions::of([a, b]).unwrap();
        let back = NearestVersions::of([b, a]).unwrap();
        let [one, other] = there.at;
        let turned = NearestVersions { at: [other, one], later: -there.later, ..there };
        if one == other {
            assert_eq!(back, turned);
        } else {
            assert_eq!((back.distance, back.is_change), (there.distance, there.is_change));
        }
        there
    }

    #[test]
    fn versions_in_force_precede_the_nearest_versions() {
        let a = page(0, &[(0b1111, 50), (0b0011, 10)]);
        let same = nearest(&a, &page(0, &[(0b1111, 70), (0b0011, 20)]));
        assert_eq!(same, NearestVersions { distance: 0, at: [0, 0], later: 20, is_change: true });
        let behind = nearest(&a, &page(20, &[(0b0011, 20)]));
        assert_eq!(
            behind,
            NearestVersions { distance: 0, at: [1, 0], later: 10, is_change: false }
        );
        let ahead = nearest(&a, &page(0, &[(!0, 70), (0b1111, 60)]));
        assert_eq!(ahead, NearestVersions { distance: 0, at: [0, 1], later: 10, is_change: true });
        let other = nearest(&a, &page(5, &[(0b1_0000_0011, 5)]));
        assert_eq!(other, NearestVersions { distance: 1, at: [1, 0], later: -5, is_change: false });
    }

    #[test]
    fn two_earlier_versions_are_not_compared() {
        let pages = [0, 32].map(|at| page(0, &[(0xffff << at, 9), (0xffff << 16, 1)]));
        assert_eq!(nearest(&pages[0], &pages[1]).distance, 32);
    }
}
