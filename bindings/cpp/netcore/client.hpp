/// Retries and a cache in C++17: netcore::http_cache, netcore::client and netcore::call over client.h.
///
///     netcore::engine engine;
///     netcore::http_cache cache("/home/me/.cache/app");
///     netcore::client client(engine, {cache, netcore::retries(3)});
///     netcore::result cities = client.fetch("https://example.com/cities");
///     std::cout << cities.text() << cities.is_from_cache() << cities.reason();
#ifndef NETCORE_CLIENT_HPP
#define NETCORE_CLIENT_HPP

#include <netcore/netcore.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <vector>

namespace netcore {

/// Returns the default policy of retries with another number of them.
inline nc_retry_policy retries(uint32_t most) noexcept {
    nc_retry_policy policy = NC_RETRY_POLICY_INIT;
    policy.max_retries = most;
    return policy;
}

/// Returns the default cache policy with another mode.
inline nc_cache_policy cache_mode(nc_cache_mode mode) noexcept {
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    policy.mode = mode;
    return policy;
}

/// A private HTTP cache (RFC 9111), in memory, and with a directory also on disk. Clients may share it. It must outlive
/// them.
class http_cache {
  public:
    /// Keeps responses in memory, and in `options.store` if that is set.
    explicit http_cache(const nc_http_cache_options &options = {}) : cache_(made(options)) {}
    /// Keeps responses in memory and in a directory, which is created if it is missing.
    explicit http_cache(const std::string &directory, const nc_http_cache_options &options = {})
        : store_(files_in(directory)), cache_(made(options, store_->get())) {}
    nc_http_cache *get() const noexcept { return cache_.get(); }
    /// Removes all responses, also those on disk. Throws NC_ERR_USAGE for a moved-from cache.
    void clear() {
        nc_error err{};
        check(get() == nullptr ? NC_ERR_USAGE : NC_OK);
        check(nc_http_cache_clear(get(), &err), err);
    }
    /// Returns the counters; zeros for a moved-from cache.
    nc_http_cache_stats stats() const noexcept {
        return get() == nullptr ? nc_http_cache_stats{} : nc_http_cache_figures(get());
    }

  private:
    static nc_store_options files_in(const std::string &directory) {
        nc_store_options options = NC_STORE_OPTIONS_INIT;
        check(directory.empty() || directory.find('\0') != std::string::npos ? NC_ERR_USAGE : NC_OK);
        options.directory = directory.c_str();
        return options;
    }
    static nc_http_cache *made(nc_http_cache_options options, nc_store *store = nullptr) {
        nc_error err{};
        nc_http_cache *raw = nullptr;
        options.store = store != nullptr ? store : options.store;
        check(nc_http_cache_new(&raw, &options, &err), err);
        return raw;
    }

    std::optional<store> store_; // freed after the cache
    owner<nc_http_cache, nc_http_cache_free> cache_;
};

/// A result of a call: its response, its attempts, and what the cache did.
struct report {
    /// The source of the response, and the reason.
    nc_call_cache cache{};
    /// The attempts, at most NC_CALL_MAX_ATTEMPTS.
    std::vector<nc_call_attempt> attempts;
    /// True if the body came from the cache: fresh, stale or revalidated.
    bool is_from_cache() const noexcept {
        return cache.outcome == NC_CACHE_OUTCOME_HIT || cache.outcome == NC_CACHE_OUTCOME_STALE_HIT ||
               cache.outcome == NC_CACHE_OUTCOME_REVALIDATED;
    }
    /// Why the cache was used or not, such as "fresh"; empty for a call without a cache.
    std::string_view reason() const noexcept {
        return cache.outcome == NC_CACHE_OUTCOME_UNUSED ? std::string_view() : nc_cache_reason_name(cache.reason);
    }
};

/// A response with the report about its call.
class result : public response, public report {
  public:
    result(response &&from, report &&about) noexcept : response(std::move(from)), report(std::move(about)) {}
};

/// The exception of a call that failed.
class call_error : public error, public report {
  public:
    call_error(const nc_error &detail, report &&about) : error(detail), report(std::move(about)) {}
};

/// Options of a client.
struct client_options {
    client_options() = default;
    /// A client with a cache, and with retries if there is a policy.
    client_options(http_cache &with, std::optional<nc_retry_policy> again = std::nullopt)
        : cache(with.get()), retry(again) {
        check(cache == nullptr ? NC_ERR_USAGE : NC_OK); // a moved-from cache is not "no cache"
    }
    /// A client with retries.
    client_options(const nc_retry_policy &again) : retry(again) {}
    /// The cache; must outlive the client. Without one, nothing is stored.
    nc_http_cache *cache = nullptr;
    /// When requests are sent again; without it they are sent once.
    std::optional<nc_retry_policy> retry;
    /// How calls use the cache.
    nc_cache_policy cache_policy = NC_CACHE_POLICY_INIT;
    /// The budget of retries; must outlive the client.
    nc_retry_budget *budget = nullptr;
};

/// Options of one call. Without a member, the client's applies.
struct call_options {
    call_options() = default;
    call_options(nc_cache_mode mode) : cache(cache_mode(mode)) {}
    call_options(const nc_cache_policy &policy) : cache(policy) {}
    call_options(const nc_retry_policy &again) : retry(again) {}
    /// How the call uses the cache. A client without a cache accepts NC_CACHE_MODE_NO_STORE only.
    std::optional<nc_cache_policy> cache;
    /// When the request is sent again.
    std::optional<nc_retry_policy> retry;
    /// A stale response may be used if it is stale for at most this time: adds "Cache-Control: max-stale=…".
    std::optional<std::chrono::seconds> max_stale;
    /// The user that the response belongs to, instead of the credentials and cookies; empty for all users.
    std::optional<std::string_view> scope;
};

/// A call in progress. Destroying it does not cancel it. Thread-safe, except for moves.
class call : public owner<nc_call, nc_call_release> {
  public:
    using owner::owner;
    /// Waits for the end. Throws call_error after a failure. Not on the loop thread.
    result wait() {
        nc_error err{};
        nc_response *raw = nullptr;
        check(get() == nullptr ? NC_ERR_USAGE : NC_OK);
        const nc_status status = nc_call_wait(get(), NC_UNLIMITED, &raw, &err);
        response arrived(raw);
        report about = reported();
        if (status != NC_OK) {
            err.status = status;
            throw call_error(err, std::move(about));
        }
        return result(std::move(arrived), std::move(about));
    }
    /// Cancels the call. Ignored if it has ended.
    void cancel() noexcept {
        if (get() != nullptr) {
            nc_call_cancel(get());
        }
    }

