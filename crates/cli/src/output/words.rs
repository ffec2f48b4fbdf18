//! Numbers in words, and the keys of verdicts in JSON.

use std::path::Path;
use std::time::{Duration, SystemTime};

use simkeep::fingerprint::{Document, Meaning};
use simkeep::publish::IncompleteGeneration;
use simkeep::{LockHolder, SameBy, Verdict};

use crate::output::json::JsonRatio;
use simkeep_formats::escape;

/// Why pages have no fingerprint of an epoch.
pub(crate) const WITHOUT_FINGERPRINT: &str = "a redirect, not text, too short, or stale";

/// Why pages have neither a fingerprint of an epoch, nor a digest in its place.
pub(crate) const WITHOUT_DIGEST: &str = "a redirect, without a digest, or stale";

/// A remark on the number of pages that were left out because they have no fingerprint in this
/// epoch, and why that may be. Empty for zero pages.
pub(crate) fn skipped_pages_note(pages: u64, epoch: &str, why: &str) -> String {
    match pages {
        0 => String::new(),
        pages => {
            let have = many(pages, "page has", "pages have");
            format!("; {}", skipped_pages_clause(&have, epoch, why))
        }
    }
}

/// A sentence that some pages were left out. `pages_have` is its subject and verb.
pub(crate) fn skipped_pages_clause(pages_have: &str, epoch: &str, why: &str) -> String {
    format!(
        "{pages_have} no fingerprint in the epoch {} and cannot be compared ({why}: see simkeep epoch \
         stale)",
        escape::escape_untruncated(epoch)
    )
}

/// Why texts have no fingerprint, and the consequence.
pub(crate) fn without_fingerprint() -> String {
    format!(
        "fewer than {} words, or only ignored words: no fingerprint; compared by digest",
        Document::WORDS_MIN
    )
}

/// The message for a text that is too short to compare.
pub(crate) fn too_short(file: &Path) -> String {
    format!(
        "{} is too short for a fingerprint: it has fewer than {} words",
        named(file),
        Document::WORDS_MIN
    )
}

/// Returns the message that a text is too short to compare its fingerprint.
pub(crate) fn not_comparable(file: &Path) -> String {
    format!(
        "{} has fewer than {} words, too few for a comparison of fingerprints; `simkeep ingest` \
         would store no fingerprint",
        named(file),
        Document::WORDS_MIN
    )
}

/// The name of a file that is read, where `-` is standard input.
pub(crate) fn named(file: &Path) -> String {
    match file.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => escape::escape_untruncated(&file.to_string_lossy()),
    }
}

/// A number with thousands separators.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A line of a summary: the name of a figure, the number, and a remark.
pub(crate) fn figure(name: &str, number: u64, remark: &str) -> String {
    let gap = if remark.is_empty() { "" } else { "  " };
    format!("{name:<25}{:>13}{gap}{remark}", count(number))
}

/// The number of items per second; 0 if no time elapsed.
pub(crate) fn per_second(elapsed: Duration, number: u64) -> f64 {
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 { number as f64 / seconds } else { 0.0 }
}

/// A duration in seconds, rounded to the millisecond.
pub(crate) fn rounded(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The line of a summary with the elapsed time, and with the rate if it took at least a second.
pub(crate) fn time_taken(elapsed: Duration, records: u64) -> String {
    let time = format!("{:.1} s", elapsed.as_secs_f64());
    let line = format!("{:<25}{time:>13}", "time");
    if elapsed.as_secs() == 0 {
        return line;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only shown")]
    let rate = count(per_second(elapsed, records) as u64);
    format!("{line}  {rate} records a second")
}

/// A number with two decimals, or with two significant digits if it is below 0.1, or 1e9 or more.
pub(crate) fn amount(amount: f64) -> String {
    if amount == 0.0 || (0.0995..1e9).contains(&amount) {
        let shown = format!("{amount:.2}");
        let (whole, decimals) = shown.split_once('.').unwrap_or((&shown, ""));
        return format!("{}.{decimals}", whole.parse().map(count).unwrap_or_default());
    }
    if !(1e-6..1e9).contains(&amount) {
        return format!("{amount:.1e}");
    }
    // The exponent of this form gives the number of decimals that keep two significant digits.
    let scientific = format!("{amount:.1e}");
    let exponent = scientific.split_once("e-").and_then(|(_, digits)| digits.parse().ok());
    let decimals: usize = exponent.unwrap_or(1);
    format!("{amount:.*}", decimals + 1)
}

/// A number with its noun in the singular or plural.
pub(crate) fn many(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// The first few names, escaped, and the number of further names.
pub(crate) fn abbreviated_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const NAMED: usize = 5;
    let names: Vec<&str> = names.collect();
    let named: Vec<String> =
        names.iter().take(NAMED).map(|name| escape::escape_untruncated(name)).collect();
    match names.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{}, and {} more", named.join(", "), count(more as u64)),
    }
}

/// A number of bytes in a binary unit, to three significant digits.
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // A larger value would be shown as 1024.
        if value < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {unit}")
}

/// A ratio as a bar: forty characters for 1, and at least one for any positive ratio.
pub(crate) fn bar(share: f64) -> String {
    (0..40).take_while(|n| f64::from(*n) < share * 40.0).map(|_| '█').collect()
}

