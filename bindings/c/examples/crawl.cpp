// A crawler's calls in C++17. Handles are smart pointers, and errors become exceptions.
#include <cstdio>
#include <memory>
#include <simkeep.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

template <auto Free> struct Freed {
    template <typename T> void operator()(T *of) const { Free(of); }
};
template <typename T, auto Free> using Owned = std::unique_ptr<T, Freed<Free>>;

using Store = Owned<simkeep_store, simkeep_store_free>;
using Prints = Owned<simkeep_fingerprinter, simkeep_fingerprinter_free>;
using Outcomes = Owned<simkeep_outcomes, simkeep_outcomes_free>;
using Snapshot = Owned<simkeep_snapshot, simkeep_snapshot_free>;
using Pages = Owned<simkeep_pages, simkeep_pages_free>;

// The error argument of a call. Its destructor throws the error, if any, when the call ends.
struct Error {
    simkeep_error *error = nullptr;
    ~Error() noexcept(false) {
        if (!error) return;
        std::runtime_error thrown(simkeep_error_message(error));
        simkeep_error_free(error);
        if (std::uncaught_exceptions() == 0) throw thrown;
    }
    operator simkeep_error **() { return &error; }
};

struct Seen {
    std::string_view url, text;
    int64_t time;
};

int main(int argc, char **argv) try {
    Store store(simkeep_store_open_or_create(argc > 1 ? argv[1] : "crawl.simkeep", nullptr, Error()));
    uint32_t epoch = 0;
    simkeep_change_epoch(store.get(), &epoch, Error());
    Prints prints(simkeep_fingerprinter_new(store.get(), epoch, Error()));

    const std::vector<Seen> crawl = {
        {"https://example.com/terms", "You may use this site as long as you behave well and pay.", 1000},
        {"https://example.com/terms", "You may use this site as long as you pay us nine a month.", 2000},
        {"https://example.org/404", "Not found", 3000},
    };
    std::vector<simkeep_visit> visits;
    for (const Seen &seen : crawl) {
        simkeep_visit visit = {};
        visit.url = seen.url.data();
        visit.url_len = seen.url.size();
        visit.time_ms = seen.time;
        visit.seen = SIMKEEP_SEEN_CONTENT;
        visit.epoch = epoch;
        if (simkeep_fingerprinter_text(prints.get(), seen.text.data(), seen.text.size(), &visit.fingerprint,
                                       Error()) == SIMKEEP_OK)
            visit.has |= SIMKEEP_HAS_FINGERPRINT;
        visits.push_back(visit);
    }
    Outcomes out(simkeep_observe_batch(store.get(), visits.data(), visits.size(), sizeof visits[0], Error()));
    for (size_t i = 0; i < simkeep_outcomes_count(out.get()); i++)
        std::printf("verdict %d\n", static_cast<int>(simkeep_outcomes_verdicts(out.get())[i]));

    Snapshot now(simkeep_store_snapshot(store.get(), Error()));
    Pages pages(simkeep_snapshot_scan(now.get(), nullptr, 0, Error()));
    simkeep_page page;
    while (simkeep_pages_next(pages.get(), &page, sizeof page, Error()) == SIMKEEP_OK)
        std::printf("%s: %d visits\n", std::string(page.url, page.url_len).c_str(), int(page.visits));
    simkeep_store_close(store.get(), Error());
} catch (const std::runtime_error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
