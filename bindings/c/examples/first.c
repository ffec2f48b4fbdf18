/* A crawler in C: it fetches the pages that are due, and reports what it saw. */
#include <simkeep.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Returns a page as the server sent it, or NULL. A crawler fetches it here. */
static const char *fetch(const char *url, size_t url_len) {
    (void)url, (void)url_len;
    return "<p>You may use this site as long as you behave well and pay nothing.";
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "crawl.simkeep", *seed = "https://example.com/terms";
    int64_t now = (int64_t)time(NULL) * 1000;
    simkeep_error *error = NULL; /* the first error stays here: look once, at the end */
    simkeep_store *store = simkeep_store_open_or_create(path, NULL, &error);
    uint32_t epoch = 0;
    simkeep_change_epoch(store, &epoch, &error);
    simkeep_fingerprinter *fingerprinter = simkeep_fingerprinter_new(store, epoch, &error);

    const char *html = fetch(seed, strlen(seed));
    simkeep_outcomes *outcomes = simkeep_observe_html(
        store, fingerprinter, seed, strlen(seed), now, html, strlen(html), NULL, 0, NULL, 200, &error);
    if (outcomes && simkeep_outcomes_verdicts(outcomes)[0] == SIMKEEP_VERDICT_NEW)
        printf("%s is new\n", seed);
    simkeep_outcomes_free(outcomes);

    /* A day later, lease the 100 most valuable pages for ten minutes. */
    now += 24 * 60 * 60 * 1000;
    simkeep_due_query query;
    simkeep_due_query_init(&query, sizeof query, now, 100, &error);
    simkeep_decisions *due = simkeep_lease_due(store, &query, 600, &error);
    simkeep_decision page;
    while (simkeep_decisions_next(due, &page, sizeof page, NULL, 0, &error) == SIMKEEP_OK) {
        html = fetch(page.url, page.url_len);
        outcomes = html ? simkeep_observe_html(store, fingerprinter, page.url, page.url_len, now, html,
                                               strlen(html), NULL, 0, NULL, 200, &error)
                        : simkeep_failed(store, page.url, page.url_len, now, 0, &error);
        if (outcomes && simkeep_outcomes_verdicts(outcomes)[0] == SIMKEEP_VERDICT_SAME)
            printf("%.*s is unchanged\n", (int)page.url_len, page.url);
        simkeep_outcomes_free(outcomes);
    }
    simkeep_decisions_free(due);

    simkeep_store_close(store, &error);
    simkeep_fingerprinter_free(fingerprinter);
    simkeep_store_free(store);
    if (error) fprintf(stderr, "%s\n", simkeep_error_message(error));
    int code = simkeep_error_code(error);
    simkeep_error_free(error);
    return code;
}
