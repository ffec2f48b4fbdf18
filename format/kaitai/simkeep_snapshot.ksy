meta:
  id: simkeep_snapshot
  title: SNAPSHOT of a simkeep store
  license: MIT
  ks-version: "0.10"
  endian: le
  imports:
    - simkeep_segment_row
    - simkeep_epoch_row
doc: |
  What a reader in another process can fall back to while a writer is at work: the list of segments,
  and what it takes to read them.
doc-ref: format/snapshot.md
seq:
  - id: magic
    contents: simksnap
  - id: version
    type: u4
    valid: 6
  - id: len_rest
    type: u4
    doc: How many bytes follow, without the checksum.
  - id: rest
    type: rest
    size: len_rest
  - id: checksum
    type: u4
    doc: CRC-32 of all before.
types:
  rest:
    seq:
      - id: written
        type: u8
        doc: In milliseconds since the start of 1970, by the writer's clock.
      - id: store
        type: u8
        doc: The setting `store_id`.
      - id: changes
        type: u8
        doc: The setting `changes`.
      - id: url_seed
        type: u8
        doc: The setting `url_seed`.
      - id: url_hash_bits
        type: u8
        doc: The setting `url_hash_bits`.
      - id: num_segments
        type: u4
      - id: num_epochs
        type: u4
      - id: segments
        type: simkeep_segment_row::place
        repeat: expr
        repeat-expr: num_segments
        doc: In order of sequence.
      - id: epochs
        type: epoch
        repeat: expr
        repeat-expr: num_epochs
        doc: By their counts.
  epoch:
    seq:
      - id: len_epoch
        type: u4
      - id: epoch
        type: simkeep_epoch_row::epoch
        size: len_epoch
