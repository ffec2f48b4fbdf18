meta:
  id: simkeep_lock
  title: LOCK of a simkeep store
  license: MIT
  ks-version: "0.10"
  endian: le
doc: |
  How far the writer had come when it last noted it. (Where this file is empty, or all zeros, there is
  no mark.)
doc-ref: format/lock.md
seq:
  - id: magic
    contents: simkmark
  - id: operation
    type: u8
    doc: The number of the last acknowledged operation.
  - id: changes
    type: u8
    doc: The catalog's setting `changes`, as the last commit left it.
  - id: checksum
    type: u4
    doc: CRC-32 of the 24 bytes before.
