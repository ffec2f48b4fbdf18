use super::*;

#[test]
fn late_page_pairs_like_an_early_one() {
    for bare_first in [false, true] {
        let mut groups = AliasGroups::new(1 << 20, 1);
        let of = |fingerprint, visits, taken| GroupMember {
            fingerprint,
            visits,
            removed: taken,
            port: false,
        };
        let key = |text: &str| GroupKey::bare(text.as_bytes(), 7);
        let bare = |groups: &mut AliasGroups| groups.add(key("x"), &of(0b11, 5, 0)).unwrap();
        if bare_first {
            bare(&mut groups);
        }
        groups.add(key("x?1"), &of(0b10, 3, 0)).unwrap();
        groups.join((key("x"), 9), &of(0b10, 3, 1)).unwrap();
        groups.add(key("x?2"), &of(0b111, 2, 0)).unwrap();
        groups.join((key("x"), 9), &of(0b111, 2, 3)).unwrap();
        if !bare_first {
            bare(&mut groups);
        }
        let sum = &groups.sums(2)[&9];
        // Both other pages are near the bare page, but only the bare page is near the first other
        // page.
        let expected = if bare_first { (2, 2, 5) } else { (2, 1, 7) };
        assert_eq!((sum.pairs, sum.near, sum.visits), expected);
        assert_eq!(sum.exceptions.is_empty(), bare_first);
        assert_eq!(groups.sums(2).len(), 1);
    }
}

#[test]
fn groups_beyond_the_memory_are_sampled_whole() {
    let mut groups = AliasGroups::new(0, 0);
    let most = groups.most;
    for page in 0..50_000_u64 {
        let bare = format!("{page}");
        let of = |taken| GroupMember { fingerprint: page, visits: 1, removed: taken, port: false };
        let key = |text: &str| GroupKey::bare(text.as_bytes(), 7);
        groups.add(key(&bare), &of(0)).unwrap();
        groups.add(key(&format!("{page}?")), &of(0)).unwrap();
        groups.join((key(&bare), 3), &of(1)).unwrap();
        assert!(groups.groups.len() < most && groups.groups.capacity() <= most);
    }
    let sum = &groups.sums(3)[&3];
    // Pages without pairs take space, too.
    assert!(groups.share() < 1.0 / 32.0 && sum.pairs > 300);
    assert_eq!((sum.pairs, sum.visits), (sum.near, sum.pairs));
    let all = sum.pairs as f64 / groups.share();
    assert!((40_000.0..60_000.0).contains(&all), "{all}");
    assert_eq!(sum.examples.len(), 3);
}

/// All groups of one URL are kept or dropped together, so that they find each other.
#[test]
fn group_of_a_million_pages_takes_constant_memory() {
    let mut groups = AliasGroups::new(0, 0);
    for page in 0..1_000_000_u64 {
        let taken = 2 * page + 1;
        let member = GroupMember { fingerprint: page % 2, visits: 1, removed: taken, port: false };
        groups.join((GroupKey::bare(b"x", 7), 15), &member).unwrap();
    }
    assert_eq!((groups.share(), groups.groups.len()), (1.0, 1));
    let sum = &groups.sums(3)[&15];
    assert_eq!((sum.pairs, sum.near), (999_999, 499_999));
}
