// Fetches, validates, caches, pins, downloads and cancels with the C++ header. See Examples/c/fetch.c for the usage.
#include <netcore.hpp>

#include <cstdlib>
#include <future>
#include <iostream>
#include <thread>

namespace {

constexpr uint64_t film_bytes = 1000000;
constexpr const char *wrong_pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

int failures = 0;

std::string from_environment(const char *name, const char *path = "") {
    const char *value = std::getenv(name);
    return std::string(value == nullptr ? "" : value) + path;
}

// Runs a step, which returns true for success, or throws.
template <class Step> void run(const char *name, Step step) {
    try {
        if (step()) {
            std::cout << "ok " << name << "\n";
            return;
        }
        std::cout << "failed " << name << "\n";
    } catch (const netcore::error &failure) {
        std::cout << "failed " << name << ": " << nc_status_name(failure.status()) << ": " << failure.what() << "\n";
    }
    failures++;
}

// Returns the status that a step ends with.
template <class Step> nc_status status_of(Step step) {
    try {
        step();
        return NC_OK;
    } catch (const netcore::error &failure) {
        return failure.status();
    }
}

bool fetch(netcore::engine &engine) {
    const std::string url = from_environment("NETCORE_PLAIN", "/cities"); // a request borrows until it is submitted
    nc_request request{};
    request.url = netcore::view(url);
    const netcore::response response = engine.fetch(request);
    const netcore::response second = response.share();
    return second.status() == 200 && second.text() == response.text() && second.header("content-length") == "47";
}

bool validate(netcore::engine &engine) {
    const netcore::shape shape(R"([{"id": "integer", "name": "string"}])");
    const netcore::expectation expectation(shape);
    const std::string good = from_environment("NETCORE_PLAIN", "/cities");
    const std::string bad = from_environment("NETCORE_PLAIN", "/broken");
    nc_request request{};
    request.expectation = expectation.get();
    request.url = netcore::view(good);
    engine.fetch(request);
    request.url = netcore::view(bad);
    try {
        engine.fetch(request);
    } catch (const netcore::error &failure) {
        return failure.status() == NC_ERR_SHAPE_MISMATCH &&
               std::string_view(failure.what()).find("/1/name") != std::string_view::npos;
    }
    return false;
}

bool cache(netcore::engine &engine, const std::string &directory) {
    const std::string folder = directory + "/cache";
    const std::string url = from_environment("NETCORE_PLAIN", "/cities");
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = folder.c_str();
    netcore::store store(options);
    std::string body;
    const bool was_there = store.find(netcore::view(url), body);
    nc_request request{};
    request.url = netcore::view(url);
    const netcore::response response = engine.fetch(request);
    store.put(netcore::view(url), response.body());
    return !was_there && store.find(netcore::view(url), body) && body == response.text();
}

netcore::response fetch_pinned(netcore::engine &engine, const std::string &pin) {
    const std::string url = from_environment("NETCORE_SECURE", "/cities");
    const std::string ca = from_environment("NETCORE_CA");
    const nc_slice pins[] = {netcore::view(pin)};
    nc_trust_rule rule{};
    rule.hosts = netcore::view("localhost");
    rule.mode = NC_PIN_PUBLIC_KEY;
    rule.pins = pins;
    rule.pin_count = 1;
    nc_trust_options options{};
    options.roots = NC_ROOTS_FILE;
    options.ca_file = netcore::view(ca);
    options.rules = &rule;
    options.rule_count = 1;
    const netcore::trust trust(options);
    nc_request request{};
    request.url = netcore::view(url);
    request.trust = trust.get(); // retained while the request needs it
    return engine.fetch(request);
}

bool pin(netcore::engine &engine) {
    return fetch_pinned(engine, from_environment("NETCORE_PIN")).status() == 200 &&
           status_of([&] { fetch_pinned(engine, wrong_pin); }) == NC_ERR_PIN_MISMATCH;
}

// Functions without a C++ wrapper are called in C with .get(). Here the callback's context is a promise on this stack,
// and the function returns only after the promise is fulfilled.
bool download(netcore::engine &engine, const std::string &directory) {
    std::promise<uint64_t> arrived;
    const std::string url = from_environment("NETCORE_PLAIN", "/film");
    const std::string path = directory + "/film";
    nc_request request{};
    request.url = netcore::view(url);
    nc_download_options options{};
    options.request = &request;
    options.path = netcore::view(path);
    nc_download_sink sink{};
    sink.ctx = &arrived;
    sink.on_done = [](void *ctx, nc_download_id, nc_response *, const nc_download_result *result,
                      const nc_error *error) {
        auto &told = *static_cast<std::promise<uint64_t> *>(ctx);
        if (error->status == NC_OK) {
            told.set_value(result->byte_count);
        } else {
            told.set_exception(std::make_exception_ptr(netcore::error(*error)));
        }
    };
    nc_error err{};
    nc_download_id id = 0;
    netcore::check(nc_download_start(engine.get(), &options, &sink, &id, &err), err);
    return arrived.get_future().get() == film_bytes;
}

bool cancel(netcore::engine &engine) {
    std::promise<void> began;
    std::promise<nc_status> ended;
    const std::string url = from_environment("NETCORE_PLAIN", "/slow");
    nc_request request{};
    request.url = netcore::view(url);
    netcore::events told;
    told.on_head = [&](nc_transfer_id, const nc_response *, bool) {
        began.set_value();
        return NC_ACTION_CONTINUE;
    };
    told.on_body = [](nc_transfer_id, nc_slice) { return NC_ACTION_CONTINUE; };
    told.on_done = [&](nc_transfer_id, netcore::response, const nc_error &error) { ended.set_value(error.status); };
    const nc_transfer_id id = engine.submit(request, std::move(told));
    std::thread other([&] {
        began.get_future().wait();
        engine.cancel(id);
    });
    const nc_status status = ended.get_future().get();
    other.join();
    return status == NC_ERR_CANCELLED;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: fetch DIRECTORY\n";
        return 2;
    }
    const std::string directory = argv[1];
    netcore::engine engine;
    run("fetch", [&] { return fetch(engine); });
    run("validate", [&] { return validate(engine); });
    run("cache", [&] { return cache(engine, directory); });
    run("pin", [&] { return pin(engine); });
    run("download", [&] { return download(engine, directory); });
    run("cancel", [&] { return cancel(engine); });
    return failures == 0 ? 0 : 1;
}
