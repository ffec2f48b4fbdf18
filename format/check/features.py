"""What the golden store has an instance of: whatever the pages of `format/` tell apart."""

from typing import Any

import tables
from changes import read
from entries import Entry
from pages import Parsers, require, same, shown_by
from segment import Page, Segment
from store import Store

# What only stores show that the tool makes: pages that are forgotten, gone or without a content.
NOT_GOLDEN = {("SimkeepFrame.Operation.page_state", state) for state in ("gone", "none")}
# What the tables of these stores show, those of the golden store and others of the same fingerprints.
EDGES = {
    "an empty bucket",
    "a full bucket",
    "a bucket of one too many",
    "a bucket with many in the rest",
    "an empty cell",
    "a full cell",
    "a cell of one too many",
    "a cell of many lines",
}


def check(parsers: Parsers, stores: list[Store]) -> None:
    """The first of these stores is the golden one, the others have its fingerprints in other tables."""
    fields = shown_by(parsers.pages)
    same(fields - names(stores[-1].shown), NOT_GOLDEN, "fields that golden stores have not")
    same(fields - names(parsers.shown), set(), "fields that no store has")
    edges = {edge for store in stores for segment in store.segments for edge in segment.edges}
    same(EDGES - edges, set(), "buckets and cells that no store has")
    golden = stores[0]
    found = of_segments(golden) | of_entries(golden) | of_contents(golden)
    for field in ("settled", "modified", "weighed", "classed", "tagged", "pointing"):
        name = f"SimkeepHistory.Carried.has_{field}"
        found[f"an operation whose head has {field}"] = ("frame", name, True) in golden.shown
    for what, is_there in found.items():
        require(is_there, "the golden store shows nothing of this:", what)


def names(shown: set[tuple[str, str, Any]]) -> set[tuple[str, Any]]:
    return {(name, value) for _, name, value in shown}


def of_segments(store: Store) -> dict[str, bool]:
    oldest, middle, newest = store.segments
    long = [page for page in oldest.pages if len(page.entries) > 128]
    chunks = [page.entries[at : at + 64] for page in long for at in range(0, len(page.entries), 64)]
    compared = [read(page.record.changes) for page in all_pages(store) if page.record.is_compared]
    return {
        "merged segments and a sealed one": [s.table.tier for s in store.segments] == [1, 1, 0],
        "several buckets of hashes": len(oldest.body("hash_directory").starts) > 2,
        "several blocks of a filter": len(oldest.body("filter").blocks) > 1,
        "a section of several blocks": any(s.len_body > 2 * 4096 for s in oldest.table.sections),
        "several groups": len(oldest.pages) > 32,
        "a long history in the oldest segment": any(not page.record.is_earlier for page in long),
        "restated content in each chunk": all(any(not e.is_visit for e in chunk) for chunk in chunks),
        "restated content in another chunk than its visit": not long[0].entries[64].is_visit,
        "the oldest segment forgets nothing": not oldest.table.num_resets and not tombstones(oldest),
        "the others forget a prefix": all(len(tombstones(of)) == 1 for of in (middle, newest)),
        "a page that comes back after it was forgotten": any(
            page.record.is_reset and page.entries for page in middle.pages
        ),
        "a page that does not": any(page.record.is_reset and not page.entries for page in newest.pages),
        "lists and tags": all(
            any(list.num_tags for epoch in of.epochs for list in of.body("lists", 0, epoch).lists)
            for of in (middle, newest)
        ),
        "tables of several epochs": len(set(middle.epochs) - {tables.DIGESTS}) == 3,
        "tables of digests": tables.DIGESTS in middle.epochs,
        "a page that never changed": any(of.unchanged[0] > 0 and of.last is None for of in compared),
        "changes that were halved": any(of.count() > 64 for of in compared),
        "several frames": len(store.files.journals[0]) > 1,
        "a table of document frequencies": any(name.endswith(".df") for name in store.files.data),
    }


