/* Checks that memory does not grow over many calls and many opens, once caches are full, and that loading
   many visits in batches takes little memory.

   usage: memory STORE [CALLS] [OPENS] [VISITS] */
#define _POSIX_C_SOURCE 200809L
#include <simkeep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGES = 1000 };

static const char *path;

static void die(const char *what, simkeep_error *error) {
    fprintf(stderr, "%s: %s\n", what, error ? simkeep_error_message(error) : "no error");
    exit(1);
}

/* Returns the memory of this process in KiB, without mapped segments: those belong to the page cache. */
static long own(void) {
    long all = 0, pages = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld %ld", &all, &pages, &shared) != 3) exit(77);
    fclose(file);
    return (pages - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Makes `count` calls of each kind, and as many calls that fail. */
static void calls(simkeep_store *store, long count) {
    simkeep_error *error = NULL;
    simkeep_pages *pages = NULL;
    for (long i = 0; i < count; i++) {
        char url[64];
        snprintf(url, sizeof url, "https://example.com/%ld", i % PAGES);
        /* Every visit after the first round is known, so the store does not grow. */
        simkeep_outcomes *out = simkeep_observe(store, url, strlen(url), 1, (uint64_t)(i % PAGES), 0, NULL, 0, &error);
        simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
        simkeep_matches *matches = simkeep_snapshot_near(now, (uint64_t)i, 2, &error);
        simkeep_page page;
        if (!pages) pages = simkeep_snapshot_scan(now, NULL, 0, &error);
        int32_t code = simkeep_pages_next(pages, &page, sizeof page, &error);
        if (code == SIMKEEP_NONE) {
            simkeep_pages_free(pages);
            pages = NULL;
        }
        if (!out || !matches || error) die("a call", error);
        simkeep_matches_free(matches);
        simkeep_outcomes_free(out);
        simkeep_snapshot_near(now, 0, 65, &error);
        simkeep_snapshot_free(now);
        simkeep_error_free(error);
        error = NULL;
    }
    simkeep_pages_free(pages);
}

static void opens(long count) {
    simkeep_error *error = NULL;
    for (long i = 0; i < count; i++) {
        simkeep_store *store = simkeep_store_open(path, NULL, &error);
        if (!store) die("open", error);
        simkeep_store_free(store);
    }
}

static int grows(const char *what, long count, long before) {
    long by = own() - before;
    printf("%ld %s: %ld KiB more\n", count, what, by);
    return by > 2048;
}

/* Loads `count` visits, and returns the peak memory of the load in KiB. */
static long loads(long count) {
    enum { BATCH = 1000 };
    static char urls[BATCH][100];
    static simkeep_visit visits[BATCH];
    simkeep_error *error = NULL;
    simkeep_store *store = simkeep_store_open(path, NULL, &error);
    long before = own(), most = before;
    simkeep_loading *loading = simkeep_loading_begin(store, 8 << 20, NULL, &error);
    for (long at = 0; at < count; at += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            snprintf(urls[i], sizeof urls[i], "https://example.org/a/path/that/is/as/long/as/many/%ld", (at + i) * 7919 % count);
            memset(&visits[i], 0, sizeof visits[i]);
            visits[i].url = urls[i];
            visits[i].url_len = strlen(urls[i]);
            visits[i].seen = SIMKEEP_SEEN_GONE;
        }
        if (simkeep_loading_push(loading, visits, BATCH, sizeof *visits, &error)) die("push", error);
        long now = own();
        if (now > most) most = now;
    }
    simkeep_loaded loaded;
    if (simkeep_loading_finish(loading, &loaded, sizeof loaded, &error)) die("finish", error);
    if (loaded.observations != (uint64_t)count) die("a load of fewer", error);
    simkeep_loading_free(loading);
    simkeep_store_free(store);
    return most - before;
}

int main(int argc, char **argv) {
    path = argv[1];
    long many = argc > 2 ? atol(argv[2]) : 2000, often = argc > 3 ? atol(argv[3]) : 20;
    long visits = argc > 4 ? atol(argv[4]) : 300000;
    simkeep_error *error = NULL;
    simkeep_options options;
    simkeep_options_init(&options, sizeof options, &error);
    options.durability = SIMKEEP_DURABILITY_ON_FLUSH;
    simkeep_store *store = simkeep_store_create(path, &options, &error);
    if (!store) die("create", error);
    calls(store, 2 * PAGES);
    long before = own();
    calls(store, many);
    int wrong = grows("calls of each kind", many, before);
    if (simkeep_store_close(store, &error)) die("close", error);
    simkeep_store_free(store);
    opens(often / 10 + 10);
    before = own();
    opens(often);
    wrong |= grows("opens", often, before);
    /* The visits held all at once would take more. */
    long most = loads(visits);
    printf("a load of %ld visits: %ld KiB at most\n", visits, most);
    return wrong | (most > 40 << 10);
}
