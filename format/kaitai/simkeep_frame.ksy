meta:
  id: simkeep_frame
  title: A frame of the journal of a simkeep store
  license: MIT
  ks-version: "0.10"
  endian: le
  bit-endian: le
  imports:
    - simkeep_common
    - simkeep_history
doc: |
  Operations that were committed together. A frame stands in the tables `journal_a` and `journal_b` of
  the catalog, cut into parts of 65,280 bytes; here they are joined.
doc-ref: format/catalog.md, Frames
seq:
  - id: first_operation
    type: u8
    doc: The same as in the key of the row.
  - id: num_operations
    type: u4
  - id: len_operations
    type: u4
  - id: checksum
    type: u4
    doc: CRC-32 of the 16 bytes before and of the operations.
  - id: operations
    type: operations
    size: len_operations
enums:
  what:
    0: entry
    1: forget_page
    2: forget_prefix
types:
  operations:
    seq:
      - id: operations
        type: operation
        repeat: expr
        repeat-expr: _root.num_operations
  operation:
    seq:
      - id: what
        type: b2
        enum: what
        valid:
          in-enum: true
      - id: is_new
        type: b1
        doc: The page is new to this table of the journal.
      - id: is_earlier
        type: b1
        doc: An older component knows it, and it is not under a prefix that was forgotten since.
      - id: has_head
        type: b1
      - id: reserved
        type: b3
        valid: 0
      - id: page
        type: simkeep_common::varint
        if: what != what::forget_prefix and not is_new
        doc: Pages that are new to the table are counted from 0, as they come.
      - id: len_url
        type: simkeep_common::varint
        if: is_new
      - id: url
        type: str
        encoding: UTF-8
        size: len_url.value
        if: is_new
      - id: changes_and_1
        type: u1
        if: has_head
        doc: 0 if the changes are not known, else 1 more than the bytes that they have.
      - id: changes
        type: simkeep_history::changes
        size: changes_and_1 - 1
        if: has_head and changes_and_1 > 1
      - id: head
        type: simkeep_history::carried
        if: has_head
        doc: The head of the page before this operation.
      - id: entry
        type: simkeep_history::entries(1)
        if: what == what::entry
      - id: page_visits
        type: simkeep_common::varint
        if: what == what::forget_page
        doc: How many visits of the page were known.
      - id: page_state
        type: u1
        enum: state
        if: what == what::forget_page
      - id: prefix
        type: prefix
        if: what == what::forget_prefix
    enums:
      state:
        0: none
        1: in_force
        2: gone
  prefix:
    seq:
      - id: len_prefix
        type: simkeep_common::varint
      - id: prefix
        size: len_prefix.value
        doc: What the keys under it begin with, see format/surt.md.
      - id: num_pages
        type: simkeep_common::varint
      - id: num_visits
        type: simkeep_common::varint
      - id: num_in_force
        type: simkeep_common::varint
      - id: num_gone
        type: simkeep_common::varint
