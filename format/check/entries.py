"""Entries of a page as they were meant, out of the differences that the files have."""

import math
import unicodedata
from typing import Any, NamedTuple

from pages import require

SEEN = ["failed", "not-modified", "gone", "content"]


class Content(NamedTuple):
    """What was seen, or was restated of it."""

    digest: bytes | None
    fingerprint: int | None
    epoch: int


class Entry(NamedTuple):
    """A visit, restated content, or a property."""

    time: int
    seen: str
    content: Content | None = None
    digest: bytes | None = None
    status: int | None = None
    modified: int | None = None
    weight: float | None = None
    page_class: int | None = None
    num_bytes: int | None = None
    is_conditional: bool = False
    etag: bytes | None = None
    # How many bytes it shares with the URL of its page, and its others.
    target: tuple[int, str] | None = None

    @property
    def is_visit(self) -> bool:
        return self.seen in SEEN

    def key(self) -> tuple[Any, ...]:
        """The order of entries; an absent value comes before any other."""
        content = self.content
        seen = "content" if self.seen == "restated" else self.seen
        values = (
            self.target and (self.target[0], self.target[1].encode()),
            self.etag,
            self.page_class,
            self.weight,
            self.digest,
            content.epoch & 0xFFFFFF if content and self.seen == "restated" else None,
            content.fingerprint if content else None,
            SEEN.index(seen) if seen in SEEN else None,
            content.epoch if content else None,
            self.status,
            self.modified,
            self.num_bytes,
            self.is_conditional,
        )
        return (self.time, *((value is not None, value) for value in values))


def check_tag(raw: Any) -> None:
    """Only bits that mean something are set, and numbers are within their limits."""
    tag, lead, date = raw.tag, raw.lead, raw.date
    seen = SEEN[tag.seen]
    if tag.is_property:
        require(not tag.has_digest, "a property has a digest")
        require(tag.same_content or not tag.moved, "a weight or a class as before")
    elif tag.is_no_visit:
        require(seen == "content", "an entry that is no visit was", seen)
        require(tag.same_status or not tag.moved, "bits moved of no fingerprint")
        require(not (tag.same_content and tag.has_digest), "a digest is restated twice")
    elif seen == "content":
        is_same = tag.same_content and not tag.moved
        require(not (is_same and tag.has_digest), "the same content has another digest")
    else:
        require(not (tag.same_content or tag.moved), seen, "has a content")
        require(not tag.has_digest or seen == "not-modified", seen, "has a digest")
    if date.is_date:
        require(not tag.is_no_visit, "a date of what is no visit")
        others = (date.same_content, date.moved, date.has_digest, date.same_status and date.in_seconds)
        require(not any(others), "an unknown tag of a date")
    if lead.is_request:
        require(not tag.is_no_visit, "a request of what is no visit")
        others = (lead.moved, lead.has_digest, lead.in_seconds)
        require(not any(others), "an unknown tag of a request")
        require(lead.is_conditional or lead.has_bytes, "the tag of a request says nothing")
    if tag.is_weight:
        require(math.isfinite(raw.weight) and raw.weight > 0, "a weight of", raw.weight)
    if not tag.is_no_visit and not tag.same_status:
        require(raw.status.value <= 1 << 16, "a status of", raw.status.value - 1)
    if tag.is_whole or tag.is_bare:
        require(raw.epoch.value < 1 << 32, "an epoch of more than 32 bits")
    if tag.is_class:
        require(raw.page_class.value < 1 << 32, "a class of more than 32 bits")


def etag_of(raw: Any) -> bytes:
    etag = raw.etag
    require(1 <= len(etag) <= 128, "an entity tag of", len(etag), "bytes")
    require(not set(etag) & set(b"\r\n\0"), "an entity tag that no header has", etag)
    return etag


def target_of(raw: Any) -> tuple[int, str]:
    shared, added = raw.num_shared.value, raw.added
    require(1 <= shared + raw.len_added.value <= 8192, "a target of", shared, "bytes and", added)
    require(not any(unicodedata.category(letter) == "Cc" for letter in added), "control characters")
    return shared, added


def property_of(raw: Any, time: int, before: Entry) -> Entry:
    """The entry of a property; `before` has the last entity tag and the last target of the list."""
    tag = raw.tag
    if tag.is_weight:
        return Entry(time, "weighed", weight=raw.weight)
    if tag.is_class:
        return Entry(time, "classed", page_class=raw.page_class.value)
    if tag.is_etag:
        etag = before.etag if tag.moved else etag_of(raw.etag)
        require(etag is not None, "no entity tag comes before")
        return Entry(time, "tagged", etag=etag)
    target = before.target if tag.moved else target_of(raw.target)
    require(target is not None, "no target comes before")
    return Entry(time, "pointing", target=target)


def decode(entries: list[Any]) -> list[Entry]:
    """Decodes a list of entries; each is stored as its difference from the one before."""
    time, status, date, content = 0, None, None, None
    # The number of bytes, the entity tag and the target before.
    last = Entry(0, "", num_bytes=0)
    found = []
    for number, raw in enumerate(entries):
        check_tag(raw)
        tag = raw.tag
        step = raw.time.value if number == 0 else raw.time_later.value
        time += step * (1000 if tag.in_seconds else 1)
        if tag.is_property:
            given = property_of(raw, time, last)
            last = last._replace(etag=given.etag or last.etag, target=given.target or last.target)
            found.append(given)
            continue
        digest = raw.digest if tag.has_digest else None
        seen = SEEN[tag.seen]
        of: Content | None = None
        if seen == "content":
            if tag.same_content and (tag.is_no_visit or not tag.moved):
                assert content
                digest = content.digest
            if tag.is_moved:
                assert content and content.fingerprint is not None
                fingerprint = content.fingerprint
                for bit in raw.moved:
                    fingerprint ^= 1 << bit
                of = Content(digest, fingerprint, content.epoch)
            elif tag.is_whole or tag.is_bare:
                of = Content(digest, raw.fingerprint if tag.is_whole else None, raw.epoch.value)
            else:
                of = content
            content = of
        if tag.is_restated:
            found.append(Entry(time, "restated", of, digest))
            continue
        if not tag.same_status:
            status = raw.status.value - 1 if raw.status.value else None
        modified = None
        if raw.date.is_date:
            if not raw.date.same_status:
                earlier = raw.date_earlier.value
                date = (time // 1000 - earlier) * 1000 if raw.date.in_seconds else time - earlier
            modified = date
        visit = Entry(time, seen, of, digest, status, modified)
        if raw.lead.is_request:
            if raw.lead.has_bytes:
                assert last.num_bytes is not None
                last = last._replace(num_bytes=(last.num_bytes + raw.more_bytes.value) % 2**64)
                visit = visit._replace(num_bytes=last.num_bytes)
            visit = visit._replace(is_conditional=raw.lead.is_conditional)
        found.append(visit)
    return found


def without_superseded(entries: list[Entry]) -> list[Entry]:
    """The entries of a page in order, without entity tags that a later one or later content ends."""
    tagged = [entry for entry in entries if entry.etag is not None]
    last = max(tagged, key=Entry.key, default=None)
    seen = max((entry.time for entry in entries if entry.content), default=None)
    if last and seen is not None and last.time < seen:
        last = None
    return [entry for entry in entries if entry.etag is None or entry is last]