  private:
    report reported() const {
        report about;
        const size_t count = nc_call_attempt_count(get());
        about.cache = nc_call_cache_report(get());
        for (size_t index = 0; index < count && index < NC_CALL_MAX_ATTEMPTS; index++) {
            about.attempts.push_back(nc_call_attempt_at(get(), index));
        }
        return about;
    }
};

/// Sends requests through an engine, with retries and a cache. Thread-safe, except for its destruction.
class client {
  public:
    /// The engine must outlive the client.
    explicit client(const engine &over, const client_options &options = {}) : policy_(options.cache_policy) {
        nc_error err{};
        nc_client_options native{};
        check(over.get() == nullptr ? NC_ERR_USAGE : NC_OK);
        has_cache_ = options.cache != nullptr;
        native.retry = options.retry ? &*options.retry : nullptr;
        native.cache = options.cache;
        native.budget = options.budget;
        check(nc_client_new(&raw_, over.get(), &native, &err), err);
    }
    client(client &&other) noexcept
        : raw_(std::exchange(other.raw_, nullptr)), policy_(other.policy_), has_cache_(other.has_cache_) {}
    client &operator=(client &&) = delete;
    /// Cancels the calls in progress and waits for their end. Must not run in a callback, which cannot wait: that ends
    /// the program.
    ~client() {
        if (nc_client_close(raw_) != NC_OK) {
            std::terminate();
        }
    }
    nc_client *get() const noexcept { return raw_; }

    /// Starts a call. Throws if it is not accepted.
    call start(const nc_request &request, const call_options &options = {}) {
        nc_error err{};
        nc_call *raw = nullptr;
        nc_call_options native{};
        check(raw_ == nullptr ? NC_ERR_USAGE : NC_OK);
        refuse_unused(options);
        const nc_cache_policy policy = options.cache.value_or(policy_);
        native.cache = has_cache_ ? &policy : nullptr;
        native.retry = options.retry ? &*options.retry : nullptr;
        native.has_cache_scope = options.scope.has_value();
        native.cache_scope = view(options.scope.value_or(std::string_view()));
        if (!options.max_stale) {
            check(nc_client_send(raw_, &request, &native, nullptr, &raw, &err), err);
            return call(raw);
        }
        const std::string value = "max-stale=" + std::to_string(options.max_stale->count());
        std::vector<nc_header> fields;
        if (request.header_count > 0) {
            fields.assign(request.headers, request.headers + request.header_count);
        }
        fields.push_back(nc_header{view("Cache-Control"), view(value)});
        nc_request changed = request;
        changed.headers = fields.data();
        changed.header_count = fields.size();
        check(nc_client_send(raw_, &changed, &native, nullptr, &raw, &err), err);
        return call(raw);
    }
    /// Sends a request and waits for the response. Throws call_error after a failure. Not on the loop thread.
    result fetch(const nc_request &request, const call_options &options = {}) { return start(request, options).wait(); }
    /// Sends a GET request and waits for the response, with the defaults of nc_request.
    result fetch(std::string_view url, const call_options &options = {}) {
        nc_request request{};
        request.url = view(url);
        return fetch(request, options);
    }
    /// Waits until no call and no revalidation in the background is in progress.
    void wait_until_idle() { check(raw_ == nullptr ? NC_ERR_USAGE : nc_client_wait_idle(raw_, NC_UNLIMITED)); }

  private:
    /// Throws for options that would be ignored.
    void refuse_unused(const call_options &options) const {
        const bool needs_cache = options.max_stale || (options.cache && options.cache->mode != NC_CACHE_MODE_NO_STORE);
        if (needs_cache && !has_cache_) {
            refuse("the call uses a cache, but the client has none");
        }
        if (options.max_stale && options.max_stale->count() < 0) {
            refuse("max_stale is negative");
        }
    }
    [[noreturn]] static void refuse(std::string_view why) {
        nc_error err{};
        err.status = NC_ERR_USAGE;
        err.offset = -1;
        why.copy(err.message, sizeof err.message - 1);
        throw error(err);
    }

    nc_client *raw_ = nullptr;
    nc_cache_policy policy_;
    bool has_cache_ = false;
};

} // namespace netcore

#endif
