/*
 * simkeep: the memory of a crawler.
 *
 * An embedded, crash-safe database of 64-bit simhash fingerprints, keyed by URL. This header is C99 and
 * C++, and generated from the source of the library.
 *
 * A CRAWLER
 *
 *     // A crawler in C: it fetches the pages that are due, and reports what it saw.
 *     #include <simkeep.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     #include <time.h>
 *
 *     // Returns a page as the server sent it, or NULL. A crawler fetches it here.
 *     static const char *fetch(const char *url, size_t url_len) {
 *         (void)url, (void)url_len;
 *         return "<p>You may use this site as long as you behave well and pay nothing.";
 *     }
 *
 *     int main(int argc, char **argv) {
 *         const char *path = argc > 1 ? argv[1] : "crawl.simkeep", *seed = "https://example.com/terms";
 *         int64_t now = (int64_t)time(NULL) * 1000;
 *         simkeep_error *error = NULL; // the first error stays here: look once, at the end
 *         simkeep_store *store = simkeep_store_open_or_create(path, NULL, &error);
 *         uint32_t epoch = 0;
 *         simkeep_change_epoch(store, &epoch, &error);
 *         simkeep_fingerprinter *fingerprinter = simkeep_fingerprinter_new(store, epoch, &error);
 *
 *         const char *html = fetch(seed, strlen(seed));
 *         simkeep_outcomes *outcomes = simkeep_observe_html(
 *             store, fingerprinter, seed, strlen(seed), now, html, strlen(html), NULL, 0, NULL, 200, &error);
 *         if (outcomes && simkeep_outcomes_verdicts(outcomes)[0] == SIMKEEP_VERDICT_NEW)
 *             printf("%s is new\n", seed);
 *         simkeep_outcomes_free(outcomes);
 *
 *         // A day later, lease the 100 most valuable pages for ten minutes.
 *         now += 24 * 60 * 60 * 1000;
 *         simkeep_due_query query;
 *         simkeep_due_query_init(&query, sizeof query, now, 100, &error);
 *         simkeep_decisions *due = simkeep_lease_due(store, &query, 600, &error);
 *         simkeep_decision page;
 *         while (simkeep_decisions_next(due, &page, sizeof page, NULL, 0, &error) == SIMKEEP_OK) {
 *             html = fetch(page.url, page.url_len);
 *             outcomes = html ? simkeep_observe_html(store, fingerprinter, page.url, page.url_len, now, html,
 *                                                    strlen(html), NULL, 0, NULL, 200, &error)
 *                             : simkeep_failed(store, page.url, page.url_len, now, 0, &error);
 *             if (outcomes && simkeep_outcomes_verdicts(outcomes)[0] == SIMKEEP_VERDICT_SAME)
 *                 printf("%.*s is unchanged\n", (int)page.url_len, page.url);
 *             simkeep_outcomes_free(outcomes);
 *         }
 *         simkeep_decisions_free(due);
 *
 *         simkeep_store_close(store, &error);
 *         simkeep_fingerprinter_free(fingerprinter);
 *         simkeep_store_free(store);
 *         if (error) fprintf(stderr, "%s\n", simkeep_error_message(error));
 *         int code = simkeep_error_code(error);
 *         simkeep_error_free(error);
 *         return code;
 *     }
 *
 * RULES
 *
 * Memory: a function that returns a pointer to a handle, such as simkeep_store_open, gives it to the
 * caller, who frees it once with the function that its description names, which ends in _free. These
 * functions accept NULL and do nothing. Everything else, such as the columns of outcomes, belongs to the
 * handle that returned it, and is freed with the handle. Arguments stay the caller's, and are read or
 * written only until the call returns. Handles may be freed in any order: a snapshot outlives its store.
 *
 * Strings are a pointer and a length in bytes, in UTF-8. Exceptions: paths, which end with a NUL and may
 * have any other bytes, and the results of simkeep_error_message, simkeep_error_file and simkeep_version.
 *
 * Errors: a function that makes a handle returns NULL when it fails. Others return a code, SIMKEEP_OK or
 * one of section 1. The last argument receives the error: pass NULL to ignore it, or the address of a
 * simkeep_error * that is NULL. If it has an error already, the error stays: make several calls, then
 * look once. Free it with simkeep_error_free.
 *
 * NULL is an error unless the description allows it, and never a crash. An empty array may be NULL.
 *
 * Structures grow at their end in later versions, so calls pass their size. A structure whose first field
 * is its size is initialised by a function that ends in _init; for others, sizeof is an argument.
 *
 * Threads: descriptions say which calls any thread may make at any time. The library has no state for
 * each thread, so another thread may use an error.
 *
 * Forks: a store belongs to the process that opened it. In a forked child, all calls on it and on its
 * snapshots return SIMKEEP_FORKED at once; freeing works. A simkeep_reader works in a child.
 *
 * Enumerations, such as simkeep_verdict, may get more values in later versions.
 *
 * CONTENTS
 *
 * 1. Error codes and flags
 * 2. Enumerations
 * 3. Handles
 * 4. Structures
 * 5. Errors, progress and versions
 *     simkeep_error_code simkeep_error_message simkeep_error_file simkeep_error_offset
 *     simkeep_error_row simkeep_error_pid simkeep_error_errno simkeep_progress_new
 *     simkeep_progress_cancel simkeep_progress_stage simkeep_progress_done simkeep_progress_total
 *     simkeep_progress_found simkeep_abi_version simkeep_version
 * 6. Stores, readers and snapshots
 *     simkeep_options_init simkeep_reader_open simkeep_reader_refresh simkeep_reader_behind
 *     simkeep_reader_generation simkeep_reader_snapshot simkeep_store_snapshot
 *     simkeep_snapshot_sequence simkeep_store_open simkeep_store_create
 *     simkeep_store_open_or_create simkeep_store_close simkeep_flush simkeep_seal
 *     simkeep_wait_idle simkeep_merge
 * 7. Fingerprints, visits and loads
 *     simkeep_fingerprint_text simkeep_fingerprinter_new simkeep_fingerprinter_text
 *     simkeep_fingerprinter_html simkeep_load simkeep_copy_from simkeep_loading_begin
 *     simkeep_loading_push simkeep_loading_push_arrow simkeep_loading_finish simkeep_observe_batch
 *     simkeep_observe simkeep_observe_html simkeep_not_modified simkeep_redirect
 *     simkeep_redirect_digest simkeep_response_meaning simkeep_gone simkeep_failed
 *     simkeep_outcomes_verdicts simkeep_outcomes_same_by simkeep_outcomes_distances
 *     simkeep_outcomes_bands simkeep_outcomes_to simkeep_outcomes_novel
 *     simkeep_outcomes_priorities simkeep_outcomes_also simkeep_outcomes_complete
 *     simkeep_outcomes_originals simkeep_outcomes_original_distances simkeep_outcomes_original_by
 *     simkeep_outcomes_refers_to_urls simkeep_outcomes_refers_to_times
 *     simkeep_outcomes_copy_offsets simkeep_outcomes_copy_urls simkeep_outcomes_copy_firsts
 *     simkeep_outcomes_near_offsets simkeep_outcomes_near_urls simkeep_outcomes_near_distances
 *     simkeep_outcomes_near_fingerprints simkeep_outcomes_near_firsts simkeep_outcomes_count
 *     simkeep_set_property_batch simkeep_set_weight simkeep_set_class simkeep_observe_arrow
 *     simkeep_load_arrow
 * 8. Searches, histories and pages
 *     simkeep_outcomes_arrow simkeep_outcomes_copies_arrow simkeep_outcomes_near_arrow
 *     simkeep_matches_arrow simkeep_copies_urls simkeep_copies_firsts simkeep_copies_complete
 *     simkeep_copies_count simkeep_snapshot_by_digest simkeep_snapshot_explain
 *     simkeep_explanation_count simkeep_explanation_get simkeep_explanation_matches
 *     simkeep_explanation_took_ns simkeep_explanation_instruction_set simkeep_snapshot_history
 *     simkeep_snapshot_as_of simkeep_entries_count simkeep_entries_get simkeep_matches_offsets
 *     simkeep_matches_urls simkeep_matches_distances simkeep_matches_fingerprints
 *     simkeep_matches_complete simkeep_matches_within simkeep_matches_count
 *     simkeep_page_pair_query_init simkeep_snapshot_page_pairs simkeep_page_pairs_next
 *     simkeep_snapshot_scan simkeep_pages_next simkeep_snapshot_latest simkeep_snapshot_all_pairs
 *     simkeep_pairs_next simkeep_query_init simkeep_snapshot_near simkeep_snapshot_nearest
 *     simkeep_snapshot_search simkeep_snapshot_search_batch
 * 9. Clusters, and pages to drop
 *     simkeep_clustered_pages_next simkeep_clustering_init simkeep_snapshot_clusters
 *     simkeep_clusters_get simkeep_clusters_sizes simkeep_clusters_by_page
 *     simkeep_clusters_by_cluster simkeep_snapshot_cluster_of simkeep_clusters_by_size
 *     simkeep_cluster_list_next simkeep_fates_kinds simkeep_fates_digests simkeep_fates_has_digest
 *     simkeep_fates_kept simkeep_fates_distances simkeep_clusters_dropped
 *     simkeep_dropped_pages_count simkeep_dropped_pages_fates simkeep_fates_count
 * 10. Pages to visit next
 *     simkeep_decisions_next simkeep_snapshot_due simkeep_lease_due simkeep_release
 *     simkeep_snapshot_pace simkeep_snapshot_plan simkeep_due_query_init simkeep_snapshot_hints
 *     simkeep_plan_get simkeep_plan_of_new simkeep_snapshot_decide
 * 11. Epochs, deletion, checks, backups and repairs
 *     simkeep_backup simkeep_backup_path simkeep_snapshot_epochs simkeep_epochs_count
 *     simkeep_epochs_get simkeep_change_epoch simkeep_snapshot_near_epoch simkeep_register_epoch
 *     simkeep_begin_epoch simkeep_end_epoch simkeep_restate simkeep_forget simkeep_forget_under
 *     simkeep_purge simkeep_purge_under simkeep_repair simkeep_repaired_get simkeep_repaired_loss
 *     simkeep_repaired_ambiguities simkeep_repaired_unnamed_epochs simkeep_store_stats
 *     simkeep_reader_stats simkeep_store_merge_error simkeep_verify simkeep_verify_path
 *     simkeep_verified_get simkeep_verified_flaw
 */


#ifndef SIMKEEP_H
#define SIMKEEP_H

#include <stddef.h>
#include <stdint.h>

/* The Arrow C data interface, as its specification asks for it to be copied. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif


/* ================================================================================================
 * 1. Error codes and flags
 * ================================================================================================ */

/**
 * Success.
 */
#define SIMKEEP_OK 0

/**
 * No error: there are no more results, or the requested object does not exist. Output arguments
 * are unchanged.
 */
#define SIMKEEP_NONE 1

/**
 * A bug of simkeep: a panic was caught, or an invariant does not hold. The call itself is valid.
 * After a bug in a store, the store rejects reads and writes until it is opened again. Please
 * report the bug.
 */
#define SIMKEEP_INTERNAL 2

/**
 * An argument is invalid: NULL, an impossible length, not UTF-8, a structure of another size, an
 * undefined number. The message names the argument. The call had no effect.
 */
#define SIMKEEP_MALFORMED_ARGUMENT 3

/**
 * A call to the operating system failed; `simkeep_error_errno` has the code. After a failed write
 * the store is poisoned.
 */
#define SIMKEEP_IO 4

/**
 * A file is damaged: see `simkeep_error_file` and `simkeep_error_offset`.
 */
#define SIMKEEP_CORRUPT 5

/**
 * There is no store at this path.
 */
#define SIMKEEP_NOT_A_STORE 6

/**
 * A file is not a table of document frequencies.
 */
#define SIMKEEP_NOT_A_TABLE 7

/**
 * The repair or load that creates this store was interrupted, or is still running.
 */
#define SIMKEEP_UNFINISHED 8

/**
 * A file to be written has the name of an existing file that must not be replaced.
 */
#define SIMKEEP_ALREADY_EXISTS 9

/**
 * The store to be created already exists.
 */
#define SIMKEEP_STORE_EXISTS 10

/**
 * The destination of a backup contains something other than an earlier backup of the store.
 */
#define SIMKEEP_NOT_A_BACKUP 11

/**
 * A file was written by another version of simkeep.
 */
#define SIMKEEP_VERSION 12

/**
 * The store was made by a build with URL hashes of another length.
 */
#define SIMKEEP_URL_HASH 13

/**
 * The store is open for writing elsewhere; `simkeep_error_pid` is the process, if known.
 */
#define SIMKEEP_LOCKED 14

/**
 * A file that keeps other writers out was removed or replaced while the store was open.
 */
#define SIMKEEP_REPLACED 15

/**
 * The store was opened by another process, from which this process was forked.
 */
#define SIMKEEP_FORKED 16

/**
 * An earlier write failed, or simkeep found a bug: the store must be opened again.
 */
#define SIMKEEP_POISONED 17

/**
 * The store was closed.
 */
#define SIMKEEP_CLOSED 18

/**
 * Not a URL that can be stored.
 */
#define SIMKEEP_URL 19

/**
 * Not a prefix.
 */
#define SIMKEEP_PREFIX 20

/**
 * A time outside the years 1 to 9999.
 */
#define SIMKEEP_TIME 21

/**
 * An epoch that the store does not have.
 */
#define SIMKEEP_UNKNOWN_EPOCH 22

/**
 * An epoch that has ended.
 */
#define SIMKEEP_ENDED_EPOCH 23

/**
 * The store does not have the table of document frequencies of an epoch.
 */
#define SIMKEEP_NO_TABLE 24

/**
 * An epoch cannot end yet: pages have their current content only in this epoch.
 */
#define SIMKEEP_EPOCH_IN_USE 25

/**
 * An observation of a load cannot be stored; `simkeep_error_row` is its index. Nothing was stored.
 */
#define SIMKEEP_LOAD_REJECTED 26

/**
 * The source of the observations of a load failed.
 */
#define SIMKEEP_INPUT 27

/**
 * A long call was cancelled through its progress.
 */
#define SIMKEEP_CANCELLED 28

/**
 * A repair cannot determine which pages were forgotten.
 */
#define SIMKEEP_AMBIGUOUS_REPAIR 29

/**
 * An option has an invalid value.
 */
#define SIMKEEP_INVALID_OPTION 30

/**
 * A limit was reached.
 */
#define SIMKEEP_LIMIT 31

/**
 * The arguments are inconsistent, or the call is not allowed now.
 */
#define SIMKEEP_INVALID_ARGUMENT 32

/**
 * The database of `catalog.redb` reported an error.
 */
#define SIMKEEP_CATALOG 33

/**
 * An error of a kind that this version of the header does not name.
 */
#define SIMKEEP_OTHER 34

/**
 * The value for "no distance" in a column of distances.
 */
#define SIMKEEP_NO_DISTANCE 255

/**
 * The version of this header. A program may compare this version with the version of the library
 * at run time.
 */
#define SIMKEEP_ABI_VERSION 1

/**
 * `has`: the fingerprint. Content without a fingerprint is a text that is too short to be
 * distinguished.
 */
#define SIMKEEP_HAS_FINGERPRINT 1

/**
 * `has`: the digest.
 */
#define SIMKEEP_HAS_DIGEST 2

/**
 * `has`: the HTTP status.
 */
#define SIMKEEP_HAS_STATUS 4

/**
 * `has`: the server's time of the page's last modification.
 */
#define SIMKEEP_HAS_MODIFIED 8

/**
 * `has`: the weight.
 */
#define SIMKEEP_HAS_WEIGHT 16

/**
 * `has`: the class.
 */
#define SIMKEEP_HAS_CLASS 32

/**
 * `has`: the content was also fingerprinted in another epoch.
 */
#define SIMKEEP_HAS_ALSO 64

/**
 * `has`: the fingerprint in the other epoch.
 */
#define SIMKEEP_HAS_ALSO_FINGERPRINT 128

/**
 * `has`: content, and the epoch of the content.
 */
#define SIMKEEP_HAS_CONTENT 256

/**
 * `has`: a distance, with its epoch and its meaning.
 */
#define SIMKEEP_HAS_DISTANCE 512

/**
 * `has`: accept the time unchanged, even if it looks like seconds since 1970.
 */
#define SIMKEEP_HAS_EARLY_TIME 1024

/**
 * `has`: the number of bytes of the content as transferred.
 */
#define SIMKEEP_HAS_BYTES 2048

/**
 * `has`: the request was conditional, with `If-None-Match` or `If-Modified-Since`.
 */
#define SIMKEEP_HAS_CONDITIONAL 4096

/**
 * `has`: the entity tag.
 */
#define SIMKEEP_HAS_ETAG 8192

/**
 * `has`: the target.
 */
#define SIMKEEP_HAS_TARGET 16384

/**
 * `has`: the component is a segment, with a number.
 */
#define SIMKEEP_COMPONENT_SEARCH_HAS_SEGMENT 1

/**
 * `has`: a dense region was not fully compared.
 */
#define SIMKEEP_COMPONENT_SEARCH_HAS_CROWDED 2

/**
 * `has`: the system reports page faults.
 */
#define SIMKEEP_COMPONENT_SEARCH_HAS_FAULTS 4

/**
 * `has`: the due time.
 */
#define SIMKEEP_DECISION_HAS_DUE 1

/**
 * `has`: the interval between visits.
 */
#define SIMKEEP_DECISION_HAS_EVERY 2

/**
 * `has`: the byte range of a loss in its file.
 */
#define SIMKEEP_LOSS_HAS_BYTES 1

/**
 * `has`: the first of the operations that include the loss.
 */
#define SIMKEEP_LOSS_HAS_FIRST 2

/**
 * `has`: the last of the operations that include the loss.
 */
#define SIMKEEP_LOSS_HAS_LAST 4

