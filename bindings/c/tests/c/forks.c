/* Forks at random moments while threads observe, search and read. In each child, every call on the store
   fails at once, a reader works or returns an error, and nothing hangs. In the parent, no acknowledged visit
   is lost, and the store closes and opens again while a child sleeps.

   usage: forks STORE [CHILDREN] */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <simkeep.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3 };

static simkeep_store *store;
static simkeep_reader *reader;
static atomic_int stop;
static atomic_long acknowledged[THREADS];

static void die(const char *what, simkeep_error *error) {
    fprintf(stderr, "%s: %s\n", what, error ? simkeep_error_message(error) : "no error");
    _exit(1);
}

static void url_of(char *url, size_t size, int thread, long nth) {
    snprintf(url, size, "https://example.com/%d/%ld", thread, nth);
}

static void *observes(void *given) {
    int thread = *(int *)given;
    for (long i = 0; !stop; i++) {
        simkeep_error *error = NULL;
        char url[64];
        url_of(url, sizeof url, thread, i);
        simkeep_outcomes *out = simkeep_observe(store, url, strlen(url), 1, (uint64_t)i * 77, 0, NULL, 0, &error);
        if (!out) die("observe", error);
        simkeep_outcomes_free(out);
        acknowledged[thread] = i + 1;
    }
    return NULL;
}

static void *searches(void *given) {
    (void)given;
    for (uint64_t i = 0; !stop; i++) {
        simkeep_error *error = NULL;
        simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
        simkeep_matches *matches = simkeep_snapshot_near(now, i * 77, 3, &error);
        if (!matches) die("near", error);
        simkeep_matches_free(matches);
        simkeep_snapshot_free(now);
        if (simkeep_reader_refresh(reader, NULL, &error)) die("refresh", error);
    }
    return NULL;
}

/* Runs in a child; returns 0 on success. */
static int child(void) {
    simkeep_error *error = NULL;
    if (simkeep_gone(store, "https://example.com/child", 25, 1, 0, &error)) return 10;
    if (simkeep_error_code(error) != SIMKEEP_FORKED) return 11;
    if (simkeep_store_snapshot(store, NULL) || simkeep_flush(store, NULL) != SIMKEEP_FORKED) return 12;
    if (simkeep_store_close(store, NULL) != SIMKEEP_FORKED) return 13;
    simkeep_error_free(error);
    error = NULL;
    /* If another thread was using the reader during the fork, it returns SIMKEEP_FORKED. */
    simkeep_snapshot *seen = simkeep_reader_snapshot(reader, &error);
    if (!seen && simkeep_error_code(error) != SIMKEEP_FORKED) return 14;
    simkeep_page page;
    int32_t code = seen ? simkeep_snapshot_latest(seen, "https://example.com/0/0", 23, &page, sizeof page, NULL) : 0;
    if (code != SIMKEEP_OK && code != SIMKEEP_NONE && code != SIMKEEP_FORKED) return 15;
    simkeep_snapshot_free(seen);
    simkeep_store_free(store);
    return 0;
}

int main(int argc, char **argv) {
    int children = argc > 2 ? atoi(argv[2]) : 50;
    simkeep_error *error = NULL;
    simkeep_options options;
    simkeep_options_init(&options, sizeof options, &error);
    options.memtable_observations = 2000;
    store = simkeep_store_create(argv[1], &options, &error);
    reader = simkeep_reader_open(argv[1], 0, &error);
    if (error) die("create", error);
    pthread_t threads[THREADS + 1];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, observes, &numbers[i]);
    }
    pthread_create(&threads[THREADS], NULL, searches, NULL);
    for (int i = 0; i < children; i++) {
        usleep((useconds_t)(rand() % 3000));
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20);
            _exit(child());
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            fprintf(stderr, "child %d ended with %x\n", i, (unsigned)status);
            return 1;
        }
    }
    pid_t sleeper = fork();
    if (sleeper == 0) {
        pause();
        _exit(0);
    }
    stop = 1;
    for (int i = 0; i <= THREADS; i++) pthread_join(threads[i], NULL);
    if (simkeep_store_close(store, &error)) die("close", error);
    simkeep_store_free(store);
    store = simkeep_store_open(argv[1], NULL, &error);
    if (!store) die("open again", error);
    simkeep_snapshot *now = simkeep_store_snapshot(store, &error);
    long sum = 0;
    for (int thread = 0; thread < THREADS; thread++)
        for (long i = 0; i < acknowledged[thread]; i++, sum++) {
            char url[64];
            url_of(url, sizeof url, thread, i);
            simkeep_page page;
            if (simkeep_snapshot_latest(now, url, strlen(url), &page, sizeof page, &error)) die("lost", error);
        }
    simkeep_page page;
    if (simkeep_snapshot_latest(now, "https://example.com/child", 25, &page, sizeof page, &error) != SIMKEEP_NONE)
        die("a child has stored something", error);
    kill(sleeper, SIGKILL);
    waitpid(sleeper, NULL, 0);
    simkeep_snapshot_free(now);
    simkeep_reader_free(reader);
    simkeep_store_free(store);
    printf("%d children; %ld observations acknowledged, and all are there\n", children, sum);
    return 0;
}
