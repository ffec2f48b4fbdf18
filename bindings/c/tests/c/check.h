/* Helpers of the C tests: checks, visits, and a store. */
#ifndef CHECK_H
#define CHECK_H

#include <simkeep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            failed = 1; \
        } \
    } while (0)

static const char URL[] = "https://example.com/a";
#define URL_LEN (sizeof URL - 1)

/* Checks the code of an error, and frees the error. */
static void expect(simkeep_error **error, int32_t code, int line) {
    if (simkeep_error_code(*error) != code) {
        fprintf(stderr, "line %d: code %d, expected %d: %s\n", line, (int)simkeep_error_code(*error), (int)code,
                *error ? simkeep_error_message(*error) : "no error");
        failed = 1;
    }
    simkeep_error_free(*error);
    *error = NULL;
}
#define EXPECT(error, code) expect(&(error), code, __LINE__)

static simkeep_visit content(const char *url, int64_t time, uint64_t fingerprint) {
    simkeep_visit visit;
    memset(&visit, 0, sizeof visit);
    visit.url = url;
    visit.url_len = strlen(url);
    visit.time_ms = time;
    visit.seen = SIMKEEP_SEEN_CONTENT;
    visit.has = SIMKEEP_HAS_FINGERPRINT;
    visit.fingerprint = fingerprint;
    return visit;
}

static simkeep_store *create(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = simkeep_store_create(path, NULL, &error);
    EXPECT(error, SIMKEEP_OK);
    return store;
}

/* Copies the current state of a page of a store. */
static int32_t latest(simkeep_store *store, const char *url, simkeep_page *page, size_t size, simkeep_error **error) {
    simkeep_snapshot *now = simkeep_store_snapshot(store, error);
    int32_t code = simkeep_snapshot_latest(now, url, strlen(url), page, size, error);
    simkeep_snapshot_free(now);
    return code;
}

#endif