/**
 * `has`: the number of lost records of pages. Without the number of records, a whole file or
 * operations are lost.
 */
#define SIMKEEP_LOSS_HAS_PAGES 8

/* ================================================================================================
 * 2. Enumerations
 * ================================================================================================ */

/**
 * The stage of a long call.
 */
enum simkeep_stage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The call has not started.
     */
    SIMKEEP_STAGE_WAITING = 0,
    /**
     * A load reads observations, sorts them and writes them to a scratch file. Writes to the store
     * continue.
     */
    SIMKEEP_STAGE_GATHERING = 1,
    /**
     * A load merges many sorted runs into fewer runs, or segments are merged. Writes to the store
     * continue.
     */
    SIMKEEP_STAGE_MERGING = 2,
    /**
     * A load writes its segments. Calls that observe or forget wait; readers do not.
     */
    SIMKEEP_STAGE_WRITING = 3,
    /**
     * Files are read and checked.
     */
    SIMKEEP_STAGE_CHECKING = 4,
    /**
     * Fingerprints are read or joined with each other, or samples of sites are joined.
     */
    SIMKEEP_STAGE_JOINING = 5,
    /**
     * Pages are counted.
     */
    SIMKEEP_STAGE_COUNTING = 6,
    /**
     * Files are linked or copied.
     */
    SIMKEEP_STAGE_COPYING = 7,
    /**
     * Fingerprints are put into clusters.
     */
    SIMKEEP_STAGE_CLUSTERING = 8,
    /**
     * Sites are compared with each other.
     */
    SIMKEEP_STAGE_COMPARING = 9,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_STAGE_OTHER = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_stage simkeep_stage;
#else
typedef int32_t simkeep_stage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The verdict about a page after an observation.
 */
enum simkeep_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * There is no verdict.
     */
    SIMKEEP_VERDICT_NOTHING = 0,
    /**
     * The first content of the page.
     */
    SIMKEEP_VERDICT_NEW = 1,
    /**
     * Unchanged: the current version is confirmed.
     */
    SIMKEEP_VERDICT_SAME = 2,
    /**
     * Content that is not among the last known versions of the page.
     */
    SIMKEEP_VERDICT_CHANGED = 3,
    /**
     * A return to an earlier version.
     */
    SIMKEEP_VERDICT_REVERTED = 4,
    /**
     * The page is gone.
     */
    SIMKEEP_VERDICT_GONE = 5,
    /**
     * The visit failed. The current version does not change.
     */
    SIMKEEP_VERDICT_FAILED = 6,
    /**
     * Reported as not modified, but the store never saw any content of the page.
     */
    SIMKEEP_VERDICT_UNSEEN = 7,
    /**
     * The visit is not later than the last visit. The store inserts the visit in order into the
     * history.
     */
    SIMKEEP_VERDICT_OUT_OF_ORDER = 8,
    /**
     * The store already had exactly this visit; nothing changed.
     */
    SIMKEEP_VERDICT_KNOWN = 9,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_VERDICT_OTHER = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_verdict simkeep_verdict;
#else
typedef int32_t simkeep_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The reason why a page is known to be the same.
 */
enum simkeep_same_by
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The page is not the same.
     */
    SIMKEEP_SAME_BY_NOTHING = 0,
    /**
     * The digests are equal.
     */
    SIMKEEP_SAME_BY_DIGEST = 1,
    /**
     * The fingerprints are equal in every epoch in which both contents have a fingerprint, and the
     * digests differ or are unknown.
     */
    SIMKEEP_SAME_BY_FINGERPRINT = 2,
    /**
     * The server or the archive reported that the content is unchanged.
     */
    SIMKEEP_SAME_BY_NOT_MODIFIED = 3,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_SAME_BY_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_same_by simkeep_same_by;
#else
typedef int32_t simkeep_same_by;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The meaning of a distance, by the recipe of its epoch.
 */
enum simkeep_band
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * There is no distance.
     */
    SIMKEEP_BAND_NOTHING = 0,
    /**
     * The fingerprint shows no change. A small change often leaves all bits unchanged; use a
     * digest to detect it.
     */
    SIMKEEP_BAND_NONE = 1,
    /**
     * Under 1 % of the words.
     */
    SIMKEEP_BAND_MINOR = 2,
    /**
     * From 1 to 10 % of the words.
     */
    SIMKEEP_BAND_MODERATE = 3,
    /**
     * More than 10 % of the words.
     */
    SIMKEEP_BAND_MAJOR = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_band simkeep_band;
#else
typedef int32_t simkeep_band;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The reason why the contents of two pages are known to be nearly the same.
 */
enum simkeep_original_by
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * No other page ranks before this page.
     */
    SIMKEEP_ORIGINAL_BY_NOTHING = 0,
    /**
     * The two pages have equal digests.
     */
    SIMKEEP_ORIGINAL_BY_DIGEST = 1,
    /**
     * The two pages have equal fingerprints, but different or unknown digests.
     */
    SIMKEEP_ORIGINAL_BY_FINGERPRINT = 2,
    /**
     * The fingerprints of the two pages are near each other.
     */
    SIMKEEP_ORIGINAL_BY_NEAR = 3,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_ORIGINAL_BY_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_original_by simkeep_original_by;
#else
typedef int32_t simkeep_original_by;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Whether a page is kept or dropped.
 */
enum simkeep_fate
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The page is not in the store.
     */
    SIMKEEP_FATE_UNKNOWN = 0,
    /**
     * The page stays. It leads its cluster, is in no cluster, or has a leader of another class
     * that is not open to all.
     */
    SIMKEEP_FATE_KEPT = 1,
    /**
     * The page is dropped.
     */
    SIMKEEP_FATE_DROPPED = 2,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_FATE_OTHER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_fate simkeep_fate;
#else
typedef int32_t simkeep_fate;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The versions of pages that a search considers.
 */
enum simkeep_versions
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The current versions.
     */
    SIMKEEP_VERSIONS_IN_FORCE = 0,
    /**
     * The versions that were current at the time `from_ms`.
     */
    SIMKEEP_VERSIONS_AT = 1,
    /**
     * The versions that a visit saw from `from_ms` to `to_ms`, inclusive.
     */
    SIMKEEP_VERSIONS_SEEN = 2,
    /**
     * Every version that any visit saw.
     */
    SIMKEEP_VERSIONS_EVER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_versions simkeep_versions;
#else
typedef int32_t simkeep_versions;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The result of a visit.
 */
enum simkeep_seen
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Not a visit.
     */
    SIMKEEP_SEEN_NOTHING = 0,
    /**
     * Content.
     */
    SIMKEEP_SEEN_CONTENT = 1,
    /**
     * The server reported unchanged content (304).
     */
    SIMKEEP_SEEN_NOT_MODIFIED = 2,
    /**
     * The page is gone (404, 410).
     */
    SIMKEEP_SEEN_GONE = 3,
    /**
     * The visit failed. A failed visit neither confirms nor changes the content.
     */
    SIMKEEP_SEEN_FAILED = 4,
    /**
     * The page redirects: the digest, from `simkeep_redirect_digest`, identifies the target.
     */
    SIMKEEP_SEEN_REDIRECT = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_seen simkeep_seen;
#else
typedef int32_t simkeep_seen;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The time when an observation becomes durable.
 */
enum simkeep_durability
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * When the call returns; concurrent calls share a commit.
     */
    SIMKEEP_DURABILITY_EACH = 0,
    /**
     * When the call returns; a commit waits up to `group_ms` for concurrent calls to join it.
     */
    SIMKEEP_DURABILITY_GROUPED = 1,
    /**
     * After the next `simkeep_flush`, or when the memtable is sealed.
     */
    SIMKEEP_DURABILITY_ON_FLUSH = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_durability simkeep_durability;
#else
typedef int32_t simkeep_durability;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of an entry in a history.
 */
enum simkeep_entry_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * A visit.
     */
    SIMKEEP_ENTRY_KIND_VISIT = 1,
    /**
     * A fingerprint in another epoch for the content of the previous visit.
     */
    SIMKEEP_ENTRY_KIND_RESTATED = 2,
    /**
     * A weight or a class that was set, or the entity tag or the target of the content.
     */
    SIMKEEP_ENTRY_KIND_PROPERTY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_entry_kind simkeep_entry_kind;
#else
typedef int32_t simkeep_entry_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The role of an epoch's fingerprints.
 */
enum simkeep_role
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Verdicts and near-duplicates.
     */
    SIMKEEP_ROLE_BOTH = 0,
    /**
     * Verdicts and their distances.
     */
    SIMKEEP_ROLE_CHANGE = 1,
    /**
     * Near-duplicates, copies and pairs.
     */
    SIMKEEP_ROLE_NEAR = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_role simkeep_role;
#else
typedef int32_t simkeep_role;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The reason for the time of a visit to a page.
 */
enum simkeep_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The value of a visit now, or the time since the last visit, depending on the policy.
     */
    SIMKEEP_REASON_WORTH = 1,
    /**
     * A hint reports a change since the last visit; `reason_time_ms` is the time of the change.
     */
    SIMKEEP_REASON_HINTED = 2,
    /**
     * The page was unvisited for longer than allowed, so it comes first; `reason_s` is the limit.
     */
    SIMKEEP_REASON_OVERDUE = 3,
    /**
     * The page's rule forbids a visit so soon after the last visit; `reason_s` is the minimum
     * interval.
     */
    SIMKEEP_REASON_NOT_YET = 4,
    /**
     * The last visits of the page failed, and the page waits; `reason_time_ms` is the end of the
     * wait.
     */
    SIMKEEP_REASON_LEFT_ALONE = 5,
    /**
     * The last visit of the page lies in the future, so the time since that visit is unknown.
     */
    SIMKEEP_REASON_AHEAD = 6,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_REASON_OTHER = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_reason simkeep_reason;
#else
typedef int32_t simkeep_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The index of a segment.
 */
enum simkeep_shape
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * No index, for a memtable.
     */
    SIMKEEP_SHAPE_NOTHING = 0,
    /**
     * No tables: searches scan the shards of the column.
     */
    SIMKEEP_SHAPE_COLUMN = 1,
    /**
     * Four rotations.
     */
    SIMKEEP_SHAPE_ROTATIONS = 2,
    /**
     * Two tables of cells.
     */
    SIMKEEP_SHAPE_CELLS = 3,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_SHAPE_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_shape simkeep_shape;
#else
typedef int32_t simkeep_shape;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The method of a search in a segment or a memtable.
 */
enum simkeep_access_path
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The search probes buckets of the rotations.
     */
    SIMKEEP_ACCESS_PATH_ROTATIONS = 1,
    /**
     * The search probes cells.
     */
    SIMKEEP_ACCESS_PATH_CELLS = 2,
    /**
     * The search scans.
     */
    SIMKEEP_ACCESS_PATH_SCAN = 3,
    /**
     * A value that this version of the header does not name.
     */
    SIMKEEP_ACCESS_PATH_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_access_path simkeep_access_path;
#else
typedef int32_t simkeep_access_path;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* ================================================================================================
 * 3. Handles
 * ================================================================================================ */

/**
 * A list of clusters. Use the list from one thread at a time, in the process that made it. The
 * list keeps its clusters. Free the list and the clusters separately.
 */
typedef struct simkeep_cluster_list simkeep_cluster_list;

/**
 * Pages in their clusters. Use the handle from one thread at a time, in the process that made it.
 * The handle keeps the listed clusters. Free the handle and the clusters separately.
 */
typedef struct simkeep_clustered_pages simkeep_clustered_pages;

/**
 * The clusters of a store. Threads may use the handle concurrently, in the process that made it.
 * The handle keeps its snapshot and scratch files. Free the snapshot separately. Objects made from
 * the clusters stay valid.
 */
typedef struct simkeep_clusters simkeep_clusters;

/**
 * The pages whose current version has exactly a content, in the order in which they were first
 * seen with the content.
 *
 * All columns are valid as long as the copies, and never change, so any thread may read them.
 * The functions that return columns cost nothing, and return NULL for NULL.
 */
typedef struct simkeep_copies simkeep_copies;

/**
 * Decisions about pages. Use the handle from one thread at a time. The handle keeps its snapshot.
 * Free the handle and the snapshot separately.
 */
typedef struct simkeep_decisions simkeep_decisions;

/**
 * The pages that are dropped in favour of their leaders. Threads may use the handle concurrently,
 * in the process that made it. The handle keeps its clusters. Free the handle and the clusters
 * separately.
 */
typedef struct simkeep_dropped_pages simkeep_dropped_pages;

/**
 * The entries of a page's history, in order of time. Immutable, so any thread may read them.
 */
typedef struct simkeep_entries simkeep_entries;

/**
 * The epochs of a store, by number. Immutable, so any thread may read them.
 */
typedef struct simkeep_epochs simkeep_epochs;

/**
 * The plan of a search, its cost and its result. Immutable, so any thread may read it.
 */
typedef struct simkeep_explanation simkeep_explanation;

/**
 * The error of a call. The caller owns the error, and may use it in any thread.
 */
typedef struct simkeep_error simkeep_error;

/**
 * The fates of pages, in the order of the request.
 *
 * All columns are valid as long as the fates, and never change, so any thread may read them.
 * The functions that return columns cost nothing, and return NULL for NULL.
 */
typedef struct simkeep_fates simkeep_fates;

/**
 * Computes the fingerprints of an epoch. Threads may use a fingerprinter concurrently. A
 * fingerprinter stays valid when its store is closed or freed.
 */
typedef struct simkeep_fingerprinter simkeep_fingerprinter;

/**
 * Times when pages changed. Immutable, so any thread may use them.
 */
typedef struct simkeep_hints simkeep_hints;

/**
 * A load that receives visits from its caller. Use the load from one thread at a time, in the
 * process that began it. The store of the load stays open until the load is freed.
 */
typedef struct simkeep_loading simkeep_loading;

/**
 * The results of searches, in order. The pages of search `i` are the rows from `offsets[i]` to
 * `offsets[i + 1]`, nearest first, then in SURT order.
 *
 * All columns are valid as long as the matches, and never change, so any thread may read them.
 * The functions that return columns cost nothing, and return NULL for NULL.
 */
typedef struct simkeep_matches simkeep_matches;

/**
 * The outcomes of observations, in order. Row `i` of each column is for observation `i`; the
 * copies and near pages of observation `i` are the rows from `offsets[i]` to `offsets[i + 1]`.
 *
 * All columns are valid as long as the outcomes, and never change, so any thread may read
 * them. The functions that return columns cost nothing, and return NULL for NULL.
 */
typedef struct simkeep_outcomes simkeep_outcomes;

/**
 * A running join that returns pairs of pages in chunks. Use the join from one thread at a time, in
 * the process that began it. The join keeps its snapshot. Free the join and the snapshot
 * separately.
 */
typedef struct simkeep_page_pairs simkeep_page_pairs;

/**
 * An iterator over pages, in SURT order. Use the iterator from one thread at a time. The iterator
 * keeps its snapshot. Free the iterator and the snapshot separately.
 */
typedef struct simkeep_pages simkeep_pages;

/**
 * A running join that returns pairs in chunks. Use the join from one thread at a time, in the
 * process that began it. The join keeps its snapshot. Free the join and the snapshot separately.
 */
typedef struct simkeep_pairs simkeep_pairs;

/**
 * A plan. Immutable, so any thread may use it.
 */
typedef struct simkeep_plan simkeep_plan;

/**
 * The progress of a long call. Pass the progress to the call, and read or cancel it from other
 * threads.
 */
typedef struct simkeep_progress simkeep_progress;

/**
 * A read-only view of a store, which another process may have open for writing. Threads may use
 * the reader concurrently; calls on a reader wait for one another, but not for calls on objects
 * made from the reader. A reader also works in a forked child, unless another thread was using it
 * at the fork. After such a fork, calls in the child return `SIMKEEP_FORKED`, and the child must
 * open another reader.
 */
typedef struct simkeep_reader simkeep_reader;

/**
 * The result of a repair. Immutable, so any thread may read it.
 */
typedef struct simkeep_repaired simkeep_repaired;

/**
 * A consistent view of a store: all operations that were acknowledged before the snapshot was
 * taken, and no later operations. Threads may use a snapshot concurrently. A snapshot stays valid
 * when its
 * store is closed or its reader is refreshed, and keeps its files until it is freed. In a
 * forked
 * child, calls on a snapshot of a store return `SIMKEEP_FORKED`, and a snapshot of a reader
 * works.
 */
typedef struct simkeep_snapshot simkeep_snapshot;

/**
 * A store that is open for writing. Threads may use the store concurrently, but
 * `simkeep_store_free` must be the last call on it. A store belongs to the process that opened it:
 * in a forked child every call on the store returns `SIMKEEP_FORKED`, except that it can be freed.
 */
typedef struct simkeep_store simkeep_store;

/**
 * The result of a check. Immutable, so any thread may read it.
 */
typedef struct simkeep_verified simkeep_verified;

/* ================================================================================================
 * 4. Structures
 * ================================================================================================ */

/**
 * Options of a store. Fill in the structure with `simkeep_options_init`, and then change fields.
 */
