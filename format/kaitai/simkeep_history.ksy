meta:
  id: simkeep_history
  title: The history of a page, in segments and in the journal
  license: MIT
  ks-version: "0.10"
  endian: le
  bit-endian: le
  imports:
    - simkeep_common
doc: |
  The entries of a page (visits, restated contents, properties), what is carried of entries that stand
  elsewhere, and how the page changes. Entries are differences: of times, of statuses, of
  fingerprints. A list is decoded from its first entry on; `format/check/entries.py` does that.
doc-ref: format/segment.md, Lists of entries
enums:
  seen:
    0: failed
    1: not_modified
    2: gone
    3: content
types:
  tag:
    doc: |
      What the entry is, and what follows. Of a date, how the date is given. Of a request, what is known
      of it.
    seq:
      - id: seen
        type: b2
        enum: seen
      - id: same_status
        type: b1
        doc: |
          The status is that of the visit before. Of what is restated: it has a fingerprint. Of a date:
          it is the date before. Of a request: it was conditional. Of a property: it is a class, or with
          the next bit a target.
      - id: same_content
        type: b1
        doc: |
          The content before, digest and all. Of what is restated: its digest is that of the content
          before. Of a request: the number of bytes follows. Of a property: it is an entity tag, or with
          the bit before a target.
      - id: moved
        type: b1
        doc: |
          The fingerprint is given by the bits that differ from the content before. Of a property: it is
          the entity tag or the target before.
      - id: has_digest
        type: b1
      - id: in_seconds
        type: b1
        doc: Times are in seconds, else in milliseconds.
      - id: is_no_visit
        type: b1
    instances:
      is_date:
        value: is_no_visit and seen == seen::not_modified
      is_request:
        value: is_no_visit and seen == seen::gone
      is_conditional:
        value: is_request and same_status
      has_bytes:
        value: is_request and same_content
      is_property:
        value: is_no_visit and seen == seen::failed
      is_weight:
        value: is_property and not same_status and not same_content
      is_class:
        value: is_property and same_status and not same_content
      is_etag:
        value: is_property and not same_status and same_content
      is_target:
        value: is_property and same_status and same_content
      is_restated:
        value: is_no_visit and seen == seen::content
      is_bare:
        value: 'seen == seen::content and (is_no_visit ? not same_status : same_content and moved)'
        doc: A content without a fingerprint.
      is_whole:
        value: >-
          seen == seen::content and not moved
          and (is_no_visit ? same_status : not same_content)
        doc: A content whose fingerprint is given as it is.
      is_moved:
        value: seen == seen::content and moved and not is_bare
        doc: A content whose fingerprint is given by the bits that moved.
  entry:
    doc: A visit, restated content, or a property.
    params:
      - id: is_first
        type: bool
        doc: Whether it is the first of its list.
    seq:
      - id: lead
        type: tag
        doc: The tag; or that of a request or of a date, and then another follows.
      - id: behind_request
        type: tag
        if: lead.is_request
        doc: The tag; or that of a date, and then the tag follows.
      - id: behind_date
        type: tag
        if: date.is_date
      - id: time
        type: simkeep_common::signed_varint
        if: is_first
        doc: Since the start of 1970, in seconds or milliseconds.
      - id: time_later
        type: simkeep_common::varint
        if: not is_first
        doc: Since the entry before, in seconds or milliseconds.
      - id: status
        type: simkeep_common::varint
        if: not tag.is_no_visit and not tag.same_status
        doc: 0 for none, else the status and 1.
      - id: num_moved
        type: u1
        if: tag.is_moved
      - id: moved
        type: u1
        valid:
          max: 63
        repeat: expr
        repeat-expr: num_moved
        if: tag.is_moved
        doc: Which bits differ from the content before, 0 for the lowest.
      - id: epoch
        type: simkeep_common::varint
        if: tag.is_whole or tag.is_bare
        doc: The number of the epoch, as one number.
      - id: fingerprint
        type: u8
        if: tag.is_whole
      - id: digest
        size: 16
        if: tag.has_digest
      - id: weight
        type: f4
        if: tag.is_weight
      - id: page_class
        type: simkeep_common::varint
        if: tag.is_class
      - id: etag
        type: etag
        if: tag.is_etag and not tag.moved
      - id: target
        type: target
        if: tag.is_target and not tag.moved
      - id: date_earlier
        type: simkeep_common::signed_varint
        if: date.is_date and not date.same_status
        doc: |
          How much earlier than the visit the page was modified: in milliseconds, or in seconds from
          the second of the visit.
      - id: more_bytes
        type: simkeep_common::signed_varint
        if: lead.has_bytes
        doc: How many bytes more the visit got than the last visit whose number of bytes is known.
    instances:
      date:
        value: 'lead.is_request ? behind_request : lead'
        doc: The tag of the date, if there is a date.
      tag:
        value: 'date.is_date ? behind_date : date'
  etag:
    doc: An entity tag, as a server sent it.
    seq:
      - id: len_etag
        type: simkeep_common::varint
      - id: etag
        size: len_etag.value
  target:
    doc: A target, relative to the URL of its page.
    seq:
      - id: num_shared
        type: simkeep_common::varint
        doc: How many bytes it shares with the URL of the page.
      - id: len_added
        type: simkeep_common::varint
      - id: added
        size: len_added.value
        type: str
        encoding: UTF-8
  entries:
    doc: A list of entries, each stored as its difference from the one before.
    params:
      - id: num_entries
        type: s4
    seq:
      - id: entries
        type: entry(_index == 0)
        repeat: expr
        repeat-expr: num_entries
  carried:
    doc: The part of the page's head that does not follow from the entries of the last chunk.
    doc-ref: format/segment.md, Carried heads
    seq:
      - id: has_last
        type: b1
      - id: has_settled
        type: b1
      - id: has_modified
        type: b1
      - id: has_weighed
        type: b1
      - id: has_classed
        type: b1
      - id: has_tagged
        type: b1
      - id: has_pointing
        type: b1
      - id: reserved
        type: b1
        valid: false
      - id: num_visits
        type: simkeep_common::varint
        doc: How many visits the page has besides those of the last chunk.
      - id: first
        type: simkeep_common::signed_varint
        doc: The first time of all its visits, in milliseconds.
      - id: modified_visit
        type: simkeep_common::signed_varint
        if: has_modified
        doc: The time of the visit that says when the page was modified, less the first time.
      - id: modified_earlier
        type: simkeep_common::signed_varint
        if: has_modified
        doc: That time, less the date.
      - id: weighed
        type: simkeep_common::signed_varint
        if: has_weighed
        doc: When the weight in force was given, less the first time.
      - id: weight
        type: f4
        if: has_weighed
      - id: classed
        type: simkeep_common::signed_varint
        if: has_classed
        doc: When the class in force was given, less the first time.
      - id: page_class
        type: simkeep_common::varint
        if: has_classed
      - id: tagged
        type: simkeep_common::signed_varint
        if: has_tagged
        doc: When the last entity tag was given, less the first time.
      - id: etag
        type: etag
        if: has_tagged
      - id: pointing
        type: simkeep_common::signed_varint
        if: has_pointing
        doc: When the last target was given, less the first time.
      - id: target
        type: target
        if: has_pointing
      - id: num_contents
        type: simkeep_common::varint
      - id: entries
        type: entries(num_contents.value + has_settled.to_i + has_last.to_i)
        doc: The contents, then the settled visit, then the last visit.
  changes:
    doc: How the page changes, of all its visits.
    doc-ref: format/segment.md, Changes
    seq:
      - id: has_unchanged
        type: b1
      - id: has_dated
        type: b1
      - id: has_undated
        type: b1
      - id: has_last
        type: b1
      - id: has_distance
        type: b1
      - id: reserved
        type: b3
        valid: 0
      - id: num_unchanged
        type: u1
        if: has_unchanged
      - id: unchanged_ms
        type: simkeep_common::varint
        if: has_unchanged
        doc: The time between the visits that found the page unchanged.
      - id: num_dated
        type: u1
        if: has_dated
      - id: dated_ms
        type: simkeep_common::varint
        if: has_dated
        doc: The time between the visits around dated changes.
      - id: after_dated_ms
        type: simkeep_common::varint
        if: has_dated
        doc: The time from these changes to the visits after them.
      - id: lengths
        type: u1
        if: has_undated
        doc: A bit for each length that has undated changes or returns, 1 for the shortest.
      - id: undated
        type: undated(lengths, _index)
        repeat: expr
        repeat-expr: 8
        if: has_undated
      - id: last
        type: simkeep_common::signed_varint
        if: has_last
        doc: When the page was last found changed or returned, in milliseconds.
      - id: distance
        type: u1
        valid:
          max: 64
        if: has_distance
        doc: By how many bits.
      - id: recent
        type: simkeep_common::varint
        if: has_last
        doc: The last comparisons, a bit each, 1 for one that is not unchanged; the newest is the lowest.
  undated:
    doc: Changes and returns whose intervals are of one length.
    params:
      - id: lengths
        type: u1
      - id: length
        type: s4
        doc: 0 for less than 2^22 ms, 7 for 2^34 ms and more.
    seq:
      - id: twice_changes
        type: simkeep_common::varint
        if: is_there
        doc: Twice the number of changes, and 1 if there are returns.
      - id: num_returns
        type: u1
        if: is_there and twice_changes.value % 2 == 1
      - id: units
        type: simkeep_common::varint
        if: is_there
        doc: The sum of the intervals, in units of 4^length milliseconds.
    instances:
      is_there:
        value: (lengths >> length) % 2 == 1
