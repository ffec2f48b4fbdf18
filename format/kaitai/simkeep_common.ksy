meta:
  id: simkeep_common
  title: What all files of a simkeep store share
  license: MIT
  ks-version: "0.10"
doc: |
  Numbers of variable length, and how an epoch is named in bytes. Every other page imports this one.
doc-ref: format/README.md
types:
  varint:
    doc: |
      An unsigned number of up to 64 bits in groups of seven, the lowest first, one per byte. The high
      bit is set in all bytes but the last. At most ten bytes, the tenth 0 or 1, and as few as possible.
      (A web page computes with 53 bits, so it shows numbers above that rounded.)
    seq:
      - id: groups
        type: u1
        repeat: until
        repeat-until: _ < 128
    instances:
      size:
        value: groups.size
      value:
        value: >-
          groups[0] % 128
          + (size > 1 ? (groups[1] % 128) * 128 : 0)
          + (size > 2 ? (groups[2] % 128) * 16384 : 0)
          + (size > 3 ? (groups[3] % 128) * 2097152 : 0)
          + (size > 4 ? (groups[4] % 128) * 268435456 : 0)
          + (size > 5 ? (groups[5] % 128) * 34359738368 : 0)
          + (size > 6 ? (groups[6] % 128) * 4398046511104 : 0)
          + (size > 7 ? (groups[7] % 128) * 562949953421312 : 0)
          + (size > 8 ? (groups[8] % 128) * 72057594037927936 : 0)
          + (size > 9 ? groups[9] * 9223372036854775808 : 0)
  signed_varint:
    doc: |
      A number n as the varint of 2n if it is not negative, else of -2n - 1.
      0, -1, 1, -2 are 00, 01, 02, 03.
    seq:
      - id: zigzag
        type: varint
    instances:
      value:
        value: 'zigzag.value % 2 == 0 ? zigzag.value / 2 : -(zigzag.value / 2) - 1'
  epoch_number:
    doc: The number of an epoch, a `u32` of two parts.
    meta:
      bit-endian: le
    seq:
      - id: count
        type: b24
        doc: How many epochs of the store are older.
      - id: reserved_bits
        type: b8
        valid:
          max: 64
        doc: How many leading bits of its fingerprints are reserved for metadata, and not compared.
  zeros:
    doc: Bytes between two parts of a file. They are zeros, and mean nothing.
    seq:
      - id: zeros
        type: u1
        valid: 0
        repeat: eos