typedef struct simkeep_options {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * The time when an observation becomes durable, a `simkeep_durability`. Default:
     * `SIMKEEP_DURABILITY_EACH`.
     */
    int32_t durability;
    /**
     * The distance of near-duplicates in the outcome of an observation, from 0 to 64; -1 for the
     * recommendation of each epoch's recipe. Default: -1.
     */
    int32_t near_distance;
    /**
     * The time that a grouped commit waits, in milliseconds. Default: 5.
     */
    uint64_t group_ms;
    /**
     * The number of observations kept in memory before they are sealed. Default: 262144.
     */
    uint64_t memtable_observations;
    /**
     * The maximum number of bytes of the observations in memory. Default: 80 MiB.
     */
    uint64_t memtable_bytes;
    /**
     * The maximum time before the observations in memory are sealed, in milliseconds. Default: 5
     * minutes.
     */
    uint64_t seal_after_ms;
    /**
     * The number of adjacent segments of similar size that are merged into one segment.
     * Default:
     * 8.
     */
    uint64_t merge_fanout;
    /**
     * The maximum number of near-duplicates, and of copies, in an outcome. Default: 16.
     */
    uint64_t near_limit;
    /**
     * The number of visits in an epoch after which a new epoch is recommended. Default: 1000000.
     */
    uint64_t epoch_visits;
    /**
     * The maximum number of pages that may be leased at a time. Default: 1000000.
     */
    uint64_t leases_max;
    /**
     * The memory for sealing and merging, in bytes. Default: 256 MiB.
     */
    uint64_t background_memory_bytes;
    /**
     * The time for which replaced files are kept for readers in other processes, in milliseconds.
     * Default: 10 s.
     */
    uint64_t reader_grace_ms;
    /**
     * Whether to seal and merge in the background, 1 or 0. Default: 1.
     */
    uint32_t background;
    /**
     * Permissions of the files of a new store, as for chmod(1). Default: 0600.
     */
    uint32_t file_mode;
    /**
     * The maximum number of bytes of the tables for each fingerprint. Default: 48.
     */
    uint32_t fingerprint_bytes;
    /**
     * The maximum number of fingerprints that are compared in a dense region. Default: 4096.
     */
    uint32_t near_fingerprints;
    /**
     * Whether segments are read whole into memory instead of being mapped, 1 or 0. With 1, a
     * truncated file or a failing medium cannot end the process by a signal. Default: 0.
     */
    uint32_t plain_reads;
    /**
     * The largest distance of a minor change in the first epoch of a new store; -1 for the
     * calibration of its recipe. Default: -1.
     */
    int32_t epoch_minor;
    /**
     * The largest distance of a moderate change in the first epoch of a new store; -1 if
     * `epoch_minor` is -1. Default: -1.
     */
    int32_t epoch_moderate;
    /**
     * Whether to keep entity tags, which can identify people, 1 or 0. Default: 1.
     */
    uint32_t validators;
    /**
     * Whether outcomes name the first capture of their content, for revisit records of archives, 1
     * or 0. Default: 0.
     */
    uint32_t refers_to;
    /**
     * Must be 0.
     */
    uint32_t reserved;
    /**
     * The name of the first epoch of a new store; NULL for the default recipe of this version.
     * Default: NULL. Read only during a call.
     */
    const char *epoch;
    /**
     * The length of `epoch` in bytes.
     */
    size_t epoch_len;
    /**
     * The rule that selects the original among several pages with nearly the same content: a
     * comma-separated list of `first-seen`, `newest`, `shortest-url`, `https` and `weight`. Each
     * rule in the list resolves the ties of the rules before it. NULL for `first-seen`. Default:
     * NULL. Read only during a call.
     */
    const char *rule;
    /**
     * The length of `rule` in bytes.
     */
    size_t rule_len;
    /**
     * The maximum time by which a visit may be ahead of this machine's clock, in milliseconds. A
     * later visit is rejected with `SIMKEEP_TIME`, unless the store already has a visit that is so
     * late. -1 for visits at any time. Default: -1.
     */
    int64_t clock_tolerance_ms;
    /**
     * The maximum time to wait while another process writes to the store, in milliseconds.
     * Default: 5 s.
     */
    uint64_t lock_wait_ms;
} simkeep_options;

/**
 * A visit to a page. Set all fields to 0, then set the required fields, with their bits in `has`.
 */
typedef struct simkeep_visit {
    /**
     * The URL of the page in UTF-8. The bytes of the URL identify the page. Read only during a
     * call.
     */
    const char *url;
    /**
     * The length of `url` in bytes: at most 8192.
     */
    size_t url_len;
    /**
     * The time, in milliseconds since 1970. Without `SIMKEEP_HAS_EARLY_TIME`, a number is rejected
     * if it is before 1990 as milliseconds, and after 1990 as seconds.
     */
    int64_t time_ms;
    /**
     * The result of the visit, a `simkeep_seen`.
     */
    int32_t seen;
    /**
     * The optional fields that are set: `SIMKEEP_HAS_...`.
     */
    uint32_t has;
    /**
     * The fingerprint of the content.
     */
    uint64_t fingerprint;
    /**
     * The epoch of the content. Mandatory for visits with content, and ignored for other visits.
     * See `simkeep_change_epoch`.
     */
    uint32_t epoch;
    /**
     * The HTTP status.
     */
    uint32_t status;
    /**
     * A digest of the exact content.
     */
    uint8_t digest[16];
    /**
     * The server's time of the page's last modification, in milliseconds since 1970.
     */
    int64_t modified_ms;
    /**
     * The weight of the page from now on: finite and positive.
     */
    double weight;
    /**
     * The fingerprint in the other epoch.
     */
    uint64_t also_fingerprint;
    /**
     * The other epoch.
     */
    uint32_t also_epoch;
    /**
     * The class of the page from now on.
     */
    uint32_t page_class;
    /**
     * The number of bytes of the content as transferred.
     */
    uint64_t bytes;
    /**
     * The value of the header `ETag`, with its quotes. A value of more than 128 bytes is not kept,
     * and a value with a line end or a NUL is rejected. Read only during a call.
     */
    const char *etag;
    /**
     * The length of `etag` in bytes.
     */
    size_t etag_len;
    /**
     * The URL to which the content points, in UTF-8: the target of a redirect, or the canonical
     * URL that the content declares. The URL may be relative to the page. It is kept if it is the
     * `http` or `https` URL of another page. Read only during a call.
     */
    const char *target;
    /**
     * The length of `target` in bytes.
     */
    size_t target_len;
} simkeep_visit;

/**
 * Summary figures of a load.
 */
typedef struct simkeep_loaded {
    /**
     * The number of observations received.
     */
    uint64_t observations;
    /**
     * Visits that were new to the store.
     */
    uint64_t visits;
    /**
     * The number of stored fingerprints in other epochs.
     */
    uint64_t restated;
    /**
     * The number of stored weights.
     */
    uint64_t weights;
    /**
     * The number of stored classes.
     */
    uint64_t classes;
    /**
     * The number of pages with stored data.
     */
    uint64_t pages;
    /**
     * The number of these pages that were new to the store.
     */
    uint64_t new_pages;
    /**
     * The number of new segments.
     */
    uint64_t segments;
    /**
     * The total size of the new segments in bytes.
     */
    uint64_t bytes;
} simkeep_loaded;

/**
 * A column of texts. Text `i` has the bytes from `bytes + offsets[i]` to `bytes + offsets[i + 1]`,
 * not NUL-terminated. The texts are valid as long as the object that they
 * were taken from.
 */
typedef struct simkeep_texts {
    /**
     * The concatenated texts, UTF-8.
     */
    const char *bytes;
    /**
     * The start of each text, and then the total length. There is one offset more than texts.
     */
    const uint64_t *offsets;
    /**
     * The number of texts.
     */
    size_t count;
} simkeep_texts;

/**
 * Properties of a page from a time on. Set all fields to 0, then set the required fields, with
 * their bits in `has`.
 */
typedef struct simkeep_property_update {
    /**
     * The URL of the page. Read only during a call.
     */
    const char *url;
    /**
     * The length of `url` in bytes.
     */
    size_t url_len;
    /**
     * The time from which on the properties apply, in milliseconds since 1970.
     */
    int64_t time_ms;
    /**
     * The weight: finite and positive.
     */
    double weight;
    /**
     * The properties that are set: `SIMKEEP_HAS_WEIGHT`, `SIMKEEP_HAS_CLASS`, or both.
     */
    uint32_t has;
    /**
     * The class.
     */
    uint32_t page_class;
} simkeep_property_update;

/**
 * A search for fingerprints. Fill in the structure with `simkeep_query_init`, and then change
 * fields. The pointers are read only during a call.
 */
typedef struct simkeep_query {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * The fingerprint to search for.
     */
    uint64_t fingerprint;
    /**
     * Largest Hamming distance, 0 to 64.
     */
    uint32_t k;
    /**
     * The versions of pages to search, a `simkeep_versions`. Default: `SIMKEEP_VERSIONS_IN_FORCE`.
     */
    int32_t versions;
    /**
     * The maximum number of pages to return; `UINT64_MAX` for all pages, at any cost. Default: 16.
     */
    uint64_t limit;
    /**
     * The time, or the start of the time range, for `versions`, in milliseconds since 1970.
     */
    int64_t from_ms;
    /**
     * The end of the time range for `versions`, in milliseconds since 1970.
     */
    int64_t to_ms;
    /**
     * The time limit of the search in nanoseconds; 0 for no limit. Default: 0.
     */
    uint64_t budget_ns;
    /**
     * Only pages under this prefix, for example `example.org/news/`; NULL for all pages. Default:
     * NULL.
     */
    const char *under;
    /**
     * The length of `under` in bytes.
     */
    size_t under_len;
    /**
     * A page to exclude; NULL for no page. Default: NULL.
     */
    const char *exclude;
    /**
     * The length of `exclude` in bytes.
     */
    size_t exclude_len;
    /**
     * Only pages of these classes; NULL for pages of any class and pages without a class. Default:
     * NULL.
     */
    const uint32_t *classes;
    /**
     * The number of classes.
     */
    size_t classes_len;
    /**
     * Whether to include pages without a class in addition to `classes`, 1 or 0. If `classes` is
     * NULL and `unclassed` is 1, only pages without a class. Default: 0.
     */
    uint32_t unclassed;
    /**
     * Whether `epoch` sets the epoch of the search, 1 or 0. Default: 0, the epoch of
     * near-duplicates.
     */
    uint32_t has_epoch;
    /**
     * The epoch of the fingerprints.
     */
    uint32_t epoch;
    /**
     * The maximum number of fingerprints that are compared in a dense region. Default: 4096.
     */
    uint32_t fingerprints;
} simkeep_query;

/**
 * The search in a single segment or memtable.
 */
typedef struct simkeep_component_search {
    /**
     * The number of the segment.
     */
    uint64_t segment;
    /**
     * The number of distinct fingerprints of the epoch in the component.
     */
    uint32_t fingerprints;
    /**
     * The index, a `simkeep_shape`.
     */
    int32_t shape;
    /**
     * The method of the search, a `simkeep_access_path`.
     */
    int32_t access_path;
    /**
     * The optional fields that are set: `SIMKEEP_COMPONENT_SEARCH_HAS_...`.
     */
    uint32_t has;
    /**
     * The expected number of buckets or cells to read; 0 for a scan.
     */
    double expected_probes;
    /**
     * The expected number of entries to compare.
     */
    double expected_candidates;
    /**
     * The expected number of cache lines of 64 bytes to read.
     */
    double expected_lines;
    /**
     * The expected nanoseconds on one core with all data in memory, without the cost of hits.
     */
    double expected_ns;
    /**
     * The number of buckets or cells read.
     */
    double probes;
    /**
     * The number of entries compared.
     */
    double candidates;
    /**
     * The number of cache lines read.
     */
    double lines;
    /**
     * The time taken in nanoseconds.
     */
    double ns;
    /**
     * The number of distinct near fingerprints found.
     */
    uint64_t hits;
    /**
     * The number of fingerprints compared in a dense region.
     */
    uint64_t crowded;
    /**
     * Page faults that were served from memory.
     */
    uint64_t minor_faults;
    /**
     * Page faults that waited for the disk.
     */
    uint64_t major_faults;
} simkeep_component_search;

/**
 * An entry of a page's history. `has` consists of `SIMKEEP_HAS_...` for the optional fields that
 * are set; the other optional fields are 0.
 */
typedef struct simkeep_entry {
    /**
     * The time, in milliseconds since 1970.
     */
    int64_t time_ms;
    /**
     * The kind of entry, a `simkeep_entry_kind`.
     */
    int32_t kind;
    /**
     * The result of a visit, a `simkeep_seen`.
     */
    int32_t seen;
    /**
     * The verdict, which takes all earlier visits into account, a `simkeep_verdict`.
     */
    int32_t verdict;
    /**
     * The optional fields that are set.
     */
    uint32_t has;
    /**
     * The reason why the page is known to be the same, a `simkeep_same_by`.
     */
    int32_t same_by;
    /**
     * The distance of the content from the previous version, in bits.
     */
    uint32_t distance;
    /**
     * The epoch of `distance`.
     */
    uint32_t distance_epoch;
    /**
     * The meaning of `distance`, a `simkeep_band`.
     */
    int32_t band;
    /**
     * The time when the version that the page reverted to was last seen; 0 if the page did not
     * revert.
     */
    int64_t to_ms;
    /**
     * The fingerprint of the content.
     */
    uint64_t fingerprint;
    /**
     * The epoch of the content.
     */
    uint32_t epoch;
    /**
     * The HTTP status.
     */
    uint32_t status;
    /**
     * The digest of the content.
     */
    uint8_t digest[16];
    /**
     * The server's time of the page's last modification.
     */
    int64_t modified_ms;
    /**
     * The weight that was set.
     */
    double weight;
    /**
     * The class that was set.
     */
    uint32_t page_class;
    /**
     * Always 0.
     */
    uint32_t reserved;
    /**
     * The number of bytes of the content as transferred.
     */
    uint64_t bytes;
    /**
     * The entity tag of the content, from the header `ETag`. Valid until the history is freed.
     */
    const char *etag;
    /**
     * The length of `etag` in bytes.
     */
    size_t etag_len;
    /**
     * The URL to which the content points, in UTF-8: the target of a redirect, or the canonical
     * URL. Valid until the history is freed.
     */
    const char *target;
    /**
     * The length of `target` in bytes.
     */
    size_t target_len;
} simkeep_entry;

/**
 * The query for pairs of pages. Fill in the structure with `simkeep_page_pair_query_init`, and
 * then change fields. The pointers are read only during a call.
 */
typedef struct simkeep_page_pair_query {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * Largest Hamming distance, 0 to 64.
     */
    uint32_t k;
    /**
     * Whether pages with equal fingerprints are also paired, 1 or 0. Default: 0.
     */
    uint32_t equal;
    /**
     * The maximum number of pages of each fingerprint to pair, the first in SURT order;
     * `UINT64_MAX` for all pages, which makes quadratically many pairs. Default: 1.
     */
    uint64_t pages_per_fingerprint;
    /**
     * Only pages under this prefix; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * The length of `under` in bytes.
     */
    size_t under_len;
    /**
     * Only pages of these classes; NULL for pages of any class and pages without a class. Default:
     * NULL.
     */
    const uint32_t *classes;
    /**
     * The number of classes.
     */
    size_t classes_len;
    /**
     * Whether to include pages without a class in addition to `classes`, 1 or 0. If `classes` is
     * NULL and `unclassed` is 1, only pages without a class. Default: 0.
     */
    uint32_t unclassed;
    /**
     * Whether `epoch` sets the epoch of the fingerprints, 1 or 0. Default: 0, the epoch of
     * near-duplicates.
     */
    uint32_t has_epoch;
    /**
     * The epoch of the fingerprints.
     */
    uint32_t epoch;
    /**
     * Must be 0.
     */
    uint32_t reserved;
} simkeep_page_pair_query;

/**
 * A chunk of pairs of pages, column by column. Valid until the next call on its source.
 */
typedef struct simkeep_page_pair_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * The URL of the left page of each pair: the page with the smaller fingerprint; if the
     * fingerprints are equal, the first page in SURT order.
     */
    const struct simkeep_texts *left_urls;
    /**
     * The URL of the right page of each pair.
     */
    const struct simkeep_texts *right_urls;
    /**
     * The fingerprint of the left page.
     */
    const uint64_t *left;
    /**
     * The fingerprint of the right page.
     */
    const uint64_t *right;
    /**
     * The distance of the two pages in bits.
     */
    const uint8_t *distances;
} simkeep_page_pair_chunk;

/**
 * The current state of a page. `has` consists of `SIMKEEP_HAS_...` for the optional fields
 * that are set; the other optional fields are 0.
 */
typedef struct simkeep_page {
    /**
     * The URL, not NUL-terminated. The documentation of each call that returns a page states
     * how long the URL is valid.
     */
    const char *url;
    /**
     * The length of `url` in bytes.
     */
    size_t url_len;
    /**
     * The number of known visits.
     */
    uint64_t visits;
    /**
     * The time of the earliest visit, in milliseconds since 1970.
     */
    int64_t first_ms;
    /**
     * The time of the latest visit, in milliseconds since 1970.
     */
    int64_t last_ms;
    /**
     * The result of the latest visit, a `simkeep_seen`.
     */
    int32_t last_seen;
    /**
     * The optional fields that are set. Without `SIMKEEP_HAS_CONTENT` the page is gone, or no
     * visit has seen content.
     */
    uint32_t has;
    /**
     * The fingerprint of the current content, in the newest epoch of verdicts in which the
     * content has a fingerprint.
     */
    uint64_t fingerprint;
    /**
     * The epoch of `fingerprint`.
     */
    uint32_t epoch;
    /**
     * The HTTP status of the latest visit.
     */
    uint32_t status;
    /**
     * The digest of the current content.
     */
    uint8_t digest[16];
    /**
     * The time when the current content was last seen.
     */
    int64_t content_seen_ms;
    /**
     * The time when the last seen content was last modified, by the server's report. Use this
     * time for `If-Modified-Since`.
     */
    int64_t modified_ms;
    /**
     * The current weight; 1 if no weight was set.
     */
    double weight;
    /**
     * The current class.
     */
    uint32_t page_class;
    /**
     * Whether the page is gone, 1 or 0.
     */
    uint32_t gone;
    /**
     * The number of pairs of consecutive visits that determine whether the page changed.
     */
    uint32_t comparisons;
    /**
     * The number of `comparisons` that found a change.
     */
    uint32_t changes;
    /**
     * The URL to which the current content points, in UTF-8: the target of a redirect, or the
     * canonical URL. Valid as long as `url`. Set with `SIMKEEP_HAS_TARGET`.
     */
    const char *target;
    /**
     * The length of `target` in bytes.
     */
    size_t target_len;
    /**
     * The length of `etag` in bytes.
     */
    size_t etag_len;
    /**
     * The entity tag of the current content. Use this value for `If-None-Match`.
     */
    uint8_t etag[128];
} simkeep_page;

