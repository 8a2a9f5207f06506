// Misuse of the C++ header: each step ends, throws if it must, and leaks nothing.
#include "steps.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace {

nc_request request_for(const std::string &url) {
    nc_request request{};
    request.url = netcore::view(url);
    return request;
}

// A moved-from object is empty: it fails, and never counts as "no rule".
bool moved() {
    const std::string url = url_of("/cities");
    netcore::engine first;
    netcore::engine engine(std::move(first));
    netcore::response response = engine.fetch(request_for(url));
    netcore::response other(std::move(response));
    netcore::response &same = other;
    other = std::move(same);
    const bool is_kept = other.status() == 200 && !other.text().empty() && !other.header("content-type").empty();
    const bool is_empty = response.status() == 0 && response.text().empty() && response.url().empty() &&
                          response.header("content-type").empty() && !response.share();
    netcore::shape shape("{}");
    const netcore::shape taken(std::move(shape));
    const bool is_refused = status_of([&] { netcore::expectation any(shape); }) == NC_ERR_USAGE &&
                            status_of([&] { first.fetch(request_for(url)); }) == NC_ERR_USAGE &&
                            status_of([&] { first.submit(request_for(url), {}); }) == NC_ERR_USAGE;
    first.cancel(1);
    return is_kept && is_empty && is_refused;
}

// After any exception in a callback the transfer ends as stopped, and the lambdas' captures are freed.
bool thrown() {
    netcore::engine engine;
    const std::string url = url_of("/slow");
    auto held = std::make_shared<int>(0);
    for (const bool in_head : {true, false}) {
        std::promise<nc_status> ended;
        netcore::events events;
        events.on_head = [in_head, held](nc_transfer_id, const nc_response *, bool) {
            return in_head ? throw 1 : NC_ACTION_CONTINUE; // not even a std::exception
        };
        events.on_body = [held](nc_transfer_id, nc_slice) -> nc_action { throw std::bad_alloc(); };
        events.on_done = [&](nc_transfer_id, netcore::response, const nc_error &error) { ended.set_value(error.status); };
        engine.submit(request_for(url), std::move(events));
        if (ended.get_future().get() != NC_ERR_STOPPED_BY_CALLER) {
            return false;
        }
    }
    // A rejected request calls nothing and keeps nothing.
    netcore::events events;
    events.on_done = [held](nc_transfer_id, netcore::response, const nc_error &) { std::abort(); };
    const bool is_refused =
        status_of([&] { engine.submit(request_for("http://"), std::move(events)); }) == NC_ERR_BAD_URL;
    { const netcore::engine last(std::move(engine)); }
    return is_refused && held.use_count() == 1;
}

// The engine is destroyed in its own callback, where it cannot wait.
bool ended_inside() {
    std::promise<nc_status> ended;
    auto engine = std::make_shared<netcore::engine>();
    const std::string url = url_of("/slow");
    netcore::events events;
    events.on_body = [&](nc_transfer_id, nc_slice) {
        engine.reset();
        return NC_ACTION_CONTINUE;
    };
    events.on_done = [&](nc_transfer_id, netcore::response, const nc_error &error) { ended.set_value(error.status); };
    engine->submit(request_for(url), std::move(events));
    return ended.get_future().get() == NC_ERR_CANCELLED;
}

// The destructor waits for each on_done, for requests of any number of threads.
bool in_flight() {
    for (int round = 0; round < 10; round++) {
        std::atomic<int> submitted{0};
        std::atomic<int> ended_count{0};
        {
            netcore::engine engine;
            std::vector<std::thread> threads;
            for (int number = 0; number < 8; number++) {
                threads.emplace_back([&, number] {
                    const std::string url = url_of(number % 2 == 0 ? "/slow" : "/film");
                    for (int count = 0; count < 10; count++) {
                        netcore::events events;
                        events.on_done = [&](nc_transfer_id, netcore::response, const nc_error &) { ended_count++; };
                        const nc_transfer_id id = engine.submit(request_for(url), std::move(events));
                        submitted++;
                        if (count % 3 == 0) {
                            engine.cancel(id);
                        }
                    }
                });
            }
            for (std::thread &thread : threads) {
                thread.join();
            }
        }
        if (submitted != 80 || ended_count != 80) {
            return false;
        }
    }
    return true;
}

} // namespace

int main() {
    step("moved", moved());
    step("thrown", thrown());
    step("ended_inside", ended_inside());
    step("in_flight", in_flight());
    return failures == 0 ? 0 : 1;
}
