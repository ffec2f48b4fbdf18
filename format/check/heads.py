"""The head of a page, a fold over its entries: format/README.md, "The head of a page"."""

import math
from collections import Counter
from typing import Any, NamedTuple

from entries import Content, Entry, decode, etag_of, target_of
from pages import require


class Known(NamedTuple):
    """A content, when it was last seen, and whether it was restated for that time."""

    time: int
    is_restated: bool
    content: Content

    def key(self) -> tuple[Any, ...]:
        digest, fingerprint, epoch = self.content
        values = [(value is not None, value) for value in (digest, fingerprint)]
        return (self.time, values[0], epoch & 0xFFFFFF, self.is_restated, values[1], epoch)


class Head(NamedTuple):
    visits: int
    first: int
    last: Entry
    settled: Entry | None
    modified: tuple[int, int] | None
    weighed: tuple[int, float] | None
    classed: tuple[int, int] | None
    tagged: tuple[int, bytes] | None
    pointing: tuple[int, tuple[int, str]] | None
    contents: list[Known]

    @property
    def is_gone(self) -> bool:
        return self.settled is not None and self.settled.seen == "gone"

    def last_version(self) -> list[Known]:
        """The contents of the latest time and digest."""
        if not self.contents:
            return []
        newest = self.contents[0]
        return [
            known
            for known in self.contents
            if (known.time, known.content.digest) == (newest.time, newest.content.digest)
        ]

    def in_force(self) -> dict[int, Content]:
        """What is in force on the page, by epoch."""
        found: dict[int, Content] = {}
        if not self.is_gone:
            for known in self.last_version():
                found.setdefault(known.content.epoch, known.content)
        return found


def latest(known: list[Known]) -> list[Known]:
    """Each content with its latest time, as many of the greatest as a head has."""
    newest: dict[Content, Known] = {}
    for one in known:
        before = newest.get(one.content)
        if before is None or (before.time, before.is_restated) < (one.time, one.is_restated):
            newest[one.content] = one
    ordered = sorted(newest.values(), key=Known.key, reverse=True)[:64]
    counts: Counter[int] = Counter()
    for at, one in enumerate(ordered):
        counts[one.content.epoch] += 1
        if counts[one.content.epoch] == 8:
            least = Known.key(one)[:2]
            return [other for other in ordered if Known.key(other)[:2] >= least]
    return ordered


def known_of(entries: list[Entry]) -> list[Known]:
    return [Known(e.time, e.seen == "restated", e.content) for e in entries if e.content]


def in_order(pointing: tuple[int, tuple[int, str]]) -> tuple[int, int, bytes]:
    time, (shared, added) = pointing
    return time, shared, added.encode()


def head_of(entries: list[Entry], carried: Any = None) -> Head | None:
    """The head that these entries make, with what is carried of others."""
    visits = [entry for entry in entries if entry.is_visit]
    count = len(visits)
    known = known_of(entries)
    firsts = [entry.time for entry in visits]
    dates = []
    weights = [(entry.time, entry.weight) for entry in entries if entry.weight is not None]
    classes = [(entry.time, entry.page_class) for entry in entries if entry.page_class is not None]
    etags = [(entry.time, entry.etag) for entry in entries if entry.etag is not None]
    targets = [(entry.time, entry.target) for entry in entries if entry.target is not None]
    if carried is not None:
        others = decode(carried.entries.entries)
        contents = carried.num_contents.value
        require(contents <= 64, "a carried head has", contents, "contents")
        for entry in others[:contents]:
            nothing = (entry.status, entry.modified, entry.num_bytes, entry.is_conditional)
            bare = entry.content and nothing == (None, None, None, False)
            require(bare, "a carried content has more than that")
        require(all(entry.is_visit for entry in others[contents:]), "a carried visit is none")
        require(others[:contents] == sorted(others[:contents], key=Entry.key), "carried contents")
        visits += others[contents:]
        is_last = carried.has_last or any(entry.is_visit for entry in entries)
        require(is_last, "a carried head has no last visit")
        if carried.has_settled:
            require(others[contents].seen != "failed", "a settled visit failed")
        known += known_of(others)
        first = carried.first.value
        firsts.append(first)
        count += carried.num_visits.value
        if carried.has_modified:
            time = first + carried.modified_visit.value
            dates.append((time, time - carried.modified_earlier.value))
        if carried.has_weighed:
            weights.append((first + carried.weighed.value, carried.weight))
        if carried.has_classed:
            classes.append((first + carried.classed.value, carried.page_class.value))
        if carried.has_tagged:
            etags.append((first + carried.tagged.value, etag_of(carried.etag)))
        if carried.has_pointing:
            targets.append((first + carried.pointing.value, target_of(carried.target)))
    if not count:
        return None
    settled = [entry for entry in visits if entry.seen != "failed"]
    for entry in settled:
        if entry.seen != "gone" and entry.modified is not None:
            dates.append((entry.time, entry.modified))
    contents = latest(known)
    # What describes an earlier content is over.
    since = contents[0].time if contents else -math.inf
    return Head(
        visits=count,
        first=min(firsts),
        last=max(visits, key=Entry.key),
        settled=max(settled, key=Entry.key, default=None),
        modified=max(dates, default=None),
        weighed=max(weights, default=None),
        classed=max(classes, default=None),
        tagged=max((of for of in etags if of[0] >= since), default=None),
        pointing=max((of for of in targets if of[0] >= since), key=in_order, default=None),
        contents=contents,
    )