/**
 * A chunk of pairs, column by column. Valid until the next call on its source.
 */
typedef struct simkeep_pair_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * The smaller fingerprint of each pair.
     */
    const uint64_t *left;
    /**
     * The larger fingerprint of each pair.
     */
    const uint64_t *right;
    /**
     * The distance of the two fingerprints in bits: 1 to 64.
     */
    const uint8_t *distances;
} simkeep_pair_chunk;

/**
 * A chunk of pages in their clusters, column by column. Valid until the next call on its
 * source.
 */
typedef struct simkeep_clustered_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * The URLs of the pages.
     */
    const struct simkeep_texts *urls;
    /**
     * The leader of each page's cluster, which may be the page itself.
     */
    const struct simkeep_texts *leaders;
    /**
     * The fingerprint of each page; 0 for content without a fingerprint.
     */
    const uint64_t *fingerprints;
    /**
     * The distance of each page from its leader, in bits.
     */
    const uint8_t *distances;
    /**
     * The reason why each page is known to be nearly equal to its leader, a
     * `simkeep_original_by`; `SIMKEEP_ORIGINAL_BY_NOTHING` for the leader, and from
     * `simkeep_snapshot_cluster_of`.
     */
    const simkeep_original_by *by;
    /**
     * The number of pages in each page's cluster.
     */
    const uint64_t *cluster_pages;
    /**
     * The current class of each page.
     */
    const uint32_t *classes;
    /**
     * Whether each page has a class, 1 or 0.
     */
    const uint8_t *has_class;
    /**
     * Whether each page's content has a fingerprint, 1 or 0.
     */
    const uint8_t *has_fingerprint;
} simkeep_clustered_chunk;

/**
 * Options for clustering: the pages, the distance, and the choice of leaders. Fill in the
 * structure with `simkeep_clustering_init`, and then change fields. The pointers are read only
 * during a call.
 */
typedef struct simkeep_clustering {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * Largest Hamming distance of a page to its leader, 0 to 64; -1 for the near distance of the
     * epoch.
     */
    int32_t k;
    /**
     * Whether `at_ms` sets the time of the versions, 1 or 0. Default: 0, the current versions.
     */
    uint32_t has_at;
    /**
     * The time of the versions, in milliseconds since 1970.
     */
    int64_t at_ms;
    /**
     * The rule that selects the leader among several pages, in the form of `rule` in
     * `simkeep_options`; NULL for `first-seen`. The rule `canonical` prefers pages that a near page
     * declares as canonical. Default: NULL.
     */
    const char *rule;
    /**
     * The length of `rule` in bytes.
     */
    size_t rule_len;
    /**
     * Only pages under this prefix; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * The length of `under` in bytes.
     */
    size_t under_len;
    /**
     * Only pages that currently have one of these classes; NULL for pages of any class and pages
     * without a class. Default: NULL.
     */
    const uint32_t *classes;
    /**
     * The number of classes.
     */
    size_t classes_len;
    /**
     * Whether to include pages without a class in addition to `classes`, 1 or 0. If `classes` is
     * NULL and `unclassed` is 1, only pages without a class. Default: 0.
     */
    uint32_t unclassed;
    /**
     * Whether `epoch` sets the epoch of the fingerprints, 1 or 0. Default: 0, the epoch of
     * near-duplicates.
     */
    uint32_t has_epoch;
    /**
     * The epoch of the fingerprints.
     */
    uint32_t epoch;
    /**
     * Must be 0.
     */
    uint32_t reserved;
    /**
     * The memory in bytes; data that does not fit goes to scratch files. 0 for 512 MiB.
     * Default: 0.
     */
    uint64_t memory_bytes;
    /**
     * The directory for scratch files, in UTF-8; NULL for the system's directory for temporary files.
     * Default: NULL.
     */
    const char *scratch;
    /**
     * The length of `scratch` in bytes.
     */
    size_t scratch_len;
} simkeep_clustering;

/**
 * Summary figures of clusters.
 */
typedef struct simkeep_clusters_numbers {
    /**
     * The number of pages.
     */
    uint64_t pages;
    /**
     * The number of distinct fingerprints.
     */
    uint64_t fingerprints;
    /**
     * The number of clusters.
     */
    uint64_t clusters;
    /**
     * The number of clusters with two or more pages.
     */
    uint64_t multi_page_clusters;
    /**
     * The number of pages in the largest cluster.
     */
    uint64_t largest;
    /**
     * The length of the array `simkeep_clusters_sizes`.
     */
    uint64_t bins;
    /**
     * The effective distance.
     */
    uint64_t k;
    /**
     * The number of pages with content, but without a fingerprint of the epoch, which are in
     * no cluster: stale pages, redirects, and pages without a digest.
     */
    uint64_t without_fingerprint;
} simkeep_clusters_numbers;

/**
 * A chunk of clusters, column by column. Valid until the next call on its source.
 */
typedef struct simkeep_cluster_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * The URL of the leader of each cluster.
     */
    const struct simkeep_texts *leaders;
    /**
     * The fingerprint of each leader; 0 if the pages have equal digests and no fingerprints.
     */
    const uint64_t *fingerprints;
    /**
     * The time when each leader was first seen with the compared content, in milliseconds
     * since 1970.
     */
    const int64_t *first_seen_ms;
    /**
     * The number of pages of each cluster, including the leader.
     */
    const uint64_t *pages;
    /**
     * The largest distance of a page of each cluster from the leader.
     */
    const uint8_t *max_distance;
    /**
     * Whether each cluster has fingerprints, 1 or 0.
     */
    const uint8_t *has_fingerprint;
} simkeep_cluster_chunk;

/**
 * A text of the caller. Read only during a call.
 */
typedef struct simkeep_text {
    /**
     * The bytes of the text, UTF-8.
     */
    const char *bytes;
    /**
     * The length in bytes.
     */
    size_t len;
} simkeep_text;

/**
 * A decision about a page. The texts are not NUL-terminated, and are valid until the next call
 * on their source.
 */
typedef struct simkeep_decision {
    /**
     * The current value of a visit, by the policy.
     */
    double value;
    /**
     * The estimated number of changes a day.
     */
    double per_day;
    /**
     * The bound below which the change rate lies with a probability of 5 %.
     */
    double per_day_low;
    /**
     * The bound above which the change rate lies with a probability of 5 %.
     */
    double per_day_high;
    /**
     * The weight of the page times the factor of its rule.
     */
    double weight;
    /**
     * The due time by a plan, in milliseconds since 1970.
     */
    int64_t due_ms;
    /**
     * The seconds from the page's last visit to the due time.
     */
    uint64_t every_s;
    /**
     * A time for `reason`, in milliseconds since 1970; otherwise 0.
     */
    int64_t reason_time_ms;
    /**
     * Seconds for `reason`; otherwise 0.
     */
    uint64_t reason_s;
    /**
     * The reason, a `simkeep_reason`.
     */
    int32_t reason;
    /**
     * The bits for `due_ms` and `every_s`, if set: `SIMKEEP_DECISION_HAS_...`.
     */
    uint32_t has;
    /**
     * The URL of the page.
     */
    const char *url;
    /**
     * The length of `url` in bytes.
     */
    size_t url_len;
    /**
     * The near page that is the leader of this page; NULL without a leader. With a leader, the
     * weight of this page is reduced to a quarter.
     */
    const char *near;
    /**
     * The length of `near` in bytes.
     */
    size_t near_len;
    /**
     * The prefix of the page's rule; NULL without a rule for a prefix.
     */
    const char *rule;
    /**
     * The length of `rule` in bytes.
     */
    size_t rule_len;
} simkeep_decision;

/**
 * A rule for the pages under a prefix. Set all fields to 0, then set the required fields. Only the
 * rule with the longest prefix applies to a page.
 */
typedef struct simkeep_due_rule {
    /**
     * The prefix; NULL for all pages that match no other rule.
     */
    const char *under;
    /**
     * The length of `under` in bytes.
     */
    size_t under_len;
    /**
     * The minimum seconds between two visits; 0 for no minimum.
     */
    uint64_t min_s;
    /**
     * The maximum seconds between two visits, after which a page comes first; 0 for no maximum.
     */
    uint64_t max_s;
    /**
     * A factor of the weight of a page; 0 for 1.
     */
    double weight;
    /**
     * The maximum number of pages of one host in a result; 0 for no limit.
     */
    uint64_t per_host;
    /**
     * The policy, as in `simkeep_due_query`; NULL for the policy of the query.
     */
    const char *policy;
    /**
     * The length of `policy` in bytes.
     */
    size_t policy_len;
} simkeep_due_rule;

/**
 * The query for the pages to visit next. Fill in the structure with `simkeep_due_query_init`, and
 * then change fields. The pointers are read only during a call.
 */
typedef struct simkeep_due_query {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * The time, in milliseconds since 1970.
     */
    int64_t now_ms;
    /**
     * The maximum number of pages.
     */
    uint64_t budget;
    /**
     * The maximum number of pages of one host; `UINT64_MAX` for no limit. Default: no limit.
     */
    uint64_t per_host;
    /**
     * The seconds after which an unvisited page comes first, regardless of its value. Default: the
     * seconds of 365 days.
     */
    uint64_t largest_interval_s;
    /**
     * The memory for selected pages, in bytes. Default: 64 MiB.
     */
    uint64_t memory_bytes;
    /**
     * Only pages under this prefix; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * The length of `under` in bytes.
     */
    size_t under_len;
    /**
     * The policy for the order of pages: `value`, `crawl-value`, `harmonic`, `uniform`,
     * `fixed:7d`, `thesis`, `nutch` or `stormcrawler`. NULL for `value`. Default: NULL.
     */
    const char *policy;
    /**
     * The length of `policy` in bytes.
     */
    size_t policy_len;
    /**
     * Rules for pages under prefixes. Default: NULL.
     */
    const struct simkeep_due_rule *rules;
    /**
     * The number of rules.
     */
    size_t rules_count;
    /**
     * `sizeof *rules`.
     */
    size_t rule_size;
    /**
     * A plan, which adds due times to decisions; NULL for no plan. Default: NULL.
     */
    const struct simkeep_plan *plan;
    /**
     * Hints about changes; NULL for no hints. Default: NULL.
     */
    const struct simkeep_hints *hints;
} simkeep_due_query;

/**
 * A reported change of a page.
 */
typedef struct simkeep_change {
    /**
     * The URL of the page. Read only during a call.
     */
    const char *url;
    /**
     * The length of `url` in bytes.
     */
    size_t url_len;
    /**
     * The time of the change, in milliseconds since 1970.
     */
    int64_t time_ms;
} simkeep_change;

/**
 * Summary figures of a plan.
 */
typedef struct simkeep_plan_numbers {
    /**
     * The visits a day for which the plan was made.
     */
    double per_day;
    /**
     * The resulting visits a day.
     */
    double visits_per_day;
    /**
     * The value of a visit at which a page is due. The threshold is infinite if there are too
     * few visits.
     */
    double threshold;
    /**
     * The expected fraction of time for which a page is unchanged since its last visit, from 0
     * to 1.
     */
    double freshness;
    /**
     * The number of pages. Above a million, the number is an estimate.
     */
    double pages;
    /**
     * The number of pages that are visited less often than once in 360 days.
     */
    double rarely_visited;
} simkeep_plan_numbers;

/**
 * The values of a page without visits.
 */
typedef struct simkeep_new_page {
    /**
     * The value of a visit, comparable with the values of decisions.
     */
    double value;
    /**
     * The estimated number of changes a day, from the pages of its host.
     */
    double per_day;
    /**
     * The bound below which the change rate lies with a probability of 5 %.
     */
    double per_day_low;
    /**
     * The bound above which the change rate lies with a probability of 5 %.
     */
    double per_day_high;
    /**
     * The weight that the page's rule sets.
     */
    double weight;
    /**
     * The seconds between visits.
     */
    uint64_t every_s;
} simkeep_new_page;

/**
 * The result of a backup.
 */
typedef struct simkeep_backed_up {
    /**
     * The number of the last operation in the backup.
     */
    uint64_t sequence;
    /**
     * The number of pages in the backup, all of which were checked.
     */
    uint64_t pages;
    /**
     * The number of visits in the backup.
     */
    uint64_t visits;
    /**
     * Whether the backup replaced an earlier backup, 1 or 0.
     */
    uint64_t has_earlier;
    /**
     * The number of the last operation in the earlier backup.
     */
    uint64_t earlier;
    /**
     * The number of files that were hard-linked to files of the store.
     */
    uint64_t linked_files;
    /**
     * The bytes of the linked files.
     */
    uint64_t linked_bytes;
    /**
     * The number of files that were copied, including files that could not be linked.
     */
    uint64_t copied_files;
    /**
     * The bytes of the copied files.
     */
    uint64_t copied_bytes;
    /**
     * The number of files that the earlier backup already had.
     */
    uint64_t kept_files;
    /**
     * The bytes of the files that the earlier backup already had.
     */
    uint64_t kept_bytes;
    /**
     * The number of files of the earlier backup that were removed, because the store no longer
     * has them.
     */
    uint64_t removed_files;
    /**
     * Bytes of the catalog, which is always rewritten.
     */
    uint64_t catalog_bytes;
} simkeep_backed_up;

/**
 * Information about an epoch.
 */
typedef struct simkeep_epoch_info {
    /**
     * The number of the epoch.
     */
    uint32_t number;
    /**
     * The role of the epoch, a `simkeep_role`.
     */
    int32_t role;
    /**
     * The name of the epoch, not NUL-terminated. Valid as long as the object that
     * it was taken from.
     */
    const char *name;
    /**
     * The length of `name` in bytes.
     */
    size_t name_len;
    /**
     * The number of visits in the store when the epoch began.
     */
    uint64_t begun;
    /**
     * The largest distance of a minor change.
     */
    uint32_t minor;
    /**
     * The largest distance of a moderate change.
     */
    uint32_t moderate;
    /**
     * Whether the epoch has ended, 1 or 0.
     */
    uint32_t ended;
    /**
     * Always 0.
     */
    uint32_t reserved;
} simkeep_epoch_info;

/**
 * Summary figures of a repair.
 */
typedef struct simkeep_repaired_numbers {
    /**
     * The number of pages in the new store.
     */
    uint64_t pages;
    /**
     * The number of visits in the new store.
     */
    uint64_t visits;
    /**
     * Whether all data was saved, and no forgotten page was restored, 1 or 0.
     */
    uint64_t is_whole;
    /**
     * The number of losses.
     */
    uint64_t lost;
    /**
     * The number of lost page records, as far as they could be counted.
     */
    uint64_t lost_pages;
    /**
     * The number of lost visits, as far as they could be counted.
     */
    uint64_t lost_visits;
    /**
     * The number of journal frames with wrong checksums. The operations of these frames are
     * lost.
     */
    uint64_t damaged_frames;
    /**
     * The number of pages with entries that were left out, because a lost operation may have
     * forgotten them.
     */
    uint64_t withheld_pages;
    /**
     * The number of flaws, including flaws without a loss.
     */
    uint64_t flaws;
} simkeep_repaired_numbers;

/**
 * Data that could not be saved. The texts are not NUL-terminated, and are valid as long as
 * their source.
 */
typedef struct simkeep_loss {
    /**
     * The path of the file that contained the data, relative to the store's directory.
     */
    const char *file;
    /**
     * The length of `file` in bytes.
     */
    size_t file_len;
    /**
     * The reason for the loss.
     */
    const char *why;
    /**
     * The length of `why` in bytes.
     */
    size_t why_len;
    /**
     * The start of the loss in the file. Data outside of this range is not lost.
     */
    uint64_t bytes_from;
    /**
     * The end of the loss in the file.
     */
    uint64_t bytes_to;
    /**
     * The first of the operations that include the loss. If `pages` is not set, all these
     * operations are lost.
     */
    uint64_t first;
    /**
     * The last of the operations that include the loss.
     */
    uint64_t last;
    /**
     * The number of lost records of pages.
     */
    uint64_t pages;
    /**
     * The page before the lost pages in SURT order; NULL if unknown.
     */
    const char *after;
    /**
     * The length of `after` in bytes.
     */
    size_t after_len;
    /**
     * The page after the lost pages in SURT order; NULL if unknown.
     */
    const char *before;
    /**
     * The length of `before` in bytes.
     */
    size_t before_len;
    /**
     * The optional fields that are set: `SIMKEEP_LOSS_HAS_...`.
     */
    uint32_t has;
    /**
     * Always 0.
     */
    uint32_t reserved;
} simkeep_loss;

/**
 * Sizes of a store.
 */
typedef struct simkeep_stats {
    /**
     * The number of known pages.
     */
    uint64_t pages;
    /**
     * The number of known visits.
     */
    uint64_t visits;
    /**
     * The number of visits that are in no segment yet.
     */
    uint64_t unsealed_visits;
    /**
     * The number of live segments.
     */
    uint64_t segments;
    /**
     * Bytes of the live segments.
     */
    uint64_t segment_bytes;
    /**
     * Bytes of the catalog and its journal.
     */
    uint64_t catalog_bytes;
    /**
     * The number of the last acknowledged operation.
     */
    uint64_t sequence;
    /**
     * The number of visits since the newest epoch in use began.
     */
    uint64_t epoch_visits;
    /**
     * Whether a new epoch is recommended, 1 or 0.
     */
    uint64_t epoch_due;
} simkeep_stats;

/**
 * Summary figures of a check.
 */
