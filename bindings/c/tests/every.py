#!/usr/bin/env python3
"""Writes a program that calls each function of the header with each argument made invalid in turn.

usage: every.py HEADER > every.c

Each function is called with valid arguments, with all arguments NULL or 0, and with one argument at a time
invalid: NULL, a length beyond all memory, a structure of size 0, or invalid UTF-8. With SIMKEEP_FAULTS
defined, each function is also made to panic.
"""

import re
import sys

# Arguments that may be NULL.
OPTIONAL = {
    ("simkeep_store_open", "options"),
    ("simkeep_store_create", "options"),
    ("simkeep_store_open_or_create", "options"),
    ("simkeep_observe", "digest"),
    ("simkeep_observe_html", "digest"),
    ("simkeep_observe_html", "encoding"),
    ("simkeep_restate", "digest"),
    ("simkeep_forget", "pages"),
    ("simkeep_forget_under", "pages"),
    ("simkeep_purge", "progress"),
    ("simkeep_purge", "pages"),
    ("simkeep_purge_under", "progress"),
    ("simkeep_purge_under", "pages"),
    ("simkeep_set_property_batch", "missing"),
    ("simkeep_merge", "progress"),
    ("simkeep_backup", "progress"),
    ("simkeep_backup", "backed_up"),
    ("simkeep_backup_path", "progress"),
    ("simkeep_backup_path", "backed_up"),
    ("simkeep_repair", "progress"),
    ("simkeep_verify", "progress"),
    ("simkeep_verify_path", "progress"),
    ("simkeep_load", "progress"),
    ("simkeep_load", "loaded"),
    ("simkeep_copy_from", "progress"),
    ("simkeep_copy_from", "loaded"),
    ("simkeep_loading_begin", "progress"),
    ("simkeep_loading_finish", "loaded"),
    ("simkeep_snapshot_all_pairs", "progress"),
    ("simkeep_snapshot_page_pairs", "progress"),
    ("simkeep_snapshot_clusters", "progress"),
    ("simkeep_snapshot_cluster_of", "complete"),
    ("simkeep_clusters_dropped", "open"),
    ("simkeep_decisions_next", "page"),
    ("simkeep_snapshot_scan", "under"),
    ("simkeep_reader_refresh", "changed"),
    ("simkeep_begin_epoch", "extractor"),
    ("simkeep_begin_epoch", "table"),
    ("simkeep_fingerprinter_new", "store"),
    ("simkeep_fingerprinter_html", "encoding"),
    ("simkeep_response_meaning", "location"),
    ("simkeep_response_meaning", "content_range"),
}
# Parameters of type `size_t` that may have any value, such as the number of pages to find.
ANY_SIZE = {("simkeep_snapshot_nearest", "count"), ("simkeep_snapshot_by_digest", "limit")}
# Functions that read an Arrow table. The program has none, so every call fails.
TABLES = {"simkeep_observe_arrow", "simkeep_load_arrow", "simkeep_loading_push_arrow"}
# Functions that return the nth flaw or loss. An undamaged store has none.
SOUND = {"simkeep_verified_flaw", "simkeep_repaired_loss"}
# Functions that cancel their progress, or whose result does so when it is freed.
CANCELS = {
    "simkeep_progress_cancel", "simkeep_snapshot_all_pairs", "simkeep_snapshot_page_pairs",
    "simkeep_loading_begin",
}
# Texts that need not be UTF-8: HTML in the encoding of its page, and paths.
BYTES = {"html", "path", "to_path", "table"}

# Structures that are passed as arrays. `GOOD` has a valid array for the parameter of each.
ARRAYS = {"visit", "property_update", "change", "text"}
GOOD = {
    "path": "path", "to_path": "backup_path", "table": "NULL", "url": "url", "under": '"example.com"',
    "name": '"mine/1"', "recipe": '"default"', "extractor": '"mine/1"', "text": "text", "html": "text",
    "encoding": '"utf-8"', "fingerprints": "numbers", "digest": "digest", "visits": "visits",
    "updates": "updates", "changes": "changes", "urls": "texts", "open": "classes", "fingerprint": "&u64",
    "pages": "&u64", "behind": "&u64", "sequence": "&u64", "missing": "&u64", "changed": "&u32",
    "generation": "&u64", "incomplete": "&u64",
    "complete": "&u32", "epoch": "&u32", "per_day": "&f64", "error": "&error", "to": "url",
    "location": "url", "content_range": '"bytes 0-9/10"', "seen": "(int32_t *)&u32",
}
VALUES = {
    "count": "2", "k": "3", "fingerprint": "5", "time_ms": "1000", "nth": "0", "role": "0", "minor": "-1",
    "moderate": "-1", "left": "0", "rate": "0", "memory_bytes": "0", "status": "200",
    "plain_reads": "0", "epoch": "0", "has_fingerprint": "1", "weight": "1.5", "page_class": "7",
    "copy": "0", "keep_forgotten": "0", "lease_s": "60", "per_day": "5", "trust": "-1", "distance": "3",
    "pages_min": "1", "limit": "10", "open_len": "1", "open_unclassed": "0", "now_ms": "2000", "budget": "10",
    "status_code": "200", "length": "10", "received": "10", "is_encoded": "0", "is_cut": "0",
}


