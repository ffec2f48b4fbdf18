"""Keys that Spark hashes to specific partitions, so that each partition gets one piece of work."""

_MASK = (1 << 32) - 1

_KEYS: dict[int, tuple[int, ...]] = {}
"""The keys found so far, by number of partitions."""


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK


def hashed(key: int) -> int:
    """The hash by which Spark partitions an `int`: MurmurHash3 (x86, 32 bits, seed 42)."""
    mixed = _rotated(key * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    value = _rotated(42 ^ mixed, 13) * 5 + 0xE6546B64 & _MASK
    value ^= 4
    value ^= value >> 16
    value = value * 0x85EBCA6B & _MASK
    value ^= value >> 13
    value = value * 0xC2B2AE35 & _MASK
    value ^= value >> 16
    return value - (1 << 32) if value >> 31 else value


def keys(partitions: int) -> tuple[int, ...]:
    """Returns a key for each partition. `repartition` by this key sends a row to the partition.

    Two keys in one partition would cost only time. Tries about `n * ln(n)` keys, once in a process.
    """
    if partitions not in _KEYS:
        found: dict[int, int] = {}
        key = 0
        while len(found) < partitions:
            found.setdefault(hashed(key) % partitions, key)
            key += 1
        _KEYS[partitions] = tuple(found[partition] for partition in range(partitions))
    return _KEYS[partitions]
