"""The fingerprints of a segment, on which pages they are, and the tables that find them."""

from collections import defaultdict
from typing import Any

from entries import Content
from heads import Head
from pages import require, same

from segment import Segment


# In place of the number of an epoch, for the contents without a fingerprint.
DIGESTS = 0xFFFFFF


def key_in(content: Content | None, epoch: int) -> int | None:
    """The fingerprint or the key of a content in the tables of an epoch, or of digests."""
    if content is None:
        return None
    if content.fingerprint is not None:
        mask = (1 << 64 - (epoch >> 24)) - 1
        return content.fingerprint & mask if content.epoch == epoch else None
    if epoch != DIGESTS or content.digest is None or content.digest.startswith(b"redirect"):
        return None
    return int.from_bytes(content.digest[:8])


def in_force_in(head: Head | None, epoch: int) -> list[Content]:
    """The contents in force that the tables may list."""
    if head is None:
        return []
    in_force = head.in_force()
    return list(in_force.values()) if epoch == DIGESTS else [*filter(None, [in_force.get(epoch)])]


def check(segment: Segment, epoch: int, heads: list[Head | None], was: list[set[int]]) -> int:
    """Checks all of an epoch, and says how many pages have the commonest fingerprint. `heads` are those
    of the segment's pages, `was` is which fingerprints of the epoch each page has in any older entry.
    """
    # On which pages, and whether it is in force there.
    there: dict[int, dict[int, bool]] = defaultdict(dict)
    tags: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, (page, head) in enumerate(zip(segment.pages, heads)):
        for entry in page.entries:
            key = key_in(entry.content, epoch)
            if key is not None:
                there[key][number] = False
        for content in in_force_in(head, epoch):
            key = key_in(content, epoch)
            if key is not None and not there[key].get(number):
                there[key][number] = True
                if content.digest is not None and epoch != DIGESTS:
                    tags[key].append((int.from_bytes(content.digest[:4], "little"), number))

    column = segment.body("fingerprints", 0, epoch).fingerprints
    same(column, sorted(set(column), key=lambda f: (f.bit_count(), f)), "fingerprints in order")
    counts = [fingerprint.bit_count() for fingerprint in column]
    shards = [sum(count < bits for count in counts) for bits in range(66)]
    same(segment.body("shards", 0, epoch).starts, shards, "shards")

    lists, start = {}, 0
    for of in segment.body("lists", 0, epoch).lists:
        lists[start] = of
        start += 2 + of.num_postings + 2 * of.num_tags
    listed = []
    longest = 0
    for fingerprint, word in zip(column, segment.body("postings", 0, epoch).postings, strict=True):
        if word.is_list:
            listed.append(word.list_start)
            of = lists[word.list_start]
            require(of.num_postings > 1, "a list of one page")
            postings = of.postings
            found_tags = [(tag.tag, tag.page) for tag in of.tags]
            same(found_tags, sorted(tags[fingerprint]), "tags of", hex(fingerprint))
        else:
            postings = [word]
        require(not any(posting.is_list for posting in postings), "a list in a list")
        found = {posting.number: posting.is_in_force for posting in postings}
        same(list(found), sorted(found), "pages of a list in order")
        same(len(found), len(postings), "pages of a list")
        longest = max(longest, len(found))
        expected = there.pop(fingerprint, {})
        for page in found.keys() - expected.keys():
            # It was in force at the end of an input of a merge.
            require(not found[page] and fingerprint in was[page], "a posting of page", page)
            expected[page] = False
        same(found, expected, "pages of", hex(fingerprint))
    same(there, {}, "fingerprints that are left out")
    same(listed, list(lists), "lists")
    if epoch == DIGESTS:
        same(segment.body("shape", 0, epoch).kind.name, "column", "shape of digests")
    check_shape(segment, epoch, column)
    return longest


def check_shape(segment: Segment, epoch: int, column: list[int]) -> None:
    shape = segment.body("shape", 0, epoch)
    numbers = (shape.num_bits, shape.num_lines, shape.num_cells)
    if shape.kind.name == "column":
        same(numbers, (0, 0, 0), "shape")
    elif shape.kind.name == "rotations":
        same(shape.num_cells, 0, "cells of rotations")
        require(shape.num_bits <= 16 and 1 <= shape.num_lines <= 1 << 26, "shape of rotations")
        for part in range(4):
            check_rotation(segment, epoch, part, shape, column)
    else:
        same(numbers[:2], (0, 0), "bits and lines of cells")
        for part in range(2):
            check_cells(segment, epoch, part, shape.num_cells, column)


