//! Searches that examine as many pages as necessary.

use simkeep::{Matches, Query, Snapshot};

use crate::output::words;

/// Searches until the limit is reached, even if many other pages must be examined, such as pages
/// that once had a fingerprint and now have other content. A budget ends the search early.
pub(super) fn search(snapshot: &Snapshot, query: &Query) -> simkeep::Result<Matches> {
    let matches = snapshot.search(query)?;
    extend_search(snapshot, query, matches)
}

/// Continues a search that examined too few pages.
pub(super) fn extend_search(
    snapshot: &Snapshot,
    query: &Query,
    first: Matches,
) -> simkeep::Result<Matches> {
    /// The factor by which each repetition raises the limit, and so the number of examined pages.
    const MORE: usize = 8;
    /// The limit is raised only below this value, so at most about a million pages are examined.
    const LIMIT_MAX: usize = 1 << 16;
    let (mut matches, mut wider) = (first, query.clone());
    while !matches.complete
        && matches.near.len() < query.limit
        && query.budget.is_none()
        && wider.limit < LIMIT_MAX
    {
        wider.limit = wider.limit.saturating_mul(MORE);
        matches = snapshot.search(&wider)?;
    }
    if let Some(first_left_out) = matches.near.get(query.limit) {
        matches.complete = false;
        matches.within = matches.within.min(first_left_out.distance.checked_sub(1));
        matches.near.truncate(query.limit);
    }
    Ok(matches)
}

/// Describes how far an incomplete search got.
pub(super) fn ended(matches: &Matches) -> String {
    match matches.within {
        Some(within) => {
            format!(
                "the search is complete only up to {}",
                words::many(within.into(), "bit", "bits")
            )
        }
        None => "the search ended before it had read all pages with this fingerprint".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};
    use simkeep::{Observation, Options, Store, Time};

    use super::super::NearArgs;
    use super::*;

    #[test]
    fn nearest_is_complete_if_nothing_nearer_can_be_missing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
        for (url, fingerprint) in [("https://a.example/", 0b1), ("https://b.example/", 0b1111)] {
            let time = Time::from_ms_unchecked(1);
            let seen = Observation::content(url, time, fingerprint, store.change_epoch());
            store.observe(seen).unwrap();
        }
        let mut matches = store.snapshot().search(&Query::new(0, 4)).unwrap();
        assert_eq!(matches.near.len(), 2);
        matches.complete = false;
        for (count, within, is_complete) in [
            ("1", Some(3), true),
            ("2", Some(3), true),
            ("2", Some(2), false),
            ("2", None, false),
            ("3", Some(4), false),
        ] {
            let command = NearArgs::augment_args(Command::new("near"));
            let args = command.get_matches_from(["near", "0000000000000000", "--nearest", count]);
            matches.within = within;
            let near = NearArgs::from_arg_matches(&args).unwrap();
            assert_eq!(near.is_complete(&matches), is_complete, "{count} {within:?}");
        }
    }
}
