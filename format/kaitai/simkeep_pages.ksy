meta:
  id: simkeep_pages
  title: The pages of a segment and their records
  license: MIT
  ks-version: "0.10"
  endian: le
  bit-endian: le
  imports:
    - simkeep_common
    - simkeep_history
doc: |
  What the sections of kinds 1, 7 and 8 of a segment consist of: URLs with their records, when pages
  are to be visited again, and prefixes that were forgotten.
doc-ref: format/segment.md, Pages
types:
  pages:
    doc: URLs and records, in groups of 16 pages, in the order of their SURT keys.
    seq:
      - id: groups
        type: group
        repeat: eos
  group:
    seq:
      - id: num_pages
        type: simkeep_common::varint
      - id: len_heads
        type: simkeep_common::varint
      - id: heads
        type: heads(num_pages.value)
        size: len_heads.value
      - id: records
        type: record
        size: heads.heads[_index].len_record.value
        repeat: expr
        repeat-expr: num_pages.value
  heads:
    params:
      - id: num_pages
        type: s4
    seq:
      - id: heads
        type: page_head
        repeat: expr
        repeat-expr: num_pages
  page_head:
    seq:
      - id: num_shared
        type: simkeep_common::varint
        doc: How many bytes the URL shares with that of the page before in this group.
      - id: num_added
        type: simkeep_common::varint
      - id: len_record
        type: simkeep_common::varint
      - id: added
        size: num_added.value
        doc: |
          The bytes that it adds. They are UTF-8 together with those that it shares, which may end
          within a character.
  record:
    seq:
      - id: is_reset
        type: b1
        doc: What older components have of the page is forgotten.
      - id: is_earlier
        type: b1
        doc: Older components know the page, and it is not forgotten.
      - id: is_carried
        type: b1
      - id: has_others
        type: b1
      - id: is_compared
        type: b1
      - id: reserved
        type: b3
        valid: 0
      - id: num_entries
        type: simkeep_common::varint
      - id: num_others
        type: simkeep_common::varint
        if: has_others
        doc: How many entries are no visits.
      - id: len_changes
        type: simkeep_common::varint
        if: is_compared
      - id: changes
        type: simkeep_history::changes
        size: len_changes.value
        if: is_compared
      - id: carried
        type: simkeep_history::carried
        if: is_carried
      - id: chunk_directory
        type: chunk_place
        repeat: expr
        repeat-expr: num_chunks
        if: num_entries.value > 64
      - id: chunks
        type: 'simkeep_history::entries(_index < num_chunks - 1 ? 64 : num_entries.value - 64 * _index)'
        size: chunk_directory[_index].len_chunk.value
        repeat: expr
        repeat-expr: num_chunks
        if: num_entries.value > 64
      - id: list
        type: simkeep_history::entries(num_entries.value)
        if: num_entries.value <= 64
    instances:
      num_chunks:
        value: (num_entries.value + 63) / 64
  chunk_place:
    seq:
      - id: len_chunk
        type: simkeep_common::varint
      - id: time_later
        type: simkeep_common::signed_varint
        doc: The time of its first entry, less that of the chunk before, in milliseconds.
  schedule:
    seq:
      - id: rows
        type: schedule_row
        size: 16
        repeat: eos
        doc: In the order of the hashes.
  schedule_row:
    seq:
      - id: last_visit_low
        type: u4
      - id: last_visit_high
        type: u1
        doc: Bits 32 to 39.
      - id: is_first
        type: b1
        doc: All visits that the head counts stand in this record.
      - id: is_known
        type: b1
      - id: is_failing
        type: b1
      - id: is_gone
        type: b1
      - id: reserved
        type: b4
        valid: 0
      - id: host_slot
        type: u2
      - id: changes
        type: b6
        doc: The number of changes and returns, in steps of 1/8 octave.
      - id: dated
        type: b4
        doc: How many of them are dated, in fifteenths.
      - id: returns
        type: b4
        doc: How many of them are returns, in fifteenths.
      - id: interval
        type: b9
        doc: The mean interval of those that are not dated, in seconds, in steps of 1/8 octave.
      - id: unchanged
        type: b9
        doc: |
          The time between visits that found the page unchanged, and after dated changes, in seconds,
          in steps of 1/8 octave.
      - id: weight
        type: u2
        doc: Bits 15 to 30 of the `f32`.
      - id: failing
        type: u2
        doc: For how long the page fails, in seconds, in steps of 1/1024 octave.
    instances:
      last_visit:
        value: last_visit_low + last_visit_high * 4294967296
        doc: The time of the last visit, in whole seconds since the start of year 1.
  tombstones:
    seq:
      - id: tombstones
        type: tombstone
        repeat: eos
  tombstone:
    seq:
      - id: operation
        type: u8
      - id: len_prefix
        type: simkeep_common::varint
      - id: prefix
        size: len_prefix.value
        doc: What the keys under it begin with, see format/surt.md.
