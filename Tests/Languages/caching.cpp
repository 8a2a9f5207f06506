// The C++ client: the cache and retries, their reports, and misuse.
#include "steps.hpp"

#include <cmath>
#include <thread>
#include <vector>

namespace {

nc_retry_policy quick(uint32_t most) {
    nc_retry_policy policy = netcore::retries(most);
    policy.base_delay_ms = 0;
    return policy;
}

bool is(const netcore::result &found, nc_cache_outcome outcome, std::string_view reason) {
    return found.status() == 200 && found.cache.outcome == outcome && found.reason() == reason;
}

bool modes() {
    const std::string url = url_of("/cities");
    netcore::engine engine;
    netcore::http_cache cache;
    netcore::client client(engine, cache);
    const bool is_right = is(client.fetch(url), NC_CACHE_OUTCOME_NETWORK, "absent") &&
                          is(client.fetch(url), NC_CACHE_OUTCOME_HIT, "fresh") && client.fetch(url).is_from_cache() &&
                          is(client.fetch(url, NC_CACHE_MODE_RELOAD), NC_CACHE_OUTCOME_NETWORK, "ignored") &&
                          is(client.fetch(url, NC_CACHE_MODE_CACHE_ONLY), NC_CACHE_OUTCOME_HIT, "fresh") &&
                          is(client.fetch(url, NC_CACHE_MODE_NO_STORE), NC_CACHE_OUTCOME_NETWORK, "uncacheable") &&
                          is(client.fetch(url, NC_CACHE_MODE_NETWORK_FIRST), NC_CACHE_OUTCOME_NETWORK, "network-first");
    const bool is_missing =
        status_of([&] { client.fetch(url_of("/film"), NC_CACHE_MODE_CACHE_ONLY); }) == NC_ERR_NOT_CACHED;
    netcore::call_options stale;
    stale.max_stale = std::chrono::seconds(60);
    const bool is_used = is(client.fetch(url, stale), NC_CACHE_OUTCOME_HIT, "fresh");
    cache.clear();
    return is_right && is_missing && is_used && cache.stats().memory_entries == 0 &&
           is(client.fetch(url), NC_CACHE_OUTCOME_NETWORK, "absent");
}

bool retried() {
    netcore::engine engine;
    netcore::client client(engine, quick(2));
    const netcore::result found = client.fetch(url_of("/flaky"));
    const bool is_right = found.status() == 200 && found.attempts.size() == 2 && found.attempts[0].http_status == 503 &&
                          found.attempts[0].reason == NC_RETRY_BACKOFF && !found.is_from_cache() &&
                          found.reason().empty();
    try {
        client.fetch("http://127.0.0.1:1/", quick(1));
    } catch (const netcore::call_error &error) {
        return is_right && error.status() == NC_ERR_REFUSED && error.attempts.size() == 2 &&
               error.attempts[1].reason == NC_RETRY_NO_ATTEMPTS_LEFT;
    }
    return false;
}

bool directories(const std::string &directory) {
    const std::string url = url_of("/cities");
    bool was_stored = false;
    for (int round = 0; round < 2; round++) {
        netcore::engine engine;
        netcore::http_cache cache(directory + "/http");
        netcore::client client(engine, {cache, netcore::retries(1)});
        const netcore::result found = client.fetch(url);
        if (round == 0) {
            was_stored = found.cache.is_stored && !found.is_from_cache();
        } else {
            return was_stored && found.is_from_cache() && found.text().find("Oslo") != std::string_view::npos;
        }
    }
    return false;
}

bool refused() {
    const std::string url = url_of("/cities");
    netcore::engine engine;
    netcore::http_cache cache;
    netcore::client plain(engine);
    netcore::client client(engine, cache);
    netcore::call_options negative;
    negative.max_stale = std::chrono::seconds(-1);
    nc_cache_policy wrong = NC_CACHE_POLICY_INIT;
    wrong.heuristic_fraction = std::nan("");
    netcore::client moved(std::move(client));
    netcore::http_cache taken(std::move(cache));
    netcore::call none;
    none.cancel();
    const auto usage = [](auto call) { return status_of(call) == NC_ERR_USAGE; };
    return usage([&] { plain.fetch(url, NC_CACHE_MODE_RELOAD); }) && usage([&] { moved.fetch(url, negative); }) &&
           plain.fetch(url, NC_CACHE_MODE_NO_STORE).status() == 200 && usage([&] { moved.fetch(url, wrong); }) &&
           usage([&] { client.fetch(url); }) && usage([&] { none.wait(); }) &&
           usage([&] { netcore::client over(engine, cache); }) && usage([&] { cache.clear(); }) &&
           cache.stats().puts == 0 && usage([] { netcore::http_cache bad(""); }) &&
           usage([] { netcore::http_cache bad(std::string("a\0b", 3)); }) && moved.fetch(url).status() == 200;
}

// Equal calls share one transfer, a call can be cancelled, and the destructor ends the rest.
bool in_flight() {
    const std::string url = url_of("/cities");
    const std::string slow = url_of("/slow");
    nc_request request{};
    request.url = netcore::view(slow);
    netcore::engine engine;
    netcore::http_cache cache;
    std::vector<netcore::call> left;
    {
        netcore::client client(engine, cache);
        std::vector<std::thread> threads;
        for (int number = 0; number < 8; number++) {
            threads.emplace_back([&] {
                for (int count = 0; count < 20; count++) {
                    client.fetch(url);
                }
            });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        netcore::call cancelled = client.start(request);
        cancelled.cancel();
        if (status_of([&] { cancelled.wait(); }) != NC_ERR_CANCELLED) {
            return false;
        }
        client.wait_until_idle();
        left.push_back(client.start(request));
    }
    return status_of([&] { left[0].wait(); }) == NC_ERR_CANCELLED && cache.stats().puts >= 1;
}

} // namespace

int main(int argc, char **argv) {
    step("modes", modes());
    step("retried", retried());
    step("directories", directories(argc > 1 ? argv[1] : "."));
    step("refused", refused());
    step("in_flight", in_flight());
    return failures == 0 ? 0 : 1;
}
