//! What stands below the options of `dedup`.

/// Examples, and what the lines are.
pub(super) const HELP: &str = "Examples:
  simkeep dedup
  simkeep dedup -k 8 --sample 5
  simkeep dedup --rule https,shortest-url -o plan.jsonl.zst --drop-list drop.txt
  simkeep dedup --under example.com --json | jq -r 'select(.kept).url'
  simkeep dedup --open 0,none --drop-list drop.txt
  simkeep load corpus.jsonl --url-key id --time-key metadata.date -s c.simkeep
  simkeep dedup --filter corpus.jsonl --to clean --id-key id -s c.simkeep
  simkeep dedup --filter pages-*.jsonl.zst --to marked --mark
  simkeep dedup --resemblance 0.8 --filter corpus.jsonl --to told --id-key id -s c.simkeep

Of each cluster (see `simkeep cluster`) the page that leads it is kept, and all others are dropped in its
favour: so nothing is dropped that is farther than k bits from what is kept for it, and no two pages that
are kept are within k of each other, unless classes or texts tell them apart. What is dropped depends on
what is in force, on the rule, on k, and on classes and texts where these decide. The store stays as it
is.

Where pages have classes, such as those that only some may see, a page is dropped only in favour of one of
its own class, or of a class that --open names, which all may see. Else both stay. Pages that have no class
are of one class with each other. The class of now counts, also --at another time. Who leads is decided
among all pages, so two that stay for their class may be near each other: --classes cleans the pages of a
class by themselves.

Reasons:
  same-digest       the content is the same, byte by byte
  same-fingerprint  the fingerprint is the same
  near              the fingerprints are within k bits
  other-class       not dropped: the page that leads is of another class

--sample lists pairs of each distance instead, to be looked at before anything goes: always the same, and
others with another --seed.

--filter writes a corpus anew, file by file, into the folder of --to: JSON lines line by line, byte by byte,
packed with gzip or zstd if they were; and Parquet files row by row with all columns. Documents are found by
their names: --id-key is what --url-key was for `load`. All that is not to be dropped is written in its place:
empty and broken lines, and documents that the store does not know. So is a document whose page is dropped,
but which has another text than the one that was compared, as where the store has a later version of it.
--any-text goes by names alone: where the store was filled from something else than these texts, such as web
archives.

--resemblance 0.8 has texts decide: fingerprints within 10 bits (or -k) only propose. While the corpus is
read, once more than without, a sketch of 64 bytes is made of each text that may be near another; and a page
is dropped only if its text and that of the page that is kept for it have this share of their runs of five
words in common, with a standard error of .03. Texts that are not those that were compared are kept.

Each file is there when it is whole. One that is there before is refused, unless --force is given; one whose
packed parts are damaged ends all. Memory takes a bit for each page, and 256 KiB for each file that is
written: as many at once as there are --threads. Where texts decide it is two bits more for each page, and up
to 2 MiB for each thread; scratch files then take 16 bytes for each line or row, and 68 for each sketch.

With --json, an object a line. The first has \"pages\", \"without_fingerprint\" (pages
that took no part), \"fingerprints\", \"k\", \"rule\", \"clusters\" (of each one page is kept at least) and
\"dropped\"; then a line for each page that is dropped with \"url\", \"kept\",
\"distance\", \"reason\", \"size\" (pages of the cluster) and \"fingerprint\", or for one that stays for its class
with \"leader\" instead of \"kept\", and with \"class\" and \"leader_class\"; then the sums: \"by_reason\",
\"by_distance\", \"near_on_host\" (pages near one of their own host, as where a template makes them so),
\"hosts\" and \"other_class\"; then, with --filter, \"files\", \"documents\", \"left_out\", \"marked\",
\"unknown\", \"other_text\", \"broken\" and \"file_bytes\". A file of -o has the lines of the pages that are
dropped alone, or as Parquet a row for each, with columns of these names. Where texts decide, the first line
and those of pages have \"resemblance\" as well.

Exits with 1 if nothing is to be dropped; with --filter with 0, for then the corpus is there.";
