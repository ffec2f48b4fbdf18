/*
 * simkeep: the memory of a crawler.
 *
 * An embedded, crash-safe database of 64-bit simhash fingerprints, keyed by URL. This header is made of
 * the library's source, and is C99 and C++.
 *
 * WHO FREES WHAT. Each function that gives a pointer to a structure of its own, such as
 * simkeep_store_open or simkeep_snapshot_near, gives it to the caller, who frees it once with the
 * function that ends in _free and is named in its description. All of these take NULL and do nothing.
 * Everything else, such as the columns of outcomes, belongs to what it was got from, and is freed with
 * that. What a caller passes in stays the caller's, and is read or written only until the call returns.
 * Things may be freed in any order: a snapshot outlives its store.
 *
 * STRINGS are a pointer and a length in bytes, in UTF-8. Two kinds are not: paths, which end with a NUL
 * and may have any other bytes, and what simkeep_error_message, simkeep_error_file and simkeep_version
 * return.
 *
 * ERRORS. A function that makes something returns NULL when it fails; others return a code, SIMKEEP_OK or
 * one of those below. The last argument gets the error: give NULL, if you do not want it, or the address
 * of a simkeep_error * that is NULL. One that holds an error already keeps it, so that several calls may
 * be made before looking, and the first error stands. The caller frees it with simkeep_error_free.
 *
 * NULL is an error where nothing is said of it, never a crash. An array of no things may be NULL.
 *
 * STRUCTURES grow at their end with later versions, so they come with their size. Those that begin with
 * it are filled in by a function that ends in _init; with others sizeof is an argument.
 *
 * THREADS. What may be used by any thread at any time is said to be so. No thread has anything of its
 * own here, so an error may be handed to another thread.
 *
 * FORKS. A store belongs to the process that opened it. In a forked child all calls on it, and on what
 * reads it, return SIMKEEP_FORKED at once; freeing works. A simkeep_reader works in a child.
 *
 * NUMBERS that stand for something, such as a simkeep_verdict, may become more with later versions.
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


/**
 * All went well.
 */
#define SIMKEEP_OK 0

/**
 * No error: there is no more, or there is none. What was to be filled in is as it was.
 */
#define SIMKEEP_NONE 1

/**
 * A bug of simkeep: a panic was caught, or an invariant does not hold. Nothing is wrong with the call.
 * If a store met it, it accepts and reads nothing more until it is opened again. Please report it.
 */
#define SIMKEEP_INTERNAL 2

/**
 * An argument is not what it must be: NULL, of an impossible length, not UTF-8, a structure of another
 * size, a number that stands for nothing. The message names it. Nothing was done.
 */
#define SIMKEEP_MALFORMED_ARGUMENT 3

/**
 * A call to the operating system failed; `simkeep_error_errno` says how. If it was a write, the store
 * is poisoned from then on.
 */
#define SIMKEEP_IO 4

/**
 * A file is damaged: `simkeep_error_file` and `simkeep_error_offset` say where.
 */
#define SIMKEEP_CORRUPT 5

/**
 * There is no store at this place.
 */
#define SIMKEEP_NOT_A_STORE 6

/**
 * A file is not a table of document frequencies.
 */
#define SIMKEEP_NOT_A_TABLE 7

/**
 * The repair or load that makes this store was interrupted, or is running still.
 */
#define SIMKEEP_UNFINISHED 8

/**
 * Something that must not be replaced has the name of a file to be written.
 */
#define SIMKEEP_ALREADY_EXISTS 9

/**
 * There is a store already where one was to be created.
 */
#define SIMKEEP_STORE_EXISTS 10

/**
 * A backup was to go to a directory that holds no earlier state of the store.
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
 * The store is open for writing elsewhere; `simkeep_error_pid` says by which process, if that is known.
 */
#define SIMKEEP_LOCKED 14

/**
 * A file that keeps other writers out was removed or replaced while the store was open.
 */
#define SIMKEEP_REPLACED 15

/**
 * The store was opened by the process that this one was forked from.
 */
#define SIMKEEP_FORKED 16

/**
 * An earlier write failed, or simkeep met a bug: the store must be opened again.
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
 * An epoch cannot end yet: pages have their content in force in it alone.
 */
#define SIMKEEP_EPOCH_IN_USE 25

/**
 * An observation of a load cannot be stored; `simkeep_error_row` says which, from 0. Nothing was.
 */
#define SIMKEEP_LOAD_REJECTED 26

/**
 * The source of the observations of a load failed.
 */
#define SIMKEEP_INPUT 27

/**
 * A long call was stopped by its progress.
 */
#define SIMKEEP_CANCELLED 28

/**
 * A repair cannot tell what was forgotten.
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
 * The arguments do not go together, or the call makes no sense now.
 */
#define SIMKEEP_INVALID_ARGUMENT 32

/**
 * The database behind `catalog.redb` refused.
 */
#define SIMKEEP_CATALOG 33

/**
 * An error of a kind that this version of the header does not name.
 */
#define SIMKEEP_OTHER 34

/**
 * No distance, in a column of distances.
 */
#define SIMKEEP_NO_DISTANCE 255

/**
 * The version of this header. A program may compare it with that of the library that it runs with.
 */
#define SIMKEEP_ABI_VERSION 1

/**
 * `has`: there is a fingerprint. Content without one is of a text too short to tell from others.
 */
#define SIMKEEP_HAS_FINGERPRINT 1

/**
 * `has`: there is a digest.
 */
#define SIMKEEP_HAS_DIGEST 2

/**
 * `has`: there is an HTTP status.
 */
#define SIMKEEP_HAS_STATUS 4

/**
 * `has`: there is a time when the page was last modified, as the server said.
 */
#define SIMKEEP_HAS_MODIFIED 8

/**
 * `has`: there is a weight.
 */
#define SIMKEEP_HAS_WEIGHT 16

/**
 * `has`: there is a class.
 */
#define SIMKEEP_HAS_CLASS 32

/**
 * `has`: the content was looked at in another epoch, too.
 */
#define SIMKEEP_HAS_ALSO 64

/**
 * `has`: there is a fingerprint in that other epoch.
 */
#define SIMKEEP_HAS_ALSO_FINGERPRINT 128

/**
 * `has`: there is content, and the epoch that it was looked at in.
 */
#define SIMKEEP_HAS_CONTENT 256

/**
 * `has`: there is a distance, the epoch of it, and what it means.
 */
#define SIMKEEP_HAS_DISTANCE 512

/**
 * `has`: the time is taken as it is, even if it looks like seconds since 1970.
 */
#define SIMKEEP_HAS_EARLY_TIME 1024

/**
 * `has`: it is a segment, and has a number.
 */
#define SIMKEEP_COMPONENT_HAS_SEGMENT 1

/**
 * `has`: there was a crowd, of which not all fingerprints were compared.
 */
#define SIMKEEP_COMPONENT_HAS_CROWDED 2

/**
 * `has`: the system tells of page faults.
 */
#define SIMKEEP_COMPONENT_HAS_FAULTS 4

/**
 * `has`: there is a date when the page is due.
 */
#define SIMKEEP_DECISION_HAS_DUE 1

/**
 * `has`: there is an interval between visits.
 */
#define SIMKEEP_DECISION_HAS_EVERY 2

/**
 * `has`: where in the file a loss is.
 */
#define SIMKEEP_LOSS_HAS_BYTES 1

/**
 * `has`: the first operation that a loss was among.
 */
#define SIMKEEP_LOSS_HAS_FIRST 2

/**
 * `has`: the last operation that a loss was among.
 */
#define SIMKEEP_LOSS_HAS_LAST 4

/**
 * `has`: how many records of pages are lost; without it, a whole file or operations are.
 */
#define SIMKEEP_LOSS_HAS_PAGES 8

/**
 * What a call that takes long is doing.
 */
enum simkeep_stage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Nothing yet.
     */
    SIMKEEP_STAGE_WAITING = 0,
    /**
     * A load takes observations, sorts them and writes them to a scratch file. The store goes on.
     */
    SIMKEEP_STAGE_GATHERING = 1,
    /**
     * A load merges very many sorted runs into fewer; or segments are merged. The store goes on.
     */
    SIMKEEP_STAGE_MERGING = 2,
    /**
     * A load writes its segments. Whoever observes or forgets waits; readers do not.
     */
    SIMKEEP_STAGE_WRITING = 3,
    /**
     * Files are read and checked.
     */
    SIMKEEP_STAGE_CHECKING = 4,
    /**
     * Fingerprints are read, or joined with each other, or samples of sites are.
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
     * Something that this version of the header does not name.
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
 * What a page is now, after an observation.
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
     * The first content of this page.
     */
    SIMKEEP_VERDICT_NEW = 1,
    /**
     * Unchanged: the version in force is confirmed.
     */
    SIMKEEP_VERDICT_SAME = 2,
    /**
     * Content that is not among the last versions known of this page.
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
     * The visit failed; the version in force stays in force.
     */
    SIMKEEP_VERDICT_FAILED = 6,
    /**
     * Reported as not modified, but the store never saw any content of this page.
     */
    SIMKEEP_VERDICT_UNSEEN = 7,
    /**
     * Not later than the last visit. It is stored at its place in the history.
     */
    SIMKEEP_VERDICT_OUT_OF_ORDER = 8,
    /**
     * The store had exactly this visit already; nothing changed.
     */
    SIMKEEP_VERDICT_KNOWN = 9,
    /**
     * Something that this version of the header does not name.
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
 * How a page is known to be the same.
 */
enum simkeep_same
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It is not the same.
     */
    SIMKEEP_SAME_NOTHING = 0,
    /**
     * The digests are equal.
     */
    SIMKEEP_SAME_DIGEST = 1,
    /**
     * The fingerprints are equal, in every epoch in which there are two to compare (and the digests
     * differ, or are not known).
     */
    SIMKEEP_SAME_FINGERPRINT = 2,
    /**
     * The server, or the archive, said so.
     */
    SIMKEEP_SAME_WORD = 3,
    /**
     * Something that this version of the header does not name.
     */
    SIMKEEP_SAME_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_same simkeep_same;
#else
typedef int32_t simkeep_same;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a distance means, by the recipe of its epoch.
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
     * The fingerprint tells of no change. There may be one all the same: a small one often leaves all
     * bits as they were, which is what a digest is for.
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
 * How the content of two pages is known to be nearly the same.
 */
enum simkeep_original
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * There is no page that comes before this one.
     */
    SIMKEEP_ORIGINAL_NOTHING = 0,
    /**
     * They have one digest.
     */
    SIMKEEP_ORIGINAL_DIGEST = 1,
    /**
     * They have one fingerprint, and not one digest that is known.
     */
    SIMKEEP_ORIGINAL_FINGERPRINT = 2,
    /**
     * Their fingerprints are near each other.
     */
    SIMKEEP_ORIGINAL_NEAR = 3,
    /**
     * Something that this version of the header does not name.
     */
    SIMKEEP_ORIGINAL_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_original simkeep_original;
#else
typedef int32_t simkeep_original;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What becomes of a page.
 */
enum simkeep_fate
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The store does not know it.
     */
    SIMKEEP_FATE_UNKNOWN = 0,
    /**
     * It leads its cluster, is in none, or is of another class than the page that leads it, which is
     * not open to all.
     */
    SIMKEEP_FATE_KEPT = 1,
    /**
     * It is dropped.
     */
    SIMKEEP_FATE_DROPPED = 2,
    /**
     * Something that this version of the header does not name.
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
 * Which versions of pages a search looks at.
 */
enum simkeep_versions
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Those in force now.
     */
    SIMKEEP_VERSIONS_IN_FORCE = 0,
    /**
     * Those that were in force at the time `from`.
     */
    SIMKEEP_VERSIONS_AT = 1,
    /**
     * Those that a visit saw from `from` to `to`, both included.
     */
    SIMKEEP_VERSIONS_SEEN = 2,
    /**
     * Every version ever seen.
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
 * What a visit found.
 */
enum simkeep_seen
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * No visit.
     */
    SIMKEEP_SEEN_NOTHING = 0,
    /**
     * Content.
     */
    SIMKEEP_SEEN_CONTENT = 1,
    /**
     * The server said that the content has not changed (304).
     */
    SIMKEEP_SEEN_NOT_MODIFIED = 2,
    /**
     * The page is gone (404, 410).
     */
    SIMKEEP_SEEN_GONE = 3,
    /**
     * The visit failed. It confirms nothing and changes nothing.
     */
    SIMKEEP_SEEN_FAILED = 4,
    /**
     * The page leads elsewhere: the digest, from `simkeep_redirect_digest`, names the target.
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
 * When an observation is durable.
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
     * When the call returns; a commit waits for others to join it, as long as `group_ms` says.
     */
    SIMKEEP_DURABILITY_GROUPED = 1,
    /**
     * After the next `simkeep_flush`, or when what is in memory is sealed.
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
 * What an entry of a history is.
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
     * What another epoch makes of the content of the visit before it.
     */
    SIMKEEP_ENTRY_KIND_RESTATED = 2,
    /**
     * A weight or a class that was given.
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
 * What the fingerprints of an epoch are for.
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
     * Verdicts, and the distances in them.
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
 * What decides when a page is visited.
 */
enum simkeep_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * What a visit is worth by now, or by its policy the time since the last one.
     */
    SIMKEEP_REASON_WORTH = 1,
    /**
     * A hint says that it has changed since its last visit: `reason_time` is when.
     */
    SIMKEEP_REASON_HINTED = 2,
    /**
     * It was not visited for so long that it comes first: `reason_s` is how long it may be left.
     */
    SIMKEEP_REASON_OVERDUE = 3,
    /**
     * Its rule has it not visited before a time after its last visit: `reason_s` is that time.
     */
    SIMKEEP_REASON_NOT_YET = 4,
    /**
     * Its last visits failed, and it is left alone: `reason_time` is until when.
     */
    SIMKEEP_REASON_LEFT_ALONE = 5,
    /**
     * Its last visit lies in the future, so nothing is known of the time since.
     */
    SIMKEEP_REASON_AHEAD = 6,
    /**
     * Something that this version of the header does not name.
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
 * How a segment finds fingerprints.
 */