typedef struct simkeep_verified_numbers {
    /**
     * The number of files.
     */
    uint64_t files;
    /**
     * The total size of the files in bytes.
     */
    uint64_t bytes;
    /**
     * The number of pages; not counted if there are flaws.
     */
    uint64_t pages;
    /**
     * The number of visits; not counted if there are flaws.
     */
    uint64_t visits;
    /**
     * The number of flaws, including flaws that are not listed. 0 means a sound store.
     */
    uint64_t flaws;
    /**
     * Whether the catalog was read, 1 or 0. The catalog is not read if another process has the
     * store open for writing.
     */
    uint64_t catalog;
} simkeep_verified_numbers;

/**
 * A flaw of a store.
 */
typedef struct simkeep_corruption {
    /**
     * The byte offset in the file.
     */
    uint64_t offset;
    /**
     * The path of the file, relative to the store's directory, not NUL-terminated. Valid as
     * long as its source.
     */
    const char *file;
    /**
     * The length of `file` in bytes.
     */
    size_t file_len;
    /**
     * The problem, with expected and found values, not NUL-terminated. Valid as long as its
     * source.
     */
    const char *what;
    /**
     * The length of `what` in bytes.
     */
    size_t what_len;
} simkeep_corruption;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* ================================================================================================
 * 5. Errors, progress and versions
 * ================================================================================================ */

/**
 * Returns the code of an error, one of `SIMKEEP_...`; `SIMKEEP_OK` for NULL. Any thread; costs
 * nothing.
 */
int32_t simkeep_error_code(const struct simkeep_error *error);

/**
 * Returns a message for people, with the problem, its place, and the remedy. The message is
 * UTF-8 that ends with a NUL, and is valid as long as the error. NULL for NULL. Any thread;
 * costs nothing.
 */
const char *simkeep_error_message(const struct simkeep_error *error);

/**
 * Returns the file or the directory to which an error refers, or NULL. For a file of a store,
 * the path is relative to the store's directory. The path ends with a NUL, and is valid as
 * long as the error. Any thread; costs nothing.
 */
const char *simkeep_error_file(const struct simkeep_error *error);

/**
 * Returns the offset of the error in its file, in bytes; -1 without an offset. Any thread;
 * costs nothing.
 */
int64_t simkeep_error_offset(const struct simkeep_error *error);

/**
 * Returns the index, from 0, of the array element to which an error refers; -1 without an
 * index. Any thread; costs nothing.
 */
int64_t simkeep_error_row(const struct simkeep_error *error);

/**
 * Returns the process that has the store open, for `SIMKEEP_LOCKED`; 0 if unknown. Any thread;
 * costs nothing.
 */
uint32_t simkeep_error_pid(const struct simkeep_error *error);

/**
 * Returns the `errno` of the operating system; 0 without an `errno`. Any thread; costs
 * nothing.
 */
int32_t simkeep_error_errno(const struct simkeep_error *error);

/**
 * Frees an error and its texts. Does nothing for NULL.
 */
void simkeep_error_free(struct simkeep_error *error);

/**
 * Creates a progress for one call at a time. Free the progress with `simkeep_progress_free`, even
 * while its call still runs. Any thread; costs nothing.
 */
struct simkeep_progress *simkeep_progress_new(struct simkeep_error **error);

/**
 * Cancels the call, which usually ends within some milliseconds, with `SIMKEEP_CANCELLED`. A
 * progress stays cancelled, and no further call with it begins. Any thread, at any time; costs
 * nothing.
 */
int32_t simkeep_progress_cancel(const struct simkeep_progress *progress,
                                struct simkeep_error **error);

/**
 * Returns the stage of the call; `SIMKEEP_STAGE_WAITING` for NULL. Any thread, at any time;
 * costs nothing.
 */
simkeep_stage simkeep_progress_stage(const struct simkeep_progress *progress);

/**
 * Returns the amount of work done in this stage: observations of a load, pages and
 * fingerprints of a merge, bytes of a check, fingerprints of a join. 0 for NULL. Any thread,
 * at any time; costs nothing.
 */
uint64_t simkeep_progress_done(const struct simkeep_progress *progress);

/**
 * Returns the approximate total of this stage; 0 if unknown, or for NULL. Any thread, at any
 * time; costs nothing.
 */
uint64_t simkeep_progress_total(const struct simkeep_progress *progress);

/**
 * Returns the number of results so far: flaws of a check, pairs of a join. 0 for NULL. Any
 * thread, at any time; costs nothing.
 */
uint64_t simkeep_progress_found(const struct simkeep_progress *progress);

/**
 * Frees a progress. Does nothing for NULL.
 */
void simkeep_progress_free(struct simkeep_progress *progress);

/**
 * Returns the version of the library's interface. The version grows when functions, fields or
 * values are added. Existing functions, fields and values are never removed or changed as long as
 * the library's file keeps its name. A program runs with a library of the version with which the
 * program was built, or with a later version. Any thread; costs nothing.
 */
uint32_t simkeep_abi_version(void);

/**
 * Returns the version of simkeep, for example `0.1.0`. The text is NUL-terminated, and always
 * valid. Any thread; costs nothing.
 */
const char *simkeep_version(void);

/* ================================================================================================
 * 6. Stores, readers and snapshots
 * ================================================================================================ */

/**
 * Fills in the defaults, and the size. `size` is `sizeof(simkeep_options)`. Any thread; costs
 * nothing.
 */
