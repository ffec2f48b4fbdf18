"""A segment: its checksums, and that everything in it follows from its pages."""

import zlib
from typing import Any, NamedTuple

import surt
import xxhash
from entries import Entry, decode
from heads import Head
from pages import require, same

BLOCK = 4096
# Which sections there are of each shape, in each of its parts.
TABLES = {
    "column": (0, []),
    "rotations": (4, ["buckets", "rest", "ordinals"]),
    "cells": (2, ["cells", "further", "ordinals"]),
}
COLUMN = ["fingerprints", "shards", "shape", "postings", "lists"]
FIRST = ["pages", "page_index", "hashes", "hash_pages", "hash_directory", "filter", "schedule"]
FIRST += ["tombstones"]


class Page(NamedTuple):
    """A page of a segment, its record, its entries, and those in the last chunk."""

    url: str
    record: Any
    entries: list[Entry]
    last_chunk: list[Entry]


class Segment:
    """A segment whose bytes are sound, and whose pages are read."""

    def __init__(self, number: int, data: bytes, parsed: Any) -> None:
        self.number, self.data, self.parsed = number, data, parsed
        self.table = parsed.table
        self.sections: dict[tuple[str, int, int], Any] = {}
        for section in self.table.sections:
            epoch = section.epoch.count | section.epoch.reserved_bits << 24
            name = (section.kind.name, section.part, epoch)
            require(name not in self.sections, "section", *name, "is there twice")
            self.sections[name] = section
        # Heads as of its end, and the extremes of its tables.
        self.heads: list[Head | None] = []
        self.edges: set[str] = set()
        self.epochs = sorted({epoch for kind, _, epoch in self.sections if kind == "fingerprints"})
        self.check_sums()
        self.check_sections()
        self.pages = list(self.read_pages())
        self.check_pages()

    def body(self, kind: str, part: int = 0, epoch: int = 0) -> Any:
        return self.sections[kind, part, epoch].body

    def check_sums(self) -> None:
        data, head, trailer = self.data, self.parsed.head, self.parsed.trailer
        same(zlib.crc32(data[:60]), head.checksum, "head's checksum")
        same(zlib.crc32(data[-64:-4]), trailer.checksum, "trailer's checksum")
        start = trailer.ofs_table
        same(start + trailer.len_table, len(data) - 64, "the table ends at")
        same(zlib.crc32(data[start:-64]), trailer.table_checksum, "table's checksum")
        same((head.segment, trailer.segment), (self.number, self.number), "segment")
        same(trailer.nonce, head.nonce, "nonce")
        sums: list[int] = []
        for section in self.table.sections:
            blocks = list(self.block_sums(section))
            if section.kind.name == "checksums":
                same(section.body.checksums, sums, "checksums")
                same(self.table.roots, blocks, "roots")
            sums += blocks

    def block_sums(self, section: Any) -> Any:
        body = self.data[section.ofs_body : section.ofs_end]
        tag = section.kind.value.to_bytes(2, "little") + section.part.to_bytes(2, "little")
        tag += section.epoch.count.to_bytes(3, "little") + bytes([section.epoch.reserved_bits])
        for number, at in enumerate(range(0, len(body), BLOCK)):
            place = self.parsed.head.nonce.to_bytes(8, "little") + tag + number.to_bytes(8, "little")
            yield zlib.crc32(place + body[at : at + BLOCK])

    def check_sections(self) -> None:
        """Those that there must be, and no others, in their order, each at a multiple of 64."""
        expected = [(kind, 0, 0) for kind in FIRST]
        for epoch in self.epochs:
            expected += [(kind, 0, epoch) for kind in COLUMN]
            parts, kinds = TABLES[self.body("shape", 0, epoch).kind.name]
            expected += [(kind, part, epoch) for part in range(parts) for kind in kinds]
        same(list(self.sections), [*expected, ("checksums", 0, 0)], "sections")
        for section in self.table.sections:
            same(section.ofs_body % 64, 0, "section begins")
            require(section.ofs_body - section.ofs_before < 64, "there is more padding than it takes")
        padding = self.parsed.trailer.ofs_table - self.table.sections[-1].ofs_end
        require(padding < 64, "there is more padding than it takes before the table")

    def read_pages(self) -> Any:
        groups = self.body("pages").groups
        for number, group in enumerate(groups):
            count = 16 if number + 1 < len(groups) else self.table.num_pages - 16 * number
            same(group.num_pages.value, count, "pages of a group")
            url = b""
            for head, record in zip(group.heads.heads, group.records):
                require(head.num_shared.value <= len(url), "a URL shares more than there is")
                url = url[: head.num_shared.value] + head.added
                yield self.read_page(url.decode(), record)

    def read_page(self, url: str, record: Any) -> Page:
        if record.num_entries.value > 64:
            time, entries, chunk = 0, [], []
            for place, part in zip(record.chunk_directory, record.chunks):
                chunk = decode(part.entries)
                time += place.time_later.value
                same(chunk[0].time, time, url, "first time of a chunk")
                entries += chunk
        else:
            entries = chunk = decode(record.list.entries)
        same(entries, sorted(set(entries), key=Entry.key), url, "entries in order")
        others = record.num_others.value if record.has_others else 0
        require(others > 0 or not record.has_others, url, "counts no others")
        same(sum(not entry.is_visit for entry in entries), others, url, "entries that are no visits")
        require(record.is_carried or len(entries) <= 64, url, "has too many entries to carry none")
        require(bool(entries) or record.is_reset, url, "has no entries")
        return Page(url, record, entries, chunk)

    def check_pages(self) -> None:
        pages, table = self.pages, self.table
        starts = [place["start"] for place in self.body("pages")._debug["groups"]["arr"]]
        starts.append(self.sections["pages", 0, 0].len_body)
        same(self.body("page_index").starts, starts, "page index")
        keys = [(surt.key(page.url), page.url.encode()) for page in pages]
        same(keys, sorted(set(keys)), "pages in order")
        same(table.num_pages, len(pages), "pages")
        visits = [entry.time for page in pages for entry in page.entries if entry.is_visit]
        same(table.num_visits, len(visits), "visits")
        same(table.num_resets, sum(page.record.is_reset for page in pages), "resets")
        require(table.first_operation <= table.last_operation, "operations go backwards")
        # Bounds: a merge may leave out the visit that they were of.
        require(visits or (table.first_time, table.last_time) == (0, 0), "times without a visit")
        require(not visits or table.first_time <= min(visits), "a visit is before the first")
        require(not visits or max(visits) <= table.last_time, "a visit is after the last")
        columns = [self.body("fingerprints", 0, epoch).fingerprints for epoch in self.epochs]
        same(table.num_fingerprints, sum(map(len, columns)), "fingerprints")
        before = 0
        for tombstone in self.body("tombstones").tombstones:
            at = tombstone.operation
            require(table.first_operation <= at <= table.last_operation, "a tombstone of", at)
            require(before < at, "tombstones are not in order")
            before = at

    def check_hashes(self, seed: int) -> list[int]:
        """Checks what finds pages by their hashes, and says in which order these have the pages."""
        hashes = [xxhash.xxh3_64_intdigest(page.url.encode(), seed) for page in self.pages]
        order = sorted(range(len(hashes)), key=lambda page: (hashes[page], page))
        ascending = [hashes[page] for page in order]
        same(self.body("hashes").hashes, ascending, "hashes")
        same(self.body("hash_pages").pages, order, "hash pages")
        count = len(hashes)
        bits = min((count // 4).bit_length() - 1, 28) if count >= 8 else 0
        same(self.body("hash_directory").starts, starts_of(ascending, bits), "hash directory")
        blocks = -(-12 * count // 512)
        filter = [bytearray(64) for _ in range(blocks)]
        for hash in hashes:
            block, x = filter[hash * blocks >> 64], hash * 0x9E3779B97F4A7C15 % 2**64
            for i in range(7):
                bit = (x >> 1 + 9 * i) % 512
                block[bit // 8] |= 1 << bit % 8
        same(self.body("filter").blocks, [bytes(block) for block in filter], "filter")
        return order


def starts_of(ascending: list[int], bits: int) -> list[int]:
    """How many of these numbers of 64 bits have leading bits below 0, 1, ... 2^bits."""
    starts = [0] * ((1 << bits) + 1)
    for number in ascending:
        starts[(number >> 64 - bits) + 1] += 1
    for at in range(1, len(starts)):
        starts[at] += starts[at - 1]
    return starts
