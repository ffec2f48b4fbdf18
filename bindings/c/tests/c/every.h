/* The frame of the program that tests/every.py writes: valid arguments, and the check of each call. */
#define _POSIX_C_SOURCE 200809L
#include <simkeep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = -1, NOT_ARGUMENT = -2 };

static const char *function, *given;
static simkeep_error *error;
static int32_t code;
static int called, calls, wrong;

static void begin(const char *name, const char *what) {
    function = name;
    given = what;
    code = SIMKEEP_OK;
    calls++;
}

/* Checks that a call ended as expected. If it has an error argument, its return code must match that error. */
static void end(int32_t expected, int has_error) {
    int32_t reported = simkeep_error_code(error);
    int right = 1;
    if (has_error && expected == NOT_ARGUMENT)
        right = reported != SIMKEEP_MALFORMED_ARGUMENT && reported != SIMKEEP_INTERNAL;
    if (has_error && expected >= 0) right = reported == expected;
    if (reported != SIMKEEP_OK && code != SIMKEEP_OK) right = right && code == reported;
    if (expected != SIMKEEP_INTERNAL && reported == SIMKEEP_INTERNAL) right = 0;
    if (!right) {
        fprintf(stderr, "%s (%s): code %d, expected %d: %s\n", function, given, (int)reported, (int)expected,
                error ? simkeep_error_message(error) : "no error");
        wrong++;
    }
    simkeep_error_free(error);
    error = NULL;
}

/* Releases a table, if there is one. */
static void released(struct ArrowSchema *schema, struct ArrowArray *array) {
    if (schema->release) schema->release(schema);
    if (array->release) array->release(array);
    if (schema->release || array->release) wrong++;
}

