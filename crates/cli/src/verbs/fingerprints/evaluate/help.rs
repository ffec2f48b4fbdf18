//! What stands below the options in the long help.

/// In a line for each source of pairs.
pub(super) const USAGE: &str = "\
simkeep evaluate [OPTIONS] --resemblance <WORDS> <DOCUMENTS>
       simkeep evaluate [OPTIONS] --pairs <FILE> <DOCUMENTS>
       simkeep evaluate [OPTIONS] --versions <FILE>";

/// Its lines are joined and wrapped anew.
pub(super) const HELP: &str = r#"Examples:
  simkeep evaluate documents.jsonl.zst --resemblance 5 --seeds 6
  simkeep evaluate documents.jsonl --html --resemblance 5 --recipe default --recipe near --plot near.svg
  simkeep evaluate documents.jsonl --pairs pairs.tsv --recipe default --recipe words3-raw/2 -k 3,6
  simkeep evaluate documents.jsonl --pairs pairs.tsv --json | jq '{called, f1: .best.f1}'
  simkeep evaluate --versions histories.jsonl --recipe default --magnitude

The documents are JSON lines or Parquet files with "id" and "text", or whatever else ingest reads, by URL. The pairs are lines of two ids and how near they
are, a number from 0 to 1, set apart by tabs; a pair that is not there is not near, and one that is
there twice, once near and once not, is an error. Both may be packed. Of documents with equal words
(lower-cased runs of letters and digits, composed) the first is kept, and those too short to tell, of fewer
than 8 words, are left out. Recipes that use document frequencies take those of these documents.
Marks and fields are known of HTML only; of plain texts, recipes that differ in these alone make the
same fingerprints.

Without --recipe, all presets are compared, and beside them the features of other producers: counts
of words, of 3 and 4 characters, and of 3 words; and last the historic signatures, of which a part
is equal or not, so that they have the distance 0 alone: I-Match with one digest and with ten, by
document frequencies of these documents, and supershingles.

With --json, an object a recipe or signature: as it was "called", and "recipe", its full name;
"documents", how many are compared; "left_out", how many take no part: "empty_documents",
"short_documents", and "equal_documents" to others; "near_pairs", how many pairs are near, by the "lenient"
and the "strict" measure; "seeds"; "by_distance", a list from 0 on of "k", "pairs", "lenient", "strict", "recall" and "f1",
null where that is nothing of nothing, and, of several hashes, "deviation" with the standard
deviation of each; and of these objects again the "advised" one, and the "best" by F1.

With --versions, a recipe has one line on what its distances mean. Each version of a page is
compared with the one before it; returns to one of the last 64 versions, equal words, and texts of
fewer than 100 words are left out, and such as would take more than a second to compare. The share
of words that changed is that of the words of both that are not in their longest common subsequence.
The line has: of texts with other words, the share that has the distance 0 (hidden); up to which
distance a change is told as minor (under 1 % of the words) and as moderate (up to 10 %), with the
share of pairs for which that is right, and the share for which it is two bands off; for how many
the share of words is below the range that is told of their distance, in it, and above it; and the
bands that would have most pairs right, and those that would have most right if there were as many
pairs of each band (balanced). Recipes that use document frequencies take those of the first
versions of the first 1,000 pages. With --magnitude, a table for each recipe follows: by distance,
the pairs, their deciles and quartiles, the share of them in each band, and the range that is told.

With --versions and --json, an object a recipe: "called" and "recipe"; "changed_pairs",
"returned_pairs", "equal_pairs", "short_pairs" and "long_pairs"; "hidden"; "bands", with "minor" and
"moderate"; "right_share" and "two_off"; "below_in_above"; "most_right" and "best_balanced", which are bands; and with --magnitude
"meanings", a list of "distance", "pairs", "quantiles" (.1, .25, .5, .75, .9), "in_bands" and "words_changed", the range that is told."#;
