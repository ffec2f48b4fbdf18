meta:
  id: simkeep_df
  title: Table of document frequencies of simkeep
  file-extension: df
  license: MIT
  ks-version: "0.10"
  endian: le
doc: How many documents have a feature, by the hash of the feature. Nothing but numbers, and no padding.
doc-ref: format/df.md
seq:
  - id: magic
    contents: [simkdf, 0, 0]
  - id: version
    type: u4
    valid: 1
  - id: zeros
    contents: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  - id: head_checksum
    type: u4
    doc: CRC-32 of the 60 bytes before.
  - id: entries
    type: entry
    repeat: expr
    repeat-expr: trailer.num_terms
    doc: In order of their hashes, none twice.
  - id: directory
    type: u4
    repeat: expr
    repeat-expr: (1 << trailer.num_bits) + 1
    doc: How many entries have hashes whose leading bits are below this number's place.
instances:
  trailer:
    pos: _io.size - 320
    size: 320
    type: trailer
types:
  entry:
    seq:
      - id: hash
        type: u8
        doc: The hash of a feature.
      - id: num_documents
        type: u4
        doc: How many documents have it.
  trailer:
    seq:
      - id: magic
        contents: [simkdfe, 0]
      - id: num_documents
        type: u8
        doc: How many documents were counted.
      - id: num_terms
        type: u8
        doc: How many entries there are.
      - id: num_left_out
        type: u8
        doc: How many features were left out.
      - id: least_documents
        type: u4
        doc: Features of fewer documents than this were left out.
      - id: num_bits
        type: u4
        valid:
          max: 24
      - id: len_features
        type: u4
        valid:
          max: 256
      - id: features
        type: str
        encoding: UTF-8
        size: len_features
        doc: What the features are, as the name of a recipe says it.
      - id: zeros
        type: u1
        valid: 0
        repeat: expr
        repeat-expr: 268 - len_features
      - id: checksum
        type: u8
        doc: XXH3-64 with seed 0 of all bytes of the file before this one.
