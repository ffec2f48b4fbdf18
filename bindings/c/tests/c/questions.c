/* Tests updates, due pages, clusters and pairs, and operations on a whole store: loads, backups, repairs
   and purges. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

#define DAY INT64_C(86400000)
#define A "https://example.com/a"
#define B "https://example.com/b"
#define C "https://example.org/c"

static int is(const char *bytes, size_t len, const char *text) {
    return bytes && len == strlen(text) && memcmp(bytes, text, len) == 0;
}

/* Whether text `i` of a column equals `text`. */
static int text_is(const simkeep_texts *texts, size_t i, const char *text) {
    return texts && i < texts->count &&
           is(texts->bytes + texts->offsets[i], (size_t)(texts->offsets[i + 1] - texts->offsets[i]), text);
}

/* B is 3 bits from A, C is 1 from A, and B and C are 4 from each other. */
static simkeep_store *three(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = create(path);
    simkeep_visit visits[3] = {content(A, 1000, 0), content(B, 2000, 7), content(C, 3000, 8)};
    for (int i = 0; i < 3; i++) {
        visits[i].has |= SIMKEEP_HAS_DIGEST;
        visits[i].digest[0] = (uint8_t)(i + 1);
    }
    simkeep_outcomes_free(simkeep_observe_batch(store, visits, 3, sizeof *visits, &error));
    EXPECT(error, SIMKEEP_OK);
    return store;
}

