meta:
  id: simkeep_tables
  title: The tables of a segment that find fingerprints
  license: MIT
  ks-version: "0.10"
  endian: le
  bit-endian: le
doc: |
  What the sections of kinds 9 to 18 of a segment consist of, for each epoch. Which entries are in
  which bucket or cell follows from the fingerprints: `format/check/tables.py` computes it.
doc-ref: format/segment.md, Fingerprints
enums:
  shape_kind:
    0: column
    1: rotations
    2: cells
types:
  fingerprints:
    seq:
      - id: fingerprints
        type: u8
        repeat: eos
        doc: In canonical order, by how many bits are set and then as numbers.
  shards:
    seq:
      - id: starts
        type: u4
        repeat: expr
        repeat-expr: 66
        doc: How many fingerprints have fewer bits set than this number's place.
  shape:
    seq:
      - id: kind
        type: u4
        enum: shape_kind
        valid:
          in-enum: true
      - id: num_bits
        type: u4
        doc: By how many bits of a block the buckets of rotations go.
      - id: num_lines
        type: u4
        doc: How many lines a bucket has.
      - id: num_cells
        type: u4
  posting:
    seq:
      - id: number
        type: b30
        doc: The ordinal of the page. Of a list, the low bits of where it begins.
      - id: is_in_force
        type: b1
        doc: Of a list, the next bit of where it begins.
      - id: is_list
        type: b1
    instances:
      list_start:
        value: number + is_in_force.to_i * 1073741824
        doc: Of a list, where it begins in *lists*, in words.
  postings:
    seq:
      - id: postings
        type: posting
        repeat: eos
        doc: Of each fingerprint.
  lists:
    seq:
      - id: lists
        type: list
        repeat: eos
  list:
    seq:
      - id: num_postings
        type: u4
      - id: num_tags
        type: u4
      - id: postings
        type: posting
        repeat: expr
        repeat-expr: num_postings
        doc: Ascending by page.
      - id: tags
        type: digest_tag
        repeat: expr
        repeat-expr: num_tags
        doc: Ascending by tag, then by page.
  digest_tag:
    seq:
      - id: tag
        type: u4
        doc: The first four bytes of the digest.
      - id: page
        type: u4
  buckets:
    params:
      - id: num_lines
        type: u4
    seq:
      - id: lines
        type: bucket_line(_index % num_lines == 0)
        size: 64
        repeat: eos
        doc: The lines of all buckets, `num_lines` for each bucket, bucket after bucket.
  bucket_line:
    doc: |
      A bucket does not store how many entries it has: its last entry is the one before the first
      number of the next bucket. The bytes of unused places are arbitrary.
    params:
      - id: is_first
        type: bool
        doc: Whether it is the first of its bucket.
    seq:
      - id: entries
        type: u2
        repeat: expr
        repeat-expr: 26
      - id: rest_start
        type: u4
        if: goes_on
        doc: Where in *rest* the bucket goes on, in entries.
      - id: num_rest
        type: u4
        if: goes_on
      - id: more_entries
        type: u2
        repeat: expr
        repeat-expr: 'is_first ? 4 : 6'
        if: not goes_on
      - id: first_number
        type: b31
        if: is_first
        doc: The number of the bucket's first entry.
      - id: goes_on_too
        type: b1
        if: is_first
    instances:
      last_byte:
        pos: 63
        type: u1
      goes_on:
        value: is_first and last_byte >= 128
        doc: Whether the bucket goes on in *rest*.
  rest:
    seq:
      - id: entries
        type: u2
        repeat: eos
  cells:
    doc: The lines of cells, or those in which cells go on.
    seq:
      - id: lines
        type: cell_line
        size: 64
        repeat: eos
  cell_line:
    doc: |
      Up to 20 entries of 24 bits; 18 if the cell goes on. How many a last line has, it does not say.
      What is no entry may be anything.
    seq:
      - id: low
        type: u2
        repeat: expr
        repeat-expr: 18
        doc: Bits 0 to 15 of each entry.
      - id: low_more
        type: u2
        repeat: expr
        repeat-expr: 2
        if: not goes_on
      - id: next_line
        type: u4
        if: goes_on
        doc: The line in *further* in which the cell goes on.
      - id: high
        type: u1
        repeat: expr
        repeat-expr: 18
        doc: Bits 16 to 23 of each entry.
      - id: high_more
        type: u1
        repeat: expr
        repeat-expr: 2
        if: not goes_on
      - id: unused
        size: 2
        if: goes_on
        doc: May be anything.
      - id: first_number
        type: b31
        doc: The number of the first entry.
      - id: goes_on_too
        type: b1
    instances:
      last_byte:
        pos: 63
        type: u1
      goes_on:
        value: last_byte >= 128
        doc: Whether the cell goes on in a line of *further*.
  ordinals:
    seq:
      - id: ordinals
        type: u4
        repeat: eos
        doc: The ordinal of each fingerprint, by bucket or cell, ascending within one.
