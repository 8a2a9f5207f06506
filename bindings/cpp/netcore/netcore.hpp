/// A thin C++17 layer over netcore.h: owners that release automatically, errors as exceptions, callbacks as lambdas.
///
/// Requests, options and limits are the C structs, filled in with netcore::view(). Functions without a wrapper are
/// called with .get(). An owner can be moved but not copied; share() adds a reference to a reference-counted object.
///
///     netcore::engine engine;
///     std::cout << engine.fetch("https://example.com/").text();
#ifndef NETCORE_NETCORE_HPP
#define NETCORE_NETCORE_HPP

#include <netcore.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace netcore {

/// Returns a slice of text or bytes, which must outlive the call that it is passed to.
inline nc_slice view(std::string_view text) noexcept {
    return nc_slice_make(text.data(), text.size());
}

/// Returns a view of the library's bytes, valid as long as their owner.
inline std::string_view text(nc_slice slice) noexcept {
    return slice.length == 0 ? std::string_view()
                             : std::string_view(reinterpret_cast<const char *>(slice.data), slice.length);
}

/// The exception of every failure. what() is the library's message.
class error : public std::runtime_error {
  public:
    explicit error(const nc_error &detail) : std::runtime_error(detail.message), detail_(detail) {}
    /// An error of a call without details.
    explicit error(nc_status status) : std::runtime_error(nc_status_text(status)) {
        detail_.status = status;
        detail_.offset = -1;
    }
    /// The status; never NC_OK.
    nc_status status() const noexcept { return detail_.status; }
    /// All details, including the native code and the offset.
    const nc_error &detail() const noexcept { return detail_; }
    /// True if a retry may succeed.
    bool is_retryable() const noexcept { return nc_status_is_retryable(detail_.status); }

  private:
    nc_error detail_{};
};

/// Throws unless the status is NC_OK.
inline void check(nc_status status, const nc_error &detail) {
    if (status != NC_OK) {
        nc_error whole = detail;
        whole.status = status;
        throw error(whole);
    }
}

/// Throws unless the status is NC_OK, for a call without details.
inline void check(nc_status status) {
    if (status != NC_OK) {
        throw error(status);
    }
}