def of_entries(store: Store) -> dict[str, bool]:
    pages = all_pages(store)
    visits = [entry for page in pages for entry in page.entries if entry.is_visit]
    dates = [(entry.time, entry.modified) for entry in visits if entry.modified is not None]
    found = {
        "a visit before 1970": any(entry.time < 0 for entry in visits),
        "a content without a status": any(e.seen == "content" and e.status is None for e in visits),
        "not modified, with a digest": any(e.seen == "not-modified" and e.digest for e in visits),
        "a date in whole seconds": any(date % 1000 == 0 for _, date in dates),
        "a date within a second": any(date % 1000 for _, date in dates),
        "a date after its visit": any(date > time for time, date in dates),
        "class 0": any(entry.page_class == 0 for page in pages for entry in page.entries),
        "the greatest class": any(e.page_class == 2**32 - 1 for page in pages for e in page.entries),
    }
    entries = [entry for page in pages for entry in page.entries]
    found |= of_requests(visits) | of_tags(store)
    etags = [entry.etag for entry in entries if entry.etag is not None]
    targets = [entry.target for entry in entries if entry.target is not None]
    found |= {
        "an entity tag of 128 bytes": any(len(etag) == 128 for etag in etags),
        "an entity tag that is no text": any(max(etag) > 127 for etag in etags),
        "an entity tag that is superseded": any(
            store.heads[url].tagged is None
            for url, known in store.entries.items()
            if any(entry.etag is not None for entry in known)
        ),
        "an entity tag of a page that is gone": any(
            head.tagged is not None and head.is_gone for head in store.heads.values()
        ),
        "a target that shares nothing": any(shared == 0 for shared, _ in targets),
        "a target that is the beginning of its page": any(added == "" for _, added in targets),
        "two targets of one time": any(
            one.time == other.time and one.target and other.target
            for page in pages
            for one, other in zip(page.entries, page.entries[1:])
        ),
    }
    for seen in ("weighed", "classed", "tagged", "pointing"):
        firsts = [page.entries[0].seen == seen for page in pages if page.entries]
        found[f"{seen} before all visits"] = any(firsts)
        found[f"{seen} beside visits"] = any(0 < count(page, seen) < len(page.entries) for page in pages)
        alone = [page for page in pages if count(page, seen) == len(page.entries) == 1]
        found[f"{seen} alone in a record"] = any(page.record.is_earlier for page in alone)
    for has_digest in (True, False):
        for beside in (True, False):
            found[f"restated: digest {has_digest}, with its visit {beside}"] = any(
                entry.seen == "restated"
                and (entry.digest is not None) == has_digest
                and any(e.is_visit and e.time == entry.time for e in page.entries) == beside
                for page in pages
                for entry in page.entries
            )
    return found


def of_requests(visits: list[Entry]) -> dict[str, bool]:
    """What is known of requests; a visit may have two things or one or none of them."""
    numbers = [entry.num_bytes for entry in visits if entry.num_bytes is not None]
    found = {
        "no bytes": 0 in numbers,
        "the greatest number of bytes": 2**64 - 1 in numbers,
        "bytes and a date": any(entry.num_bytes is not None and entry.modified is not None for entry in visits),
    }
    for is_conditional in (False, True):
        for has_bytes in (False, True):
            found[f"a request: conditional {is_conditional}, bytes {has_bytes}"] = any(
                entry.is_conditional == is_conditional and (entry.num_bytes is not None) == has_bytes
                for entry in visits
            )
    return found


def of_tags(store: Store) -> dict[str, bool]:
    """Tags of properties, and carried heads in records."""
    # The writer stores one entity tag in a list at most, so none is as before.
    records = [page.record for page in all_pages(store)]
    tags = [raw.tag for record in records for raw in stored(record)]
    carried = [record.carried for record in records if record.is_carried]
    return {
        "an entity tag that is stored": any(tag.is_etag and not tag.moved for tag in tags),
        "a target that is stored": any(tag.is_target and not tag.moved for tag in tags),
        "a target as before": any(tag.is_target and tag.moved for tag in tags),
        "a record whose head has tagged": any(head.has_tagged for head in carried),
        "a record whose head has pointing": any(head.has_pointing for head in carried),
    }


def stored(record: Any) -> list[Any]:
    """The entries of a record as they are stored."""
    if record.num_entries.value > 64:
        return [raw for chunk in record.chunks for raw in chunk.entries]
    return record.list.entries


def of_contents(store: Store) -> dict[str, bool]:
    oldest, middle, newest = store.segments
    (ended,) = [epoch.number for epoch in store.epochs if epoch.has_ended]
    (masked,) = [epoch for epoch in store.epochs if epoch.number >> 24]
    now = [content for head in middle.heads if head for content in head.in_force().values()]
    contents = [e.content for page in all_pages(store) for e in page.entries if e.content]
    reserved = [
        of for of in contents if of.epoch == masked.number and (of.fingerprint or 0) & ~masked.mask()
    ]
    bands = {(epoch.minor, epoch.moderate) for epoch in store.epochs}
    far = middle.heads[[page.url for page in middle.pages].index("https://far.example/")]
    return {
        "a content without a fingerprint that was seen": any(
            e.seen == "content" and is_bare(e) for page in all_pages(store) for e in page.entries
        ),
        "one that was restated": all(
            any(e.seen == "restated" and is_bare(e) for page in of.pages for e in page.entries)
            for of in (oldest, middle)
        ),
        "one in force": any(content.fingerprint is None for content in now),
        "an ended epoch in force, without tables": any(content.epoch == ended for content in now)
        and ended not in middle.epochs,
        "restated in the epoch that it was seen in": far is not None
        and [(of.fingerprint, of.epoch) for of in far.in_force().values()] == [(0, 0)],
        "bands of all kinds of epochs": {(0, 8), (2, 8), (3, 10)} <= bands,
        "tables with reserved bits": all(masked.number in of.epochs for of in (middle, newest)),
        "fingerprints with reserved bits": len(reserved) > 1,
    }


def all_pages(store: Store) -> list[Page]:
    return [page for segment in store.segments for page in segment.pages]


def tombstones(segment: Segment) -> list[Any]:
    return segment.body("tombstones").tombstones


def count(page: Page, seen: str) -> int:
    return sum(entry.seen == seen for entry in page.entries)


def is_bare(entry: Entry) -> bool:
    return entry.content is not None and entry.content.fingerprint is None
