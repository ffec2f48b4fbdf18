"""How a page changes, another fold over its entries, and what its schedule says of it."""

import struct
from typing import Any, NamedTuple

from entries import Content, Entry
from heads import Head, Known, head_of, known_of
from pages import require

LENGTHS = 8


class Epoch(NamedTuple):
    """What the catalog says of an epoch."""

    number: int
    name: str
    has_ended: bool
    role: str
    begun: int
    minor: int
    moderate: int

    def mask(self) -> int:
        """The bits that are compared."""
        return (1 << 64 - (self.number >> 24)) - 1


class Sums:
    """Of all comparisons of two visits."""

    def __init__(self) -> None:
        # Changes, returns and units, by the length of their intervals.
        self.undated = [[0, 0, 0] for _ in range(LENGTHS)]
        self.dated = [0, 0, 0]
        self.unchanged = [0, 0]
        self.last: tuple[int, int | None] | None = None
        self.recent = 0

    def values(self) -> tuple[Any, ...]:
        return (self.undated, self.dated, self.unchanged, self.last, self.recent)

    def count(self) -> int:
        undated = sum(changes + returns for changes, returns, _ in self.undated)
        return undated + self.dated[0] + self.unchanged[0]

    def add(self, what: str, interval: int, date: int | None, time: int, distance: int | None) -> None:
        """Counts a comparison of visits that are so far apart; `date` is that of a dated change."""
        if what == "unchanged":
            self.unchanged[0] += 1
            self.unchanged[1] += interval
        elif date is not None:
            self.dated[0] += 1
            self.dated[1] += interval
            self.dated[2] += time - date
        else:
            length = min(max((interval.bit_length() - 21) // 2, 0), LENGTHS - 1)
            of = self.undated[length]
            of[1 if what == "returned" else 0] += 1
            of[2] = min(of[2] + (interval >> 2 * length), 2**32 - 1)
        if what != "unchanged":
            self.last = (time if date is None else date, distance)
        self.recent = (self.recent << 1 | (what != "unchanged")) & (1 << 64) - 1
        if self.count() == 128:
            self.halve()

    def halve(self) -> None:
        left = 0

        def half(count: int) -> int:
            nonlocal left
            whole = count + left
            left = whole % 2
            return whole // 2

        def scaled(time: int, old: int, new: int) -> int:
            return time * new // old if old else 0

        for of in self.undated:
            old = of[0] + of[1]
            of[0], of[1] = half(of[0]), half(of[1])
            of[2] = scaled(of[2], old, of[0] + of[1])
        for sums in (self.dated, self.unchanged):
            old, new = sums[0], half(sums[0])
            sums[:] = [new, *(scaled(time, old, new) for time in sums[1:])]


def read(changes: Any) -> Sums:
    """What a record or an operation says of changes; of no bytes, that there are none."""
    sums = Sums()
    if changes is None:
        return sums
    if changes.has_undated:
        require(changes.lengths > 0, "undated changes of no length")
        for of in changes.undated:
            if of.is_there:
                changed, has_returns = divmod(of.twice_changes.value, 2)
                returned = of.num_returns if has_returns else 0
                require(returned > 0 if has_returns else changed > 0, "no changes of a length")
                sums.undated[of.length] = [changed, returned, of.units.value]
    if changes.has_dated:
        require(changes.num_dated > 0, "no dated changes")
        sums.dated = [changes.num_dated, changes.dated_ms.value, changes.after_dated_ms.value]
    if changes.has_unchanged:
        require(changes.num_unchanged > 0, "no comparisons are unchanged")
        sums.unchanged = [changes.num_unchanged, changes.unchanged_ms.value]
    require(changes.has_last or not changes.has_distance, "a distance without a last change")
    require(0 < sums.count() < 128, sums.count(), "comparisons")
    if changes.has_last:
        distance = changes.distance if changes.has_distance else None
        sums.last = (changes.last.value, distance)
        sums.recent = changes.recent.value
    return sums


class Comparer:
    """Compares what a visit saw with the versions that the page had before."""

    def __init__(self, epochs: list[Epoch]) -> None:
        self.epochs = {e.number: e for e in epochs}

    def is_like(self, known: Known, now: dict[int, Content], digest: bytes | None) -> bool:
        if digest is not None and digest == known.content.digest:
            return True
        distance = self.distance(known, now)
        return distance is not None and distance <= self.epochs[known.content.epoch].minor

    def distance(self, known: Known, now: dict[int, Content]) -> int | None:
        """The distance in the epoch of `known`; None unless both have a fingerprint in that epoch."""
        _, fingerprint, epoch = known.content
        other = now[epoch].fingerprint if epoch in now else None
        if fingerprint is None or other is None:
            return None
        return ((fingerprint ^ other) & self.epochs[epoch].mask()).bit_count()

    def judge(
        self, before: Head, seen: list[Known], digest: bytes | None
    ) -> tuple[str | None, int | None]:
        """What a visit that saw this content found, and the distance to the last version."""
        now = {
            known.content.epoch: known.content
            for known in sorted(best(seen), key=Known.key)
            if self.epochs[known.content.epoch].role != "near"
        }
        versions = recent_versions(before.contents)
        last = [known for known in versions if known in before.last_version()]
        by_epoch = {known.content.epoch: self.distance(known, now) for known in last}
        distances = {epoch: by for epoch, by in by_epoch.items() if by is not None}
        newest = max(distances, key=lambda epoch: epoch & 0xFFFFFF, default=None)
        distance = None if newest is None else distances[newest]
        if not before.is_gone:
            if digest is not None and any(known.content.digest == digest for known in last):
                return "unchanged", distance
            if newest is not None and distances[newest] <= self.epochs[newest].minor:
                return "unchanged", distance
            if newest is None and not self.digests_decide(last, now, digest):
                return None, None
            versions = [known for known in versions if known not in last]
        is_back = any(self.is_like(known, now, digest) for known in versions)
        return ("returned" if is_back else "changed"), distance

    @staticmethod
    def digests_decide(last: list[Known], now: dict[int, Content], digest: bytes | None) -> bool:
        """Whether digests decide: both have one, and an epoch of both has no fingerprint."""
        bare = [
            known
            for known in last
            if known.content.fingerprint is None
            and known.content.epoch in now
            and now[known.content.epoch].fingerprint is None
        ]
        return bool(bare) and digest is not None and last[0].content.digest is not None


def best(contents: list[Known]) -> list[Known]:
    """Of each time, digest and epoch one: restated content first, then the greatest fingerprint."""
    found: dict[Any, Known] = {}
    for known in sorted(contents, key=Known.key, reverse=True):
        found.setdefault((known.time, known.content.digest, known.content.epoch), known)
    return list(found.values())


def recent_versions(contents: list[Known]) -> list[Known]:
    """The last eight versions: what has one digest, or one time and no digest, is one."""
    versions: set[Any] = set()
    found = []
    for known in best(contents):
        digest = known.content.digest
        versions.add(known.time if digest is None else digest)
        if len(versions) > 8:
            break
        found.append(known)
    return found


def changes_of(entries: list[Entry], comparer: Comparer) -> Sums:
    """The changes of a page with all these entries."""
    sums = Sums()
    before: Entry | None = None
    for at, entry in enumerate(entries):
        if not entry.is_visit or entry.seen == "failed":
            continue
        if before is not None and entry.time > before.time:
            head = head_of(entries[:at])
            assert head
            interval, found, distance = entry.time - before.time, None, None
            if entry.seen == "gone":
                found = "unchanged" if head.is_gone else "changed"
            elif entry.seen == "not-modified":
                found = "returned" if head.is_gone else "unchanged"
            else:
                of = [
                    other
                    for other in entries
                    if (other is entry or other.seen == "restated")
                    and (other.time, other.digest) == (entry.time, entry.digest)
                ]
                found, distance = comparer.judge(head, known_of(of), entry.digest)
            if found:
                date = entry.modified if found == "changed" else None
                is_dated = date is not None and before.time < date < entry.time - 2000
                sums.add(found, interval, date if is_dated else None, entry.time, distance)
        before = entry
    return sums


def value_of(step: int, bits: int) -> int:
    """The number that a step of 1/2^bits octave stands for."""
    if step < 2 << bits:
        return step
    octave, rest = divmod(step, 1 << bits)
    return ((1 << bits) + rest) << (octave - 1)


def step_of(number: int, bits: int) -> int:
    """The nearest step; halfway between two the greater."""
    if number < 2 << bits:
        return number
    octave = number.bit_length() - 1 - bits
    step = (octave << bits) + (number >> octave)
    below, above = value_of(step, bits), value_of(step + 1, bits)
    return step + (2 * number >= below + above)


def rounded(number: int, by: int) -> int:
    return (2 * number + by) // (2 * by)


def evidence(sums: Sums) -> tuple[int, int, int, int, int]:
    """What the schedule tells of changes: how many, dated, returns, interval, unchanged."""
    undated = sum(changes + returns for changes, returns, _ in sums.undated)
    returns = sum(returns for _, returns, _ in sums.undated)
    count = undated + sums.dated[0]
    steps = 0
    for length, (changed, returned, units) in enumerate(sums.undated):
        if changed + returned:
            mean = (units << 2 * length) // (changed + returned)
            steps += step_of(max(rounded(mean, 1000), 1), 3) * (changed + returned)
    still = rounded(sums.unchanged[1] + sums.dated[2], 1000)
    return (
        step_of(count, 3),
        rounded(15 * sums.dated[0], count) if count else 0,
        rounded(15 * returns, count) if count else 0,
        rounded(steps, undated) if undated else 0,
        step_of(still, 3),
    )


def weight_bits(weight: float) -> int:
    bits = struct.unpack("<I", struct.pack("<f", weight))[0]
    return min(max((bits + (1 << 14)) >> 15, 1), 0xFEFF)