/// Owns one reference, or an object that is not reference-counted.
template <class T, void (*Release)(T *)> class owner {
  public:
    owner() noexcept = default;
    /// Takes ownership of `raw`.
    explicit owner(T *raw) noexcept : raw_(raw) {}
    owner(owner &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    owner &operator=(owner &&other) noexcept {
        owner(std::move(other)).swap(*this);
        return *this;
    }
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    ~owner() { Release(raw_); }
    /// Returns the C pointer, which this object still owns.
    T *get() const noexcept { return raw_; }
    /// Returns the C pointer and gives up its ownership.
    T *take() noexcept { return std::exchange(raw_, nullptr); }
    explicit operator bool() const noexcept { return raw_ != nullptr; }
    void swap(owner &other) noexcept { std::swap(raw_, other.raw_); }

  private:
    T *raw_ = nullptr;
};

/// A trust policy: authorities and pins.
class trust : public owner<nc_trust, nc_trust_release> {
  public:
    explicit trust(const nc_trust_options &options) : owner(made(options)) {}

  private:
    static nc_trust *made(const nc_trust_options &options) {
        nc_error err{};
        nc_trust *raw = nullptr;
        check(nc_trust_new(&raw, &options, &err), err);
        return raw;
    }
};

/// A compiled shape that JSON must have.
class shape : public owner<nc_shape, nc_shape_release> {
  public:
    explicit shape(std::string_view document) : owner(made(document)) {}

  private:
    static nc_shape *made(std::string_view document) {
        nc_error err{};
        nc_shape *raw = nullptr;
        check(nc_shape_parse(&raw, view(document), &err), err);
        return raw;
    }
};

/// Requirements on a body, checked while it arrives.
class expectation : public owner<nc_expectation, nc_expectation_release> {
  public:
    explicit expectation(const nc_expectation_options &options) : owner(made(options)) {}
    explicit expectation(const shape &wanted) : owner(made(options_of(wanted))) {}

  private:
    static nc_expectation_options options_of(const shape &wanted) {
        check(wanted ? NC_OK : NC_ERR_USAGE); // without a shape, any JSON would do
        nc_expectation_options options{};
        options.shape = wanted.get();
        return options;
    }
    static nc_expectation *made(const nc_expectation_options &options) {
        nc_error err{};
        nc_expectation *raw = nullptr;
        check(nc_expectation_new(&raw, &options, &err), err);
        return raw;
    }
};

/// A response. Its views are valid as long as it is. A moved-from response is empty.
class response : public owner<nc_response, nc_response_release> {
  public:
    using owner::owner;
    unsigned status() const noexcept { return get() == nullptr ? 0 : nc_response_status(get()); }
    nc_slice body() const noexcept { return get() == nullptr ? nc_slice{} : nc_response_body(get()); }
    std::string_view text() const noexcept { return netcore::text(body()); }
    std::string_view url() const noexcept {
        return get() == nullptr ? std::string_view() : netcore::text(nc_response_url(get()));
    }
    /// Returns the first field of this name; empty if there is none.
    std::string_view header(std::string_view name) const noexcept {
        nc_slice value{};
        const bool is_there = get() != nullptr && nc_response_find_header(get(), view(name), &value);
        return is_there ? netcore::text(value) : std::string_view();
    }
    /// Adds an owner of the same response.
    response share() const noexcept { return response(get() == nullptr ? nullptr : nc_response_retain(get())); }
};

/// A disk store. Calls may wait for the disk.
class store : public owner<nc_store, nc_store_free> {
  public:
    explicit store(const nc_store_options &options) : owner(made(options)) {}
    /// Puts a body with a key.
    void put(nc_slice key, nc_slice body) {
        nc_error err{};
        nc_store_draft draft{};
        draft.key = key;
        check(nc_store_put(get(), &draft, body, &err), err);
    }
    /// Reads a body into `out`. Returns false if there is none.
    bool find(nc_slice key, std::string &out, size_t max_bytes = 64u << 20) {
        nc_error err{};
        nc_store_entry entry{};
        nc_buf room = nc_buf_init(max_bytes);
        const std::unique_ptr<nc_buf, void (*)(nc_buf *)> guard(&room, nc_buf_deinit);
        check(nc_store_get(&entry, get(), key, &room, &err), err);
        if (entry.found != NC_STORE_HIT) {
            return false;
        }
        out.assign(netcore::text(entry.body));
        return true;
    }

  private:
    static nc_store *made(const nc_store_options &options) {
        nc_error err{};
        nc_store *raw = nullptr;
        check(nc_store_new(&raw, &options, &err), err);
        return raw;
    }
};

/// Callbacks of a transfer, on the engine's loop thread. They must not block. They are destroyed after on_done. An
/// exception in on_head or on_body stops the transfer; in the others it ends the program.
struct events {
    /// Receives a head; the response is borrowed.
    std::function<nc_action(nc_transfer_id, const nc_response *, bool is_last)> on_head;
    /// Receives a piece of the body. Without it the response collects the body.
    std::function<nc_action(nc_transfer_id, nc_slice)> on_body;
    /// Receives the progress.
    std::function<void(const nc_progress &)> on_progress;
    /// Called once, last. error.status is NC_OK or the reason of the failure.
    std::function<void(nc_transfer_id, response, const nc_error &)> on_done;
};

/// One event loop thread with its connections. Thread-safe, except for its destruction.
class engine {
  public:
    explicit engine(const nc_engine_options &options = {}) {
        nc_error err{};
        check(nc_engine_new(&raw_, &options, &err), err);
    }
    engine(engine &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    engine &operator=(engine &&) = delete;
    /// Cancels transfers in flight and waits until every on_done has been called, so that lambdas may refer to objects
    /// that outlive the engine. In a callback, on the loop thread, it cannot wait.
    ~engine() {
        if (nc_engine_close(raw_, NC_UNLIMITED) == NC_ERR_USAGE) {
            nc_engine_release(raw_);
        }
    }
    nc_engine *get() const noexcept { return raw_; }

    /// Sends a request and waits for the response. Throws the transfer's error. Not on the loop thread. Throws
    /// NC_ERR_USAGE on a moved-from engine.
    response fetch(const nc_request &request) {
        check(raw_ == nullptr ? NC_ERR_USAGE : NC_OK);
        nc_error err{};
        nc_transfer_id id = 0;
        nc_response *raw = nullptr;
        check(nc_engine_submit(raw_, &request, nullptr, &id, &err), err);
        const nc_status status = nc_engine_wait(raw_, id, NC_UNLIMITED, &raw, &err);
        response result(raw);
        check(status, err);
        return result;
    }

    /// Sends a GET request and waits for the response, with the defaults of nc_request.
    response fetch(std::string_view url) {
        nc_request request{};
        request.url = view(url);
        return fetch(request);
    }

    /// Submits a request. Throws if it is not accepted; no callback is called then.
    nc_transfer_id submit(const nc_request &request, events handlers) {
        check(raw_ == nullptr ? NC_ERR_USAGE : NC_OK);
        nc_error err{};
        nc_transfer_id id = 0;
        nc_sink sink{};
        const bool has_body = static_cast<bool>(handlers.on_body);
        const bool has_progress = static_cast<bool>(handlers.on_progress);
        auto owned = std::make_unique<events>(std::move(handlers));
        sink.ctx = owned.get();
        sink.on_head = head_came;
        sink.on_body = has_body ? body_came : nullptr;
        sink.on_progress = has_progress ? progress_came : nullptr;
        sink.on_done = done_came;
        check(nc_engine_submit(raw_, &request, &sink, &id, &err), err);
        static_cast<void>(owned.release()); // on_done may have been called already, and owns the object
        return id;
    }

    /// Cancels a transfer. Ignored if it has ended. Call from any thread.
    void cancel(nc_transfer_id id) noexcept {
        if (raw_ != nullptr) {
            nc_engine_cancel(raw_, id);
        }
    }

  private:
    static nc_action head_came(void *ctx, nc_transfer_id id, const nc_response *head, bool is_last) noexcept {
        try {
            const auto &handlers = *static_cast<events *>(ctx);
            return handlers.on_head ? handlers.on_head(id, head, is_last) : NC_ACTION_CONTINUE;
        } catch (...) {
            return NC_ACTION_STOP;
        }
    }
    static nc_action body_came(void *ctx, nc_transfer_id id, nc_slice bytes) noexcept {
        try {
            return static_cast<events *>(ctx)->on_body(id, bytes);
        } catch (...) {
            return NC_ACTION_STOP;
        }
    }
    static void progress_came(void *ctx, nc_transfer_id, const nc_progress *progress) noexcept {
        static_cast<events *>(ctx)->on_progress(*progress);
    }
    static void done_came(void *ctx, nc_transfer_id id, nc_response *raw, const nc_error *detail) noexcept {
        const std::unique_ptr<events> handlers(static_cast<events *>(ctx));
        if (handlers->on_done) {
            handlers->on_done(id, response(nc_response_retain(raw)), *detail);
        }
    }

    nc_engine *raw_ = nullptr;
};

} // namespace netcore

#endif
