/* Observes texts through the C library: a line of standard input is a visit, its time in milliseconds, URL
 * and text with tabs between them. Prints of each its URL, its verdict, and which pages are copies of it or
 * near it. */
#include <simkeep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const VERDICTS[] = {"-",    "new",    "same",   "changed",      "reverted", "gone",
                                       "failed", "unseen", "out of order", "known",    "other"};

static void stop_at(simkeep_error *error) {
    if (!error) return;
    fprintf(stderr, "%s\n", simkeep_error_message(error));
    exit(1);
}

static void print_all(const simkeep_texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        printf("\t%.*s", (int)(texts->offsets[i + 1] - texts->offsets[i]), texts->bytes + texts->offsets[i]);
}

static void observe(simkeep_store *store, const simkeep_fingerprinter *prints, uint32_t epoch, char *line) {
    simkeep_error *error = NULL;
    simkeep_visit visit;
    memset(&visit, 0, sizeof visit);
    visit.time_ms = strtoll(strtok(line, "\t"), NULL, 10);
    visit.url = strtok(NULL, "\t");
    visit.url_len = strlen(visit.url);
    visit.seen = SIMKEEP_SEEN_CONTENT;
    visit.epoch = epoch;
    const char *text = strtok(NULL, "\n");
    if (simkeep_fingerprinter_text(prints, text, strlen(text), &visit.fingerprint, &error) == SIMKEEP_OK)
        visit.has = SIMKEEP_HAS_FINGERPRINT;
    stop_at(error);
    simkeep_outcomes *out = simkeep_observe_batch(store, &visit, 1, sizeof visit, &error);
    stop_at(error);
    printf("%s\t%s", visit.url, VERDICTS[simkeep_outcomes_verdicts(out)[0]]);
    print_all(simkeep_outcomes_copy_urls(out));
    print_all(simkeep_outcomes_near_urls(out));
    printf("\n");
    simkeep_outcomes_free(out);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    simkeep_error *error = NULL;
    simkeep_store *store = simkeep_store_open_or_create(argv[1], NULL, &error);
    stop_at(error);
    uint32_t epoch = 0;
    simkeep_change_epoch(store, &epoch, &error);
    stop_at(error);
    simkeep_fingerprinter *prints = simkeep_fingerprinter_new(store, epoch, &error);
    stop_at(error);
    char line[8192];
    while (fgets(line, sizeof line, stdin)) observe(store, prints, epoch, line);
    simkeep_store_close(store, &error);
    stop_at(error);
    simkeep_fingerprinter_free(prints);
    simkeep_store_free(store);
    return 0;
}
