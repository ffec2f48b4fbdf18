"""Entries of a page as they were meant, out of the differences that the files have."""

import math
from typing import Any, NamedTuple

from pages import require

SEEN = ["failed", "not-modified", "gone", "content"]


class Content(NamedTuple):
    """What was seen, or was restated of it."""

    digest: bytes | None
    fingerprint: int | None
    epoch: int


class Entry(NamedTuple):
    """A visit, restated content, a weight, or a class."""

    time: int
    seen: str
    content: Content | None = None
    digest: bytes | None = None
    status: int | None = None
    modified: int | None = None
    weight: float | None = None
    page_class: int | None = None

    @property
    def is_visit(self) -> bool:
        return self.seen in SEEN

    def key(self) -> tuple[Any, ...]:
        """The order of entries; an absent value comes before any other."""
        content = self.content
        seen = "content" if self.seen == "restated" else self.seen
        values = (
            self.page_class,
            self.weight,
            self.digest,
            content.epoch & 0xFFFFFF if content and self.seen == "restated" else None,
            content.fingerprint if content else None,
            SEEN.index(seen) if seen in SEEN else None,
            content.epoch if content else None,
            self.status,
            self.modified,
        )
        return (self.time, *((value is not None, value) for value in values))


def check_tag(raw: Any) -> None:
    """Only bits that mean something are set, and numbers are within their limits."""
    tag, lead = raw.tag, raw.lead
    seen = SEEN[tag.seen]
    of_content = (tag.same_content, tag.moved, tag.has_digest)
    if tag.is_no_visit:
        require(seen in ("content", "failed"), "an entry that is no visit was", seen)
        require(seen == "content" or not any(of_content), "a property has a content")
        require(tag.same_status or not tag.moved, "bits moved of no fingerprint")
        require(not (tag.same_content and tag.has_digest), "a digest is restated twice")
    elif seen == "content":
        is_same = tag.same_content and not tag.moved
        require(not (is_same and tag.has_digest), "the same content has another digest")
    else:
        require(not (tag.same_content or tag.moved), seen, "has a content")
        require(not tag.has_digest or seen == "not-modified", seen, "has a digest")
    if lead.is_date:
        require(not tag.is_no_visit, "a date of what is no visit")
        others = (lead.same_content, lead.moved, lead.has_digest, lead.same_status and lead.in_seconds)
        require(not any(others), "an unknown tag of a date")
    if tag.is_weight:
        require(math.isfinite(raw.weight) and raw.weight > 0, "a weight of", raw.weight)
    if not tag.is_no_visit and not tag.same_status:
        require(raw.status.value <= 1 << 16, "a status of", raw.status.value - 1)
    if tag.is_whole or tag.is_bare:
        require(raw.epoch.value < 1 << 32, "an epoch of more than 32 bits")
    if tag.is_class:
        require(raw.page_class.value < 1 << 32, "a class of more than 32 bits")


def decode(entries: list[Any]) -> list[Entry]:
    """Decodes a list of entries; each is stored as its difference from the one before."""
    time, status, date, content = 0, None, None, None
    found = []
    for number, raw in enumerate(entries):
        check_tag(raw)
        tag = raw.tag
        step = raw.time.value if number == 0 else raw.time_later.value
        time += step * (1000 if tag.in_seconds else 1)
        if tag.is_weight:
            found.append(Entry(time, "weighed", weight=raw.weight))
            continue
        if tag.is_class:
            found.append(Entry(time, "classed", page_class=raw.page_class.value))
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
        if raw.lead.is_date:
            if not raw.lead.same_status:
                earlier = raw.date_earlier.value
                date = (time // 1000 - earlier) * 1000 if raw.lead.in_seconds else time - earlier
            modified = date
        found.append(Entry(time, seen, of, digest, status, modified))
    return found
