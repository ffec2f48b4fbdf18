#!/usr/bin/env python3
"""Reads answers as Arrow tables with pyarrow, which checks them.

usage: arrow.py LIBRARY STORE
"""

import ctypes as c
import sys

import pyarrow as pa

lib = c.CDLL(sys.argv[1])
for name in ("store_create", "observe", "store_snapshot", "snapshot_near", "snapshot_search_batch", "error_message"):
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
    """Returns the table that a function exports from a handle, fully validated."""
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
assert all(row[name] is None for name in ("same_by", "distance", "band", "to", "original", "original_by", "refers_to_url",
                                    "refers_to_time")), row

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
now = lib.simkeep_store_snapshot(c.c_void_p(store), c.byref(failure))
matches = lib.simkeep_snapshot_near(c.c_void_p(now), c.c_uint64(0), c.c_uint32(3), c.byref(failure))
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
lib.simkeep_snapshot_free(c.c_void_p(now))
# The table stays valid after its source is freed.
assert batch.column("url")[1].as_py() == "https://example.org/ä"


def call_with_table(function, table, *more, of=None):
    """Passes a table to a function of the store, or of `of`. Returns its result, or the error message."""
    schema, array, error = Schema(), Array(), c.c_void_p()
    table._export_to_c(c.addressof(array), c.addressof(schema))
    made = getattr(lib, function)(c.c_void_p(of or store), c.byref(schema), c.byref(array), *more, c.byref(error))
    # The library must not release a table that it only reads: importing it again releases it here.
    pa.RecordBatch._import_from_c(c.addressof(array), c.addressof(schema))
    if error:
        return lib.simkeep_error_message(error).decode()
    return made


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


lib.simkeep_observe_arrow.restype = c.c_void_p
DAY = 86_400_000
urls = ["https://arrow.example/a", "https://arrow.example/a-page-with-a-long-name", "https://arrow.example/ü"]
whole = batch(
    url=urls,
    time=pa.array([DAY, DAY, DAY], pa.timestamp("ms", "UTC")),
    fingerprint=pa.array([2**64 - 1, None, 1], pa.uint64()),
    digest=pa.array([b"a" * 16, b"b" * 16, None], pa.binary(16)),
    status=pa.array([200, None, 404], pa.uint16()),
    weight=pa.array([None, 2.5, None], pa.float64()),
    etag=pa.array([b'"v1"', b"\xff", None], pa.binary()),
    target=["/", None, None],
    bytes=pa.array([14300, None, None], pa.int64()),
    conditional=pa.array([False, None, True], pa.bool_()),
    seen=pa.array(["content", None, "gone"]),
)
answers = table("simkeep_outcomes_arrow", call_with_table("simkeep_observe_arrow", whole))
assert answers.column("verdict").to_pylist() == ["new", "new", "gone"], answers.to_pydict()

# The same visits in any other layout are known.
seconds = pa.array([DAY // 1000] * 3, pa.timestamp("s"))
layouts = {
    "url": [pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
            pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string())],
    "time": [pa.int64(), pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin")],
    "digest": [pa.binary(), pa.large_binary()],
    "status": [pa.int8(), pa.int16(), pa.uint64()],
    "weight": [pa.float32()],
    "etag": [pa.large_binary(), pa.binary_view()],
    "bytes": [pa.uint64(), pa.int32()],
    "seen": [pa.dictionary(pa.int32(), pa.string())],
}
whole = whole.set_column(4, "status", pa.array([100, None, 101], pa.int8()))
call_with_table("simkeep_observe_arrow", whole)
for name, types in layouts.items():
    for type in types:
        at = whole.schema.get_field_index(name)
        column = whole.column(at)
        if pa.types.is_dictionary(type):
            column = column.cast(type.value_type).dictionary_encode().cast(type)
        else:
            column = column.cast(type)
        changed = whole.set_column(at, name, column)
        answers = table("simkeep_outcomes_arrow", call_with_table("simkeep_observe_arrow", changed))
        assert answers.column("verdict").to_pylist() == ["known"] * 3, (name, type, answers.to_pydict())
signed = whole.set_column(2, "fingerprint", pa.array([-1, None, 1], pa.int64()))
answers = table("simkeep_outcomes_arrow", call_with_table("simkeep_observe_arrow", signed))
assert answers.column("verdict").to_pylist() == ["known"] * 3
for start in range(3):
    answers = table("simkeep_outcomes_arrow", call_with_table("simkeep_observe_arrow", whole.slice(start, 3 - start)))
    assert answers.column("verdict").to_pylist() == ["known"] * (3 - start), start
assert table("simkeep_outcomes_arrow", call_with_table("simkeep_observe_arrow", whole.slice(0, 0))).num_rows == 0

# Errors name the column and the row.
url, time = ["https://x.example/"], [1]
for bad, said in (
    (batch(url=url), "the column \"time\" is missing"),
    (batch(url=url, time=time, extra=[1]), "unknown column \"extra\""),
    (pa.RecordBatch.from_arrays([pa.array(url), pa.array(time), pa.array(time)], ["url", "time", "time"]), "twice"),
    (batch(url=url * 2, time=[1, None]), "row 1: column \"time\""),
    (batch(url=[b"\xff"], time=time), "row 0: url"),
    (batch(url=url, time=["yesterday"]), "column \"time\""),
    (batch(url=url, time=time, fingerprint=[1.5]), "integers"),
    (batch(url=url, time=time, digest=[b"short"]), "16 bytes"),
    (batch(url=url, time=time, seen=["maybe"]), "not-modified"),
    (batch(url=url, time=time, conditional=[1]), "booleans"),
    (batch(url=url, time=time, status=[70000]), "status"),
    (batch(url=url, time=time, epoch=[-1]), "column \"epoch\""),
    (batch(url=url, time=time, fingerprint=pa.array([[1]])), "Arrow format"),
):
    answer = call_with_table("simkeep_observe_arrow", bad)
    assert isinstance(answer, str) and said in answer, (said, answer)

code = call_with_table("simkeep_load_arrow", batch(url=["https://load.example/"], time=[5], seen=["failed"]),
             c.c_uint64(0), None, None, c.c_size_t(0))
assert code == 0, code

# A load takes any number of tables.
lib.simkeep_loading_begin.restype = c.c_void_p
failure = c.c_void_p()
loading = lib.simkeep_loading_begin(c.c_void_p(store), c.c_uint64(0), None, c.byref(failure))
for part in range(3):
    part = batch(url=[f"https://load.example/{part}"], time=[5], seen=["failed"])
    code = call_with_table("simkeep_loading_push_arrow", part, of=loading)
    assert code == 0, code
loaded = (c.c_uint64 * 9)()
code = lib.simkeep_loading_finish(c.c_void_p(loading), loaded, c.c_size_t(c.sizeof(loaded)), c.byref(failure))
assert code == 0 and loaded[1] == 3, (code, list(loaded))
lib.simkeep_loading_free(c.c_void_p(loading))
lib.simkeep_store_free(c.c_void_p(store))
print("Arrow tables are right")
