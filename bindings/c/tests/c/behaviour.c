/* Tests the rules for all functions: errors, sizes of structures, threads and forks. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void verdicts_and_columns(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = create(path);
    simkeep_visit visits[4] = {content(URL, 1000, 0), content(URL, 2000, 0xf), content(URL, 3000, 0),
                               content("https://example.org/b", 4000, 1)};
    visits[3].has |= SIMKEEP_HAS_WEIGHT | SIMKEEP_HAS_CLASS | SIMKEEP_HAS_STATUS | SIMKEEP_HAS_DIGEST;
    visits[3].weight = 0.1;
    visits[3].page_class = 7;
    visits[3].status = 200;
    visits[3].digest[0] = 9;
    simkeep_outcomes *out = simkeep_observe_batch(store, visits, 4, sizeof *visits, &error);
    EXPECT(error, SIMKEEP_OK);
    CHECK(simkeep_outcomes_count(out) == 4);
    const simkeep_verdict *verdicts = simkeep_outcomes_verdicts(out);
    CHECK(verdicts[0] == SIMKEEP_VERDICT_NEW && verdicts[1] == SIMKEEP_VERDICT_CHANGED);
    CHECK(verdicts[2] == SIMKEEP_VERDICT_REVERTED && verdicts[3] == SIMKEEP_VERDICT_NEW);
    CHECK(simkeep_outcomes_distances(out)[1] == 4);
    CHECK(simkeep_outcomes_distances(out)[0] == SIMKEEP_NO_DISTANCE);
    CHECK(simkeep_outcomes_to(out)[2] == 1000);
    CHECK(simkeep_outcomes_bands(out)[1] == SIMKEEP_BAND_MODERATE);
    const uint64_t *near = simkeep_outcomes_near_offsets(out);
    const simkeep_texts *urls = simkeep_outcomes_near_urls(out);
    CHECK(near[4] == 1 && near[3] == 0 && urls->count == 1);
    CHECK(urls->offsets[1] == URL_LEN && memcmp(urls->bytes, URL, URL_LEN) == 0);
    CHECK(simkeep_outcomes_originals(out)->offsets[4] == URL_LEN);
    CHECK(simkeep_outcomes_original_by(out)[3] == SIMKEEP_ORIGINAL_BY_NEAR);
    simkeep_outcomes_free(out);

    const uint64_t sought[2] = {0, UINT64_MAX};
    simkeep_query query;
    CHECK(simkeep_query_init(&query, sizeof query, 0, 1, &error) == SIMKEEP_OK);
    simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
    simkeep_matches *matches = simkeep_snapshot_search_batch(now, sought, 2, &query, &error);
    CHECK(simkeep_matches_count(matches) == 2);
    const uint64_t *from = simkeep_matches_offsets(matches);
    CHECK(from[0] == 0 && from[1] == 2 && from[2] == 2);
    CHECK(simkeep_matches_distances(matches)[0] == 0 && simkeep_matches_distances(matches)[1] == 1);
    CHECK(simkeep_matches_fingerprints(matches)[1] == 1 && simkeep_matches_complete(matches)[0] == 1);
    simkeep_matches_free(matches);

    const uint32_t classes[1] = {7};
    query.classes = classes;
    query.classes_len = 1;
    query.under = "example.org";
    query.under_len = strlen(query.under);
    matches = simkeep_snapshot_search(now, &query, &error);
    CHECK(simkeep_matches_offsets(matches)[1] == 1);
    simkeep_matches_free(matches);

    simkeep_page page;
    CHECK(simkeep_snapshot_latest(now, "https://example.org/b", 21, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(page.weight == 0.1 && page.page_class == 7 && page.digest[0] == 9 && page.visits == 1);
    CHECK(simkeep_snapshot_latest(now, "https://example.net/", 20, &page, sizeof page, &error) == SIMKEEP_NONE);
    simkeep_entry entry;
    CHECK(simkeep_snapshot_as_of(now, URL, URL_LEN, 2500, &entry, sizeof entry, &error) == SIMKEEP_OK);
    CHECK(entry.time_ms == 2000 && entry.fingerprint == 0xf && entry.has & SIMKEEP_HAS_CONTENT);
    simkeep_entries *entries = simkeep_snapshot_history(now, "https://example.org/b", 21, &error);
    CHECK(simkeep_entries_count(entries) == 3);
    CHECK(simkeep_entries_get(entries, 1, &entry, sizeof entry, &error) == SIMKEEP_OK);
    CHECK(entry.kind == SIMKEEP_ENTRY_KIND_PROPERTY && entry.has == SIMKEEP_HAS_WEIGHT && entry.weight == 0.1);
    simkeep_entries_free(entries);
    simkeep_snapshot_free(now);

    uint64_t gone = 0;
    CHECK(simkeep_forget(store, URL, URL_LEN, &gone, &error) == SIMKEEP_OK && gone == 1);
    now = simkeep_store_snapshot(store, &error);
    simkeep_pages *pages = simkeep_snapshot_scan(now, NULL, 0, &error);
    CHECK(simkeep_pages_next(pages, &page, sizeof page, &error) == SIMKEEP_OK && page.url_len == 21);
    CHECK(simkeep_pages_next(pages, &page, sizeof page, &error) == SIMKEEP_NONE);
    simkeep_pages_free(pages);
    EXPECT(error, SIMKEEP_OK);

    CHECK(simkeep_seal(store, &error) == SIMKEEP_OK);
    simkeep_stats stats;
    CHECK(simkeep_store_stats(store, &stats, sizeof stats, &error) == SIMKEEP_OK && stats.pages == 1);
    simkeep_verified *verified = simkeep_verify(store, 0, NULL, &error);
    simkeep_verified_numbers numbers;
    CHECK(simkeep_verified_get(verified, &numbers, sizeof numbers, &error) == SIMKEEP_OK);
    CHECK(numbers.flaws == 0 && numbers.pages == 1 && numbers.catalog == 1);
    simkeep_verified_free(verified);

    simkeep_epochs *epochs = simkeep_snapshot_epochs(now, &error);
    simkeep_epoch_info epoch;
    CHECK(simkeep_epochs_count(epochs) == 1);
    CHECK(simkeep_epochs_get(epochs, 0, &epoch, sizeof epoch, &error) == SIMKEEP_OK);
    CHECK(epoch.name_len > 0 && memcmp(epoch.name, "html/3 words2-sqrt/2", epoch.name_len) == 0);
    simkeep_epochs_free(epochs);
    simkeep_snapshot_free(now);
    EXPECT(error, SIMKEEP_OK);
    simkeep_store_free(store);
}

static void facts_of_responses_are_returned(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = create(path);
    simkeep_visit visit = content(URL, 1000, 7);
    char etag[129];
    memset(etag, 'e', sizeof etag);
    visit.has |= SIMKEEP_HAS_ETAG | SIMKEEP_HAS_TARGET | SIMKEEP_HAS_BYTES | SIMKEEP_HAS_CONDITIONAL;
    visit.etag = etag;
    visit.etag_len = 128;
    visit.target = "b#top";
    visit.target_len = strlen(visit.target);
    visit.bytes = 14300;
    simkeep_outcomes_free(simkeep_observe_batch(store, &visit, 1, sizeof visit, &error));
    EXPECT(error, SIMKEEP_OK);

    simkeep_page page;
    CHECK(latest(store, URL, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(page.has & SIMKEEP_HAS_ETAG && page.etag_len == 128 && memcmp(page.etag, etag, 128) == 0);
    CHECK(!(page.has & SIMKEEP_HAS_TARGET) && !page.target && page.target_len == 0);
    simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
    simkeep_pages *pages = simkeep_snapshot_scan(now, NULL, 0, &error);
    CHECK(simkeep_pages_next(pages, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(page.has & SIMKEEP_HAS_TARGET && page.target_len == URL_LEN && memcmp(page.target, "https://example.com/b", URL_LEN) == 0);
    simkeep_pages_free(pages);
    simkeep_entries *entries = simkeep_snapshot_history(now, URL, URL_LEN, &error);
    simkeep_entry entry;
    CHECK(simkeep_entries_count(entries) == 3);
    CHECK(simkeep_entries_get(entries, 0, &entry, sizeof entry, &error) == SIMKEEP_OK);
    CHECK(entry.has & SIMKEEP_HAS_BYTES && entry.has & SIMKEEP_HAS_CONDITIONAL && entry.bytes == 14300);
    CHECK(simkeep_entries_get(entries, 1, &entry, sizeof entry, &error) == SIMKEEP_OK);
    CHECK(entry.has == SIMKEEP_HAS_ETAG && entry.etag_len == 128 && memcmp(entry.etag, etag, 128) == 0);
    CHECK(simkeep_entries_get(entries, 2, &entry, sizeof entry, &error) == SIMKEEP_OK);
    CHECK(entry.has == SIMKEEP_HAS_TARGET && entry.target_len == URL_LEN && entry.target[URL_LEN - 1] == 'b');
    simkeep_entries_free(entries);
    simkeep_snapshot_free(now);

    /* A longer entity tag is not kept, and a value with a line end is refused. */
    visit.time_ms = 2000;
    visit.etag_len = 129;
    simkeep_outcomes_free(simkeep_observe_batch(store, &visit, 1, sizeof visit, &error));
    EXPECT(error, SIMKEEP_OK);
    CHECK(latest(store, URL, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(!(page.has & SIMKEEP_HAS_ETAG) && page.etag_len == 0 && page.etag[0] == 0);
    visit.etag = "\"v1\"\r\nA: b";
    visit.etag_len = strlen(visit.etag);
    CHECK(!simkeep_observe_batch(store, &visit, 1, sizeof visit, &error));
    EXPECT(error, SIMKEEP_INVALID_ARGUMENT);
    simkeep_store_free(store);
}

static void store_without_validators_keeps_no_entity_tags(const char *path) {
    simkeep_error *error = NULL;
    simkeep_options options;
    CHECK(simkeep_options_init(&options, sizeof options, &error) == SIMKEEP_OK && options.validators == 1);
    options.validators = 2;
    CHECK(!simkeep_store_create(path, &options, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    options.validators = 0;
    simkeep_store *store = simkeep_store_create(path, &options, &error);
    simkeep_visit visit = content(URL, 1000, 7);
    visit.has |= SIMKEEP_HAS_ETAG | SIMKEEP_HAS_MODIFIED;
    visit.etag = "\"v1\"";
    visit.etag_len = strlen(visit.etag);
    visit.modified_ms = 500;
    simkeep_outcomes_free(simkeep_observe_batch(store, &visit, 1, sizeof visit, &error));
    simkeep_page page;
    CHECK(latest(store, URL, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(!(page.has & SIMKEEP_HAS_ETAG) && page.etag_len == 0 && page.modified_ms == 500);
    simkeep_store_free(store);
    EXPECT(error, SIMKEEP_OK);
}

static void outcomes_refer_to_the_first_capture(const char *path) {
    simkeep_error *error = NULL;
    simkeep_options options;
    CHECK(simkeep_options_init(&options, sizeof options, &error) == SIMKEEP_OK && options.refers_to == 0);
    options.refers_to = 2;
    CHECK(!simkeep_store_create(path, &options, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    options.refers_to = 1;
    options.reserved = 1;
    CHECK(!simkeep_store_create(path, &options, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    options.reserved = 0;
    simkeep_store *store = simkeep_store_create(path, &options, &error);
    simkeep_visit visits[2] = {content(URL, 1000, 7), content("https://example.org/b", 2000, 7)};
    for (int i = 0; i < 2; i++) {
        visits[i].has |= SIMKEEP_HAS_DIGEST;
        memset(visits[i].digest, 'd', sizeof visits[i].digest);
    }
    simkeep_outcomes *out = simkeep_observe_batch(store, visits, 2, sizeof visits[0], &error);
    EXPECT(error, SIMKEEP_OK);
    const simkeep_texts *urls = simkeep_outcomes_refers_to_urls(out);
    CHECK(urls->offsets[1] == 0 && urls->offsets[2] == URL_LEN && memcmp(urls->bytes, URL, URL_LEN) == 0);
    CHECK(simkeep_outcomes_refers_to_times(out)[0] == 0 && simkeep_outcomes_refers_to_times(out)[1] == 1000);
    simkeep_outcomes_free(out);
    simkeep_store_free(store);
}

static void copies_are_found_by_digest(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = create(path);
    simkeep_visit visits[3] = {content(URL, 3000, 7), content("https://example.org/b", 2000, 0), content("https://example.org/c", 1000, 0)};
    for (int i = 0; i < 3; i++) {
        visits[i].has |= SIMKEEP_HAS_DIGEST;
        memset(visits[i].digest, 'd', sizeof visits[i].digest);
        if (i > 0) visits[i].has &= ~(uint32_t)SIMKEEP_HAS_FINGERPRINT;
    }
    simkeep_outcomes_free(simkeep_observe_batch(store, visits, 3, sizeof visits[0], &error));
    simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
    const uint8_t *digest = visits[0].digest;
    simkeep_copies *copies = simkeep_snapshot_by_digest(now, digest, 0, 0, 0, 10, &error);
    EXPECT(error, SIMKEEP_OK);
    CHECK(simkeep_copies_count(copies) == 2 && simkeep_copies_complete(copies)[0] == 1);
    CHECK(simkeep_copies_firsts(copies)[0] == 1000 && simkeep_copies_urls(copies)->bytes[20] == 'c');
    simkeep_copies_free(copies);
    copies = simkeep_snapshot_by_digest(now, digest, 0, 0, 0, 1, &error);
    CHECK(simkeep_copies_count(copies) == 1 && simkeep_copies_complete(copies)[0] == 0);
    simkeep_copies_free(copies);
    copies = simkeep_snapshot_by_digest(now, digest, 1, 7, 0, 10, &error);
    CHECK(simkeep_copies_count(copies) == 1 && simkeep_copies_firsts(copies)[0] == 3000);
    simkeep_copies_free(copies);
    CHECK(!simkeep_snapshot_by_digest(now, digest, 2, 7, 0, 10, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    CHECK(!simkeep_snapshot_by_digest(now, digest, 1, 7, 9, 10, &error));
    EXPECT(error, SIMKEEP_UNKNOWN_EPOCH);
    simkeep_snapshot_free(now);
    simkeep_store_free(store);
}

static void errors_carry_file_offset_and_row(const char *path) {
    simkeep_error *error = NULL;
    CHECK(!simkeep_store_open("/nonexistent/store", NULL, &error));
    CHECK(simkeep_error_file(error) && strcmp(simkeep_error_file(error), "/nonexistent/store") == 0);
    CHECK(simkeep_error_offset(error) == -1 && simkeep_error_row(error) == -1);
    EXPECT(error, SIMKEEP_NOT_A_STORE);

    simkeep_store *store = create(path);
    CHECK(!simkeep_store_open(path, NULL, &error));
    CHECK(simkeep_error_pid(error) == (uint32_t)getpid());
    EXPECT(error, SIMKEEP_LOCKED);

    /* The first error stays, and later calls add none. */
    CHECK(!simkeep_store_open("/nonexistent/store", NULL, &error));
    CHECK(simkeep_flush(NULL, &error) == SIMKEEP_MALFORMED_ARGUMENT);
    EXPECT(error, SIMKEEP_NOT_A_STORE);

    /* An error names the bad row, and nothing is stored. */
    simkeep_visit visits[3] = {content(URL, 1000, 0), content(URL, 2000, 1), content(URL, 3000, 2)};
    visits[2].seen = 77;
    CHECK(!simkeep_observe_batch(store, visits, 3, sizeof *visits, &error));
    CHECK(simkeep_error_row(error) == 2 && strstr(simkeep_error_message(error), "seen"));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    visits[2].seen = SIMKEEP_SEEN_GONE;
    visits[1].time_ms = INT64_MAX;
    CHECK(!simkeep_observe_batch(store, visits, 3, sizeof *visits, &error));
    CHECK(simkeep_error_row(error) == 1);
    EXPECT(error, SIMKEEP_TIME);
    /* Times that look like seconds fail, unless SIMKEEP_HAS_EARLY_TIME is set. */
    visits[1].time_ms = 1700000000;
    CHECK(!simkeep_observe_batch(store, visits, 3, sizeof *visits, &error));
    CHECK(simkeep_error_row(error) == 1 && strstr(simkeep_error_message(error), "looks like seconds"));
    EXPECT(error, SIMKEEP_TIME);
    CHECK(!simkeep_gone(store, URL, strlen(URL), 1700000000, 0, &error));
    EXPECT(error, SIMKEEP_TIME);
    visits[1].has |= SIMKEEP_HAS_EARLY_TIME;
    visits[1].epoch = 77;
    CHECK(!simkeep_observe_batch(store, visits, 3, sizeof *visits, &error));
    EXPECT(error, SIMKEEP_UNKNOWN_EPOCH);
    visits[1].has &= ~SIMKEEP_HAS_EARLY_TIME;
    visits[1].time_ms = 2000;
    visits[1].epoch = 77;
    CHECK(!simkeep_observe_batch(store, visits, 3, sizeof *visits, &error));
    CHECK(simkeep_error_row(error) == 1);
    EXPECT(error, SIMKEEP_UNKNOWN_EPOCH);
    visits[1].epoch = 0;
    visits[1].time_ms = INT64_MAX;
    CHECK(simkeep_load(store, visits, 3, sizeof *visits, 0, NULL, NULL, 0, &error) == SIMKEEP_LOAD_REJECTED);
    CHECK(simkeep_error_row(error) == 1);
    EXPECT(error, SIMKEEP_LOAD_REJECTED);
    simkeep_stats stats;
    CHECK(simkeep_store_stats(store, &stats, sizeof stats, &error) == SIMKEEP_OK && stats.visits == 0);
    /* The error argument may be NULL. */
    CHECK(simkeep_flush(NULL, NULL) == SIMKEEP_MALFORMED_ARGUMENT);

    simkeep_progress *progress = simkeep_progress_new(&error);
    CHECK(simkeep_progress_cancel(progress, &error) == SIMKEEP_OK);
    visits[1].time_ms = 2000;
    CHECK(simkeep_load(store, visits, 3, sizeof *visits, 0, progress, NULL, 0, &error) == SIMKEEP_CANCELLED);
    EXPECT(error, SIMKEEP_CANCELLED);
    simkeep_progress_free(progress);
    simkeep_loaded loaded;
    CHECK(simkeep_load(store, visits, 3, sizeof *visits, 0, NULL, &loaded, sizeof loaded, &error) == SIMKEEP_OK);
    CHECK(loaded.visits == 3 && loaded.new_pages == 1);

    CHECK(simkeep_store_close(store, &error) == SIMKEEP_OK);
    CHECK(simkeep_store_close(store, &error) == SIMKEEP_OK);
    CHECK(!simkeep_store_snapshot(store, &error));
    EXPECT(error, SIMKEEP_CLOSED);
    CHECK(!simkeep_gone(store, URL, URL_LEN, 1, 404, &error));
    EXPECT(error, SIMKEEP_CLOSED);
    simkeep_store_free(store);
}

/* A program built with fewer fields works. One built with more fields works if it does not use them. */
static void structures_grow_only_at_the_end(const char *path) {
    simkeep_error *error = NULL;
    struct {
        size_t size;
        int32_t durability, near_distance;
    } few;
    CHECK(simkeep_options_init((simkeep_options *)&few, sizeof few, &error) == SIMKEEP_OK);
    CHECK(few.size == sizeof few && few.near_distance == -1);
    simkeep_store *store = simkeep_store_create(path, (simkeep_options *)&few, &error);
    EXPECT(error, SIMKEEP_OK);

    struct {
        const char *url;
        size_t url_len;
        int64_t time;
        int32_t seen;
        uint32_t has;
    } old[2] = {{URL, URL_LEN, 1000, SIMKEEP_SEEN_GONE, 0}, {URL, URL_LEN, 2000, SIMKEEP_SEEN_FAILED, 0}};
    simkeep_outcomes *out = simkeep_observe_batch(store, (simkeep_visit *)old, 2, sizeof *old, &error);
    EXPECT(error, SIMKEEP_OK);
    CHECK(out && simkeep_outcomes_verdicts(out)[1] == SIMKEEP_VERDICT_FAILED);
    simkeep_outcomes_free(out);

    struct {
        simkeep_visit visit;
        uint64_t later;
    } later[2] = {{content(URL, 3000, 1), 0}, {content(URL, 4000, 1), 0}};
    out = simkeep_observe_batch(store, &later[0].visit, 2, sizeof *later, &error);
    EXPECT(error, SIMKEEP_OK);
    CHECK(out && simkeep_outcomes_verdicts(out)[1] == SIMKEEP_VERDICT_SAME);
    simkeep_outcomes_free(out);
    later[1].later = 1;
    CHECK(!simkeep_observe_batch(store, &later[0].visit, 2, sizeof *later, &error));
    CHECK(simkeep_error_row(error) == 1);
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);

    struct {
        const char *url;
        size_t url_len;
        uint64_t visits, untouched;
    } page = {NULL, 0, 0, 77};
    size_t of_old = offsetof(simkeep_page, first_ms);
    CHECK(latest(store, URL, (simkeep_page *)&page, of_old, &error) == SIMKEEP_OK);
    CHECK(page.visits == 4 && page.untouched == 77);
    struct {
        simkeep_stats stats;
        uint64_t later;
    } stats = {{0}, 77};
    CHECK(simkeep_store_stats(store, &stats.stats, sizeof stats, &error) == SIMKEEP_OK);
    CHECK(stats.stats.visits == 4 && stats.later == 0);
    EXPECT(error, SIMKEEP_OK);
    simkeep_store_free(store);
}

struct work {
    simkeep_store *store;
    int number;
};

static void *observes(void *given) {
    struct work *work = given;
    for (int i = 0; i < 20; i++) {
        char url[64];
        snprintf(url, sizeof url, "https://example.com/%d/%d", work->number, i);
        simkeep_error *error = NULL;
        simkeep_outcomes *out = simkeep_gone(work->store, url, strlen(url), 1, 0, &error);
        CHECK(out != NULL);
        simkeep_outcomes_free(out);
        simkeep_error_free(error);
    }
    return NULL;
}

static void threads_share_a_store(const char *path) {
    simkeep_store *store = create(path);
    pthread_t threads[4];
    struct work works[4];
    for (int i = 0; i < 4; i++) {
        works[i].store = store;
        works[i].number = i;
        pthread_create(&threads[i], NULL, observes, &works[i]);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    simkeep_error *error = NULL;
    simkeep_stats stats;
    CHECK(simkeep_store_stats(store, &stats, sizeof stats, &error) == SIMKEEP_OK && stats.pages == 80);
    simkeep_store_free(store);
}

static void pairs_are_streamed_in_chunks(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = create(path);
    enum { MANY = 3000 };
    static char urls[MANY][40];
    static simkeep_visit visits[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(urls[i], sizeof urls[i], "https://example.com/%d", i);
        visits[i] = content(urls[i], 1000, ((uint64_t)(i / 8) * 0x9e3779b97f4a7c15u & ~(uint64_t)7) | (uint64_t)(i & 7));
    }
    CHECK(simkeep_load(store, visits, MANY, sizeof *visits, 0, NULL, NULL, 0, &error) == SIMKEEP_OK);
    simkeep_snapshot *snapshot = simkeep_store_snapshot(store, &error);
    simkeep_query like;
    simkeep_query_init(&like, sizeof like, 0, 3, &error);
    simkeep_pair_chunk chunk;
    simkeep_progress *progress = simkeep_progress_new(&error);
    simkeep_pairs *pairs = simkeep_snapshot_all_pairs(snapshot, &like, progress, &error);
    size_t sum = 0;
    int32_t code;
    while ((code = simkeep_pairs_next(pairs, &chunk, sizeof chunk, &error)) == SIMKEEP_OK) {
        for (size_t i = 0; i < chunk.count; i++)
            CHECK(chunk.left[i] < chunk.right[i] && chunk.distances[i] >= 1 && chunk.distances[i] <= 3);
        sum += chunk.count;
    }
    CHECK(code == SIMKEEP_NONE && sum == MANY / 8 * 28 && simkeep_progress_found(progress) == sum);
    CHECK(simkeep_pairs_next(pairs, &chunk, sizeof chunk, &error) == SIMKEEP_NONE);
    simkeep_pairs_free(pairs);
    simkeep_progress_free(progress);

    /* Freeing pairs before the end stops the search. */
    pairs = simkeep_snapshot_all_pairs(snapshot, &like, NULL, &error);
    CHECK(simkeep_pairs_next(pairs, &chunk, sizeof chunk, &error) == SIMKEEP_OK);
    simkeep_pairs_free(pairs);
    simkeep_pairs_free(simkeep_snapshot_all_pairs(snapshot, &like, NULL, &error));

    progress = simkeep_progress_new(&error);
    simkeep_progress_cancel(progress, &error);
    pairs = simkeep_snapshot_all_pairs(snapshot, &like, progress, &error);
    CHECK(simkeep_pairs_next(pairs, &chunk, sizeof chunk, &error) == SIMKEEP_CANCELLED);
    EXPECT(error, SIMKEEP_CANCELLED);
    simkeep_pairs_free(pairs);
    simkeep_progress_free(progress);
    simkeep_snapshot_free(snapshot);
    simkeep_store_free(store);
}

/* Meanings of responses, and redirects observed alone and in a batch. */
static void responses_and_redirects_are_classified(const char *path) {
    simkeep_error *error = NULL;
    int32_t seen = -1;
    static const struct {
        uint32_t status;
        const char *location, *range;
        int64_t length, received;
        int32_t is_encoded, is_cut, seen;
    } table[] = {
        {200, NULL, NULL, -1, -1, 0, 0, SIMKEEP_SEEN_CONTENT},
        {200, NULL, NULL, 5, 4, 0, 0, SIMKEEP_SEEN_FAILED},
        {200, NULL, NULL, 5, 4, 1, 0, SIMKEEP_SEEN_CONTENT},
        {200, NULL, NULL, -1, -1, 0, 1, SIMKEEP_SEEN_FAILED},
        {206, NULL, "bytes 0-3/4", -1, -1, 0, 0, SIMKEEP_SEEN_CONTENT},
        {206, NULL, "bytes 0-3/5", -1, -1, 0, 0, SIMKEEP_SEEN_FAILED},
        {301, "/b", NULL, -1, -1, 0, 0, SIMKEEP_SEEN_REDIRECT},
        {301, NULL, NULL, -1, -1, 0, 0, SIMKEEP_SEEN_FAILED},
        {304, NULL, NULL, -1, -1, 0, 0, SIMKEEP_SEEN_NOT_MODIFIED},
        {410, NULL, NULL, -1, -1, 0, 0, SIMKEEP_SEEN_GONE},
        {103, NULL, NULL, -1, -1, 0, 0, SIMKEEP_SEEN_NOTHING},
    };
    for (size_t row = 0; row < sizeof table / sizeof *table; row++) {
        const char *location = table[row].location, *range = table[row].range;
        CHECK(simkeep_response_meaning(table[row].status, location, location ? strlen(location) : 0, range,
                                       range ? strlen(range) : 0, table[row].length, table[row].received,
                                       table[row].is_encoded, table[row].is_cut, &seen, &error) == SIMKEEP_OK);
        CHECK(seen == table[row].seen);
    }
    simkeep_store *store = create(path);
    simkeep_outcomes_free(simkeep_redirect(store, URL, URL_LEN, 1000, "/b", 2, 301, &error));
    EXPECT(error, SIMKEEP_OK);
    simkeep_visit visit;
    memset(&visit, 0, sizeof visit);
    visit.url = URL;
    visit.url_len = URL_LEN;
    visit.time_ms = 2000;
    visit.seen = SIMKEEP_SEEN_REDIRECT;
    visit.has = SIMKEEP_HAS_DIGEST;
    CHECK(!simkeep_observe_batch(store, &visit, 1, sizeof visit, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    CHECK(simkeep_redirect_digest(URL, URL_LEN, "/b#part", 7, visit.digest, &error) == SIMKEEP_OK);
    simkeep_outcomes_free(simkeep_observe_batch(store, &visit, 1, sizeof visit, &error));
    EXPECT(error, SIMKEEP_OK);
    simkeep_page page;
    CHECK(latest(store, URL, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(page.visits == 2 && page.last_seen == SIMKEEP_SEEN_REDIRECT);
    CHECK(memcmp(page.digest, visit.digest, sizeof visit.digest) == 0);
    simkeep_store_free(store);
}

/* In a child, all calls on a store fail at once, and a reader works. */
static void forked_child_is_refused(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = create(path);
    simkeep_outcomes_free(simkeep_gone(store, URL, URL_LEN, 1000, 410, &error));
    simkeep_snapshot *snapshot = simkeep_store_snapshot(store, &error);
    simkeep_pages *pages = simkeep_snapshot_scan(snapshot, NULL, 0, &error);
    simkeep_query like;
    simkeep_query_init(&like, sizeof like, 0, 3, &error);
    simkeep_pairs *pairs = simkeep_snapshot_all_pairs(snapshot, &like, NULL, &error);
    simkeep_reader *reader = simkeep_reader_open(path, 0, &error);
    EXPECT(error, SIMKEEP_OK);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        simkeep_page page;
        simkeep_pair_chunk chunk;
        simkeep_stats stats;
        CHECK(!simkeep_gone(store, URL, URL_LEN, 2000, 410, &error));
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(!simkeep_store_snapshot(store, &error));
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_store_stats(store, &stats, sizeof stats, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(!simkeep_snapshot_near(snapshot, 0, 3, &error));
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_pages_next(pages, &page, sizeof page, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_pairs_next(pairs, &chunk, sizeof chunk, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_store_close(store, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);

        CHECK(simkeep_reader_refresh(reader, NULL, &error) == SIMKEEP_OK);
        simkeep_snapshot *seen = simkeep_reader_snapshot(reader, &error);
        CHECK(simkeep_snapshot_latest(seen, URL, URL_LEN, &page, sizeof page, &error) == SIMKEEP_OK);
        CHECK(page.gone == 1);
        EXPECT(error, SIMKEEP_OK);
        simkeep_snapshot_free(seen);
        simkeep_reader_free(reader);
        simkeep_pairs_free(pairs);
        simkeep_pages_free(pages);
        simkeep_snapshot_free(snapshot);
        simkeep_store_free(store);
        /* Replace the process, so that leak checkers ignore memory that a child cannot free. */
        if (!failed) execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    /* The parent is not affected. */
    simkeep_outcomes *out = simkeep_failed(store, URL, URL_LEN, 3000, 0, &error);
    CHECK(out != NULL);
    simkeep_outcomes_free(out);
    EXPECT(error, SIMKEEP_OK);
    simkeep_reader_free(reader);
    simkeep_pairs_free(pairs);
    simkeep_pages_free(pages);
    simkeep_snapshot_free(snapshot);
    CHECK(simkeep_store_close(store, &error) == SIMKEEP_OK);
    simkeep_store_free(store);
}

static void fingerprints_match_html_and_text(void) {
    simkeep_error *error = NULL;
    simkeep_fingerprinter *prints = simkeep_fingerprinter_new(NULL, 0, &error);
    const char text[] = "The quick brown fox jumps over the lazy dog, and runs away";
    const char html[] = "<title>The quick</title><p>brown fox jumps over the <b>lazy</b> dog, and runs away";
    uint64_t of_text = 0, of_page = 0, of_html = 0;
    CHECK(simkeep_fingerprint_text(text, strlen(text), &of_text, &error) == SIMKEEP_OK);
    CHECK(simkeep_fingerprinter_text(prints, text, strlen(text), &of_page, &error) == SIMKEEP_OK);
    CHECK(simkeep_fingerprinter_html(prints, html, strlen(html), NULL, 0, &of_html, &error) == SIMKEEP_OK);
    CHECK(of_text == of_page && of_text == of_html && of_text != 0);
    CHECK(simkeep_fingerprinter_text(prints, "Not found", 9, &of_page, &error) == SIMKEEP_NONE);
    CHECK(simkeep_fingerprint_text("Not found", 9, &of_text, &error) == SIMKEEP_NONE);
    EXPECT(error, SIMKEEP_OK);
    simkeep_fingerprinter_free(prints);
}

static void html_is_observed_with_its_fingerprint(const char *path) {
    simkeep_error *error = NULL;
    const char url[] = "https://example.com/", html[] = "<p>The quick brown fox jumps over the lazy dog";
    uint32_t epoch = 0;
    uint64_t fingerprint = 0;
    simkeep_store *store = simkeep_store_create(path, NULL, &error);
    simkeep_change_epoch(store, &epoch, &error);
    simkeep_fingerprinter *prints = simkeep_fingerprinter_new(store, epoch, &error);
    simkeep_outcomes *out = simkeep_observe_html(store, prints, url, strlen(url), 1000, html, strlen(html), NULL, 0,
                                                 NULL, 200, &error);
    CHECK(out && simkeep_outcomes_verdicts(out)[0] == SIMKEEP_VERDICT_NEW);
    simkeep_outcomes_free(out);
    /* The same text without markup has the same fingerprint. */
    CHECK(simkeep_fingerprinter_text(prints, html + 3, strlen(html) - 3, &fingerprint, &error) == SIMKEEP_OK);
    out = simkeep_observe(store, url, strlen(url), 2000, fingerprint, epoch, NULL, 200, &error);
    CHECK(out && simkeep_outcomes_verdicts(out)[0] == SIMKEEP_VERDICT_SAME);
    simkeep_outcomes_free(out);
    /* A page with a short text has no fingerprint, but counts as content. */
    out = simkeep_observe_html(store, prints, url, strlen(url), 3000, "<p>Moved", 8, NULL, 0, NULL, 200, &error);
    CHECK(out && simkeep_outcomes_verdicts(out)[0] == SIMKEEP_VERDICT_CHANGED);
    simkeep_outcomes_free(out);
    EXPECT(error, SIMKEEP_OK);
    /* A fingerprinter without a store has no epoch. */
    simkeep_fingerprinter *without = simkeep_fingerprinter_new(NULL, 0, &error);
    out = simkeep_observe_html(store, without, url, strlen(url), 4000, html, strlen(html), NULL, 0, NULL, 200, &error);
    CHECK(!out);
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    simkeep_fingerprinter_free(without);
    simkeep_fingerprinter_free(prints);
    CHECK(simkeep_store_close(store, &error) == SIMKEEP_OK);
    simkeep_store_free(store);
}

int main(int argc, char **argv) {
    const char *dir = argc > 1 ? argv[1] : ".";
    void (*const tests[])(const char *) = {
        verdicts_and_columns, facts_of_responses_are_returned, store_without_validators_keeps_no_entity_tags,
        outcomes_refer_to_the_first_capture, copies_are_found_by_digest,
        errors_carry_file_offset_and_row, structures_grow_only_at_the_end,
        threads_share_a_store, pairs_are_streamed_in_chunks, responses_and_redirects_are_classified,
        html_is_observed_with_its_fingerprint, forked_child_is_refused,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/behaviour-%d.simkeep", dir, (int)i);
        tests[i](path);
    }
    fingerprints_match_html_and_text();
    CHECK(simkeep_abi_version() == SIMKEEP_ABI_VERSION && strlen(simkeep_version()) >= 5);
    puts(failed ? "failed" : "all as promised");
    return failed;
}
