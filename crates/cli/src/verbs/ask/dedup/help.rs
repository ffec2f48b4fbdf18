//! The text below the options of `dedup`.

/// Examples, and where to read more.
pub(super) const HELP: &str = r#"Examples:
  simkeep dedup crawl.simkeep --sample 5
  simkeep dedup crawl.simkeep -o plan.jsonl.zst --drop-list drop.txt
  simkeep load c.simkeep corpus.jsonl --url-key id --time-key metadata.date
  simkeep dedup c.simkeep --filter corpus.jsonl --to clean --url-key id

Reasons, classes, corpus, texts, memory: docs/corpus.md, docs/tool.md#dedup

Exits with 1 if nothing is dropped, except with --to."#;
