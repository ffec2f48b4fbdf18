"""The rows of a redb database, file format 3, as of its last commit; each page with its checksum."""

from collections.abc import Iterator
from pathlib import Path

import xxhash
from pages import require

PAGE = 4096


def number(data: bytes, at: int, size: int) -> int:
    require(at + size <= len(data), "redb: a number lies outside of its page")
    return int.from_bytes(data[at : at + size], "little")


def ends(page: bytes, at: int, start: int, width: int | None, count: int) -> list[int]:
    """Where keys or values end in a page: all have one width, or their ends stand at `at`."""
    if width is not None:
        return [start + width * (i + 1) for i in range(count)]
    return [number(page, at + 4 * i, 4) for i in range(count)]


class Database:
    """A file whose primary slot is the last commit, as that of a simkeep store is."""

    def __init__(self, file: Path) -> None:
        self.data = file.read_bytes()
        require(self.data[:9] == b"redb\x1a\x0a\xa9\x0d\x0a", "redb: not a database")
        self.header_pages = number(self.data, 16, 4)
        self.region_pages = number(self.data, 20, 4)
        start = 192 if self.data[9] & 1 else 64
        slot = self.data[start : start + 128]
        require(slot[0] == 3, "redb: another file format")
        sum = xxhash.xxh3_128_intdigest(slot[:112])
        require(sum == number(slot, 112, 16), "redb: the checksum of the last commit")
        # What the definition of a table says of its root, its keys and its values.
        self.tables: dict[str, tuple[bytes, bool, int | None, int | None]] = {}
        for name, of in self.rows(slot[8:32], slot[1] != 0, None, None):
            key, value = (number(of, at + 1, 4) if of[at] else None for at in (42, 47))
            self.tables[name.decode()] = (of[10:34], of[9] != 0, key, value)

    def table(self, name: str) -> list[tuple[bytes, bytes]]:
        """The rows of a table, by their keys; a missing one is empty."""
        return list(self.rows(*self.tables[name])) if name in self.tables else []

    def page(self, of: int) -> bytes:
        """A page by its number: which one of its size, in which region, and of what size."""
        index, region, order = of & 0xFFFFF, of >> 20 & 0xFFFFF, of >> 59
        start = PAGE + region * (self.header_pages + self.region_pages) * PAGE
        start += self.header_pages * PAGE + (index << order) * PAGE
        end = start + (PAGE << order)
        require(end <= len(self.data), "redb: a page lies outside of the file")
        return self.data[start:end]

    def rows(
        self, root: bytes, is_there: bool, key: int | None, value: int | None
    ) -> Iterator[tuple[bytes, bytes]]:
        """The rows of a tree; `key` and `value` are how many bytes all of them have, if they do."""
        if not is_there:
            return
        page, sum = self.page(number(root, 0, 8)), number(root, 8, 16)
        count = number(page, 2, 2)
        if page[0] == 1:
            at = 4 + 4 * count * [key, value].count(None)
            cuts = [at, *ends(page, 4, at, key, count)]
            more = 4 + (4 * count if key is None else 0)
            cuts += ends(page, more, cuts[-1], value, count)
            self.check(page, cuts[-1], sum)
            parts = [page[start:end] for start, end in zip(cuts, cuts[1:])]
            yield from zip(parts[:count], parts[count:])
        else:
            require(page[0] == 2, "redb: a page of another kind")
            keys = 8 + 24 * (count + 1)
            end = keys + key * count if key is not None else number(page, keys + 4 * (count - 1), 4)
            self.check(page, end, sum)
            for i in range(count + 1):
                child = page[8 + 16 * (count + 1) + 8 * i :][:8] + page[8 + 16 * i :][:16]
                yield from self.rows(child, True, key, value)

    def check(self, page: bytes, end: int, sum: int) -> None:
        require(xxhash.xxh3_128_intdigest(page[:end]) == sum, "redb: the checksum of a page")