enum simkeep_shape
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It is no segment: a memtable.
     */
    SIMKEEP_SHAPE_NOTHING = 0,
    /**
     * It has no tables: the shards of its column are scanned.
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
     * Something that this version of the header does not name.
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
 * What a search does in a segment or a memtable.
 */
enum simkeep_way
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It probes buckets of the rotations.
     */
    SIMKEEP_WAY_ROTATIONS = 1,
    /**
     * It probes cells.
     */
    SIMKEEP_WAY_CELLS = 2,
    /**
     * It scans.
     */
    SIMKEEP_WAY_SCAN = 3,
    /**
     * Something that this version of the header does not name.
     */
    SIMKEEP_WAY_OTHER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum simkeep_way simkeep_way;
#else
typedef int32_t simkeep_way;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A list of clusters. One thread at a time uses it. It is of the process that made it. It keeps its
 * clusters, and is freed by itself.
 */
typedef struct simkeep_cluster_list simkeep_cluster_list;

/**
 * Pages in their clusters. One thread at a time uses it. It is of the process that made it. It keeps
 * what it lists, and is freed by itself.
 */
typedef struct simkeep_clustered_pages simkeep_clustered_pages;

/**
 * Clusters that were found. Threads may use it at the same time. It is of the process that found them.
 * It keeps its snapshot and scratch files, and is freed by itself; what was got from it stays.
 */
typedef struct simkeep_clusters simkeep_clusters;

/**
 * Decisions about pages. One thread at a time uses it. It keeps its snapshot, and is freed by itself.
 */
typedef struct simkeep_decisions simkeep_decisions;

/**
 * The pages that are dropped in favour of those that lead their clusters. Threads may ask it at the
 * same time. It is of the process that made it. It keeps its clusters, and is freed by itself.
 */
typedef struct simkeep_dropped simkeep_dropped;

/**
 * The entries of a page's history, in order of time. Nothing changes it: any thread may read it.
 */
typedef struct simkeep_entries simkeep_entries;

/**
 * The epochs of a store, by number. Nothing changes it: any thread may read it.
 */
typedef struct simkeep_epochs simkeep_epochs;

/**
 * How a search was planned, and what it cost and found. Nothing changes it: any thread may read it.
 */
typedef struct simkeep_explanation simkeep_explanation;

/**
 * What went wrong. It is of whoever got it, and belongs to no thread.
 */
typedef struct simkeep_error simkeep_error;

/**
 * What becomes of pages, in the order in which they were asked for.
 *
 * All columns live as long as this, and nothing changes them: any thread may read them. Getting one
 * costs nothing, and gives NULL for NULL.
 */
typedef struct simkeep_fates simkeep_fates;

/**
 * What makes the fingerprints of an epoch. Threads may use it at the same time. It needs no store any
 * more.
 */
typedef struct simkeep_fingerprinter simkeep_fingerprinter;

/**
 * What is said of when pages changed. Nothing changes it: any thread may use it.
 */
typedef struct simkeep_hints simkeep_hints;

/**
 * A load that goes on as its caller brings visits. One thread at a time uses it. It is of the process
 * that began it. Its store stays open until this is freed.
 */
typedef struct simkeep_loading simkeep_loading;

/**
 * What searches have found, in their order. The pages of search `i` are the rows from
 * `offsets[i]` to `offsets[i + 1]`, nearest first, then in SURT order.
 *
 * All columns live as long as this, and nothing changes them: any thread may read them. Getting one
 * costs nothing, and gives NULL for NULL.
 */
typedef struct simkeep_matches simkeep_matches;

/**
 * What observations were answered, in their order. Row `i` of each column is of observation
 * `i`; of copies and near pages, those of observation `i` are the rows from `offsets[i]` to
 * `offsets[i + 1]`.
 *
 * All columns live as long as this, and nothing changes them: any thread may read them. Getting one
 * costs nothing, and gives NULL for NULL.
 */
typedef struct simkeep_outcomes simkeep_outcomes;

/**
 * A join that goes on as its caller comes for pairs of pages. One thread at a time uses it. It is of
 * the process that began it. It keeps its snapshot, and is freed by itself.
 */
typedef struct simkeep_page_pairs simkeep_page_pairs;

/**
 * An iterator over pages, in SURT order. One thread at a time uses it. It keeps its snapshot, and is
 * freed by itself.
 */
typedef struct simkeep_pages simkeep_pages;

/**
 * A join that goes on as its caller comes for pairs. One thread at a time uses it. It is of the process
 * that began it. It keeps its snapshot, and is freed by itself.
 */
typedef struct simkeep_pairs simkeep_pairs;

/**
 * A plan. Nothing changes it: any thread may use it.
 */
typedef struct simkeep_plan simkeep_plan;

/**
 * The progress of a long call. Give it to the call, and look at it or cancel it from other threads.
 */
typedef struct simkeep_progress simkeep_progress;

/**
 * A read-only view of a store, also beside a writer in another process. Threads may use it at the same
 * time; they wait for one another, and what they got from it does not. It works in a forked child, too,
 * unless another thread was using it at the fork: then a child gets `SIMKEEP_FORKED`, and opens
 * another.
 */
typedef struct simkeep_reader simkeep_reader;

/**
 * What a repair saved and lost. Nothing changes it: any thread may read it.
 */
typedef struct simkeep_repaired simkeep_repaired;

/**
 * A consistent view of a store: everything that was acknowledged before it was taken, and nothing after
 * it. Threads may use it at the same time. It stays when its store is closed or its reader refreshed,
 * and keeps the files that it needs until it is freed. In a forked child, that of a store is refused
 * with `SIMKEEP_FORKED`, and that of a reader works.
 */
typedef struct simkeep_snapshot simkeep_snapshot;

/**
 * A store that is open for writing. Threads may use it at the same time; only `simkeep_store_free` must
 * be the last call on it. It is of the process that opened it: in a forked child every call on it is
 * refused with `SIMKEEP_FORKED`, except that it can be freed.
 */
typedef struct simkeep_store simkeep_store;

/**
 * What a check found. Nothing changes it: any thread may read it.
 */
typedef struct simkeep_verified simkeep_verified;

/**
 * Settings of a store. Fill them in with `simkeep_options_init`, and change those that you want
 * otherwise.
 */
typedef struct simkeep_options {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * When an observation is durable, a `simkeep_durability`. Default: each, when the call returns.
     */
    int32_t durability;
    /**
     * The distance within which pages are called near-duplicates of an observation, from 0 to 64; -1
     * for what the recipe of each epoch advises. Default: -1.
     */
    int32_t near_distance;
    /**
     * How long a grouped commit waits, in milliseconds. Default: 5.
     */
    uint64_t group_ms;
    /**
     * How many observations are kept in memory before they are sealed. Default: 262144.
     */
    uint64_t memtable_observations;
    /**
     * How many bytes these may take. Default: 80 MiB.
     */
    uint64_t memtable_bytes;
    /**
     * After how long they are sealed at the latest, in milliseconds. Default: 5 minutes.
     */
    uint64_t seal_after_ms;
    /**
     * How many neighbouring segments of like size are merged into one. Default: 8.
     */
    uint64_t merge_fanout;
    /**
     * The most near-duplicates, and the most copies, that an outcome names. Default: 16.
     */
    uint64_t near_limit;
    /**
     * After how many visits of an epoch a new one is advised. Default: 1000000.
     */
    uint64_t epoch_visits;
    /**
     * How many pages may be leased at a time. Default: 1000000.
     */
    uint64_t leases_max;
    /**
     * Memory that sealing and merging may take. Default: 256 MiB.
     */
    uint64_t background_memory_bytes;
    /**
     * How long replaced files are kept for readers in other processes, in milliseconds. Default: 10 s.
     */
    uint64_t reader_grace_ms;
    /**
     * Whether sealing and merging go on in the background, 1 or 0. Default: 1.
     */
    uint32_t background;
    /**
     * Permissions of the files of a new store, as for chmod(1). Default: 0600.
     */
    uint32_t file_mode;
    /**
     * How many bytes the tables may take for each fingerprint. Default: 48.
     */
    uint32_t fingerprint_bytes;
    /**
     * How many fingerprints of a crowd are compared. Default: 4096.
     */
    uint32_t near_fingerprints;
    /**
     * Whether segments are read whole into memory instead of being mapped, 1 or 0. Then no truncated
     * file and no failing medium can end the process by a signal. Default: 0.
     */
    uint32_t plain_reads;
    /**
     * Which distances are minor changes in the epoch that a new store begins with: those up to this
     * one;
     * -1 for what its recipe is calibrated to. Default: -1.
     */
    int32_t epoch_minor;
    /**
     * Which are moderate: those up to this one; -1 where `epoch_minor` is. Default: -1.
     */
    int32_t epoch_moderate;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The name of the epoch that a new store begins with; NULL for this version's own recipe. Default:
     * NULL. Read only by the call that is given it.
     */
    const char *epoch;
    /**
     * Its length in bytes.
     */
    size_t epoch_len;
    /**
     * Which of several pages with nearly the same content comes first, and is the original: rules, with
     * commas between them, of `first-seen`, `newest`, `shortest-url`, `https` and `weight`, of which
     * each decides what those before it do not. NULL for `first-seen`. Default: NULL. Read only by the
     * call that is given it.
     */
    const char *rule;
    /**
     * Its length in bytes.
     */
    size_t rule_len;
    /**
     * How much later than the clock of this machine a visit may be, in milliseconds: a later one is
     * refused with `SIMKEEP_TIME`, unless the store has such a visit already. -1 for visits of any
     * time. Default: -1.
     */
    int64_t clock_tolerance_ms;
} simkeep_options;

/**
 * One visit to one page. Set all to 0, then what there is, with the bits of it in `has`.
 */
typedef struct simkeep_visit {
    /**
     * The page: UTF-8, and its identity is these bytes. Read only by the call that is given it.
     */
    const char *url;
    /**
     * Its length in bytes: at most 8192.
     */
    size_t url_len;
    /**
     * When, in milliseconds since 1970. A number that lies before 1990, and after 1990 as seconds, is
     * refused without `SIMKEEP_HAS_EARLY_TIME`.
     */
    int64_t time_ms;
    /**
     * What was seen, a `simkeep_seen`.
     */
    int32_t seen;
    /**
     * Which of the following there are: `SIMKEEP_HAS_...`.
     */
    uint32_t has;
    /**
     * The fingerprint of the content.
     */
    uint64_t fingerprint;
    /**
     * The epoch that the content was looked at in. It matters for content only, and is not optional
     * there: `simkeep_change_epoch`.
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
     * When the page was last modified, as the server said, in milliseconds since 1970.
     */
    int64_t modified_ms;
    /**
     * How important the page is from now on: finite and positive.
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
     * The class that the page is of from now on.
     */
    uint32_t page_class;
} simkeep_visit;

/**
 * What was loaded.
 */
typedef struct simkeep_loaded {
    /**
     * Observations that came.
     */
    uint64_t observations;
    /**
     * Visits that the store did not have.
     */
    uint64_t visits;
    /**
     * Fingerprints in other epochs that were stored.
     */
    uint64_t restated;
    /**
     * Weights that were stored.
     */
    uint64_t weights;
    /**
     * Classes that were stored.
     */
    uint64_t classes;
    /**
     * Pages that something was stored of.
     */
    uint64_t pages;
    /**
     * How many of these pages the store did not know before.
     */
    uint64_t new_pages;
    /**
     * Segments that were made.
     */
    uint64_t segments;
    /**
     * Bytes of these segments.
     */
    uint64_t bytes;
} simkeep_loaded;

/**
 * A column of texts. Text `i` has the bytes from `bytes + offsets[i]` to `bytes + offsets[i + 1]`; no
 * NUL ends it. It lives as long as what it was got from.
 */
typedef struct simkeep_texts {
    /**
     * All texts in a row, UTF-8.
     */
    const char *bytes;
    /**
     * Where each begins, and as the last one the length of all: one more than there are texts.
     */
    const uint64_t *offsets;
    /**
     * How many there are.
     */
    size_t count;
} simkeep_texts;

/**
 * The properties of a page from a time on. Set all to 0, then those to set, with their bits in `has`.
 */
typedef struct simkeep_property_update {
    /**
     * The page. Read only by the call that is given it.
     */
    const char *url;
    /**
     * Its length in bytes.
     */
    size_t url_len;
    /**
     * From when on, in milliseconds since 1970.
     */
    int64_t time_ms;
    /**
     * The weight: finite and positive.
     */
    double weight;
    /**
     * Which of the two there are: `SIMKEEP_HAS_WEIGHT`, `SIMKEEP_HAS_CLASS`, or both.
     */
    uint32_t has;
    /**
     * The class.
     */
    uint32_t page_class;
} simkeep_property_update;

/**
 * A search for fingerprints. Fill it in with `simkeep_query_init`, and change what you want otherwise.
 * Its pointers are read only by the call that is given it.
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
     * Which versions of pages, a `simkeep_versions`. Default: those in force.
     */
    int32_t versions;
    /**
     * The most pages to name; `UINT64_MAX` for all, whatever that takes. Default: 16.
     */
    uint64_t limit;
    /**
     * For `versions`, in milliseconds since 1970.
     */
    int64_t from_ms;
    /**
     * For `versions`, in milliseconds since 1970.
     */
    int64_t to_ms;
    /**
     * How long the search may go on widening, in nanoseconds; 0 for no bound. Default: 0.
     */
    uint64_t budget_ns;
    /**
     * Only pages under this prefix, such as `example.org/news/`; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * Its length in bytes.
     */
    size_t under_len;
    /**
     * All pages but this one; NULL for all. Default: NULL.
     */
    const char *exclude;
    /**
     * Its length in bytes.
     */
    size_t exclude_len;
    /**
     * Only pages of these classes; NULL for pages of any class and of none. Default: NULL.
     */
    const uint32_t *classes;
    /**
     * How many.
     */
    size_t classes_len;
    /**
     * Whether pages that have no class are meant as well as those of `classes`, 1 or 0. If `classes` is
     * NULL and this is 1, they alone are. Default: 0.
     */
    uint32_t unclassed;
    /**
     * Whether `epoch` says in which epoch to search, 1 or 0. Default: 0, in the one that
     * near-duplicates are sought by.
     */
    uint32_t has_epoch;
    /**
     * The epoch of the fingerprints.
     */
    uint32_t epoch;
    /**
     * How many fingerprints of a crowd are compared. Default: 4096.
     */
    uint32_t fingerprints;
} simkeep_query;

