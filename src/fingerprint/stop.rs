//! English words that recipes may leave out. The lists are frozen: they never change.

/// The commonest words, in order.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "did",
    "do", "does", "doing", "done", "down", "each", "few", "for", "from", "further", "had", "has",
    "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into",
    "is", "it", "its", "itself", "just", "me", "more", "most", "my", "no", "nor", "not", "now",
    "of", "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "same",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "theirs", "them",
    "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until",
    "up", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "why", "will", "with", "would", "you", "your", "yours",
];

/// Names of months and weekdays, in order, without names that have other meanings.
#[rustfmt::skip]
const DATE_WORDS: &[&str] = &[
    "apr", "april", "aug", "dec", "december", "feb", "february", "fri", "friday", "jan", "january",
    "jul", "july", "jun", "june", "monday", "nov", "november", "oct", "october", "saturday", "sep",
    "sept", "september", "sunday", "thu", "thur", "thurs", "thursday", "tue", "tues", "tuesday",
    "wednesday",
];

/// Whether a word in lower case is a stop word.
pub(super) fn is_stop_word(word: &[u8]) -> bool {
    STOP_WORDS.binary_search_by(|stop| stop.as_bytes().cmp(word)).is_ok()
}

/// Whether a word in lower case is part of a date.
pub(super) fn is_date_word(word: &[u8]) -> bool {
    DATE_WORDS.binary_search_by(|date| date.as_bytes().cmp(word)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted_and_never_change() {
        for words in [STOP_WORDS, DATE_WORDS] {
            assert!(words.is_sorted_by(|a, b| a < b));
        }
        let all = [STOP_WORDS.join(" "), DATE_WORDS.join(" ")].join("\n");
        assert_eq!(xxhash_rust::xxh3::xxh3_64(all.as_bytes()), 7_087_124_282_915_686_092);
        assert!(is_stop_word(b"the") && !is_stop_word(b"simhash") && !is_stop_word(b""));
        assert!(is_date_word(b"sunday") && !is_date_word(b"may"));
    }
}
