/* A crawler's calls in C: observe pages, and find pages near them. */
#include <inttypes.h>
#include <simkeep.h>
#include <stdio.h>
#include <string.h>

static const char *const VERDICTS[] = {"-",    "new",    "same",   "changed",      "reverted", "gone",
                                       "failed", "unseen", "out of order", "known",    "other"};

/* Computes the fingerprint of a text, and fills in a visit. */
static void see(simkeep_visit *visit, const simkeep_fingerprinter *prints, const char *url, int64_t time,
                const char *text, uint32_t epoch, simkeep_error **error) {
    memset(visit, 0, sizeof *visit);
    visit->url = url;
    visit->url_len = strlen(url);
    visit->time_ms = time;
    visit->seen = SIMKEEP_SEEN_CONTENT;
    visit->epoch = epoch;
    visit->status = 200;
    visit->has = SIMKEEP_HAS_STATUS;
    /* A text of fewer than eight words has no fingerprint. */
    if (simkeep_fingerprinter_text(prints, text, strlen(text), &visit->fingerprint, error) == SIMKEEP_OK)
        visit->has |= SIMKEEP_HAS_FINGERPRINT;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "crawl.simkeep";
    simkeep_error *error = NULL;
    simkeep_options options;
    simkeep_options_init(&options, sizeof options, &error);
    options.near_distance = 8;
    simkeep_store *store = simkeep_store_open_or_create(path, &options, &error);
    uint32_t epoch = 0;
    simkeep_change_epoch(store, &epoch, &error);
    simkeep_fingerprinter *prints = simkeep_fingerprinter_new(store, epoch, &error);

    simkeep_visit visits[3];
    see(&visits[0], prints, "https://example.com/terms", 1000,
        "You may use this site as long as you behave well and pay nothing.", epoch, &error);
    see(&visits[1], prints, "https://example.com/terms", 2000,
        "You may use this site as long as you pay us a monthly fee of nine.", epoch, &error);
    see(&visits[2], prints, "https://example.org/rules", 3000,
        "You may use this site, as long as you behave well and pay nothing!", epoch, &error);
    simkeep_outcomes *out = simkeep_observe_batch(store, visits, 3, sizeof *visits, &error);
    for (size_t i = 0; i < simkeep_outcomes_count(out); i++)
        printf("%s: %s\n", visits[i].url, VERDICTS[simkeep_outcomes_verdicts(out)[i]]);

    simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
    simkeep_matches *near = simkeep_snapshot_near(now, visits[0].fingerprint, 8, &error);
    const simkeep_texts *urls = simkeep_matches_urls(near);
    for (size_t i = 0; urls && i < urls->count; i++)
        printf("%.*s is %d bits away\n", (int)(urls->offsets[i + 1] - urls->offsets[i]),
               urls->bytes + urls->offsets[i], simkeep_matches_distances(near)[i]);

    simkeep_entries *history = simkeep_snapshot_history(now, visits[0].url, visits[0].url_len, &error);
    simkeep_entry entry;
    for (size_t i = 0; i < simkeep_entries_count(history); i++)
        if (simkeep_entries_get(history, i, &entry, sizeof entry, &error) == SIMKEEP_OK)
            printf("%" PRId64 ": %s\n", entry.time_ms, VERDICTS[entry.verdict]);

    simkeep_store_close(store, &error);
    simkeep_entries_free(history);
    simkeep_matches_free(near);
    simkeep_snapshot_free(now);
    simkeep_outcomes_free(out);
    simkeep_fingerprinter_free(prints);
    simkeep_store_free(store);
    if (error) fprintf(stderr, "%s\n", simkeep_error_message(error));
    int code = simkeep_error_code(error);
    simkeep_error_free(error);
    return code;
}