/**
 * How one segment or memtable was searched.
 */
typedef struct simkeep_component {
    /**
     * The number of the segment.
     */
    uint64_t segment;
    /**
     * How many distinct fingerprints of the epoch it has.
     */
    uint32_t fingerprints;
    /**
     * How it finds them, a `simkeep_shape`.
     */
    int32_t shape;
    /**
     * What the search does there, a `simkeep_way`.
     */
    int32_t way;
    /**
     * Which of the others there are: `SIMKEEP_COMPONENT_HAS_...`.
     */
    uint32_t has;
    /**
     * Buckets or cells that were expected to be looked into; 0 for a scan.
     */
    double expected_probes;
    /**
     * Entries that were expected to be compared.
     */
    double expected_candidates;
    /**
     * Memory lines of 64 bytes that were expected to be read.
     */
    double expected_lines;
    /**
     * Nanoseconds that were expected, on one core, from memory, without those for hits.
     */
    double expected_ns;
    /**
     * Buckets or cells that were looked into.
     */
    double probes;
    /**
     * Entries that were compared.
     */
    double candidates;
    /**
     * Memory lines that were read.
     */
    double lines;
    /**
     * Nanoseconds that it took.
     */
    double ns;
    /**
     * How many distinct near fingerprints were found.
     */
    uint64_t hits;
    /**
     * How many fingerprints of a crowd were compared.
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
} simkeep_component;

/**
 * One entry of a page's history. `has` says by `SIMKEEP_HAS_...` which of the fields there are whose
 * absence nothing else tells; the others are 0 then.
 */
typedef struct simkeep_entry {
    /**
     * When, in milliseconds since 1970.
     */
    int64_t time_ms;
    /**
     * What it is, a `simkeep_entry_kind`.
     */
    int32_t kind;
    /**
     * What a visit saw, a `simkeep_seen`.
     */
    int32_t seen;
    /**
     * What it meant after all earlier visits, a `simkeep_verdict`.
     */
    int32_t verdict;
    /**
     * Which of the other fields there are.
     */
    uint32_t has;
    /**
     * How the page is known to be the same, a `simkeep_same`.
     */
    int32_t same_by;
    /**
     * In how many bits the content differs from the version before.
     */
    uint32_t distance;
    /**
     * The epoch of that distance.
     */
    uint32_t distance_epoch;
    /**
     * What that distance means, a `simkeep_band`.
     */
    int32_t band;
    /**
     * When the version was last seen that the page has reverted to; 0 if it has not.
     */
    int64_t to_ms;
    /**
     * The fingerprint of the content.
     */
    uint64_t fingerprint;
    /**
     * The epoch that the content was looked at in.
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
     * When the page was last modified, as the server said.
     */
    int64_t modified_ms;
    /**
     * The weight that was given.
     */
    double weight;
    /**
     * The class that was given.
     */
    uint32_t page_class;
    /**
     * 0.
     */
    uint32_t reserved;
} simkeep_entry;

/**
 * Which pairs of pages to find. Fill it in with `simkeep_page_pair_query_init`, and change what you
 * want otherwise. Its pointers are read only by the call that is given it.
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
     * Whether pages with equal fingerprints are paired, too, 1 or 0. Default: 0.
     */
    uint32_t equal;
    /**
     * How many pages of each fingerprint are paired with others, the first in SURT order; `UINT64_MAX`
     * for all, which are as many as their square. Default: 1.
     */
    uint64_t each;
    /**
     * Only pages under this prefix; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * Its length in bytes.
     */
    size_t under_len;
    /**
     * Only pages of these classes; NULL for pages of any class and of none. Default: NULL.
     */
    const uint32_t *classes;
    /**
     * How many.
     */
    size_t classes_len;
    /**
     * Whether pages that have no class are meant as well as those of `classes`, 1 or 0. If `classes` is
     * NULL and this is 1, they alone are. Default: 0.
     */
    uint32_t unclassed;
    /**
     * Whether `epoch` says of which epoch the fingerprints are, 1 or 0. Default: 0, of the one that
     * near-duplicates are sought by.
     */
    uint32_t has_epoch;
    /**
     * The epoch of the fingerprints.
     */
    uint32_t epoch;
    /**
     * 0.
     */
    uint32_t reserved;
} simkeep_page_pair_query;

/**
 * Some pairs of pages, column by column. They live until the next call on what they were got from.
 */
typedef struct simkeep_page_pair_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * Of each the page with the smaller fingerprint; of two with the same, the first in SURT order.
     */
    const struct simkeep_texts *left_urls;
    /**
     * The other page.
     */
    const struct simkeep_texts *right_urls;
    /**
     * The fingerprint of the one.
     */
    const uint64_t *left;
    /**
     * The fingerprint of the other.
     */
    const uint64_t *right;
    /**
     * In how many bits they differ.
     */
    const uint8_t *distances;
} simkeep_page_pair_chunk;

/**
 * The current state of a page. `has` says by `SIMKEEP_HAS_...` which of the fields there are whose
 * absence nothing else tells; the others are 0 then.
 */
typedef struct simkeep_page {
    /**
     * The page. No NUL ends it. The call that gave this says how long it lives.
     */
    const char *url;
    /**
     * Its length in bytes.
     */
    size_t url_len;
    /**
     * How many visits are known.
     */
    uint64_t visits;
    /**
     * The earliest, in milliseconds since 1970.
     */
    int64_t first_ms;
    /**
     * The latest.
     */
    int64_t last_ms;
    /**
     * What the latest saw, a `simkeep_seen`.
     */
    int32_t last_seen;
    /**
     * Which of the other fields there are. Without `SIMKEEP_HAS_CONTENT` the page is gone, or no
     * content was ever seen.
     */
    uint32_t has;
    /**
     * The fingerprint of the content in force, of the newest epoch that tells of changes.
     */
    uint64_t fingerprint;
    /**
     * Its epoch.
     */
    uint32_t epoch;
    /**
     * The HTTP status of the latest visit.
     */
    uint32_t status;
    /**
     * The digest of the content in force.
     */
    uint8_t digest[16];
    /**
     * When that content was last seen.
     */
    int64_t content_seen_ms;
    /**
     * When the content last seen was last modified, as the server said: what to send as
     * `If-Modified-Since`.
     */
    int64_t modified_ms;
    /**
     * How important it is: the weight that was given last, or 1.
     */
    double weight;
    /**
     * The class that was given last.
     */
    uint32_t page_class;
    /**
     * Whether the page is gone, 1 or 0.
     */
    uint32_t gone;
    /**
     * How many pairs of neighbouring visits tell whether the page changed.
     */
    uint32_t comparisons;
    /**
     * Of these, how many say that it did.
     */
    uint32_t changes;
} simkeep_page;

/**
 * Some pairs, column by column. They live until the next call on what they were got from.
 */
typedef struct simkeep_pair_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * Of each the smaller fingerprint.
     */
    const uint64_t *left;
    /**
     * The larger one.
     */
    const uint64_t *right;
    /**
     * In how many bits they differ: 1 to 64.
     */
    const uint8_t *distances;
} simkeep_pair_chunk;

/**
 * Some pages in their clusters, column by column. They live until the next call on what they were
 * got from.
 */
typedef struct simkeep_clustered_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * The pages.
     */
    const struct simkeep_texts *urls;
    /**
     * Of each the page that leads its cluster, which may be itself.
     */
    const struct simkeep_texts *leaders;
    /**
     * Its fingerprint.
     */
    const uint64_t *fingerprints;
    /**
     * In how many bits that of its leader differs.
     */
    const uint8_t *distances;
    /**
     * How it is known to be nearly the same as its leader, a `simkeep_original` each;
     * `SIMKEEP_ORIGINAL_NOTHING` of the leader, and from `simkeep_snapshot_cluster_of`.
     */
    const simkeep_original *by;
    /**
     * How many pages the cluster has.
     */
    const uint64_t *cluster_pages;
    /**
     * The class that it is of now.
     */
    const uint32_t *classes;
    /**
     * Whether it has one, 1 or 0.
     */
    const uint8_t *has_class;
} simkeep_clustered_chunk;

/**
 * Which pages are clustered, within which distance, and who leads. Fill it in with
 * `simkeep_clustering_init`, and change what you want otherwise. Its pointers are read only by the call
 * that is given it.
 */
typedef struct simkeep_clustering {
    /**
     * `sizeof` of this structure.
     */
    size_t size;
    /**
     * Largest Hamming distance of a page to the one that leads it, 0 to 64; -1 for that within which
     * pages of the epoch are near.
     */
    int32_t k;
    /**
     * Whether `at` says of which time versions are taken, 1 or 0. Default: 0, those in force now.
     */
    uint32_t has_at;
    /**
     * The time of the versions, in milliseconds since 1970.
     */
    int64_t at_ms;
    /**
     * Which of several pages leads, as `rule` of `simkeep_options` says which is the original; NULL for
     * `first-seen`. Default: NULL.
     */
    const char *rule;
    /**
     * Its length in bytes.
     */
    size_t rule_len;
    /**
     * Only pages under this prefix; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * Its length in bytes.
     */
    size_t under_len;
    /**
     * Only pages that are of these classes now; NULL for pages of any class and of none. Default: NULL.
     */
    const uint32_t *classes;
    /**
     * How many.
     */
    size_t classes_len;
    /**
     * Whether pages that have no class are meant as well as those of `classes`, 1 or 0. If `classes` is
     * NULL and this is 1, they alone are. Default: 0.
     */
    uint32_t unclassed;
    /**
     * Whether `epoch` says of which epoch the fingerprints are, 1 or 0. Default: 0, of the one that
     * near-duplicates are sought by.
     */
    uint32_t has_epoch;
    /**
     * The epoch of the fingerprints.
     */
    uint32_t epoch;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * How many bytes of memory are taken; what does not fit goes to scratch files. 0 for 512 MiB.
     * Default: 0.
     */
    uint64_t memory_bytes;
    /**
     * The directory for scratch files, in UTF-8; NULL for the system's directory for temporary files.
     * Default: NULL.
     */
    const char *scratch;
    /**
     * Its length in bytes.
     */
    size_t scratch_len;
} simkeep_clustering;

/**
 * What was found, in numbers.
 */
typedef struct simkeep_clusters_numbers {
    /**
     * How many pages there are.
     */
    uint64_t pages;
    /**
     * How many distinct fingerprints they have.
     */
    uint64_t fingerprints;
    /**
     * How many clusters there are.
     */
    uint64_t clusters;
    /**
     * How many clusters have two pages or more.
     */
    uint64_t multi_page_clusters;
    /**
     * How many pages the largest has.
     */
    uint64_t largest;
    /**
     * How many numbers `simkeep_clusters_sizes` has.
     */
    uint64_t bins;
    /**
     * The distance that counts.
     */
    uint64_t k;
    /**
     * Other pages that have content, but no fingerprint of the epoch: they are in no cluster.
     */
    uint64_t without_fingerprint;
} simkeep_clusters_numbers;

/**
 * Some clusters, column by column. They live until the next call on what they were got from.
 */
typedef struct simkeep_cluster_chunk {
    /**
     * How many there are.
     */
    size_t count;
    /**
     * Of each the page that leads.
     */
    const struct simkeep_texts *leaders;
    /**
     * The fingerprint of that page.
     */
    const uint64_t *fingerprints;
    /**
     * When it was first seen with the content that counts, in milliseconds since 1970.
     */
    const int64_t *first_seen_ms;
    /**
     * How many pages there are, with the leader.
     */
    const uint64_t *pages;
    /**
     * The greatest distance of one of them to the leader.
     */
    const uint8_t *max_distance;
} simkeep_cluster_chunk;

/**
 * A text that a caller names. It is read only by the call that is given it.
 */
typedef struct simkeep_text {
    /**
     * Its bytes, UTF-8.
     */
    const char *bytes;
    /**
     * How many.
     */
    size_t len;
} simkeep_text;

/**
 * What is decided about a page. No NUL ends its texts, which live until the next call on what it
 * was got from.
 */
typedef struct simkeep_decision {
    /**
     * What a visit is worth now, by the policy.
     */
    double value;
    /**
     * How many times a day the page is believed to change.
     */
    double per_day;
    /**
     * It changes less often than this with a probability of 5 %.
     */
    double per_day_low;
    /**
     * It changes more often than this with a probability of 5 %.
     */
    double per_day_high;
    /**
     * How much the page matters: its weight, with the factor of its rule.
     */
    double weight;
    /**
     * When it is due by a plan, in milliseconds since 1970.
     */
    int64_t due_ms;
    /**
     * How many seconds after its last visit that is.
     */
    uint64_t every_s;
    /**
     * A time that `reason` is about, in milliseconds since 1970; else 0.
     */
    int64_t reason_time_ms;
    /**
     * Seconds that `reason` is about; else 0.
     */
    uint64_t reason_s;
    /**
     * What decides, a `simkeep_reason`.
     */
    int32_t reason;
    /**
     * Which of `due` and `every_s` there are: `SIMKEEP_DECISION_HAS_...`.
     */
    uint32_t has;
    /**
     * The page.
     */
    const char *url;
    /**
     * Its length in bytes.
     */
    size_t url_len;
    /**
     * The page near it that leads it, so that it weighs a quarter; NULL if none does.
     */
    const char *near;
    /**
     * Its length in bytes.
     */
    size_t near_len;
    /**
     * The prefix of the rule that it goes by; NULL if that is not one of a prefix.
     */
    const char *rule;
    /**
     * Its length in bytes.
     */
    size_t rule_len;
} simkeep_decision;

/**
 * What is wanted for the pages under a prefix. Set all to 0, then what there is. A page goes by the
 * rule with the longest prefix alone.
 */
