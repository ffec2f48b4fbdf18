//! The visit times of files, which show the current state of a folder.
//!
//! The visit of a file has the time of the file's last modification. A file that was restored,
//! copied with its times or checked out may be older than the version that the store has of it. It
//! still is the current state of the folder, so its visit then has the time of reading.

use simkeep::{Digest, Page, Time};

/// Returns when the content of a file was seen, in milliseconds since 1970. `modified` is the time
/// of the file's last modification, and `known` the state of its page in the store.
///
/// Content that did not change keeps the time at which it was last seen, so a folder that has not
/// changed adds nothing.
pub(super) fn seen(modified: i64, digest: Option<Digest>, known: Option<&Page>, now: i64) -> i64 {
    let Some(page) = known else { return modified };
    let last = page.last.time;
    let is_in_force = page.content.is_some_and(|content| content.digest == digest);
    if is_in_force {
        return page
            .content_seen
            .map(Time::as_ms)
            .filter(|seen| modified <= *seen)
            .unwrap_or(modified);
    }
    if modified > last.as_ms() { modified } else { after(last.as_ms(), now) }
}

/// The current time, or the moment after the last visit if that is later.
pub(super) fn after(last: i64, now: i64) -> i64 {
    now.max(last.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use simkeep::{Content, Observation, Options, Seen, Store, Visit};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever happens to a file and its times, its page has the current content of the file,
        /// and unchanged content is known.
        #[test]
        fn page_of_a_file_has_its_current_content(
            steps in prop::collection::vec((0..4_i64, prop::option::of(0..3_u8)), 1..12),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::create(dir.path(), Options::default()).unwrap();
            let (url, epoch) = ("file:///f", store.change_epoch());
            for (now, (modified, content)) in (2..).zip(steps) {
                let known = store.snapshot().latest(url).unwrap();
                let Some(content) = content else {
                    // Its page is reported gone, if it was there.
                    if let Some(page) = known.filter(|page| !page.gone) {
                        let gone = Observation::gone(url, Time::from_ms_unchecked(after(page.last.time.as_ms(), now)));
                        store.observe(gone).unwrap();
                    }
                    continue;
                };
                let digest = Some(Digest([content; 16]));
                let is_known = |page: &Page| page.content.is_some_and(|c| c.digest == digest);
                let stays = |page: &Page| is_known(page) && page.content_seen >= Some(Time::from_ms_unchecked(modified));
                let visits = known.as_ref().filter(|page| stays(page)).map(|page| page.visits);
                let time = seen(modified, digest, known.as_ref(), now);
                let content = Content { fingerprint: Some(content.into()), digest, epoch };
                let seen = Seen::Content(content);
                let visit = Visit::new(Time::from_ms_unchecked(time), seen);
                store.observe(Observation::of(url, visit)).unwrap();
                let page = store.snapshot().latest(url).unwrap().unwrap();
                prop_assert!(is_known(&page) && !page.gone, "{page:?}");
                prop_assert!(visits.is_none_or(|visits| page.visits == visits), "{page:?}");
            }
        }
    }
}
