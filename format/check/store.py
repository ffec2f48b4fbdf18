"""A whole store: its files agree with each other, and with what the tool says of them."""

import functools
import re
import unicodedata
import zlib
from pathlib import Path
from typing import Any

import surt
import tables
import tool
import xxhash
from changes import Comparer, Epoch, changes_of, evidence, read, step_of, weight_bits
from entries import Entry, decode, without_superseded
from heads import Head, head_of
from pages import Parsers, require, same
from redb import Database

import df
from segment import Page, Segment

YEAR_1 = 62_135_596_800


@functools.cache
def compared(entries: tuple[Entry, ...], epochs: tuple[Epoch, ...]) -> tuple[Any, ...]:
    """How a page with these entries changes, and the evidence of that."""
    sums = changes_of(list(entries), Comparer(list(epochs)))
    return sums.values(), evidence(sums), sums.count()


def words(data: bytes) -> list[int]:
    """The numbers of eight bytes each in a row."""
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]


class Files:
    """The bytes of a store, and the rows of its catalog."""

    def __init__(self, path: Path) -> None:
        self.path = path
        catalog = Database(path / "catalog.redb")
        settings = catalog.table("settings")
        self.settings = {name.decode(): int.from_bytes(of, "little") for name, of in settings}
        self.segment_rows = catalog.table("segments")
        self.epoch_rows = catalog.table("epochs")
        self.session_rows = catalog.table("sessions")
        journals = [self.frames(catalog.table(name)) for name in ("journal_a", "journal_b")]
        self.journals = sorted((frames for frames in journals if frames), key=lambda of: of[0][0])
        self.data = {
            file.name: file.read_bytes()
            for file in [*path.iterdir(), *(path / "segments").iterdir()]
            if file.suffix in (".seg", ".df", "") and file.is_file()
        }

    @staticmethod
    def frames(rows: list[tuple[bytes, bytes]]) -> list[tuple[int, bytes]]:
        """The frames of a journal table, each with its parts joined."""
        frames: list[tuple[int, bytes]] = []
        for key, value in rows:
            first, part = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
            if part:
                before = frames.pop()
                require(len(value) <= 65_280, "part of a frame is too long")
                same((before[0], len(before[1])), (first, part * 65_280), "part of a frame")
                value = before[1] + value
            frames.append((first, value))
        return frames