typedef struct simkeep_due_rule {
    /**
     * The prefix; NULL for all pages that have no other rule.
     */
    const char *under;
    /**
     * Its length in bytes.
     */
    size_t under_len;
    /**
     * Seconds after its last visit before which a page is not visited; 0 for none.
     */
    uint64_t min_s;
    /**
     * Seconds after its last visit from which on a page comes first; 0 for none.
     */
    uint64_t max_s;
    /**
     * A factor of the weight of a page; 0 for 1.
     */
    double weight;
    /**
     * How many pages of one host are visited at once; 0 for any number.
     */
    uint64_t per_host;
    /**
     * What puts the pages in order, as in `simkeep_due_query`; NULL for what does elsewhere.
     */
    const char *policy;
    /**
     * Its length in bytes.
     */
    size_t policy_len;
} simkeep_due_rule;

/**
 * Which pages to visit next. Fill it in with `simkeep_due_query_init`, and change what you want
 * otherwise. Its pointers are read only by the call that is given it.
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
     * The most pages.
     */
    uint64_t budget;
    /**
     * The most pages of one host; `UINT64_MAX` for any number. Default: any number.
     */
    uint64_t per_host;
    /**
     * Seconds after which a page that was not visited comes first, whatever a visit is worth. Default:
     * those of 365 days.
     */
    uint64_t largest_interval_s;
    /**
     * Memory for the pages that are chosen. Default: 64 MiB.
     */
    uint64_t memory_bytes;
    /**
     * Only pages under this prefix; NULL for all. Default: NULL.
     */
    const char *under;
    /**
     * Its length in bytes.
     */
    size_t under_len;
    /**
     * What puts pages in order: `value`, `harmonic`, `uniform`, `fixed:7d`, `thesis`, `nutch` or
     * `stormcrawler`. NULL for `value`. Default: NULL.
     */
    const char *policy;
    /**
     * Its length in bytes.
     */
    size_t policy_len;
    /**
     * Rules for pages under prefixes. Default: NULL.
     */
    const struct simkeep_due_rule *rules;
    /**
     * How many.
     */
    size_t rules_count;
    /**
     * `sizeof *rules`.
     */
    size_t rule_size;
    /**
     * A plan, which gives decisions dates; NULL for none. Default: NULL.
     */
    const struct simkeep_plan *plan;
    /**
     * What is said of when pages changed; NULL for nothing. Default: NULL.
     */
    const struct simkeep_hints *hints;
} simkeep_due_query;

/**
 * That a page changed, as somebody says.
 */
typedef struct simkeep_change {
    /**
     * The page. Read only by the call that is given it.
     */
    const char *url;
    /**
     * Its length in bytes.
     */
    size_t url_len;
    /**
     * When, in milliseconds since 1970.
     */
    int64_t time_ms;
} simkeep_change;

/**
 * What comes of a plan.
 */
typedef struct simkeep_plan_numbers {
    /**
     * The visits a day that were asked for.
     */
    double per_day;
    /**
     * The visits a day that this comes to.
     */
    double visits_per_day;
    /**
     * A page is due when a visit is worth this. It is infinite if there are too few visits.
     */
    double threshold;
    /**
     * For how much of the time a page is expected to be as it was last seen, from 0 to 1.
     */
    double freshness;
    /**
     * How many pages there are; of more than a million estimated.
     */
    double pages;
    /**
     * How many of them are visited less often than once in 360 days.
     */
    double rarely_visited;
} simkeep_plan_numbers;

/**
 * What a page is worth that nobody has visited.
 */
typedef struct simkeep_new_page {
    /**
     * What a visit is worth, to be compared with the values of decisions.
     */
    double value;
    /**
     * How many times a day it is believed to change, by the pages of its host.
     */
    double per_day;
    /**
     * It changes less often than this with a probability of 5 %.
     */
    double per_day_low;
    /**
     * It changes more often than this with a probability of 5 %.
     */
    double per_day_high;
    /**
     * How much it matters, by its rule.
     */
    double weight;
    /**
     * After how many seconds it is going to be visited again.
     */
    uint64_t every_s;
} simkeep_new_page;

/**
 * What a backup did.
 */
typedef struct simkeep_backed_up {
    /**
     * The number of the last operation that the backup has.
     */
    uint64_t sequence;
    /**
     * Pages in it, all of which were checked.
     */
    uint64_t pages;
    /**
     * Visits in it.
     */
    uint64_t visits;
    /**
     * Whether there was an earlier backup, in whose place this one is, 1 or 0.
     */
    uint64_t has_earlier;
    /**
     * The number of the last operation that the earlier one had.
     */
    uint64_t earlier;
    /**
     * Files that are links: of one file with the store.
     */
    uint64_t linked_files;
    /**
     * Their bytes.
     */
    uint64_t linked_bytes;
    /**
     * Files that are copies; also those that were to be linked, and could not be.
     */
    uint64_t copied_files;
    /**
     * Their bytes.
     */
    uint64_t copied_bytes;
    /**
     * Files that the earlier backup had already.
     */
    uint64_t kept_files;
    /**
     * Their bytes.
     */
    uint64_t kept_bytes;
    /**
     * Files of the earlier backup that were removed, because the store has them no more.
     */
    uint64_t removed_files;
    /**
     * Bytes of the catalog, which is always written anew.
     */
    uint64_t catalog_bytes;
} simkeep_backed_up;

/**
 * What a store knows of an epoch.
 */
typedef struct simkeep_epoch {
    /**
     * Its number.
     */
    uint32_t number;
    /**
     * What its fingerprints are for, a `simkeep_role`.
     */
    int32_t role;
    /**
     * Its name. No NUL ends it. It lives as long as what it was got from.
     */
    const char *name;
    /**
     * Its length in bytes.
     */
    size_t name_len;
    /**
     * How many visits the store knew when it began.
     */
    uint64_t begun;
    /**
     * The largest distance that is a minor change.
     */
    uint32_t minor;
    /**
     * The largest distance that is a moderate one.
     */
    uint32_t moderate;
    /**
     * Whether it has ended, 1 or 0.
     */
    uint32_t ended;
    /**
     * 0.
     */
    uint32_t reserved;
} simkeep_epoch;

/**
 * What a repair saved and lost, in numbers.
 */
typedef struct simkeep_repaired_numbers {
    /**
     * Pages of the new store.
     */
    uint64_t pages;
    /**
     * Visits of the new store.
     */
    uint64_t visits;
    /**
     * Whether all was saved, and nothing that was forgotten, 1 or 0.
     */
    uint64_t whole;
    /**
     * How many losses there are.
     */
    uint64_t lost;
    /**
     * Lost page records, as far as they could be counted.
     */
    uint64_t lost_pages;
    /**
     * Lost visits, as far as they could be counted.
     */
    uint64_t lost_visits;
    /**
     * Frames of the journal that do not have their checksums. What they had is among the lost
     * operations.
     */
    uint64_t damaged_frames;
    /**
     * Pages of which something was left out, because a lost operation may have forgotten it.
     */
    uint64_t withheld_pages;
    /**
     * How many flaws were found, whether or not they lost anything.
     */
    uint64_t flaws;
} simkeep_repaired_numbers;

/**
 * Something that could not be saved. No NUL ends its texts, which live as long as what it was got
 * from.
 */
typedef struct simkeep_loss {
    /**
     * The file that had it, by its path within the store's directory.
     */
    const char *file;
    /**
     * Its length in bytes.
     */
    size_t file_len;
    /**
     * Why it is lost.
     */
    const char *why;
    /**
     * Its length in bytes.
     */
    size_t why_len;
    /**
     * Where in the file it begins. Nothing outside of these bytes is lost.
     */
    uint64_t bytes_from;
    /**
     * Where it ends.
     */
    uint64_t bytes_to;
    /**
     * The first operation that it was among. If no pages are counted, all of them are lost.
     */
    uint64_t first;
    /**
     * The last one.
     */
    uint64_t last;
    /**
     * How many records of pages are lost.
     */
    uint64_t pages;
    /**
     * The lost pages come after this one in SURT order; NULL if none is known.
     */
    const char *after;
    /**
     * Its length in bytes.
     */
    size_t after_len;
    /**
     * They come before this one; NULL if none is known.
     */
    const char *before;
    /**
     * Its length in bytes.
     */
    size_t before_len;
    /**
     * Which of the others there are: `SIMKEEP_LOSS_HAS_...`.
     */
    uint32_t has;
    /**
     * 0.
     */
    uint32_t reserved;
} simkeep_loss;

/**
 * Sizes of a store.
 */
typedef struct simkeep_stats {
    /**
     * Pages known.
     */
    uint64_t pages;
    /**
     * Visits known.
     */
    uint64_t visits;
    /**
     * Visits that are not yet in a segment.
     */
    uint64_t unsealed_visits;
    /**
     * Live segments.
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
     * Visits that have come since the newest epoch in use began.
     */
    uint64_t epoch_visits;
    /**
     * Whether a new epoch is advised, 1 or 0.
     */
    uint64_t epoch_due;
} simkeep_stats;

/**
 * What a check read.
 */
typedef struct simkeep_verified_numbers {
    /**
     * Files.
     */
    uint64_t files;
    /**
     * Bytes of these files.
     */
    uint64_t bytes;
    /**
     * Pages; not counted if there are flaws.
     */
    uint64_t pages;
    /**
     * Visits; not counted if there are flaws.
     */
    uint64_t visits;
    /**
     * How many flaws there are, named or not. 0 is a sound store.
     */
    uint64_t flaws;
    /**
     * Whether the catalog was read, 1 or 0: not if another process has it open for writing.
     */
    uint64_t catalog;
} simkeep_verified_numbers;

/**
 * One flaw of a store.
 */
typedef struct simkeep_flaw {
    /**
     * Where in the file.
     */
    uint64_t offset;
    /**
     * The file, by its path within the store's directory. No NUL ends it. It lives as long as what
     * it was got from.
     */
    const char *file;
    /**
     * Its length in bytes.
     */
    size_t file_len;
    /**
     * What is wrong, with expected and found. No NUL ends it. It lives as long.
     */
    const char *what;
    /**
     * Its length in bytes.
     */
    size_t what_len;
} simkeep_flaw;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The code of an error, one of `SIMKEEP_...`; `SIMKEEP_OK` for NULL. Any thread; costs nothing.
 */
int32_t simkeep_error_code(const struct simkeep_error *error);

/**
 * What went wrong, where, and what to do, for people: UTF-8 that ends with a NUL. It lives as long
 * as the error. NULL for NULL. Any thread; costs nothing.
 */
const char *simkeep_error_message(const struct simkeep_error *error);

/**
 * The file or the directory that an error is about, or NULL if it is about none. A file of a store
 * is named by its path within the store's directory. It ends with a NUL, and lives as long as the
 * error. Any thread; costs nothing.
 */
const char *simkeep_error_file(const struct simkeep_error *error);

/**
 * Where in its file an error is, in bytes; -1 if it is in no place. Any thread; costs nothing.
 */
int64_t simkeep_error_offset(const struct simkeep_error *error);

/**
 * Which of several things that were given an error is about, from 0; -1 if it is about none of
 * them. Any thread; costs nothing.
 */
int64_t simkeep_error_row(const struct simkeep_error *error);

/**
 * The process that has the store open, of `SIMKEEP_LOCKED`; 0 if that is not known. Any thread;
 * costs nothing.
 */
uint32_t simkeep_error_pid(const struct simkeep_error *error);

/**
 * What the operating system said, as in `errno`; 0 if it said nothing. Any thread; costs nothing.
 */
int32_t simkeep_error_errno(const struct simkeep_error *error);

/**
 * Frees an error, and what was got from it. Does nothing for NULL.
 */
void simkeep_error_free(struct simkeep_error *error);

/**
 * Makes a progress, for one call at a time. The caller frees it with `simkeep_progress_free`, also
 * while the call that it was given to still runs. Any thread; costs nothing.
 */
struct simkeep_progress *simkeep_progress_new(struct simkeep_error **error);

/**
 * Has the call stop, as a rule within some milliseconds; it ends with `SIMKEEP_CANCELLED`. A progress
 * that was cancelled stays so, and nothing that it is given to begins. Any thread, at any time; costs
 * nothing.
 */
int32_t simkeep_progress_cancel(const struct simkeep_progress *progress,
                                struct simkeep_error **error);

/**
 * What the call is doing; `SIMKEEP_STAGE_WAITING` for NULL. Any thread, at any time; costs nothing.
 */
simkeep_stage simkeep_progress_stage(const struct simkeep_progress *progress);

/**
 * How much of this stage is done: observations of a load, pages and fingerprints of a merge, bytes
 * that are checked, fingerprints that are joined. 0 for NULL. Any thread, at any time; costs
 * nothing.
 */
uint64_t simkeep_progress_done(const struct simkeep_progress *progress);

/**
 * Of how much, about; 0 if nobody knows, or for NULL. Any thread, at any time; costs nothing.
 */
uint64_t simkeep_progress_of(const struct simkeep_progress *progress);

/**
 * What was found on the way: flaws of a check, pairs of a join. 0 for NULL. Any thread, at any
 * time; costs nothing.
 */
uint64_t simkeep_progress_found(const struct simkeep_progress *progress);

/**
 * Frees a progress. Does nothing for NULL.
 */
void simkeep_progress_free(struct simkeep_progress *progress);

/**
 * The version of the library's interface. It grows when something is added; nothing is taken away or
 * changed as long as the library's file keeps its name. A program runs with any library of the version
 * that it was built with, or a later one. Any thread; costs nothing.
 */
uint32_t simkeep_abi_version(void);

/**
 * The version of simkeep, such as `0.1.0`, which ends with a NUL and lives for ever. Any thread; costs
 * nothing.
 */
const char *simkeep_version(void);

/**
 * Fills in the defaults, and the size. `size` is `sizeof(simkeep_options)`. Any thread; costs nothing.
 */
