meta:
  id: simkeep_epoch_row
  title: A row of the table `epochs` of a simkeep store
  license: MIT
  ks-version: "0.10"
  endian: le
  bit-endian: le
  imports:
    - simkeep_common
doc: What the catalog says of an epoch, the value of a row. Its key is the count of the epoch.
doc-ref: format/catalog.md, epochs
seq:
  - id: epoch
    type: epoch
    size: _io.size - 4
  - id: checksum
    type: u4
    doc: CRC-32 of all before.
types:
  epoch:
    seq:
      - id: number
        type: simkeep_common::epoch_number
      - id: has_ended
        type: b1
      - id: is_for_change
        type: b1
        doc: Its role is *change*; it is *both* without this flag and the next.
      - id: is_for_near
        type: b1
        doc: Its role is *near*.
      - id: reserved
        type: b29
        valid: 0
      - id: begun
        type: u8
        doc: How many visits the store knew when the epoch began.
      - id: minor
        type: u4
        doc: The largest distance, in bits, that is a minor change.
      - id: moderate
        type: u4
        valid:
          min: minor
          max: 64
        doc: The largest distance that is a moderate change.
      - id: name
        type: str
        encoding: UTF-8
        size-eos: true
