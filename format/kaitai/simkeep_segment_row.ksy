meta:
  id: simkeep_segment_row
  title: A row of the table `segments` of a simkeep store
  license: MIT
  ks-version: "0.10"
  endian: le
doc: What the catalog says of a segment, the value of a row. Its key is the segment's number.
doc-ref: format/catalog.md, segments
seq:
  - id: place
    type: place
  - id: checksum
    type: u4
    doc: CRC-32 of the 36 bytes before.
types:
  place:
    doc: A segment, and which file is taken for it.
    seq:
      - id: segment
        type: u8
      - id: first_operation
        type: u8
      - id: last_operation
        type: u8
      - id: len_file
        type: u8
      - id: file_checksum
        type: u4
        doc: The last four bytes of its file.