/// A number of seconds, in the largest unit of which there are at least two.
pub(crate) fn seconds(seconds: u64) -> String {
    match seconds {
        0..120 => many(seconds, "second", "seconds"),
        120..7200 => many(seconds / 60, "minute", "minutes"),
        _ => many(seconds / 3600, "hour", "hours"),
    }
}

/// The note that a writer is active. If the writer is too fast to follow, `sealed` is the time of
/// the state that was sealed, and the number of operations that it lacks; otherwise all stored
/// operations are visible.
pub(crate) fn writer_note(sealed: Option<(SystemTime, u64)>) -> String {
    let Some((written, behind)) = sealed else {
        return "another process is writing to the store; the answer has all that it stored until \
                now"
        .to_owned();
    };
    let age = seconds(written.elapsed().unwrap_or_default().as_secs());
    let behind = many(behind, "operation", "operations");
    format!(
        "another process is writing to the store too fast to follow; the answer shows what it had \
         sealed {age} ago, and lacks {behind}"
    )
}

/// The note that a verb waits for the process that has locked the store: a writer, a repair, or a
/// reader that is opening the store.
pub(crate) fn waiting_note(holder: LockHolder, location: &str, wait: Duration) -> String {
    let holder = holder_of_lock(holder);
    let wait = seconds(wait.as_secs());
    format!("{holder} is using {location}; waiting up to {wait} until it ends")
}

/// The name of the process that holds a lock.
pub(crate) fn holder_of_lock(holder: LockHolder) -> String {
    match holder {
        LockHolder::Process(process) => format!("process {process}"),
        _ => "another process".to_owned(),
    }
}

/// The note that a newer generation than generation `number` is incomplete.
pub(crate) fn incomplete(newer: &IncompleteGeneration, number: u64) -> String {
    format!(
        "generation {} is incomplete, so the answer is from generation {number}: {}",
        newer.generation, newer.why
    )
}

/// The range of the fraction of words that changed, for JSON.
pub(crate) fn changed(meaning: &Meaning) -> [JsonRatio; 2] {
    let changed = meaning.changed();
    [changed.start, changed.end].map(|share| JsonRatio(f64::from(share)))
}

/// The key of a verdict in JSON.
pub(crate) fn verdict_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::New => "new",
        Verdict::Same(_) => "same",
        Verdict::Unseen => "unseen",
        Verdict::Changed { .. } => "changed",
        Verdict::Reverted { .. } => "reverted",
        Verdict::Gone => "gone",
        Verdict::Failed => "failed",
        Verdict::OutOfOrder => "out-of-order",
        Verdict::Known => "known",
        _ => "other",
    }
}

/// The key of the evidence that a page is the same, in JSON.
pub(crate) fn same_by_key(by: SameBy) -> &'static str {
    match by {
        SameBy::Digest => "digest",
        SameBy::Fingerprint => "fingerprint",
        SameBy::NotModified => "not-modified",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_have_thousands_separators() {
        let shown = [0, 999, 1000, 42_255, 1_234_567].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "42,255", "1,234,567"]);
        assert_eq!(many(1, "page", "pages"), "1 page");
    }

    #[test]
    fn rate_is_shown_from_one_second_on() {
        let shown = |ms| time_taken(Duration::from_millis(ms), 5000).trim_start().to_owned();
        assert!(shown(999).ends_with(" 1.0 s"), "{}", shown(999));
        assert!(shown(2000).ends_with(" 2.0 s  2,500 records a second"), "{}", shown(2000));
    }

    #[test]
    fn message_during_writing_says_how_much_is_visible() {
        assert!(writer_note(None).contains("all that it stored until now"));
        let sealed = writer_note(Some((SystemTime::now() - Duration::from_secs(200), 1200)));
        assert!(sealed.ends_with("what it had sealed 3 minutes ago, and lacks 1,200 operations"));
    }

    #[test]
    fn waiting_note_names_the_holder_and_the_wait() {
        let note = |holder| waiting_note(holder, "crawl", Duration::from_secs(5));
        assert_eq!(
            note(LockHolder::Process(17)),
            "process 17 is using crawl; waiting up to 5 seconds until it ends"
        );
        assert!(note(LockHolder::Unknown).starts_with("another process is using crawl;"));
    }

    #[test]
    fn bar_length_follows_the_ratio() {
        let lengths = [0.0, 1e-9, 0.5, 1.0, 7.0].map(|share| bar(share).chars().count());
        assert_eq!(lengths, [0, 1, 20, 40, 40]);
    }

    #[test]
    fn amounts_keep_two_significant_digits() {
        assert_eq!(
            [999_999_999.0, 1e9, 6.710_510_190e32].map(amount),
            ["999,999,999.00", "1.0e9", "6.7e32"]
        );
        let amounts = [0.0, 365.0, 3.044, 0.0996, 0.0994, 0.01, 0.009_96, 0.000_034_4, 1.23e-9];
        let shown = amounts.map(amount);
        let expected =
            ["0.00", "365.00", "3.04", "0.10", "0.099", "0.010", "0.010", "0.000034", "1.2e-9"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn bytes_are_shown_with_three_digits() {
        let shown = [0, 1023, 1024, 10_240, 102_400, 1_048_575, 1 << 40].map(bytes);
        assert_eq!(
            shown,
            ["0 B", "1023 B", "1.00 KiB", "10.0 KiB", "100 KiB", "1.00 MiB", "1.00 TiB"]
        );
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }
}