static void weights_and_classes_are_set(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = three(path);
    CHECK(simkeep_set_weight(store, A, strlen(A), 5000, 2.5, &error) == SIMKEEP_OK);
    CHECK(simkeep_set_class(store, A, strlen(A), 5000, 7, &error) == SIMKEEP_OK);
    CHECK(simkeep_set_class(store, "x", 1, 5000, 7, &error) == SIMKEEP_NONE);
    simkeep_page page;
    CHECK(latest(store, A, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(page.visits == 1 && page.weight == 2.5 && page.page_class == 7);
    EXPECT(error, SIMKEEP_OK);

    simkeep_property_update updates[3];
    memset(updates, 0, sizeof updates);
    const char *const urls[3] = {A, B, "y"};
    for (int i = 0; i < 3; i++) {
        updates[i].url = urls[i];
        updates[i].url_len = strlen(urls[i]);
        updates[i].time_ms = 6000;
        updates[i].has = SIMKEEP_HAS_WEIGHT | SIMKEEP_HAS_CLASS;
        updates[i].weight = i + 1;
        updates[i].page_class = (uint32_t)i;
    }
    uint64_t missing = 0;
    CHECK(simkeep_set_property_batch(store, updates, 3, sizeof *updates, &missing, &error) == SIMKEEP_OK);
    CHECK(missing == 1);
    CHECK(latest(store, B, &page, sizeof page, &error) == SIMKEEP_OK);
    CHECK(page.weight == 2 && page.page_class == 1);
    EXPECT(error, SIMKEEP_OK);
    updates[1].weight = -1;
    CHECK(simkeep_set_property_batch(store, updates, 3, sizeof *updates, NULL, &error) != SIMKEEP_OK);
    CHECK(simkeep_error_row(error) == 1);
    simkeep_error_free(error);
    error = NULL;
    updates[1].has = 0;
    CHECK(simkeep_set_property_batch(store, updates, 3, sizeof *updates, NULL, &error) == SIMKEEP_MALFORMED_ARGUMENT);
    CHECK(simkeep_error_row(error) == 1);
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    simkeep_store_free(store);
}

static void due_pages_are_leased_once(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = three(path);
    simkeep_due_query query;
    CHECK(simkeep_due_query_init(&query, sizeof query, 30 * DAY, 10, &error) == SIMKEEP_OK);
    simkeep_decision decision;
    simkeep_page page;
    simkeep_snapshot *snapshot = simkeep_store_snapshot(store, &error);
    simkeep_decisions *due = simkeep_snapshot_due(snapshot, &query, &error);
    int count = 0;
    double before = 1e300;
    while (simkeep_decisions_next(due, &decision, sizeof decision, &page, sizeof page, &error) == SIMKEEP_OK) {
        CHECK(decision.value <= before && decision.per_day_low < decision.per_day_high);
        CHECK(decision.url_len == page.url_len && page.visits == 1 && decision.weight == 1);
        CHECK(decision.reason == SIMKEEP_REASON_WORTH && decision.has == 0 && !decision.rule);
        if (is(decision.url, decision.url_len, B)) CHECK(is(decision.near, decision.near_len, A));
        if (is(decision.url, decision.url_len, A)) CHECK(!decision.near);
        before = decision.value;
        count++;
    }
    CHECK(count == 3);
    simkeep_decisions_free(due);
    EXPECT(error, SIMKEEP_OK);

    /* Each page is leased once, until it is released or seen. */
    query.budget = 2;
    simkeep_decisions_free(simkeep_lease_due(store, &query, 3600, &error));
    due = simkeep_lease_due(store, &query, 3600, &error);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_OK);
    char last[64] = "";
    CHECK(decision.url_len < sizeof last);
    memcpy(last, decision.url, decision.url_len);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_NONE);
    simkeep_decisions_free(due);
    CHECK(simkeep_release(store, last, strlen(last), &error) == SIMKEEP_OK);
    CHECK(simkeep_release(store, last, strlen(last), &error) == SIMKEEP_NONE);
    due = simkeep_lease_due(store, &query, 3600, &error);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_OK);
    CHECK(is(decision.url, decision.url_len, last));
    simkeep_decisions_free(due);
    EXPECT(error, SIMKEEP_OK);

    /* Rules, hints and plans. */
    simkeep_due_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].under = "example.com";
    rules[0].under_len = strlen(rules[0].under);
    rules[0].weight = 4;
    rules[0].per_host = 1;
    rules[1].max_s = 3600;
    query.rules = rules;
    query.rules_count = 2;
    query.budget = 10;
    const simkeep_change changes[1] = {{A, sizeof A - 1, 20 * DAY}};
    simkeep_hints *hints = simkeep_snapshot_hints(snapshot, changes, 1, sizeof *changes, 1, &error);
    query.hints = hints;
    due = simkeep_snapshot_due(snapshot, &query, &error);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_OK);
    CHECK(is(decision.url, decision.url_len, C) && decision.reason == SIMKEEP_REASON_OVERDUE);
    CHECK(decision.reason_s == 3600);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_OK);
    CHECK(is(decision.url, decision.url_len, A) && decision.reason == SIMKEEP_REASON_HINTED);
    CHECK(decision.reason_time_ms == 20 * DAY && decision.weight == 4);
    CHECK(decision.rule && strncmp(decision.rule, "example.com", decision.rule_len) == 0);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_NONE);
    simkeep_decisions_free(due);
    EXPECT(error, SIMKEEP_OK);

    simkeep_due_query plain;
    simkeep_due_query_init(&plain, sizeof plain, 30 * DAY, 10, &error);
    simkeep_plan *plan = simkeep_snapshot_plan(snapshot, &plain, 0.5, &error);
    simkeep_plan_numbers numbers;
    CHECK(simkeep_plan_get(plan, &numbers, sizeof numbers, &error) == SIMKEEP_OK);
    CHECK(numbers.per_day == 0.5 && numbers.pages == 3 && numbers.freshness > 0);
    simkeep_new_page new_page;
    const char *url = "https://example.net/";
    CHECK(simkeep_plan_of_new(plan, url, strlen(url), &new_page, sizeof new_page, &error) == SIMKEEP_OK);
    CHECK(new_page.value > 0 && new_page.every_s > 0 && new_page.weight == 1);
    due = simkeep_snapshot_decide(snapshot, A, strlen(A), plan, &error);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_OK);
    CHECK((decision.has & SIMKEEP_DECISION_HAS_EVERY) && decision.every_s > 0);
    simkeep_decisions_free(due);
    due = simkeep_snapshot_decide(snapshot, url, strlen(url), plan, &error);
    CHECK(simkeep_decisions_next(due, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_NONE);
    simkeep_decisions_free(due);
    double per_day = 0;
    CHECK(simkeep_snapshot_pace(snapshot, &plain, &per_day, &error) == SIMKEEP_OK && per_day == 3);
    EXPECT(error, SIMKEEP_OK);

    plain.policy = "weekly";
    plain.policy_len = 6;
    CHECK(!simkeep_snapshot_due(snapshot, &plain, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    rules[1] = rules[0];
    CHECK(!simkeep_snapshot_due(snapshot, &query, &error));
    EXPECT(error, SIMKEEP_INVALID_ARGUMENT);
    simkeep_plan_free(plan);
    simkeep_hints_free(hints);
    simkeep_snapshot_free(snapshot);
    simkeep_store_free(store);
}

static void clusters_have_leaders(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = three(path);
    simkeep_snapshot *snapshot = simkeep_store_snapshot(store, &error);
    simkeep_clustering clustering;
    CHECK(simkeep_clustering_init(&clustering, sizeof clustering, 3, &error) == SIMKEEP_OK);
    simkeep_clusters *clusters = simkeep_snapshot_clusters(snapshot, &clustering, NULL, &error);
    simkeep_clusters_numbers numbers;
    CHECK(simkeep_clusters_get(clusters, &numbers, sizeof numbers, &error) == SIMKEEP_OK);
    CHECK(numbers.pages == 3 && numbers.clusters == 1 && numbers.largest == 3 && numbers.k == 3);
    CHECK(numbers.bins == 2 && simkeep_clusters_sizes(clusters)[1] == 1);

    simkeep_clustered_pages *pages = simkeep_clusters_by_page(clusters, 1, &error);
    simkeep_clustered_chunk chunk;
    CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_OK);
    CHECK(chunk.count == 3 && text_is(chunk.urls, 0, A) && text_is(chunk.urls, 2, C));
    for (int i = 0; i < 3; i++) {
        CHECK(text_is(chunk.leaders, (size_t)i, A) && chunk.cluster_pages[i] == 3 && chunk.has_class[i] == 0);
        CHECK(chunk.by[i] == (i ? SIMKEEP_ORIGINAL_BY_NEAR : SIMKEEP_ORIGINAL_BY_NOTHING));
    }
    CHECK(chunk.distances[0] == 0 && chunk.distances[1] == 3 && chunk.distances[2] == 1);
    CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_NONE);
    simkeep_clustered_pages_free(pages);
    /* Lists keep their clusters alive. */
    pages = simkeep_clusters_by_cluster(clusters, 2, &error);
    simkeep_cluster_list *list = simkeep_clusters_by_size(clusters, 2, &error);
    simkeep_dropped_pages *dropped = simkeep_clusters_dropped(clusters, NULL, 0, 0, &error);
    simkeep_clusters_free(clusters);
    CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_OK);
    CHECK(text_is(chunk.urls, 0, A) && text_is(chunk.urls, 1, C) && text_is(chunk.urls, 2, B));
    simkeep_clustered_pages_free(pages);
    simkeep_cluster_chunk of;
    CHECK(simkeep_cluster_list_next(list, &of, sizeof of, &error) == SIMKEEP_OK);
    CHECK(of.count == 1 && text_is(of.leaders, 0, A) && of.pages[0] == 3 && of.max_distance[0] == 3);
    CHECK(of.first_seen_ms[0] == 1000 && of.fingerprints[0] == 0);
    CHECK(simkeep_cluster_list_next(list, &of, sizeof of, &error) == SIMKEEP_NONE);
    simkeep_cluster_list_free(list);
    EXPECT(error, SIMKEEP_OK);

    CHECK(simkeep_dropped_pages_count(dropped) == 2);
    const simkeep_text urls[3] = {{A, sizeof A - 1}, {B, sizeof B - 1}, {"z", 1}};
    simkeep_fates *fates = simkeep_dropped_pages_fates(dropped, urls, 3, sizeof *urls, &error);
    EXPECT(error, SIMKEEP_OK);
    CHECK(simkeep_fates_count(fates) == 3 && simkeep_fates_kinds(fates)[0] == SIMKEEP_FATE_KEPT);
    CHECK(simkeep_fates_kinds(fates)[1] == SIMKEEP_FATE_DROPPED);
    CHECK(simkeep_fates_kinds(fates)[2] == SIMKEEP_FATE_UNKNOWN);
    CHECK(simkeep_fates_has_digest(fates)[1] == 1 && simkeep_fates_digests(fates)[16] == 2);
    CHECK(text_is(simkeep_fates_kept(fates), 1, A) && simkeep_fates_distances(fates)[1] == 3);
    CHECK(simkeep_fates_distances(fates)[0] == SIMKEEP_NO_DISTANCE);
    simkeep_fates_free(fates);
    const simkeep_text bad[2] = {{A, sizeof A - 1}, {"", 0}};
    CHECK(!simkeep_dropped_pages_fates(dropped, bad, 2, sizeof *bad, &error) && simkeep_error_row(error) == 1);
    EXPECT(error, SIMKEEP_URL);
    simkeep_dropped_pages_free(dropped);

    uint32_t complete = 0;
    pages = simkeep_snapshot_cluster_of(snapshot, B, strlen(B), &clustering, &complete, &error);
    CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_OK);
    CHECK(complete == 1 && chunk.count == 3 && text_is(chunk.urls, 0, A));
    simkeep_clustered_pages_free(pages);
    clustering.rule = "newest";
    clustering.rule_len = strlen(clustering.rule);
    pages = simkeep_snapshot_cluster_of(snapshot, A, strlen(A), &clustering, NULL, &error);
    CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_OK);
    CHECK(chunk.count == 2 && text_is(chunk.urls, 0, C));
    simkeep_clustered_pages_free(pages);
    EXPECT(error, SIMKEEP_OK);
    clustering.rule = "oldest";
    CHECK(!simkeep_snapshot_clusters(snapshot, &clustering, NULL, &error));
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);

    simkeep_page_pair_query query;
    simkeep_page_pair_query_init(&query, sizeof query, 3, &error);
    simkeep_page_pairs *pairs = simkeep_snapshot_page_pairs(snapshot, &query, NULL, &error);
    simkeep_page_pair_chunk near;
    size_t sum = 0;
    while (simkeep_page_pairs_next(pairs, &near, sizeof near, &error) == SIMKEEP_OK)
        for (size_t i = 0; i < near.count; i++, sum++) {
            CHECK(text_is(near.left_urls, i, A) && near.left[i] == 0);
            CHECK(text_is(near.right_urls, i, near.right[i] == 7 ? B : C));
            CHECK(near.distances[i] == (near.right[i] == 7 ? 3 : 1));
        }
    CHECK(sum == 2);
    simkeep_page_pairs_free(pairs);

    simkeep_query like;
    simkeep_query_init(&like, sizeof like, 0, 3, &error);
    simkeep_explanation *why = simkeep_snapshot_explain(snapshot, &like, &error);
    simkeep_component_search component;
    CHECK(simkeep_explanation_count(why) > 0 && simkeep_explanation_took_ns(why) > 0);
    CHECK(simkeep_explanation_get(why, 0, &component, sizeof component, &error) == SIMKEEP_OK);
    CHECK(component.access_path == SIMKEEP_ACCESS_PATH_SCAN && component.fingerprints == 3 && component.hits == 3);
    CHECK(strlen(simkeep_explanation_instruction_set(why)) > 3);
    CHECK(simkeep_matches_offsets(simkeep_explanation_matches(why))[1] == 3);
    simkeep_explanation_free(why);
    EXPECT(error, SIMKEEP_OK);
    simkeep_snapshot_free(snapshot);
    simkeep_store_free(store);
}

