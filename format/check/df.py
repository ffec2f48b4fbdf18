"""A table of document frequencies."""

import zlib
from pathlib import Path

import tool
import xxhash
from pages import Parsers, require, same

from segment import starts_of


def check(parsers: Parsers, path: Path, data: bytes, words: tuple[str, ...] = ()) -> str:
    """Checks a table, and in how many documents it has these words; what it is known by."""
    table = parsers.parse("df", data)
    trailer = table.trailer
    same(zlib.crc32(data[:60]), table.head_checksum, "checksum of a table's head")
    same(xxhash.xxh3_64_intdigest(data[:-8]), trailer.checksum, "checksum of a table")
    hashes = [entry.hash for entry in table.entries]
    same(hashes, sorted(set(hashes)), "hashes in order")
    same(table.directory, starts_of(hashes, trailer.num_bits), "directory")
    documents = {entry.hash: entry.num_documents for entry in table.entries}
    counts = documents.values()
    require(all(1 <= count <= trailer.num_documents for count in counts), "numbers of documents")
    (line,) = tool.says("df", "show", path)
    known_by = f"{trailer.checksum:016x}"
    expected = {
        "table": known_by,
        "features": trailer.features,
        "documents": trailer.num_documents,
        "terms": len(hashes),
        "least_documents": trailer.least_documents,
        "left_out_terms": trailer.num_left_out,
        "file_bytes": len(data),
    }
    same(expected, {key: line[key] for key in expected}, "df show", path.name)
    for bar in line["by_documents"]:
        least = bar["from_documents"]
        same(sum(least <= count < 10 * least for count in counts), bar["terms"], "documents of terms")
    if words:
        (line,) = tool.says("df", "show", path, *words)
        for word in line["words"]:
            hash = xxhash.xxh3_64_intdigest(word["text"].encode())
            same(f"{hash:016x}", word["hash"], "hash of", word["text"])
            same(documents.get(hash, 0), word["documents"], "documents of", word["text"])
    return known_by