class Store:
    """A store as it is read from its files, page by page and operation by operation."""

    def __init__(self, parsers: Parsers, files: Files) -> None:
        self.parsers, self.files, self.path = parsers, files, files.path
        self.entries: dict[str, list[Entry]] = {}
        self.heads: dict[str, Head] = {}
        # Where each page stands, the oldest place first, as `inspect page` says it.
        self.places: dict[str, list[dict[str, Any]]] = {}
        self.last_operation = 0
        self.segments: list[Segment] = []
        # What was shown by then, as parsers say it.
        self.shown: set[tuple[str, str, Any]] = set()
        self.census = {"operations": 0, "carried": 0, "compared": 0, "chunked": 0}

    def check(self) -> None:
        same(self.files.settings["format"], 6, "format of the catalog")
        self.epochs = [self.read_epoch(*row) for row in self.files.epoch_rows]
        self.numbers = {epoch.name: epoch.number for epoch in self.epochs}
        self.check_epochs()
        rows = [self.read_row(*row) for row in self.files.segment_rows]
        rows.sort(key=lambda row: row.first_operation)
        self.check_snapshot(rows)
        for row in rows:
            self.check_segment(row)
        nonces = {segment.parsed.head.nonce for segment in self.segments}
        same(len(nonces), len(rows), "nonces")
        for frames in self.files.journals:
            self.replay(frames)
        self.check_lock()
        self.check_sessions()
        self.check_export()
        self.check_places()
        self.check_tables()

    def read_epoch(self, key: bytes, value: bytes) -> Epoch:
        row = self.parsers.parse("epoch_row", value)
        same(zlib.crc32(value[:-4]), row.checksum, "checksum of an epoch")
        same(row.epoch.number.count, int.from_bytes(key, "little"), "count of an epoch")
        return epoch_of(row.epoch)

    def read_row(self, key: bytes, value: bytes) -> Any:
        row = self.parsers.parse("segment_row", value)
        same(zlib.crc32(value[:-4]), row.checksum, "checksum of a segment's row")
        same(row.place.segment, int.from_bytes(key, "little"), "number of a segment")
        return row.place

    def check_epochs(self) -> None:
        same([e.number & 0xFFFFFF for e in self.epochs], list(range(len(self.epochs))), "epochs")
        same(len(self.numbers), len(self.epochs), "names of epochs")
        for epoch in self.epochs:
            is_printed = not any(unicodedata.category(letter) == "Cc" for letter in epoch.name)
            require(1 <= len(epoch.name.encode()) <= 256 and is_printed, "epoch's name", epoch.name)
            same(epoch.number >> 24, reserved_by(epoch.name), "bits reserved by", epoch.name)
        for roles in ({"change", "both"}, {"near", "both"}):
            goes_on = any(epoch.role in roles and not epoch.has_ended for epoch in self.epochs)
            require(goes_on, "no epoch is for", *roles)
        lines = tool.says("epoch", "list", "-s", self.path)
        ended = [line.pop("state") == "ended" for line in map(dict, lines)]
        same([epoch.has_ended for epoch in self.epochs], ended, "ended epochs")
        left_out = ("state", "fingerprints")
        printed = [{k: v for k, v in line.items() if k not in left_out} for line in lines]
        same([tool.epoch_line(epoch) for epoch in self.epochs], printed, "epochs")
        # Only an export has the number of reserved bits.
        lines = [line for line in tool.says("export", "-s", self.path) if "minor" in line]
        exported_bits = [line.get("reserved", 0) for line in lines]
        same([epoch.number >> 24 for epoch in self.epochs], exported_bits, "reserved bits")

    def check_snapshot(self, rows: list[Any]) -> None:
        data = self.files.data.get("SNAPSHOT")
        if data is None:
            return
        snapshot, settings = self.parsers.parse("snapshot", data), self.files.settings
        same(zlib.crc32(data[:-4]), snapshot.checksum, "checksum of SNAPSHOT")
        rest = snapshot.rest
        stored = (rest.store, rest.url_seed, rest.url_hash_bits)
        expected = tuple(settings[name] for name in ("store_id", "url_seed", "url_hash_bits"))
        same(stored, expected, "settings in SNAPSHOT")
        epochs = [epoch_of(of.epoch) for of in rest.epochs]
        same(epochs, self.epochs[: len(epochs)], "epochs in SNAPSHOT")
        # One that began since then was one change.
        missing = len(self.epochs) - len(epochs)
        same(rest.changes, settings["changes"] - missing, "changes in SNAPSHOT")
        same([values(of) for of in rest.segments], [values(of) for of in rows], "segments")
        require(10**12 < rest.written < 4 * 10**12, "SNAPSHOT was written at", rest.written)

    def check_lock(self) -> None:
        data = self.files.data["LOCK"]
        if any(data):
            lock = self.parsers.parse("lock", data)
            same(zlib.crc32(data[:-4]), lock.checksum, "checksum of LOCK")
            same(lock.operation, self.last_operation, "operation in LOCK")
            same(lock.changes, self.files.settings["changes"], "changes in LOCK")

    def check_sessions(self) -> None:
        rows = [words(key + value) for key, value in self.files.session_rows]
        changes = self.files.settings["changes"]
        same(bool(rows), self.last_operation > 0 or changes > 0, "whether there are sessions")
        require(len(rows) <= 4096, "too many sessions", len(rows))
        for before, row in zip([[0, 0, 0, 0], *rows], rows):
            require(before[0] in (0, row[0] - 1), "numbers of sessions", before, row)
            require(before[1] <= row[1] and before[2] <= row[2], "order of sessions", before, row)
            require(row[1] <= self.last_operation and row[2] <= changes, "session", row)
        same(len({row[3] for row in rows}), len(rows), "nonces of sessions")

    def totals(self) -> tuple[int, ...]:
        heads = self.heads.values()
        return (
            len(heads),
            sum(head.visits for head in heads),
            sum(bool(head.contents) and not head.is_gone for head in heads),
            sum(head.is_gone for head in heads),
        )

    def forget(self, urls: list[str]) -> None:
        for url in urls:
            self.entries.pop(url, None)
            self.heads.pop(url, None)
            self.places.pop(url, None)

    def under(self, prefix: bytes) -> list[str]:
        return [url for url in self.entries if surt.covers(prefix, surt.key(url))]

    def add(self, url: str, entries: list[Entry]) -> Head:
        """Adds entries to a page, which must not have them yet."""
        all = sorted({*self.entries.get(url, []), *entries}, key=Entry.key)
        same(len(all), len(self.entries.get(url, [])) + len(entries), url, "entries")
        self.entries[url] = all
        head = head_of(all)
        if head is None:
            raise AssertionError(url)
        seen = {(entry.time, entry.digest) for entry in all if entry.seen == "content"}
        for entry in entries:
            restated = entry.seen == "restated"
            require(not restated or (entry.time, entry.digest) in seen, url, "saw nothing of", entry)
        self.heads[url] = head
        return head

    def check_changes(self, url: str, changes: Any) -> tuple[Any, ...]:
        expected = compared(tuple(self.entries[url]), tuple(self.epochs))
        same(read(changes).values(), expected[0], url, "changes")
        return expected

    def check_segment(self, row: Any) -> None:
        data = self.files.data[f"{row.segment:010}.seg"]
        same(len(data), row.len_file, "length of a segment")
        segment = Segment(row.segment, data, self.parsers.parse("segment", data))
        table, settings = segment.table, self.files.settings
        same(segment.parsed.trailer.checksum, row.file_checksum, "checksum of a segment")
        same(segment.parsed.head.store, settings["store_id"], "store of a segment")
        operations = (table.first_operation, table.last_operation)
        same(operations, (row.first_operation, row.last_operation), "operations of a segment")
        same(row.first_operation, self.last_operation + 1, "first operation of a segment")
        self.segments.append(segment)
        self.last_operation = row.last_operation
        before = self.totals()
        for tombstone in segment.body("tombstones").tombstones:
            self.forget(self.under(tombstone.prefix))
        heads = segment.heads = [self.check_record(page) for page in segment.pages]
        for number, page in enumerate(segment.pages):
            if page.entries:
                size, count = len(page.record._io.to_byte_array()), len(page.entries)
                is_first = not page.record.is_earlier
                self.place(page.url, segment.number, number, size, count, is_first)
        deltas = tuple(after - before for after, before in zip(self.totals(), before))
        added = (table.page_delta, table.visit_delta, table.in_force_delta, table.gone_delta)
        same(added, deltas, "what a segment adds to the store")
        self.check_fingerprints(segment, heads)
        order = segment.check_hashes(settings["url_seed"])
        rows = segment.body("schedule").rows
        same(len(rows), len(order), "rows of the schedule")
        for page, schedule in zip(order, rows):
            self.check_schedule(segment.pages[page], heads[page], schedule)
        self.check_inspected(segment)

    def check_record(self, page: Page) -> Head | None:
        """Adds the entries of a record, and says what head its page has then."""
        url, record = page.url, page.record
        if record.is_reset:
            self.forget([url])
        same(record.is_earlier, url in self.entries, url, "is known to older components")
        if not page.entries:
            require(not record.is_carried, url, "carries a head, and has no entries")
            return None
        is_carried = record.is_earlier or len(page.entries) > 64
        same(record.is_carried, is_carried, url, "carries a head")
        head = self.add(url, page.entries)
        carried = record.carried if record.is_carried else None
        same(head_of(page.last_chunk, carried), head, url, "head")
        expected = compared(tuple(self.entries[url]), tuple(self.epochs))
        same(record.is_compared, record.is_carried and expected[2] > 0, url, "has changes")
        if record.is_compared:
            self.check_changes(url, record.changes)
        self.census["carried"] += record.is_carried
        self.census["compared"] += record.is_compared
        self.census["chunked"] += len(page.entries) > 64
        return head

    def check_fingerprints(self, segment: Segment, heads: list[Head | None]) -> None:
        ended = {epoch.number for epoch in self.epochs if epoch.has_ended}
        made = {
            entry.content.epoch
            for page in segment.pages
            for entry in page.entries
            if entry.content and entry.content.fingerprint is not None
        }
        made |= {
            tables.DIGESTS
            for page in segment.pages
            for entry in page.entries
            if tables.key_in(entry.content, tables.DIGESTS) is not None
        }
        require(made - ended <= set(segment.epochs), "an epoch has no fingerprints")
        longest = 0
        for epoch in segment.epochs:
            if epoch != tables.DIGESTS:
                same(epoch, self.epochs[epoch & 0xFFFFFF].number, "number of an epoch")
            was = [
                {tables.key_in(entry.content, epoch) for entry in self.entries.get(page.url, [])}
                for page in segment.pages
            ]
            longest = max(longest, tables.check(segment, epoch, heads, was))
        same(segment.table.longest_list, longest, "longest list")

    def check_schedule(self, page: Page, head: Head | None, row: Any) -> None:
        flags = (row.is_known, row.is_first, row.is_failing, row.is_gone)
        found = (row.changes, row.dated, row.returns, row.interval, row.unchanged)
        if head is None:
            same(flags, (False,) * 4, page.url, "flags")
            stored = (row.last_visit, row.host_slot, row.weight, row.failing, *found)
            same(stored, (0,) * 9, page.url, "schedule of a page that is not known")
            return
        visits = sum(entry.is_visit for entry in page.entries)
        is_failing = head.last.seen == "failed"
        expected = (True, head.visits == visits, is_failing, head.is_gone)
        same(flags, expected, page.url, "flags")
        same(row.last_visit, head.last.time // 1000 + YEAR_1, page.url, "last visit")
        host = surt.key(page.url).partition(b"\x01")[0]
        slot = xxhash.xxh3_64_intdigest(host, self.files.settings["url_seed"]) >> 48
        same(row.host_slot, slot, page.url, "slot of the host")
        facts = compared(tuple(self.entries[page.url]), tuple(self.epochs))
        same(found, facts[1], page.url, "evidence")
        weight = head.weighed[1] if head.weighed else 1.0
        same(row.weight, weight_bits(weight), page.url, "weight")
        since = head.settled.time if head.settled else head.first
        failing = step_of((head.last.time - since) // 1000, 10) if is_failing else 0
        same(row.failing, failing, page.url, "failing for")

    def check_inspected(self, segment: Segment) -> None:
        """Compares what the tool prints about a segment with its file."""
        (line,) = tool.says("inspect", "segment", segment.number, "-s", self.path)
        table = segment.table
        times = [table.first_time, table.last_time] if table.num_visits else [None, None]
        expected = {
            "segment": segment.parsed.head.segment,
            "size_bytes": len(segment.data),
            "level": table.tier,
            "first_operation": table.first_operation,
            "last_operation": table.last_operation,
            "pages": table.num_pages,
            "visits": table.num_visits,
            "fingerprints": table.num_fingerprints,
            "resets": table.num_resets,
            "page_delta": table.page_delta,
            "visit_delta": table.visit_delta,
            "in_force_delta": table.in_force_delta,
            "gone_delta": table.gone_delta,
            "longest_list": table.longest_list,
            "forgotten_prefixes": len(segment.body("tombstones").tombstones),
        }
        same(expected, {key: line[key] for key in expected}, "inspect segment", segment.number)
        same([*times, table.written], [tool.time_of(line[k]) for k in ("first", "last", "created")])
        names = {epoch.number: epoch.name for epoch in self.epochs}
        sections = [
            {
                "kind": section.kind.name.replace("_", " "),
                "part": section.part,
                "epoch": names.get(epoch) if kind != "checksums" and section.kind.value > 8 else None,
                "of_digests": epoch == tables.DIGESTS and section.kind.value > 8,
                "offset": section.ofs_body,
                "size_bytes": section.len_body,
                "blocks": -(-section.len_body // 4096),
            }
            for (kind, _, epoch), section in segment.sections.items()
        ]
        printed_sections = [{k: v for k, v in of.items() if k != "space"} for of in line["sections"]]
        same(sections, printed_sections, "sections of", segment.number)
        shapes = [
            {
                "epoch": names.get(epoch),
                "fingerprints": len(segment.body("fingerprints", 0, epoch).fingerprints),
                "shape": segment.body("shape", 0, epoch).kind.name,
            }
            for epoch in segment.epochs
        ]
        printed_shapes = [{k: v for k, v in of.items() if k != "size_bytes"} for of in line["tables"]]
        same(shapes, printed_shapes, "tables of", segment.number)

    def replay(self, frames: list[tuple[int, bytes]]) -> None:
        """Applies the operations of a journal table; the first must follow the last known operation."""
        lines = tool.says("tail", "-n", 1_000_000, "-s", self.path)
        printed = {line["operation"]: line for line in lines}
        urls: list[str] = []
        for first, data in frames:
            frame = self.parsers.parse("frame", data)
            same(zlib.crc32(data[:16] + data[20:]), frame.checksum, "checksum of a frame")
            same((first, frame.first_operation), (self.last_operation + 1,) * 2, "first operation")
            for operation in frame.operations.operations:
                self.last_operation += 1
                self.census["operations"] += 1
                self.apply(operation, urls, printed[self.last_operation])

    def apply(self, operation: Any, urls: list[str], line: dict[str, Any]) -> None:
        what = operation.what.name
        if what == "forget_prefix":
            flags = (operation.is_new, operation.is_earlier, operation.has_head)
            same(flags, (False,) * 3, "flags of a prefix that is forgotten")
            self.forget_prefix(operation.prefix, line)
            return
        if operation.is_new:
            url = operation.url
            require(url not in urls, url, "is new twice")
            urls.append(url)
            same(operation.is_earlier, url in self.entries, url, "is known before the journal")
        else:
            url = urls[operation.page.value]
            require(not operation.is_earlier, url, "is not new, and is earlier")
        has_head = what == "entry" and operation.is_new and operation.is_earlier
        same(operation.has_head, has_head, url, "has its head")
        if has_head:
            same(head_of([], operation.head), self.heads[url], url, "head")
            if operation.changes_and_1:
                self.check_changes(url, operation.changes if operation.changes_and_1 > 1 else None)
        same(line["url"], url, "page of an operation")
        if what == "entry":
            (entry,) = decode(operation.entry.entries)
            same(entry, tool.entry_of(line, self.numbers)[1], url, "entry")
            self.add(url, [entry])
            places = self.places.get(url, [])
            if operation.is_new or not places:
                self.place(url, None, urls.index(url), None, 1, not operation.is_earlier)
            else:
                places[-1]["entries"] += 1
            return
        head = self.heads.get(url)
        visits = (operation.page_visits.value, line["visits"])
        same(visits, (head.visits if head else 0,) * 2, url, "visits that are forgotten")
        is_gone = head is not None and head.is_gone
        state = "gone" if is_gone else "in_force" if head and head.contents else "none"
        same(operation.page_state.name, state, url, "state of a page that is forgotten")
        self.forget([url])

    def place(
        self, url: str, segment: int | None, at: int, size: int | None, entries: int, first: bool
    ) -> None:
        place = {"segment": segment, "ordinal": at, "size_bytes": size, "entries": entries}
        self.places.setdefault(url, []).append(place | {"is_first": first})

    def check_places(self) -> None:
        """Where some pages stand, the newest place first: those that stand in most places."""
        urls = sorted(self.places, key=lambda url: (-len(self.places[url]), url))
        for url in urls[:3] + urls[-1:]:
            (line,) = tool.says("inspect", "page", url, "-s", self.path)
            same(self.places[url][::-1], line["records"], "places of", url)
            head = self.heads[url]
            same((head.visits, head.is_gone), (line["visits"], line["is_gone"]), "inspect page", url)
            hash = xxhash.xxh3_64_intdigest(url.encode(), self.files.settings["url_seed"])
            same(f"{hash:016x}", line["hash"], "hash of", url)

    def forget_prefix(self, prefix: Any, line: dict[str, Any]) -> None:
        urls = self.under(prefix.prefix)
        heads = [self.heads[url] for url in urls]
        visits = sum(head.visits for head in heads)
        gone = sum(head.is_gone for head in heads)
        in_force = sum(bool(head.contents) and not head.is_gone for head in heads)
        numbers = [prefix.num_pages, prefix.num_visits, prefix.num_in_force, prefix.num_gone]
        found = [number.value for number in numbers]
        same(found, [len(urls), visits, in_force, gone], "what is forgotten under a prefix")
        same(found[:2], [line["pages"], line["visits"]], "what is forgotten under a prefix")
        self.forget(urls)

    def check_export(self) -> None:
        """Every entry of every page that is not superseded is what an export has, in that order."""
        expected = [
            tool.entry_of(line, self.numbers)
            for line in tool.says("export", "-s", self.path)
            if "url" in line
        ]
        urls = sorted(self.entries, key=lambda url: (surt.key(url), url.encode()))
        found = [(url, entry) for url in urls for entry in without_superseded(self.entries[url])]
        same(len(found), len(expected), "entries")
        for one, other in zip(found, expected):
            same(one, other, "entry")
        (line,) = tool.says("inspect", "-s", self.path)
        keys = ("pages", "visits", "pages_in_force", "pages_gone")
        same(self.totals(), tuple(line[key] for key in keys), "pages and visits")

    def check_tables(self) -> None:
        """Checks the tables of document frequencies of the epochs that have one."""
        printed = {line["epoch"]: line for line in tool.says("df", "list", "-s", self.path)}
        files = [name for name in self.files.data if name.endswith(".df")]
        same(len(files), len(printed), "tables of document frequencies")
        for name in files:
            epoch = self.epochs[int(name.removesuffix(".df"))]
            table = df.check(self.parsers, self.path / name, self.files.data[name])
            require(epoch.name.endswith(f" df:{table}"), name, "is not the table of", epoch.name)
            same(printed[epoch.name]["table"], table, "table of", epoch.name)


def reserved_by(name: str) -> int:
    """How many bits the recipe in the name of an epoch reserves; a name that says nothing, none."""
    parts = [part for part in name.split(" ") if not part.startswith("df:")]
    named = re.fullmatch("[^/]*?-reserved([0-9]+)(-[^/]*)?/[12]", parts[-1])
    return int(named[1]) if named else 0


def epoch_of(of: Any) -> Epoch:
    require(not (of.is_for_change and of.is_for_near), "an epoch has two roles")
    role = "change" if of.is_for_change else "near" if of.is_for_near else "both"
    number = of.number.count | of.number.reserved_bits << 24
    return Epoch(number, of.name, of.has_ended, role, of.begun, of.minor, of.moderate)


def values(place: Any) -> tuple[int, ...]:
    names = ("segment", "first_operation", "last_operation", "len_file", "file_checksum")
    return tuple(getattr(place, name) for name in names)