static void panic_in(const char *name) {
    if (name) setenv("SIMKEEP_PANIC_IN", name, 1);
    else unsetenv("SIMKEEP_PANIC_IN");
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "every.simkeep";
    const char *url = "https://example.com/a";
    const char *text = "You may use this site as long as you behave well and pay nothing at all.";
    const uint64_t numbers[2] = {5, 6};
    const uint8_t digest[16] = {7};
    uint8_t made_digest[16];
    simkeep_visit visits[2];
    memset(visits, 0, sizeof visits);
    for (int i = 0; i < 2; i++) {
        visits[i].url = i ? "https://example.org/b" : url;
        visits[i].url_len = strlen(visits[i].url);
        visits[i].time_ms = 1000;
        visits[i].seen = SIMKEEP_SEEN_CONTENT;
        visits[i].has = SIMKEEP_HAS_FINGERPRINT;
        visits[i].fingerprint = numbers[i];
    }
    simkeep_property_update updates[2];
    simkeep_change changes[2];
    simkeep_text texts[2];
    memset(updates, 0, sizeof updates);
    for (int i = 0; i < 2; i++) {
        updates[i].url = changes[i].url = texts[i].bytes = visits[i].url;
        updates[i].url_len = changes[i].url_len = texts[i].len = visits[i].url_len;
        updates[i].time_ms = changes[i].time_ms = 2000;
        updates[i].has = SIMKEEP_HAS_WEIGHT | SIMKEEP_HAS_CLASS;
        updates[i].weight = 2;
    }
    const uint32_t classes[1] = {7};
    char backup_path[4096], repaired_path[4096];
    snprintf(backup_path, sizeof backup_path, "%s.backup", path);
    snprintf(repaired_path, sizeof repaired_path, "%s.repaired", path);
    uint64_t u64 = 0;
    uint32_t u32 = 0;
    double f64 = 0;
/* STRUCTURES */
    simkeep_options_init(&a_options, sizeof a_options, &error);
    a_options.background = 0;
    simkeep_query_init(&a_query, sizeof a_query, 5, 3, &error);
    simkeep_page_pair_query_init(&a_page_pair_query, sizeof a_page_pair_query, 3, &error);
    simkeep_clustering_init(&a_clustering, sizeof a_clustering, 3, &error);
    simkeep_due_query_init(&a_due_query, sizeof a_due_query, 100000000, 10, &error);

    simkeep_error *some_error = NULL;
    if (simkeep_store_open(NULL, NULL, &some_error)) return 2;
    simkeep_store *store = simkeep_store_create(path, &a_options, &error);
    simkeep_outcomes *outcomes = simkeep_observe_batch(store, visits, 2, sizeof *visits, &error);
    simkeep_snapshot *snapshot = simkeep_store_snapshot(store, &error);
    simkeep_reader *reader = simkeep_reader_open(path, 0, &error);
    simkeep_progress *progress = simkeep_progress_new(&error);
    simkeep_progress *cancelled = simkeep_progress_new(&error);
    simkeep_pages *pages = simkeep_snapshot_scan(snapshot, NULL, 0, &error);
    simkeep_pairs *pairs = simkeep_snapshot_all_pairs(snapshot, &a_query, NULL, &error);
    simkeep_page_pairs *page_pairs = simkeep_snapshot_page_pairs(snapshot, &a_page_pair_query, NULL, &error);
    simkeep_entries *entries = simkeep_snapshot_history(snapshot, url, strlen(url), &error);
    simkeep_matches *matches = simkeep_snapshot_near(snapshot, 5, 3, &error);
    simkeep_copies *copies = simkeep_snapshot_by_digest(snapshot, digest, 1, 5, 0, 10, &error);
    simkeep_epochs *epochs = simkeep_snapshot_epochs(snapshot, &error);
    simkeep_verified *verified = simkeep_verify(store, 0, NULL, &error);
    simkeep_fingerprinter *fingerprinter = simkeep_fingerprinter_new(store, 0, &error);
    simkeep_explanation *explanation = simkeep_snapshot_explain(snapshot, &a_query, &error);
    simkeep_clusters *clusters = simkeep_snapshot_clusters(snapshot, &a_clustering, NULL, &error);
    simkeep_clustered_pages *clustered_pages = simkeep_clusters_by_page(clusters, 1, &error);
    simkeep_cluster_list *cluster_list = simkeep_clusters_by_size(clusters, 1, &error);
    simkeep_dropped_pages *dropped_pages = simkeep_clusters_dropped(clusters, NULL, 0, 0, &error);
    simkeep_fates *fates = simkeep_dropped_pages_fates(dropped_pages, texts, 2, sizeof *texts, &error);
    simkeep_plan *plan = simkeep_snapshot_plan(snapshot, &a_due_query, 5, &error);
    simkeep_hints *hints = simkeep_snapshot_hints(snapshot, changes, 2, sizeof *changes, -1, &error);
    a_due_query.plan = plan;
    a_due_query.hints = hints;
    simkeep_decisions *decisions = simkeep_snapshot_due(snapshot, &a_due_query, &error);
    /* A finished load, which does not block other calls. */
    simkeep_loading *loading = simkeep_loading_begin(store, 0, NULL, &error);
    simkeep_loading_finish(loading, NULL, 0, &error);
    simkeep_backup(store, backup_path, 0, NULL, NULL, 0, &error);
    simkeep_repaired *repaired = simkeep_repair(backup_path, repaired_path, 0, 0, NULL, &error);
    if (error) {
        fprintf(stderr, "%s\n", simkeep_error_message(error));
        return 2;
    }
    struct ArrowSchema schema;
    struct ArrowArray array;
    memset(&schema, 0, sizeof schema);
    memset(&array, 0, sizeof array);

/* CALLS */

    simkeep_error_free(some_error);
    simkeep_repaired_free(repaired);
    simkeep_loading_free(loading);
    simkeep_decisions_free(decisions);
    simkeep_hints_free(hints);
    simkeep_plan_free(plan);
    simkeep_fates_free(fates);
    simkeep_dropped_pages_free(dropped_pages);
    simkeep_cluster_list_free(cluster_list);
    simkeep_clustered_pages_free(clustered_pages);
    simkeep_clusters_free(clusters);
    simkeep_explanation_free(explanation);
    simkeep_page_pairs_free(page_pairs);
    simkeep_fingerprinter_free(fingerprinter);
    simkeep_verified_free(verified);
    simkeep_epochs_free(epochs);
    simkeep_copies_free(copies);
    simkeep_matches_free(matches);
    simkeep_entries_free(entries);
    simkeep_pairs_free(pairs);
    simkeep_pages_free(pages);
    simkeep_progress_free(cancelled);
    simkeep_progress_free(progress);
    simkeep_reader_free(reader);
    simkeep_snapshot_free(snapshot);
    simkeep_outcomes_free(outcomes);
    simkeep_store_free(store);
    printf("%d functions, %d calls, %d wrong\n", called, calls, wrong);
    return wrong > 0 || called != FUNCTIONS;
}