def block(fingerprint: int, number: int) -> int:
    return fingerprint >> 48 - 16 * (number % 4) & 0xFFFF


def check_rotation(segment: Segment, epoch: int, part: int, shape: Any, column: list[int]) -> None:
    bits, per_bucket = shape.num_bits, shape.num_lines
    buckets: list[list[int]] = [[] for _ in range(1 << bits)]
    for ordinal, fingerprint in enumerate(column):
        buckets[block(fingerprint, part) >> 16 - bits].append(ordinal)
    order = [ordinal for bucket in buckets for ordinal in bucket]
    same(segment.body("ordinals", part, epoch).ordinals, order, "ordinals")
    rest = segment.body("rest", part, epoch).entries
    lines = segment.body("buckets", part, epoch).lines
    same(len(lines), per_bucket << bits, "lines of buckets")
    number = rest_at = 0
    for at, bucket in enumerate(buckets):
        first, *more = lines[at * per_bucket : (at + 1) * per_bucket]
        places = [*first.entries]
        if not first.goes_on:
            places += first.more_entries
        for line in more:
            places += line.entries + line.more_entries
        entries = [block(column[ordinal], part + 1) for ordinal in bucket]
        same(first.first_number, number, "first number of a bucket")
        same(first.goes_on_too, first.goes_on, "whether a bucket goes on")
        same(first.goes_on, len(entries) > 32 * per_bucket - 2, "whether a bucket goes on")
        if first.goes_on:
            same(first.rest_start, rest_at, "where a bucket goes on")
            same(len(places) + first.num_rest, len(entries), "entries of a bucket that goes on")
            places += rest[rest_at : rest_at + first.num_rest]
            rest_at += first.num_rest
        same(places[: len(entries)], entries, "entries of a bucket")
        room = 32 * per_bucket - 2
        edges = {0: "an empty bucket", room: "a full bucket", room + 1: "a bucket of one too many"}
        segment.edges.add(edges.get(len(entries), "other buckets"))
        if len(bucket) - room > 32:
            segment.edges.add("a bucket with many in the rest")
        number += len(entries)
    same(rest_at, len(rest), "entries of the rest")


CODE = [bit for bit in range(31) if (bit + 1).bit_count() > 1]


def cell_of(half: int, cells: int) -> int:
    word, at = half & 0x7FFFFFFF, 0
    for bit in range(31):
        if word >> bit & 1:
            at ^= bit + 1
    if at:
        word ^= 1 << at - 1
    message = sum((word >> bit & 1) << place for place, bit in enumerate(CODE))
    return (message * 41_475_557 % 2**26) * cells >> 26


def check_cells(segment: Segment, epoch: int, part: int, count: int, column: list[int]) -> None:
    cells: list[list[int]] = [[] for _ in range(count)]
    halves = [(f >> 32, f & 0xFFFFFFFF) if part == 0 else (f & 0xFFFFFFFF, f >> 32) for f in column]
    for ordinal, (half, _) in enumerate(halves):
        cells[cell_of(half, count)].append(ordinal)
    order = [ordinal for cell in cells for ordinal in cell]
    same(segment.body("ordinals", part, epoch).ordinals, order, "ordinals")
    further = segment.body("further", part, epoch).lines
    lines = segment.body("cells", part, epoch).lines
    same(len(lines), count, "lines of cells")
    number = further_at = 0
    for line, cell in zip(lines, cells):
        left = [halves[ordinal][1] & 0xFFFFFF for ordinal in cell]
        edges = {0: "an empty cell", 20: "a full cell", 21: "a cell of one too many"}
        segment.edges.add(edges.get(len(cell), "other cells"))
        if len(cell) > 3 * 20:
            segment.edges.add("a cell of many lines")
        while True:
            low, high = [*line.low], [*line.high]
            if not line.goes_on:
                low, high = low + line.low_more, high + line.high_more
            same(line.first_number, number, "first number of a line")
            same(line.goes_on_too, line.goes_on, "whether a line goes on")
            same(line.goes_on, len(left) > 20, "whether a line goes on")
            found = [bits | more << 16 for bits, more in zip(low, high, strict=True)]
            now = left[: 18 if line.goes_on else 20]
            same(found[: len(now)], now, "entries of a line")
            number, left = number + len(now), left[len(now) :]
            if not line.goes_on:
                break
            same(line.next_line, further_at, "next line")
            line, further_at = further[further_at], further_at + 1
    same(further_at, len(further), "further lines")