def functions(header):
    """Yields the result, the name and the parameters, as (type, name), of each function of a header."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    for result, name, arguments in re.findall(r"^([a-z][\w \*]*?[ \*])(simkeep_\w+)\(([^)]*)\);", text, re.M):
        parameters = []
        for argument in arguments.split(","):
            argument = " ".join(argument.split())
            if argument != "void":
                kind, parameter = re.fullmatch(r"(.*?)(\w+)", argument).groups()
                parameters.append((kind.strip(), parameter))
        yield result.strip(), name, parameters


def structures(header):
    """Returns the opaque structures of a header, and those that a program declares itself."""
    opaque = re.findall(r"^typedef struct simkeep_(\w+) simkeep_\1;$", header, re.M)
    return set(opaque) - {"error"}, set(re.findall(r"^typedef struct simkeep_(\w+) {$", header, re.M)) - ARRAYS


def structure(kind):
    """Returns the structure that a pointer points to."""
    return kind.replace("const", "").replace("struct", "").replace("*", "").strip()


def good(function, parameters, at, handles, own):
    """Returns a valid argument for a parameter."""
    kind, name = parameters[at]
    of = structure(kind)
    if kind.endswith("*") and of.startswith("simkeep_") and of[8:] in handles and not kind.endswith("**"):
        if of == "simkeep_progress" and function in CANCELS:
            return "cancelled"
        return of[8:]
    if kind.endswith("*") and of == "simkeep_error" and not kind.endswith("**"):
        return "some_error"
    if of in ("ArrowSchema", "ArrowArray"):
        return "&" + name
    if of.startswith("simkeep_") and of[8:] in own:
        return "&a_" + of[8:]
    if function == "simkeep_repair" and name.endswith("path"):
        return {"path": "backup_path", "to_path": "repaired_path"}[name]
    if (kind, name) == ("uint8_t *", "digest"):
        return "made_digest"
    if kind.endswith("*"):
        return GOOD[name]
    if name.endswith("_len") and name not in VALUES:
        return f"strlen({GOOD[name[:-4]]})"
    if name == "size" or name.endswith("_size"):
        before = max(i for i in range(at) if structure(parameters[i][0]).startswith("simkeep_"))
        return f"sizeof({structure(parameters[before][0])})"
    return VALUES[name]


def call(result, name, arguments):
    """Returns a call that frees its result, or keeps its code in `code`."""
    called = f"{name}({', '.join(arguments)})"
    if name.endswith("_arrow") and name not in TABLES:
        return f"code = {called}; released(&schema, &array);"
    if result.endswith("*") and "const" not in result:
        return f"{structure(result)}_free({called});"
    if result == "int32_t" and not name.startswith("simkeep_error_"):
        return f"code = {called};"
    return f"(void){called};"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header = file.read()
    all_functions = list(functions(header))
    handles, own = structures(header)
    out = []
    for result, name, parameters in all_functions:
        has_error = any(kind == "simkeep_error **" or kind == "struct simkeep_error **" for kind, _ in parameters)
        nothing = ["NULL" if kind.endswith("*") else "0" for kind, _ in parameters]

        def emit(arguments, expect, what):
            out.append(f'    begin("{name}", "{what}");')
            out.append("    " + call(result, name, arguments))
            out.append(f"    end({expect}, {'1' if has_error else '0'});")

        out.append(f"    called++; /* {name} */")
        emit(nothing, "ANY", "all NULL")
        arguments = [good(name, parameters, at, handles, own) for at in range(len(parameters))]
        if name.endswith("_free"):
            out.append(f'    panic_in("{name}");\n    {call(result, name, nothing)}\n    panic_in(NULL);')
            continue
        out.append("#ifdef SIMKEEP_FAULTS")
        out.append(f'    panic_in("{name}");')
        emit(arguments, "SIMKEEP_INTERNAL", "a panic")
        out.append("    panic_in(NULL);")
        out.append("#endif")
        closes = name == "simkeep_store_close"
        if not closes:
            refused = name in TABLES or name in SOUND
            good_is = "SIMKEEP_MALFORMED_ARGUMENT" if refused else "NOT_ARGUMENT"
            emit(arguments, good_is, "good")
        for at, (kind, parameter) in enumerate(parameters):
            if closes or kind.endswith("**"):
                continue

            def instead(value, expect, what):
                emit(arguments[:at] + [value] + arguments[at + 1 :], expect, f"{parameter}: {what}")

            if kind.endswith("*"):
                optional = (name, parameter) in OPTIONAL and name not in TABLES
                instead("NULL", "NOT_ARGUMENT" if optional else "SIMKEEP_MALFORMED_ARGUMENT", "NULL")
                if kind == "const char *" and parameter not in BYTES:
                    instead('"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff'
                            '\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff'
                            '\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"',
                            "SIMKEEP_MALFORMED_ARGUMENT", "no UTF-8")
            elif kind == "size_t":
                any_size = (name, parameter) in ANY_SIZE
                instead("SIZE_MAX", "NOT_ARGUMENT" if any_size else "SIMKEEP_MALFORMED_ARGUMENT", "SIZE_MAX")
                is_size = parameter == "size" or parameter.endswith("_size")
                instead("0", "SIMKEEP_MALFORMED_ARGUMENT" if is_size else "ANY", "0")
    with open(sys.argv[0].replace("every.py", "c/every.h"), encoding="utf-8") as file:
        frame = file.read()
    calls = "\n".join(out)
    declared = "\n".join(f"    simkeep_{of} a_{of};" for of in sorted(own) if f"&a_{of}" in calls)
    frame = frame.replace("/* STRUCTURES */", declared).replace("FUNCTIONS", str(len(all_functions)))
    print(frame.replace("/* CALLS */", calls))


main()