/* In a child, calls on objects of a store fail, and freeing them works. The parent is not affected. */
static void forked_child_is_refused(const char *path) {
    simkeep_error *error = NULL;
    simkeep_store *store = three(path);
    simkeep_snapshot *snapshot = simkeep_store_snapshot(store, &error);
    simkeep_clustering clustering;
    simkeep_page_pair_query query;
    simkeep_due_query due;
    simkeep_clustering_init(&clustering, sizeof clustering, 3, &error);
    simkeep_page_pair_query_init(&query, sizeof query, 3, &error);
    simkeep_due_query_init(&due, sizeof due, DAY, 10, &error);
    simkeep_clusters *clusters = simkeep_snapshot_clusters(snapshot, &clustering, NULL, &error);
    simkeep_clustered_pages *pages = simkeep_clusters_by_page(clusters, 1, &error);
    simkeep_cluster_list *list = simkeep_clusters_by_size(clusters, 1, &error);
    simkeep_dropped_pages *dropped = simkeep_clusters_dropped(clusters, NULL, 0, 0, &error);
    simkeep_page_pairs *pairs = simkeep_snapshot_page_pairs(snapshot, &query, NULL, &error);
    simkeep_decisions *decisions = simkeep_snapshot_due(snapshot, &due, &error);
    EXPECT(error, SIMKEEP_OK);
    simkeep_clustered_chunk chunk;
    simkeep_cluster_chunk of;
    simkeep_page_pair_chunk near;
    simkeep_decision decision;
    const simkeep_text urls[1] = {{A, sizeof A - 1}};
    pid_t child = fork();
    if (child == 0) {
        CHECK(!simkeep_clusters_by_page(clusters, 1, &error));
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_cluster_list_next(list, &of, sizeof of, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(!simkeep_dropped_pages_fates(dropped, urls, 1, sizeof *urls, &error));
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_page_pairs_next(pairs, &near, sizeof near, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        CHECK(simkeep_decisions_next(decisions, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
    } else {
        CHECK(simkeep_clustered_pages_next(pages, &chunk, sizeof chunk, &error) == SIMKEEP_OK);
        CHECK(simkeep_cluster_list_next(list, &of, sizeof of, &error) == SIMKEEP_OK);
        CHECK(simkeep_page_pairs_next(pairs, &near, sizeof near, &error) == SIMKEEP_OK);
        CHECK(simkeep_decisions_next(decisions, &decision, sizeof decision, NULL, 0, &error) == SIMKEEP_OK);
        EXPECT(error, SIMKEEP_OK);
    }
    simkeep_decisions_free(decisions);
    simkeep_page_pairs_free(pairs);
    simkeep_dropped_pages_free(dropped);
    simkeep_cluster_list_free(list);
    simkeep_clustered_pages_free(pages);
    simkeep_clusters_free(clusters);
    simkeep_snapshot_free(snapshot);
    simkeep_store_free(store);
    if (child == 0) {
        if (!failed) execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A corpus is loaded in parts, and stored completely or not at all. */
static void load_is_atomic_across_parts(const char *path) {
    simkeep_error *error = NULL;
    simkeep_options options;
    simkeep_options_init(&options, sizeof options, &error);
    options.rule = "https,newest";
    options.rule_len = strlen(options.rule);
    simkeep_store *store = simkeep_store_create(path, &options, &error);
    EXPECT(error, SIMKEEP_OK);
    simkeep_stats stats;
    simkeep_loading *loading = simkeep_loading_begin(store, 1 << 20, NULL, &error);
    /* Only one load at a time: a second one fails instead of waiting forever. */
    CHECK(!simkeep_loading_begin(store, 0, NULL, &error));
    EXPECT(error, SIMKEEP_INVALID_ARGUMENT);
    char url[64];
    for (int part = 0; part < 20; part++) {
        simkeep_visit visits[50];
        /* All visits share one URL, which the library copies before the next part overwrites it. */
        snprintf(url, sizeof url, "https://example.com/%d", part);
        for (int i = 0; i < 50; i++) visits[i] = content(url, part * 50 + i, (uint64_t)part);
        CHECK(simkeep_loading_push(loading, visits, 50, sizeof *visits, &error) == SIMKEEP_OK);
        /* A bad part is rejected, and the load continues. */
        visits[7].seen = 77;
        CHECK(simkeep_loading_push(loading, visits, 50, sizeof *visits, &error) == SIMKEEP_MALFORMED_ARGUMENT);
        CHECK(simkeep_error_row(error) == 7);
        EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    }
    simkeep_loaded loaded;
    CHECK(simkeep_loading_finish(loading, &loaded, sizeof loaded, &error) == SIMKEEP_OK);
    CHECK(loaded.visits == 1000 && loaded.pages == 20);
    CHECK(simkeep_loading_finish(loading, NULL, 0, &error) == SIMKEEP_INVALID_ARGUMENT);
    EXPECT(error, SIMKEEP_INVALID_ARGUMENT);
    simkeep_loading_free(loading);

    /* An abandoned load stores nothing, and neither does one with an invalid visit. */
    simkeep_visit visits[2] = {content("https://example.net/", 1, 1), content("https://example.net/", 2, 1)};
    loading = simkeep_loading_begin(store, 0, NULL, &error);
    CHECK(simkeep_loading_push(loading, visits, 2, sizeof *visits, &error) == SIMKEEP_OK);
    simkeep_loading_free(loading);
    loading = simkeep_loading_begin(store, 0, NULL, &error);
    CHECK(simkeep_loading_push(loading, visits, 2, sizeof *visits, &error) == SIMKEEP_OK);
    visits[1].time_ms = INT64_MAX;
    CHECK(simkeep_loading_push(loading, visits, 2, sizeof *visits, &error) == SIMKEEP_OK);
    CHECK(simkeep_loading_finish(loading, &loaded, sizeof loaded, &error) == SIMKEEP_LOAD_REJECTED);
    CHECK(simkeep_error_row(error) == 3);
    EXPECT(error, SIMKEEP_LOAD_REJECTED);
    simkeep_loading_free(loading);
    simkeep_progress *progress = simkeep_progress_new(&error);
    loading = simkeep_loading_begin(store, 0, progress, &error);
    simkeep_progress_cancel(progress, &error);
    visits[1].time_ms = 2;
    simkeep_loading_push(loading, visits, 2, sizeof *visits, NULL);
    CHECK(simkeep_loading_finish(loading, &loaded, sizeof loaded, &error) != SIMKEEP_OK);
    simkeep_error_free(error);
    error = NULL;
    simkeep_loading_free(loading);
    simkeep_progress_free(progress);
    CHECK(simkeep_store_stats(store, &stats, sizeof stats, &error) == SIMKEEP_OK && stats.visits == 1000);

    /* In a child, calls on a load fail, and freeing it works. */
    loading = simkeep_loading_begin(store, 0, NULL, &error);
    pid_t child = fork();
    if (child == 0) {
        CHECK(simkeep_loading_push(loading, visits, 2, sizeof *visits, &error) == SIMKEEP_FORKED);
        EXPECT(error, SIMKEEP_FORKED);
        simkeep_loading_free(loading);
        if (!failed) execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(simkeep_loading_push(loading, visits, 2, sizeof *visits, &error) == SIMKEEP_OK);
    CHECK(simkeep_loading_finish(loading, NULL, 0, &error) == SIMKEEP_OK);
    simkeep_loading_free(loading);
    CHECK(simkeep_store_stats(store, &stats, sizeof stats, &error) == SIMKEEP_OK && stats.visits == 1002);
    EXPECT(error, SIMKEEP_OK);
    simkeep_store_free(store);
}

static void stores_are_backed_up_repaired_and_copied(const char *path) {
    simkeep_error *error = NULL;
    char to[4200], other[4200];
    snprintf(to, sizeof to, "%s.backup", path);
    snprintf(other, sizeof other, "%s.other", path);
    simkeep_store *store = three(path);
    simkeep_backed_up backed_up;
    CHECK(simkeep_backup(store, to, 1, NULL, &backed_up, sizeof backed_up, &error) == SIMKEEP_OK);
    CHECK(backed_up.pages == 3 && backed_up.has_earlier == 0 && backed_up.linked_files == 0);
    CHECK(simkeep_backup_path(path, to, 0, NULL, &backed_up, sizeof backed_up, &error) == SIMKEEP_OK);
    CHECK(backed_up.has_earlier == 1 && backed_up.earlier == backed_up.sequence);
    CHECK(simkeep_backup(store, path, 0, NULL, NULL, 0, &error) != SIMKEEP_OK);
    simkeep_error_free(error);
    error = NULL;

    simkeep_repaired *repaired = simkeep_repair(to, other, 0, 0, NULL, &error);
    simkeep_repaired_numbers numbers;
    simkeep_loss loss;
    CHECK(simkeep_repaired_get(repaired, &numbers, sizeof numbers, &error) == SIMKEEP_OK);
    CHECK(numbers.is_whole == 1 && numbers.pages == 3 && numbers.lost == 0 && numbers.flaws == 0);
    CHECK(simkeep_repaired_ambiguities(repaired)->count == 0);
    CHECK(simkeep_repaired_unnamed_epochs(repaired)->count == 0);
    EXPECT(error, SIMKEEP_OK);
    CHECK(simkeep_repaired_loss(repaired, 0, &loss, sizeof loss, &error) == SIMKEEP_MALFORMED_ARGUMENT);
    EXPECT(error, SIMKEEP_MALFORMED_ARGUMENT);
    simkeep_repaired_free(repaired);
    CHECK(!simkeep_repair(to, other, 0, 0, NULL, &error));
    EXPECT(error, SIMKEEP_STORE_EXISTS);

    /* Purged pages are gone, and can be copied back from another store. */
    uint64_t pages = 0;
    CHECK(simkeep_purge(store, A, strlen(A), NULL, &pages, &error) == SIMKEEP_OK && pages == 1);
    CHECK(simkeep_purge_under(store, "example.org", 11, NULL, &pages, &error) == SIMKEEP_OK && pages == 1);
    simkeep_reader *reader = simkeep_reader_open(to, 0, &error);
    simkeep_snapshot *snapshot = simkeep_reader_snapshot(reader, &error);
    simkeep_loaded loaded;
    CHECK(simkeep_copy_from(store, snapshot, 0, NULL, &loaded, sizeof loaded, &error) == SIMKEEP_OK);
    CHECK(loaded.new_pages == 2 && loaded.visits == 2);
    EXPECT(error, SIMKEEP_OK);
    simkeep_snapshot_free(snapshot);
    simkeep_reader_free(reader);
    simkeep_store_free(store);
}

/* Repairing a store with damaged segments reports the loss. */
static void repair_reports_what_is_lost(const char *path) {
    simkeep_error *error = NULL;
    char to[4200], command[9000];
    snprintf(to, sizeof to, "%s.repaired", path);
    simkeep_store *store = three(path);
    CHECK(simkeep_seal(store, &error) == SIMKEEP_OK && simkeep_store_close(store, &error) == SIMKEEP_OK);
    simkeep_store_free(store);
    snprintf(command, sizeof command,
             "for f in '%s'/segments/*; do dd if=/dev/zero of=\"$f\" bs=64 seek=1 count=60 conv=notrunc 2>/dev/null; done",
             path);
    CHECK(system(command) == 0);
    simkeep_repaired *repaired = simkeep_repair(path, to, 1, 0, NULL, &error);
    simkeep_repaired_numbers numbers;
    simkeep_loss loss;
    EXPECT(error, SIMKEEP_OK);
    CHECK(simkeep_repaired_get(repaired, &numbers, sizeof numbers, &error) == SIMKEEP_OK);
    CHECK(numbers.is_whole == 0 && numbers.lost > 0 && numbers.flaws > 0);
    CHECK(simkeep_repaired_loss(repaired, 0, &loss, sizeof loss, &error) == SIMKEEP_OK);
    CHECK(loss.file_len > 0 && loss.why_len > 0 && memcmp(loss.file, "segments/", 9) == 0);
    EXPECT(error, SIMKEEP_OK);
    simkeep_repaired_free(repaired);
}

int main(int argc, char **argv) {
    const char *dir = argc > 1 ? argv[1] : ".";
    void (*const tests[])(const char *) = {
        weights_and_classes_are_set, due_pages_are_leased_once, clusters_have_leaders,
        forked_child_is_refused, load_is_atomic_across_parts, stores_are_backed_up_repaired_and_copied,
        repair_reports_what_is_lost,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/questions-%d.simkeep", dir, (int)i);
        tests[i](path);
    }
    puts(failed ? "failed" : "all as promised");
    return failed;
}