int32_t simkeep_options_init(struct simkeep_options *options,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Opens a store to read it; or the newest generation that is whole, where a store is published.
 * `plain_reads` is 0, or 1 to read segments whole into memory instead of
 * mapping them. The caller frees what it gets with `simkeep_reader_free`. Any thread. Costs mapping the
 * segments, and reading the journal: less than a second.
 */
struct simkeep_reader *simkeep_reader_open(const char *path,
                                           uint32_t plain_reads,
                                           struct simkeep_error **error);

/**
 * Moves on to the newest state. `changed` gets 1 if anything changed, else 0; it may be NULL. After an
 * error the reader keeps what it had. Snapshots that were taken stay as they are. Any thread. Costs
 * reading what is new of the journal, and mapping new segments.
 */
int32_t simkeep_reader_refresh(struct simkeep_reader *reader,
                               uint32_t *changed,
                               struct simkeep_error **error);

/**
 * How many operations were acknowledged that the reader does not see. Any thread. Costs one small read.
 */
int32_t simkeep_reader_behind(const struct simkeep_reader *reader,
                              uint64_t *behind,
                              struct simkeep_error **error);

/**
 * Which generation of a store that is published the reader has: `generation` gets its number, or 0 if
 * it reads a store. `incomplete` gets the number of the newest generation if that is not whole yet and
 * was passed over, or 0. Both are of the moment when the reader was opened or refreshed. Any thread.
 * Costs nothing, unless another thread refreshes.
 */
int32_t simkeep_reader_generation(const struct simkeep_reader *reader,
                                  uint64_t *generation,
                                  uint64_t *incomplete,
                                  struct simkeep_error **error);

/**
 * Takes the view that the reader has now. It does not change when the reader is refreshed. The caller
 * frees it with `simkeep_snapshot_free`. Any thread; costs nothing, unless another thread refreshes.
 */
struct simkeep_snapshot *simkeep_reader_snapshot(const struct simkeep_reader *reader,
                                                 struct simkeep_error **error);

/**
 * Frees a reader, after all other calls on it have returned. Its snapshots stay. Does nothing for NULL.
 */
void simkeep_reader_free(struct simkeep_reader *reader);

/**
 * Takes a view of a store. The caller frees it with `simkeep_snapshot_free`. Any thread. Costs two
 * short locks, which nobody holds while reading or writing files.
 */
struct simkeep_snapshot *simkeep_store_snapshot(struct simkeep_store *store,
                                                struct simkeep_error **error);

/**
 * Frees a snapshot, after all other calls on it have returned. What was got from it stays. Does nothing
 * for NULL.
 */
void simkeep_snapshot_free(struct simkeep_snapshot *snapshot);

/**
 * The number of the last operation in a snapshot. Any thread; costs nothing.
 */
int32_t simkeep_snapshot_sequence(const struct simkeep_snapshot *snapshot,
                                  uint64_t *sequence,
                                  struct simkeep_error **error);

/**
 * Opens the store in a directory, for writing. `options` may be NULL, for the defaults. NULL and an
 * error if that fails: `SIMKEEP_LOCKED` if another process has it open, after 5 seconds. The caller
 * frees what it gets with `simkeep_store_free`. Any thread. Costs the time to read the journal, at most
 * a second, whatever the size of the store.
 */
struct simkeep_store *simkeep_store_open(const char *path,
                                         const struct simkeep_options *options,
                                         struct simkeep_error **error);

/**
 * Creates a store in a new or empty directory, and opens it: completely or not at all. `options` may be
 * NULL. `SIMKEEP_STORE_EXISTS` if there is a store already. The caller frees what it gets with
 * `simkeep_store_free`. Any thread. Costs a few syncs.
 */
struct simkeep_store *simkeep_store_create(const char *path,
                                           const struct simkeep_options *options,
                                           struct simkeep_error **error);

/**
 * Opens the store in a directory, or creates it if there is none. `options` may be NULL. The caller
 * frees what it gets with `simkeep_store_free`. Any thread. Costs what opening or creating does.
 */
struct simkeep_store *simkeep_store_open_or_create(const char *path,
                                                   const struct simkeep_options *options,
                                                   struct simkeep_error **error);

/**
 * Makes everything durable, ends the background work and lets other writers in. Later calls on the
 * store return `SIMKEEP_CLOSED`; closing it again does nothing. What was got from the store stays, and
 * is freed by itself; so is the store. Any thread. Costs a commit, and waits for background work to
 * stop.
 */
int32_t simkeep_store_close(struct simkeep_store *store,
                            struct simkeep_error **error);

/**
 * Frees a store, after all other calls on it have returned. One that is open is closed, and nobody
 * hears of errors: close it before. Does nothing for NULL. In a forked child it lets go of the memory
 * and leaves the store to its process.
 */
void simkeep_store_free(struct simkeep_store *store);

/**
 * Makes everything observed so far durable. Any thread. Costs one commit at most.
 */
int32_t simkeep_flush(struct simkeep_store *store, struct simkeep_error **error);

/**
 * Seals everything in memory into segments, however little. Any thread. Costs writing them.
 */
int32_t simkeep_seal(struct simkeep_store *store, struct simkeep_error **error);

/**
 * Waits until no seal and no merge is due. Without background work, it does them itself. Any thread.
 */
int32_t simkeep_wait_idle(struct simkeep_store *store,
                          struct simkeep_error **error);

/**
 * Merges all segments into one. `progress` may be NULL. After `SIMKEEP_CANCELLED` what is merged by
 * then stays merged, and no answer depends on it. Any thread. Costs reading and writing all segments
 * once, or twice if there are more than 128.
 */
int32_t simkeep_merge(struct simkeep_store *store,
                      const struct simkeep_progress *progress,
                      struct simkeep_error **error);

/**
 * Puts the fingerprint of a text by the default recipe where `fingerprint` points. It is of the epoch
 * that a new store begins with. `SIMKEEP_NONE` for a text of fewer than eight words, which is too short
 * to tell from others: observe such content without a fingerprint. Any thread. Costs time linear in the
 * text.
 */
int32_t simkeep_fingerprint_text(const char *text,
                                 size_t text_len,
                                 uint64_t *fingerprint,
                                 struct simkeep_error **error);

/**
 * Makes a fingerprinter by the recipe of an epoch of a store, or by the default recipe if `store`
 * is NULL; then `epoch` does not matter. `SIMKEEP_INVALID_ARGUMENT` for an epoch of fingerprints
 * that are made elsewhere. The caller frees what it gets with `simkeep_fingerprinter_free`. Any
 * thread. Costs reading the table of the epoch, if it has one.
 */
struct simkeep_fingerprinter *simkeep_fingerprinter_new(const struct simkeep_store *store,
                                                        uint32_t epoch,
                                                        struct simkeep_error **error);

/**
 * Puts the fingerprint of a text where `fingerprint` points. `SIMKEEP_NONE` for a text of fewer than
 * eight words, which is too short to tell from others: observe such content without a fingerprint. Any
 * thread. Costs time linear in the text.
 */
int32_t simkeep_fingerprinter_text(const struct simkeep_fingerprinter *fingerprinter,
                                   const char *text,
                                   size_t text_len,
                                   uint64_t *fingerprint,
                                   struct simkeep_error **error);

/**
 * Puts the fingerprint of the visible text of an HTML page where `fingerprint` points. `encoding` is
 * what the server said of its encoding: a label, such as `gb18030`, or the value of its `Content-Type`,
 * several joined by commas. It may be NULL. The page is decoded as browsers do it: by a byte order
 * mark, by `encoding`, by what the page declares, as UTF-8 if it is UTF-8, and else by a guess.
 * `SIMKEEP_NONE` for a text of fewer than eight words. Any thread. Costs time linear in the page.
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
 * Loads visits in any order, without searches and without the journal: all of them, or none. Some four
 * times as fast as `simkeep_observe_batch`; it does not say what each meant, and
 * `simkeep_snapshot_history` does afterwards. `size` is `sizeof *visits`. `memory_bytes` bounds the
 * memory beside the visits, 0 for 512 MiB. `progress` may be NULL, and so may `loaded`, which gets
 * numbers; `loaded_size` is `sizeof(simkeep_loaded)`. Any thread; one load at a time. What does not fit
 * into memory, `simkeep_loading_begin` takes batch by batch.
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
 * Loads everything in a snapshot of another store, as `simkeep_load` loads visits. Epochs of one name
 * are the same; new ones begin with it, and bring their tables. `memory_bytes` bounds the memory, 0 for
 * 512 MiB. `progress` may be NULL, and so may `loaded`, which gets numbers; `loaded_size` is
 * `sizeof(simkeep_loaded)`. Any thread; one load at a time. Costs reading all of the other store, and a
 * load.
 */
int32_t simkeep_copy_from(struct simkeep_store *store,
                          const struct simkeep_snapshot *snapshot,
                          uint64_t memory_bytes,
                          const struct simkeep_progress *progress,
                          struct simkeep_loaded *loaded,
                          size_t loaded_size,
                          struct simkeep_error **error);

/**
 * Begins to load visits that `simkeep_loading_push` brings, as `simkeep_load` loads an array: so a
 * corpus may be larger than memory. `memory_bytes` bounds the memory of the load, 0 for 512 MiB; what
 * is waiting comes on top, two batches at most. `progress` may be NULL. The caller ends it with
 * `simkeep_loading_finish`, and frees it with `simkeep_loading_free`. Any thread. A store has one load
 * at a time: until this one is over, each other is refused with `SIMKEEP_INVALID_ARGUMENT`.
 */
struct simkeep_loading *simkeep_loading_begin(struct simkeep_store *store,
                                              uint64_t memory_bytes,
                                              const struct simkeep_progress *progress,
                                              struct simkeep_error **error);

/**
 * Brings more visits to a load. They are copied. Waits until the load takes them, as it sorts or writes
 * what came before. `size` is `sizeof *visits`.
 *
 * An argument that is wrong is `SIMKEEP_MALFORMED_ARGUMENT` with `simkeep_error_row` within these
 * visits; none of them was taken, and the load may go on. Any other error is the load's, which is
 * over then and has stored nothing; it may be of visits that came before, and `simkeep_error_row`
 * counts from the first of all. One thread at a time.
 */
int32_t simkeep_loading_push(struct simkeep_loading *loading,
                             const struct simkeep_visit *visits,
                             size_t count,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Brings the visits of an Arrow table, whose columns are those of `simkeep_observe_arrow`, as
 * `simkeep_loading_push` brings an array.
 */
int32_t simkeep_loading_push_arrow(struct simkeep_loading *loading,
                                   const struct ArrowSchema *schema,
                                   const struct ArrowArray *array,
                                   struct simkeep_error **error);

/**
 * Ends a load: all of its visits are stored when this returns, or none after an error. `loaded` gets
 * what was loaded; it may be NULL. `size` is `sizeof(simkeep_loaded)`. After this the load is over, and
 * is only freed. One thread at a time. Costs writing all that was loaded.
 */
int32_t simkeep_loading_finish(struct simkeep_loading *loading,
                               struct simkeep_loaded *loaded,
                               size_t size,
                               struct simkeep_error **error);

/**
 * Frees a load. Before its end it is stopped, its progress is cancelled, and nothing is stored. Does
 * nothing for NULL.
 */
void simkeep_loading_free(struct simkeep_loading *loading);

/**
 * Reports many visits, and is answered column by column. Each is decided after those before it. If one
 * of them is invalid none is stored, and `simkeep_error_row` says which. `size` is `sizeof *visits`.
 * The caller frees what it gets with `simkeep_outcomes_free`. Any thread; many at a time share commits.
 *
 * Durable when this returns, unless the options say otherwise. Costs a lookup and a search in every
 * segment for each visit, some microseconds, and one commit or a few: much less than single calls.
 */
struct simkeep_outcomes *simkeep_observe_batch(struct simkeep_store *store,
                                               const struct simkeep_visit *visits,
                                               size_t count,
                                               size_t size,
                                               struct simkeep_error **error);

/**
 * Reports a visit that saw content with this fingerprint. `digest` points to 16 bytes, or is NULL;
 * `status` is the HTTP status, or 0. What it cannot say, `simkeep_observe_batch` can. The caller frees
 * what it gets with `simkeep_outcomes_free`. Any thread. Costs some microseconds, and a share of a
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
 * Reports that the server said that nothing changed (304). `status` is the HTTP status, or 0. The
 * caller frees what it gets with `simkeep_outcomes_free`. Any thread. Costs what `simkeep_observe`
 * does.
 */
struct simkeep_outcomes *simkeep_not_modified(struct simkeep_store *store,
                                              const char *url,
                                              size_t url_len,
                                              int64_t time_ms,
                                              uint32_t status,
                                              struct simkeep_error **error);

/**
 * Reports that the page redirects to `to`, which may be relative to it. `status` is the HTTP status, or
 * 0. The caller frees what it gets with `simkeep_outcomes_free`. Any thread. Costs what
 * `simkeep_observe` does.
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
 * Writes the digest of a redirect from a page to `to`, which may be relative to it, into 16 bytes: for
 * visits of `SIMKEEP_SEEN_REDIRECT`. Returns 0, or a `simkeep_error_code`. Any thread.
 */
int32_t simkeep_redirect_digest(const char *url,
                                size_t url_len,
                                const char *to,
                                size_t to_len,
                                uint8_t *digest,
                                struct simkeep_error **error);

/**
 * Returns what an HTTP response to a GET says of its page, a `simkeep_seen`; `SIMKEEP_SEEN_NOTHING` if
 * it is no final response (below 200). `location` and `content_range` are the values of these headers,
 * or NULL; `length` is the Content-Length if no Transfer-Encoding delimits the body, `received` how
 * many bytes of the body came, and either is -1 if unknown; `is_encoded` is 1 if there is a
 * Content-Encoding, `is_cut` 1 if the body is known to be cut. Any thread.
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
 * Reports that the page is gone (404, 410). `status` is the HTTP status, or 0. The caller frees what it
 * gets with `simkeep_outcomes_free`. Any thread. Costs what `simkeep_observe` does.
 */
struct simkeep_outcomes *simkeep_gone(struct simkeep_store *store,
                                      const char *url,
                                      size_t url_len,
                                      int64_t time_ms,
                                      uint32_t status,
                                      struct simkeep_error **error);

/**
 * Reports that the visit failed. `status` is the HTTP status, or 0. The caller frees what it gets with
 * `simkeep_outcomes_free`. Any thread. Costs what `simkeep_observe` does.
 */
struct simkeep_outcomes *simkeep_failed(struct simkeep_store *store,
                                        const char *url,
                                        size_t url_len,
                                        int64_t time_ms,
                                        uint32_t status,
                                        struct simkeep_error **error);

/**
 * What each page is now.
 */
const simkeep_verdict *simkeep_outcomes_verdicts(const struct simkeep_outcomes *outcomes);

/**
 * How each page is known to be the same.
 */
const simkeep_same *simkeep_outcomes_same_by(const struct simkeep_outcomes *outcomes);

/**
 * In how many bits each page differs from its version before; `SIMKEEP_NO_DISTANCE` where
 * that is not known, and where it neither changed nor reverted.
 */
const uint8_t *simkeep_outcomes_distances(const struct simkeep_outcomes *outcomes);

/**
 * What these distances mean.
 */
const simkeep_band *simkeep_outcomes_bands(const struct simkeep_outcomes *outcomes);

/**
 * When the version was last seen that each page has reverted to, in milliseconds since 1970; 0
 * where the verdict is another.
 */
const int64_t *simkeep_outcomes_to(const struct simkeep_outcomes *outcomes);

/**
 * Whether each visit saw content that is far from all of the page's last versions, 1 or 0.
 */
const uint8_t *simkeep_outcomes_novel(const struct simkeep_outcomes *outcomes);

/**
 * How much what each visit saw is worth being processed further: from 0 to the page's weight.
 */
const double *simkeep_outcomes_priorities(const struct simkeep_outcomes *outcomes);

/**
 * Whether the fingerprint in another epoch was stored, 1 or 0.
 */
const uint8_t *simkeep_outcomes_also(const struct simkeep_outcomes *outcomes);

/**
 * Whether copies and near pages are all that there are, 1 or 0.
 */
const uint8_t *simkeep_outcomes_complete(const struct simkeep_outcomes *outcomes);

/**
 * Of the copies and near pages of each the one that ranks before it and before all others;
 * empty if it comes first itself.
 */
const struct simkeep_texts *simkeep_outcomes_originals(const struct simkeep_outcomes *outcomes);

/**
 * In how many bits that differs; `SIMKEEP_NO_DISTANCE` if there is none.
 */
const uint8_t *simkeep_outcomes_original_distances(const struct simkeep_outcomes *outcomes);

/**
 * How that is known to be nearly the same.
 */
const simkeep_original *simkeep_outcomes_original_by(const struct simkeep_outcomes *outcomes);

/**
 * Where the copies of each begin: one more than there are observations.
 */
const uint64_t *simkeep_outcomes_copy_offsets(const struct simkeep_outcomes *outcomes);

/**
 * Other pages whose version in force has the same digest, ordered by when they were first seen
 * with it.
 */
const struct simkeep_texts *simkeep_outcomes_copy_urls(const struct simkeep_outcomes *outcomes);

/**
 * When these were first seen with it, in milliseconds since 1970.
 */
const int64_t *simkeep_outcomes_copy_firsts(const struct simkeep_outcomes *outcomes);

/**
 * Where the near pages of each begin: one more than there are observations.
 */
const uint64_t *simkeep_outcomes_near_offsets(const struct simkeep_outcomes *outcomes);

/**
 * Near-duplicates: other pages whose version in force is near, without the copies; nearest
 * first.
 */
const struct simkeep_texts *simkeep_outcomes_near_urls(const struct simkeep_outcomes *outcomes);

/**
 * In how many bits these differ.
 */
const uint8_t *simkeep_outcomes_near_distances(const struct simkeep_outcomes *outcomes);

/**
 * The fingerprints of these.
 */
const uint64_t *simkeep_outcomes_near_fingerprints(const struct simkeep_outcomes *outcomes);

/**
 * When these were first seen with what they have in force, in milliseconds since 1970.
 */
const int64_t *simkeep_outcomes_near_firsts(const struct simkeep_outcomes *outcomes);

/**
 * How many observations were answered; 0 for NULL.
 */
size_t simkeep_outcomes_count(const struct simkeep_outcomes *outcomes);

/**
 * Frees outcomes, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_outcomes_free(struct simkeep_outcomes *outcomes);

/**
 * Sets weights or classes of many pages without a visit. That is no change of a page. If one of them is
 * invalid none is stored, and `simkeep_error_row` says which. `size` is `sizeof *updates`. `missing`
 * gets how many of them are of pages that the store does not know, of which nothing is stored; it may
 * be NULL. Any thread. Costs what `simkeep_observe_batch` does, without searches.
 */
int32_t simkeep_set_property_batch(struct simkeep_store *store,
                                   const struct simkeep_property_update *updates,
                                   size_t count,
                                   size_t size,
                                   uint64_t *missing,
                                   struct simkeep_error **error);

/**
 * Sets the weight of a page from a time on, in milliseconds since 1970: how important it is, finite and
 * positive. That is neither a visit nor a change. `SIMKEEP_NONE` if the page is not known, and nothing
 * was stored. Any thread. Costs what `simkeep_observe` does, without a search.
 */
int32_t simkeep_set_weight(struct simkeep_store *store,
                           const char *url,
                           size_t url_len,
                           int64_t time_ms,
                           double weight,
                           struct simkeep_error **error);

/**
 * Sets the class of a page from a time on, in milliseconds since 1970, as `simkeep_set_weight` sets a
 * weight. What a class means is up to the caller.
 */
int32_t simkeep_set_class(struct simkeep_store *store,
                          const char *url,
                          size_t url_len,
                          int64_t time_ms,
                          uint32_t page_class,
                          struct simkeep_error **error);

/**
 * Reports the visits of an Arrow table, in its order, and is answered as `simkeep_observe_batch`
 * answers. Its columns, by name:
 *
 * - `url`: text. `time`: a timestamp, or milliseconds since 1970. Both must be there.
 * - `seen`: text, `content`, `not-modified`, `gone` or `failed`. Without it, all is content.
 * - `fingerprint`: 64 bits, signed or not. Null for content without one.
 * - `digest`: 16 bytes. `status`, `class`: integers. `modified`: as `time`. `weight`: a number.
 * - `epoch`: an integer. Without it, or where it is null, that of `simkeep_change_epoch`.
 * - `also_fingerprint` and `also_epoch`, for content that was looked at in another epoch, too.
 *
 * All but the first two may be missing, or null in a row. Texts and bytes may be of any layout, and
 * dictionaries. The structures are read until this returns, and are not released. What is wrong in a
 * row has `simkeep_error_row`, and then nothing is stored. The caller frees what it gets with
 * `simkeep_outcomes_free`. Any thread. Costs what `simkeep_observe_batch` does.
 */
struct simkeep_outcomes *simkeep_observe_arrow(struct simkeep_store *store,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *array,
                                               struct simkeep_error **error);

/**
 * Loads the visits of an Arrow table, whose columns are those of `simkeep_observe_arrow`, as
 * `simkeep_load` loads an array.
 */
int32_t simkeep_load_arrow(struct simkeep_store *store,
                           const struct ArrowSchema *schema,
                           const struct ArrowArray *array,
                           uint64_t memory_bytes,
                           const struct simkeep_progress *progress,
                           struct simkeep_loaded *loaded,
                           size_t loaded_size,
                           struct simkeep_error **error);

/**
 * Gives outcomes as an Arrow table, a row for each observation, in their order: `verdict`, `same_by`,
 * `distance`, `band`, `to`, `novel`, `priority`, `also`, `complete`, `original`, `original_distance`,
 * `original_by`. Numbers that stand for something are dictionaries of their names. The structures may
 * be uninitialised; the caller releases them, as the interface says. The outcomes stay, and need not.
 * Any thread. Costs a copy.
 */
int32_t simkeep_outcomes_arrow(const struct simkeep_outcomes *outcomes,
                               struct ArrowSchema *schema,
                               struct ArrowArray *array,
                               struct simkeep_error **error);

/**
 * Gives the copies of outcomes as an Arrow table: `observation`, from 0, `url`, `first`. The rest is as
 * for `simkeep_outcomes_arrow`.
 */
int32_t simkeep_outcomes_copies_arrow(const struct simkeep_outcomes *outcomes,
                                      struct ArrowSchema *schema,
                                      struct ArrowArray *array,
                                      struct simkeep_error **error);

/**
 * Gives the near pages of outcomes as an Arrow table: `observation`, from 0, `url`, `distance`,
 * `fingerprint`, `first`. The rest is as for `simkeep_outcomes_arrow`.
 */
int32_t simkeep_outcomes_near_arrow(const struct simkeep_outcomes *outcomes,
                                    struct ArrowSchema *schema,
                                    struct ArrowArray *array,
                                    struct simkeep_error **error);

/**
 * Gives matches as an Arrow table: `query`, from 0, `url`, `distance`, `fingerprint`. The structures
 * may be uninitialised; the caller releases them, as the interface says. The matches stay, and need
 * not. Any thread. Costs a copy.
 */
int32_t simkeep_matches_arrow(const struct simkeep_matches *matches,
                              struct ArrowSchema *schema,
                              struct ArrowArray *array,
                              struct simkeep_error **error);

/**
 * Searches as `simkeep_snapshot_search` does, and says how that was planned and what it cost. The
 * caller frees what it gets with `simkeep_explanation_free`. Any thread. Costs a search, in one segment
 * after another.
 */
struct simkeep_explanation *simkeep_snapshot_explain(const struct simkeep_snapshot *snapshot,
                                                     const struct simkeep_query *query,
                                                     struct simkeep_error **error);

/**
 * How many segments and memtables were searched; 0 for NULL. Any thread; costs nothing.
 */
size_t simkeep_explanation_count(const struct simkeep_explanation *explanation);

/**
 * Copies how segment or memtable `nth` was searched, from 0, to where `component` points: the oldest
 * first, memtables last. `size` is `sizeof(simkeep_component)`. Any thread; costs nothing.
 */
int32_t simkeep_explanation_get(const struct simkeep_explanation *explanation,
                                size_t nth,
                                struct simkeep_component *component,
                                size_t size,
                                struct simkeep_error **error);

/**
 * What the search found. It belongs to the explanation, and lives as long; NULL for NULL. Any
 * thread; costs nothing.
 */
const struct simkeep_matches *simkeep_explanation_matches(const struct simkeep_explanation *explanation);

/**
 * How many nanoseconds the whole search took, with the lookup of pages; 0 for NULL. Any thread;
 * costs nothing.
 */
uint64_t simkeep_explanation_took_ns(const struct simkeep_explanation *explanation);

/**
 * The instruction set that comparisons use: `avx512`, `avx2`, `popcnt` or `portable`, which ends
 * with a NUL. It lives as long as the explanation; NULL for NULL. Any thread; costs nothing.
 */
const char *simkeep_explanation_instruction_set(const struct simkeep_explanation *explanation);

/**
 * Frees an explanation, and what it found. Does nothing for NULL. Any thread.
 */
void simkeep_explanation_free(struct simkeep_explanation *explanation);

/**
 * Reads all visits of a page in order, each with what it meant after those before it. It has no entries
 * for an unknown page. The caller frees what it gets with `simkeep_entries_free`. Any thread. Costs
 * reading the page's record in each segment that has it.
 */
struct simkeep_entries *simkeep_snapshot_history(const struct simkeep_snapshot *snapshot,
                                                 const char *url,
                                                 size_t url_len,
                                                 struct simkeep_error **error);

/**
 * Copies the visit whose content was in force at a time, in milliseconds since 1970, to where `entry`
 * points; it has no verdict. `SIMKEEP_NONE` if the page was unknown then, or gone. `size` is
 * `sizeof(simkeep_entry)`. Any thread. Costs reading the page's record in each segment that has it.
 */
int32_t simkeep_snapshot_as_of(const struct simkeep_snapshot *snapshot,
                               const char *url,
                               size_t url_len,
                               int64_t time_ms,
                               struct simkeep_entry *entry,
                               size_t size,
                               struct simkeep_error **error);

/**
 * How many entries there are; 0 for NULL, and of an unknown page. Any thread; costs nothing.
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
 * Where the pages of each search begin: one more than there are searches.
 */
const uint64_t *simkeep_matches_offsets(const struct simkeep_matches *matches);

/**
 * The pages.
 */
const struct simkeep_texts *simkeep_matches_urls(const struct simkeep_matches *matches);

/**
 * In how many bits each page differs.
 */
const uint8_t *simkeep_matches_distances(const struct simkeep_matches *matches);

/**
 * The fingerprint of each page.
 */
const uint64_t *simkeep_matches_fingerprints(const struct simkeep_matches *matches);

/**
 * Of each search whether these are all pages, 1 or 0. If not, the budget, the limit or a
 * crowd of fingerprints cut it short.
 */
const uint8_t *simkeep_matches_complete(const struct simkeep_matches *matches);

/**
 * Of each search the distance up to which no page is missing; `SIMKEEP_NO_DISTANCE` if
 * pages with the very fingerprint may be missing, too.
 */
const uint8_t *simkeep_matches_within(const struct simkeep_matches *matches);

/**
 * How many searches were answered; 0 for NULL.
 */
size_t simkeep_matches_count(const struct simkeep_matches *matches);

/**
 * Frees matches, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_matches_free(struct simkeep_matches *matches);

/**
 * Fills in the size, a distance, and defaults for all else. `size` is
 * `sizeof(simkeep_page_pair_query)`. Any thread; costs nothing.
 */
int32_t simkeep_page_pair_query_init(struct simkeep_page_pair_query *query,
                                     size_t size,
                                     uint32_t k,
                                     struct simkeep_error **error);

/**
 * Finds all pairs of pages that are near each other, as a query says. They come in no particular order,
 * each once, by `simkeep_page_pairs_next`. `progress` may be NULL. The caller frees what it gets with
 * `simkeep_page_pairs_free`. Any thread.
 *
 * The join begins now, as that of `simkeep_snapshot_all_pairs`, and costs as much, and up to a
 * microsecond for each page that it names.
 */
struct simkeep_page_pairs *simkeep_snapshot_page_pairs(const struct simkeep_snapshot *snapshot,
                                                       const struct simkeep_page_pair_query *query,
                                                       const struct simkeep_progress *progress,
                                                       struct simkeep_error **error);

/**
 * Tells of the next pairs where `chunk` points: at least one, or `SIMKEEP_NONE` if there are no more.
 * They live until the next call on `page_pairs`. Pairs before an error are right, but not all. `size`
 * is `sizeof(simkeep_page_pair_chunk)`. One thread at a time. Waits until there are some.
 */
int32_t simkeep_page_pairs_next(struct simkeep_page_pairs *page_pairs,
                                struct simkeep_page_pair_chunk *chunk,
                                size_t size,
                                struct simkeep_error **error);

/**
 * Frees pairs of pages, before their end or after it, as `simkeep_pairs_free` frees pairs. Does nothing
 * for NULL.
 */
void simkeep_page_pairs_free(struct simkeep_page_pairs *page_pairs);

/**
 * Goes through all pages, or those under a prefix, such as `example.com`; NULL for all. It sees what
 * the snapshot has. The caller frees what it gets with `simkeep_pages_free`. Any thread. Costs some
 * microseconds for each page as it comes, and memory for one block of each segment.
 */
struct simkeep_pages *simkeep_snapshot_scan(const struct simkeep_snapshot *snapshot,
                                            const char *prefix,
                                            size_t prefix_len,
                                            struct simkeep_error **error);

/**
 * Copies the next page to where `page` points; `SIMKEEP_NONE` after the last one. Its URL lives until
 * the next call on `pages`. After an error there are no more pages. `size` is `sizeof(simkeep_page)`.
 * One thread at a time. Costs some microseconds.
 */
int32_t simkeep_pages_next(struct simkeep_pages *pages,
                           struct simkeep_page *page,
                           size_t size,
                           struct simkeep_error **error);

/**
 * Frees an iterator, before its end or after it. Does nothing for NULL.
 */
void simkeep_pages_free(struct simkeep_pages *pages);

/**
 * Copies the current state of a page to where `page` points; its URL is the one that was given.
 * `SIMKEEP_NONE` for an unknown page. `size` is `sizeof(simkeep_page)`. Any thread. Costs reading one
 * record in the newest segment that knows the page.
 */
int32_t simkeep_snapshot_latest(const struct simkeep_snapshot *snapshot,
                                const char *url,
                                size_t url_len,
                                struct simkeep_page *page,
                                size_t size,
                                struct simkeep_error **error);

/**
 * Finds all pairs of different fingerprints within the distance `k` of `like`, with its epoch,
 * versions, prefix and classes. They come in no particular order, each once, by `simkeep_pairs_next`.
 * `progress` may be NULL. The caller frees what it gets with `simkeep_pairs_free`. Any thread.
 *
 * The join begins now, in threads of its own on all cores, and waits when its caller does not come for
 * pairs. Costs some 0.1 microseconds for each fingerprint, and 256 MiB of memory.
 */
struct simkeep_pairs *simkeep_snapshot_all_pairs(const struct simkeep_snapshot *snapshot,
                                                 const struct simkeep_query *like,
                                                 const struct simkeep_progress *progress,
                                                 struct simkeep_error **error);

/**
 * Tells of the next pairs where `chunk` points: at least one, or `SIMKEEP_NONE` if there are no more.
 * They live until the next call on `pairs`. Pairs before an error are right, but not all. `size` is
 * `sizeof(simkeep_pair_chunk)`. One thread at a time. Waits until there are some.
 */
int32_t simkeep_pairs_next(struct simkeep_pairs *pairs,
                           struct simkeep_pair_chunk *chunk,
                           size_t size,
                           struct simkeep_error **error);

/**
 * Frees pairs, before their end or after it. Before it, the join is stopped, its progress is cancelled,
 * and this waits until its threads have ended, as a rule some milliseconds. Does nothing for NULL.
 */
void simkeep_pairs_free(struct simkeep_pairs *pairs);

/**
 * Fills in the size, a fingerprint, a distance, and defaults for all else. `size` is
 * `sizeof(simkeep_query)`. A distance of 64 and a limit make a search for the nearest pages, however
 * far they are. Any thread; costs nothing.
 */
int32_t simkeep_query_init(struct simkeep_query *query,
                           size_t size,
                           uint64_t fingerprint,
                           uint32_t k,
                           struct simkeep_error **error);

/**
 * Finds pages whose version in force is within distance `k`, from 0 to 64, at most 16. The caller frees
 * what it gets with `simkeep_matches_free`. Any thread. Usually costs some microseconds.
 */
struct simkeep_matches *simkeep_snapshot_near(const struct simkeep_snapshot *snapshot,
                                              uint64_t fingerprint,
                                              uint32_t k,
                                              struct simkeep_error **error);

/**
 * Finds the `count` nearest pages, however far they are. The caller frees what it gets with
 * `simkeep_matches_free`. Any thread. Costs up to three times a search within the distance of the
 * farthest, and memory for a few times `count` pages.
 */
struct simkeep_matches *simkeep_snapshot_nearest(const struct simkeep_snapshot *snapshot,
                                                 uint64_t fingerprint,
                                                 size_t count,
                                                 struct simkeep_error **error);

/**
 * Searches, as a query says. The caller frees what it gets with `simkeep_matches_free`. Any thread.
 * Usually costs some microseconds.
 */
struct simkeep_matches *simkeep_snapshot_search(const struct simkeep_snapshot *snapshot,
                                                const struct simkeep_query *query,
                                                struct simkeep_error **error);

/**
 * Searches for each of many fingerprints, with the settings of `like`, whose own fingerprint does not
 * matter. Answers come in their order. The fingerprints are copied first. The caller frees what it gets
 * with `simkeep_matches_free`. Any thread; it uses all cores. Each search costs a half to a quarter of
 * a single one.
 */
struct simkeep_matches *simkeep_snapshot_search_batch(const struct simkeep_snapshot *snapshot,
                                                      const uint64_t *fingerprints,
                                                      size_t count,
                                                      const struct simkeep_query *like,
                                                      struct simkeep_error **error);

/**
 * Tells of the next pages, up to 1,024, where `chunk` points; `SIMKEEP_NONE` if there are no more. They
 * live until the next call on `clustered_pages`. After an error there are no more. `size` is
 * `sizeof(simkeep_clustered_chunk)`. One thread at a time. Costs reading the URL of each.
 */
int32_t simkeep_clustered_pages_next(struct simkeep_clustered_pages *clustered_pages,
                                     struct simkeep_clustered_chunk *chunk,
                                     size_t size,
                                     struct simkeep_error **error);

/**
 * Frees pages in their clusters, before their end or after it. Does nothing for NULL.
 */
void simkeep_clustered_pages_free(struct simkeep_clustered_pages *clustered_pages);

/**
 * Fills in the size, a distance, or -1 for that of the epoch, and defaults for all else. `size` is
 * `sizeof(simkeep_clustering)`. Any thread; costs nothing.
 */
int32_t simkeep_clustering_init(struct simkeep_clustering *clustering,
                                size_t size,
                                int32_t distance,
                                struct simkeep_error **error);

/**
 * Puts all pages into clusters, each with a page that leads it, within a distance of all others. The
 * same pages make the same clusters, in whichever order they came. `progress` may be NULL. The caller
 * frees what it gets with `simkeep_clusters_free`. Any thread. Costs reading all pages once, and some
 * joins; in memory what `clustering` says, and scratch files of some 150 bytes a page.
 */
struct simkeep_clusters *simkeep_snapshot_clusters(const struct simkeep_snapshot *snapshot,
                                                   const struct simkeep_clustering *clustering,
                                                   const struct simkeep_progress *progress,
                                                   struct simkeep_error **error);

/**
 * Copies what was found, in numbers, to where `numbers` points. `size` is
 * `sizeof(simkeep_clusters_numbers)`. Any thread; costs nothing.
 */
int32_t simkeep_clusters_get(const struct simkeep_clusters *clusters,
                             struct simkeep_clusters_numbers *numbers,
                             size_t size,
                             struct simkeep_error **error);

/**
 * How many clusters have 1 page, 2 or 3, 4 to 7, and so on: as many numbers as `bins` of
 * `simkeep_clusters_get` says. It lives as long as `clusters`; NULL for NULL. Any thread; costs
 * nothing.
 */
const uint64_t *simkeep_clusters_sizes(const struct simkeep_clusters *clusters);

/**
 * Frees clusters. Does nothing for NULL. Any thread.
 */
void simkeep_clusters_free(struct simkeep_clusters *clusters);

/**
 * Lists the pages of clusters of so many pages at least, in SURT order. The caller frees what it gets
 * with `simkeep_clustered_pages_free`. Any thread. Costs a sort of some 100 bytes for each page.
 */
struct simkeep_clustered_pages *simkeep_clusters_by_page(const struct simkeep_clusters *clusters,
                                                         uint64_t pages_min,
                                                         struct simkeep_error **error);

/**
 * Lists the pages of clusters of so many pages at least, the largest cluster first: of each its leader,
 * and then the others by their distance to it. All else is as with `simkeep_clusters_by_page`.
 */
struct simkeep_clustered_pages *simkeep_clusters_by_cluster(const struct simkeep_clusters *clusters,
                                                            uint64_t pages_min,
                                                            struct simkeep_error **error);

/**
 * Finds the cluster of a page, as `simkeep_snapshot_clusters` would, by searches around it. What it
 * gives has the pages of the cluster, the leader first; none, if the page is not among those that are
 * asked for. `complete` gets 1, or 0 if the searches were cut short, so that it may be led by another
 * page, or have more pages; it may be NULL. The caller frees what it gets with
 * `simkeep_clustered_pages_free`. Any thread. Costs as a rule a few searches, in dense regions
 * thousands.
 */
struct simkeep_clustered_pages *simkeep_snapshot_cluster_of(const struct simkeep_snapshot *snapshot,
                                                            const char *url,
                                                            size_t url_len,
                                                            const struct simkeep_clustering *clustering,
                                                            uint32_t *complete,
                                                            struct simkeep_error **error);

/**
 * Lists clusters of so many pages at least, the largest first. The caller frees what it gets with
 * `simkeep_cluster_list_free`. Any thread. Costs a sort of some 100 bytes for each cluster.
 */
struct simkeep_cluster_list *simkeep_clusters_by_size(const struct simkeep_clusters *clusters,
                                                      uint64_t pages_min,
                                                      struct simkeep_error **error);

/**
 * Tells of the next clusters, up to 1,024, where `chunk` points; `SIMKEEP_NONE` if there are no more.
 * They live until the next call on `cluster_list`. After an error there are no more. `size` is
 * `sizeof(simkeep_cluster_chunk)`. One thread at a time. Costs reading the page that leads each.
 */
int32_t simkeep_cluster_list_next(struct simkeep_cluster_list *cluster_list,
                                  struct simkeep_cluster_chunk *chunk,
                                  size_t size,
                                  struct simkeep_error **error);

/**
 * Frees a list of clusters, before its end or after it. Does nothing for NULL.
 */
void simkeep_cluster_list_free(struct simkeep_cluster_list *cluster_list);

/**
 * What becomes of each.
 */
const simkeep_fate *simkeep_fates_kinds(const struct simkeep_fates *fates);

/**
 * Of each that is dropped the digest of the content that was compared, 16 bytes each. Other
 * content of the page may be near nothing that is kept.
 */
const uint8_t *simkeep_fates_digests(const struct simkeep_fates *fates);

/**
 * Whether there is such a digest, 1 or 0.
 */
const uint8_t *simkeep_fates_has_digest(const struct simkeep_fates *fates);

/**
 * Of each that is dropped the page that is kept for it; empty for others.
 */
const struct simkeep_texts *simkeep_fates_kept(const struct simkeep_fates *fates);

/**
 * In how many bits the two differ; `SIMKEEP_NO_DISTANCE` for others.
 */
const uint8_t *simkeep_fates_distances(const struct simkeep_fates *fates);

/**
 * Finds the pages that are dropped in favour of those that lead them: each that is not a leader, and
 * whose leader is of its class, or of one of the classes in `open`, which all may see. With
 * `open_unclassed` 1, pages without a class are open to all, too. `open` may be NULL. The caller frees
 * what it gets with `simkeep_dropped_free`. Any thread. Costs a sort of 16 bytes for each of them, and
 * a bit of memory for each page of the store.
 */
struct simkeep_dropped *simkeep_clusters_dropped(const struct simkeep_clusters *clusters,
                                                 const uint32_t *open,
                                                 size_t open_len,
                                                 uint32_t open_unclassed,
                                                 struct simkeep_error **error);

/**
 * How many pages are dropped; 0 for NULL. Any thread; costs nothing.
 */
uint64_t simkeep_dropped_count(const struct simkeep_dropped *dropped);

/**
 * Says what becomes of many pages, and for which page each is dropped. `size` is `sizeof *urls`. If one
 * is no URL, `simkeep_error_row` says which. The caller frees what it gets with `simkeep_fates_free`.
 * Any thread. Costs looking each up; of one that is dropped, reading it and the page that is kept, too.
 */
struct simkeep_fates *simkeep_dropped_fates(const struct simkeep_dropped *dropped,
                                            const struct simkeep_text *urls,
                                            size_t count,
                                            size_t size,
                                            struct simkeep_error **error);

/**
 * Frees dropped pages. Does nothing for NULL. Any thread.
 */
void simkeep_dropped_free(struct simkeep_dropped *dropped);

/**
 * How many pages were asked for; 0 for NULL.
 */
size_t simkeep_fates_count(const struct simkeep_fates *fates);

/**
 * Frees fates, and all of their columns. Does nothing for NULL. Any thread.
 */
void simkeep_fates_free(struct simkeep_fates *fates);

/**
 * Copies the next decision to where `decision` points, and its page to where `page` does, which may be
 * NULL; `SIMKEEP_NONE` after the last one. Texts live until the next call on `decisions`. After an
 * error there are no more. `size` is `sizeof(simkeep_decision)`, and `page_size`
 * `sizeof(simkeep_page)`. One thread at a time. Costs some microseconds; the first of
 * `simkeep_snapshot_due`, all of its search.
 */
int32_t simkeep_decisions_next(struct simkeep_decisions *decisions,
                               struct simkeep_decision *decision,
                               size_t size,
                               struct simkeep_page *page,
                               size_t page_size,
                               struct simkeep_error **error);

/**
 * Frees decisions, before their end or after it. Does nothing for NULL.
 */
void simkeep_decisions_free(struct simkeep_decisions *decisions);

/**
 * Finds the pages of which a visit is worth most, best first, by `simkeep_decisions_next`. The caller
 * frees what it gets with `simkeep_decisions_free`. Any thread. Costs, with the first of them, reading
 * 28 bytes for each page of the store, and then some microseconds for each that comes.
 */
struct simkeep_decisions *simkeep_snapshot_due(const struct simkeep_snapshot *snapshot,
                                               const struct simkeep_due_query *due_query,
                                               struct simkeep_error **error);

/**
 * Leases the pages that `simkeep_snapshot_due` finds, except those that are leased already and those
 * that a visit is worth nothing of. A lease ends when the page is observed or released, or `lease_s`
 * seconds after `now`, by the time of a later call. Leases are in memory only: after the store is
 * opened again, all pages can be leased. The caller frees what it gets with `simkeep_decisions_free`.
 * Any thread; each gets pages of its own. Costs what `simkeep_snapshot_due` does.
 */
struct simkeep_decisions *simkeep_lease_due(struct simkeep_store *store,
                                            const struct simkeep_due_query *due_query,
                                            uint64_t lease_s,
                                            struct simkeep_error **error);

/**
 * Ends the lease of a page that was not visited, so that it can be leased again. `SIMKEEP_NONE` if it
 * had none. Any thread; costs nothing.
 */
int32_t simkeep_release(struct simkeep_store *store,
                        const char *url,
                        size_t url_len,
                        struct simkeep_error **error);

/**
 * How many visits a day there were of late, which a plan may go by: of pages under the prefix of
 * `due_query`, in the 28 days up to the latest visit, or since the first visit of all. Any thread.
 * Costs reading 28 bytes for each page, twice, and the histories of up to 131,072 pages.
 */
int32_t simkeep_snapshot_pace(const struct simkeep_snapshot *snapshot,
                              const struct simkeep_due_query *due_query,
                              double *per_day,
                              struct simkeep_error **error);

/**
 * Plans how to spend so many visits a day for ever, by the policy, prefix and rules of `due_query`,
 * whose budget and hints do not matter. It goes by what is known now: make one anew once a day, say.
 * The caller frees what it gets with `simkeep_plan_free`. Any thread. Costs reading 28 bytes for each
 * page, up to a second for a million.
 */
struct simkeep_plan *simkeep_snapshot_plan(const struct simkeep_snapshot *snapshot,
                                           const struct simkeep_due_query *due_query,
                                           double per_day,
                                           struct simkeep_error **error);

/**
 * Fills in the size, a time in milliseconds since 1970, the most pages, and defaults for all else.
 * `size` is `sizeof(simkeep_due_query)`. Any thread; costs nothing.
 */
int32_t simkeep_due_query_init(struct simkeep_due_query *due_query,
                               size_t size,
                               int64_t now_ms,
                               uint64_t budget,
                               struct simkeep_error **error);

/**
 * Takes what sitemaps or feeds say of when pages changed, for questions about this store. `trust` is
 * the probability that it is true, from 0 to 1; -1 for 0.8. `size` is `sizeof *changes`. The caller
 * frees what it gets with `simkeep_hints_free`. Any thread. Costs 16 bytes for each change, and three
 * times that while it is made.
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
 * Copies what comes of a plan to where `numbers` points. `size` is `sizeof(simkeep_plan_numbers)`. Any
 * thread; costs nothing.
 */
int32_t simkeep_plan_get(const struct simkeep_plan *plan,
                         struct simkeep_plan_numbers *numbers,
                         size_t size,
                         struct simkeep_error **error);

/**
 * Says what a page is worth that nobody has visited, where `new_page` points. `size` is
 * `sizeof(simkeep_new_page)`. Any thread. Reads nothing of the store.
 */
int32_t simkeep_plan_of_new(const struct simkeep_plan *plan,
                            const char *url,
                            size_t url_len,
                            struct simkeep_new_page *new_page,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Decides about one page by a plan, as `simkeep_snapshot_due` with that plan would. What it gives has
 * one decision, or none for an unknown page. The caller frees it with `simkeep_decisions_free`. Any
 * thread. Costs reading one record, and a search.
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

/**
 * Makes a second directory with the same store, while it works, or brings an earlier backup up to date.
 * `copy` is 0 to link files, which takes no room, or 1 to copy them, so that what damages one on the
 * disk leaves the other. `progress` may be NULL, and so may `backed_up`, which gets what was done;
 * `size` is `sizeof(simkeep_backed_up)`. After an error an earlier backup is as it was. Any thread.
 * Costs reading and checking all of the backup, besides what is copied.
 */
int32_t simkeep_backup(const struct simkeep_store *store,
                       const char *to_path,
                       uint32_t copy,
                       const struct simkeep_progress *progress,
                       struct simkeep_backed_up *backed_up,
                       size_t size,
                       struct simkeep_error **error);

/**
 * Backs up the store in a directory, as `simkeep_backup` does an open one; also one that another
 * process writes.
 */
int32_t simkeep_backup_path(const char *path,
                            const char *to_path,
                            uint32_t copy,
                            const struct simkeep_progress *progress,
                            struct simkeep_backed_up *backed_up,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Lists the epochs that a snapshot knows, by number. Verdicts go by the last one that has not ended and
 * whose role is not `SIMKEEP_ROLE_NEAR`. The caller frees the list with `simkeep_epochs_free`. Any
 * thread; costs copying it.
 */
struct simkeep_epochs *simkeep_snapshot_epochs(const struct simkeep_snapshot *snapshot,
                                               struct simkeep_error **error);

/**
 * How many epochs there are; 0 for NULL. Any thread; costs nothing.
 */
size_t simkeep_epochs_count(const struct simkeep_epochs *epochs);

/**
 * Copies what is known of epoch `nth`, from 0, to where `epoch` points. `size` is
 * `sizeof(simkeep_epoch)`. Any thread; costs nothing.
 */
int32_t simkeep_epochs_get(const struct simkeep_epochs *epochs,
                           size_t nth,
                           struct simkeep_epoch *epoch,
                           size_t size,
                           struct simkeep_error **error);

/**
 * Frees a list of epochs, and its names. Does nothing for NULL. Any thread.
 */
void simkeep_epochs_free(struct simkeep_epochs *epochs);

/**
 * The epoch that verdicts go by now: that of the fingerprints that are observed. Any thread; costs
 * nothing.
 */
int32_t simkeep_change_epoch(const struct simkeep_store *store,
                             uint32_t *epoch,
                             struct simkeep_error **error);

/**
 * The epoch that near-duplicates are sought by in a snapshot. Any thread; costs nothing.
 */
int32_t simkeep_snapshot_near_epoch(const struct simkeep_snapshot *snapshot,
                                    uint32_t *epoch,
                                    struct simkeep_error **error);

/**
 * Registers an epoch of fingerprints that are made elsewhere, by its name, or finds it, and puts its
 * number where `epoch` points. `role` is a `simkeep_role`; `minor` and `moderate` are the largest
 * distances that are such changes, or both -1. A new name becomes the newest epoch of its role. Any
 * thread. Costs one commit, and nothing for a name that is known.
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
 * Begins an epoch of one of simkeep's own recipes, such as `default` or `near`, and puts its number
 * where `epoch` points. `extractor` names what makes the texts; NULL is for simkeep's own, by which a
 * new store, the tool and the Python package go, too. `table` may be NULL, or is the path of a table of
 * document frequencies, which is copied into the store. The rest is as for `simkeep_register_epoch`.
 * Any thread. Costs one commit, and two more syncs for a table.
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
 * Ends an epoch for good. At most `left` pages may be left behind whose content in force has a
 * fingerprint in it alone, or `SIMKEEP_EPOCH_IN_USE`. Any thread. Costs a commit, and a scan unless
 * `left` is `UINT64_MAX`.
 */
int32_t simkeep_end_epoch(struct simkeep_store *store,
                          uint32_t epoch,
                          uint64_t left,
                          struct simkeep_error **error);

/**
 * Restates the content that a page had at a time: gives it a fingerprint in another epoch, which is no
 * visit and no change. `has_fingerprint` is 1, or 0 if that epoch has none of it; `digest` points to 16
 * bytes that say which content it was, or is NULL. `SIMKEEP_NONE` if the page had no such content, and
 * nothing was stored. Any thread. Costs what `simkeep_observe` does.
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
 * Forgets everything observed so far of a page. It is hidden from every answer at once, and its bytes
 * leave the files as these are merged. Later observations start a new history. `pages` gets how many
 * pages were forgotten, 0 or 1; it may be NULL. Any thread. Costs a commit.
 */
int32_t simkeep_forget(struct simkeep_store *store,
                       const char *url,
                       size_t url_len,
                       uint64_t *pages,
                       struct simkeep_error **error);

/**
 * Forgets all pages under a prefix, such as `example.org/private/`, as `simkeep_forget` forgets one;
 * with a host or a path also the pages that would be under it without the user in their URL. `pages`
 * gets how many; it may be NULL. Any thread. Costs a commit, and a scan of these pages, during which
 * writers wait.
 */
int32_t simkeep_forget_under(struct simkeep_store *store,
                             const char *prefix,
                             size_t prefix_len,
                             uint64_t *pages,
                             struct simkeep_error **error);

/**
 * Forgets a page as `simkeep_forget` does, and rewrites every file that has bytes of it. When this
 * returns, no file of the store has its URL but those that a snapshot holds open, which are removed
 * with it. `progress` may be NULL. After an error the page may be forgotten, with bytes of it left in
 * files: purge again. Any thread. Costs a rewrite of each segment with such bytes.
 */
int32_t simkeep_purge(struct simkeep_store *store,
                      const char *url,
                      size_t url_len,
                      const struct simkeep_progress *progress,
                      uint64_t *pages,
                      struct simkeep_error **error);

/**
 * Forgets all pages under a prefix as `simkeep_forget_under` does, and rewrites files as
 * `simkeep_purge` does.
 */
int32_t simkeep_purge_under(struct simkeep_store *store,
                            const char *prefix,
                            size_t prefix_len,
                            const struct simkeep_progress *progress,
                            uint64_t *pages,
                            struct simkeep_error **error);

/**
 * Makes a new store, in a new or empty directory, of everything that is sound in the one at
 * `path`, and says what is lost. `keep_forgotten` is 1 to keep pages that a lost operation may
 * have forgotten; with 0 it is `SIMKEEP_AMBIGUOUS_REPAIR` if that is not known. `memory_bytes`
 * bounds the memory, 0 for 512 MiB. `progress` may be NULL. After an error there is no new store.
 * The caller frees what it gets with `simkeep_repaired_free`. Any thread. Costs reading all files
 * twice, and writing a store.
 */
struct simkeep_repaired *simkeep_repair(const char *path,
                                        const char *to_path,
                                        uint32_t keep_forgotten,
                                        uint64_t memory_bytes,
                                        const struct simkeep_progress *progress,
                                        struct simkeep_error **error);

/**
 * Copies what a repair saved and lost, in numbers, to where `numbers` points. `size` is
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
 * Why there may be pages that were forgotten: the lost operations that may have done it, with
 * `keep_forgotten` alone. It lives as long as `repaired`; NULL for NULL. Any thread; costs nothing.
 */
const struct simkeep_texts *simkeep_repaired_ambiguities(const struct simkeep_repaired *repaired);

/**
 * Epochs whose names could not be read, by the names that they have now. It lives as long as
 * `repaired`; NULL for NULL. Any thread; costs nothing.
 */
const struct simkeep_texts *simkeep_repaired_unnamed_epochs(const struct simkeep_repaired *repaired);

/**
 * Frees what a repair said. Does nothing for NULL. Any thread.
 */
void simkeep_repaired_free(struct simkeep_repaired *repaired);

/**
 * Copies sizes of a store to where `stats` points. `size` is `sizeof(simkeep_stats)`. Any thread. Costs
 * a look at what is in memory, and reads no table.
 */
int32_t simkeep_store_stats(const struct simkeep_store *store,
                            struct simkeep_stats *stats,
                            size_t size,
                            struct simkeep_error **error);

/**
 * Copies sizes of what a reader sees to where `stats` points. `size` is `sizeof(simkeep_stats)`. Any
 * thread. Costs what `simkeep_store_stats` does.
 */
int32_t simkeep_reader_stats(const struct simkeep_reader *reader,
                             struct simkeep_stats *stats,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Checks that the last merge in the background went well. `SIMKEEP_NONE` if it did; otherwise
 * `SIMKEEP_OTHER` and an error that says why not, such as a full disk. The store tries again by itself.
 * Any thread. Costs what `simkeep_store_stats` does.
 */
int32_t simkeep_store_merge_error(const struct simkeep_store *store,
                                  struct simkeep_error **error);

/**
 * Checks a store while it works: reads all of it, and names every flaw. `rate` is the most bytes to
 * read a second, 0 for no limit. `progress` may be NULL. Damage is no error: `simkeep_verified_get`
 * says whether there is any. The caller frees what it gets with `simkeep_verified_free`. Any thread.
 * Costs reading all files.
 */
struct simkeep_verified *simkeep_verify(const struct simkeep_store *store,
                                        uint64_t rate,
                                        const struct simkeep_progress *progress,
                                        struct simkeep_error **error);

/**
 * Checks the store in a directory, as `simkeep_verify` checks an open one; also one that does not open,
 * or that another process writes.
 */
struct simkeep_verified *simkeep_verify_path(const char *path,
                                             uint64_t rate,
                                             const struct simkeep_progress *progress,
                                             struct simkeep_error **error);

/**
 * Copies what a check read, and how many flaws it found, to where `numbers` points. `size` is
 * `sizeof(simkeep_verified_numbers)`. Any thread; costs nothing.
 */
int32_t simkeep_verified_get(const struct simkeep_verified *verified,
                             struct simkeep_verified_numbers *numbers,
                             size_t size,
                             struct simkeep_error **error);

/**
 * Copies flaw `nth`, from 0, to where `flaw` points; at most 1000 are named. `size` is
 * `sizeof(simkeep_flaw)`. Any thread; costs nothing.
 */
int32_t simkeep_verified_flaw(const struct simkeep_verified *verified,
                              size_t nth,
                              struct simkeep_flaw *flaw,
                              size_t size,
                              struct simkeep_error **error);

/**
 * Frees what a check found. Does nothing for NULL. Any thread.
 */
void simkeep_verified_free(struct simkeep_verified *verified);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SIMKEEP_H */