int32_t simkeep_options_init(struct simkeep_options *options,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Opens a store for reading, or the newest complete generation of a published store. `plain_reads`
 * is 1 to read segments whole into memory, or 0 to map them. Free the result with
 * `simkeep_reader_free`. Any thread. Costs mapping the segments, and reading the journal: less
 * than a second.
 */
struct simkeep_reader *simkeep_reader_open(const char *path,
                                           uint32_t plain_reads,
                                           struct simkeep_error **error);

/**
 * Advances to the newest state. `changed` becomes 1 if the state changed, otherwise 0, and may be
 * NULL. After an error the reader keeps its state. Existing snapshots do not change. Any thread.
 * Costs reading the new part of the journal, and mapping new segments.
 */
int32_t simkeep_reader_refresh(struct simkeep_reader *reader,
                               uint32_t *changed,
                               struct simkeep_error **error);

/**
 * Returns the number of acknowledged operations that the reader does not see. Any thread. Costs
 * one small read.
 */
int32_t simkeep_reader_behind(const struct simkeep_reader *reader,
                              uint64_t *behind,
                              struct simkeep_error **error);

/**
 * Returns the generation of a published store that the reader has open: `generation` becomes its
 * number, or 0 if the reader has a store that is not published. `incomplete` becomes the number of
 * the newest generation if this generation is incomplete and was skipped, or 0. The numbers
 * `generation` and `incomplete` numbers are
 * as of the last open or refresh. Any thread. Costs nothing,
 * unless another thread refreshes.
 */
int32_t simkeep_reader_generation(const struct simkeep_reader *reader,
                                  uint64_t *generation,
                                  uint64_t *incomplete,
                                  struct simkeep_error **error);

/**
 * Takes a snapshot of the reader's current view. The snapshot does not change when the reader is
 * refreshed. Free the snapshot with `simkeep_snapshot_free`. Any thread; costs nothing, unless
 * another thread refreshes.
 */
struct simkeep_snapshot *simkeep_reader_snapshot(const struct simkeep_reader *reader,
                                                 struct simkeep_error **error);

/**
 * Frees a reader, after all other calls on it have returned. The snapshots of the reader stay
 * valid. Does nothing for NULL.
 */
void simkeep_reader_free(struct simkeep_reader *reader);

/**
 * Takes a snapshot of a store. Free the snapshot with `simkeep_snapshot_free`. Any thread. Costs
 * two short locks, which no thread holds during file access.
 */
struct simkeep_snapshot *simkeep_store_snapshot(struct simkeep_store *store,
                                                struct simkeep_error **error);

/**
 * Frees a snapshot, after all other calls on it have returned. Objects made from the snapshot stay
 * valid. Does nothing for NULL.
 */
void simkeep_snapshot_free(struct simkeep_snapshot *snapshot);

/**
 * Returns the number of the last operation in a snapshot. Any thread; costs nothing.
 */
int32_t simkeep_snapshot_sequence(const struct simkeep_snapshot *snapshot,
                                  uint64_t *sequence,
                                  struct simkeep_error **error);

/**
 * Opens the store in a directory for writing. `options` may be NULL, for the defaults. Returns
 * NULL and an error on failure: `SIMKEEP_LOCKED` if another process still has the store open after
 * `lock_wait_ms`. Free the result with `simkeep_store_free`. Any thread. Costs the time to read the
 * journal, at most a second, for any size of the store.
 */
struct simkeep_store *simkeep_store_open(const char *path,
                                         const struct simkeep_options *options,
                                         struct simkeep_error **error);

/**
 * Creates a store in a new or empty directory, completely or not at all, and opens it. `options`
 * may be NULL. `SIMKEEP_STORE_EXISTS` if there is already a store. Free the result with
 * `simkeep_store_free`. Any thread. Costs a few syncs.
 */
struct simkeep_store *simkeep_store_create(const char *path,
                                           const struct simkeep_options *options,
                                           struct simkeep_error **error);

/**
 * Opens the store in a directory, or creates a store if the directory has none. `options` may be
 * NULL. Free the result with `simkeep_store_free`. Any thread. Costs as much as opening or
 * creating.
 */
struct simkeep_store *simkeep_store_open_or_create(const char *path,
                                                   const struct simkeep_options *options,
                                                   struct simkeep_error **error);

/**
 * Makes all acknowledged operations durable, stops the background work and unlocks the store for
 * other writers. Later calls on the store return `SIMKEEP_CLOSED`; closing it again does nothing.
 * Objects made from the store stay valid. The store and objects made from the store must be freed
 * separately. Any thread. Costs a commit, and waits for background work to stop.
 */
int32_t simkeep_store_close(struct simkeep_store *store, struct simkeep_error **error);

/**
 * Frees a store, after all other calls on it have returned. An open store is closed, but errors
 * are lost, so close the store first. Does nothing for NULL. In a forked child the call frees only
 * memory, and does not close the store.
 */
void simkeep_store_free(struct simkeep_store *store);

/**
 * Makes all observations so far durable. Any thread. Costs at most one commit.
 */
int32_t simkeep_flush(struct simkeep_store *store, struct simkeep_error **error);

/**
 * Seals all observations in memory into segments, even if there are few. Any thread. Costs writing
 * the segments.
 */
int32_t simkeep_seal(struct simkeep_store *store, struct simkeep_error **error);

/**
 * Waits until no seal and no merge is due. Without background work, the call itself runs seals and
 * merges. Any thread.
 */
int32_t simkeep_wait_idle(struct simkeep_store *store, struct simkeep_error **error);

/**
 * Merges all segments into a single segment. `progress` may be NULL. After `SIMKEEP_CANCELLED`,
 * completed merges are kept, which does not change any result. Any thread. Costs reading and
 * writing all segments once, or twice if there are more than 128.
 */
int32_t simkeep_merge(struct simkeep_store *store,
                      const struct simkeep_progress *progress,
                      struct simkeep_error **error);

/* ================================================================================================
 * 7. Fingerprints, visits and loads
 * ================================================================================================ */

/**
 * Writes the fingerprint of a text by the default recipe to where `fingerprint` points. The
 * fingerprint belongs to the first epoch of a new store. `SIMKEEP_NONE` for a text of fewer than
 * eight words, which is too short to be distinguished. Observe such content without a fingerprint.
 * Any thread. Costs time linear in the text.
 */
int32_t simkeep_fingerprint_text(const char *text,
                                 size_t text_len,
                                 uint64_t *fingerprint,
                                 struct simkeep_error **error);

/**
 * Creates a fingerprinter with the recipe of an epoch of a store. If `store` is NULL, the recipe
 * is the default recipe, and `epoch` is ignored. `SIMKEEP_INVALID_ARGUMENT` for an epoch of
 * external fingerprints. Free the result with `simkeep_fingerprinter_free`. Any thread. Costs
 * reading the table of the epoch, if the epoch has one.
 */
struct simkeep_fingerprinter *simkeep_fingerprinter_new(const struct simkeep_store *store,
                                                        uint32_t epoch,
                                                        struct simkeep_error **error);

/**
 * Writes the fingerprint of a text to where `fingerprint` points. `SIMKEEP_NONE` for a text of
 * fewer than eight words, which is too short to be distinguished. Observe such content without a
 * fingerprint. Any thread. Costs time linear in the text.
 */
int32_t simkeep_fingerprinter_text(const struct simkeep_fingerprinter *fingerprinter,
                                   const char *text,
                                   size_t text_len,
                                   uint64_t *fingerprint,
                                   struct simkeep_error **error);

/**
 * Writes the fingerprint of the visible text of an HTML page to where `fingerprint` points.
 * `encoding` is the encoding that the server reports: a label, for example `gb18030`, or the value
 * of its `Content-Type`, several values joined by commas. `encoding` may be NULL. The page is
 * decoded as in browsers: by a byte order mark, by `encoding`, by the page's declaration, as UTF-8
 * if it is valid UTF-8, otherwise by a guess. `SIMKEEP_NONE` for a text of fewer than eight words.
 * Any thread. Costs time linear in the page.
 */
int32_t simkeep_fingerprinter_html(const struct simkeep_fingerprinter *fingerprinter,
                                   const char *html,
                                   size_t html_len,
                                   const char *encoding,
                                   size_t encoding_len,
                                   uint64_t *fingerprint,
                                   struct simkeep_error **error);

/**
 * Frees a fingerprinter, after all other calls on it have returned. Does nothing for NULL.
 */
void simkeep_fingerprinter_free(struct simkeep_fingerprinter *fingerprinter);

/**
 * Loads visits in any order, without searches and without the journal. Either all visits are
 * stored, or none. A load is some four times as fast as `simkeep_observe_batch`, but returns no
 * verdicts; afterwards `simkeep_snapshot_history` returns the verdicts. `size` is `sizeof
 * *visits`. `memory_bytes` limits the memory in addition to the visits, 0 for 512 MiB. `progress`
 * may be NULL. `loaded` receives figures, and may be NULL; `loaded_size` is
 * `sizeof(simkeep_loaded)`. Any thread; one load at a time. If the visits do not fit into memory,
 * use `simkeep_loading_begin`.
 */
int32_t simkeep_load(struct simkeep_store *store,
                     const struct simkeep_visit *visits,
                     size_t count,
                     size_t size,
                     uint64_t memory_bytes,
                     const struct simkeep_progress *progress,
                     struct simkeep_loaded *loaded,
                     size_t loaded_size,
                     struct simkeep_error **error);

/**
 * Loads all entries in a snapshot of another store, like `simkeep_load`. Epochs with the same name
 * are identified; other epochs are created, with their tables. `memory_bytes` limits the memory, 0
 * for 512 MiB. `progress` may be NULL. `loaded` receives figures, and may be NULL; `loaded_size`
 * is `sizeof(simkeep_loaded)`. Any thread; one load at a time. Costs reading the whole other
 * store, and a load.
 */
int32_t simkeep_copy_from(struct simkeep_store *store,
                          const struct simkeep_snapshot *snapshot,
                          uint64_t memory_bytes,
                          const struct simkeep_progress *progress,
                          struct simkeep_loaded *loaded,
                          size_t loaded_size,
                          struct simkeep_error **error);

/**
 * Begins to load visits from `simkeep_loading_push`, like `simkeep_load` for an array. So a corpus
 * may be larger than memory. `memory_bytes` limits the memory of the load, 0 for 512 MiB. Waiting
 * visits, at most two batches, take additional memory. `progress` may be NULL. End the load with
 * `simkeep_loading_finish`, and free it with `simkeep_loading_free`. Any thread. A store has one
 * load at a time: until this load has ended, other loads are rejected with
 * `SIMKEEP_INVALID_ARGUMENT`.
 */
struct simkeep_loading *simkeep_loading_begin(struct simkeep_store *store,
                                              uint64_t memory_bytes,
                                              const struct simkeep_progress *progress,
                                              struct simkeep_error **error);

/**
 * Passes more visits to a load. The visits are copied. Waits until the load accepts them, while it
 * sorts or writes earlier visits. `size` is `sizeof *visits`.
 *
 * An invalid argument is `SIMKEEP_MALFORMED_ARGUMENT`, with `simkeep_error_row` as an index into
 * these visits. After an invalid argument, none of the visits was accepted, and the load may
 * continue. Any other error ends the load, and stores no visit. An error that ends the load may
 * refer to an earlier visit; then `simkeep_error_row` is the index among all visits of the load.
 * One thread at a time.
 */
int32_t simkeep_loading_push(struct simkeep_loading *loading,
                             const struct simkeep_visit *visits,
                             size_t count,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Passes the visits of an Arrow table, with the columns of `simkeep_observe_arrow`, like
 * `simkeep_loading_push` for an array.
 */
int32_t simkeep_loading_push_arrow(struct simkeep_loading *loading,
                                   const struct ArrowSchema *schema,
                                   const struct ArrowArray *array,
                                   struct simkeep_error **error);

/**
 * Ends a load. When the call returns, all visits of the load are stored; after an error, no visit
 * is stored. `loaded` receives the figures, and may be NULL. `size` is `sizeof(simkeep_loaded)`.
 * Afterwards the load can only be freed. One thread at a time. Costs writing all loaded visits.
 */
int32_t simkeep_loading_finish(struct simkeep_loading *loading,
                               struct simkeep_loaded *loaded,
                               size_t size,
                               struct simkeep_error **error);

/**
 * Frees a load. A load that has not ended is stopped: its progress is cancelled, and no visit is
 * stored. Does nothing for NULL.
 */
void simkeep_loading_free(struct simkeep_loading *loading);

/**
 * Observes many visits, and returns outcomes column by column. Each verdict takes the earlier
 * visits into account. If one visit is invalid, no visit is stored, and `simkeep_error_row` is its
 * index. `size` is `sizeof *visits`. Free the result with `simkeep_outcomes_free`. Any thread;
 * concurrent calls share commits.
 *
 * The visits are durable when the call returns, unless the options of the store defer durability.
 * Costs a lookup and a search in every segment for each visit, some microseconds, and one or a few
 * commits: much less than single calls.
 */
struct simkeep_outcomes *simkeep_observe_batch(struct simkeep_store *store,
                                               const struct simkeep_visit *visits,
                                               size_t count,
                                               size_t size,
                                               struct simkeep_error **error);

/**
 * Observes a visit that saw content with this fingerprint. `digest` points to 16 bytes, or is
 * NULL; `status` is the HTTP status, or 0. For further fields use `simkeep_observe_batch`. Free
 * the result with `simkeep_outcomes_free`. Any thread. Costs some microseconds, and a share of a
 * commit.
 */
struct simkeep_outcomes *simkeep_observe(struct simkeep_store *store,
                                         const char *url,
                                         size_t url_len,
                                         int64_t time_ms,
                                         uint64_t fingerprint,
                                         uint32_t epoch,
                                         const uint8_t *digest,
                                         uint32_t status,
                                         struct simkeep_error **error);

/**
 * Observes a visit that saw this HTML page. The fingerprinter determines the fingerprint and its
 * epoch, and must be made for an epoch of this store. `encoding` may be NULL; see
 * `simkeep_fingerprinter_html`. `digest` points to 16 bytes, or is NULL; `status` is the HTTP
 * status, or 0. A text of fewer than eight words is observed without a fingerprint. Free the
 * result with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_fingerprinter_html`
 * and `simkeep_observe`.
 */
struct simkeep_outcomes *simkeep_observe_html(struct simkeep_store *store,
                                              const struct simkeep_fingerprinter *fingerprinter,
                                              const char *url,
                                              size_t url_len,
                                              int64_t time_ms,
                                              const char *html,
                                              size_t html_len,
                                              const char *encoding,
                                              size_t encoding_len,
                                              const uint8_t *digest,
                                              uint32_t status,
                                              struct simkeep_error **error);

/**
 * Observes a visit with unchanged content (304). `status` is the HTTP status, or 0. Free the
 * result with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe`.
 */
struct simkeep_outcomes *simkeep_not_modified(struct simkeep_store *store,
                                              const char *url,
                                              size_t url_len,
                                              int64_t time_ms,
                                              uint32_t status,
                                              struct simkeep_error **error);

/**
 * Observes a redirect of the page to `to`, which may be relative to the page. `status` is the HTTP
 * status, or 0. Free the result with `simkeep_outcomes_free`. Any thread. Costs as much as
 * `simkeep_observe`.
 */
struct simkeep_outcomes *simkeep_redirect(struct simkeep_store *store,
                                          const char *url,
                                          size_t url_len,
                                          int64_t time_ms,
                                          const char *to,
                                          size_t to_len,
                                          uint32_t status,
                                          struct simkeep_error **error);

/**
 * Writes the digest of a redirect from a page to `to`, which may be relative to the page, into 16
 * bytes. The digest is for visits with `SIMKEEP_SEEN_REDIRECT`. Returns 0, or a
 * `simkeep_error_code`. Any thread.
 */
int32_t simkeep_redirect_digest(const char *url,
                                size_t url_len,
                                const char *to,
                                size_t to_len,
                                uint8_t *digest,
                                struct simkeep_error **error);

/**
 * Returns the meaning of an HTTP response to a GET for its page, a `simkeep_seen`;
 * `SIMKEEP_SEEN_NOTHING` if the response is not final (below 200). `location` and `content_range`
 * are the values of these headers, or NULL; `length` is the Content-Length if no Transfer-Encoding
 * delimits the body, `received` is the number of received bytes of the body. `length` and
 * `received` are -1 if unknown. `is_encoded` is 1 if there is a Content-Encoding. `is_cut` is 1 if
 * the body is known to be truncated. Any thread.
 */
int32_t simkeep_response_meaning(uint32_t status_code,
                                 const char *location,
                                 size_t location_len,
                                 const char *content_range,
                                 size_t content_range_len,
                                 int64_t length,
                                 int64_t received,
                                 int32_t is_encoded,
                                 int32_t is_cut,
                                 int32_t *seen,
                                 struct simkeep_error **error);

/**
 * Observes that the page is gone (404, 410). `status` is the HTTP status, or 0. Free the result
 * with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe`.
 */
struct simkeep_outcomes *simkeep_gone(struct simkeep_store *store,
                                      const char *url,
                                      size_t url_len,
                                      int64_t time_ms,
                                      uint32_t status,
                                      struct simkeep_error **error);

/**
 * Observes a failed visit. `status` is the HTTP status, or 0. Free the result with
 * `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe`.
 */
struct simkeep_outcomes *simkeep_failed(struct simkeep_store *store,
                                        const char *url,
                                        size_t url_len,
                                        int64_t time_ms,
                                        uint32_t status,
                                        struct simkeep_error **error);

/**
 * The verdict for each page.
 */
const simkeep_verdict *simkeep_outcomes_verdicts(const struct simkeep_outcomes *outcomes);

/**
 * The reason why each page is known to be the same.
 */
const simkeep_same_by *simkeep_outcomes_same_by(const struct simkeep_outcomes *outcomes);

/**
 * The distance of each page from its previous version, in bits; `SIMKEEP_NO_DISTANCE` if
 * the distance is unknown, or if the page neither changed nor reverted.
 */
const uint8_t *simkeep_outcomes_distances(const struct simkeep_outcomes *outcomes);

/**
 * The meaning of each page's distance from its previous version.
 */
const simkeep_band *simkeep_outcomes_bands(const struct simkeep_outcomes *outcomes);

/**
 * The time when the version that each page reverted to was last seen, in milliseconds
 * since 1970; 0 for other verdicts.
 */
const int64_t *simkeep_outcomes_to(const struct simkeep_outcomes *outcomes);

/**
 * Whether each visit saw content that is far from all of the page's last versions, 1 or 0.
 */
const uint8_t *simkeep_outcomes_novel(const struct simkeep_outcomes *outcomes);

/**
 * The priority of the content of each visit for further processing: from 0 to the page's
 * weight.
 */
const double *simkeep_outcomes_priorities(const struct simkeep_outcomes *outcomes);

/**
 * Whether each visit's fingerprint in another epoch was stored, 1 or 0.
 */
const uint8_t *simkeep_outcomes_also(const struct simkeep_outcomes *outcomes);

/**
 * Whether each visit's copies and near pages are complete, 1 or 0.
 */
const uint8_t *simkeep_outcomes_complete(const struct simkeep_outcomes *outcomes);

/**
 * The original of each page: the first-ranked of its copies and near pages; empty if the
 * page itself ranks first.
 */
const struct simkeep_texts *simkeep_outcomes_originals(const struct simkeep_outcomes *outcomes);

/**
 * The distance of each page from its original, in bits; `SIMKEEP_NO_DISTANCE` without an
 * original.
 */
const uint8_t *simkeep_outcomes_original_distances(const struct simkeep_outcomes *outcomes);

/**
 * The reason why each page is known to be nearly equal to its original.
 */
const simkeep_original_by *simkeep_outcomes_original_by(const struct simkeep_outcomes *outcomes);

/**
 * The URL of the first capture of exactly the content of each visit, on any page, for
 * revisit records of archives; empty for a first capture, and unless the option
 * `refers_to` is 1.
 */
const struct simkeep_texts *simkeep_outcomes_refers_to_urls(const struct simkeep_outcomes *outcomes);

/**
 * The time of the first capture of each content, in milliseconds since 1970; 0 if
 * `simkeep_outcomes_refers_to_urls` is empty.
 */
const int64_t *simkeep_outcomes_refers_to_times(const struct simkeep_outcomes *outcomes);

/**
 * The index of the first copy of each observation. There is one offset more than
 * observations.
 */
const uint64_t *simkeep_outcomes_copy_offsets(const struct simkeep_outcomes *outcomes);

/**
 * Other pages whose current version has the same digest, ordered by the time when each
 * page was first seen with this digest.
 */
const struct simkeep_texts *simkeep_outcomes_copy_urls(const struct simkeep_outcomes *outcomes);

/**
 * The time when each copy was first seen with this digest, in milliseconds since 1970.
 */
const int64_t *simkeep_outcomes_copy_firsts(const struct simkeep_outcomes *outcomes);

/**
 * The index of the first near page of each observation. There is one offset more than
 * observations.
 */
const uint64_t *simkeep_outcomes_near_offsets(const struct simkeep_outcomes *outcomes);

/**
 * Near-duplicates: other pages whose current version is near, without the copies; nearest
 * first.
 */
const struct simkeep_texts *simkeep_outcomes_near_urls(const struct simkeep_outcomes *outcomes);

/**
 * The distance of each near page in bits.
 */
const uint8_t *simkeep_outcomes_near_distances(const struct simkeep_outcomes *outcomes);

/**
 * The fingerprint of each near page.
 */
const uint64_t *simkeep_outcomes_near_fingerprints(const struct simkeep_outcomes *outcomes);

/**
 * The time when each near page was first seen with its current content, in milliseconds
 * since 1970.
 */
const int64_t *simkeep_outcomes_near_firsts(const struct simkeep_outcomes *outcomes);

/**
 * Returns the number of observations; 0 for NULL.
 */
size_t simkeep_outcomes_count(const struct simkeep_outcomes *outcomes);

/**
 * Frees outcomes, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_outcomes_free(struct simkeep_outcomes *outcomes);

/**
 * Sets weights or classes of many pages, without a visit. Properties do not change a page. If one
 * element is invalid, no property is stored, and `simkeep_error_row` is its index. `size` is the
 * `sizeof` of an element. `missing` receives the number of elements for unknown pages, for which
 * nothing is stored, and may be NULL. Any thread. Costs as much as `simkeep_observe_batch`,
 * without searches.
 */
int32_t simkeep_set_property_batch(struct simkeep_store *store,
                                   const struct simkeep_property_update *updates,
                                   size_t count,
                                   size_t size,
                                   uint64_t *missing,
                                   struct simkeep_error **error);

/**
 * Sets the weight of a page from a time on, in milliseconds since 1970; finite and positive.
 * Setting a weight is neither a visit nor a change of the page. `SIMKEEP_NONE` if the page is
 * unknown; then no weight was stored. Any thread. Costs as much as `simkeep_observe`, without a
 * search.
 */
int32_t simkeep_set_weight(struct simkeep_store *store,
                           const char *url,
                           size_t url_len,
                           int64_t time_ms,
                           double weight,
                           struct simkeep_error **error);

/**
 * Sets the class of a page from a time on, in milliseconds since 1970, like `simkeep_set_weight`.
 * The caller defines the meaning of a class.
 */
int32_t simkeep_set_class(struct simkeep_store *store,
                          const char *url,
                          size_t url_len,
                          int64_t time_ms,
                          uint32_t page_class,
                          struct simkeep_error **error);

/**
 * Observes the visits of an Arrow table in order, and returns the outcomes like
 * `simkeep_observe_batch`. The columns of the table, by name:
 *
 * - `url`: text. `time`: a timestamp, or milliseconds since 1970. The columns `url` and `time` are
 *   mandatory.
 * - `seen`: text, `content`, `not-modified`, `gone` or `failed`. Without the column `seen`, all
 *   visits have the result `content`.
 * - `fingerprint`: 64 bits, signed or not. Null for content without a fingerprint.
 * - `digest`: 16 bytes. `status`, `class`: integers. `modified`: a time in the form of `time`.
 *   `weight`: a number.
 * - `epoch`: an integer. Null, or a missing column, means the epoch of `simkeep_change_epoch`.
 * - `bytes`: an integer. `etag`: bytes. `target`: text. See `simkeep_visit`. `conditional`: a
 *   boolean, whether the request was conditional.
 * - `also_fingerprint` and `also_epoch`, for content that also has a fingerprint in another epoch.
 *
 * All columns except the first two may be missing, or null in a row. Texts and bytes may have any
 * layout, including dictionaries. The structures are read until the call returns, and are not
 * released. For an invalid row, `simkeep_error_row` is its index, and no visit is stored. Free the
 * result with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe_batch`.
 */
struct simkeep_outcomes *simkeep_observe_arrow(struct simkeep_store *store,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *array,
                                               struct simkeep_error **error);

/**
 * Loads the visits of an Arrow table, with the columns of `simkeep_observe_arrow`, like
 * `simkeep_load` for an array.
 */
int32_t simkeep_load_arrow(struct simkeep_store *store,
                           const struct ArrowSchema *schema,
                           const struct ArrowArray *array,
                           uint64_t memory_bytes,
                           const struct simkeep_progress *progress,
                           struct simkeep_loaded *loaded,
                           size_t loaded_size,
                           struct simkeep_error **error);

/* ================================================================================================
 * 8. Searches, histories and pages
 * ================================================================================================ */

/**
 * Exports outcomes as an Arrow table with a row for each observation, in order: `verdict`,
 * `same_by`, `distance`, `band`, `to`, `novel`, `priority`, `also`, `complete`, `original`,
 * `original_distance`, `original_by`, `refers_to_url`, `refers_to_time`. Codes are dictionaries of
 * their names. The structures may be uninitialised; the caller releases them, as the interface
 * specifies. The table is independent of the outcomes. Any thread. Costs a copy.
 */
int32_t simkeep_outcomes_arrow(const struct simkeep_outcomes *outcomes,
                               struct ArrowSchema *schema,
                               struct ArrowArray *array,
                               struct simkeep_error **error);

/**
 * Exports the copies of outcomes as an Arrow table: `observation`, from 0, `url`, `first`.
 * `simkeep_outcomes_arrow` explains the arguments.
 */
int32_t simkeep_outcomes_copies_arrow(const struct simkeep_outcomes *outcomes,
                                      struct ArrowSchema *schema,
                                      struct ArrowArray *array,
                                      struct simkeep_error **error);

/**
 * Exports the near pages of outcomes as an Arrow table: `observation`, from 0, `url`, `distance`,
 * `fingerprint`, `first`. `simkeep_outcomes_arrow` explains the arguments.
 */
int32_t simkeep_outcomes_near_arrow(const struct simkeep_outcomes *outcomes,
                                    struct ArrowSchema *schema,
                                    struct ArrowArray *array,
                                    struct simkeep_error **error);

/**
 * Exports matches as an Arrow table: `query`, from 0, `url`, `distance`, `fingerprint`. The
 * structures may be uninitialised; the caller releases them, as the interface specifies. The table
 * is independent of the matches. Any thread. Costs a copy.
 */
int32_t simkeep_matches_arrow(const struct simkeep_matches *matches,
                              struct ArrowSchema *schema,
                              struct ArrowArray *array,
                              struct simkeep_error **error);

/**
 * The URL of each page.
 */
const struct simkeep_texts *simkeep_copies_urls(const struct simkeep_copies *copies);

/**
 * The time when each page was first seen with the content, in milliseconds since 1970.
 */
const int64_t *simkeep_copies_firsts(const struct simkeep_copies *copies);

/**
 * One number: 1 if there are no other pages. If it is 0, there are more pages than the
 * limit, or a dense region of fingerprints cut the search short.
 */
const uint8_t *simkeep_copies_complete(const struct simkeep_copies *copies);

/**
 * Returns the number of pages; 0 for NULL.
 */
size_t simkeep_copies_count(const struct simkeep_copies *copies);

/**
 * Frees copies, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_copies_free(struct simkeep_copies *copies);

/**
 * Finds the pages whose current version has exactly the content with this digest of 16 bytes: at
 * most `limit` pages.
 *
 * Content without a fingerprint is found by its digest alone: pass `has_fingerprint` 0. Other
 * content is found through its fingerprint: pass `has_fingerprint` 1, the fingerprint and its
 * epoch. Redirects are not found. Free the result with `simkeep_copies_free`. Any thread. Costs
 * about a microsecond, and less than a microsecond more for each page.
 */
struct simkeep_copies *simkeep_snapshot_by_digest(const struct simkeep_snapshot *snapshot,
                                                  const uint8_t *digest,
                                                  uint32_t has_fingerprint,
                                                  uint64_t fingerprint,
                                                  uint32_t epoch,
                                                  size_t limit,
                                                  struct simkeep_error **error);

/**
 * Searches like `simkeep_snapshot_search`, and reports the plan and the cost. Free the result with
 * `simkeep_explanation_free`. Any thread. Costs a search, in one segment after another.
 */
struct simkeep_explanation *simkeep_snapshot_explain(const struct simkeep_snapshot *snapshot,
                                                     const struct simkeep_query *query,
                                                     struct simkeep_error **error);

/**
 * Returns the number of segments and memtables searched; 0 for NULL. Any thread; costs
 * nothing.
 */
size_t simkeep_explanation_count(const struct simkeep_explanation *explanation);

/**
 * Copies the search in segment or memtable `nth`, from 0, to where `component` points: the oldest
 * first, memtables last. `size` is `sizeof(simkeep_component_search)`. Any thread; costs nothing.
 */
int32_t simkeep_explanation_get(const struct simkeep_explanation *explanation,
                                size_t nth,
                                struct simkeep_component_search *component,
                                size_t size,
                                struct simkeep_error **error);

/**
 * Returns the result of the search. The result belongs to the explanation, and is valid as
 * long as the explanation; NULL for NULL. Any thread; costs nothing.
 */
const struct simkeep_matches *simkeep_explanation_matches(const struct simkeep_explanation *explanation);

/**
 * Returns the nanoseconds of the whole search, including the lookup of pages; 0 for NULL. Any
 * thread; costs nothing.
 */
uint64_t simkeep_explanation_took_ns(const struct simkeep_explanation *explanation);

/**
 * Returns the instruction set of comparisons: `avx512`, `avx2`, `popcnt` or `portable`,
 * NUL-terminated. Valid as long as the explanation; NULL for NULL. Any thread; costs nothing.
 */
const char *simkeep_explanation_instruction_set(const struct simkeep_explanation *explanation);

/**
 * Frees an explanation and its result. Does nothing for NULL. Any thread.
 */
void simkeep_explanation_free(struct simkeep_explanation *explanation);

/**
 * Reads all visits of a page in order, each with its verdict, which takes the earlier visits into
 * account. The result has no entries for an unknown page. Free the result with
 * `simkeep_entries_free`. Any thread. Costs reading the page's record in each segment that has
 * one.
 */
struct simkeep_entries *simkeep_snapshot_history(const struct simkeep_snapshot *snapshot,
                                                 const char *url,
                                                 size_t url_len,
                                                 struct simkeep_error **error);

/**
 * Copies the visit whose content was current at a time, in milliseconds since 1970, to where
 * `entry` points. The visit has no verdict. `SIMKEEP_NONE` if the page was unknown or gone at that
 * time. `size` is `sizeof(simkeep_entry)`. Any thread. Costs reading the page's record in each
 * segment that has one.
 */
int32_t simkeep_snapshot_as_of(const struct simkeep_snapshot *snapshot,
                               const char *url,
                               size_t url_len,
                               int64_t time_ms,
                               struct simkeep_entry *entry,
                               size_t size,
                               struct simkeep_error **error);

/**
 * Returns the number of entries; 0 for NULL, and for an unknown page. Any thread; costs
 * nothing.
 */
size_t simkeep_entries_count(const struct simkeep_entries *entries);

/**
 * Copies entry `nth`, from 0, to where `entry` points. `size` is `sizeof(simkeep_entry)`. Any thread;
 * costs nothing.
 */
int32_t simkeep_entries_get(const struct simkeep_entries *entries,
                            size_t nth,
                            struct simkeep_entry *entry,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Frees a history. Does nothing for NULL. Any thread.
 */
void simkeep_entries_free(struct simkeep_entries *entries);

/**
 * The index of the first page of each search. There is one offset more than searches.
 */
const uint64_t *simkeep_matches_offsets(const struct simkeep_matches *matches);

/**
 * The URL of each page.
 */
const struct simkeep_texts *simkeep_matches_urls(const struct simkeep_matches *matches);

/**
 * The distance of each page in bits.
 */
const uint8_t *simkeep_matches_distances(const struct simkeep_matches *matches);

/**
 * The fingerprint of each page.
 */
const uint64_t *simkeep_matches_fingerprints(const struct simkeep_matches *matches);

/**
 * Whether each search found all pages, 1 or 0. If not, the budget, the limit or a dense
 * region of fingerprints cut the search short.
 */
const uint8_t *simkeep_matches_complete(const struct simkeep_matches *matches);

/**
 * For each search, the distance up to which no page is missing; `SIMKEEP_NO_DISTANCE` if
 * even pages with the same fingerprint may be missing.
 */
const uint8_t *simkeep_matches_within(const struct simkeep_matches *matches);

/**
 * Returns the number of searches; 0 for NULL.
 */
size_t simkeep_matches_count(const struct simkeep_matches *matches);

/**
 * Frees matches, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_matches_free(struct simkeep_matches *matches);

/**
 * Fills in the size, a distance, and defaults for all other fields. `size` is
 * `sizeof(simkeep_page_pair_query)`. Any thread; costs nothing.
 */
int32_t simkeep_page_pair_query_init(struct simkeep_page_pair_query *query,
                                     size_t size,
                                     uint32_t k,
                                     struct simkeep_error **error);

/**
 * Finds all pairs of near pages that match a query, each once, in no particular order. Get the
 * pairs by `simkeep_page_pairs_next`. `progress` may be NULL. Free the result with
 * `simkeep_page_pairs_free`. Any thread.
 *
 * The join begins at once. The join costs as much as the join of `simkeep_snapshot_all_pairs`, and
 * up to a microsecond for each page in the result.
 */
struct simkeep_page_pairs *simkeep_snapshot_page_pairs(const struct simkeep_snapshot *snapshot,
                                                       const struct simkeep_page_pair_query *query,
                                                       const struct simkeep_progress *progress,
                                                       struct simkeep_error **error);

/**
 * Copies the next pairs to where `chunk` points: at least one pair, or `SIMKEEP_NONE` if there are
 * no more pairs. The pairs are valid until the next call on `page_pairs`. Pairs before an error
 * are correct but incomplete. `size` is `sizeof(simkeep_page_pair_chunk)`. One thread at a time.
 * Waits for pairs.
 */
int32_t simkeep_page_pairs_next(struct simkeep_page_pairs *page_pairs,
                                struct simkeep_page_pair_chunk *chunk,
                                size_t size,
                                struct simkeep_error **error);

/**
 * Frees pairs of pages, at any time. Before the end, stops the join like `simkeep_pairs_free`.
 * Does nothing for NULL.
 */
void simkeep_page_pairs_free(struct simkeep_page_pairs *page_pairs);

/**
 * Iterates over the pages of a snapshot under a prefix, for example `example.com`; NULL for all
 * pages. Free the result with `simkeep_pages_free`. Any thread. Costs some microseconds for each
 * page, and memory for one block of each segment.
 */
struct simkeep_pages *simkeep_snapshot_scan(const struct simkeep_snapshot *snapshot,
                                            const char *under,
                                            size_t under_len,
                                            struct simkeep_error **error);

/**
 * Copies the next page to where `page` points; `SIMKEEP_NONE` after the last page. The URL of the
 * page is valid until the next call on `pages`. After an error there are no more pages. `size` is
 * `sizeof(simkeep_page)`. One thread at a time. Costs some microseconds.
 */
int32_t simkeep_pages_next(struct simkeep_pages *pages,
                           struct simkeep_page *page,
                           size_t size,
                           struct simkeep_error **error);

/**
 * Frees an iterator, at any time. Does nothing for NULL.
 */
void simkeep_pages_free(struct simkeep_pages *pages);

/**
 * Copies the current state of a page to where `page` points. The pointer to the URL is the
 * argument. The page is without `SIMKEEP_HAS_TARGET`, since nothing would own the text of a
 * target: `simkeep_snapshot_history` and `simkeep_snapshot_scan` return targets. `SIMKEEP_NONE` for
 * an unknown page. `size` is `sizeof(simkeep_page)`. Any thread. Costs reading one record in the
 * newest segment that has the page.
 */
int32_t simkeep_snapshot_latest(const struct simkeep_snapshot *snapshot,
                                const char *url,
                                size_t url_len,
                                struct simkeep_page *page,
                                size_t size,
                                struct simkeep_error **error);

/**
 * Finds all pairs of different fingerprints within a distance, each once, in no particular order.
 * The distance, the epoch, the versions, the prefix and the classes come from `like`. Get the
 * pairs by `simkeep_pairs_next`. `progress` may be NULL. Free the result with
 * `simkeep_pairs_free`. Any thread.
 *
 * The join begins at once, in its own threads on all cores, and pauses while its caller requests
 * no pairs. Costs some 0.1 microseconds for each fingerprint, and 256 MiB of memory.
 */
struct simkeep_pairs *simkeep_snapshot_all_pairs(const struct simkeep_snapshot *snapshot,
                                                 const struct simkeep_query *like,
                                                 const struct simkeep_progress *progress,
                                                 struct simkeep_error **error);

/**
 * Copies the next pairs to where `chunk` points: at least one pair, or `SIMKEEP_NONE` if there are
 * no more pairs. The pairs are valid until the next call on `pairs`. Pairs before an error are
 * correct but incomplete. `size` is `sizeof(simkeep_pair_chunk)`. One thread at a time. Waits for
 * pairs.
 */
int32_t simkeep_pairs_next(struct simkeep_pairs *pairs,
                           struct simkeep_pair_chunk *chunk,
                           size_t size,
                           struct simkeep_error **error);

/**
 * Frees pairs, at any time. Before the end, the call stops the join, cancels its progress, and
 * waits until the threads of the join have ended, usually some milliseconds. Does nothing for
 * NULL.
 */
void simkeep_pairs_free(struct simkeep_pairs *pairs);

/**
 * Fills in the size, a fingerprint, a distance, and defaults for all other fields. `size` is
 * `sizeof(simkeep_query)`. A query with distance 64 and a limit finds the nearest pages at any
 * distance. Any thread; costs nothing.
 */
int32_t simkeep_query_init(struct simkeep_query *query,
                           size_t size,
                           uint64_t fingerprint,
                           uint32_t k,
                           struct simkeep_error **error);

/**
 * Finds at most 16 pages whose current version is within distance `k`, from 0 to 64. Free the
 * result with `simkeep_matches_free`. Any thread. Usually costs some microseconds.
 */
struct simkeep_matches *simkeep_snapshot_near(const struct simkeep_snapshot *snapshot,
                                              uint64_t fingerprint,
                                              uint32_t k,
                                              struct simkeep_error **error);

/**
 * Finds the `count` nearest pages at any distance. Free the result with `simkeep_matches_free`.
 * Any thread. Costs up to three times a search within the distance of the farthest page, and
 * memory for a few times `count` pages.
 */
struct simkeep_matches *simkeep_snapshot_nearest(const struct simkeep_snapshot *snapshot,
                                                 uint64_t fingerprint,
                                                 size_t count,
                                                 struct simkeep_error **error);

/**
 * Runs a query. Free the result with `simkeep_matches_free`. Any thread. Usually costs some
 * microseconds.
 */
struct simkeep_matches *simkeep_snapshot_search(const struct simkeep_snapshot *snapshot,
                                                const struct simkeep_query *query,
                                                struct simkeep_error **error);

/**
 * Searches for each of many fingerprints, with the options of `like`. The fingerprint of `like` is
 * ignored. Results are in the order of the fingerprints, which are copied first. Free the result
 * with `simkeep_matches_free`. Any thread; the call uses all cores. Each search costs a half to a
 * quarter of a single search.
 */
struct simkeep_matches *simkeep_snapshot_search_batch(const struct simkeep_snapshot *snapshot,
                                                      const uint64_t *fingerprints,
                                                      size_t count,
                                                      const struct simkeep_query *like,
                                                      struct simkeep_error **error);

/* ================================================================================================
 * 9. Clusters, and pages to drop
 * ================================================================================================ */

/**
 * Copies the next pages, up to 1,024, to where `chunk` points; `SIMKEEP_NONE` if there are no more
 * pages. The pages are valid until the next call on `clustered_pages`. After an error there are no
 * more pages. `size` is `sizeof(simkeep_clustered_chunk)`. One thread at a time. Costs reading the
 * URL of each page.
 */
int32_t simkeep_clustered_pages_next(struct simkeep_clustered_pages *clustered_pages,
                                     struct simkeep_clustered_chunk *chunk,
                                     size_t size,
                                     struct simkeep_error **error);

/**
 * Frees pages in their clusters, at any time. Does nothing for NULL.
 */
void simkeep_clustered_pages_free(struct simkeep_clustered_pages *clustered_pages);

/**
 * Fills in the size, a distance (-1 for the near distance of the epoch), and defaults for all
 * other fields. `size` is `sizeof(simkeep_clustering)`. Any thread; costs nothing.
 */
int32_t simkeep_clustering_init(struct simkeep_clustering *clustering,
                                size_t size,
                                int32_t distance,
                                struct simkeep_error **error);

/**
 * Divides all pages into clusters, each with a leader within a distance of all other pages in the
 * cluster. Content without a fingerprint is in a cluster with the pages of the same digest. The same
 * pages make the same clusters, regardless of the order of their visits.
 * `progress` may be NULL. Free the result with `simkeep_clusters_free`. Any thread. Costs reading
 * all pages once, and some joins; takes the memory of `clustering`, and scratch files of some 150
 * bytes a page.
 */
struct simkeep_clusters *simkeep_snapshot_clusters(const struct simkeep_snapshot *snapshot,
                                                   const struct simkeep_clustering *clustering,
                                                   const struct simkeep_progress *progress,
                                                   struct simkeep_error **error);

/**
 * Copies the summary figures to where `numbers` points. `size` is
 * `sizeof(simkeep_clusters_numbers)`. Any thread; costs nothing.
 */
int32_t simkeep_clusters_get(const struct simkeep_clusters *clusters,
                             struct simkeep_clusters_numbers *numbers,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Returns the numbers of clusters with 1 page, 2 or 3, 4 to 7, and so on: `bins` numbers, from
 * `simkeep_clusters_get`. Valid as long as `clusters`; NULL for NULL. Any thread; costs nothing.
 */
const uint64_t *simkeep_clusters_sizes(const struct simkeep_clusters *clusters);

/**
 * Frees clusters. Does nothing for NULL. Any thread.
 */
void simkeep_clusters_free(struct simkeep_clusters *clusters);

/**
 * Lists the pages of clusters with at least this many pages, in SURT order. Free the result with
 * `simkeep_clustered_pages_free`. Any thread. Costs a sort of some 100 bytes for each page.
 */
struct simkeep_clustered_pages *simkeep_clusters_by_page(const struct simkeep_clusters *clusters,
                                                         uint64_t pages_min,
                                                         struct simkeep_error **error);

/**
 * Lists the pages of clusters with at least this many pages, the largest cluster first. In each
 * cluster the leader comes first, then the other pages by their distance from it. See also
 * `simkeep_clusters_by_page`.
 */
struct simkeep_clustered_pages *simkeep_clusters_by_cluster(const struct simkeep_clusters *clusters,
                                                            uint64_t pages_min,
                                                            struct simkeep_error **error);

/**
 * Finds the cluster of a page by searches around the page. The result equals the cluster of the
 * page in `simkeep_snapshot_clusters`. The result has the pages of the cluster, the leader first,
 * or no pages if the options exclude the page. `complete` becomes 1, or 0 if the searches were cut
 * short, so that the leader may be wrong, or pages may be missing. `complete` may be NULL. Free
 * the result with `simkeep_clustered_pages_free`. Any thread. Usually costs a few searches, in
 * dense regions thousands.
 */
struct simkeep_clustered_pages *simkeep_snapshot_cluster_of(const struct simkeep_snapshot *snapshot,
                                                            const char *url,
                                                            size_t url_len,
                                                            const struct simkeep_clustering *clustering,
                                                            uint32_t *complete,
                                                            struct simkeep_error **error);

/**
 * Lists clusters with at least this many pages, the largest first. Free the result with
 * `simkeep_cluster_list_free`. Any thread. Costs a sort of some 100 bytes for each cluster.
 */
struct simkeep_cluster_list *simkeep_clusters_by_size(const struct simkeep_clusters *clusters,
                                                      uint64_t pages_min,
                                                      struct simkeep_error **error);

/**
 * Copies the next clusters, up to 1,024, to where `chunk` points; `SIMKEEP_NONE` if there are no
 * more clusters. The clusters are valid until the next call on `cluster_list`. After an error
 * there are no more clusters. `size` is `sizeof(simkeep_cluster_chunk)`. One thread at a time.
 * Costs reading the leader of each cluster.
 */
int32_t simkeep_cluster_list_next(struct simkeep_cluster_list *cluster_list,
                                  struct simkeep_cluster_chunk *chunk,
                                  size_t size,
                                  struct simkeep_error **error);

/**
 * Frees a list of clusters, at any time. Does nothing for NULL.
 */
void simkeep_cluster_list_free(struct simkeep_cluster_list *cluster_list);

/**
 * The fate of each page.
 */
const simkeep_fate *simkeep_fates_kinds(const struct simkeep_fates *fates);

/**
 * For each dropped page, the digest of the content that was compared, 16 bytes each. Other
 * content of a dropped page may have no kept near-duplicate.
 */
const uint8_t *simkeep_fates_digests(const struct simkeep_fates *fates);

/**
 * Whether each page is dropped and its digest is known, 1 or 0.
 */
const uint8_t *simkeep_fates_has_digest(const struct simkeep_fates *fates);

/**
 * For each dropped page, the URL of the page that is kept instead; empty for other pages.
 */
const struct simkeep_texts *simkeep_fates_kept(const struct simkeep_fates *fates);

/**
 * The distance of each dropped page from the kept page in bits; `SIMKEEP_NO_DISTANCE` for
 * other pages.
 */
const uint8_t *simkeep_fates_distances(const struct simkeep_fates *fates);

/**
 * Finds the pages that are dropped in favour of their leaders: each page that is not a leader, and
 * whose leader has the same class, or one of the classes in `open`, which everybody may see. With
 * `open_unclassed` 1, pages without a class are open, too. `open` may be NULL. Free the result
 * with `simkeep_dropped_pages_free`. Any thread. Costs a sort of 16 bytes for each dropped page,
 * and one bit of memory for each page of the store.
 */
struct simkeep_dropped_pages *simkeep_clusters_dropped(const struct simkeep_clusters *clusters,
                                                       const uint32_t *open,
                                                       size_t open_len,
                                                       uint32_t open_unclassed,
                                                       struct simkeep_error **error);

/**
 * Returns the number of dropped pages; 0 for NULL. Any thread; costs nothing.
 */
uint64_t simkeep_dropped_pages_count(const struct simkeep_dropped_pages *dropped);

/**
 * Returns the fates of many pages, and for each dropped page the page that is kept instead. `size`
 * is `sizeof *urls`. For an invalid URL, `simkeep_error_row` is its index. Free the result with
 * `simkeep_fates_free`. Any thread. Costs a lookup for each page, and for a dropped page a read of
 * this page and of the kept page.
 */
struct simkeep_fates *simkeep_dropped_pages_fates(const struct simkeep_dropped_pages *dropped,
                                                  const struct simkeep_text *urls,
                                                  size_t count,
                                                  size_t size,
                                                  struct simkeep_error **error);

/**
 * Frees dropped pages. Does nothing for NULL. Any thread.
 */
void simkeep_dropped_pages_free(struct simkeep_dropped_pages *dropped);

/**
 * Returns the number of pages requested; 0 for NULL.
 */
size_t simkeep_fates_count(const struct simkeep_fates *fates);

/**
 * Frees fates, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_fates_free(struct simkeep_fates *fates);

/* ================================================================================================
 * 10. Pages to visit next
 * ================================================================================================ */

/**
 * Copies the next decision to where `decision` points, and its page to where `page` points; `page`
 * may be NULL. `SIMKEEP_NONE` after the last decision. Texts are valid until the next call on
 * `decisions`. After an error there are no more decisions. `size` is `sizeof(simkeep_decision)`,
 * and `page_size` `sizeof(simkeep_page)`. One thread at a time. Costs some microseconds; the first
 * call after `simkeep_snapshot_due` costs the whole query.
 */
int32_t simkeep_decisions_next(struct simkeep_decisions *decisions,
                               struct simkeep_decision *decision,
                               size_t size,
                               struct simkeep_page *page,
                               size_t page_size,
                               struct simkeep_error **error);

/**
 * Frees decisions, at any time. Does nothing for NULL.
 */
void simkeep_decisions_free(struct simkeep_decisions *decisions);

/**
 * Finds the most valuable pages to visit, the best first. Get the pages by
 * `simkeep_decisions_next`. Free the result with `simkeep_decisions_free`. Any thread. The first
 * page costs reading 28 bytes for each page of the store; each further page costs some
 * microseconds.
 */
struct simkeep_decisions *simkeep_snapshot_due(const struct simkeep_snapshot *snapshot,
                                               const struct simkeep_due_query *due_query,
                                               struct simkeep_error **error);

/**
 * Leases the pages that `simkeep_snapshot_due` finds, except pages already leased and pages with
 * no value. A lease ends when the page is observed or released, or when the `now_ms` of a later
 * call is more than `lease_s` seconds after the `now_ms` of this call. Leases are in memory only:
 * after a reopen no page is leased. Free the result with `simkeep_decisions_free`. Any thread;
 * concurrent calls get different pages. Costs as much as `simkeep_snapshot_due`.
 */
struct simkeep_decisions *simkeep_lease_due(struct simkeep_store *store,
                                            const struct simkeep_due_query *due_query,
                                            uint64_t lease_s,
                                            struct simkeep_error **error);

/**
 * Ends the lease of a page that was not visited, so that it can be leased again. `SIMKEEP_NONE` if
 * it was not leased. Any thread; costs nothing.
 */
int32_t simkeep_release(struct simkeep_store *store,
                        const char *url,
                        size_t url_len,
                        struct simkeep_error **error);

/**
 * Returns the recent number of visits a day, as input for a plan. Counts visits to pages under the
 * prefix of `due_query`, in the 28 days up to the latest visit, or since the first visit in the
 * store. Any thread. Costs reading 28 bytes for each page, twice, and the histories of up to
 * 131,072 pages.
 */
int32_t simkeep_snapshot_pace(const struct simkeep_snapshot *snapshot,
                              const struct simkeep_due_query *due_query,
                              double *per_day,
                              struct simkeep_error **error);

/**
 * Plans the use of a number of visits a day in the long run, with the policy, prefix and rules of
 * `due_query`; the budget and the hints are ignored. The plan uses the visits known now, so make a
 * new plan regularly, for example once a day. Free the result with `simkeep_plan_free`. Any
 * thread. Costs reading 28 bytes for each page, up to a second for a million pages.
 */
struct simkeep_plan *simkeep_snapshot_plan(const struct simkeep_snapshot *snapshot,
                                           const struct simkeep_due_query *due_query,
                                           double per_day,
                                           struct simkeep_error **error);

/**
 * Fills in the size, a time in milliseconds since 1970, the maximum number of pages, and defaults
 * for all other fields. `size` is `sizeof(simkeep_due_query)`. Any thread; costs nothing.
 */
int32_t simkeep_due_query_init(struct simkeep_due_query *due_query,
                               size_t size,
                               int64_t now_ms,
                               uint64_t budget,
                               struct simkeep_error **error);

/**
 * Collects changes from sitemaps or feeds, for queries on this store. `trust` is the probability
 * that a hint is true, from 0 to 1; -1 for 0.8. `size` is `sizeof *changes`. Free the result with
 * `simkeep_hints_free`. Any thread. Costs 16 bytes for each change, and 48 bytes for each change
 * while the hints are built.
 */
struct simkeep_hints *simkeep_snapshot_hints(const struct simkeep_snapshot *snapshot,
                                             const struct simkeep_change *changes,
                                             size_t count,
                                             size_t size,
                                             double trust,
                                             struct simkeep_error **error);

/**
 * Frees hints. Does nothing for NULL. Any thread.
 */
void simkeep_hints_free(struct simkeep_hints *hints);

/**
 * Copies the summary figures of a plan to where `numbers` points. `size` is
 * `sizeof(simkeep_plan_numbers)`. Any thread; costs nothing.
 */
int32_t simkeep_plan_get(const struct simkeep_plan *plan,
                         struct simkeep_plan_numbers *numbers,
                         size_t size,
                         struct simkeep_error **error);

/**
 * Copies the values of a page without visits to where `new_page` points. `size` is
 * `sizeof(simkeep_new_page)`. Any thread. Reads no data of the store.
 */
int32_t simkeep_plan_of_new(const struct simkeep_plan *plan,
                            const char *url,
                            size_t url_len,
                            struct simkeep_new_page *new_page,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Decides about a single page by a plan. The decision equals the decision of
 * `simkeep_snapshot_due` with this plan. The result has one decision, or no decision for an
 * unknown page. Free the result with `simkeep_decisions_free`. Any thread. Costs reading one
 * record, and a search.
 */
struct simkeep_decisions *simkeep_snapshot_decide(const struct simkeep_snapshot *snapshot,
                                                  const char *url,
                                                  size_t url_len,
                                                  const struct simkeep_plan *plan,
                                                  struct simkeep_error **error);

/**
 * Frees a plan. Does nothing for NULL. Any thread.
 */
void simkeep_plan_free(struct simkeep_plan *plan);

/* ================================================================================================
 * 11. Epochs, deletion, checks, backups and repairs
 * ================================================================================================ */

/**
 * Makes or updates a backup: a second directory with the same store. The store may be in use.
 * `copy` is 0 to hard-link files, which takes no space, or 1 to copy files, so that disk damage to
 * a file does not affect its copy. `progress` may be NULL. `backed_up` receives the result, and
 * may be NULL; `size` is `sizeof(simkeep_backed_up)`. After an error an earlier backup is
 * unchanged. Any thread. Costs reading and checking the whole backup, and writing the copies.
 */
int32_t simkeep_backup(const struct simkeep_store *store,
                       const char *to_path,
                       uint32_t copy,
                       const struct simkeep_progress *progress,
                       struct simkeep_backed_up *backed_up,
                       size_t size,
                       struct simkeep_error **error);

/**
 * Backs up the store in a directory, like `simkeep_backup` for an open store. Another process may
 * have the store open for writing.
 */
int32_t simkeep_backup_path(const char *path,
                            const char *to_path,
                            uint32_t copy,
                            const struct simkeep_progress *progress,
                            struct simkeep_backed_up *backed_up,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Lists the epochs in a snapshot, by number. Verdicts use the last epoch that has not ended and
 * whose role is not `SIMKEEP_ROLE_NEAR`. Free the result with `simkeep_epochs_free`. Any thread;
 * costs a copy of the list.
 */
struct simkeep_epochs *simkeep_snapshot_epochs(const struct simkeep_snapshot *snapshot,
                                               struct simkeep_error **error);

/**
 * Returns the number of epochs; 0 for NULL. Any thread; costs nothing.
 */
size_t simkeep_epochs_count(const struct simkeep_epochs *epochs);

/**
 * Copies the information about epoch `nth`, from 0, to where `epoch` points. `size` is
 * `sizeof(simkeep_epoch_info)`. Any thread; costs nothing.
 */
int32_t simkeep_epochs_get(const struct simkeep_epochs *epochs,
                           size_t nth,
                           struct simkeep_epoch_info *epoch,
                           size_t size,
                           struct simkeep_error **error);

/**
 * Frees a list of epochs, and the names in the list. Does nothing for NULL. Any thread.
 */
void simkeep_epochs_free(struct simkeep_epochs *epochs);

/**
 * Returns the epoch of verdicts. Observed fingerprints belong to this epoch by default. Any
 * thread; costs nothing.
 */
int32_t simkeep_change_epoch(const struct simkeep_store *store,
                             uint32_t *epoch,
                             struct simkeep_error **error);

/**
 * Returns the epoch of near-duplicates in a snapshot. Any thread; costs nothing.
 */
int32_t simkeep_snapshot_near_epoch(const struct simkeep_snapshot *snapshot,
                                    uint32_t *epoch,
                                    struct simkeep_error **error);

/**
 * Registers an epoch of external fingerprints by its name, or finds the epoch with this name, and
 * writes its number to where `epoch` points. `role` is a `simkeep_role`; `minor` and `moderate`
 * are the largest distances of minor and moderate changes, or both are -1. A new name becomes the
 * newest epoch of its role. Any thread. Costs one commit, and nothing for a known name.
 */
int32_t simkeep_register_epoch(struct simkeep_store *store,
                               const char *name,
                               size_t name_len,
                               int32_t role,
                               int32_t minor,
                               int32_t moderate,
                               uint32_t *epoch,
                               struct simkeep_error **error);

/**
 * Begins an epoch of one of simkeep's own recipes, for example `default` or `near`, and writes the
 * number of the epoch to where `epoch` points. `extractor` names the software that extracts the
 * texts; NULL means simkeep's own extractor, which new stores, the tool and the Python package
 * use. `table` is NULL, or the path of a table of document frequencies, which is copied into the
 * store. `simkeep_register_epoch` explains the other arguments. Any thread. Costs one commit, and
 * two more syncs for a table.
 */
int32_t simkeep_begin_epoch(struct simkeep_store *store,
                            const char *recipe,
                            size_t recipe_len,
                            const char *extractor,
                            size_t extractor_len,
                            const char *table,
                            int32_t role,
                            int32_t minor,
                            int32_t moderate,
                            uint32_t *epoch,
                            struct simkeep_error **error);

/**
 * Ends an epoch permanently. `SIMKEEP_EPOCH_IN_USE` if more than `left` pages have a fingerprint
 * of their current content only in this epoch. Any thread. Costs a commit, and a scan unless
 * `left` is `UINT64_MAX`.
 */
int32_t simkeep_end_epoch(struct simkeep_store *store,
                          uint32_t epoch,
                          uint64_t left,
                          struct simkeep_error **error);

/**
 * Restates the content that a page had at a time by storing a fingerprint in another epoch. A
 * restatement is neither a visit nor a change. `has_fingerprint` is 1, or 0 if the content has no
 * fingerprint in that epoch; `digest` points to the 16 bytes of the content's digest, or is NULL.
 * `SIMKEEP_NONE` if the page had no content at that time; then nothing was stored. Any thread.
 * Costs as much as `simkeep_observe`.
 */
int32_t simkeep_restate(struct simkeep_store *store,
                        const char *url,
                        size_t url_len,
                        int64_t time_ms,
                        uint64_t fingerprint,
                        uint32_t has_fingerprint,
                        uint32_t epoch,
                        const uint8_t *digest,
                        struct simkeep_error **error);

/**
 * Forgets all observations of a page so far. The page is hidden from every result at once, and its
 * bytes leave the files when the files are merged. Later observations start a new history. `pages`
 * receives the number of forgotten pages, 0 or 1, and may be NULL. Any thread. Costs a commit.
 */
int32_t simkeep_forget(struct simkeep_store *store,
                       const char *url,
                       size_t url_len,
                       uint64_t *pages,
                       struct simkeep_error **error);

/**
 * Forgets all pages under a prefix, for example `example.org/private/`, like `simkeep_forget` for
 * each page. A prefix with a host or a path also covers pages that match it except for the user in
 * their URL. `pages` receives the number of forgotten pages, and may be NULL. Any thread. Costs a
 * commit, and a scan of these pages, during which writers wait.
 */
int32_t simkeep_forget_under(struct simkeep_store *store,
                             const char *under,
                             size_t under_len,
                             uint64_t *pages,
                             struct simkeep_error **error);

/**
 * Forgets a page like `simkeep_forget`, and rewrites every file with bytes of the page. Afterwards
 * no file of the store contains the URL, except files that a snapshot keeps open, which are
 * removed with the snapshot. `progress` may be NULL. After an error the page may be forgotten
 * while files still contain its bytes; purge it again. Any thread. Costs a rewrite of each segment
 * with bytes of the page.
 */
int32_t simkeep_purge(struct simkeep_store *store,
                      const char *url,
                      size_t url_len,
                      const struct simkeep_progress *progress,
                      uint64_t *pages,
                      struct simkeep_error **error);

/**
 * Forgets all pages under a prefix like `simkeep_forget_under`, and rewrites files like
 * `simkeep_purge`.
 */
int32_t simkeep_purge_under(struct simkeep_store *store,
                            const char *under,
                            size_t under_len,
                            const struct simkeep_progress *progress,
                            uint64_t *pages,
                            struct simkeep_error **error);

/**
 * Makes a new store, in a new or empty directory, from the sound parts of the store at `path`, and
 * reports losses. `keep_forgotten` is 1 to keep pages that a lost operation may have forgotten.
 * With 0, the result is `SIMKEEP_AMBIGUOUS_REPAIR` if a lost operation may have forgotten pages.
 * `memory_bytes` limits the memory, 0 for 512 MiB. `progress` may be NULL. After an error there is
 * no new store. Free the result with `simkeep_repaired_free`. Any thread. Costs reading all files
 * twice, and writing a store.
 */
struct simkeep_repaired *simkeep_repair(const char *path,
                                        const char *to_path,
                                        uint32_t keep_forgotten,
                                        uint64_t memory_bytes,
                                        const struct simkeep_progress *progress,
                                        struct simkeep_error **error);

/**
 * Copies the summary figures of a repair to where `numbers` points. `size` is
 * `sizeof(simkeep_repaired_numbers)`. Any thread; costs nothing.
 */
int32_t simkeep_repaired_get(const struct simkeep_repaired *repaired,
                             struct simkeep_repaired_numbers *numbers,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Copies loss `nth`, from 0, to where `loss` points. `size` is `sizeof(simkeep_loss)`. Any thread;
 * costs nothing.
 */
int32_t simkeep_repaired_loss(const struct simkeep_repaired *repaired,
                              size_t nth,
                              struct simkeep_loss *loss,
                              size_t size,
                              struct simkeep_error **error);

/**
 * Returns the reasons why forgotten pages may have been restored: the lost operations that may
 * have forgotten pages. Only repairs with `keep_forgotten` have reasons. Valid as long as
 * `repaired`; NULL for NULL. Any thread; costs nothing.
 */
const struct simkeep_texts *simkeep_repaired_ambiguities(const struct simkeep_repaired *repaired);

/**
 * Returns the new names of epochs whose names are unreadable. Valid as long as `repaired`;
 * NULL for NULL. Any thread; costs nothing.
 */
const struct simkeep_texts *simkeep_repaired_unnamed_epochs(const struct simkeep_repaired *repaired);

/**
 * Frees the result of a repair. Does nothing for NULL. Any thread.
 */
void simkeep_repaired_free(struct simkeep_repaired *repaired);

/**
 * Copies the sizes of a store to where `stats` points. `size` is `sizeof(simkeep_stats)`. Any
 * thread. Reads only memory, and no fingerprint tables.
 */
int32_t simkeep_store_stats(const struct simkeep_store *store,
                            struct simkeep_stats *stats,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Copies the sizes of a reader's view to where `stats` points. `size` is `sizeof(simkeep_stats)`.
 * Any thread. Costs as much as `simkeep_store_stats`.
 */
int32_t simkeep_reader_stats(const struct simkeep_reader *reader,
                             struct simkeep_stats *stats,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Checks that the last background merge succeeded. `SIMKEEP_NONE` if the merge succeeded;
 * otherwise `SIMKEEP_OTHER` and an error with the reason, for example a full disk. The store
 * retries the merge by itself. Any thread. Costs as much as `simkeep_store_stats`.
 */
int32_t simkeep_store_merge_error(const struct simkeep_store *store, struct simkeep_error **error);

/**
 * Checks a store, which may be in use: reads the whole store, and reports every flaw. `rate` is
 * the maximum number of bytes to read per second, 0 for no limit. `progress` may be NULL. Damage
 * is not an error: `simkeep_verified_get` returns the number of flaws. Free the result with
 * `simkeep_verified_free`. Any thread. Costs reading all files.
 */
struct simkeep_verified *simkeep_verify(const struct simkeep_store *store,
                                        uint64_t rate,
                                        const struct simkeep_progress *progress,
                                        struct simkeep_error **error);

/**
 * Checks the store in a directory, like `simkeep_verify` for an open store. The check also works
 * if the store cannot be opened, or if another process has it open for writing.
 */
struct simkeep_verified *simkeep_verify_path(const char *path,
                                             uint64_t rate,
                                             const struct simkeep_progress *progress,
                                             struct simkeep_error **error);

/**
 * Copies the summary figures of a check to where `numbers` points. `size` is
 * `sizeof(simkeep_verified_numbers)`. Any thread; costs nothing.
 */
int32_t simkeep_verified_get(const struct simkeep_verified *verified,
                             struct simkeep_verified_numbers *numbers,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Copies flaw `nth`, from 0, to where `flaw` points. At most 1000 flaws are listed. `size` is
 * `sizeof(simkeep_corruption)`. Any thread; costs nothing.
 */
int32_t simkeep_verified_flaw(const struct simkeep_verified *verified,
                              size_t nth,
                              struct simkeep_corruption *flaw,
                              size_t size,
                              struct simkeep_error **error);

/**
 * Frees the result of a check. Does nothing for NULL. Any thread.
 */
void simkeep_verified_free(struct simkeep_verified *verified);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SIMKEEP_H */
