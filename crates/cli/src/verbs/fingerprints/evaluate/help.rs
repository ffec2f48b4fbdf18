//! The text below the options in the long help.

/// One line for each source of pairs.
pub(super) const USAGE: &str = "\
simkeep evaluate [OPTIONS] --shingles <WORDS> <DOCUMENTS>
       simkeep evaluate [OPTIONS] --pairs <FILE> <DOCUMENTS>
       simkeep evaluate [OPTIONS] --versions <FILE>";

/// The help joins and wraps these lines.
pub(super) const HELP: &str = r#"Examples:
  simkeep evaluate documents.jsonl.zst --shingles 5 --seeds 6
  simkeep evaluate documents.jsonl --html --shingles 5 --recipe near --plot near.svg
  simkeep evaluate documents.jsonl --pairs pairs.tsv --recipe default -k 3,6
  simkeep evaluate --versions histories.jsonl --recipe default --magnitude

Documents are JSON lines or Parquet with "id" and "text", or what `ingest` reads. A line
of --pairs has two ids and a share from 0 to 1, separated by tabs.

Without --recipe it compares all presets, features of other software, and historic
signatures (I-Match, supershingles).

Inputs, --versions, signatures: docs/fingerprints.md and docs/tool.md#evaluate"#;
