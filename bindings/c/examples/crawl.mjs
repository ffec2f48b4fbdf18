// A crawler's calls in Node. Usage: npm install koffi && node crawl.mjs LIBRARY STORE
import koffi from "koffi";

const [library = "libsimkeep.so.0", path = "crawl.simkeep"] = process.argv.slice(2);
const lib = koffi.load(library);

// Structures of simkeep.h. A visit may omit trailing fields, because each call passes its size.
koffi.struct("simkeep_visit", {
  url: "const char *", url_len: "size_t", time_ms: "int64_t", seen: "int32_t", has: "uint32_t",
  fingerprint: "uint64_t", epoch: "uint32_t", status: "uint32_t",
});
koffi.struct("simkeep_entry", {
  time_ms: "int64_t", kind: "int32_t", seen: "int32_t", verdict: "int32_t", has: "uint32_t",
});
koffi.struct("simkeep_texts", { bytes: "void *", offsets: "void *", count: "size_t" });
const [CONTENT, HAS_FINGERPRINT, HAS_STATUS, NONE] = [1, 1, 4, 1];
const VERDICTS = ["-", "new", "same", "changed", "reverted", "gone", "failed", "unseen", "out of order", "known"];

// Wraps a function of the library, and turns its error argument into an exception.
const message = lib.func("const char *simkeep_error_message(const void *)");
const free = lib.func("void simkeep_error_free(void *)");
function fallible(declaration) {
  const call = lib.func(declaration);
  return (...given) => {
    const error = [null];
    const result = call(...given, error);
    if (!error[0]) return result;
    const said = message(error[0]);
    free(error[0]);
    throw new Error(said);
  };
}
const open = fallible("void *simkeep_store_open_or_create(const char *, const void *, _Out_ void **)");
const changeEpoch = fallible("int simkeep_change_epoch(void *, _Out_ uint32_t *, _Out_ void **)");
const newPrints = fallible("void *simkeep_fingerprinter_new(void *, uint32_t, _Out_ void **)");
const print = fallible(
  "int simkeep_fingerprinter_text(void *, const char *, size_t, _Out_ uint64_t *, _Out_ void **)");
const observe = fallible(
  "void *simkeep_observe_batch(void *, const simkeep_visit *, size_t, size_t, _Out_ void **)");
const snapshot = fallible("void *simkeep_store_snapshot(void *, _Out_ void **)");
const near = fallible("void *simkeep_snapshot_near(void *, uint64_t, uint32_t, _Out_ void **)");
const history = fallible("void *simkeep_snapshot_history(void *, const char *, size_t, _Out_ void **)");
const entry = fallible(
  "int simkeep_entries_get(void *, size_t, _Out_ simkeep_entry *, size_t, _Out_ void **)");
const entries = lib.func("size_t simkeep_entries_count(void *)");
const close = fallible("int simkeep_store_close(void *, _Out_ void **)");
const columns = (of, column) => lib.func(`const void *simkeep_${of}_${column}(const void *)`);
const [verdicts, urls, distances] = [columns("outcomes", "verdicts"), columns("matches", "urls"),
  columns("matches", "distances")];
const frees = (name) => lib.func(`void simkeep_${name}_free(void *)`);

const store = open(path, null);
const epoch = [0];
changeEpoch(store, epoch);
const prints = newPrints(store, epoch[0]);
const visits = [
  ["https://example.com/terms", "You may use this site as long as you behave well and pay nothing."],
  ["https://example.com/terms", "You may use this site as long as you pay us a monthly fee of nine."],
  ["https://example.org/rules", "You may use this site, as long as you behave well and pay nothing!"],
].map(([url, text], i) => {
  const made = [0n];
  const has = print(prints, text, Buffer.byteLength(text), made) === NONE ? 0 : HAS_FINGERPRINT;
  return { url, url_len: Buffer.byteLength(url), time_ms: 1000 * (i + 1), seen: CONTENT, has: has | HAS_STATUS,
    fingerprint: made[0], epoch: epoch[0], status: 200 };
});
const out = observe(store, visits, visits.length, koffi.sizeof("simkeep_visit"));
koffi.decode(verdicts(out), "int32_t", visits.length)
  .forEach((verdict, i) => console.log(`${visits[i].url}: ${VERDICTS[verdict]}`));
const now = snapshot(store);
const matches = near(now, visits[0].fingerprint, 8);
const found = koffi.decode(urls(matches), "simkeep_texts");
const offsets = Array.from(koffi.decode(found.offsets, "uint64_t", found.count + 1), Number);
const bytes = Buffer.from(koffi.decode(found.bytes, "uint8_t", offsets.at(-1)));
const bits = koffi.decode(distances(matches), "uint8_t", found.count);
for (let i = 0; i < found.count; i++)
  console.log(`${bytes.toString("utf8", offsets[i], offsets[i + 1])} is ${bits[i]} bits away`);
const visited = history(now, visits[0].url, visits[0].url_len);
for (let i = 0; i < entries(visited); i++) {
  const one = {};
  entry(visited, i, one, koffi.sizeof("simkeep_entry"));
  console.log(`${one.time_ms}: ${VERDICTS[one.verdict]}`);
}
close(store);
const all = { entries: visited, matches, snapshot: now, outcomes: out, fingerprinter: prints, store };
for (const [name, of] of Object.entries(all)) frees(name)(of);
