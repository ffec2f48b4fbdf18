// A crawler's calls in Go, with cgo.
package main

/*
#cgo pkg-config: simkeep
#include <simkeep.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

var verdicts = []string{"-", "new", "same", "changed", "reverted", "gone", "failed", "unseen",
	"out of order", "known", "other"}

// failed converts an error of the library to a Go error, and frees it.
func failed(of *C.simkeep_error) error {
	if of == nil {
		return nil
	}
	defer C.simkeep_error_free(of)
	return errors.New(C.GoString(C.simkeep_error_message(of)))
}

func run(path string) error {
	var failure *C.simkeep_error
	cPath := C.CString(path)
	defer C.free(unsafe.Pointer(cPath))
	store := C.simkeep_store_open_or_create(cPath, nil, &failure)
	defer C.simkeep_store_free(store)
	var epoch C.uint32_t
	C.simkeep_change_epoch(store, &epoch, &failure)
	prints := C.simkeep_fingerprinter_new(store, epoch, &failure)
	defer C.simkeep_fingerprinter_free(prints)

	pages := [][2]string{
		{"https://example.com/terms", "You may use this site as long as you behave well and pay nothing."},
		{"https://example.com/terms", "You may use this site as long as you pay us a monthly fee of nine."},
		{"https://example.org/rules", "You may use this site, as long as you behave well and pay nothing!"},
	}
	// The visits point to their URLs, so both are allocated in C memory.
	visits := make([]C.simkeep_visit, len(pages))
	for i, page := range pages {
		url, text := C.CString(page[0]), C.CString(page[1])
		defer C.free(unsafe.Pointer(url))
		defer C.free(unsafe.Pointer(text))
		visit := &visits[i]
		visit.url, visit.url_len = url, C.size_t(len(page[0]))
		visit.time_ms, visit.seen = C.int64_t(1000*(i+1)), C.SIMKEEP_SEEN_CONTENT
		visit.epoch, visit.status, visit.has = epoch, 200, C.SIMKEEP_HAS_STATUS
		// A text of fewer than eight words has no fingerprint.
		if C.simkeep_fingerprinter_text(prints, text, C.size_t(len(page[1])), &visit.fingerprint,
			&failure) == C.SIMKEEP_OK {
			visit.has |= C.SIMKEEP_HAS_FINGERPRINT
		}
	}
	size := C.size_t(unsafe.Sizeof(visits[0]))
	out := C.simkeep_observe_batch(store, &visits[0], C.size_t(len(visits)), size, &failure)
	defer C.simkeep_outcomes_free(out)
	if failure != nil {
		return failed(failure)
	}
	for i, verdict := range unsafe.Slice(C.simkeep_outcomes_verdicts(out), len(visits)) {
		fmt.Printf("%s: %s\n", pages[i][0], verdicts[verdict])
	}

	now := C.simkeep_store_snapshot(store, &failure)
	defer C.simkeep_snapshot_free(now)
	matches := C.simkeep_snapshot_near(now, visits[0].fingerprint, 8, &failure)
	defer C.simkeep_matches_free(matches)
	if failure != nil {
		return failed(failure)
	}
	urls := C.simkeep_matches_urls(matches)
	offsets := unsafe.Slice(urls.offsets, urls.count+1)
	bytes := C.GoStringN(urls.bytes, C.int(offsets[urls.count]))
	for i, distance := range unsafe.Slice(C.simkeep_matches_distances(matches), urls.count) {
		fmt.Printf("%s is %d bits away\n", bytes[offsets[i]:offsets[i+1]], distance)
	}

	entries := C.simkeep_snapshot_history(now, visits[0].url, visits[0].url_len, &failure)
	defer C.simkeep_entries_free(entries)
	for i := C.size_t(0); i < C.simkeep_entries_count(entries); i++ {
		var entry C.simkeep_entry
		C.simkeep_entries_get(entries, i, &entry, C.size_t(unsafe.Sizeof(entry)), &failure)
		fmt.Printf("%d: %s\n", entry.time_ms, verdicts[entry.verdict])
	}
	C.simkeep_store_close(store, &failure)
	return failed(failure)
}

func main() {
	path := "crawl.simkeep"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
