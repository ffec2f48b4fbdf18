#!/usr/bin/env python3
"""Reads answers as Arrow tables with pyarrow, which checks them.

usage: arrow.py LIBRARY STORE
"""

import ctypes as c
import sys

import pyarrow as pa

lib = c.CDLL(sys.argv[1])
for name in ("store_create", "observe", "near", "search_batch", "error_message"):
    getattr(lib, f"simkeep_{name}").restype = c.c_void_p
lib.simkeep_error_message.restype = c.c_char_p


class Schema(c.Structure):
    _fields_ = [("of", c.c_int64 * 9)]


class Array(c.Structure):
    _fields_ = [("of", c.c_int64 * 10)]


def check(error):
    if error:
        sys.exit(lib.simkeep_error_message(error).decode())


def table(function, handle):
    """What a function gives of a handle, checked in full."""
    schema, array, error = Schema(), Array(), c.c_void_p()
    getattr(lib, function)(c.c_void_p(handle), c.byref(schema), c.byref(array), c.byref(error))
    check(error)
    batch = pa.RecordBatch._import_from_c(c.addressof(array), c.addressof(schema))
    batch.validate(full=True)
    return batch


def observe(url, time, fingerprint, digest=None):
    error = c.c_void_p()
    url = url.encode()
    out = lib.simkeep_observe(c.c_void_p(store), url, c.c_size_t(len(url)), c.c_int64(time),
                              c.c_uint64(fingerprint), c.c_uint32(0), digest, c.c_uint32(0), c.byref(error))
    check(error)
    return out


failure = c.c_void_p()
store = lib.simkeep_store_create(sys.argv[2].encode(), None, c.byref(failure))
check(failure)
first = observe("https://example.com/a", 1000, 0, b"x" * 16)
row = table("simkeep_outcomes_arrow", first).to_pylist()[0]
assert row["verdict"] == "new" and row["novel"] and row["complete"] and row["priority"] == 1.0, row
assert all(row[name] is None for name in ("same_by", "distance", "band", "to", "original", "original_by")), row

other = observe("https://example.org/ä", 2000, 0, b"x" * 16)
batch = table("simkeep_outcomes_arrow", other)
row = batch.to_pylist()[0]
assert (row["original"], row["original_distance"], row["original_by"]) == ("https://example.com/a", 0, "digest"), row
assert table("simkeep_outcomes_copies_arrow", other).column("url").to_pylist() == ["https://example.com/a"]
assert table("simkeep_outcomes_near_arrow", other).num_rows == 0

back = observe("https://example.com/a", 3000, 0b1111)
row = table("simkeep_outcomes_arrow", back).to_pylist()[0]
assert (row["verdict"], row["distance"], row["band"]) == ("changed", 4, "moderate"), row
back = observe("https://example.com/a", 4000, 0)
row = table("simkeep_outcomes_arrow", back).to_pylist()[0]
assert row["verdict"] == "reverted" and row["to"].timestamp() == 1.0, row
near = table("simkeep_outcomes_near_arrow", observe("https://example.net/", 5000, 1))
assert near.column("distance").to_pylist() == [1, 1] and near.column("observation").to_pylist() == [0, 0]
assert near.column("first")[0].as_py().year == 1970

failure = c.c_void_p()
matches = lib.simkeep_near(c.c_void_p(store), c.c_uint64(0), c.c_uint32(3), c.byref(failure))
check(failure)
batch = table("simkeep_matches_arrow", matches)
assert batch.schema.names == ["query", "url", "distance", "fingerprint"], batch.schema
assert batch.to_pydict() == {
    "query": [0, 0, 0],
    "url": ["https://example.com/a", "https://example.org/ä", "https://example.net/"],
    "distance": [0, 0, 1],
    "fingerprint": [0, 0, 1],
}, batch.to_pydict()
lib.simkeep_matches_free(c.c_void_p(matches))
# The table does not need what it was made of.
assert batch.column("url")[1].as_py() == "https://example.org/ä"
lib.simkeep_store_free(c.c_void_p(store))
print("Arrow tables are right")
