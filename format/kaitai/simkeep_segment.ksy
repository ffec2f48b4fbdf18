meta:
  id: simkeep_segment
  title: Segment of a simkeep store
  file-extension: seg
  license: MIT
  ks-version: "0.10"
  endian: le
  imports:
    - simkeep_common
    - simkeep_pages
    - simkeep_tables
doc: |
  `segments/N.seg`: the operations of one range of sequence numbers, as pages in the order of their
  SURT keys, with their entries and everything that finds them. The head says what the file is, the
  trailer where the table is, the table where each section is. Every byte is part of a field here, or
  padding. Not described here: the checksums, the order of entries within sections, and derived
  values; the scripts in `format/check` compute them.
doc-ref: format/segment.md
seq:
  - id: head
    type: head
    size: 64
instances:
  trailer:
    pos: _io.size - 64
    size: 64
    type: trailer
  table:
    pos: trailer.ofs_table
    size: trailer.len_table
    type: table
  padding:
    pos: table.sections.last.ofs_end
    size: trailer.ofs_table - table.sections.last.ofs_end
    type: simkeep_common::zeros
    doc: Between the last section and the table.
enums:
  kind:
    1: pages
    2: page_index
    3: hashes
    4: hash_pages
    5: hash_directory
    6: filter
    7: schedule
    8: tombstones
    9: fingerprints
    10: shards
    11: shape
    12: postings
    13: lists
    14: buckets
    15: rest
    16: cells
    17: further
    18: ordinals
    19: checksums
types:
  head:
    seq:
      - id: magic
        contents: [simkseg, 0]
      - id: version
        type: u4
        valid: 6
      - id: reserved
        contents: [0, 0, 0, 0]
      - id: segment
        type: u8
        doc: The segment's number, that of the file's name.
      - id: store
        type: u8
        doc: The store that it is of, the setting `store_id` of the catalog.
      - id: nonce
        type: u8
        doc: A random number that no other segment has.
      - id: reserved_more
        contents: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      - id: checksum
        type: u4
        doc: CRC-32 of the 60 bytes before.
  trailer:
    seq:
      - id: magic
        contents: [simkend, 0]
      - id: segment
        type: u8
      - id: ofs_table
        type: u8
      - id: len_table
        type: u8
      - id: num_sections
        type: u8
      - id: num_roots
        type: u8
      - id: nonce
        type: u8
      - id: table_checksum
        type: u4
        doc: CRC-32 of the table.
      - id: checksum
        type: u4
        doc: CRC-32 of the 60 bytes before, which stands for the whole file.
  table:
    seq:
      - id: first_operation
        type: u8
      - id: last_operation
        type: u8
      - id: num_pages
        type: u8
      - id: num_visits
        type: u8
      - id: num_fingerprints
        type: u8
        doc: Summed over the epochs.
      - id: num_resets
        type: u8
        doc: How many records have the flag *reset*.
      - id: page_delta
        type: s8
        doc: By how much these operations changed the number of pages that the store knows.
      - id: visit_delta
        type: s8
      - id: tier
        type: u8
      - id: in_force_delta
        type: s8
        doc: Of pages that have a content in force.
      - id: gone_delta
        type: s8
      - id: first_time
        type: s8
        doc: A time before which there is no visit in it, in milliseconds; 0 if there is no visit.
      - id: last_time
        type: s8
      - id: longest_list
        type: u8
        doc: How many pages have the fingerprint that most have.
      - id: written
        type: s8
        doc: When the segment was written, in milliseconds since the start of 1970.
      - id: reserved
        contents: [0, 0, 0, 0, 0, 0, 0, 0]
      - id: sections
        type: section(_index)
        repeat: expr
        repeat-expr: _root.trailer.num_sections
      - id: roots
        type: u4
        repeat: expr
        repeat-expr: _root.trailer.num_roots
        doc: The checksums of the blocks of the section *checksums*.
  section:
    params:
      - id: index
        type: s4
    seq:
      - id: kind
        type: u2
        enum: kind
      - id: part
        type: u2
        doc: Which rotation, or which table of cells.
      - id: epoch
        type: simkeep_common::epoch_number
        doc: Whose fingerprints it is of; 0 for what is of no epoch.
      - id: ofs_body
        type: u8
      - id: len_body
        type: u8
    instances:
      ofs_end:
        value: ofs_body + len_body
      ofs_before:
        value: 'index == 0 ? 64 : _root.table.sections[index - 1].ofs_end'
        doc: Where what stands before it ends.
      padding:
        io: _root._io
        pos: ofs_before
        size: ofs_body - ofs_before
        type: simkeep_common::zeros
      shape:
        io: _root._io
        pos: shape_section.ofs_body
        type: simkeep_tables::shape
        if: kind == kind::buckets
        doc: The shape that tells of this section.
      shape_section:
        pos: 0
        size: 0
        type: shape_section(_root.table.sections.size - 1, epoch.count)
        if: kind == kind::buckets
      body:
        io: _root._io
        pos: ofs_body
        size: len_body
        type:
          switch-on: kind
          cases:
            kind::pages: simkeep_pages::pages
            kind::page_index: page_index
            kind::hashes: hashes
            kind::hash_pages: hash_pages
            kind::hash_directory: hash_directory
            kind::filter: filter
            kind::schedule: simkeep_pages::schedule
            kind::tombstones: simkeep_pages::tombstones
            kind::fingerprints: simkeep_tables::fingerprints
            kind::shards: simkeep_tables::shards
            kind::shape: simkeep_tables::shape
            kind::postings: simkeep_tables::postings
            kind::lists: simkeep_tables::lists
            kind::buckets: simkeep_tables::buckets(shape.num_lines)
            kind::rest: simkeep_tables::rest
            kind::cells: simkeep_tables::cells
            kind::further: simkeep_tables::cells
            kind::ordinals: simkeep_tables::ordinals
            kind::checksums: checksums
  shape_section:
    doc: Looks for the section *shape* of an epoch, from the last section on.
    params:
      - id: index
        type: s4
      - id: epoch_count
        type: u4
    instances:
      is_it:
        value: >-
          _root.table.sections[index].kind == kind::shape
          and _root.table.sections[index].epoch.count == epoch_count
      before:
        pos: 0
        size: 0
        type: shape_section(index - 1, epoch_count)
        if: not is_it
      ofs_body:
        value: 'is_it ? _root.table.sections[index].ofs_body : before.ofs_body.as<u8>'
  page_index:
    seq:
      - id: starts
        type: u8
        repeat: eos
        doc: Where each group starts in *pages*, and where the last one ends.
  hashes:
    seq:
      - id: hashes
        type: u8
        repeat: eos
        doc: XXH3-64 of each URL with the store's seed, ascending.
  hash_pages:
    seq:
      - id: pages
        type: u4
        repeat: eos
        doc: The ordinal of the page of each hash.
  hash_directory:
    seq:
      - id: starts
        type: u4
        repeat: eos
        doc: How many hashes have top bits less than this number's place.
  filter:
    doc: A Bloom filter whose bits for one hash lie in one block of 64 bytes.
    seq:
      - id: blocks
        size: 64
        repeat: eos
  checksums:
    seq:
      - id: checksums
        type: u4
        repeat: eos
        doc: One for each block of 4,096 bytes of all sections before, in their order.
